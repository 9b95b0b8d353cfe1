"""MCP over standard input and output: one person's memory, for the program that started this one."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.surfaces.mcp.memory import PersonsMemory
from souvenance.surfaces.mcp.owner import MemoryOwner, Task
from souvenance.surfaces.mcp.server import make_server

MOST_MESSAGE_BYTES = 4 * 1024 * 1024

Call = Callable[[Task, Operation, Request], Any]
"""Asks the gate, and waits for what it answers. Raises: SouvenanceError."""


def serve_stdio(person: MemoryOwner, call: Call) -> None:
    """Answer until standard input ends, or somebody asks this process to."""
    anyio.run(_serve, person, call)


async def _serve(person: MemoryOwner, call: Call) -> None:
    async def asks(task: Task, operation: Operation, request: Request) -> Any:
        return await anyio.to_thread.run_sync(partial(call, task, operation, request), abandon_on_cancel=True)

    memory = PersonsMemory(person, asks)
    server = make_server(lambda context: memory)
    with anyio.CancelScope() as scope:
        _end_on_signals(scope.cancel)
        async with stdio_server(stdin=await _standard_input()) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())


def _end_on_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has none that a loop hears; there Ctrl-C interrupts.
            loop.add_signal_handler(number, end)


async def _standard_input() -> Any:
    """The lines of standard input, read by the loop, so that nothing waits for one when it is to end.

    None where a loop can't wait for them, as on a file; there is always a line or the end there.
    """
    if not _comes_in_time(sys.stdin.fileno()):
        return None
    reader = asyncio.StreamReader(MOST_MESSAGE_BYTES)
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    try:
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
    except NotImplementedError:  # Windows
        source.close()
        return None
    _turn_away_from_standard_input()
    return _InputLines(reader)


def _comes_in_time(descriptor: int) -> bool:
    """Whether what is read there comes when somebody writes it: from a pipe, a socket or a keyboard."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _turn_away_from_standard_input() -> None:
    """Other readers of standard input find its end from now on, and take no message away."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)


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
