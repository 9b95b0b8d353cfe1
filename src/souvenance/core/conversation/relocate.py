"""Relocate: take lines to another namespace, under their own ids.

They leave as if they were erased, so what rests on them and on others too goes. They are sealed anew where
they come to, cite each other as before, and their facts go onto the cards that are kept there.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from souvenance.core.archive import line_record, store_line
from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import REASONING, SESSION, Entry
from souvenance.domain.line import DIGESTS, SealedLine
from souvenance.errors import Conflict

MOST_LINES = 2000
"""So many at most: nobody else writes meanwhile."""


def relocate_session(
    ctx: RequestContext, session: str, lines: Collection[SealedLine], namespace: str, changes: Changes
) -> None:
    """Take a session with these lines. Raises: NotFound, Conflict."""
    entry = directory.need(ctx, SESSION, session)
    if ctx.tx.work.left(entry.workspace, session, REASONING, entry.namespace):
        raise Conflict(
            "what was said in the session is still being read",
            hint="Try again once no job of it waits. Nothing was moved.",
        )
    ctx.tx.directory.remove(entry.workspace, SESSION, session)
    ctx.tx.directory.add(replace(entry, namespace=namespace))
    relocate(ctx, lines, namespace, changes)


def with_session(ctx: RequestContext, session: Entry) -> list[SealedLine]:
    """The lines that a session takes along: what was said in it, and what rests on that alone. Summaries are
    made anew."""
    places = erase.fall(ctx, erase.lines_of(ctx, session).values()).lines.values()
    whole = (ctx.tx.lines.get(one.compartment, one.id) for one in places if one.kind not in DIGESTS)
    lines = [line for line in whole if line is not None]
    cited = ctx.tx.lines.cited(ctx.scope.workspace, [line.id for line in lines])
    found: list[SealedLine] = []
    while len(found) != len(lines):
        found, ids = lines, {line.id for line in lines}
        lines = [line for line in found if ids.issuperset(cited.get(line.id, ()))]
    return lines


def with_history(ctx: RequestContext, line: SealedLine) -> list[SealedLine]:
    """The line, and the lines that it replaced."""
    found = [line]
    while (earlier := found[-1].supersedes) is not None:
        before = ctx.tx.lines.get(line.compartment, earlier)
        if before is None:
            break
        found.append(before)
    return found


def relocate(ctx: RequestContext, lines: Collection[SealedLine], namespace: str, changes: Changes) -> None:
    """Raises: Conflict if they are too many, or a line of one of these ids is there already."""
    if len(lines) > MOST_LINES:
        raise Conflict(f"{len(lines)} lines are too many to move at once", hint=f"{MOST_LINES} can move.")
    opener, ids = Opener(ctx), {line.id for line in lines}
    cited = ctx.tx.lines.cited(ctx.scope.workspace, ids)
    records = [
        (line.compartment.owner, line_record(line, opener.text(line), cited.get(line.id, ())))
        for line in lines
    ]
    concluded = {(line.compartment, line.about) for line in lines if line.about is not None}
    kept = {
        (compartment.owner, about): Card(ctx, compartment.owner, about, compartment.namespace).of(ids)
        for compartment, about in concluded
    }
    erase.erase_lines(ctx, lines, changes)
    for owner, record in records:
        if not store_line(ctx, compartment_of(ctx, owner, namespace), record, changes):
            raise Conflict(f"line {record.id} is in that namespace already", hint="Nothing was moved.")
    for (observer, observed), part in kept.items():
        Card(ctx, observer, observed, namespace).take(part, changes)
