"""A day on the command line is one of where the machine is, as `TZ` tells every program."""

from __future__ import annotations

import json
import re

import pytest

from frames import inside
from surfaces.door import souvenance

WEST = "<-07>7"


@pytest.fixture
def west(home):
    """The command line on a machine whose clock is seven hours behind UTC."""
    return lambda *arguments: souvenance(*arguments, home=home, settings={"TZ": WEST}).out


def test_a_day_that_is_told_is_the_day_that_is_shown(west):
    line = west("put", "We see the dentist tomorrow", "-n", "home", "--occurred-at", "2026-05-14").strip()
    assert json.loads(west("--json", "line", line))["occurred_at"] == "2026-05-14T07:00:00Z"
    assert west("get", "dentist", "-n", "home").startswith(f"{line}  2026-05-14  [home]")
    told = west("snapshot", "-n", "home", "--as-prompt").rstrip("\n")
    assert inside(told).startswith("- 2026-05-14 [home]")


def test_a_line_is_found_by_the_day_that_was_meant(west):
    west("put", "We see the dentist tomorrow", "-n", "home", "--occurred-at", "2026-05-14T22:00")
    west("put", "We see the plumber tomorrow", "-n", "home", "--occurred-at", "2026-05-15T22:00")
    assert re.match(r".*dentist", west("get", "whom do we see on 15 May 2026?", "-n", "home", "-k", "1"))


def test_the_ends_of_the_calendar_are_days_as_well(west):
    west("init")
    assert west("list", "-n", "home", "--since", "0001-01-01") == "(nothing)\n"
