"""Browse: one line with its history, the list of what there is, and the profile of an owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.request_context import RequestContext, opened, said_at
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import trust, ulid
from souvenance.domain.frame import defuse
from souvenance.domain.limits import LIST_MOST, LIST_TEXT_BYTES, SNAPSHOT_BYTES
from souvenance.domain.line import DIGESTS, PROFILE, Line, SealedLine
from souvenance.domain.timestamps import day
from souvenance.domain.trust import Trust
from souvenance.errors import Tampered
from souvenance.ports.store import ALL_BEFORE, TurnSpan

_SNAPSHOT_LINES = 200


class LinePage(Struct, frozen=True):
    lines: list[SealedLine]
    cursor: str | None
    opened: list[Line | None] = []
    """The same lines opened, if their texts were asked for; None for one that does not open."""


class LineRead(Struct, frozen=True):
    line: Line
    trust: Trust
    invalidated_by: str | None
    """The id of the line that replaced it, if any did."""


def read_line(ctx: RequestContext, line_id: str) -> LineRead:
    """One line, whatever became of it.

    Raises: InvalidInput, NotFound, Tampered.
    """
    sealed, keys = ctx.find(ulid.check(line_id))
    line = opened(sealed, keys)
    return LineRead(line, class_of(line), sealed.invalidated_by)


def list_lines(
    ctx: RequestContext,
    *,
    since: int | None,
    cursor: str | None,
    limit: int,
    history: bool,
    texts: bool = False,
) -> LinePage:
    """A page of lines, oldest first; with `texts` they are opened, and the page may end sooner.

    Raises: InvalidInput if the cursor is not one of ours.
    """
    limit = max(1, min(limit, LIST_MOST))
    after = None if since is None else (ulid.below(since), ALL_BEFORE)
    if cursor is not None:
        last_id, _, last_namespace = cursor.partition(".")
        after = (ulid.check(last_id, "cursor"), last_namespace)
    compartments = ctx.open_compartments()
    span = TurnSpan(
        ctx.scope.workspace,
        ctx.scope.owner,
        frozenset(compartments),
        after=after,
        sessions=ctx.scope.sessions,
        history=history,
        newest_first=False,
        limit=limit + 1,
    )
    lines = ctx.tx.lines.walk(span)
    read = _opened(lines[:limit], compartments) if texts else []
    page = lines[: len(read) if texts else limit]
    if len(page) == len(lines):
        return LinePage(page, None, read)
    return LinePage(page, f"{page[-1].id}.{page[-1].compartment.namespace}", read)


def _opened(lines: Sequence[SealedLine], compartments: Mapping[str, CompartmentKeys]) -> list[Line | None]:
    """The first of the lines, as many as their texts may fill a page."""
    found: list[Line | None] = []
    size = 0
    for sealed in lines:
        line = _opened_if_whole(sealed, compartments[sealed.compartment.namespace])
        size += 0 if line is None else len(line.text.encode())
        if found and size > LIST_TEXT_BYTES:
            break
        found.append(line)
    return found


def _opened_if_whole(sealed: SealedLine, keys: CompartmentKeys) -> Line | None:
    try:
        return opened(sealed, keys)
    except Tampered:
        return None  # It is in the list all the same, and so is that it does not open.


def snapshot(ctx: RequestContext) -> tuple[str, list[str]]:
    """A profile that a system prompt may carry whole, and the ids of the lines in it.

    Lines of kind 'profile' come first, then the newest others, each with its day. Nobody asked for any of
    them, so it has the owner's own words and notes alone: nothing that was only carried, is about somebody
    else, or reads like orders. Whole lines only, up to the limit.

    Raises: Tampered.
    """
    compartments = ctx.open_compartments()
    span = TurnSpan(
        ctx.scope.workspace,
        ctx.scope.owner,
        frozenset(compartments),
        sessions=ctx.scope.sessions,
        limit=_SNAPSHOT_LINES,
    )
    profile = ctx.tx.lines.walk(replace(span, profile=True))
    others = [line for line in ctx.tx.lines.walk(span) if line.kind not in (PROFILE, *DIGESTS)]
    page = _Profile(ctx)
    for sealed in (*profile, *others):
        line = opened(sealed, compartments[sealed.compartment.namespace])
        # What is too long now stays so, and is not even looked at.
        if page.has_compartment(line) and not line.of_another and class_of(line) == Trust.SAID:
            page.tell(line)
    return "".join(page.told), page.ids


class _Profile:
    """What a snapshot tells, within its limit."""

    def __init__(self, ctx: RequestContext) -> None:
        self._ctx = ctx
        self._compartment = SNAPSHOT_BYTES
        self.told: list[str] = []
        self.ids: list[str] = []

    def has_compartment(self, line: Line) -> bool:
        return len(self._entry(line).encode()) <= self._compartment

    def tell(self, line: Line) -> None:
        entry = self._entry(line)
        self._compartment -= len(entry.encode())
        self.told.append(entry)
        self.ids.append(line.id)

    def _entry(self, line: Line) -> str:
        said = defuse(line.text)
        return f"- {day(self._ctx.services.local(said_at(line)))} [{line.compartment.namespace}] {said}\n"


def class_of(line: Line) -> Trust:
    """Whose word the line is."""
    return trust.of_line(line.kind, line.metadata, line.text)
