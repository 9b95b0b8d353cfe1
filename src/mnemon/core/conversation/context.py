"""Context: what an agent should have before it for its next turn in a session, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from msgspec import Struct

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import read_card
from mnemon.core.conversation.conclusions import View, Whose, representation
from mnemon.core.conversation.ingest import Message
from mnemon.core.conversation.place import Opener
from mnemon.core.desk import Desk
from mnemon.domain.habits import uses_cards
from mnemon.domain.line import CONCLUSIONS, SealedLine
from mnemon.domain.names import SESSIONS
from mnemon.domain.register import SESSION
from mnemon.domain.representation import Conclusion, fitting, render
from mnemon.domain.shapes import settled
from mnemon.ports.book import Turns

MOST_TOKENS = 100_000
SUMMARY_SHARE = 0.4
MOST_CONCLUSIONS = 100
_NO_LONGER = "(no longer so)"
_READ_AHEAD = 10
_STAMP_TOKENS = 18
"""What a conclusion takes beside its text: its time, its line, its share of a heading."""


class Asked(Struct, frozen=True):
    """How a view of a peer is asked for."""

    observer: str
    observed: str
    query: str | None = None
    top_k: int | None = None
    distance: float | None = None
    frequent: bool = False
    most: int = MOST_CONCLUSIONS
    sessions: Collection[str] | None = None
    """Only what was said in these; then neither card nor what was reasoned further counts."""


def narrowed(asked: frozenset[str] | None, limits: frozenset[str] | None) -> frozenset[str] | None:
    """The sessions that are in both; None, in either, for no limit."""
    if asked is None or limits is None:
        return limits if asked is None else asked
    return asked & limits


class Picture(Struct, frozen=True):
    """What is known of a peer: rendered, and its card."""

    text: str
    card: list[str] | None
    lines: list[SealedLine]
    """What it was made of, beside the card."""


class Summary(Struct, frozen=True):
    text: str
    message_id: str
    long: bool
    created_at: int
    tokens: int
    turn: int


class Context(Struct, frozen=True):
    messages: list[Message]
    summary: Summary | None
    picture: Picture | None


class _Note(Struct, frozen=True):
    """What a summary's metadata says."""

    turn: int
    message_id: str
    long: bool


def picture(desk: Desk, asked: Asked, session: str | None = None) -> Picture:
    """Raises: Tampered."""
    limited = asked.sessions is not None
    kinds = (CONCLUSIONS["explicit"],) if limited else tuple(CONCLUSIONS.values())
    whose = Whose((asked.observer,), asked.observed, asked.sessions, kinds)
    views = representation(
        desk,
        whose,
        query=asked.query,
        top_k=asked.top_k,
        distance=asked.distance,
        frequent=asked.frequent,
        most=asked.most,
        cited=False,
    )
    card = None
    if not limited and uses_cards(*directory.habits(desk, session)):
        entries = read_card(desk, asked.observer, asked.observed)
        card = None if entries is None else [entry.text for entry in entries]
    return Picture(render([shown(desk, view) for view in views]), card, [view.line for view in views])


def shown(desk: Desk, view: View) -> Conclusion:
    at = desk.tools.local(view.at)
    return Conclusion(view.level, view.text, at, () if view.outdated_by is None else (_NO_LONGER,))


def context(desk: Desk, session: str, *, tokens: int | None, summary: bool, asked: Asked | None) -> Context:
    """The picture of a peer whole, then a summary, then the newest messages that fit what is left.

    Of a session that does not exist, only the picture.

    Raises: Tampered.
    """
    count = desk.tools.tokenizer.count
    budget = MOST_TOKENS if tokens is None else max(0, tokens)
    seen = None if asked is None else picture(desk, asked, session)
    if directory.find(desk, SESSION, session) is None:
        return Context([], None, seen)
    if seen is not None:
        budget -= sum((line.tokens or 0) + _STAMP_TOKENS for line in seen.lines)
        budget -= sum(count(entry) for entry in seen.card or ())
    chosen = _fitting_summary(summaries(desk, session), budget) if summary else None
    first = 0
    if chosen is not None:
        budget -= chosen.tokens
        first = chosen.turn
    newest = _newest(desk, session, first, budget)
    opener = Opener(desk)
    messages = [Message(line, opener.text(line)) for line in newest]
    return Context(messages, chosen, seen)


def summaries(desk: Desk, session: str) -> list[Summary]:
    """The newest short and the newest long summary, as far as there are any, the short one first.

    Raises: Tampered.
    """
    newest: dict[bool, tuple[_Note, SealedLine]] = {}
    for place in desk.tx.lines.of_session(desk.scope.workspace, SESSIONS, session):
        line = desk.tx.lines.get(place.room, place.id)
        if line is not None:
            note = msgspec.json.decode(line.metadata, type=settled(_Note))
            newest[note.long] = (note, line)
    opener = Opener(desk)
    return [
        Summary(opener.text(line), note.message_id, long, line.created_at, line.tokens or 0, note.turn)
        for long, (note, line) in sorted(newest.items())
    ]


def note_of(turn: int, message_id: str, *, long: bool) -> str:
    return msgspec.json.encode(_Note(turn, message_id, long)).decode()


def is_note(metadata: str) -> bool:
    """Whether the metadata of a summary may say that."""
    try:
        msgspec.json.decode(metadata, type=settled(_Note))
    except msgspec.MsgspecError:
        return False
    return True


def _fitting_summary(found: Sequence[Summary], budget: int) -> Summary | None:
    """The longest that takes no more than its share."""
    share = budget * SUMMARY_SHARE
    fit = [one for one in found if one.tokens <= share]
    return max(fit, key=lambda one: one.tokens, default=None)


def _newest(desk: Desk, session: str, first: int, budget: int) -> list[SealedLine]:
    """The newest messages from that turn on that fit, read back in steps as far as needed."""
    lines: list[SealedLine] = []
    last: int | None = None
    left, wanted = budget, _READ_AHEAD
    while left > 0:
        step = desk.tx.lines.turns(
            Turns(
                desk.scope.workspace,
                session,
                first=first,
                last=last,
                newest_first=True,
                limit=wanted,
            )
        )
        lines.extend(step)
        left -= sum(line.tokens or 0 for line in step)
        wanted = _READ_AHEAD + max(0, left) * len(lines) // max(1, budget - left)
        if not step or (oldest := step[-1].turn or 0) <= first:
            break
        last = oldest - 1
    return fitting(lines, lambda line: line.tokens or 0, budget)
