"""The analysis of a text takes time in proportion to its length, whatever the text."""

from __future__ import annotations

import tracemalloc

import pytest

from growth import keeps_to_length
from souvenance.language import terms

BEATS = (
    "a",
    "a.",
    "a'",
    "1,",
    "1,111",
    "1.",
    "v1.1",
    "a::",
    "a://",
    "a@",
    "aA",
    "AAa",
    "c++",
    "..a",
    "2023-05-07T1",
    "1:",
    "é.",
    "猫の",
    "ก็",
    "\u0e47",
    "may 7 ",
    "ing",
    "our",
    "a\u0316\u0301",
    "\u0316\u0301",
    "\u094d\u093c",
    "1 ",
    "1 234 ",
    "1234567, ",
    "1.234",
    "🍕",
    "👩\u200d💻",
    "🇩🇪",
    "Ü",
    "Ü ",
    "וכש",
    "وات",
    "a1",
)
MEGABYTE = 1 << 20


def read(text):
    terms.terms(text + "!é")
    terms.asked(text + "!é")
    terms.words(text + "!é")


@pytest.mark.parametrize("beat", BEATS, ids=ascii)
def test_the_time_it_takes_grows_with_the_text_alone(beat):
    assert keeps_to_length(read, beat, short=4000, times=12)


@pytest.mark.parametrize("beat", ["a'.", "猫の", "\u0316\u0301"], ids=ascii)
def test_a_megabyte_is_read_to_its_end(beat):
    text = beat * (MEGABYTE // len(beat.encode()))
    assert terms.terms(text + "!é peanut").get("peanut") == 1


def test_what_is_kept_in_mind_of_ever_new_words_is_bounded():
    def held():
        terms.terms(" ".join(f"word{next(numbers)}" for _ in range(5000)))
        return tracemalloc.get_traced_memory()[0]

    numbers = iter(range(MEGABYTE))
    tracemalloc.start()
    try:
        assert max(held() for _ in range(6)) < 6 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_a_piece_has_the_same_terms_before_and_after_it_was_forgotten():
    text = "Ann's user_name went hiking near 成都"
    found = terms.terms(text)
    terms.terms(" ".join(f"other{number}" for number in range(40_000)))
    assert terms.terms(text) == found
