"""What a model said, put together from a copy of its answer: whole, or event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from souvenance.decoders import UNREADABLE, settled

_MOST_CHARS = 200_000
_MOST_BYTES = 32 * 1024 * 1024
_DONE = b"[DONE]"


class _Said(Struct):
    content: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(Struct):
    index: Any = 0
    message: _Said | None = None
    delta: _Said | None = None
    finish_reason: Any = None


class _Part(Struct):
    text: Any = None
    refusal: Any = None


class _Output(Struct):
    type: Any = None
    content: list[_Part] | None = None


class _Response(Struct):
    id: Any = None
    status: Any = None
    output: list[_Output] | None = None


class _Chunk(Struct):
    """A completion, a response, or an event of either."""

    id: Any = None
    choices: list[_Choice] | None = None
    error: Any = None
    type: Any = None
    delta: Any = None
    status: Any = None
    output: list[_Output] | None = None
    response: _Response | None = None
    item: _Output | None = None


_decode = msgspec.json.Decoder(settled(_Chunk)).decode
_TEXT_EVENTS = ("response.output_text.delta", "response.refusal.delta")
_ENDS = ("response.completed", "response.incomplete")
_CALLS = ("tool_calls", "function_call")
_CLIENT_CALLS = (
    "function_call",
    "custom_tool_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "mcp_approval_request",
)


class ModelAnswer:
    """The first of the answers, as far as it was heard."""

    def __init__(self, *, streamed: bool) -> None:
        self._streamed = streamed
        self._events = Events()
        self._body: list[bytes] = []
        self._size = 0
        self._text: list[str] = []
        self._chars = 0
        self._calls = False
        self._id = ""
        self._failed = False
        self._ended = False

    def feed(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._streamed:
            for data in self._events.feed(chunk):
                self._take(data)
        elif self._size <= _MOST_BYTES:
            self._body.append(chunk)

    def close(self) -> None:
        """No more will come: what the endpoint had to say, it has said."""
        for data in self._events.rest() if self._streamed else [b"".join(self._body)]:
            self._take(data)
        self._ended = self._ended or not self._streamed

    @property
    def complete(self) -> bool:
        """Whether the answer came to its end, and is one."""
        return self._ended and not self._failed

    @property
    def failed(self) -> bool:
        return self._failed

    @property
    def calls(self) -> bool:
        """Whether the model wants something called before it goes on."""
        return self._calls

    @property
    def id(self) -> str:
        """By what name the endpoint knows it, if it is a response."""
        return self._id

    @property
    def text(self) -> str:
        return "".join(self._text)

    def _take(self, data: bytes) -> None:
        if data == _DONE:
            self._ended = True
            return
        try:
            chunk = _decode(data)
        except UNREADABLE:
            self._failed = self._failed or not self._streamed
            return
        if chunk.error is not None or chunk.type in ("response.failed", "error"):
            self._failed = True
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._take_choice(choice)
        if isinstance(chunk.type, str):
            self._take_event(chunk)
        elif chunk.output is not None:
            self._take_name(chunk.id)
            self._take_outputs(chunk.output)

    def _take_choice(self, choice: _Choice) -> None:
        said = choice.message or choice.delta or _Said()
        self._calls = self._calls or bool(said.tool_calls or said.function_call)
        self._calls = self._calls or choice.finish_reason in _CALLS
        self._ended = self._ended or bool(choice.finish_reason)
        self._add(said.content if isinstance(said.content, str) and said.content else said.refusal)

    def _take_name(self, name: Any) -> None:
        self._id = name if isinstance(name, str) else self._id

    def _take_event(self, event: _Chunk) -> None:
        if event.response is not None:
            self._take_name(event.response.id)
        if event.type in _TEXT_EVENTS:
            self._add(event.delta)
        elif event.type == "response.output_item.added" and event.item is not None:
            self._calls = self._calls or _is_call(event.item)
        elif event.type in _ENDS:
            self._ended = True

    def _take_outputs(self, outputs: list[_Output]) -> None:
        for one in outputs:
            self._calls = self._calls or _is_call(one)
            for part in (one.content or ()) if one.type == "message" else ():
                self._add(part.text if isinstance(part.text, str) else part.refusal)

    def _add(self, text: Any) -> None:
        if isinstance(text, str) and self._chars < _MOST_CHARS:
            self._text.append(text[: _MOST_CHARS - self._chars])
            self._chars += len(text)


def _is_call(item: _Output) -> bool:
    """Whether somebody else than the endpoint has to do something now."""
    return item.type in _CLIENT_CALLS


class Events:
    """The data of server-sent events, however the bytes are cut."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._lost = False
        self._after_return = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of every event that the chunk ends."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            yield from self._end_line(line)
        self._keep(rest)

    def rest(self) -> Iterator[bytes]:
        """What an event has that nothing ended."""
        yield from self._end_line(b"")
        yield from self._end_event()

    def _keep(self, part: bytes) -> None:
        self._lost = self._lost or len(self._line) + len(part) > _MOST_BYTES
        if self._lost:
            self._line.clear()
        else:
            self._line += part

    def _end_line(self, part: bytes) -> Iterator[bytes]:
        self._keep(part)
        line, lost = bytes(self._line), self._lost
        self._line.clear()
        self._lost = False
        if not line and not lost:
            yield from self._end_event()
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))

    def _end_event(self) -> Iterator[bytes]:
        if self._data:
            yield b"\n".join(self._data)
            self._data.clear()
