from __future__ import annotations

import pytest
from msgspec.structs import replace

from souvenance.domain import ulid
from souvenance.domain.limits import Limits
from souvenance.domain.line import TOMBSTONE, OpenLine, check_line
from souvenance.domain.names import Compartment
from souvenance.errors import InvalidInput, LineTooLong

NOW = 1_700_000_000_000
LIMITS = Limits()
SOME_BYTES = bytes(range(10))
LINE = OpenLine(
    compartment=Compartment("default", "ann", "personal"),
    id=ulid.compose(NOW, SOME_BYTES),
    kind="memory",
    text="Allergic to peanuts",
    session=None,
    created_at=NOW,
    occurred_at=None,
    supersedes=None,
    cap="cap",
    metadata={},
)


def checked(chosen_id=True, limits=LIMITS, **changes):
    return check_line(replace(LINE, **changes), chosen_id=chosen_id, now=NOW, limits=limits)


def at(ms, entropy=SOME_BYTES):
    return ulid.compose(ms, entropy)


def test_a_plain_line_is_admitted_as_it_is():
    assert checked() == LINE
    full = {"kind": "card", "session": "Tuesday", "occurred_at": 0, "supersedes": at(1), "text": "🗂\n日本"}
    assert checked(**full) == replace(LINE, **full)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "a\0b"},
        {"text": "a\ud800b"},
        {"kind": "Memory"},
        {"kind": ""},
        {"kind": "*"},
        {"compartment": LINE.compartment._replace(namespace="Personal")},
        {"compartment": LINE.compartment._replace(namespace="*")},
        {"compartment": LINE.compartment._replace(namespace="")},
        {"session": ""},
        {"session": "*"},
        {"session": "a\0"},
        {"session": " a"},
        {"id": LINE.id.lower()},
        {"id": LINE.id[:-1]},
        {"id": ""},
        {"id": "I" * 26},
    ],
)
@pytest.mark.parametrize("chosen_id", [True, False])
def test_a_line_that_breaks_a_rule_is_refused(chosen_id, changes):
    with pytest.raises(InvalidInput):
        checked(chosen_id, **changes)


@pytest.mark.parametrize("entropy", [bytes(10), b"\xff" * 10])
def test_a_chosen_id_may_lie_a_week_back_and_a_minute_ahead(entropy):
    for ms in (NOW - LIMITS.ulid_past_ms, NOW + LIMITS.ulid_future_ms):
        assert checked(id=at(ms, entropy)).id == at(ms, entropy)


@pytest.mark.parametrize("ms", [NOW - LIMITS.ulid_past_ms - 1, 0, 1])
def test_a_chosen_id_that_is_too_old_is_refused(ms):
    with pytest.raises(InvalidInput, match="too far in the past") as refused:
        checked(id=at(ms, b"\xff" * 10))
    assert "occurred_at" in refused.value.hint


@pytest.mark.parametrize("ms", [NOW + LIMITS.ulid_future_ms + 1, ulid.MAX_MS])
def test_a_chosen_id_of_the_future_is_refused(ms):
    with pytest.raises(InvalidInput, match="in the future"):
        checked(id=at(ms, bytes(10)))


def test_the_bounds_of_a_chosen_id_can_be_set():
    narrow = Limits(ulid_past_ms=0, ulid_future_ms=0)
    assert checked(limits=narrow) == LINE
    for ms in (NOW - 1, NOW + 1):
        with pytest.raises(InvalidInput):
            checked(limits=narrow, id=at(ms))


def test_an_id_of_our_own_is_not_held_to_the_clock():
    assert checked(chosen_id=False, id=at(0)).id == at(0)


def test_a_text_may_be_as_long_as_the_limit_in_bytes_and_no_longer():
    limits = Limits(line_bytes=10)
    for fits in ("x" * 10, "é" * 5, "日本日x"):
        assert checked(limits=limits, text=fits).text == fits
    for longer in ("x" * 11, "é" * 5 + "x", "日本日本", "🗂🗂🗂"):
        with pytest.raises(LineTooLong):
            checked(limits=limits, text=longer)


@pytest.mark.parametrize("moment", [-62_135_596_800_000, -1, 0, 253_402_300_799_999])
def test_what_happened_in_the_years_1_to_9999_is_admitted(moment):
    assert checked(occurred_at=moment).occurred_at == moment


@pytest.mark.parametrize("moment", [-62_135_596_800_001, 253_402_300_800_000, 1 << 63, -(1 << 70)])
def test_what_happened_outside_of_them_is_refused(moment):
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        checked(occurred_at=moment)


def test_a_tombstone_says_nothing_and_replaces_a_line():
    assert checked(kind=TOMBSTONE, text="", supersedes=at(1)).kind == TOMBSTONE


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "hidden from every reader"},
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"text": "", "supersedes": None},
    ],
)
def test_a_tombstone_that_says_something_or_replaces_nothing_is_refused(changes):
    with pytest.raises(InvalidInput):
        checked(**{"kind": TOMBSTONE, "supersedes": at(1), **changes})
