"""Help is for people: grouped, whole, with a suggestion for a wrong name, and times in words."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click
import pytest

from souvenance.commands import command_line
from souvenance.surfaces.cli.session import OTHER_NAMES, SECTIONS, read_time
from surfaces.door import souvenance

COLUMNS = 80


def contexts(context):
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            yield from contexts(click.Context(command, parent=context, info_name=name))


def every_context():
    cli = command_line()
    return list(
        contexts(click.Context(cli, info_name="souvenance", terminal_width=COLUMNS, **cli.context_settings))
    )


EVERY = every_context()
ROOT = EVERY[0]
GROUPS = [one for one in EVERY if isinstance(one.command, click.Group)]


def summaries(context):
    """The lines under the headings of commands."""
    text = context.get_help()
    heading = "Remember:" if context is ROOT else "Commands:"
    return [line for line in text[text.index(heading) :].splitlines() if line.startswith("  ")]


def test_help_groups_commands_by_what_people_do():
    found = [line.removesuffix(":") for line in ROOT.get_help().splitlines() if re.match(r"[A-Z]\w+:$", line)]
    assert found == ["Options", *SECTIONS]


def test_every_command_is_in_one_group():
    named = [line.split()[0] for line in summaries(ROOT)]
    assert sorted(named) == ROOT.command.list_commands(ROOT)


@pytest.mark.parametrize("group", GROUPS, ids=lambda one: one.command_path)
def test_every_summary_fits_its_line(group):
    named = group.command.list_commands(group)
    rows = summaries(group)
    assert [row.split()[0] for row in rows] == sorted(named, key=[row.split()[0] for row in rows].index)
    assert not [row for row in rows if row.endswith("...") or len(row) > COLUMNS]


@pytest.mark.parametrize("context", EVERY, ids=lambda one: one.command_path)
def test_every_option_is_explained(context):
    options = [one for one in context.command.get_params(context) if isinstance(one, click.Option)]
    assert not [one.name for one in options if not one.help]


@pytest.mark.parametrize("typed", ["search", "add", "remove", "delete", "gte", "statsu"])
def test_an_unknown_command_suggests_the_one_that_was_meant(tmp_path, typed):
    meant = OTHER_NAMES.get(typed) or {"gte": "get", "statsu": "status"}[typed]
    refused = souvenance(typed, "x", home=tmp_path / "home", exit_code=2)
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in refused.err


def test_a_command_of_a_group_is_suggested_too(tmp_path):
    refused = souvenance("cap", "mnit", home=tmp_path / "home", exit_code=2)
    assert "Did you mean 'mint'?" in refused.err


def test_other_names_lead_to_commands_that_exist():
    assert set(OTHER_NAMES.values()) <= set(ROOT.command.list_commands(ROOT))
    assert not OTHER_NAMES.keys() & set(ROOT.command.list_commands(ROOT))


NOW = datetime(2026, 11, 18, 15, 30).astimezone()
"""A Wednesday."""


def day(*of_date: int) -> datetime:
    return datetime(*of_date).astimezone()


@pytest.mark.parametrize(
    ("written", "start", "end"),
    [
        ("yesterday", day(2026, 11, 17), day(2026, 11, 18)),
        ("today", day(2026, 11, 18), day(2026, 11, 19)),
        ("last week", day(2026, 11, 9), day(2026, 11, 16)),
        ("3 days ago", day(2026, 11, 15), day(2026, 11, 16)),
        ("monday", day(2026, 11, 16), day(2026, 11, 17)),
        ("gestern", day(2026, 11, 17), day(2026, 11, 18)),
        ("2026-03-01", day(2026, 3, 1), day(2026, 3, 2)),
        ("2026-03-01T09:00", day(2026, 3, 1, 9), day(2026, 3, 1, 9)),
        ("3d", NOW - timedelta(days=3), NOW - timedelta(days=3)),
        ("2h", NOW - timedelta(hours=2), NOW - timedelta(hours=2)),
    ],
)
def test_a_time_is_a_date_an_age_or_words(written, start, end):
    assert read_time(written, NOW) == start
    assert read_time(written, NOW, end=True) == end


def test_a_zone_that_is_written_counts():
    written = "2026-03-01T09:00:00+02:00"
    assert read_time(written, NOW) == datetime.fromisoformat(written)


@pytest.mark.parametrize("written", ["someday", "2026-13-01", "I met Ann yesterday", "before 1999", "3x", ""])
def test_what_is_no_time_is_refused_with_examples(tmp_path, written):
    refused = souvenance("get", "--since", written, home=tmp_path / "home", exit_code=2)
    assert "yesterday, last week" in refused.err


def test_get_and_list_take_times_in_words(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "We walked to the lake", home=home)
    assert "lake" in souvenance("get", "walk", "--since", "last week", home=home).out
    assert "lake" in souvenance("list", "--since", "3d", home=home).out
    assert souvenance("get", "walk", "--until", "last year", home=home).out == "(nothing)\n"
