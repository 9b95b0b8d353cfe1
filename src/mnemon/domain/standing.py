"""Which of what was said about a peer still stands: the newest word on a thing outdates the older ones.

A thing is known by the label of its trait, as in 'Lives in: Lisbon'. Of some there is one at a time, so a
newer value outdates an older one, as another number of the same does; liking and disliking the same outdate
each other; of all else there may be many. A statement without a trait that denies an earlier one ('no longer
lives in Berlin') outdates that.

All of it is told by when things were said, never by when they came to be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

from msgspec import Struct

from mnemon.domain.denial import read, undoes
from mnemon.domain.pattern import pattern
from mnemon.domain.wording import plain

_ONES = """
name, age, birthday, born, pronouns, diet, relationship, email, phone, studies, partner, children, goes by,
lives in, works as, works at, time zone, boyfriend, dad, father, fiance, fiancé, fiancee, fiancée, girlfriend,
husband, mom, mother, mum, spouse, wife
"""
_ONE_AT_A_TIME = frozenset(one.strip() for one in _ONES.split(","))
_SAME_LABEL = {
    **dict.fromkeys(("city", "home", "home city", "location", "residence", "lives"), "lives in"),
    **dict.fromkeys(("job", "occupation", "profession", "job title"), "works as"),
    **dict.fromkeys(("employer", "company", "workplace"), "works at"),
    **dict.fromkeys(("full name", "first name"), "name"),
    "nickname": "goes by",
    "marital status": "relationship",
    "timezone": "time zone",
    "e-mail": "email",
}
_OPPOSITES = frozenset(["likes", "dislikes"])
_SEVERAL = pattern(r"(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (?P<kind>[^\d,:/]{3,30})$")
_LONGEST_LABEL = 40
_KEPT = 1 << 10
"""How many labels and values are kept in mind: the same few come again and again."""


class Stand(Struct, frozen=True):
    """What a message says for a thing: the conclusion's trait or, if it denies one, the conclusion itself."""

    text: str
    source: str
    """The conclusion."""
    said: str
    """The message."""
    session: str
    turn: int
    """The message's number in its session, by which the order of what was said at once is told."""
    at: int
    denies: bool = False

    @property
    def when(self) -> tuple[int, int, str, str]:
        """By which stands are put into the order in which they were said."""
        return self.at, self.turn, self.said, self.source


def label_of(trait: str) -> str:
    """The label in lower case, one for all that mean the same; nothing for a trait that has none."""
    label, colon, _ = trait.partition(": ")
    return _folded(label) if colon else ""


@lru_cache(_KEPT)
def _folded(label: str) -> str:
    folded = " ".join(label.lower().split())
    if len(folded) > _LONGEST_LABEL:
        return ""
    return _SAME_LABEL.get(folded, folded.replace("favourite ", "favorite "))


def value_of(trait: str) -> str:
    """The value as it was said."""
    return trait.partition(": ")[2].strip()


def one_at_a_time(label: str) -> bool:
    """Whether a newer value of that label takes the place of an older one."""
    return label in _ONE_AT_A_TIME or label.startswith("favorite ")


def outdated(stands: Iterable[Stand]) -> dict[str, str]:
    """For each conclusion that no longer stands, the one that outdates it; their order does not matter."""
    newest: dict[str, Stand] = {}
    for stand in stands:
        known = newest.get(stand.source)
        if known is None or stand.when > known.when:
            newest[stand.source] = stand
    traits = [stand for stand in newest.values() if not stand.denies]
    found: dict[str, str] = {}
    for *earlier, latest in _rivals(traits):
        for claim in earlier:
            if not claim.agrees(latest):
                found[claim.source] = latest.source
    denials = _in_order(stand for stand in newest.values() if stand.denies)
    known_as = [(stand, label_of(stand.text), value_of(stand.text)) for stand in _in_order(traits) if denials]
    for denial in denials:
        told = read(denial.text)
        for stand, label, value in known_as:
            if undoes(told, label, value):
                if stand.when > denial.when:
                    found[denial.source] = stand.source
                else:
                    found.setdefault(stand.source, denial.source)
    return found


def history(stands: Iterable[Stand]) -> list[tuple[str, str]]:
    """Each change of a thing of which there is one: the conclusion before and the one after, oldest first."""
    steps = [
        (later.when, before.source, later.source)
        for rivals in _rivals(stand for stand in stands if not stand.denies)
        for before, later in pairwise(rivals)
        if not before.agrees(later) and before.source != later.source
    ]
    return list(dict.fromkeys((before, later) for _, before, later in sorted(steps)))


class _Claim(Struct, frozen=True):
    """A trait of which not every value can hold at once."""

    when: tuple[int, int, str, str]
    source: str
    label: str
    value: str

    def agrees(self, other: _Claim) -> bool:
        """Whether both say the same, one of them perhaps more closely."""
        if self.label != other.label:
            return False
        one, another = _words(self.value), _words(other.value)
        return one <= another or another <= one


@lru_cache(_KEPT)
def _words(value: str) -> frozenset[str]:
    return frozenset(plain(value).split())


def _rivals(traits: Iterable[Stand]) -> list[list[_Claim]]:
    """Those that can't hold at once, in the order in which they were said."""
    groups: dict[tuple[str, str], list[_Claim]] = defaultdict(list)
    for stand in traits:
        label, value = label_of(stand.text), value_of(stand.text)
        if label in _OPPOSITES:
            thing = "taste", plain(value)
        elif one_at_a_time(label):
            thing = "one", label
        elif several := _SEVERAL.match(value):
            thing = label, plain(several["kind"])
        else:
            continue
        groups[thing].append(_Claim(stand.when, stand.source, label, value))
    return [sorted(group, key=attrgetter("when")) for group in groups.values()]


def _in_order(stands: Iterable[Stand]) -> list[Stand]:
    return sorted(stands, key=attrgetter("when"))
