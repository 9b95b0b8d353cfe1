from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ulid import ULID

from souvenance.domain import ulid
from souvenance.errors import InvalidInput

steady = settings(deadline=None, derandomize=True)

TIMES = st.integers(0, ulid.MAX_MS)
ENTROPY = st.binary(min_size=ulid.ENTROPY_BYTES, max_size=ulid.ENTROPY_BYTES)
GOOD = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def oracle(ms, entropy):
    return ULID.from_bytes(ms.to_bytes(6, "big") + entropy)


@steady
@given(TIMES, ENTROPY)
def test_a_ulid_is_spelt_as_the_oracle_spells_it(ms, entropy):
    assert ulid.compose(ms, entropy) == str(oracle(ms, entropy))


@steady
@given(TIMES, ENTROPY)
def test_a_ulid_gives_its_time_back(ms, entropy):
    spelt = ulid.check(ulid.compose(ms, entropy))
    assert ulid.milliseconds(spelt) == ms == ULID.parse(spelt).milliseconds


@steady
@given(TIMES, TIMES, ENTROPY, ENTROPY)
def test_ulids_sort_by_time_then_chance(one, other, first, second):
    assert ((one, first) < (other, second)) == (ulid.compose(one, first) < ulid.compose(other, second))


@pytest.mark.parametrize("ms", [0, 1, 31, 32, 1023, 1024, (1 << 47), ulid.MAX_MS])
@pytest.mark.parametrize("byte", [b"\x00", b"\xff"])
def test_the_ends_are_spelt_as_the_oracle_spells_them(ms, byte):
    assert ulid.compose(ms, byte * 10) == str(oracle(ms, byte * 10))


def test_the_known_example_carries_its_known_time():
    assert ulid.milliseconds(ulid.check(GOOD)) == 1_469_922_850_259


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        GOOD.lower(),
        GOOD[:-1],
        GOOD + "0",
        " " + GOOD[1:],
        GOOD + "\n",
        "8" + GOOD[1:],
        "Z" * 26,
        "O" + GOOD[1:],
        *(GOOD[:5] + letter + GOOD[6:] for letter in "ILOUilou-_*\0"),
        GOOD[:5] + "\N{FULLWIDTH DIGIT ONE}" + GOOD[6:],
        GOOD[:5] + "\N{ARABIC-INDIC DIGIT ONE}" + GOOD[6:],
    ],
)
def test_any_other_spelling_is_refused(spelling):
    with pytest.raises(InvalidInput, match="cursor is not a ULID"):
        ulid.check(spelling, "cursor")


@steady
@given(st.text(alphabet="0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcz -", min_size=24, max_size=28))
def test_what_is_accepted_is_what_the_oracle_would_write(spelling):
    try:
        ulid.check(spelling)
    except InvalidInput:
        return
    assert str(ULID.parse(spelling)) == spelling


@steady
@given(TIMES, ENTROPY)
def test_floor_and_below_enclose_a_millisecond(ms, entropy):
    one = ulid.compose(ms, entropy)
    assert ulid.floor(ms) <= one
    assert ulid.below(ms) < one
    assert ulid.below(ms) < ulid.floor(ms)
    assert ms == 0 or ulid.milliseconds(ulid.below(ms)) == ms - 1
    assert ms == ulid.MAX_MS or one < ulid.floor(ms + 1)
    assert one <= ulid.below(ms + 1)


@pytest.mark.parametrize("ms", [-1, -(1 << 60), ulid.MAX_MS + 1, 1 << 60])
def test_times_beyond_the_range_are_taken_for_its_ends(ms):
    everything = [ulid.compose(0, bytes(10)), ulid.compose(ulid.MAX_MS, b"\xff" * 10)]
    if ms < 0:
        assert all(ulid.below(ms) < one and ulid.floor(ms) <= one for one in everything)
    else:
        assert all(ulid.below(ms) >= one for one in everything)
        assert ulid.milliseconds(ulid.floor(ms)) == ulid.MAX_MS
