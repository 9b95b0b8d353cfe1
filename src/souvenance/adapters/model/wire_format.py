"""What goes over the wire to a chat-completions endpoint, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from souvenance.decoders import settled

Message = Mapping[str, Any]


class Prompt(Struct, frozen=True):
    """One thing to ask of a model."""

    messages: Sequence[Message]
    tokens: int
    """How long the reply may be."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the reply must follow."""
    tools: Sequence[Mapping[str, Any]] = ()
    may_call: bool = True
    """Whether it may call the tools now, or has had its turns at that."""


class Call(Struct, frozen=True):
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: str


class WireReply(Struct, frozen=True):
    text: str
    calls: tuple[Call, ...] = ()
    finish: str = "stop"
    refused: bool = False
    tokens: int | None = None
    """What it cost in all, as far as the endpoint says."""

    @property
    def truncated(self) -> bool:
        return self.finish == "length"


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(Struct):
    index: int = 0
    id: str | None = None
    function: _Function = field(default_factory=_Function)


class _Part(Struct):
    text: str = ""


class _Said(Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(Struct):
    message: _Said | None = None
    delta: _Said | None = None
    finish_reason: str | None = None


class _Usage(Struct):
    total_tokens: int | None = None


class _Chunk(Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None


_decode = msgspec.json.Decoder(settled(_Chunk)).decode


class Gathering:
    """A reply as it comes in: whole, or in pieces."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, list[str]] = {}
        self._finish = ""
        self._refused = False
        self._tokens: int | None = None

    def add(self, content: bytes) -> str:
        """Take in a whole reply or one event of a stream; the words that are new.

        Raises: ValueError for what no endpoint of this kind would send.
        """
        try:
            chunk = _decode(content)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        if chunk.usage is not None and chunk.usage.total_tokens is not None:
            self._tokens = chunk.usage.total_tokens
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish = choice.finish_reason or self._finish
        said = choice.message or choice.delta or _Said()
        self._refused = self._refused or bool(said.refusal) or choice.finish_reason == "content_filter"
        for position, call in enumerate(said.tool_calls or ()):
            self._take(call, position if choice.message is not None else call.index)
        words = _words(said)
        self._text.append(words)
        return words

    def _take(self, call: _ToolCall, index: int) -> None:
        known = self._calls.setdefault(index, ["", "", ""])
        known[0] = known[0] or call.id or ""
        known[1] += call.function.name or ""
        known[2] += call.function.arguments or ""

    @property
    def ended(self) -> bool:
        """Whether the endpoint said why it stopped."""
        return bool(self._finish)

    def reply(self) -> WireReply:
        calls = tuple(
            Call(call_id or f"call-{index}", name, arguments)
            for index, (call_id, name, arguments) in sorted(self._calls.items())
        )
        return WireReply("".join(self._text), calls, self._finish, self._refused, self._tokens)


def _words(said: _Said) -> str:
    match said.content:
        case str(text):
            return text
        case list(parts):
            return "".join(part.text for part in parts)
        case _:
            return ""


def events(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The data of each event of a stream, up to its end."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        yield from _data(lines)
    yield from _data([rest])


def _data(lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        if line.startswith(b"data:") and (told := line[5:].strip()) and told != b"[DONE]":
            yield told
