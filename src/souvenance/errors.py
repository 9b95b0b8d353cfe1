"""Everything that can go wrong, in one tree.

A code is a stable string that clients may match on, so no class is renamed. A refusal's detail says nothing
about what exists. Status and exit codes belong to the surfaces, each of which keeps one table.
"""

from __future__ import annotations

from typing import ClassVar


class SouvenanceError(Exception):
    """Base of every error that Souvenance raises on purpose."""

    code: ClassVar[str] = "error"
    """Each class below has its name for a code: `InvalidInput` has invalid_input."""
    default_hint: ClassVar[str] = ""
    retryable: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if cls.__module__ == __name__:
            cls.code = "".join(f"_{one.lower()}" if one.isupper() else one for one in cls.__name__)[1:]

    def __init__(self, detail: str, *, hint: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = self.default_hint if hint is None else hint


class InvalidInput(SouvenanceError):
    default_hint = "Correct the named field and send the request again; nothing was stored."


class ImportUnreadable(InvalidInput):
    default_hint = "Correct the file at that place and import it again. Nothing is added twice."


class ImportUnrecognised(InvalidInput):
    default_hint = "Say what it is with --from; 'souvenance import --help' lists the formats."


class ReceiptInvalid(InvalidInput):
    default_hint = "Use the whole receipt, unchanged, with the installation that 'forget' ran on."


class ConfirmationNeeded(InvalidInput):
    default_hint = "Nothing was changed. Add --yes to do it without a question."


class MemoryClosed(InvalidInput):
    default_hint = "Open it again with souvenance.open, and use it inside the 'with' block."


class Unauthenticated(SouvenanceError):
    """The caller did not show who it is."""


class CapMissing(Unauthenticated):
    default_hint = "Send a cap: 'Authorization: Bearer <cap>', or --cap on the command line."


class CapMalformed(Unauthenticated):
    default_hint = "Send the whole cap, as 'souvenance cap mint' printed it."


class CapSigInvalid(Unauthenticated):
    default_hint = "This server did not issue the cap, or it was altered. Ask for a new one."


class CapExpired(Unauthenticated):
    default_hint = "Ask for a new cap; check this machine's clock if it was just issued."


class CapRevoked(Unauthenticated):
    default_hint = "The cap was withdrawn. Ask its issuer for a new one."


class CapPopInvalid(Unauthenticated):
    default_hint = "Sign a new proof for this method, path and body with the cap's holder key."


class SignInFailed(Unauthenticated):
    default_hint = "Nothing was stored. Try again: souvenance login."


class SignInDenied(SignInFailed):
    default_hint = "Nobody is signed in. Run 'souvenance login' again and allow it."


class SignInExpired(SignInFailed):
    default_hint = "Nobody answered in time. Try again: souvenance login."


class SignInEnded(SignInFailed):
    default_hint = "Sign in again: souvenance login."


class Denied(SouvenanceError):
    """The caller is known, and may not do this."""


class CapOpMismatch(Denied):
    default_hint = "Use a cap that grants it. 'souvenance cap show' lists what a cap grants."


class CapDataClassMismatch(Denied):
    default_hint = "Use a cap of data class 'memory' here."


class CapScopeMismatch(Denied):
    default_hint = "Use a cap that reaches that workspace, actor and session."


class NamespaceDenied(Denied):
    default_hint = "Ask for a cap whose namespaces_allowed names every namespace of the request."


class HostRefused(Denied):
    default_hint = "Call the server by its own address; pages of other sites may not."


class NotFound(SouvenanceError):
    default_hint = "Nothing under that name is visible to this cap."


class MethodNotAllowed(SouvenanceError):
    default_hint = "See /openapi.json for the methods of each path."


class Disabled(SouvenanceError):
    """It is switched off in the settings."""


class Conflict(SouvenanceError):
    default_hint = "Nothing was changed. Use a new id for new content."


class LimitExceeded(SouvenanceError):
    """A request asks for more than it may."""


class BodyTooLarge(LimitExceeded):
    default_hint = "Send less in one request."


class LineTooLong(LimitExceeded):
    default_hint = "Split the text into several lines."


class FileTooLarge(LimitExceeded):
    default_hint = "Split the file, or send its text as messages."


class HeadersTooLarge(LimitExceeded):
    default_hint = "Send fewer or shorter headers."


class BodyTimeout(LimitExceeded):
    default_hint = "Send the request again, all of its body at once. Nothing was stored."
    retryable = True


class UnsupportedType(SouvenanceError):
    default_hint = "Send plain text, JSON or PDF."


class RateLimited(LimitExceeded):
    default_hint = "Wait as long as Retry-After says."
    retryable = True

    def __init__(self, detail: str, *, retry_after: int, hint: str | None = None) -> None:
        super().__init__(detail, hint=hint)
        self.retry_after = retry_after


class ServerBusy(RateLimited):
    default_hint = "The server holds as many requests as it can. Wait as long as Retry-After says."


class Unavailable(SouvenanceError):
    retryable = True


class StorageUnavailable(Unavailable):
    default_hint = "Check the data folder and its disk. Everything that was acknowledged is safe."


class StorageFull(StorageUnavailable):
    default_hint = (
        "Free some disk space. This request was not stored; everything acknowledged before is safe."
    )


class StorageBusy(StorageUnavailable):
    default_hint = "Another process holds the store. Try again."


class StorageReadOnly(StorageUnavailable):
    default_hint = "Make the data folder writable for this user. Every answer needs a row in the audit log."


class AuditUnavailable(Unavailable):
    default_hint = "Every answer needs a row in the audit log. Make the data folder writable and try again."


class ServerUnreachable(Unavailable):
    default_hint = "Start it with 'souvenance serve', or correct --url."


class ModelUnavailable(Unavailable):
    default_hint = "Nothing is lost: the work goes on when the model answers again. See 'souvenance status'."

    def __init__(self, detail: str, *, retry_after: int | None = None, hint: str | None = None) -> None:
        super().__init__(detail, hint=hint)
        self.retry_after = retry_after
        """For how many seconds the model asked to be left alone; None if it did not say."""


class ModelUnusable(ModelUnavailable):
    default_hint = "The model answered with something that can't be used. Try again, or use another model."


class ModelBudgetSpent(ModelUnavailable):
    default_hint = (
        "Wait for the next hour or day, or raise the budget. Everything that needs no model still works."
    )


class UpstreamUnreachable(Unavailable):
    default_hint = (
        "The model endpoint did not answer. Check SOUVENANCE_CHAT_BASE_URL and whether it is up; "
        "nothing was remembered."
    )


class IntegrityError(SouvenanceError):
    """Something stored is not as it was: never retried, never ignored."""


class Tampered(IntegrityError):
    default_hint = "Run 'souvenance doctor'. Restore the line from a backup or forget it."


class WrongKey(IntegrityError):
    default_hint = "The root key does not belong to this store. Restore the right root.key."


class BrokenAuditChain(IntegrityError):
    default_hint = "Keep the files as evidence and compare them with a backup."


class SchemaUnknown(IntegrityError):
    default_hint = (
        "Nothing was deleted. Run 'souvenance doctor', look at what it names, remove it, and try again."
    )


class ArchiveDamaged(IntegrityError):
    default_hint = "Nothing was changed. Fetch the file again, or use another copy of it."


class Misconfigured(SouvenanceError):
    """The settings or the data folder are wrong. Raised at the start alone."""


class NotSetUp(Misconfigured):
    default_hint = "Run 'souvenance init', or name another data folder with --home or SOUVENANCE_HOME."


class StoreMismatch(Misconfigured):
    """The data folder belongs to another store than the settings name."""


class Unsupported(SouvenanceError):
    """This backend, or this installation, can't do it."""
