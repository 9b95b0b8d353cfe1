"""The MCP server: tools, resources and prompts on one person's memory, also over standard input and output.

No argument of a tool names a person, a workspace or a namespace: those are the token's. What models read
of this door is in `texts.toml`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from importlib import resources
from typing import Annotated, Any, Literal, TypeVar, cast, get_type_hints
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
import msgspec
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    GetPromptResult,
    Prompt,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as Declared
from msgspec import Meta, Struct
from msgspec.structs import asdict

from souvenance.agents.text_budget import cut
from souvenance.decoders import settled
from souvenance.domain.frame import defuse, framed
from souvenance.errors import InvalidInput, NotFound, SouvenanceError
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.surfaces.mcp import results as r
from souvenance.surfaces.mcp.memory import MemoryOwner, PersonsMemory, Task
from souvenance.surfaces.mcp.results import cite, cited, text_of
from souvenance.version import __version__

TEXTS = tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))
"""What models and people read of this door."""
MOST_STATEMENTS = 10
MOST_STATEMENT_CHARS = 4000
MOST_QUESTION_CHARS = 2000
MOST_LINES = 20
MOST_SOURCES = 10

_Statement = Annotated[str, Meta(min_length=1, max_length=MOST_STATEMENT_CHARS)]
_Question = Annotated[str, Meta(min_length=1, max_length=MOST_QUESTION_CHARS)]
_Id = Annotated[str, Meta(pattern=r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$", examples=["01JD7Y8Q2W3E4R5T6Y7V8J9K0M"])]
_Session = Annotated[str, Meta(min_length=1, max_length=512)]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of a tool's arguments; one that is not known is refused by name."""


class Remember(Arguments, frozen=True):
    statements: Annotated[tuple[_Statement, ...], Meta(min_length=1, max_length=MOST_STATEMENTS)]
    happened_on: date | None = None
    expires_on: date | None = None


class RecallArguments(Arguments, frozen=True):
    question: _Question
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES)] = 5


class OfLine(Arguments, frozen=True):
    id: _Id
    session: _Session | None = None


class ListArguments(Arguments, frozen=True):
    what: Literal["lines", "facts", "sessions"] = "facts"
    since: date | None = None
    cursor: Annotated[str, Meta(max_length=128)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES)] = 10


class Conclude(Arguments, frozen=True):
    fact: _Statement
    session: _Session | None = None
    source_ids: Annotated[tuple[_Id, ...], Meta(max_length=MOST_SOURCES)] = ()


class Reason(Arguments, frozen=True):
    question: _Question
    effort: Literal["minimal", "low", "medium", "high"] = "low"


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """The schema of a struct, with what it refers to beside it."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root = parts.pop(kind.__name__)
    for part in (root, *parts.values()):
        part.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": parts} if parts else root


class Tool(Struct, frozen=True):
    name: str
    arguments: type[Arguments]
    work: Callable[..., Awaitable[r.Result]]
    """Takes the arguments by their names."""
    op: str
    """The right without which a cap can't use it."""
    reads: bool = True
    erases: bool = False

    def declared(self) -> Declared:
        texts, schema = TEXTS["tools"][self.name], schema_of(self.arguments)
        for name, text in texts.get("arguments", {}).items():
            schema["properties"][name]["description"] = text
        return Declared(
            name=self.name,
            title=texts["title"],
            description=texts["description"],
            input_schema=schema,
            output_schema=schema_of(get_type_hints(self.work)["return"]),
            annotations=ToolAnnotations(
                title=texts["title"],
                read_only_hint=self.reads,
                destructive_hint=self.erases,
                idempotent_hint=self.reads or self.erases,
                open_world_hint=False,
            ),
        )

    async def call(self, memory: PersonsMemory, arguments: Mapping[str, Any]) -> r.Result:
        """Raises: SouvenanceError."""
        try:
            read = msgspec.convert(dict(arguments), settled(self.arguments))
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidInput(
                f"the arguments of {self.name} can't be read: {error}",
                hint=f"{self.name} takes {self._takes()}.",
            ) from None
        return await self.work(memory, **asdict(read))

    def _takes(self) -> str:
        schema = schema_of(self.arguments)
        needed = schema.get("required", ())
        names = [f"{name} (required)" if name in needed else name for name in schema["properties"]]
        return ", ".join(names) or "no arguments"


_TOOLS = (
    Tool("recall", RecallArguments, PersonsMemory.recall, "get"),
    Tool("remember", Remember, PersonsMemory.remember, "put", reads=False),
    Tool("profile", Arguments, PersonsMemory.profile, "get"),
    Tool("reason", Reason, PersonsMemory.reason, "get"),
    Tool("read", OfLine, PersonsMemory.read, "get"),
    Tool("list", ListArguments, PersonsMemory.list, "list"),
    Tool("conclude", Conclude, PersonsMemory.conclude, "put", reads=False),
    Tool("forget", OfLine, PersonsMemory.forget, "forget", reads=False, erases=True),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
"""By name, in the order in which they are listed."""


_PROFILE = "souvenance://profile"
_SESSIONS = "souvenance://sessions"
_MOST_SESSIONS = 50
_MOST_SUMMARY_CHARS = 2000

RESOURCES = [Resource(**one) for one in TEXTS["resources"]]
TEMPLATES = [ResourceTemplate(**one) for one in TEXTS["templates"]]


async def resource(memory: PersonsMemory, uri: str) -> TextResourceContents:
    """Raises: SouvenanceError; NotFound for an address that is none of these."""
    if uri == _PROFILE:
        return TextResourceContents(uri=uri, mime_type="text/plain", text=(await memory.profile()).told())
    if uri == _SESSIONS:
        return TextResourceContents(uri=uri, mime_type="application/json", text=await _sessions(memory))
    name = unquote(uri.removeprefix(f"{_SESSIONS}/"))
    if not uri.startswith(f"{_SESSIONS}/") or not name:
        raise NotFound("there is no such resource", hint="resources/list names them.")
    return TextResourceContents(uri=uri, mime_type="text/plain", text=await _session(memory, name))


async def _sessions(memory: PersonsMemory) -> str:
    sessions = [
        {"id": one.id, "day": one.day, "uri": f"{_SESSIONS}/{quote(one.id, safe='')}"}
        for one in (await memory.list_sessions(None, _MOST_SESSIONS)).sessions
    ]
    return msgspec.json.encode(sessions).decode()


async def _session(memory: PersonsMemory, name: str) -> str:
    context = await memory.session(name)
    parts = [cited(cite(one, memory.person.name) for one in context.messages)]
    if context.summary is not None:
        parts.insert(0, f"- Summary: {text_of(context.summary.content, most=_MOST_SUMMARY_CHARS)}")
    return framed("\n".join(parts))


_MOST_TASK_CHARS = 8000

_PROMPT_TEXTS: dict[str, str] = {one["name"]: one.pop("text") for one in TEXTS["prompts"]}
PROMPTS = [Prompt(**one) for one in TEXTS["prompts"]]


def prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Raises: NotFound, InvalidInput."""
    if name not in _PROMPT_TEXTS:
        raise NotFound("there is no such prompt", hint="prompts/list names them.")
    text = _PROMPT_TEXTS[name]
    if "{task}" in text:
        task = arguments.get("task", "").strip()
        if not 0 < len(task) <= _MOST_TASK_CHARS:
            raise InvalidInput(f"task must have 1 to {_MOST_TASK_CHARS} characters")
        text = text.format(task=task)
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


_log = logging.getLogger("souvenance.mcp")

_DEFECT = {"error": "internal_error", "detail": "Souvenance failed"}
_MOST_COMPLAINT_CHARS = 300
_Answer = TypeVar("_Answer")

Context = Any
MemoryOf = Callable[[Context], PersonsMemory]
"""Whose memory a request is about: told by how it came in, never by what it says."""

_DECLARED = {name: tool.declared() for name, tool in TOOLS.items()}


def make_server(memory_of: MemoryOf) -> Server[Any]:
    """The server, for any transport of the protocol's."""

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        granted = memory_of(context).person.ops
        return types.ListToolsResult(
            tools=[_DECLARED[tool.name] for tool in TOOLS.values() if tool.op in granted]
        )

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            unknown = f"Unknown tool: {cut(defuse(params.name), 100)}. There are: {', '.join(TOOLS)}"
            raise MCPError(types.INVALID_PARAMS, unknown)
        return await _called(tool, memory_of(context), params.arguments or {})

    async def list_resources(context: Context, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=RESOURCES)

    async def list_templates(context: Context, params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        contents = await _answered(resource(memory_of(context), str(params.uri)))
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(context: Context, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=PROMPTS)

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        async def made() -> types.GetPromptResult:
            return prompt(params.name, params.arguments or {})

        return await _answered(made())

    return Server(
        "souvenance",
        version=__version__,
        title="Souvenance",
        description="Long-term memory behind a gate.",
        instructions=TEXTS["instructions"],
        get_tool_input_schema=lambda name: _DECLARED[name].input_schema if name in _DECLARED else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _called(tool: Tool, memory: PersonsMemory, arguments: dict[str, Any]) -> types.CallToolResult:
    """What came of a call. An error goes to the model, with a code and a hint."""
    try:
        result = await tool.call(memory, arguments)
    except SouvenanceError as error:
        complaint = _complaint(error)
        return _failure("\n".join(filter(None, (_words(complaint), complaint["hint"]))), complaint)
    except Exception:  # noqa: BLE001 - a defect of ours: say so, and nothing about it
        _log.exception("the tool %s failed", tool.name)
        return _failure(_words(_DEFECT), _DEFECT)
    return types.CallToolResult(
        content=[types.TextContent(text=result.told())], structured_content=msgspec.to_builtins(result)
    )


def _failure(text: str, content: dict[str, str]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=content, is_error=True
    )


async def _answered(work: Awaitable[_Answer]) -> _Answer:
    """What the work answers. Raises: MCPError with our code and hint."""
    try:
        return await work
    except SouvenanceError as error:
        complaint = _complaint(error)
        raise MCPError(types.INVALID_PARAMS, _words(complaint), complaint) from None
    except Exception:  # noqa: BLE001 - a defect of ours: say so, and nothing about it
        _log.exception("a request failed")
        raise MCPError(types.INTERNAL_ERROR, _words(_DEFECT)) from None


def _words(complaint: dict[str, str]) -> str:
    return f"{complaint['error']}: {complaint['detail']}"


def _complaint(error: SouvenanceError) -> dict[str, str]:
    detail = cut(defuse(error.detail), _MOST_COMPLAINT_CHARS)
    return {"error": error.code, "detail": detail, "hint": error.hint}


MOST_MESSAGE_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 64 * 1024

Call = Callable[[Task, Operation, Request], Any]
"""Asks the gate, and waits for what it answers. Raises: SouvenanceError."""


def serve_stdio(person: MemoryOwner, call: Call) -> None:
    """Answer until standard input ends, or somebody asks this process to."""
    anyio.run(_serve_stdio, person, call)


async def _serve_stdio(person: MemoryOwner, call: Call) -> None:
    async def asks(task: Task, operation: Operation, request: Request) -> Any:
        return await anyio.to_thread.run_sync(partial(call, task, operation, request), abandon_on_cancel=True)

    memory = PersonsMemory(person, asks)
    server = make_server(lambda context: memory)
    with anyio.CancelScope() as scope:
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows has none that a loop hears.
                asyncio.get_running_loop().add_signal_handler(number, scope.cancel)
        async with stdio_server(stdin=cast("Any", _standard_input())) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())


def _standard_input() -> AsyncIterator[str]:
    """The lines of standard input, read in a thread that nobody waits for when this is to end. Other readers
    of standard input find its end from now on, and take no message away."""
    reader, loop = asyncio.StreamReader(MOST_MESSAGE_BYTES), asyncio.get_running_loop()
    source, nothing = os.dup(sys.stdin.fileno()), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)

    def read() -> None:
        with suppress(OSError):  # The terminal is gone.
            while chunk := os.read(source, _PIECE_BYTES):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
        with suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=read, name="souvenance-input", daemon=True).start()
    return _lines(reader)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    """Lines as they come; one that is too long becomes an empty one, which is no message."""
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            line = b"\n"
        if not line:
            return
        yield line.decode("utf-8", "replace")
