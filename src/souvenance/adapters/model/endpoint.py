"""One endpoint of a model over HTTP: what it is sent, what it replies, and rest for one that fails."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any

import httpx
import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from souvenance.decoders import settled
from souvenance.domain.telemetry import onward
from souvenance.domain.upstream import below
from souvenance.http_client import bounded, client, seconds_to_wait

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


class _ReplyPart(Struct):
    text: str = ""


class _ReplyMessage(Struct):
    content: str | list[_ReplyPart] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _ReplyChoice(Struct):
    message: _ReplyMessage | None = None
    delta: _ReplyMessage | None = None
    finish_reason: str | None = None


class _Usage(Struct):
    total_tokens: int | None = None


class _ReplyChunk(Struct):
    choices: list[_ReplyChoice] = []
    usage: _Usage | None = None


_decode = msgspec.json.Decoder(settled(_ReplyChunk)).decode


class Gathering:
    """A reply as it comes in: whole, or in pieces."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, list[str]] = {}
        self._finish = ""
        self._refused = False
        self._tokens: int | None = None

    def add(self, received: bytes) -> str:
        """Take in a whole reply or one event of a stream; the words that are new.

        Raises: ValueError for what no endpoint of this kind would send.
        """
        try:
            chunk = _decode(received)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        if chunk.usage is not None and chunk.usage.total_tokens is not None:
            self._tokens = chunk.usage.total_tokens
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish = choice.finish_reason or self._finish
        said = choice.message or choice.delta or _ReplyMessage()
        self._refused = self._refused or bool(said.refusal) or choice.finish_reason == "content_filter"
        for position, call in enumerate(said.tool_calls or ()):
            index = position if choice.message is not None else call.index
            known = self._calls.setdefault(index, ["", "", ""])
            known[0] = known[0] or call.id or ""
            known[1] += call.function.name or ""
            known[2] += call.function.arguments or ""
        content = said.content or ""
        words = content if isinstance(content, str) else "".join(part.text for part in content)
        self._text.append(words)
        return words

    def reply(self) -> WireReply:
        calls = tuple(
            Call(call_id or f"call-{index}", name, arguments)
            for index, (call_id, name, arguments) in sorted(self._calls.items())
        )
        return WireReply("".join(self._text), calls, self._finish, self._refused, self._tokens)


_TOO_LONG = ("context length", "context window", "context size", "maximum context", "too many tokens")
_STATUSES = frozenset((400, 404, 405, 415, 422, 500, 501))


class Dialect(Struct, frozen=True):
    """What an endpoint takes, as far as is known. At first it is taken to take everything."""

    json: str = "schema"
    """How it can be held to JSON: by 'schema', as 'object', or by words alone ('')."""
    tools: bool = True
    temperature: bool = True
    long_name: bool = False
    """Whether the bound of a reply is called max_completion_tokens."""
    usage: bool = True
    """Whether it tells at the end of a stream what that cost."""

    def body(self, model: str, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "messages": list(prompt.messages), "stream": stream}
        body["max_completion_tokens" if self.long_name else "max_tokens"] = prompt.tokens
        if self.temperature:
            body["temperature"] = 0
        if stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        if prompt.schema is not None and self.json == "schema":
            shape = {"name": "reply", "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif prompt.schema is not None and self.json == "object":
            body["response_format"] = {"type": "json_object"}
        if prompt.tools and self.tools:
            body["tools"] = list(prompt.tools)
            body["tool_choice"] = "auto" if prompt.may_call else "none"
        return body

    def humbler(self, status: int, complaint: str, body: Mapping[str, Any]) -> Dialect | None:
        """The dialect to try after that complaint; None if it is not about what was asked for."""
        text = complaint.lower()
        if status not in _STATUSES or any(words in text for words in _TOO_LONG):
            return None
        simpler = {
            "max_tokens": replace(self, long_name=True),
            "temperature": replace(self, temperature=False),
            "stream_options": replace(self, usage=False),
            "tools": replace(self, tools=False),
            "response_format": replace(self, json="object" if self.json == "schema" else ""),
        }
        for name, words in _NAMED.items():
            if name in body and any(word in text for word in words):
                return simpler[name]
        if status in (404, 500):
            return None
        unnamed = ("response_format", "tools", "stream_options", "temperature")
        return next((simpler[name] for name in unnamed if name in body), None)


_NAMED = {
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
    "response_format": ("response_format", "json_schema", "json_object", "schema", "grammar"),
    "tools": ("tool", "function"),
}
"""By which words a complaint is known to be about which part."""


_CONNECT_SECONDS = 10.0
_MOST_BYTES = 8 * 1024 * 1024
_MOST_TOLD = 500
_LONGEST_REST_SECONDS = 60
_LONGEST_WAIT_SECONDS = 3600
_OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class Failed(Exception):
    """A call that brought no reply. `spent` tells whether it may have cost what it was allowed to cost."""

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        complaint: str = "",
        wait: int | None = None,
        spent: bool = False,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.complaint = complaint
        self.wait = wait
        self.spent = spent

    @property
    def of_the_prompt(self) -> bool:
        """Whether another prompt might do better, and not another hour."""
        return self.status in (400, 405, 413, 415, 422)


class Endpoint:
    """Any number of threads may ask it."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None,
        timeout: float,
        now: Callable[[], int],
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`transport` carries the requests in place of the network.

        Raises: Misconfigured if the environment spoils it.
        """
        self.url = url.rstrip("/")
        self.model = model
        self.dialect = Dialect()
        self._timeout = timeout
        self._now = now
        self._lock = Lock()
        self._failures = 0
        self._rests_until = 0
        self._trouble = ""
        self._open: set[Any] = set()
        self._stopped = False
        self._transport = transport
        self._client = client(
            self.url, key, limits=httpx.Limits(max_keepalive_connections=0), transport=transport
        )

    @property
    def trouble(self) -> str:
        """Why it is left alone for now; nothing if it is not."""
        return self._trouble if self.rests() else ""

    def rests(self) -> int:
        """For how many seconds it is still left alone."""
        return max(0, -(-(self._rests_until - self._now()) // 1000))

    def ask(self, body: Mapping[str, Any]) -> WireReply:
        """Raises: Failed."""
        gathering = Gathering()
        with self._asked(body) as chunks:
            content = b"".join(chunks)
            try:
                gathering.add(content)
            except ValueError as error:
                raise Failed(f"the reply can't be read: {error}", spent=True) from None
        return gathering.reply()

    def stream(self, body: Mapping[str, Any]) -> Generator[str, None, WireReply]:
        """The words as they come, and in the end the whole. Raises: Failed."""
        gathering = Gathering()
        with self._asked(body) as chunks:
            for event in _events_of(chunks):
                try:
                    words = gathering.add(event)
                except ValueError as error:
                    raise Failed(f"the stream can't be read: {error}", spent=True) from None
                if words:
                    yield words
            reply = gathering.reply()
            if not reply.finish:  # The endpoint did not say why it stopped.
                raise Failed("the stream broke off", spent=True)
        return reply

    def stop(self) -> None:
        """Break off what is under way; what is asked from now on fails at once."""
        with self._lock:
            self._stopped = True
            for one in self._open:
                _shut(one)
        if self._transport is not None:
            self._transport.close()

    @contextmanager
    def _asked(self, body: Mapping[str, Any]) -> Iterator[Iterator[bytes]]:
        """The body of the reply in chunks; whether all went well decides whether it is asked again soon."""
        if self._stopped:
            raise Failed("this process stops")
        mine: set[Any] = set()
        try:
            with self._client.stream(
                "POST",
                below(self.url, "/chat/completions"),
                content=msgspec.json.encode(body),
                headers={"content-type": "application/json", **onward()},
                timeout=httpx.Timeout(self._timeout, connect=min(_CONNECT_SECONDS, self._timeout)),
                extensions={"trace": lambda step, about: self._note(step, about, mine)},
            ) as response:
                chunks = bounded(
                    response, _MOST_BYTES, time.monotonic() + self._timeout, partial(Failed, spent=True)
                )
                if response.status_code != 200:
                    raise _refusal(response, chunks)
                yield chunks
        except httpx.HTTPError as error:
            late, reason = isinstance(error, httpx.TimeoutException), str(error) or type(error).__name__
            why = "did not answer in time" if late else f"can't be reached: {reason}"
            failed = Failed(f"the model's endpoint {why}", spent=not isinstance(error, _UNSENT))
            self._failed(failed)
            raise failed from error
        except Failed as failed:
            self._failed(failed)
            raise
        else:
            with self._lock:
                self._failures, self._rests_until = 0, 0
        finally:
            with self._lock:
                self._open -= mine

    def _note(self, step: str, about: Mapping[str, Any], mine: set[Any]) -> None:
        """Keep what a call goes over, so that it can be broken off."""
        if step not in _OPENED:
            return
        found = about["return_value"].get_extra_info("socket")
        with self._lock:
            mine.add(found)
            self._open.add(found)
            if self._stopped:
                _shut(found)

    def _failed(self, failed: Failed) -> None:
        if failed.of_the_prompt:
            return
        with self._lock:
            self._failures += 1
            rest = failed.wait or 0
            if self._failures > 1:
                rest = max(rest, min(2 ** min(self._failures, 10), _LONGEST_REST_SECONDS))
            self._rests_until = self._now() + rest * 1000
            self._trouble = failed.detail


_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def _events_of(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """What a stream tells in events, or in one whole reply if the endpoint does not stream."""
    first = next(chunks, b"")
    while first and not first.strip():
        first = next(chunks, b"")
    if first.lstrip().startswith(b"{"):
        yield b"".join((first, *chunks))
        return
    rest = b""
    for chunk in chain((first,), chunks, (b"\n",)):
        *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and (data := line[5:].strip()) and data != b"[DONE]":
                yield data


def _refusal(response: httpx.Response, chunks: Iterator[bytes]) -> Failed:
    """What the endpoint says instead of a reply."""
    complaint = b"".join(chunks)[:_MOST_BYTES].decode("utf-8", "replace")[:_MOST_TOLD]
    wait = response.headers.get("retry-after")
    return Failed(
        f"the model's endpoint answered {response.status_code}",
        status=response.status_code,
        complaint=complaint,
        wait=None if wait is None else seconds_to_wait(wait, now=time.time(), most=_LONGEST_WAIT_SECONDS),
    )


def _shut(one: Any) -> None:
    with suppress(OSError):  # It is closed already.
        one.shutdown(socket.SHUT_RDWR)
