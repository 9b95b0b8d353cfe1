from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pace import examples
from souvenance.domain.encoding import frame

FIELDS = (
    st.none()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.integers(-2, 2)
    | st.text(max_size=4)
    | st.binary(max_size=4)
    | st.lists(st.text(max_size=2), max_size=3).map(tuple)
)
LISTS = st.lists(FIELDS, max_size=5).map(tuple)


@settings(max_examples=examples(800), deadline=None, derandomize=True)
@given(LISTS, LISTS)
def test_two_lists_of_fields_have_the_same_bytes_only_if_they_are_the_same(one, other):
    assert (frame(*one) == frame(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("ab",), ("a", "b")),
        (("a",), (b"a",)),
        (("",), (None,)),
        ((b"",), (None,)),
        (((),), (None,)),
        (((),), ("",)),
        ((0,), (None,)),
        ((0,), ("0",)),
        ((1,), (-1,)),
        ((), (None,)),
        (("a", None), ("a",)),
        ((("a",), "b"), ("a", ("b",))),
        ((("a", "b"),), (("ab",),)),
        ((("a",),), ("a",)),
        ((("a", "b"), "c"), (("a",), "b", "c")),
        (("\N{LATIN SMALL LETTER E WITH ACUTE}",), ("e\N{COMBINING ACUTE ACCENT}",)),
    ],
)
def test_fields_that_could_be_confused_are_told_apart(one, other):
    assert frame(*one) != frame(*other)


@settings(deadline=None, derandomize=True)
@given(LISTS)
def test_no_frame_is_the_beginning_of_another(fields):
    framed = frame(*fields)
    for more in (None, "", b"", 0, ()):
        assert not frame(*fields, more).startswith(framed)


def test_a_list_and_a_tuple_of_names_are_the_same_field():
    assert frame("x", ["a", "b"]) == frame("x", ("a", "b"))


def test_lengths_beyond_every_short_form_are_told_apart():
    sizes = [0, 15, 16, 31, 32, 255, 256, 65535, 65536]
    for make in (lambda size: "a" * size, lambda size: b"a" * size, lambda size: ("a",) * size):
        framed = [frame(make(size)) for size in sizes]
        assert len(set(framed)) == len(sizes)
        assert not [1 for one in framed for other in framed if one is not other and other.startswith(one)]
