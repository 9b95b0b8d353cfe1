"""The tools: what each takes, and what comes back. What a model reads of them is in `texts.toml`.

No argument names a person, a workspace or a namespace: those are the token's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from importlib import resources
from typing import Annotated, Any, Literal

import msgspec
from mcp_types import Tool as Declared
from mcp_types import ToolAnnotations
from msgspec import Meta, Struct

from souvenance.decoders import settled
from souvenance.errors import InvalidInput
from souvenance.surfaces.mcp import results as r
from souvenance.surfaces.mcp.memory import PersonsMemory
from souvenance.surfaces.mcp.results import QUOTED, cited

TEXTS = tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))
"""What models and people read of this door."""
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


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """The schema of a struct, with what it refers to beside it."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root = parts.pop(kind.__name__)
    for part in (root, *parts.values()):
        part.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": parts} if parts else root


Answer = tuple[r.Result, str]
"""What came of a call: structured, and in a few words."""


class Tool(Struct, frozen=True):
    name: str
    arguments: type[Arguments]
    result: type[r.Result]
    work: Callable[[PersonsMemory, Any], Awaitable[Answer]]
    op: str
    """The right without which a cap can't use it."""
    reads: bool = True
    erases: bool = False

    def declared(self) -> Declared:
        """The tool as it is listed."""
        texts = TEXTS["tools"][self.name]
        return Declared(
            name=self.name,
            title=texts["title"],
            description=texts["description"],
            input_schema=schema_of(self.arguments),
            output_schema=schema_of(self.result),
            annotations=ToolAnnotations(
                title=texts["title"],
                read_only_hint=self.reads,
                destructive_hint=self.erases,
                idempotent_hint=self.reads or self.erases,
                open_world_hint=False,
            ),
        )

    async def call(self, memory: PersonsMemory, arguments: Mapping[str, Any]) -> Answer:
        """Raises: SouvenanceError."""
        try:
            read = msgspec.convert(dict(arguments), settled(self.arguments))
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidInput(
                f"the arguments of {self.name} can't be read: {error}",
                hint="Call it again with arguments that fit its input schema.",
            ) from None
        return await self.work(memory, read)


async def _remember(memory: PersonsMemory, asked: Remember) -> Answer:
    kept = await memory.remember(asked.statements, asked.happened_on)
    return kept, f"Remembered: {', '.join(kept.ids)}"


async def _recall(memory: PersonsMemory, asked: RecallArguments) -> Answer:
    recalled = await memory.recall(asked.question, asked.limit)
    return recalled, _quoted(recalled.lines, recalled.hint)


async def _read(memory: PersonsMemory, asked: ReadArguments) -> Answer:
    read = await memory.read(asked.id, asked.session)
    parts = [QUOTED, cited([read.line])]
    parts += ["It follows from:", cited(read.sources)] if read.sources else []
    parts += [f"It replaces {read.replaces}."] if read.replaces else []
    parts += [f"It is no longer so: {read.replaced_by} replaced it."] if read.replaced_by else []
    return read, "\n".join(parts)


async def _list(memory: PersonsMemory, asked: ListArguments) -> Answer:
    match asked.what:
        case "lines":
            listed = await memory.list_lines(asked.since, asked.cursor, asked.limit)
        case "facts":
            listed = await memory.list_facts(asked.cursor, asked.limit)
        case "sessions":
            listed = await memory.list_sessions(asked.cursor, asked.limit)
    sessions = [f"- {one.day} session {one.id}" for one in listed.sessions]
    text = "\n".join(sessions) or (_quoted(listed.lines) if listed.lines else "There is nothing to list.")
    return listed, f"{text}\nMore: cursor {listed.next}" if listed.next else text


async def _profile(memory: PersonsMemory, asked: ProfileArguments) -> Answer:
    profile = await memory.profile()
    return profile, profile_text(profile)


async def _conclude(memory: PersonsMemory, asked: Conclude) -> Answer:
    concluded = await memory.conclude(asked.fact, asked.session, asked.source_ids)
    return concluded, f"Kept as a fact about the user: {concluded.id}"


async def _forget(memory: PersonsMemory, asked: ForgetArguments) -> Answer:
    forgotten = await memory.forget(asked.id, asked.session)
    return forgotten, f"Erased for good:\n{cited(forgotten.erased)}\n{forgotten.note}"


async def _reason(memory: PersonsMemory, asked: Reason) -> Answer:
    reasoned = await memory.reason(asked.question, asked.effort)
    if reasoned.answer is None:
        return reasoned, _quoted(reasoned.evidence, reasoned.hint)
    rests = f"\nIt rests on:\n{cited(reasoned.evidence)}" if reasoned.evidence else ""
    return reasoned, f"{reasoned.answer}{rests}"


def _quoted(lines: list[r.Cited], hint: str | None = None) -> str:
    return "\n".join(part for part in (QUOTED if lines else "", cited(lines), hint or "") if part)


def profile_text(profile: r.Profiled) -> str:
    """The profile as a few lines of text."""
    parts = [f"{QUOTED}" if profile.card or profile.known else profile.hint or ""]
    parts += ["Lasting facts:", *(f"- {fact}" for fact in profile.card)] if profile.card else []
    parts += ["Also known:", *(f"- {one}" for one in profile.known)] if profile.known else []
    return "\n".join(parts)


_TOOLS = (
    Tool("recall", RecallArguments, r.RecallResult, _recall, "get"),
    Tool("remember", Remember, r.KeptResult, _remember, "put", reads=False),
    Tool("profile", ProfileArguments, r.Profiled, _profile, "get"),
    Tool("reason", Reason, r.Reasoned, _reason, "get"),
    Tool("read", ReadArguments, r.ReadResult, _read, "get"),
    Tool("list", ListArguments, r.Listed, _list, "list"),
    Tool("conclude", Conclude, r.Concluded, _conclude, "put", reads=False),
    Tool("forget", ForgetArguments, r.ForgetResult, _forget, "forget", reads=False, erases=True),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
"""By name, in the order in which they are listed."""
