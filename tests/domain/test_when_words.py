"""A shape is only looked for in a text with one of its words: so whatever has the shape has one of them."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mnemon.domain.when import asked, finding, framing, reckoning
from mnemon.domain.when.rule import NUMBER
from mnemon.domain.when.said import WORDS, lowered

RULES = [(f"{rule.read.__name__} {at}", rule) for at, rule in enumerate(finding._RULES) if rule.beside]
QUESTIONS = {
    "order": (asked._ORDER, asked._ORDER_BESIDE),
    "duration": (asked._DURATION, asked._DURATION_BESIDE),
    "moment": (asked._MOMENT, asked._MOMENT_BESIDE),
    "latest": (asked._LATEST, asked._LATEST_CUES),
    "last": (asked._LAST, asked._LAST_CUES),
    "newer": (asked._NEWER, asked._NEWER_CUES),
    "earliest": (asked._EARLIEST, asked._EARLIEST_CUES),
    "older": (asked._OLDER, asked._OLDER_CUES),
}
BEFORE = {
    "share": (framing._SHARE, framing._SHARE_CUES),
    "step": (framing._STEPPED, framing._STEP_CUES),
}
looked_for = settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def like(data, shape):
    """A text in small letters that has the shape."""
    low = lowered(data.draw(st.from_regex(shape.pattern)))
    assume(shape.search(low))
    return low


@pytest.mark.parametrize("rule", [rule for _, rule in RULES], ids=[name for name, _ in RULES])
@looked_for
@given(st.data())
def test_a_phrase_has_one_of_the_words_beside_its_cue(rule, data):
    low = like(data, rule.shape)
    words = {*WORDS.of(low), *(NUMBER for character in low if character.isdecimal())}
    assert not rule.beside.isdisjoint(words)


@pytest.mark.parametrize(("shape", "words"), QUESTIONS.values(), ids=QUESTIONS)
@looked_for
@given(st.data())
def test_what_a_question_asks_is_asked_with_one_of_its_words(shape, words, data):
    low = like(data, shape)
    assume("chronolog" not in low)
    assert not words.isdisjoint(WORDS.of(low))


@pytest.mark.parametrize(("shape", "words"), BEFORE.values(), ids=BEFORE)
@looked_for
@given(st.data())
def test_what_changes_a_time_ends_with_one_of_its_words(shape, words, data):
    assert framing._ends_with(like(data, shape), words)


@looked_for
@given(st.data())
def test_what_bounds_a_time_has_one_of_its_words(data):
    assert not framing._BOUND_CUES.isdisjoint(WORDS.of(like(data, framing._BOUND)))


@looked_for
@given(st.data())
def test_what_a_weekday_is_told_by_begins_as_such(data):
    low = data.draw(st.from_regex(rf"\A{reckoning._OF_ANOTHER.pattern}"))
    assume(reckoning._OF_ANOTHER.match(low))
    assert reckoning._is_of_another(low, 0)
