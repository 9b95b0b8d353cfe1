"""Long text is cut where a reader would cut it, and nothing of it is lost."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain.chunking import chunks

steady = settings(deadline=None, derandomize=True)
WORDS = st.text(st.sampled_from("aé.!?。」🎉"), min_size=1, max_size=5)
GAPS = st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n", " \n \n", "\t", "\u00a0", "\u3000"])
PROSE = st.lists(st.tuples(WORDS, GAPS), max_size=40).map(lambda parts: "".join(map("".join, parts)))
LUMPY = st.text(st.sampled_from("ab \n.\u0301\u200d\ufe0f👩👧🏽🇩🇪각\u1100\u1161\u11a8\r"), max_size=80)
CLUSTERS = ["e\u0301", "\U0001f469\u200d\U0001f467", "👍🏽", "🇩🇪", "नि", "\u1100\u1161\u11a8", "x"]


def solid(text):
    return "".join(text.split())


@given(PROSE | LUMPY | st.text(), st.integers(1, 30))
@steady
def test_nothing_is_lost_but_white_space_and_no_piece_is_too_long_or_blank(text, most):
    pieces = chunks(text, most)
    assert solid("".join(pieces)) == solid(text)
    assert all(len(piece) <= most and piece.strip() for piece in pieces)


@given(PROSE | LUMPY, st.integers(1, 30))
@steady
def test_the_pieces_stand_in_the_text_in_their_order_with_only_space_between(text, most):
    place = 0
    for piece in chunks(text, most):
        found = text.index(piece, place)
        assert not text[place:found].strip()
        place = found + len(piece)
    assert not text[place:].strip()


@given(PROSE)
@steady
def test_a_text_that_fits_is_left_as_it_is(text):
    assert chunks(text, max(1, len(text))) == ([text] if text.strip() else [])


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=60), st.integers(6, 30))
@steady
def test_words_that_fit_are_never_broken(words, most):
    assert " ".join(chunks(" ".join(words), most)).split() == words


@given(st.lists(st.sampled_from(CLUSTERS), max_size=60), st.integers(8, 30))
@steady
def test_what_is_shown_as_one_character_is_never_broken(clusters, most):
    for piece in chunks("".join(clusters), most):
        assert not unicodedata.category(piece[0]).startswith("M")
        assert piece[0] not in "\u200d🏽\u1161\u11a8"
        assert piece[-1] != "\u200d"
        assert sum("\U0001f1e6" <= character <= "\U0001f1ff" for character in piece) % 2 == 0


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("One line.\n\nTwo lines.\nStill two.", 30, ["One line.\n\nTwo lines.", "Still two."]),
        ("First one.\n\nSecond. Third\nfourth", 22, ["First one.", "Second. Third\nfourth"]),
        ("Here it is.\nAnd more. And", 22, ["Here it is.", "And more. And"]),
        ("It is so. Is it? Well yes", 22, ["It is so. Is it?", "Well yes"]),
        ('She said "so." He nodded', 20, ['She said "so."', "He nodded"]),
        ("one two three four", 9, ["one two", "three", "four"]),
        ("a bcdefghijkl", 8, ["a", "bcdefghi", "jkl"]),
        ("abcdefghijklmno", 6, ["abcdef", "ghijkl", "mno"]),
        ("今日は暑い。山へ行く。", 8, ["今日は暑い。", "山へ行く。"]),
        ("「そうだ。」と言った。", 8, ["「そうだ。」", "と言った。"]),
        ("exactly ten", 7, ["exactly", "ten"]),
        ("\n\n   \n\n   tail of it", 8, ["tail of", "it"]),
        ("", 5, []),
        (" \n ", 1, []),
    ],
)
def test_a_cut_is_made_at_the_best_place_in_reach(text, most, pieces):
    assert chunks(text, most) == pieces


def test_a_cluster_longer_than_any_real_one_is_broken_after_all():
    marks = "a" + "\u0301" * 200
    assert [len(piece) for piece in chunks(marks, 100)] == [100, 100, 1]


def test_a_message_holds_25_000_characters():
    assert [len(piece) for piece in chunks("x" * 60_000)] == [25_000, 25_000, 10_000]


def test_a_piece_of_no_characters_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        chunks("text", 0)
