"""The model endpoints over HTTP: asked with their own keys, heard and passed on as they answer; and the
door's own refusals, in OpenAI's shape."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.telemetry import onward
from souvenance.domain.upstream import ChatSettings, Upstream, asking, below
from souvenance.errors import SouvenanceError, UpstreamUnreachable
from souvenance.extras import importing
from souvenance.http_client import is_loopback, proxy_of
from souvenance.surfaces.http.request_threads import encode, json_answer, refusal_headers
from souvenance.surfaces.http.routes import status_of
from souvenance.surfaces.http.telemetry.observer import note
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx


_BY_STATUS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_OTHERS = ("invalid_request_error", "server_error")
KINDS = (*_BY_STATUS.values(), *_OTHERS)
"""The types of errors that OpenAI's clients know."""


def refusal(error: SouvenanceError) -> Response:
    note(error)
    return json_answer(status_of(type(error)), error_body(error), refusal_headers(error))


def error_body(error: SouvenanceError) -> dict[str, Any]:
    status = status_of(type(error))
    kind = _BY_STATUS.get(status, _OTHERS[status >= 500])
    message = f"{error.detail}. {error.hint}" if error.hint else error.detail
    return {"error": {"message": message, "type": kind, "param": None, "code": error.code}}


_MOST_CHARS = 200_000
_MOST_BYTES = 32 * 1024 * 1024
_DONE = b"[DONE]"


class _AnswerMessage(Struct):
    content: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _AnswerChoice(Struct):
    index: Any = 0
    message: _AnswerMessage | None = None
    delta: _AnswerMessage | None = None
    finish_reason: Any = None


class _AnswerPart(Struct):
    text: Any = None
    refusal: Any = None


class _AnswerOutput(Struct):
    type: Any = None
    content: list[_AnswerPart] | None = None


class _AnswerChunk(Struct):
    """A completion, a response, or an event of either."""

    id: Any = None
    choices: list[_AnswerChoice] | None = None
    error: Any = None
    type: Any = None
    delta: Any = None
    output: list[_AnswerOutput] | None = None
    response: _AnswerChunk | None = None
    item: _AnswerOutput | None = None


_decode = msgspec.json.Decoder(settled(_AnswerChunk)).decode
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
"""Items of an answer after which somebody else than the endpoint has to do something."""


class HeardAnswer:
    """The first of the answers, as far as it was heard."""

    def __init__(self, *, streamed: bool) -> None:
        self._streamed = streamed
        self._events = Events()
        self._body: list[bytes] = []
        self._size = 0
        self._text: list[str] = []
        self._chars = 0
        self.calls = False
        """Whether the model wants something called before it goes on."""
        self.id = ""
        """By what name the endpoint knows it, if it is a response."""
        self.failed = False
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
        return self._ended and not self.failed

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
            self.failed = self.failed or not self._streamed
            return
        if chunk.error is not None or chunk.type in ("response.failed", "error"):
            self.failed = True
        for choice in chunk.choices or ():
            if choice.index == 0:
                self._take_choice(choice)
        if isinstance(chunk.type, str):
            self._take_event(chunk)
        elif chunk.output is not None:
            self._take_name(chunk.id)
            self._take_outputs(chunk.output)

    def _take_choice(self, choice: _AnswerChoice) -> None:
        said = choice.message or choice.delta or _AnswerMessage()
        self.calls = self.calls or bool(said.tool_calls or said.function_call)
        self.calls = self.calls or choice.finish_reason in _CALLS
        self._ended = self._ended or bool(choice.finish_reason)
        self._add(said.content if isinstance(said.content, str) and said.content else said.refusal)

    def _take_name(self, name: Any) -> None:
        self.id = name if isinstance(name, str) else self.id

    def _take_event(self, event: _AnswerChunk) -> None:
        if event.response is not None:
            self._take_name(event.response.id)
        if event.type in _TEXT_EVENTS:
            self._add(event.delta)
        elif event.type == "response.output_item.added" and event.item is not None:
            self.calls = self.calls or event.item.type in _CLIENT_CALLS
        elif event.type in _ENDS:
            self._ended = True

    def _take_outputs(self, outputs: list[_AnswerOutput]) -> None:
        for one in outputs:
            self.calls = self.calls or one.type in _CLIENT_CALLS
            for part in (one.content or ()) if one.type == "message" else ():
                self._add(part.text if isinstance(part.text, str) else part.refusal)

    def _add(self, text: Any) -> None:
        if isinstance(text, str) and self._chars < _MOST_CHARS:
            self._text.append(text[: _MOST_CHARS - self._chars])
            self._chars += len(text)


class Events:
    """The data of server-sent events, however the bytes are cut. One that is too long is not all heard."""

    def __init__(self) -> None:
        self._rest = bytearray()
        """What came of a line that is not over, as far as is known: LF may follow its CR."""
        self._data = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of every event that the chunk ends."""
        self._rest += chunk
        if b"\n" in chunk or b"\r" in chunk:
            lines = self._rest.splitlines(keepends=True)
            self._rest = bytearray() if lines[-1].endswith(b"\n") else lines.pop()
            yield from self._take(lines)
        if len(self._rest) + len(self._data) > _MOST_BYTES:
            self._rest.clear()
            self._data.clear()

    def rest(self) -> Iterator[bytes]:
        """What an event has that nothing ended."""
        yield from self._take([*self._rest.splitlines(), b""])

    def _take(self, lines: Iterable[bytes | bytearray]) -> Iterator[bytes]:
        for line in lines:
            text = line.rstrip(b"\r\n")
            if text.startswith(b"data:"):
                self._data += text[5:].removeprefix(b" ") + b"\n"
            elif not text and self._data:
                yield bytes(self._data[:-1])
                self._data.clear()


Ended = Callable[[bool], None]
"""Called when it is over, with whether there is anything to remember: not of what failed."""


class Relay(Response):
    """Ends when the endpoint does, or when the client is gone; then the endpoint is not heard to its end."""

    def __init__(
        self, answer: httpx.Response, headers: dict[str, str], heard: HeardAnswer, ended: Ended
    ) -> None:
        super().__init__(None, answer.status_code, headers)
        del self.headers["content-length"]
        self._answer = answer
        self._heard = heard
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passing, gone = asyncio.ensure_future(self._pass_on(send)), asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            well = await _result(passing)
            gone.cancel()
            await self._answer.aclose()
            self._ended(well and not self._heard.failed)

    async def _pass_on(self, send: Send) -> bool:
        """Whether all of the answer came."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        last = b""
        try:
            with reaching():
                async for chunk in self._answer.aiter_bytes():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._heard.feed(chunk)
        except UpstreamUnreachable as error:
            last = b"\n\ndata: " + encode(error_body(error)) + b"\n\n"
        self._heard.close()
        await send({"type": "http.response.body", "body": last, "more_body": False})
        return not last and self._heard.complete


async def _gone(receive: Receive) -> None:
    """Until the client is."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _result(passing: asyncio.Future[bool]) -> bool:
    """What came of it; a client that went away leaves what was heard until then."""
    passing.cancel()
    try:
        return await passing
    except (asyncio.CancelledError, OSError):
        return True


PATHS = ("/chat/completions", "/responses", "/models")
"""What endpoints are asked for."""

_CONNECT_SECONDS = 10.0
_HEADERS = {
    "accept": "*/*",
    "accept-encoding": "identity",
    "connection": "keep-alive",
    "user-agent": f"souvenance/{__version__}",
}
_SENT_ON = ("accept", "content-type", "idempotency-key", "openai-beta", "x-client-request-id")
"""Headers of a client that its endpoint may see. All else is between the client and us."""
_BETWEEN_US = """
    connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade
    content-encoding content-length set-cookie server date alt-svc strict-transport-security
    x-hermes-user-id x-hermes-session-key x-hermes-session-id x-souvenance-memory x-souvenance-recalled
    x-souvenance-recalled-ids
"""
_KEPT_BACK = frozenset(_BETWEEN_US.split())
"""Headers of an endpoint that are about its connection to us."""


class _Connection(NamedTuple):
    """How an endpoint is asked: what is the same each time."""

    transport: httpx.AsyncHTTPTransport
    headers: dict[str, str]
    addresses: dict[str, httpx.URL]
    """By path."""


class Upstreams:
    """No cookies: what an endpoint gives to one person's request must not come with another's."""

    def __init__(self, settings: ChatSettings, key: Callable[[str], str]) -> None:
        self._settings = settings
        self._key = key
        self._connections: dict[Upstream, _Connection] = {}
        self._extensions: dict[str, object] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Raises: Misconfigured."""
        with importing("client", "a chat endpoint is configured, and httpx"):
            import httpx
        timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS, pool=None)
        self._extensions = {"timeout": timeout.as_dict()}
        async with AsyncExitStack() as stack:
            for one in self._settings.upstreams:
                transport = httpx.AsyncHTTPTransport(
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
                    trust_env=not is_loopback(urlsplit(one.url).hostname or ""),
                    proxy=proxy_of(one.url),
                )
                known = {} if one.key is None else {"authorization": f"Bearer {self._key(one.key)}"}
                self._connections[one] = _Connection(
                    await stack.enter_async_context(transport),
                    {**_HEADERS, **known},
                    {path: httpx.URL(below(one.url, path)) for path in PATHS},
                )
            yield

    async def ask(
        self, upstream: Upstream, path: str, request: Request, body: bytes | None = None
    ) -> httpx.Response:
        """The endpoint's answer to a client's request, whatever it is, as far as its headers.

        Raises: UpstreamUnreachable.
        """
        import httpx

        connection, headers = self._connections[upstream], request.headers
        query, address = request.scope["query_string"].decode("latin-1"), connection.addresses.get(path)
        sent = {name: headers[name] for name in _SENT_ON if name in headers}
        known = {**connection.headers, **sent, **onward()}
        with reaching():
            if address is None or query:
                address = httpx.URL(asking(below(upstream.url, path), query))
        onward_request = httpx.Request(
            "GET" if request.method == "HEAD" else request.method,
            address,
            # The bytes that came: a value may hold others than ASCII, which httpx would refuse as text.
            headers=[(name.encode(), value.encode("latin-1")) for name, value in known.items()],
            content=body,
            extensions=self._extensions,
        )
        with reaching():
            return await connection.transport.handle_async_request(onward_request)


@contextmanager
def reaching() -> Iterator[None]:
    """Tells of a failing connection in our own words. Raises: UpstreamUnreachable."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise UpstreamUnreachable("the model endpoint did not answer in time") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise UpstreamUnreachable("the model endpoint can't be reached, or broke off") from error


async def whole(response: httpx.Response) -> bytes:
    """All of the answer. Raises: UpstreamUnreachable."""
    try:
        with reaching():
            return await response.aread()
    finally:
        await response.aclose()


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an endpoint's answer that are for the client; their names are in lower case."""
    return {
        name: value
        for name, value in headers.items()
        if name not in _KEPT_BACK and not name.startswith("access-control-")
    }
