"""Who was to start somewhere works there once the day has come."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemon.domain.begun import begun

START = "Starts at: Siemens (from 2026-03-01)"
OLD = "Works at: Nokia"


def ms(day):
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


SAID = {START: ms("2026-02-01"), OLD: ms("2026-01-01")}


def test_on_the_day_the_new_place_takes_that_of_the_old_one():
    assert begun([OLD, START], SAID, ms("2026-03-01")) == {OLD: None, START: "Works at: Siemens"}


def test_before_the_day_nothing_changes():
    assert begun([OLD, START], SAID, ms("2026-02-28")) == {}


def test_what_was_said_since_the_day_holds():
    since = {**SAID, OLD: ms("2026-03-05")}
    assert begun([OLD, START], since, ms("2026-03-10")) == {START: None}


def test_what_is_written_by_hand_holds():
    assert begun([OLD, START], {START: SAID[START]}, ms("2026-03-10")) == {START: None}
    assert begun([START], {}, ms("2026-03-10")) == {}


@pytest.mark.parametrize(("today", "there"), [("2026-03-31", False), ("2026-04-01", True)])
def test_a_month_has_to_be_over(today, there):
    start = "Starts at: Siemens (from 2026-03)"
    assert (begun([start], {start: SAID[START]}, ms(today)) != {}) == there
