"""Who speaks through the chat door, in which conversation, and the tokens that the door uses for them.

Only headers, the field user and the token say who speaks. A token that reaches everybody is narrowed offline
to the person and the session. Any other can't speak for the assistant, nor open a session: there the door's
own token is narrowed instead, to that person, that session, and what the caller's token grants.
"""

from __future__ import annotations

import os
import time
import unicodedata

from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import Headers

from souvenance.agents.conversation_scope import ConversationScope, Flags, Namespaces, Observation
from souvenance.agents.names import escalated, is_plain, marked, sanitised
from souvenance.agents.narrow_tokens import Narrowed, Purpose, wanted
from souvenance.agents.recalled import AI, USER
from souvenance.domain.names import ALL
from souvenance.domain.upstream import ChatSettings
from souvenance.errors import CapMalformed, CapScopeMismatch, Denied, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate.messages import WhoAmIAnswer
from souvenance.gate.token_verifier import Credentials

USER_ID = "x-hermes-user-id"
SESSION_KEY = "x-hermes-session-key"
SESSION_ID = "x-hermes-session-id"

MOST = 256
"""Characters of what a client calls a person or a conversation."""
_UNFIT = ("Cc", "Cs", "Zl", "Zp")
_OBSERVATION = Observation(user=Flags(True, False), ai=Flags(False, False))
"""What is known of a person is that person's own; of the assistant, whom strangers share, nothing is."""


class ClaimedIdentity(Struct, frozen=True):
    """What a request says of itself; None for what it leaves out."""

    user: str | None = None
    key: str | None = None
    transcript: str | None = None

    @property
    def echoed(self) -> dict[str, str]:
        """The headers of the answer, as they were sent."""
        said = {USER_ID: self.user, SESSION_KEY: self.key, SESSION_ID: self.transcript}
        return {name: text.encode().decode("latin-1") for name, text in said.items() if text is not None}


def claimed(headers: Headers, caller: Admitted) -> ClaimedIdentity:
    """Raises: InvalidInput, Denied."""
    if caller.local and names_itself(headers):
        raise _names_without_a_cap()
    return ClaimedIdentity(*(_header(headers, name) for name in (USER_ID, SESSION_KEY, SESSION_ID)))


def names_itself(headers: Headers) -> bool:
    """Whether the request says anything about who or where, well or badly."""
    return any(
        text.strip(" \t") for name in (USER_ID, SESSION_KEY, SESSION_ID) for text in headers.getlist(name)
    )


def _header(headers: Headers, name: str) -> str | None:
    given = headers.getlist(name)
    if len(given) > 1:
        raise InvalidInput(f"{name} is sent twice")
    try:
        text = "".join(given).encode("latin-1").decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} is not UTF-8") from None
    return checked(text, name)


def checked(text: str, where: str) -> str | None:
    """The text without spaces around it, or None if it is empty. Raises: InvalidInput."""
    text = text.strip(" \t")
    if len(text) > MOST:
        raise InvalidInput(f"{where} has more than {MOST} characters")
    if any(unicodedata.category(character) in _UNFIT for character in text):
        raise InvalidInput(f"{where} holds a control character")
    return text if text.strip() else None


def _names_without_a_cap() -> Denied:
    return Denied(
        "user and the X-Hermes headers need a cap",
        hint="Send a cap in place of 'local', or leave out user and X-Hermes headers.",
    )


def person(caller: Admitted, header: str | None, field: str | None) -> str | None:
    """Who speaks: whom the request names, if the cap reaches them.

    With nobody named it is the actor of a cap of one person, and nobody if the cap speaks for many. Whoever
    is let in for where they come from can name nobody, and is the owner.

    Raises: InvalidInput, Denied.
    """
    if caller.local and field is not None:
        raise _names_without_a_cap()
    if header is not None and field is not None and header != field:
        raise InvalidInput(
            f"{USER_ID} and the field user name different people",
            hint="Send one of them, or the same in both.",
        )
    grant, named = caller.grant, header if header is not None else field
    if named is None:
        return None if set(grant.peers) - {grant.sub} and not caller.local else grant.sub
    if named == grant.sub or named in grant.peers or ALL in grant.peers:
        return named
    raise CapScopeMismatch(
        "the cap does not reach that user",
        hint="Leave the user out, or use a cap whose peers name them. If your client sends something else in"
        " the field user, set SOUVENANCE_CHAT_USER_FIELD=0.",
    )


def peer_of(person: str, assistant: str) -> str:
    """The peer of a person: never that of another, nor the assistant's."""
    taken = frozenset({assistant, USER, AI})
    if is_plain(person) and person not in taken:
        return person
    return escalated(sanitised(person), taken, "user", person)


def session_of(peer: str, claim: ClaimedIdentity, namespace: str) -> str:
    """The session that a person speaks in: of that person, that key, that transcript and that namespace."""
    key, transcript = claim.key or "", claim.transcript or ""
    shown = "-".join(filter(None, ("chat", peer, key, transcript)))
    return marked(shown, "chat", peer, key, transcript, namespace)


def scope_of(
    settings: ChatSettings, grant: WhoAmIAnswer, claim: ClaimedIdentity, person: str
) -> ConversationScope:
    """Where what is said lies: in the cap's workspace and namespaces, or where the settings say."""
    opened = grant.namespaces_allowed
    written = settings.namespace if {ALL, settings.namespace} & set(opened) else min(opened, default=None)
    peer = peer_of(person, settings.assistant)
    return ConversationScope(
        workspace=settings.workspace if grant.wid == ALL else grant.wid,
        session=session_of(peer, claim, written or ""),
        user=peer,
        ai=settings.assistant,
        personal=False,
        observation=_OBSERVATION,
        namespaces=Namespaces(
            tuple(opened) if "get" in grant.ops else (), written if "put" in grant.ops else None
        ),
    )


_LIFE_SECONDS = 3600


class Admitted(Struct, frozen=True):
    """A caller with a good cap."""

    token: str
    grant: WhoAmIAnswer
    local: bool
    """Whether it was let in for where it comes from, and shows no cap."""
    store_down: bool = False
    """Whether the store was out of reach: the cap may have been withdrawn, and gets no memory."""

    @property
    def credentials(self) -> Credentials:
        """What tells whose turn it is. It proves nothing for a bound cap."""
        return Credentials(self.token)

    @property
    def wide(self) -> bool:
        return not self.grant.bound and ALL in self.grant.peers and self.grant.sessions is None


class ChatTokens:
    def __init__(self, own: str | None) -> None:
        self._own = own
        self._narrowed = Narrowed(now=lambda: int(time.time()), chance=os.urandom)

    def of(self, caller: Admitted, scope: ConversationScope, task: Purpose) -> Credentials:
        """The token for a task. Raises: CapScopeMismatch, CapMalformed."""
        source = caller.token if caller.wide else self._own
        if source is None:
            raise CapScopeMismatch("the cap does not reach the assistant, and the door has none")
        what_for = caller.token, scope, task
        try:
            return self._narrowed.of(source, what_for, lambda: _wanted(source, caller, scope, task))
        except CapMalformed:  # A cap of as many blocks as there may be can't be narrowed any more.
            own = self._own
            if own is None or source == own:
                raise
            return self._narrowed.of(own, what_for, lambda: _wanted(own, caller, scope, task))


def _wanted(source: str, caller: Admitted, scope: ConversationScope, task: Purpose) -> m.Attenuate:
    """It lives no longer than what the caller shows."""
    left = max(1, min(_LIFE_SECONDS, caller.grant.exp - int(time.time())))
    return replace(wanted(source, scope, task), ttl_seconds=left)
