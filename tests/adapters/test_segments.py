"""A room's tokens in memory: which lines hold each."""

from array import array

import pytest

from souvenance.adapters.index.compartments import loaded, merged
from souvenance.domain.change_feed import packed

FAR = [3 << 60, 1 << 60, 2 << 60, 7]
CLOSE = [(1 << 40) + last for last in (3, 0, 2, 1)]
"""They differ in nothing but the bits that a place is written over while they are sorted."""


def segment(tokens, first=0):
    """Lines of which each holds two of the tokens that follow each other."""
    held = [(tokens[at], tokens[(at + 1) % len(tokens)]) for at in range(len(tokens))]
    rows = [
        (at, f"{first + at:026}", array("Q", both).tobytes(), b"\1\2", "s", at, 0)
        for at, both in enumerate(held)
    ]
    return loaded(packed(rows), lambda name: 0)


def held(made, tokens):
    places, lines = made.holding(tokens)
    return {tokens[at]: sorted(lines[places == at].tolist()) for at in places.tolist()}


@pytest.mark.parametrize("tokens", [FAR, CLOSE], ids=["far", "close"])
def test_each_token_is_held_by_its_lines(tokens):
    made = segment(tokens)
    assert held(made, tokens) == dict(zip(tokens, ([0, 3], [0, 1], [1, 2], [2, 3]), strict=True))
    assert held(made, [5, tokens[1], 1 << 63]) == {tokens[1]: [0, 1]}
    assert held(made, []) == held(made, [5]) == {}
    assert made.lines.lengths.tolist() == [3.0] * 4


@pytest.mark.parametrize("tokens", [FAR, CLOSE], ids=["far", "close"])
def test_segments_that_are_merged_hold_what_both_held(tokens):
    both = ([0, 3, 4, 7], [0, 1, 4, 5], [1, 2, 5, 6], [2, 3, 6, 7])
    found = held(merged(segment(tokens), segment(tokens, first=4)), tokens)
    assert found == dict(zip(tokens, both, strict=True))


def test_a_line_without_tokens_has_no_length():
    rows = [
        (1, "0" * 26, b"", b"", None, None, 0),
        (2, "1" * 26, array("Q", [9]).tobytes(), b"\5", None, None, 0),
    ]
    assert loaded(packed(rows), lambda name: 0).lines.lengths.tolist() == [0.0, 5.0]
