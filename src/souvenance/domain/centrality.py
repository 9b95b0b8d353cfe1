"""Which messages are current and central: what somebody who asks nothing in particular should read first.

A message counts for more if its speaker tells something of themselves, if it is recent, if it says much, and
if what it speaks of comes up again in other messages. Questions, courtesies and texts that are pasted, or as
long as such, are left out. Of messages about the same thing the newest takes the place of the best, and the
others come last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from souvenance.domain.relevance import idf
from souvenance.language.pasted_text import own_words
from souvenance.language.questions import is_courtesy
from souvenance.language.signs import ASKS, SELF, signs
from souvenance.language.terms import terms

_LONGEST = 90
"""As many terms as nothing that is said in a talk has; see `souvenance.domain.relevance.TALK`."""
_SAME = 0.5
"""A message is about the same thing as another that holds this much of its terms, each by how rare it is."""


class _Telling(Struct, frozen=True):
    number: int
    terms: frozenset[str]
    own: bool


def central(texts: Sequence[str]) -> list[int]:
    """The numbers of those of the texts that tell something, best first. The texts are in order of time."""
    telling = [one for number, text in enumerate(texts) if (one := _telling(number, text)) is not None]
    holding = Counter(term for one in telling for term in one.terms)
    rarity = {term: idf(len(telling), count) for term, count in holding.items()}
    rich = _share(telling, lambda term: rarity[term])
    returned = _share(telling, lambda term: rarity[term] if holding[term] > 1 else 0.0)

    def score(one: _Telling) -> float:
        return one.own + rich[one.number] + returned[one.number] + (one.number + 1) / len(texts)

    ranked = sorted(telling, key=lambda one: (score(one), one.number), reverse=True)
    return [one.number for one in _newest_first(ranked, rarity)]


def _telling(number: int, text: str) -> _Telling | None:
    said = own_words(text)
    found = signs(said)
    if ASKS in found or is_courtesy(said):
        return None
    held = frozenset(terms(said))
    if not 0 < len(held) <= _LONGEST:
        return None
    return _Telling(number, held, SELF in found)


def _share(telling: Sequence[_Telling], worth: Callable[[str], float]) -> dict[int, float]:
    """What the terms of each are worth together, beside those of the one whose are worth most."""
    found = {one.number: sum(map(worth, one.terms)) for one in telling}
    most = max(found.values(), default=0.0) or 1.0
    return {number: value / most for number, value in found.items()}


def _newest_first(ranked: Sequence[_Telling], rarity: dict[str, float]) -> list[_Telling]:
    """In their order, but of those about the same thing the newest first, and the others behind all."""
    first: list[_Telling] = []
    others: list[_Telling] = []
    least = {one.number: _SAME * sum(map(rarity.__getitem__, one.terms)) for one in ranked}

    def alike(one: _Telling, other: _Telling) -> bool:
        shared = one.terms & other.terms
        return bool(shared) and sum(map(rarity.__getitem__, shared)) >= least[min(one.number, other.number)]

    for one in ranked:
        at = next((at for at, other in enumerate(first) if alike(one, other)), None)
        if at is None:
            first.append(one)
            continue
        older, first[at] = sorted((one, first[at]), key=lambda one: one.number)
        others.append(older)
    return first + others
