"""Cascade: what rests on nothing any more once some lines are gone, goes too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec

from mnemon.core.conversation import cards, directory
from mnemon.core.conversation.conclusions import KINDS
from mnemon.core.conversation.place import Changes, sessions_room
from mnemon.core.desk import Desk
from mnemon.domain.line import Place
from mnemon.domain.names import SESSIONS, Room
from mnemon.domain.tasks import DREAM, Errand


def erase_lines(desk: Desk, lines: Iterable[Place], changes: Changes) -> None:
    """The lines, whatever rests on nothing else any more, their entries on cards and summaries of them."""
    going = list(lines)
    _unsay(desk, {line.session for line in going if line.turn is not None and line.session}, changes)
    struck: dict[tuple[str, str], set[str]] = defaultdict(set)
    while going:
        by_room: dict[Room, list[str]] = defaultdict(list)
        for line in going:
            by_room[line.room].append(line.id)
            changes.gone.add(line.id)
            if line.kind in KINDS and line.about is not None:
                struck[line.room.owner, line.about].add(line.id)
        for room, ids in by_room.items():
            desk.tx.terms.remove(room, ids)
            desk.tx.lines.delete(room, ids)
        going = _resting_on(desk, [line_id for ids in by_room.values() for line_id in ids])
    for (observer, observed), sources in struck.items():
        if cards.strike(desk, observer, observed, sources, changes):
            owe_card(desk, observer, observed)
    desk.tx.owe_scrub()


def erase_resting(desk: Desk, gone: Collection[str], sessions: Iterable[str], changes: Changes) -> None:
    """What rested on these lines of these sessions, which are about to go."""
    _unsay(desk, sessions, changes)
    erase_lines(desk, _resting_on(desk, gone), changes)


def _unsay(desk: Desk, sessions: Iterable[str], changes: Changes) -> None:
    """Make ready for messages of the sessions to go: their turns are spent, and summaries tell of them.

    A summary tells in one text what several said: it goes as a whole, and comes again with the next one.
    """
    for session in sessions:
        directory.spend_turns(desk, session)
        lines = desk.tx.lines.of_session(desk.scope.workspace, SESSIONS, session)
        ids = [line.id for line in lines]
        if ids:
            desk.tx.lines.delete(sessions_room(desk), ids)
            changes.gone.update(ids)


def _resting_on(desk: Desk, gone: Collection[str]) -> list[Place]:
    """The lines that followed from these and now follow from nothing."""
    workspace = desk.scope.workspace
    resting = desk.tx.lines.citing(workspace, gone)
    desk.tx.lines.uncite(workspace, gone)
    still = desk.tx.lines.cited(workspace, [line_id for _, line_id in resting])
    found = [desk.tx.lines.get(room, line_id) for room, line_id in resting if line_id not in still]
    return [line for line in found if line is not None]


def owe_card(desk: Desk, observer: str, observed: str) -> None:
    """Have the card made anew of the conclusions that stand: what went may still follow from another."""
    payload = msgspec.json.encode({"observer": observer}).decode()
    desk.tx.work.add(Errand(desk.scope.workspace, DREAM, peer=observed, payload=payload), desk.now)
