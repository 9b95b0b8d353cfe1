"""Generalise: what several conclusions say together, in their own words.

Three patterns need no model: the same statement again and again, the several values of one label, and the
change of a thing of which there is one at a time. Each names the conclusions that it follows from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from mnemon.domain.line import CONCLUSIONS
from mnemon.domain.moments import day
from mnemon.domain.standing import Stand, history, label_of, one_at_a_time, outdated, value_of
from mnemon.domain.wording import days, gist, plain, undated

LEAST = 3
"""How many conclusions make a pattern."""

_MOST_DAYS = 6
_MOST_VALUES = 12
_MOST_CHANGES = 20
_VERBS = frozenset(["likes", "dislikes", "prefers", "speaks", "works in"])
_NOT_LISTED = frozenset(["", "instruction"])


class Said(Struct, frozen=True):
    """A conclusion of a peer's own words."""

    id: str
    text: str
    at: int
    times: int


class Pattern(Struct, frozen=True):
    """What follows from several conclusions; `key` stays the same while more of them come."""

    kind: str
    key: str
    text: str
    sources: tuple[str, ...]
    at: int


def patterns(
    said: Sequence[Said], stands: Sequence[Stand], about: str, local: Callable[[int], int]
) -> list[Pattern]:
    """Every pattern there is, always in the same order for the same conclusions.

    `local` tells what clocks on the wall showed when something was said.
    """
    known = {one.id: one for one in said}
    standing = [stand for stand in stands if stand.source in known]
    return [*_repeated(said, local), *_listed(standing, known, about), *_changed(standing, known, local)]


def _repeated(said: Iterable[Said], local: Callable[[int], int]) -> Iterable[Pattern]:
    groups: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        groups[gist(undated(one.text))].append(one)
    for key, group in sorted(groups.items()):
        if len(group) >= LEAST:
            group.sort(key=lambda one: (one.at, one.id))
            yield _pattern("inductive", f"repeated {key}", _often(group, local), group)


def _often(group: Sequence[Said], local: Callable[[int], int]) -> str:
    """The newest wording, and on which days it was so, or else how often it was said and when."""
    text = undated(group[-1].text)
    named = [days(one.text) for one in group]
    if all(named):
        on = sorted({one_day for some in named for one_day in some})
        when = _listing(on) if len(on) <= _MOST_DAYS else f"from {on[0]} to {on[-1]}"
        return f"{text} ({len(group)} times: {when})"
    times, first, last = sum(one.times for one in group), day(local(group[0].at)), day(local(group[-1].at))
    return f"{text} (said {times} times, {f'on {first}' if first == last else f'from {first} to {last}'})"


def _listed(stands: Sequence[Stand], known: Mapping[str, Said], about: str) -> Iterable[Pattern]:
    old = outdated(stands)
    values: dict[str, dict[str, Stand]] = defaultdict(dict)
    for stand in sorted(stands, key=attrgetter("when")):
        label = label_of(stand.text)
        if not stand.denies and stand.source not in old and label not in _NOT_LISTED:
            values[label].setdefault(plain(value_of(stand.text)), stand)
    for label, held in sorted(values.items()):
        if len(held) >= LEAST and not one_at_a_time(label):
            newest = list(held.values())[-_MOST_VALUES:]
            named = _listing([value_of(stand.text) for stand in newest])
            text = f"{about} {label} {named}" if label in _VERBS else f"{about}, {label}: {named}"
            yield _pattern("inductive", f"listed {label}", text, [known[stand.source] for stand in newest])


def _changed(
    stands: Sequence[Stand], known: Mapping[str, Said], local: Callable[[int], int]
) -> Iterable[Pattern]:
    at = {stand.source: stand.at for stand in sorted(stands, key=attrgetter("when"))}
    for before, after in history(stands)[-_MOST_CHANGES:]:
        older, newer = known[before], known[after]
        text = f"Until {day(local(at[after]))}: {older.text}. Since then: {newer.text}."
        yield _pattern("contradiction", f"changed {before} {after}", text, [older, newer])


def _pattern(level: str, key: str, text: str, group: Sequence[Said]) -> Pattern:
    sources = tuple(sorted({one.id for one in group}))
    return Pattern(CONCLUSIONS[level], key, text, sources, max(one.at for one in group))


def _listing(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
