"""Cascade: what rests on nothing any more once some lines are gone, goes too.

What was concluded rests on messages. A line put by hand, whose id its maker may choose, is no ground of
anything, even if it goes under the id of a message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from mnemon.core.conversation import cards, directory
from mnemon.core.conversation.conclusions import KINDS
from mnemon.core.conversation.place import Changes
from mnemon.core.desk import Desk
from mnemon.domain.line import Place
from mnemon.domain.names import SESSIONS, Room
from mnemon.domain.register import SESSION
from mnemon.domain.tasks import DREAM, Errand
from mnemon.ports.book import Turns


def erase_lines(desk: Desk, lines: Iterable[Place], changes: Changes) -> None:
    """The lines, whatever rests on nothing else any more, their entries on cards and summaries of them."""
    going = list(lines)
    _unsay(desk, {line.session for line in going if line.turn is not None and line.session}, changes)
    struck: dict[tuple[Room, str], set[str]] = defaultdict(set)
    while going:
        by_room: dict[Room, list[str]] = defaultdict(list)
        said: list[str] = []
        for line in going:
            by_room[line.room].append(line.id)
            if line.turn is not None:
                said.append(line.id)
            if line.kind in KINDS and line.about is not None:
                struck[line.room, line.about].add(line.id)
        for room, ids in by_room.items():
            desk.tx.terms.remove(room, ids)
            desk.tx.lines.delete(room, ids)
            changes.lose(room, ids)
        going = _resting_on(desk, said)
    for (room, observed), sources in struck.items():
        if cards.strike(desk, room.owner, observed, room.namespace, sources, changes):
            owe_card(desk, room, observed)
    desk.tx.owe_scrub()


def erase_resting(desk: Desk, gone: Collection[str], sessions: Iterable[str], changes: Changes) -> None:
    """What rested on these lines of the desk's owner in these sessions, which are about to go."""
    named, workspace, owner = list(sessions), desk.scope.workspace, desk.scope.owner
    _unsay(desk, named, changes)
    said = {
        line.id
        for session in directory.in_reach(desk, named)
        for line in desk.tx.lines.turns(Turns(workspace, session, owner=owner))
    }
    erase_lines(desk, _resting_on(desk, said.intersection(gone)), changes)


def _unsay(desk: Desk, sessions: Iterable[str], changes: Changes) -> None:
    """Make ready for messages of the sessions to go: their turns are spent, and summaries tell of them.

    A summary tells in one text what several said: it goes as a whole, and comes again with the next one.
    """
    for session in sessions:
        if directory.find(desk, SESSION, session) is None:
            continue
        directory.spend_turns(desk, session)
        by_room: dict[Room, list[str]] = defaultdict(list)
        for line in desk.tx.lines.of_session(desk.scope.workspace, SESSIONS, session):
            by_room[line.room].append(line.id)
        for room, ids in by_room.items():
            desk.tx.lines.delete(room, ids)
            changes.lose(room, ids)


def _resting_on(desk: Desk, gone: Collection[str]) -> list[Place]:
    """The lines that followed from these and now follow from nothing."""
    workspace = desk.scope.workspace
    resting = desk.tx.lines.citing(workspace, gone)
    desk.tx.lines.uncite(workspace, gone)
    still = desk.tx.lines.cited(workspace, [line_id for _, line_id in resting])
    found = [desk.tx.lines.get(room, line_id) for room, line_id in resting if line_id not in still]
    return [line for line in found if line is not None]


def owe_card(desk: Desk, room: Room, observed: str) -> None:
    """Have the card of the room's owner made anew there, of the conclusions that stand: what went may still
    follow from another."""
    payload = msgspec.json.encode({"observer": room.owner}).decode()
    errand = Errand(room.workspace, DREAM, peer=observed, payload=payload, namespace=room.namespace)
    desk.tx.work.add(errand, desk.now)
