"""The command line: lines that expire, and rules for how long lines are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest


def test_put_takes_an_end_as_a_moment_or_as_a_time_from_now(command, compartment):
    command("put", "one", "-n", compartment, "--expires-at", "2100-04-01T00:00Z")
    command("put", "two", "-n", compartment, "--expires-in", "90d")
    one, two = command("--json", "list", "-n", compartment).json()["lines"]
    assert one["expires_at"] == "2100-04-01T00:00:00Z"
    left = datetime.fromisoformat(two["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < left <= timedelta(days=90)


def test_put_takes_one_end_alone(command, compartment):
    both = ("--expires-at", "2100-04-01", "--expires-in", "90d")
    refused = command("put", "one", "-n", compartment, *both, exit_code=3)
    assert "not both" in refused.err


def test_rules_are_set_shown_and_removed(command, compartment):
    set_it = ("retention", "set", "short", "--keep", "2w", "-n", compartment)
    said = f"short: a line in {compartment} goes after 14 days; 0 lines that old now\n"
    assert command(*set_it, "--dry-run").out == f"would set {said}"
    assert "short" not in command("retention", "show").out
    assert "confirmation_needed" in command(*set_it, exit_code=3).err
    assert command(*set_it, "--yes").out == f"set {said}"
    [rule] = [one for one in command("--json", "retention", "show").json()["rules"] if one["name"] == "short"]
    assert (rule["then"], rule["days"], rule["namespace"]) == ("forget", 14, compartment)
    assert command("retention", "remove", "short").out == "removed short\n"
    assert "not_found" in command("retention", "remove", "short", exit_code=6).err


def test_a_rule_that_lets_lines_fade_is_shown_before_it_holds_too(command, compartment):
    command("put", "one", "-n", compartment)
    set_it = ("retention", "set", "old-news", "--fade", "30d", "-n", compartment)
    said = f"old-news: a line in {compartment} ranks half as well after 30 days; 0 lines that old now"
    refused = command(*set_it, exit_code=3).err
    assert "confirmation_needed" in refused and f"set {said}?" in refused
    assert "old-news" not in command("retention", "show").out
    assert command(*set_it, "--yes").out == f"set {said}\n"
    assert command("retention", "remove", "old-news").out == "removed old-news\n"


@pytest.mark.parametrize(
    "options", ["", "--keep 1d --fade 1d", "--summarise", "--keep 36h", "--keep 0d", "--fade 9"]
)
def test_a_rule_that_is_not_whole_days_of_one_kind_is_refused(command, options):
    assert command("retention", "set", "short", *options.split(), exit_code=3).err.startswith("invalid_input")
