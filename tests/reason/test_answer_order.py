"""A question for the latest or the first of something is answered with that first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement

BOOKS = {
    "dune": ("2025-07-01", "I finished reading Dune, what a book."),
    "middlemarch": ("2025-10-11", "Just finished Middlemarch, a long book but lovely."),
    "life": ("2026-04-02", "Finished a book about mushrooms, Entangled Life."),
    "lunch": ("2026-04-20", "Had lunch with Bo."),
}
POTTERY = {
    "ghent": ("2026-01-10", "In March 2024 I took a pottery class in Ghent."),
    "ana": ("2026-02-10", "I took a pottery class last weekend, with Ana."),
    "bad": ("2026-04-10", "Ten years ago I took a pottery class, I was terrible."),
}


def first(question, told):
    """The first line that the answer cites."""
    statements = [
        Statement(
            name,
            text,
            round(datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC).timestamp() * 1000),
            "ann",
        )
        for name, (day, text) in told.items()
    ]
    return next(iter(Extractive().answer(question, statements, "ann").cited), None)


@pytest.mark.parametrize(
    ("question", "told", "cited"),
    [
        ("What was the last book Ann finished?", BOOKS, "life"),
        ("Which book did Ann finish most recently?", BOOKS, "life"),
        ("What is the newest book Ann finished?", BOOKS, "life"),
        ("Which book did Ann finish first?", BOOKS, "dune"),
        ("When did Ann last take a pottery class?", POTTERY, "ana"),
        ("When was the first time Ann took a pottery class?", POTTERY, "bad"),
        ("What was the last lunch Ann had with Bo?", BOOKS, "lunch"),
    ],
)
def test_time_decides_among_what_answers_as_well(question, told, cited):
    assert first(question, told) == cited


def test_what_answers_less_is_not_cited_first_for_being_new():
    assert first("What was the last long book Ann finished?", BOOKS) == "middlemarch"


def test_the_rest_of_the_question_decides_what_is_cited_at_all():
    assert first("What was the last film Ann saw?", BOOKS) is None
