from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain import content
from souvenance.errors import InvalidInput, LimitExceeded

steady = settings(deadline=None, derandomize=True)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
)
KEYS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def nested(levels, innermost, wrap):
    value = innermost
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}\r\n"])
def test_empty_text_is_refused(text):
    with pytest.raises(InvalidInput, match="text is empty"):
        content.check_text(text)


@pytest.mark.parametrize("text", ["\0", "before\0after", "end\0"])
def test_a_nul_is_refused(text):
    with pytest.raises(InvalidInput, match="note holds a NUL"):
        content.check_text(text, "note")


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800", "emoji in halves \ud83d \ude00"])
def test_a_lone_surrogate_is_refused(text):
    with pytest.raises(InvalidInput, match="lone surrogate"):
        content.check_text(text)


@pytest.mark.parametrize(
    "text",
    ["a", " padded ", "line\nline\ttab", "\x01\x7f", "日本語", "🗂️", "\N{ZERO WIDTH SPACE}x", "e\u0301"],
)
def test_any_other_text_is_kept_as_it_is(text):
    assert content.check_text(text) == text


@steady
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_metadata_is_read_back_as_it_was_given(metadata):
    assert content.decode_metadata(content.encode_metadata(metadata)) == metadata


@steady
@given(st.dictionaries(KEYS, SCALARS, max_size=5))
def test_the_same_metadata_has_one_spelling(metadata):
    turned_round = dict(reversed(metadata.items()))
    assert content.encode_metadata(metadata) == content.encode_metadata(turned_round)


def test_no_metadata_is_an_empty_object():
    assert content.encode_metadata({}) == "{}"
    assert content.decode_metadata("{}") == {}


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 1 << 64, 1 << 70, -(1 << 200)])
def test_a_number_beyond_64_bits_is_refused_wherever_it_stands(number):
    for metadata in ({"n": number}, {"a": [1, number]}, {"a": {"b": {"n": number}}}):
        with pytest.raises(InvalidInput, match="beyond 64 bits"):
            content.encode_metadata(metadata)


@pytest.mark.parametrize("number", [(1 << 63) - 1, -(1 << 63), 0, 1.5, 1e308, -0.0, True])
def test_a_number_of_64_bits_is_kept(number):
    assert json.loads(content.encode_metadata({"n": number})) == {"n": number}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused(number):
    for metadata in ({"n": number}, {"a": [{"n": number}]}):
        with pytest.raises(InvalidInput, match="not finite"):
            content.encode_metadata(metadata)


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_what_is_refused_in_text_is_refused_in_metadata(text):
    for metadata in ({"a": text}, {text: 1}, {"a": ["b", {"c": text}]}, {"a": {text: 1}}):
        with pytest.raises(InvalidInput):
            content.encode_metadata(metadata)


@pytest.mark.parametrize(
    ("wrap", "most"), [(lambda value: {"a": value}, 8), (lambda value: {"a": [value]}, 4)]
)
def test_metadata_nested_too_deep_is_refused(wrap, most):
    content.encode_metadata(nested(most, "x", wrap))
    with pytest.raises(InvalidInput, match="nested deeper"):
        content.encode_metadata(nested(most + 1, "x", wrap))


def test_metadata_nested_deeper_than_any_stack_is_refused():
    with pytest.raises(InvalidInput, match="nested deeper"):
        content.encode_metadata({"a": nested(100_000, "x", lambda value: [value])})


def test_metadata_may_be_as_large_as_the_limit_and_no_larger():
    frame = len('{"a":""}')
    fits = content.MAX_METADATA_BYTES - frame
    assert len(content.encode_metadata({"a": "x" * fits}).encode()) == content.MAX_METADATA_BYTES
    with pytest.raises(LimitExceeded):
        content.encode_metadata({"a": "x" * (fits + 1)})
    with pytest.raises(LimitExceeded):
        content.encode_metadata({"a": "é" * (fits // 2 + 1)})


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), 1j])
def test_what_json_can_not_say_is_refused(value):
    with pytest.raises(InvalidInput, match="not JSON"):
        content.encode_metadata({"a": [value]})
