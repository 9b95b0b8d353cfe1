"""Relocate: take lines to another namespace, under their own ids.

They leave as if they were erased, so what rests on them and stays behind goes, too. They are sealed anew where
they come to, with what they say of each other, and their facts go onto the cards that are kept there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain

from msgspec.structs import replace

from souvenance.core.archive import line_record, store_line
from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import SESSION
from souvenance.domain.jobs import REASONING
from souvenance.domain.line import DIGESTS, LinePlace, SealedLine
from souvenance.errors import Conflict, InvalidInput

MOST_LINES = 2000
"""So many at most: nobody else writes meanwhile."""


def relocate_session(ctx: RequestContext, session: str, namespace: str, changes: Changes) -> int:
    """Take a session with all that was said and concluded in it; how many lines that are. What was reasoned
    from it and from others stays behind, and so goes. Raises: NotFound, Conflict, InvalidInput."""
    entry = directory.need(ctx, SESSION, session)
    check_elsewhere(entry.namespace, namespace)
    if ctx.tx.work.left(ctx.scope.workspace, session, REASONING, entry.namespace):
        raise Conflict(
            "what was said in the session is still being read", hint="Try again in a minute; nothing was moved."
        )
    lines = with_session(ctx, session)
    if len(lines) > MOST_LINES:
        raise Conflict(f"the session has more than {MOST_LINES} lines, too many to be moved at once")
    ctx.tx.directory.remove(ctx.scope.workspace, SESSION, session)
    ctx.tx.directory.add(replace(entry, namespace=namespace))
    relocate(ctx, lines, namespace, changes)
    return len(lines)


def with_session(ctx: RequestContext, session: str) -> list[SealedLine]:
    """The lines that go with a session to another namespace. Summaries are made anew there. Raises: NotFound."""
    places = erase.lines_of(ctx, directory.need(ctx, SESSION, session)).values()
    lines = _whole(ctx, (line for line in places if line.kind not in DIGESTS))
    ids = {line.id for line in lines}
    cited = ctx.tx.lines.cited(ctx.scope.workspace, ids)
    return [line for line in lines if ids.issuperset(cited.get(line.id, ()))]


def with_history(ctx: RequestContext, line: SealedLine) -> list[SealedLine]:
    """The line, and the lines that it replaced."""
    found = [line]
    while (earlier := found[-1].supersedes) is not None:
        before = ctx.tx.lines.get(line.compartment, earlier)
        if before is None:
            break
        found.append(before)
    return found


def _whole(ctx: RequestContext, places: Iterable[LinePlace]) -> list[SealedLine]:
    found = (ctx.tx.lines.get(one.compartment, one.id) for one in places)
    return [line for line in found if line is not None]


def relocate(
    ctx: RequestContext, lines: Collection[SealedLine], namespace: str, changes: Changes
) -> None:
    """Raises: Conflict if there is a line of one of these ids already."""
    opener, ids = Opener(ctx), {line.id for line in lines}
    cited = ctx.tx.lines.cited(ctx.scope.workspace, ids)
    records = [
        (line.compartment.owner, line_record(line, opener.text(line), cited.get(line.id, ())))
        for line in lines
    ]
    concluded = {(line.compartment, line.about) for line in lines if line.about is not None}
    kept = {
        (compartment.owner, about): Card(ctx, compartment.owner, about, compartment.namespace).part(ids)
        for compartment, about in concluded
    }
    erase.erase_lines(ctx, lines, changes)
    for owner, record in records:
        if not store_line(ctx, compartment_of(ctx, owner, namespace), record, changes):
            raise Conflict(f"line {record.id} is in that namespace already", hint="Nothing was moved.")
    for (observer, observed), part in kept.items():
        Card(ctx, observer, observed, namespace).take(part, changes)


def check_elsewhere(here: str, there: str) -> None:
    """Raises: InvalidInput."""
    if here == there:
        raise InvalidInput("name another namespace", hint="It is in this one already.")
