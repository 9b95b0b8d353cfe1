"""What the tools take. None of them names a person, a workspace or a namespace: those are the cap's."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

MOST_STATEMENTS = 10
MOST_STATEMENT_CHARS = 4000
MOST_QUESTION_CHARS = 2000
MOST_LINES = 20
MOST_SOURCES = 10

_Statement = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MOST_STATEMENT_CHARS,
        description="One complete sentence that still makes sense in a year: names instead of pronouns, "
        "dates instead of 'tomorrow'.",
    ),
]
_Question = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MOST_QUESTION_CHARS,
        description="The question in plain words, with the names and dates that matter.",
    ),
]
_Id = Annotated[
    str,
    Meta(
        pattern=r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
        description="The id of the line, as another tool cited it.",
        examples=["01JD7Y8Q2W3E4R5T6Y7V8J9K0M"],
    ),
]
_Session = Annotated[
    str,
    Meta(min_length=1, max_length=512, description="The session that was cited with it, if one was."),
]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of a tool's arguments; one that is not known is refused by name."""


class Remember(Arguments, frozen=True):
    statements: Annotated[
        tuple[_Statement, ...],
        Meta(min_length=1, max_length=MOST_STATEMENTS, description="What to remember, one thing each."),
    ]
    happened_on: Annotated[date, Meta(description="The day it happened, if that is not today.")] | None = None


class RecallArguments(Arguments, frozen=True):
    question: _Question
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES, description="How many lines at most.")] = 5


class ReadArguments(Arguments, frozen=True):
    id: _Id
    session: _Session | None = None


class ListArguments(Arguments, frozen=True):
    what: Annotated[
        Literal["lines", "facts", "sessions"],
        Meta(
            description="'facts': what was concluded, newest first, with its text; 'sessions': "
            "conversations, newest first; 'lines': everything, oldest first, without its text."
        ),
    ] = "facts"
    since: Annotated[date, Meta(description="For lines: only those since that day.")] | None = None
    cursor: (
        Annotated[str, Meta(max_length=128, description="`next` of the page before, to go on.")] | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES, description="How many at most.")] = 10


class ProfileArguments(Arguments, frozen=True):
    pass


class Conclude(Arguments, frozen=True):
    fact: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MOST_STATEMENT_CHARS,
            description="The fact as one sentence about the user, such as 'Prefers trains to planes.'",
        ),
    ]
    session: (
        Annotated[
            str,
            Meta(min_length=1, max_length=512, description="The session it follows from, as it was cited."),
        ]
        | None
    ) = None
    source_ids: Annotated[
        tuple[_Id, ...],
        Meta(
            max_length=MOST_SOURCES,
            description="The ids of the lines it follows from, if other tools cited any: what the user said, "
            "or facts. Leave it out for what follows from this conversation alone.",
        ),
    ] = ()


class ForgetArguments(Arguments, frozen=True):
    id: _Id
    session: _Session | None = None


class Reason(Arguments, frozen=True):
    question: _Question
    effort: Annotated[
        Literal["minimal", "low", "medium", "high"],
        Meta(description="How much thought it is worth; more takes longer."),
    ] = "low"
