"""The MCP server: requests answered from one person's memory, also over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast
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
)

from souvenance.agents.text_budget import cut
from souvenance.domain.frame import defuse
from souvenance.errors import InvalidInput, NotFound, SouvenanceError
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.surfaces.mcp.memory import PersonsMemory
from souvenance.surfaces.mcp.owner import MemoryOwner, Task
from souvenance.surfaces.mcp.results import QUOTED, cited, cited_message, text_of
from souvenance.surfaces.mcp.tools import TEXTS, TOOLS, Tool, profile_text
from souvenance.version import __version__

_PROFILE = "souvenance://profile"
_SESSIONS = "souvenance://sessions"
_MOST_SESSIONS = 50
_MOST_SUMMARY_CHARS = 2000

RESOURCES = [Resource(**one) for one in TEXTS["resources"]]
TEMPLATES = [ResourceTemplate(**one) for one in TEXTS["templates"]]


async def resource(memory: PersonsMemory, uri: str) -> TextResourceContents:
    """Raises: SouvenanceError; NotFound for an address that is none of these."""
    if uri == _PROFILE:
        return TextResourceContents(
            uri=uri, mime_type="text/plain", text=profile_text(await memory.profile())
        )
    if uri == _SESSIONS:
        return TextResourceContents(uri=uri, mime_type="application/json", text=await _sessions(memory))
    name = unquote(uri.removeprefix(f"{_SESSIONS}/"))
    if not uri.startswith(f"{_SESSIONS}/") or not name:
        raise NotFound("there is no such resource", hint="resources/list names them.")
    return TextResourceContents(uri=uri, mime_type="text/plain", text=await _session(memory, name))


async def _sessions(memory: PersonsMemory) -> str:
    listed = await memory.list_sessions(None, _MOST_SESSIONS)
    sessions = [
        {"id": one.id, "day": one.day, "uri": f"{_SESSIONS}/{quote(one.id, safe='')}"}
        for one in listed.sessions
    ]
    return msgspec.json.encode(sessions).decode()


async def _session(memory: PersonsMemory, name: str) -> str:
    context = await memory.session(name)
    parts = [QUOTED]
    if context.summary is not None:
        parts.append(f"Summary: {text_of(context.summary.content, most=_MOST_SUMMARY_CHARS)}")
    parts.append(cited(cited_message(one, memory.person.name) for one in context.messages))
    return "\n".join(parts)


_MOST_TASK_CHARS = 8000

_PROMPT_TEXTS: dict[str, str] = {one["name"]: one.pop("text") for one in TEXTS["prompts"]}
PROMPTS = [Prompt(**one) for one in TEXTS["prompts"]]


def prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Raises: NotFound, InvalidInput."""
    if name not in _PROMPT_TEXTS:
        raise NotFound("there is no such prompt", hint="prompts/list names them.")
    text = _PROMPT_TEXTS[name]
    if "{task}" in text:
        text = text.format(task=_task(arguments))
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def _task(arguments: Mapping[str, str]) -> str:
    task = arguments.get("task", "").strip()
    if not 0 < len(task) <= _MOST_TASK_CHARS:
        raise InvalidInput(f"task must have 1 to {_MOST_TASK_CHARS} characters")
    return task


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
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {cut(defuse(params.name), 100)}")
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
        result, text = await tool.call(memory, arguments)
    except SouvenanceError as error:
        complaint = _complaint(error)
        return _failure("\n".join(filter(None, (_words(complaint), complaint["hint"]))), complaint)
    except Exception:  # noqa: BLE001 - a defect of ours: say so, and nothing about it
        _log.exception("the tool %s failed", tool.name)
        return _failure(_words(_DEFECT), _DEFECT)
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=msgspec.to_builtins(result)
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
        _end_on_signals(scope.cancel)
        async with stdio_server(stdin=cast("Any", _standard_input())) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())


def _end_on_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has none that a loop hears; there Ctrl-C interrupts.
            loop.add_signal_handler(number, end)


def _standard_input() -> _InputLines:
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
    return _InputLines(reader)


class _InputLines:
    """Lines as they come; one that is too long becomes an empty one, which is no message."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> _InputLines:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except ValueError:
            return "\n"
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")
