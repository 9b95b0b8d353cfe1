"""Which of what was said about a peer still stands: the newest word on a thing outdates the older ones.

A thing is known by the label of its trait, as in 'Lives in: Lisbon'. Of some there is one at a time, so a
newer value outdates an older one, as another number of the same does; liking and disliking the same outdate
each other; of all else there may be many. A statement without a trait that denies an earlier one ('no longer
lives in Berlin') outdates that, and so does one that corrects it, until it is so again ('we got back
together'). Who is dead stays so, though named again.

All of it is told by when things were said, never by when they came to be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

import msgspec
from msgspec import Struct

from mnemon.domain.denial import PARTNERS, WED, Denial, kind_of, may_undo, name_of, read, resumes, undoes
from mnemon.domain.pattern import pattern
from mnemon.domain.several import rest_of, things
from mnemon.domain.wording import plain

_ONES = """
name, age, birthday, born, pronouns, diet, relationship, email, phone, studies, partner, children,
grandchildren, goes by,
lives in, works as, works at, starts at, time zone, father, mother
"""
_ONE_AT_A_TIME = frozenset(one.strip() for one in _ONES.split(",")) | PARTNERS
_SAME_LABEL = {
    **dict.fromkeys(("city", "home", "home city", "location", "residence", "lives"), "lives in"),
    **dict.fromkeys(("job", "occupation", "profession", "job title"), "works as"),
    **dict.fromkeys(("employer", "company", "workplace"), "works at"),
    **dict.fromkeys(("full name", "first name"), "name"),
    **dict.fromkeys(("mom", "mum", "mommy"), "mother"),
    **dict.fromkeys(("dad", "daddy"), "father"),
    "nickname": "goes by",
    "marital status": "relationship",
    "timezone": "time zone",
    "e-mail": "email",
}
_OPPOSITES = frozenset(["likes", "dislikes"])
_SEVERAL = pattern(
    r"(?P<number>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (?P<kind>[^\d,:/()]{3,30})$"
)
_ONE_OF_THEM = ("a ", "an ")
_ALONE = {"single": PARTNERS, "divorced": WED, "widowed": WED, "separated": WED}
"""With whom somebody is not together who is that."""
_AT_WORK = frozenset(["works at", "works as"])
_LONGEST_LABEL = 40
_KEPT = 1 << 10
"""How many labels and values are kept in mind: the same few come again and again."""


_When = tuple[int, int, str, str]


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
    """Whether it says no trait, but what is no longer so, or what something was corrected to."""
    instead: str | None = None
    """The conclusion that it corrects."""

    @property
    def when(self) -> _When:
        """By which stands are put into the order in which they were said."""
        return self.at, self.turn, self.said, self.source


def renamed(stand: Stand, now: Mapping[str, str]) -> Stand:
    """The stand where conclusions were merged into others."""
    instead = stand.instead
    return msgspec.structs.replace(
        stand,
        source=now.get(stand.source, stand.source),
        instead=None if instead is None else now.get(instead, instead),
    )


class Correction(Struct, frozen=True):
    """A conclusion that somebody put in place of another, and what both say."""

    source: str
    before: str
    after: str


def corrected(stand: Stand, correction: Correction) -> Stand:
    """The stand as the correction has it: the trait with the new value, or else the new sentence."""
    trait = _corrected_trait(stand.text, correction.before, correction.after.strip().removesuffix("."))
    return msgspec.structs.replace(stand, text=trait or correction.after, source=correction.source)


def _corrected_trait(trait: str, before: str, after: str) -> str | None:
    """The trait with what the new sentence has in place of the value, if they differ there alone."""
    label, _, value = trait.partition(": ")
    if not value or value not in before:
        return None
    head, _, tail = before.rpartition(value)
    middle = after[len(head) : len(after) - len(tail)]
    alike = middle and f"{head}{middle}{tail}".lower() == after.lower()
    return f"{label}: {middle}" if alike else None


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


def kind_in(trait: str) -> str:
    """Of which kind a value is: 'dog' of 'Pet: Rex (dog)', else what its label says."""
    return kind_of(value_of(trait)) or label_of(trait)


def one_at_a_time(label: str) -> bool:
    """Whether a newer value of that label takes the place of an older one."""
    return (folded := _folded(label)) in _ONE_AT_A_TIME or folded.startswith("favorite ")


def outdated(stands: Iterable[Stand]) -> dict[str, str]:
    """For each conclusion that no longer stands, the one that outdates it; their order does not matter."""
    newest: dict[str, Stand] = {}
    for stand in stands:
        known = newest.get(stand.source)
        if known is None or stand.when > known.when:
            newest[stand.source] = stand
    traits = [stand for stand in newest.values() if not stand.denies]
    found: dict[str, str] = {}
    for claims in _rivals(traits):
        for claim in claims[:-1]:
            if not claim.agrees(claims[-1]):
                found[claim.source] = claims[-1].source
    _part(traits, found)
    _begin(traits, found)
    _change_work(traits, found)
    against = _in_order(stand for stand in newest.values() if stand.denies or stand.instead is not None)
    known_as = [_Known(stand) for stand in _in_order(traits) if against]
    ends = {one.source for one in against if one.instead is None and not read(one.text).final}
    for stand in against:
        if stand.instead is not None:
            _correct(stand, newest, found)
        else:
            _deny(stand, known_as, found)
            _resume(stand, known_as, ends, found)
    for whole, gone, last in _partly(newest.values(), found):
        if len(gone) == len(things(value_of(whole.text))):
            found[whole.source] = last
    return found


def left_of(stands: Iterable[Stand], old: Collection[str]) -> dict[str, str]:
    """The traits of those conclusions that stand in part, as what is left of them.

    'Allergic to peanuts and shellfish' is still to peanuts, if it is denied of shellfish later.
    """
    found: dict[str, str] = {}
    for whole, gone, _ in _partly(list(stands), old):
        label, _, value = whole.text.partition(": ")
        found[whole.source] = f"{label}: {rest_of(value.strip(), gone)}"
    return found


def holding(stands: Sequence[Stand]) -> tuple[dict[str, str], dict[str, str]]:
    """What no longer stands, and what stands in part."""
    old = outdated(stands)
    return old, left_of(stands, old)


def _partly(stands: Collection[Stand], old: Collection[str]) -> Iterator[tuple[Stand, set[str], str]]:
    """Each conclusion of which something is denied that was said later: what, and the last that denies it."""
    denying = _in_order(stand for stand in stands if stand.denies and stand.instead is None)
    denials = [(stand.when, read(stand.text), stand.source) for stand in denying]
    tastes = [stand for stand in stands if not stand.denies and label_of(stand.text) in _OPPOSITES]
    for whole in stands if denials or tastes else ():
        label, value = label_of(whole.text), value_of(whole.text)
        if whole.denies or whole.source in old or one_at_a_time(label) or not (parts := things(value)):
            continue
        if label not in _OPPOSITES:
            gone = _denied_later(whole, parts, denials)
        else:
            gone = _disliked_later(whole, parts, tastes) if ", " in value else {}
        if gone:
            yield whole, set(gone), max(gone.values())


def _denied_later(
    whole: Stand, parts: Sequence[str], denials: Iterable[tuple[_When, Denial, str]]
) -> dict[str, str]:
    """What of the parts is no longer so, with what says that."""
    label, since = label_of(whole.text), whole.when
    names = [(part, f" {name_of(part)} ") for part in parts]
    gone: dict[str, str] = {}
    for when, denial, source in denials:
        for part, name in names if when > since else ():
            if name not in denial.told and label not in denial.unnamed:
                continue
            if undoes(denial, label, part):
                gone[part] = source
            elif resumes(denial, label, part):
                gone.pop(part, None)
    return gone


def _disliked_later(whole: Stand, parts: Iterable[str], tastes: Iterable[Stand]) -> dict[str, str]:
    """What of the parts is liked no longer, or no longer disliked, with what says that."""
    label = label_of(whole.text)
    since = {plain(value_of(one.text)): one for one in tastes if label_of(one.text) != label}
    found = ((part, since.get(plain(part))) for part in parts)
    return {part: one.source for part, one in found if one is not None and one.when > whole.when}


def _part(traits: Iterable[Stand], found: dict[str, str]) -> None:
    """Note that who is single has no partner, and that who has one is not."""
    known = [(stand, label_of(stand.text)) for stand in traits]
    for single in [stand for stand, label in known if label == "relationship"]:
        apart = _ALONE.get(value_of(single.text), frozenset())
        for stand, label in known:
            if label in apart:
                earlier, later = sorted((single, stand), key=attrgetter("when"))
                found.setdefault(earlier.source, later.source)


def _begin(traits: Iterable[Stand], found: dict[str, str]) -> None:
    """Note that who works by now where they were to start has started."""
    known = [(stand, label_of(stand.text)) for stand in traits]
    working = [stand for stand, label in known if label in _AT_WORK]
    for ahead in [stand for stand, label in known if label == "starts at"]:
        where = f" {name_of(value_of(ahead.text))} "
        for stand in working:
            if stand.when > ahead.when and where in f" {plain(value_of(stand.text))} ":
                found.setdefault(ahead.source, stand.source)


def _change_work(traits: Iterable[Stand], found: dict[str, str]) -> None:
    """Note that who works as something at a named place no longer works where they did before."""
    known = _in_order(stand for stand in traits if label_of(stand.text) in _AT_WORK)
    for now in known:
        place = _workplace(now)
        if label_of(now.text) != "works as" or not place or place.startswith(_ONE_OF_THEM):
            continue
        for then in known:
            before = label_of(then.text) == "works at" and then.when < now.when
            if before and not _alike(place, value_of(then.text)):
                found.setdefault(then.source, now.source)


def _workplace(stand: Stand) -> str:
    """Where it is that they work, if that is told."""
    value = value_of(stand.text)
    return value if label_of(stand.text) == "works at" else value.partition(" at ")[2]


def _alike(one: str, another: str) -> bool:
    """Whether one says the same as the other, or a part of it."""
    return _words(one) <= _words(another) or _words(another) <= _words(one)


class _Known:
    """A trait as a denial may be of it."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.when = stand.when
        self.label, self.value = label_of(stand.text), value_of(stand.text)
        self.thing = self.label, name_of(self.value)

    @property
    def named(self) -> bool:
        """Whether it tells whom it means, so that whoever is told of in the same words is the same."""
        return self.label != "relationship" and _SEVERAL.match(self.value) is None

    @property
    def unnamed(self) -> tuple[str, str]:
        """The thing that it is where it is told of without a name."""
        return self.label, kind_of(self.value) or self.label


def _correct(stand: Stand, newest: Mapping[str, Stand], found: dict[str, str]) -> None:
    """Note what a correction outdates: what it corrects, and whatever else said that before."""
    wrong = newest.get(stand.instead or "")
    if wrong is None:
        found[stand.instead or ""] = stand.source
        return
    for one in newest.values():
        if one.text == wrong.text and one.denies == wrong.denies and one.when < stand.when:
            found[one.source] = stand.source


def _deny(stand: Stand, known: Sequence[_Known], found: dict[str, str]) -> None:
    """Note what a denial outdates, or what outdates it."""
    denial = read(stand.text)
    undone = [one for one in known if undoes(denial, one.label, one.value)]
    if not undone and not denial.gone:
        return
    now = stand.when
    ended = [one for one in undone if one.when <= now]
    before = [one for one in known if one.when <= now]
    if denial.gone and not ended:
        ended = _meant(denial, before, found)
    if ended and (denial.final or not denial.negates):
        ended += _along(ended, before, found)
    again = {one.thing for one in known if one.when > now} if ended and not denial.final else ()
    for one in ended:
        if one.thing not in again:
            found.setdefault(one.stand.source, stand.source)
    if denial.final:
        dead = [*ended, *(one for one in undone if denial.names(one.value))]
        things = {one.thing for one in dead if one.named}
        for one in known if things else ():
            if one.thing in things:
                found.setdefault(one.stand.source, stand.source)
    elif denial.negates:
        for one in undone:
            if one.when > now:
                found[stand.source] = one.stand.source


def _resume(stand: Stand, known: Iterable[_Known], ends: Collection[str], found: dict[str, str]) -> None:
    """Let that stand again of which it is said to be so again: what ended last, by one of these ends."""
    denial = read(stand.text)
    if not denial.resumes:
        return
    resumed = [
        one
        for one in known
        if one.when <= stand.when
        and found.get(one.stand.source) in ends
        and resumes(denial, one.label, one.value)
    ]
    last = found[resumed[-1].stand.source] if resumed else ""
    for one in resumed:
        if found[one.stand.source] == last:
            del found[one.stand.source]


def _along(ended: Sequence[_Known], known: Iterable[_Known], found: Mapping[str, str]) -> list[_Known]:
    """What ends with these: 'a dog', if no other may be meant, and the bond with a partner."""
    rest = [one for one in known if one not in ended and one.stand.source not in found]
    kinds = {one.unnamed for one in ended if one.named} - {one.unnamed for one in rest if one.named}
    apart = any(one.label in PARTNERS for one in ended)
    return [
        one
        for one in rest
        if (one.thing in kinds and one.value.startswith(_ONE_OF_THEM))
        or (apart and one.label == "relationship" and one.value not in _ALONE)
    ]


def _meant(denial: Denial, known: Iterable[_Known], found: Mapping[str, str]) -> list[_Known]:
    """The only one of its kind that there was."""
    gone = msgspec.structs.replace(denial, gone=_folded(denial.gone))
    meant = [one for one in known if may_undo(gone, one.label, one.value) and one.stand.source not in found]
    names = {name for label, name in (one.thing for one in meant) if label != "relationship"}
    return meant if len(names) <= 1 else []


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

    when: _When
    source: str
    label: str
    value: str

    def agrees(self, other: _Claim) -> bool:
        """Whether both say the same, one of them perhaps more closely."""
        if _thing(self.label) != _thing(other.label):
            return False
        return _alike(self.value, other.value)


def _thing(label: str) -> str:
    """The label, one for all who somebody may be together with."""
    return "partner" if label in PARTNERS else label


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
            thing = "one", _thing(label)
        elif several := _SEVERAL.match(value):
            thing = label, plain(several["kind"]).removesuffix("s")
        else:
            continue
        groups[thing].append(_Claim(stand.when, stand.source, label, value))
    return [_up_to_a_number(sorted(group, key=attrgetter("when"))) for group in groups.values()]


def _up_to_a_number(claims: list[_Claim]) -> list[_Claim]:
    """Without those at the end that say nothing of how many there are: 'a cat' may be one of two."""
    while claims and claims[-1].value.startswith(_ONE_OF_THEM) and not one_at_a_time(claims[-1].label):
        claims = claims[:-1]
    return claims


def _in_order(stands: Iterable[Stand]) -> list[Stand]:
    return sorted(stands, key=attrgetter("when"))
