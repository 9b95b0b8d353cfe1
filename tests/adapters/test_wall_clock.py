"""How far the clocks on people's walls are ahead of UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from souvenance.adapters.system_clock import WallClock

HOUR = 3_600_000


def at(*moment):
    return int(datetime(*moment, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def machine(monkeypatch):
    """Put the machine into a time zone."""

    def put(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


def test_without_a_zone_it_is_the_machines_own_in_summer_and_in_winter(machine):
    machine("CET-1CEST,M3.5.0,M10.5.0/3")
    clock = WallClock()
    assert (clock.offset(at(2026, 1, 15)), clock.offset(at(2026, 7, 15))) == (HOUR, 2 * HOUR)
    machine("JST-9")
    assert clock.offset(at(2026, 1, 15)) == 9 * HOUR


def test_a_zone_that_is_given_counts_wherever_the_machine_is(machine):
    machine("JST-9")
    assert WallClock(timezone(timedelta(hours=-7))).offset(at(2026, 7, 15)) == -7 * HOUR
    assert WallClock(ZoneInfo("UTC")).offset(at(2026, 7, 15)) == 0


@pytest.mark.parametrize("zone", [None, timezone(timedelta(hours=14))])
@pytest.mark.parametrize("moment", [-(10**18), 10**18, 253_402_300_799_999])
def test_a_moment_that_no_calendar_has_is_by_utc(zone, moment):
    assert abs(WallClock(zone).offset(moment)) in (0, 14 * HOUR)
