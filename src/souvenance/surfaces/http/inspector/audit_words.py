"""What a row of the audit log says, in words."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.domain.capability import Ancestor
from souvenance.domain.names import ALL
from souvenance.domain.timestamps import to_datetime
from souvenance.gate.messages import AuditRow

WORDS = {
    "memory.put": "stored a line",
    "memory.get": "searched notes",
    "memory.line": "read a line",
    "memory.list": "listed lines",
    "memory.snapshot": "read the profile",
    "memory.invalidate": "corrected a line",
    "memory.forget": "forgot lines",
    "messages.add": "stored messages",
    "messages.upload": "stored a file",
    "messages.list": "read messages",
    "messages.read": "read a message",
    "messages.change": "changed a message's metadata",
    "messages.delete": "forgot a message",
    "workspaces.list": "listed workspaces",
    "workspaces.open": "opened a workspace",
    "workspaces.search": "searched messages",
    "workspaces.change": "changed a workspace's settings",
    "workspaces.chat": "asked about a workspace",
    "workspaces.delete": "forgot a workspace",
    "sessions.open": "opened a session",
    "sessions.list": "listed sessions",
    "sessions.read": "looked up a session",
    "sessions.change": "changed a session's settings",
    "sessions.clone": "copied a session",
    "sessions.peers": "listed who takes part in a session",
    "sessions.add_peers": "added people to a session",
    "sessions.set_peers": "set who takes part in a session",
    "sessions.remove_peers": "took people out of a session",
    "sessions.peer_config": "read who observes in a session",
    "sessions.set_peer_config": "set who observes in a session",
    "sessions.search": "searched a session",
    "sessions.context": "read a session's context",
    "sessions.summaries": "read summaries",
    "sessions.delete": "forgot a session",
    "peers.open": "looked up a person",
    "peers.list": "listed people",
    "peers.change": "changed a person's settings",
    "peers.rename": "renamed a person",
    "peers.sessions": "listed a person's sessions",
    "peers.chat": "asked about a person",
    "peers.context": "read what is known of a person",
    "peers.representation": "read what is known of a person",
    "peers.search": "searched what a person said",
    "peers.card": "read a card",
    "peers.set_card": "wrote a card",
    "peers.delete": "forgot a person",
    "conclusions.add": "noted a conclusion",
    "conclusions.list": "listed conclusions",
    "conclusions.query": "searched conclusions",
    "conclusions.read": "read a conclusion",
    "conclusions.delete": "forgot a conclusion",
    "inspect.people": "looked at the people",
    "inspect.health": "checked the health",
    "inspect.namespaces": "looked at their own namespaces",
    "inspect.facts": "read a card",
    "inspect.amend": "changed a card",
    "inspect.person": "looked at a person",
    "inspect.search": "searched everything",
    "inspect.conclusions": "ranked conclusions",
    "inspect.line": "looked at a line",
    "inspect.said": "looked up when something was said",
    "inspect.concluded": "read what was concluded in a session",
    "inspect.move": "moved a line to another namespace",
    "inspect.move_session": "moved a session to another namespace",
    "inspect.forget_message": "forgot a message",
    "inspect.forget_conclusion": "forgot a conclusion",
    "inspect.forget_from": "forgot the end of a session",
    "inspect.forget_session": "forgot a session",
    "inspect.aged": "looked at what a retention rule covers",
    "inspect.expiring": "looked at what expires next",
    "inspect.rows": "read the audit log",
    "inspect.measure": "counted tokens",
    "caps.mint": "made a token",
    "caps.attenuate": "narrowed a token",
    "caps.list": "listed tokens",
    "caps.readers": "looked at who may read something",
    "caps.falls": "looked at what revoking would end",
    "caps.revoke": "revoked a token",
    "caps.whoami": "showed a token",
    "keys.new": "made a key",
    "signin.list": "listed the programs that signed in",
    "signin.allow": "let a program in",
    "signin.deny": "turned a program away",
    "signin.exchange": "renewed a sign-in",
    "signin.end": "signed a program out",
    "signin.withdraw": "ended a sign-in",
    "audit.list": "read the audit log",
    "audit.checkpoint": "took a checkpoint of the audit log",
    "audit.proof": "proved a row of the audit log",
    "receipt.verify": "verified a receipt",
    "status": "looked at the status",
    "chat": "used the chat proxy",
    "export.page": "exported memory",
    "import.begin": "began an import",
    "import.page": "imported lines",
    "import.finish": "finished an import",
    "scopes.open": "opened a group of sessions",
    "scopes.read": "looked up a group of sessions",
    "scopes.list": "listed groups of sessions",
    "scopes.sessions": "listed the sessions of a group",
    "scopes.status": "looked at a group of sessions",
    "scopes.add_sessions": "added sessions to a group",
    "scopes.remove_session": "took a session out of a group",
    "scopes.delete": "removed a group of sessions",
    "webhooks.add": "added a webhook",
    "webhooks.list": "listed webhooks",
    "webhooks.test": "tried the webhooks",
    "webhooks.delete": "removed a webhook",
    "doctor.compartments": "listed what there is to examine",
    "doctor.examine": "examined stored lines",
    "doctor.reconcile": "compared the store with its log",
    "doctor.scrub": "removed what was forgotten from the disk",
    "metrics": "read the metrics",
    "queue.status": "looked at the work that waits",
    "dreams.schedule": "asked for a dream",
    "keys.rotate": "changed the keys",
    "reindex": "rebuilt the search index",
    "objects.restore": "brought back objects from the bucket",
    "index.vector_replaced": "replaced a damaged vector",
    "work.derive": "read what was said, and concluded from it",
    "work.summarise": "summarised a session",
    "work.dream": "reasoned over conclusions",
    "work.deliver": "called a webhook",
    "work.retain": "removed what was over",
    "retention.list": "read the retention rules",
    "retention.set": "set a retention rule",
    "retention.remove": "removed a retention rule",
    "storage": "looked at how much is stored",
    "health": "checked the server",
    "model.use": "looked at what models cost",
    "jobs.list": "looked at the jobs",
    "jobs.retry": "tried a job again",
    "audit.tail": "watched the audit log",
    "keep.backup": "made a backup",
    "page.give_link": "gave somebody a link that signs in",
    "page.sign_in": "signed in to the pages",
    "page.sign_out": "signed out of the pages",
    "passkey.add": "added a passkey",
    "passkey.use": "signed in with a passkey",
    "passkey.list": "listed passkeys",
    "passkey.remove": "removed a passkey",
}
"""Of every operation of the gate, and of what the server records by itself."""

_REFUSALS = {
    "cap_op_mismatch": "the token does not grant it",
    "cap_scope_mismatch": "not what the token is for",
    "namespace_denied": "not a namespace of the token",
    "cap_expired": "the token had expired",
    "cap_revoked": "the token was revoked",
    "cap_pop_invalid": "not signed with the token's key",
}
_OF_ONE = ("inspect.line", "memory.invalidate")
"""They name more lines than the one that they are about: its history."""


class RowInWords(Struct, frozen=True):
    """A row of the log as pages show it."""

    seq: int
    at: datetime
    time: str
    who: str
    what: str
    where: str
    """The namespaces; empty for all or none."""
    refused: str
    """Why; empty if it was allowed."""


def in_words(row: AuditRow) -> RowInWords:
    at = to_datetime(row.at)
    where = "" if ALL in row.namespaces else ", ".join(row.namespaces)
    refused = "" if row.outcome == "ok" else _REFUSALS.get(row.outcome, row.outcome.replace("_", " "))
    return RowInWords(row.seq, at, f"{at.astimezone(UTC):%H:%M:%S}", row.actor, _what(row), where, refused)


class _Told(Struct):
    """What the details of a row tell of whom and what it is about."""

    token: Ancestor | None = None
    owner: str | None = None
    session: str | None = None
    put: list[tuple[str, str | None, int, str]] = []
    """The owner, the session, how many lines, and the namespace."""
    dry_run: bool = False


def _what(row: AuditRow) -> str:
    """What happened, to whose lines and in which session, as far as the row tells."""
    words = WORDS.get(row.operation, row.operation)
    try:
        told = msgspec.json.decode(row.detail, type=settled(_Told))
    except msgspec.MsgspecError:
        told = _Told()
    if told.token is not None:
        return f"{words} for {told.token.sub}"
    if len(row.lines) > 1 and row.operation not in _OF_ONE:
        words = f"{words} ({len(row.lines)} lines)"
    owners = dict.fromkeys(filter(None, (told.owner, *(run[0] for run in told.put))))
    sessions = dict.fromkeys(filter(None, (told.session, *(run[1] for run in told.put))))
    words += f" of {', '.join(owners)}" if owners else ""
    words += f" in the session {', '.join(sessions)}" if sessions else ""
    return f"only previewed: {words}" if told.dry_run else words
