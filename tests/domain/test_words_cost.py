"""The analysis of a text takes time in proportion to its length, whatever the text."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest

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
SHORT = 16_000
SLACK = 3
TRIES = 3
MEGABYTE = 1 << 20


def cost(text):
    """Seconds of the processor."""
    begun = process_time()
    terms.terms(text)
    terms.asked(text)
    terms.words(text)
    return process_time() - begun


def repeated(beat, length):
    return (beat * (length // len(beat) + 1))[:length] + "!é"


@pytest.mark.parametrize("beat", BEATS, ids=ascii)
def test_twice_the_text_takes_about_twice_the_time(beat):
    """Each at best of three: other work on the machine makes single ones dearer."""
    short, long = repeated(beat, SHORT), repeated(beat, 2 * SHORT)
    most = SLACK * min(cost(short) for _ in range(TRIES)) + 0.05
    assert any(cost(long) < most for _ in range(TRIES))


@pytest.mark.parametrize("beat", ["a'.", "猫の", "\u0316\u0301"], ids=ascii)
def test_a_megabyte_is_read_to_its_end(beat):
    assert (
        terms.terms(repeated(beat, MEGABYTE * len(beat) // len(beat.encode())) + " peanut").get("peanut") == 1
    )


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
