"""Citations are taken out of a stream, however it is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from souvenance.adapters.model.chat import CitationMarks

TOLD = st.lists(
    st.sampled_from(
        [
            "Ann lives",
            " in Lisbon",
            " [s1]",
            "[s2, s3]",
            " [c1; s12].",
            " [not a mark]",
            "[",
            " \n",
            "s4]",
            "NOTHING KNOWN",
        ]
    ),
    max_size=10,
).map("".join)


def read(*pieces):
    marks = CitationMarks()
    told = "".join([*(marks.add(piece) for piece in pieces), marks.end()])
    return told, list(marks.labels)


@given(told=TOLD, cuts=st.lists(st.integers(0, 80), max_size=6))
@example(told="NOTHING KNOWN", cuts=[3])
def test_it_makes_no_difference_where_a_stream_is_cut(told, cuts):
    bounds = [0, *sorted(min(cut, len(told)) for cut in cuts), len(told)]
    pieces = [told[start:end] for start, end in pairwise(bounds)]
    assert read(*pieces) == read(told)


@pytest.mark.parametrize(
    ("said", "told", "labels"),
    [
        ("Ann lives in Lisbon [s1].", "Ann lives in Lisbon.", ["s1"]),
        (
            "In Lisbon [s1][s3], with a dog [S2, s4; 5].",
            "In Lisbon, with a dog.",
            ["s1", "s3", "s2", "s4", "s5"],
        ),
        ("She said [sic] so, always and ever.", "She said [sic] so, always and ever.", []),
        ("Yes [c2]", "Yes", ["c2"]),
        ("NOTHING KNOWN", "", []),
        ("**Nothing known.** I looked everywhere.", "", []),
        ("<think>[s9] hm</think> In Lisbon, I would say [s1]", "In Lisbon, I would say", ["s1"]),
        ("<think>and on and on and on", "", []),
        ("", "", []),
    ],
)
def test_words_are_told_without_their_marks(said, told, labels):
    assert read(said) == (told, labels)
    assert read(*said) == (told, labels)


def test_words_are_told_as_soon_as_they_can_be():
    marks = CitationMarks()
    assert marks.add("Ann lives in a small house ") == "Ann lives in a small house"
    assert marks.add("[s") == ""
    assert marks.add("1] by the sea") == " by the sea"
