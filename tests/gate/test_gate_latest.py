"""The latest and the first of something among lines that were put, on every kind of store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gate.world import KINDS, each_kind

COFFEES = ["I had my coffee at the zoo", "coffee with Omar at the harbour", "My coffee was cold"]


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def put(world, cap, *texts):
    """Put each text as of a month after the one before it, the newest first."""
    for month, text in reversed([*enumerate(texts, 1)]):
        world.put(cap, text, occurred_at=datetime(2025, month, 5, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("the latest coffee", [*reversed(COFFEES)]),
        ("when did I last have coffee?", [*reversed(COFFEES)]),
        ("the first coffee", COFFEES),
        ("the last coffee at the harbour", [COFFEES[1]]),
    ],
)
def test_lines_about_it_come_by_when_they_happened(world, asked, expected):
    cap = world.issue()
    put(world, cap, *COFFEES)
    assert world.texts(cap, asked, k=3)[: len(expected)] == expected


def test_lines_of_one_day_keep_the_order_of_their_relevance(world):
    cap = world.issue()
    for text in ("coffee with Omar", "tea, and coffee with Omar and many others at a table by the door"):
        world.put(cap, text, occurred_at=datetime(2025, 3, 5, 12, tzinfo=UTC))
    assert world.texts(cap, "the latest coffee with Omar", k=1) == world.texts(cap, "coffee with Omar", k=1)


def test_a_line_that_may_not_be_seen_takes_no_place(world):
    cap = world.issue()
    put(world, cap, *COFFEES)
    bounds = {"until": datetime(1990, 1, 1, tzinfo=UTC)}
    assert [line.text for line in world.get(cap, "the latest coffee", **bounds) if line.matched] == []


@pytest.mark.parametrize("asked", ["what was first?", "the last time", "latest"])
def test_a_question_for_an_end_of_nothing_is_answered_too(world, asked):
    cap = world.issue()
    put(world, cap, *COFFEES)
    assert len(world.texts(cap, asked, k=3)) == 3
