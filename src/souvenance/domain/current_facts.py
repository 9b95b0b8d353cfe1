"""Which facts of a card hold: of some labels there is one value at a time, the newest that was said.

Of all other labels there may be several values. What counts is when something was said, never when it came to
be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from souvenance.language.facts import LABELS
from souvenance.language.wording import plain

ONE_AT_A_TIME = frozenset(["name", "pronouns", "home", "time zone", "work", "partner", "birthday"])
_PLACES = {label.lower(): place for place, label in enumerate(LABELS)}


class Stand(Struct, frozen=True):
    """A fact that a message states: 'Label: value', and where and when it was said."""

    text: str
    source: str
    """The conclusion."""
    said: str
    """The message."""
    session: str
    turn: int
    """The message's number in its session, by which the order of what was said at once is told."""
    at: int

    @property
    def when(self) -> tuple[int, int, str, str]:
        """By which stands are put into the order in which they were said."""
        return self.at, self.turn, self.said, self.source


class CardEntry(Struct, frozen=True):
    """One line of a card, the conclusion it comes from and when that was said; both None if by hand."""

    text: str
    source: str | None = None
    at: int | None = None


class Correction(Struct, frozen=True):
    """A conclusion that somebody put in place of another, what both say, and what it gives a card."""

    source: str
    before: str
    after: str
    lines: Sequence[str] = ()


def corrected(stand: Stand, correction: Correction) -> Stand:
    """The stand as the correction has it: the fact with the new value, or else the new sentence."""
    before, after = (text.strip().removesuffix(".") for text in (correction.before, correction.after))
    facts = (line for line in correction.lines if label_of(line) == label_of(stand.text))
    fact = _corrected_fact(stand.text, before, after) or next(facts, correction.after)
    return replace(stand, text=fact, source=correction.source)


def _corrected_fact(fact: str, before: str, after: str) -> str | None:
    """The fact with what the new sentence has in place of the value, if they differ there alone."""
    label, _, value = fact.partition(": ")
    if not value or value not in before:
        return None
    head, _, tail = before.rpartition(value)
    middle = after[len(head) : len(after) - len(tail)]
    alike = middle and f"{head}{middle}{tail}".lower() == after.lower()
    return f"{label}: {middle}" if alike else None


def label_of(fact: str) -> str:
    """The label in lower case; nothing for a line that has none."""
    label, colon, _ = fact.partition(": ")
    return label.strip().lower() if colon else ""


def value_of(fact: str) -> str:
    return fact.partition(": ")[2].strip()


def one_at_a_time(label: str) -> bool:
    """Whether a newer value of that label takes the place of an older one."""
    return label in ONE_AT_A_TIME


def outdated(stands: Iterable[Stand]) -> dict[str, str]:
    """For each conclusion that states a replaced value, the one that states the newest."""
    facts = [stand for stand in _in_order(stands) if one_at_a_time(label_of(stand.text))]
    newest = {label_of(stand.text): stand for stand in facts}
    return {
        stand.source: now.source
        for stand in facts
        if (now := newest[label_of(stand.text)]).source != stand.source and not _alike(stand.text, now.text)
    }


def holding(stands: Iterable[Stand], most: int) -> list[Stand]:
    """What a card says of these, in its order: of each thing the newest, and nothing that another says.

    If there is more, what there may be several of goes first, and of that the oldest.
    """
    newest: dict[str, Stand] = {}
    for stand in _in_order(stands):
        label = label_of(stand.text)
        thing = label if one_at_a_time(label) else f"{label}: {plain(value_of(stand.text))}"
        if thing not in newest or not _words(stand.text) < _words(newest[thing].text):
            newest[thing] = stand
    kept = [one for one in newest.values() if not _is_covered(one, newest.values())]
    kept.sort(key=lambda one: (one_at_a_time(label_of(one.text)), one.when), reverse=True)
    return sorted(kept[:most], key=lambda one: (_PLACES.get(label_of(one.text), len(LABELS)), one.when))


def merged(stands: Iterable[Stand], now: Mapping[str, str]) -> list[Stand]:
    """The stands where conclusions were merged into others."""
    return [replace(stand, source=now.get(stand.source, stand.source)) for stand in stands]


def _is_covered(one: Stand, others: Iterable[Stand]) -> bool:
    """Whether another of the same label says as much and more: 'a dog' beside 'a dog called Rex'."""
    return any(
        label_of(one.text) == label_of(other.text) and _words(one.text) < _words(other.text)
        for other in others
    )


def _alike(one: str, another: str) -> bool:
    """Whether one says the same as the other, or a part of it."""
    return _words(one) <= _words(another) or _words(another) <= _words(one)


def _words(fact: str) -> frozenset[str]:
    return frozenset(plain(value_of(fact)).split())


def _in_order(stands: Iterable[Stand]) -> Sequence[Stand]:
    return sorted(stands, key=attrgetter("when"))
