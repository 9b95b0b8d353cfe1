"""Cascade: what rests on nothing any more once some lines are gone, goes too.

What was concluded rests on messages, and goes with the last of them, or with any if it follows from all of
them together. What was reasoned further tells of several conclusions in one text, so it goes with any of
them. A line put by hand, whose id its maker may choose, is no
ground of anything, even if it goes under the id of a message or a conclusion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from souvenance.core.conversation import cards, directory
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.conclusions import EXPLICIT, KINDS, TOGETHER
from souvenance.core.conversation.ingest import owe_summaries
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import SESSION
from souvenance.domain.jobs import DREAM, Errand
from souvenance.domain.line import LinePlace
from souvenance.domain.names import SESSIONS, Compartment
from souvenance.ports.store import Turns, Views


def erase_lines(ctx: RequestContext, lines: Iterable[LinePlace], changes: Changes) -> None:
    """The lines, whatever rests on nothing else any more, their entries on cards and summaries of them."""
    going = list(lines)
    _unsay(ctx, {line.session for line in going if line.turn is not None and line.session}, changes)
    struck: dict[tuple[Compartment, str], set[str]] = defaultdict(set)
    anew: set[tuple[Compartment, str]] = set()
    unsaid: set[str] = set()
    while going:
        by_compartment: dict[Compartment, list[str]] = defaultdict(list)
        said: list[str] = []
        concluded: list[str] = []
        for line in going:
            by_compartment[line.compartment].append(line.id)
            if line.turn is not None:
                said.append(line.id)
            if line.kind in KINDS and line.about is not None:
                struck[line.compartment, line.about].add(line.id)
                concluded.append(line.id)
        for compartment, ids in by_compartment.items():
            ctx.tx.terms.remove(compartment, ids)
            ctx.tx.lines.delete(compartment, ids)
            changes.lose(compartment, ids)
        unsaid.update(said)
        reasoned = _reasoned_from(ctx, concluded)
        going = [*_resting_on(ctx, said, struck), *reasoned]
        anew.update((line.compartment, line.about or "") for line in reasoned)
    for (compartment, observed), sources in struck.items():
        if cards.strike(
            ctx, compartment.owner, observed, compartment.namespace, sources, changes, messages=unsaid
        ):
            anew.add((compartment, observed))
    for compartment, observed in sorted(anew):
        owe_card(ctx, compartment, observed)
    ctx.tx.owe_scrub()


def erase_resting(
    ctx: RequestContext, gone: Collection[str], sessions: Iterable[str], changes: Changes
) -> None:
    """What rested on these lines of the request context's owner in these sessions, which are about to go."""
    named, workspace, owner = list(sessions), ctx.scope.workspace, ctx.scope.owner
    _unsay(ctx, named, changes)
    said = {
        line.id
        for session in directory.in_reach(ctx, named)
        for line in ctx.tx.lines.turns(Turns(workspace, session, owner=owner))
    }
    unsaid = said.intersection(gone)
    weakened: dict[tuple[Compartment, str], set[str]] = defaultdict(set)
    resting = _resting_on(ctx, unsaid, weakened)
    for compartment, observed in weakened:
        cards.strike(ctx, compartment.owner, observed, compartment.namespace, (), changes, messages=unsaid)
    held = ctx.tx.lines.views(Views(workspace, KINDS, owner, namespaces=ctx.scope.namespaces))
    reasoned = _reasoned_from(ctx, {line.id for line in held}.intersection(gone))
    erase_lines(ctx, [*resting, *(line for line in reasoned if line.compartment.owner != owner)], changes)


def _unsay(ctx: RequestContext, sessions: Iterable[str], changes: Changes) -> None:
    """Make ready for messages of the sessions to go: their turns are spent, and summaries tell of them.

    A summary tells in one text what several said: it goes as a whole, and is made again without them.
    """
    for session in sessions:
        entry = directory.find(ctx, SESSION, session)
        if entry is None:
            continue
        last = directory.next_turn(ctx, session) - 1
        directory.spend_turns(ctx, session, last)
        by_compartment: dict[Compartment, list[str]] = defaultdict(list)
        for line in ctx.tx.lines.of_session(ctx.scope.workspace, SESSIONS, session):
            by_compartment[line.compartment].append(line.id)
        for compartment, ids in by_compartment.items():
            ctx.tx.lines.delete(compartment, ids)
            changes.lose(compartment, ids)
        if by_compartment:
            owe_summaries(ctx, entry, 1, last)


def _resting_on(
    ctx: RequestContext, gone: Collection[str], weakened: dict[tuple[Compartment, str], set[str]]
) -> list[LinePlace]:
    """The lines that followed from these and do no longer; whose still do is noted as weakened.

    What follows from several together follows no longer without one of them.
    """
    workspace = ctx.scope.workspace
    resting = ctx.tx.lines.citing(workspace, gone)
    ctx.tx.lines.uncite(workspace, gone)
    still = ctx.tx.lines.cited(workspace, [line_id for _, line_id in resting])
    found: list[LinePlace] = []
    for compartment, line_id in resting:
        line = ctx.tx.lines.get(compartment, line_id)
        if line is None:
            continue
        if line_id not in still or line.metadata == TOGETHER:
            found.append(line)
        elif line.about is not None:
            weakened[compartment, line.about] |= set()
    return found


def _reasoned_from(ctx: RequestContext, gone: Collection[str]) -> list[LinePlace]:
    """What was reasoned further from any of these conclusions."""
    citing = ctx.tx.lines.citing(ctx.scope.workspace, gone)
    lines = [ctx.tx.lines.get(compartment, line_id) for compartment, line_id in citing]
    return [line for line in lines if line is not None and line.kind in KINDS - EXPLICIT]


def owe_card(ctx: RequestContext, compartment: Compartment, observed: str) -> None:
    """Have the card of the compartment's owner made anew there, of the conclusions that stand."""
    payload = msgspec.json.encode({"observer": compartment.owner}).decode()
    errand = Errand(
        compartment.workspace, DREAM, peer=observed, payload=payload, namespace=compartment.namespace
    )
    ctx.tx.work.add(errand, ctx.now)
