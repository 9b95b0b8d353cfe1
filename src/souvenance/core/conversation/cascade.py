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


def erase_lines(desk: RequestContext, lines: Iterable[LinePlace], changes: Changes) -> None:
    """The lines, whatever rests on nothing else any more, their entries on cards and summaries of them."""
    going = list(lines)
    _unsay(desk, {line.session for line in going if line.turn is not None and line.session}, changes)
    struck: dict[tuple[Compartment, str], set[str]] = defaultdict(set)
    anew: set[tuple[Compartment, str]] = set()
    unsaid: set[str] = set()
    while going:
        by_room: dict[Compartment, list[str]] = defaultdict(list)
        said: list[str] = []
        concluded: list[str] = []
        for line in going:
            by_room[line.room].append(line.id)
            if line.turn is not None:
                said.append(line.id)
            if line.kind in KINDS and line.about is not None:
                struck[line.room, line.about].add(line.id)
                concluded.append(line.id)
        for room, ids in by_room.items():
            desk.tx.terms.remove(room, ids)
            desk.tx.lines.delete(room, ids)
            changes.lose(room, ids)
        unsaid.update(said)
        reasoned = _reasoned_from(desk, concluded)
        going = [*_resting_on(desk, said, struck), *reasoned]
        anew.update((line.room, line.about or "") for line in reasoned)
    for (room, observed), sources in struck.items():
        if cards.strike(desk, room.owner, observed, room.namespace, sources, changes, messages=unsaid):
            anew.add((room, observed))
    for room, observed in sorted(anew):
        owe_card(desk, room, observed)
    desk.tx.owe_scrub()


def erase_resting(
    desk: RequestContext, gone: Collection[str], sessions: Iterable[str], changes: Changes
) -> None:
    """What rested on these lines of the desk's owner in these sessions, which are about to go."""
    named, workspace, owner = list(sessions), desk.scope.workspace, desk.scope.owner
    _unsay(desk, named, changes)
    said = {
        line.id
        for session in directory.in_reach(desk, named)
        for line in desk.tx.lines.turns(Turns(workspace, session, owner=owner))
    }
    unsaid = said.intersection(gone)
    weakened: dict[tuple[Compartment, str], set[str]] = defaultdict(set)
    resting = _resting_on(desk, unsaid, weakened)
    for room, observed in weakened:
        cards.strike(desk, room.owner, observed, room.namespace, (), changes, messages=unsaid)
    held = desk.tx.lines.views(Views(workspace, KINDS, owner, namespaces=desk.scope.namespaces))
    reasoned = _reasoned_from(desk, {line.id for line in held}.intersection(gone))
    erase_lines(desk, [*resting, *(line for line in reasoned if line.room.owner != owner)], changes)


def _unsay(desk: RequestContext, sessions: Iterable[str], changes: Changes) -> None:
    """Make ready for messages of the sessions to go: their turns are spent, and summaries tell of them.

    A summary tells in one text what several said: it goes as a whole, and is made again without them.
    """
    for session in sessions:
        entry = directory.find(desk, SESSION, session)
        if entry is None:
            continue
        last = directory.next_turn(desk, session) - 1
        directory.spend_turns(desk, session, last)
        by_room: dict[Compartment, list[str]] = defaultdict(list)
        for line in desk.tx.lines.of_session(desk.scope.workspace, SESSIONS, session):
            by_room[line.room].append(line.id)
        for room, ids in by_room.items():
            desk.tx.lines.delete(room, ids)
            changes.lose(room, ids)
        if by_room:
            owe_summaries(desk, entry, 1, last)


def _resting_on(
    desk: RequestContext, gone: Collection[str], weakened: dict[tuple[Compartment, str], set[str]]
) -> list[LinePlace]:
    """The lines that followed from these and do no longer; whose still do is noted as weakened.

    What follows from several together follows no longer without one of them.
    """
    workspace = desk.scope.workspace
    resting = desk.tx.lines.citing(workspace, gone)
    desk.tx.lines.uncite(workspace, gone)
    still = desk.tx.lines.cited(workspace, [line_id for _, line_id in resting])
    found: list[LinePlace] = []
    for room, line_id in resting:
        line = desk.tx.lines.get(room, line_id)
        if line is None:
            continue
        if line_id not in still or line.metadata == TOGETHER:
            found.append(line)
        elif line.about is not None:
            weakened[room, line.about] |= set()
    return found


def _reasoned_from(desk: RequestContext, gone: Collection[str]) -> list[LinePlace]:
    """What was reasoned further from any of these conclusions."""
    citing = desk.tx.lines.citing(desk.scope.workspace, gone)
    lines = [desk.tx.lines.get(room, line_id) for room, line_id in citing]
    return [line for line in lines if line is not None and line.kind in KINDS - EXPLICIT]


def owe_card(desk: RequestContext, room: Compartment, observed: str) -> None:
    """Have the card of the room's owner made anew there, of the conclusions that stand."""
    payload = msgspec.json.encode({"observer": room.owner}).decode()
    errand = Errand(room.workspace, DREAM, peer=observed, payload=payload, namespace=room.namespace)
    desk.tx.work.add(errand, desk.now)
