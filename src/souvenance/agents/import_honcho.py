"""A Honcho server as another memory, asked like any gate: any server of its v3 API, Souvenance's own too.

Only what its lists say is read, page by page and oldest first, so that what is added meanwhile moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, Protocol

from souvenance.agents.narrow_tokens import CallableGate
from souvenance.domain import imports as r
from souvenance.domain.frame import defuse
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.errors import (
    Denied,
    ImportUnreadable,
    InvalidInput,
    NotFound,
    RateLimited,
    ServerUnreachable,
    Unauthenticated,
    Unavailable,
)
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ConclusionAnswer
from souvenance.gate.conversation.context import READ_CARD
from souvenance.gate.conversation.messages import LIST_MESSAGES
from souvenance.gate.conversation.peers import LIST_PEERS
from souvenance.gate.conversation.sessions import LIST_MEMBERS, LIST_SESSIONS, READ_MEMBER, SessionAnswer
from souvenance.gate.conversation.workspaces import LIST_WORKSPACES
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.patterns import pattern

_PAGE = 100
_TRIES = 5
_LONGEST_WAIT = 30
_NAME = pattern(r"[a-zA-Z0-9_-]{1,512}\Z")
_QUOTED = pattern(r"Quoted(?:, not to be followed)?: “(.*)”", 16)
"""How Souvenance shows a conclusion that is not its peer's own word; 16 is `re.DOTALL`."""


class ServerGate(CallableGate, Protocol):
    def close(self) -> None: ...


class HonchoReader:
    """The reader of a server's workspaces: the one that is wanted, or all that the key opens."""

    kind = "honcho"
    again = False

    def __init__(self, gate: ServerGate, wanted: r.Wanted, rest: Callable[[float], None]) -> None:
        """`rest` lets so many seconds pass."""
        self._gate = gate
        self._credentials = Credentials(wanted.key)
        self._workspace = wanted.workspace
        self._rest = rest

    def records(self) -> Iterator[r.Record]:
        """All that the workspaces hold.

        Raises: ImportUnreadable, ServerUnreachable, Unauthenticated, NotFound.
        """
        with closing(self._gate):
            for one in self._workspaces() if self._workspace is None else self._one(self._workspace):
                yield one
                yield from _Copy(self, one.name).records()

    def _one(self, name: str) -> Iterator[r.ImportedWorkspace]:
        """The workspace of that name, as far as a key of it alone may know. Raises: NotFound."""
        try:
            found = next((one for one in self._workspaces() if one.name == name), None)
        except Unauthenticated:
            found = r.ImportedWorkspace(name)  # A workspace's own key may not list workspaces.
        if found is None:
            raise NotFound(f"the source has no workspace {name!r}", hint="Name another, or none for all.")
        yield found

    def _workspaces(self) -> Iterator[r.ImportedWorkspace]:
        for one in self.listed(LIST_WORKSPACES):
            yield r.ImportedWorkspace(one.id, one.metadata, one.configuration)

    def listed(self, operation: Operation, **fields: Any) -> Iterator[Any]:
        number = pages = 1
        while number <= pages:
            page = self.asked(operation, page=number, size=_PAGE, **fields)
            yield from page.items
            number, pages = number + 1, page.pages if page.items else 0

    def asked(self, operation: Operation, **fields: Any) -> Any:
        """What is answered; a server that is busy or away is asked again for a while.

        Raises: ServerUnreachable, Unauthenticated, NotFound, ImportUnreadable.
        """
        request = operation.request(**fields)
        for tries in range(_TRIES):
            try:
                return self._gate.call(operation, self._credentials, request)
            except (Unavailable, RateLimited) as error:
                if tries == _TRIES - 1:
                    hint = "Check its URL; or import again later: it goes on."
                    raise ServerUnreachable(f"no answer from the source: {error.detail}", hint=hint) from None
                wait = error.retry_after if isinstance(error, RateLimited) else 0
                self._rest(float(max(2**tries, min(wait, _LONGEST_WAIT))))
            except (Unauthenticated, Denied) as error:
                hint = "Give its key: --key-file, or HONCHO_API_KEY."
                detail = f"the source does not let this key read {operation.name}"
                raise Unauthenticated(detail, hint=hint) from error
            except InvalidInput as error:
                raise ImportUnreadable(f"the source refuses {operation.name}: {error.detail}") from None
        raise AssertionError("the last try answers or raises")


class _Copy:
    def __init__(self, server: HonchoReader, workspace: str) -> None:
        self._server = server
        self._here = {"workspace_id": workspace}
        self._peers: set[str] = set()

    def records(self) -> Iterator[r.Record]:
        for peer in self._listed(LIST_PEERS):
            if not _NAME.match(peer.id):
                yield r.Skipped("peers that stand for scopes", defuse(peer.id))
                continue
            self._peers.add(peer.id)
            observed = peer.configuration.get("observe_me")
            known = observed if isinstance(observed, bool) else None
            yield r.ImportedPeer(peer.id, peer.id, peer.metadata, known)
        sessions: set[str] = set()
        for session in self._listed(LIST_SESSIONS):
            sessions.add(session.id)
            yield from self._session(session)
        pairs = {(peer, peer): None for peer in sorted(self._peers)}
        for held in self._listed(LIST_CONCLUSIONS, reverse=True):
            if not (_NAME.match(held.observer_id) and _NAME.match(held.observed_id)):
                yield r.Skipped("conclusions of peers that stand for scopes", defuse(held.id))
                continue
            pairs[held.observer_id, held.observed_id] = None
            yield from self._known(held, sessions)
        for observer, observed in pairs:
            yield from self._card(observer, observed)

    def _session(self, session: SessionAnswer) -> Iterator[r.Record]:
        place, of = f"session {defuse(session.id)}", {"session_id": session.id}
        members = {}
        for peer in self._listed(LIST_MEMBERS, **of):
            if _NAME.match(peer.id):
                habits = self._server.asked(READ_MEMBER, **self._here, **of, peer_id=peer.id)
                members[peer.id] = MemberReasoning(habits.observe_me, habits.observe_others)
        yield from self._met(members)
        yield r.ImportedSession(session.id, session.id, members, session.metadata, session.configuration)
        for said in self._listed(LIST_MESSAGES, **of):
            if not said.content.strip():
                yield r.Skipped("empty messages", f"{place}, message {defuse(said.id)}")
                continue
            yield from self._met((said.peer_id,))
            yield r.ImportedMessage(
                session.id,
                said.peer_id,
                said.content,
                said.id,
                f"{place}, message {defuse(said.id)}",
                said.created_at,
                said.metadata,
            )

    def _met(self, names: Iterable[str]) -> Iterator[r.Record]:
        """Those of them that the list of peers does not have."""
        for name in names:
            if name not in self._peers:
                self._peers.add(name)
                yield r.ImportedPeer(name, name)

    def _known(self, held: ConclusionAnswer, sessions: set[str]) -> Iterator[r.Record]:
        quoted = _QUOTED.fullmatch(held.content)
        yield from self._met((held.observer_id, held.observed_id))
        yield r.ImportedStatement(
            held.observer_id,
            held.observed_id,
            quoted[1] if quoted else held.content,
            held.id,
            f"conclusion {defuse(held.id)}",
            held.created_at,
            held.session_id if held.session_id in sessions else None,
            origin={"level": held.level} if held.level else {},
        )

    def _card(self, observer: str, observed: str) -> Iterator[r.Record]:
        target = None if observer == observed else observed
        try:
            card = self._server.asked(READ_CARD, **self._here, peer_id=observer, target=target).peer_card
        except NotFound:
            return
        if card:
            yield r.ImportedCard(observer, observed, tuple(card))

    def _listed(self, operation: Operation, **fields: Any) -> Iterator[Any]:
        return self._server.listed(operation, **self._here, **fields)
