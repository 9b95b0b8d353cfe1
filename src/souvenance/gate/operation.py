"""An operation: the right it needs, what its request reaches for, its work, and what that work may use.

In conversations a cap may do this, by the narrowest thing that it names:

    the installation's own cap     everything, in every workspace
    a cap of a workspace           everything in it
    a cap of peers                 those peers' own views, reading the sessions they are in, and writing to
                                   their own: those whose names end in their mark, and that nobody else is in
    a cap of sessions              those sessions, and only what was concluded in them

A cap of sessions writes in the name of those who are in them, and lets nobody in. A cap of peers and sessions
writes to those sessions in the name of those peers. All of it within the namespaces that the cap opens. What
a cap may not reach and what is not there are refused alike.

Through the eyes of the peers in `via` a cap of peers sees what they know of the peers it reaches, and what
they said and know of themselves in the sessions that it reads. Nothing else of theirs is open to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, get_type_hints

from msgspec import Struct

from souvenance.core.conversation.conclusions import Whose
from souvenance.core.conversation.directory import find, members, namespace_for, stays
from souvenance.core.remember import Upcoming
from souvenance.core.request_context import NO_TRACE, RequestContext, Services, Trace
from souvenance.domain.audit import Row
from souvenance.domain.capability import Chain, Grant, Revocation
from souvenance.domain.directory import SESSION
from souvenance.domain.line import CONCLUSIONS, STATEMENT, SealedLine
from souvenance.domain.names import ALL, own_mark
from souvenance.domain.policy import Need, Reach
from souvenance.errors import CapOpMismatch, CapScopeMismatch
from souvenance.gate import messages as m
from souvenance.gate.messages import Answer
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store


class Rights:
    """What the cap of one request may do in conversations."""

    def __init__(self, ctx: RequestContext, grant: Grant) -> None:
        self._ctx = ctx
        self._grant = grant

    @property
    def everywhere(self) -> bool:
        return ALL in self._grant.peers and self._grant.sessions is None

    @property
    def sessions(self) -> frozenset[str] | None:
        """The sessions that the cap is limited to."""
        return self._grant.sessions

    def operator(self) -> None:
        """Raises: CapScopeMismatch."""
        if not self._grant.operates:
            raise CapScopeMismatch("only the installation's own cap may do this")

    def workspace(self) -> None:
        """Raises: CapScopeMismatch."""
        if not self.everywhere:
            raise CapScopeMismatch("the cap does not reach the whole workspace")

    def reaches(self, peer: str) -> bool:
        return self._grant.reaches(peer)

    def peer(self, *names: str | None) -> None:
        """Raises: CapScopeMismatch."""
        if self._grant.sessions is not None:
            raise CapScopeMismatch("the cap is limited to sessions")
        for name in names:
            if name is not None and not self._grant.reaches(name):
                raise CapScopeMismatch("the cap does not reach that peer")

    def looks(self, observer: str, observed: str) -> frozenset[str] | None:
        """The sessions that limit the one's view of the other, if any do. Raises: CapScopeMismatch."""
        self.peer()
        if self._grant.reaches(observer):
            return None
        if observer in self._grant.via:
            if self._grant.reaches(observed):
                return None
            if observed == observer:
                return self._read()
        raise CapScopeMismatch("the cap does not reach that peer")

    def holds(self, observer: str, observed: str) -> None:
        """Whether the cap may treat the one's view of the other as its own. Raises: CapScopeMismatch."""
        if self.looks(observer, observed) is not None:
            raise CapScopeMismatch("the cap does not reach that peer")

    def views(self) -> list[Whose]:
        """Which conclusions the cap may read."""
        if ALL in self._grant.peers:
            return [Whose()]
        reached = {self._grant.actor, *self._grant.peers}
        found = [Whose(sorted(reached))]
        for observer in sorted(self._grant.via - reached):
            found += [Whose((observer,), observed) for observed in sorted(reached)]
            found.append(Whose((observer,), observer, self._read()))
        return found

    def _read(self) -> frozenset[str]:
        """The sessions that a peer is in whom the cap reaches, as they were when that was first asked."""
        scope, peers = self._ctx.scope, self._grant.peers | {self._grant.actor}
        find = partial(self._ctx.tx.directory.sessions_with, scope.workspace, peers, scope.namespaces)
        return self._ctx.once((Rights, scope.workspace, peers, scope.namespaces), lambda: frozenset(find()))

    def sees(self, line: SealedLine) -> bool:
        """Whether the cap may read that line of a namespace that it opens."""
        limits, session = self._grant.sessions, line.session or ""
        if limits is not None and session not in limits:
            return False
        if self._grant.reaches(line.compartment.owner):
            return True
        if line.turn is not None:
            return self.may_read(session)
        if line.invalidated_by is not None or (limits is not None and not self.may_read(session)):
            return False
        stated = (
            [Whose(kinds=(STATEMENT, CONCLUSIONS["explicit"]))]
            if limits is not None and self.opens(session)
            else []
        )
        return any(whose.includes(line) for whose in (*stated, *self.views()))

    def writes(self, session: str, authors: Iterable[str] = ()) -> None:
        """Raises: CapScopeMismatch."""
        if not self.opens(session) and not self.owns(session):
            raise CapScopeMismatch("the cap may not write to that session")
        authors = set(authors)
        if not all(map(self._grant.reaches, authors)):
            raise CapScopeMismatch("the cap does not reach that peer")
        named = self._grant.speakers
        unnamed = frozenset() if named is None else authors - named
        if unnamed and not (self.known(SESSION, session) and unnamed <= members(self._ctx, session).keys()):
            raise CapScopeMismatch(
                "the token is of a session, and that peer is not in it",
                hint="Let the peer into the session with a token of the workspace first.",
            )

    def makes(self, session: str, authors: Iterable[str] = (), namespace: str | None = None) -> None:
        """As `writes`; the session may be new. Raises: CapScopeMismatch, NamespaceDenied, Conflict."""
        self.writes(session, authors)
        self.lies(session, namespace)

    def lies(self, session: str | None, namespace: str | None) -> None:
        """Whether the session, or what is of none, may lie there. Raises: NamespaceDenied, Conflict."""
        namespace_for(self._ctx, session, namespace)

    def opens(self, session: str) -> bool:
        """Whether the session is the cap's own. Who is in it does not matter."""
        opened = self._grant.opened
        return self.everywhere if opened is None else session in opened

    def owns(self, session: str) -> bool:
        """Whether the session, made or not, is that of a peer whom the cap reaches, and of nobody else. One
        in a closed namespace is judged as one that is not made: who is in it stays inside."""
        grant = self._grant
        if grant.sessions is not None and session not in grant.sessions:
            return False
        if not session.endswith(tuple(map(own_mark, (grant.actor, *grant.peers)))):
            return False
        if not self.known(SESSION, session):
            return True
        return all(grant.reaches(stay.held) for stay in stays(self._ctx, session))

    def may_read(self, session: str) -> bool:
        return self.opens(session) or self.finds(session)

    def reads(self, session: str) -> None:
        """Raises: CapScopeMismatch."""
        if not self.may_read(session):
            raise CapScopeMismatch("the cap does not reach that session")

    def finds(self, session: str) -> bool:
        """Whether there is such a session, and the cap may read it."""
        opened, limits = self.opens(session), self._grant.sessions
        if not self.known(SESSION, session) or not (opened or limits is None or session in limits):
            return False
        return opened or any(map(self._grant.reaches, members(self._ctx, session)))

    def known(self, kind: str, name: str) -> bool:
        return find(self._ctx, kind, name) is not None

    def puts(self) -> None:
        """Raises: CapOpMismatch for a cap that only reads."""
        if "put" not in self._grant.ops:
            raise CapOpMismatch("the cap does not grant 'put'")


class AuthorisedRequest(Struct, frozen=True, gc=False):
    ctx: RequestContext
    chain: Chain
    token: str
    keyring: Keyring
    store: Store
    again: Callable[[Callable[[AuthorisedRequest], Outcome]], Outcome]
    """Reads again for the same request after its own transaction: the cap is checked again, and the read has
    its own row. Raises: SouvenanceError."""
    rights: Rights
    withdrawn: list[Revocation]

    def withdraw(self, one: Revocation) -> None:
        """End tokens in every process, from the next request on; in this one also while the store is away."""
        self.ctx.tx.caps.revoke(one)
        self.ctx.tx.touch(one.workspace, caps=True)
        self.withdrawn.append(one)

    def scrub(self) -> bool:
        """Remove erased data from memory and from the files; False if the files must wait."""
        return self.ctx.services.scrub(self.store)


class Outcome(Struct, frozen=True, gc=False):
    """The answer, or how to make it once the audit row is written, and what that row says."""

    answer: Answer | Callable[[Row], Answer]
    trace: Trace = NO_TRACE


class Operation(Struct, frozen=True):
    name: str
    need: Need
    request: type[m.Request]
    answer: type[m.Answer]
    work: Callable[[AuthorisedRequest, Any], Outcome]
    reach: Callable[[Any], Reach] = lambda request: Reach()
    verdict: bool = False
    """Whether it only checks the token and reads no line, so that it takes almost no time."""
    writes: bool = False
    within: bool = False
    """For an operation that writes: whether it writes, and has its audit row, in one workspace alone."""
    question: Callable[[Any], str | None] = lambda request: None
    """The question in words, if there is one."""
    admit: Callable[[Rights, Any], None] | None = None
    """What else the cap must allow, once the workspace can be looked at."""
    prepare: Callable[[Services, Any], m.Request] | None = None
    """Work on an admitted request before the store is locked for writing, so that nobody waits for it."""
    texts: Callable[[Any], Iterable[Upcoming]] | None = None
    """The texts that it stores. Long ones are analysed before the store is locked for writing."""
    waits: bool = False
    """Whether its answer may wait for something beyond the store."""
    rings: bool = False
    """Whether it may add background work."""
    peek: Callable[[AuthorisedRequest, Any], Outcome | None] | None = None
    """For an operation that writes: the outcome if nothing has to be written, found by reading alone."""


def declare(
    name: str,
    op: str | None,
    answer: type[Answer],
    work: Callable[[AuthorisedRequest, Any], Outcome],
    reach: Callable[[Any], Reach] = lambda request: Reach(),
    *,
    operator: bool = False,
    **more: Any,
) -> Operation:
    """An operation that needs the right `op`, and is asked what its work takes. `more` are other fields."""
    _, request, *_ = get_type_hints(work).values()
    fields = {"request": request, "answer": answer, "work": work, "reach": reach, **more}
    return Operation(name, Need(op, operator=operator), **fields)


def in_workspace(request: Any) -> Reach:
    return Reach(workspace=request.workspace_id)


def whole_or_owner(rights: Rights, request: Any) -> None:
    """Raises: CapScopeMismatch for a token of less than a workspace, or than the owner who was named."""
    if request.owner is None:
        rights.workspace()
    else:
        rights.peer(request.owner)


def operation(
    name: str,
    op: str,
    answer: type[Answer],
    work: Callable[[AuthorisedRequest, Any], Outcome],
    admit: Callable[[Rights, Any], None] = lambda rights, request: rights.workspace(),
    *,
    reach: Callable[[Any], Reach] = lambda request: Reach(
        workspace=request.workspace_id, some_compartment=True
    ),
    **more: Any,
) -> Operation:
    """One within a workspace: `admit` checks what else the token must allow, by default all of the workspace.
    What needs put or forget, or may `peek`, writes."""
    writes = op in ("put", "forget") or "peek" in more
    return declare(name, op, answer, work, reach, writes=writes, within=True, admit=admit, **more)
