"""Makes `adapters/thesaurus.bin`: which common English words are close to which, by their vectors.

    python tests/adapters/make_thesaurus.py

The words are the first of the vocabulary that the packaged embedder reads by, which has the common ones
first. Words of one term count as one, by their closest.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from souvenance.adapters.embed import local
from souvenance.adapters.word_tables import _HEAD, _THESAURUS_FILE
from souvenance.language import terms as words
from souvenance.language.terms.languages import ASKING, STOP_WORDS

WORDS = 12_000
_APART = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
first second third fourth fifth sixth seventh eighth ninth tenth half double single twice
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
september october november december spring summer autumn fall winter
north south east west left right yes not never always male female boy girl man woman brother sister mother
father son daughter husband wife
"""
APART = frozenset(_APART.split())
"""Words whose neighbours are something else: who asks for one of them does not mean another."""
MOST_KIN = 12
LEAST_NEARNESS = 0.5
NOTHING_ALIKE = 0.25
"""How near the vectors of two words lie that have nothing to do with each other."""


def packed(similar: dict[str, Sequence[tuple[str, int]]]) -> bytes:
    """The file of a thesaurus with the similar terms of each term, in hundredths, the closest first."""
    terms = sorted({*similar, *(term for found in similar.values() for term, _ in found)})
    places = {term: place for place, term in enumerate(terms)}
    names = "\n".join(terms).encode()
    pairs = [pair for term in terms for pair in similar.get(term, ())]
    numbers = array("H", [places[term] for term, _ in pairs])
    if sys.byteorder == "big":
        numbers.byteswap()
    counts = bytes(len(similar.get(term, ())) for term in terms)
    head = _HEAD.pack(len(terms), len(names))
    return head + names + counts + numbers.tobytes() + bytes(closeness for _, closeness in pairs)


def common() -> dict[str, str]:
    """Words and the terms that they are found by, the commonest first."""
    vocabulary = Path(local.__file__).with_name("bert-uncased.txt").read_text("utf-8").split("\n")
    apart = STOP_WORDS | APART
    spelt = [word for word in vocabulary if re.fullmatch("[a-z]{3,}", word) and word not in apart]
    terms = {word: words.asked(word) for word in spelt}
    known = {word: found[0] for word, found in terms.items() if len(found) == 1 and found[0] not in ASKING}
    return dict(list(known.items())[:WORDS])


def close(terms: dict[str, str]) -> dict[str, Sequence[tuple[str, int]]]:
    embedder = local.packaged()
    vectors = np.array([np.frombuffer(one, "<f4") for one in embedder.passages(list(terms))])
    named = list(terms.values())
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for term, vector in zip(named, vectors, strict=True):
        nearness = vectors @ vector
        for at in np.nonzero(nearness >= LEAST_NEARNESS)[0]:
            if named[at] != term:
                found[term][named[at]] = max(found[term].get(named[at], 0.0), float(nearness[at]))
    return {
        term: [
            (other, round(100 * (near - NOTHING_ALIKE) / (1 - NOTHING_ALIKE)))
            for other, near in sorted(kin.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_KIN]
        ]
        for term, kin in found.items()
    }


if __name__ == "__main__":
    _THESAURUS_FILE.write_bytes(packed(close(common())))
    print(_THESAURUS_FILE.stat().st_size, "bytes")
