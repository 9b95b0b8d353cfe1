"""What the contract of the index plays with: compartments, lines, vectors, questions, and ways to compare
answers.

Vectors are made of 64ths, so that what they say is exact to the last digit that is told.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from souvenance.domain import ulid
from souvenance.domain.change_feed import UNSAID, Saying
from souvenance.domain.names import Compartment
from souvenance.domain.relevance import WEIGHTS
from souvenance.ports.index import Hit, Index, IndexQuery, Inquiry
from souvenance.ports.store import Store, Transaction

WORK = Compartment("acme", "ann", "work")
TRAVEL = Compartment("acme", "ann", "travel")
BOB = Compartment("acme", "bob", "work")
IDS = [ulid.compose(ms, bytes(ulid.ENTROPY_BYTES)) for ms in range(8)]
"""Ids in order, the oldest first."""

TEA, MILK, CITY = 1, (1 << 64) - 1, 1 << 63
"""Blinded tokens: any 64-bit numbers."""

SPACE = "space"
EVERYTHING = 1 << 20
_WHOLE = 64

Tokens = Mapping[int, int]


def add(
    tx: Transaction, compartment: Compartment, line_id: str, tokens: Tokens, said: Saying = UNSAID
) -> None:
    """Index a line that holds each token that many times."""
    tx.terms.add(compartment, line_id, array("Q", tokens).tobytes(), bytes(tokens.values()), said)


def index_lines(store: Store, compartment: Compartment, *lines: Tokens) -> None:
    """Index lines of no session under the first ids."""
    with store.write() as tx:
        for line_id, tokens in zip(IDS, lines, strict=False):
            add(tx, compartment, line_id, tokens)


def talk(store: Store, *turns: tuple[Compartment, Tokens], session: str | None = "talk") -> None:
    """Index one line for each turn, under the first ids; the first is turn 1."""
    with store.write() as tx:
        for turn, (compartment, tokens) in enumerate(turns, 1):
            add(tx, compartment, IDS[turn - 1], tokens, Saying(session, turn))


def lie(
    store: Store, vectors: Mapping[str, bytes], compartment: Compartment = WORK, space: str = SPACE
) -> None:
    with store.write() as tx:
        tx.terms.lie(compartment, space, list(vectors.items()))


def packed(*components: int) -> bytes:
    """A packed vector, given in 64ths from -127 to 127."""
    return struct.pack("<f", 1 / _WHOLE) + bytes(array("b", components))


def pointing(*components: float) -> Callable[[], bytes]:
    """Tells a question's vector."""
    vector = struct.pack(f"<{len(components)}f", *components)
    return lambda: vector


EAST, NORTH, WEST = packed(_WHOLE, 0), packed(0, _WHOLE), packed(-_WHOLE, 0)
TO_EAST, TO_NORTH = pointing(1, 0), pointing(0, 1)


def about(*tokens: int, compartments: Sequence[Compartment] = (WORK,), **more: Any) -> Inquiry:
    """A question of one token for each term, the same in every compartment."""
    asked = [IndexQuery(compartment, tokens) for compartment in compartments]
    return replace(Inquiry(asked, range(len(tokens)), [1.0] * len(tokens)), **more)


def meaning(vector: Callable[[], bytes], *tokens: int, space: str = SPACE, **more: Any) -> Inquiry:
    """The same, that lies somewhere."""
    return about(*tokens, vector=vector, space=space, **more)


def hits(
    store: Store, index: Index, inquiry: Inquiry, k: int = 20, within: Collection[str] | None = None
) -> list[Hit]:
    with store.read() as tx:
        return index.search(tx, inquiry, k, within)


def search(
    store: Store, index: Index, inquiry: Inquiry, k: int = 20, within: Collection[str] | None = None
) -> list[str]:
    return [hit.id for hit in hits(store, index, inquiry, k, within)]


def signal(store: Store, index: Index, inquiry: Inquiry, name: str) -> dict[str, float]:
    """What that signal was of each line that was found, by its id."""
    return {hit.id: hit.signals.get(name, 0.0) for hit in hits(store, index, inquiry)}


def expect_same(
    index: Index,
    reference: Index,
    tx: Transaction,
    inquiry: Inquiry,
    k: int = EVERYTHING,
    within: Collection[str] | None = None,
) -> None:
    """Both find the same, with signals and scores that differ by rounding at most, and in the same order.

    Lines that the reference finds equally good to nine digits may change places.
    """
    found = index.search(tx, inquiry, k, within)
    expected = reference.search(tx, inquiry, EVERYTHING, within)
    by_place = {hit[:2]: hit for hit in expected}
    places = [hit[:2] for hit in found]
    assert len(found) == len(set(places)) == min(k, len(expected)), (found, expected)
    assert set(places) <= set(by_place), (found, expected)
    assert [by_place[place].score for place in places] == pytest.approx(
        [hit.score for hit in expected[:k]], rel=0, abs=1e-9
    ), (found, expected)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    for hit in found:
        same = by_place[hit[:2]]
        assert hit.score == pytest.approx(same.score, rel=0, abs=1e-6), (hit, same)
        assert hit.signals == pytest.approx(same.signals, rel=0, abs=1e-6), (hit, same)
        expect_told(hit)


def expect_told(hit: Hit) -> None:
    """The score is what the signals add up to, and none of them is nothing."""
    assert hit.score == pytest.approx(sum(WEIGHTS[name] * value for name, value in hit.signals.items()))
    assert all(hit.signals.values()), hit
