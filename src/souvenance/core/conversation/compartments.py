"""Where a conversation's lines lie, and how they are opened and noted.

A message lies in the compartment of the peer who said it, a conclusion and a card in that of the
peer who holds them, a summary in a compartment that belongs to the sessions of the workspace: each in the
namespace of its session, or, without a session, in the one that was named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from souvenance.core.remember import append, sealed
from souvenance.core.request_context import RequestContext, Trace
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import LinePlace, OpenLine, SealedLine
from souvenance.domain.names import ALL, SESSIONS, Compartment
from souvenance.domain.receipt import GoneRun, gone_runs
from souvenance.errors import NamespaceDenied


def denied() -> NamespaceDenied:
    """The refusal of a request that names a namespace which the cap does not open."""
    return NamespaceDenied("the cap does not open every namespace of this request")


def compartment_of(ctx: RequestContext, owner: str, namespace: str) -> Compartment:
    return Compartment(ctx.scope.workspace, owner, namespace)


def compartments_of(ctx: RequestContext, owner: str) -> list[Compartment]:
    """The compartments of that owner that exist, as far as may be looked, in order of namespace."""
    scope = ctx.scope
    keys = ctx.tx.keys.of(scope.workspace, owner, scope.namespaces)
    return list(dict.fromkeys(key.compartment for key in keys))


def everywhere(ctx: RequestContext) -> tuple[str, ...]:
    """As far as may be looked, as the audit log names it."""
    namespaces = ctx.scope.namespaces
    return (ALL,) if namespaces is None else tuple(sorted(namespaces))


class Opener:
    """Opens lines of any owner, looking each compartment's keys up once.

    It does not hold the request's context, which may hold in mind what it opens: nothing would free them.
    """

    def __init__(self, ctx: RequestContext) -> None:
        self._scope, self._vault, self._tx = ctx.scope, ctx.services.vault, ctx.tx
        self._keys: dict[Compartment, CompartmentKeys] = {}

    def text(self, line: SealedLine) -> str:
        """Raises: Tampered, WrongKey, NamespaceDenied for what should never have been found."""
        keys = self._keys.get(line.compartment)
        return (self._found(line) if keys is None else keys).open(line)

    def _found(self, line: SealedLine) -> CompartmentKeys:
        if not self._scope.opens(line.compartment.namespace):
            raise denied()
        keys = self._keys[line.compartment] = self._vault.held(self._tx, line.compartment)
        return keys


_MOST_TOLD = 20


def reading(namespaces: Sequence[str], lines: Sequence[str] = ()) -> Trace:
    """Where was looked and what was read, for the audit log: the ids, or, if they are many, how many."""
    detail = f'{{"lines":{len(lines)}}}' if len(lines) > _MOST_TOLD else ""
    return Trace(namespaces, lines[:_MOST_TOLD], detail)


def write_line(
    ctx: RequestContext,
    keys: CompartmentKeys,
    line_id: str,
    kind: str,
    text: str,
    *,
    session: str | None = None,
    turn: int | None = None,
    about: str | None = None,
    said_at: int | None = None,
    metadata: str = "{}",
    tokens: int | None = None,
    likeness: bytes | None = None,
    supersedes: str | None = None,
) -> SealedLine:
    """Store a line in the compartment of these keys, as part of the request or job of this context."""
    line = OpenLine(
        compartment=keys.compartment,
        id=line_id,
        kind=kind,
        text=text,
        session=session,
        created_at=ctx.now,
        occurred_at=said_at,
        supersedes=supersedes,
        cap=ctx.cap,
        turn=turn,
        about=about,
        metadata={},
    )
    kept = sealed(ctx, line, keys, metadata, tokens=tokens, likeness=likeness)
    append(ctx, kept, text, keys)
    return kept


class _WholeChanges(Struct, kw_only=True):
    gone_session: str | None = None
    gone_owner: str | None = None
    gone_workspace: bool = False
    gone_in: Sequence[str] = ()
    """The namespaces in which everything of the owner or of the workspace is gone; '*' for all."""
    epoch: int = 0
    """The newest epoch of keys that are gone with them."""
    replaced: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Owner and namespace of lines that were replaced, with their ids and those of what replaced them."""


class LoggedRun(Struct, array_like=True, frozen=True):
    """Lines put one after the other in one place."""

    owner: str
    session: str | None
    count: int
    namespace: str


class LoggedChanges(_WholeChanges, kw_only=True):
    """What the audit log says that a request or a job did to lines. The doctor reads it there."""

    put: list[LoggedRun] = []
    gone: tuple[GoneRun, ...] = ()

    def takes(self, compartment: Compartment) -> bool:
        """Whether the compartment went with its owner or with its workspace."""
        gone = self.gone_workspace or compartment.owner == self.gone_owner
        return gone and not {ALL, compartment.namespace}.isdisjoint(self.gone_in)


class Changes(_WholeChanges):
    """What a request or a job did to lines."""

    namespaces: set[str] = field(default_factory=set)
    """Where something was done."""
    put: list[SealedLine] = field(default_factory=list)
    gone: set[tuple[Compartment, str]] = field(default_factory=set)
    """The lines that went, as the log tells it: without those that go with their session."""
    erased: set[tuple[Compartment, str]] = field(default_factory=set)
    """The lines that went."""

    def add(self, line: SealedLine) -> None:
        self.put.append(line)
        self.namespaces.add(line.compartment.namespace)

    def lose(self, compartment: Compartment, line_ids: Iterable[str]) -> None:
        places = {(compartment, line_id) for line_id in line_ids}
        self.gone |= places
        self.erased |= places
        self.namespaces.add(compartment.namespace)

    def join(self, other: Changes) -> None:
        """Count what the other did as done here."""
        self.put.extend(other.put)
        self.gone |= other.gone
        self.erased |= other.erased
        self.namespaces.update(other.namespaces)
        self.replaced.extend(other.replaced)

    def trace(self, **facts: object) -> Trace:
        changed = {**asdict(self), "put": _runs(self.put), "gone": gone_runs(self.gone)}
        del changed["namespaces"], changed["erased"]
        detail = {**facts, **{name: one for name, one in changed.items() if one}}
        text = msgspec.json.encode(detail, order="sorted").decode() if detail else ""
        return Trace(sorted(self.namespaces), [line.id for line in self.put], text)


def is_of_conversation(line: LinePlace) -> bool:
    """Whether the log names the session of the line, and the line goes with that session. For a line put by
    hand it does not."""
    return line.turn is not None or line.about is not None or line.compartment.owner == SESSIONS


def _runs(lines: Iterable[SealedLine]) -> list[LoggedRun]:
    """Equal neighbours become one."""

    def place(line: SealedLine) -> tuple[str, str | None, str]:
        session = line.session if is_of_conversation(line) else None
        return line.compartment.owner, session, line.compartment.namespace

    return [
        LoggedRun(owner, session, len(list(some)), namespace)
        for (owner, session, namespace), some in groupby(lines, place)
    ]
