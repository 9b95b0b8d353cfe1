"""The HTTP doors from outside: the gate's own `call`, over the network.

What is behind the URL may be Souvenance or, for what is asked about conversations, any server of Honcho's
v3 API. That one leaves out what only Souvenance knows, adds what nobody here does, writes times in several
ways, and refuses without Souvenance's codes.
"""

from __future__ import annotations

import math
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from types import NoneType
from typing import Any, get_args, get_origin
from urllib.parse import quote, urlencode, urlsplit

import httpx
import msgspec
from msgspec import NODEFAULT, Struct

from souvenance import errors as e
from souvenance.decoders import UNREADABLE, decodable, settled
from souvenance.domain.proof import Bound, bound_headers
from souvenance.gate.conversation.chat import ChatAnswer
from souvenance.gate.conversation.resource import BareListAnswer, Done, Note, Opened
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.http_client import authorities, bounded, by_environment, proxy_of, seconds_to_wait
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.routes import IN_HEADER, REPEATED, ROUTES, WITH_FILE, Route
from souvenance.version import __version__

MOST_ANSWER_BYTES = 64 * 1024 * 1024
"""Far more than the longest messages of a page, each of their characters escaped."""

_HEADERS = {
    "user-agent": f"souvenance/{__version__}",
    "accept": "application/json",
    "accept-encoding": "identity",
}
_TIMEOUT_SECONDS = 60.0
_CONNECTIONS = 16
_KEPT_SECONDS = 30.0

NO_KEY = "local"
"""What is sent to a server where no key is known: one that trusts this machine takes it."""

_ROUTES = {route.operation.name: route for route in (*ROUTES, *HONCHO_ROUTES)}


NO_SUCH_PATH = ("there is no such path", "Not Found")
"""What Souvenance and what Honcho say of a path that they do not have."""


class RemoteGate:
    """A gate behind a URL, for any number of threads: it answers and raises what the gate there does.

    `timeout` is what a call has for each of its steps, and for the whole of an answer that has begun. Calls
    wait for one of the `connections`.
    """

    def __init__(
        self, url: str, *, timeout: float = _TIMEOUT_SECONDS, connections: int = _CONNECTIONS
    ) -> None:
        """Raises: ServerUnreachable if that is no URL, Misconfigured if the environment spoils it."""
        try:
            base = httpx.URL(url.rstrip("/"))
            urlsplit(url)  # It refuses some that httpx takes.
        except (httpx.InvalidURL, ValueError) as error:
            raise e.ServerUnreachable(f"that is not the address of a server: {error}") from None
        self._base = base.path.rstrip("/")
        path = base.raw_path.decode().partition("?")[0].rstrip("/")
        self._address = f"{base.scheme}://{base.netloc.decode()}{path}"
        self._headers = _HEADERS | _named_in(base)
        self._timeout = timeout
        self._transport = _transport(url, connections)
        self._closed = False

    def bind(self, operation: Operation, request: Request) -> Bound:
        """What a proof of possession is made over. Raises: InvalidInput, Unsupported."""
        sent = _encoded(_route_of(operation), request)
        headers = bound_headers(sent.headers.items())
        return Bound(sent.method, f"{self._base}{sent.target}", sent.body, headers)

    def call(
        self,
        operation: Operation,
        credentials: Credentials,
        request: Request,
        *,
        timeout: float | None = None,
    ) -> Any:
        """The gate's answer. Raises: SouvenanceError."""
        route = _route_of(operation)
        sent = _encoded(route, request)
        headers = {**sent.headers, **_proving(credentials), **self._headers}
        again = not operation.writes and not credentials.proof
        answer = self._exchange(sent, headers, timeout, again=again)
        if not 200 <= answer.status < 300:
            raise _raised(route, answer, with_cap=credentials.token not in (None, "", NO_KEY))
        try:
            return _read(route, answer)
        except UNREADABLE:
            raise e.ServerUnreachable("what answers there is not Souvenance") from None

    def close(self) -> None:
        self._closed = True
        self._transport.close()

    def _exchange(
        self,
        sent: EncodedRequest,
        headers: Mapping[str, str],
        timeout: float | None,
        *,
        again: bool,
    ) -> RawAnswer:
        """What came back. Raises: ServerUnreachable. `again` allows a second try if the server closes the
        connection, as it may do with a kept one the moment it is used again."""
        if self._closed:
            raise e.ServerUnreachable("the connection to the server was closed")
        seconds = self._timeout if timeout is None else timeout
        end = time.monotonic() + seconds
        try:
            request = httpx.Request(
                sent.method,
                f"{self._address}{sent.path}",
                content=sent.body,
                headers=headers,
                extensions={"timeout": httpx.Timeout(seconds).as_dict()},
            )
            with closing(self._transport.handle_request(request)) as response:
                if self._closed:  # While this connection was made, so that it was not closed with the others.
                    response.extensions["network_stream"].close()
                return RawAnswer(response.status_code, response.headers, _content(response, end))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError) as error:
            if again and isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
                return self._exchange(sent, headers, timeout, again=False)
            reason = str(error) or type(error).__name__
            raise e.ServerUnreachable(f"no answer from the server: {reason}") from error


def _transport(url: str, connections: int) -> httpx.HTTPTransport:
    """A transport without a client around it, which would take as long again as all the rest: for cookies,
    redirects and addresses. Raises: Misconfigured."""
    with by_environment():
        return httpx.HTTPTransport(
            limits=httpx.Limits(
                max_connections=connections,
                max_keepalive_connections=connections,
                keepalive_expiry=_KEPT_SECONDS,
            ),
            verify=authorities(url),
            proxy=proxy_of(url),
        )


def _named_in(base: httpx.URL) -> dict[str, str]:
    """The header for the name and password that the address holds, if it does."""
    if not base.userinfo:
        return {}
    named = b64encode(f"{base.username}:{base.password}".encode()).decode()
    return {"authorization": f"Basic {named}"}


def _content(response: httpx.Response, end: float) -> bytes:
    """The body, if it is not too large, too slow or packed. Raises: ServerUnreachable."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise e.ServerUnreachable("the server answers in an encoding that it was not asked for")
    return b"".join(bounded(response, MOST_ANSWER_BYTES, end, e.ServerUnreachable))


def _proving(credentials: Credentials) -> dict[str, str]:
    """Raises: CapMalformed for what can't stand in a header."""
    headers = {}
    if credentials.token:
        if not _is_plain(credentials.token):
            raise e.CapMalformed("the cap holds characters that no cap has")
        headers["authorization"] = f"Bearer {credentials.token}"
    if credentials.proof:
        headers["dpop"] = credentials.proof
    return headers


def _route_of(operation: Operation) -> Route:
    """Raises: Unsupported."""
    found = _ROUTES.get(operation.name)
    if found is None:
        raise e.Unsupported(
            f"{operation.name} is not served over HTTP",
            hint="Run it on the machine that has the data folder.",
        )
    return found


_JSON = "application/json"
_ELSEWHERE = frozenset({"stream", *WITH_FILE})
"""Fields that no body has: what is never asked for, and the file of a form."""


class EncodedRequest(Struct, frozen=True):
    method: str
    path: str
    target: str
    """The path as the server reads it: what a proof is bound to."""
    body: bytes
    headers: Mapping[str, str]


def _encoded(route: Route, request: Request) -> EncodedRequest:
    """Raises: InvalidInput for what can't be sent."""
    try:
        given = _given(request)
        body, media = _body(route, request, given)
        headers = {"content-type": media}
        for name in route.in_header:
            if name in given:
                if not _is_plain(given[name]):
                    raise e.InvalidInput(f"{name} holds characters that no header may have")
                headers[IN_HEADER[name]] = given[name]
        asked = {name: _text(value) for name, value in given.items() if name in route.in_query}
        query = f"?{urlencode(asked, doseq=True)}" if asked else ""
        names = {name: _segment(name, getattr(request, name)) for name in route.in_path}
        path = route.path.format_map({name: quote(value, safe="") for name, value in names.items()})
        target = route.path.format_map(names)
        return EncodedRequest(route.method, path + query, target + query, body, headers)
    except UnicodeEncodeError:
        raise e.InvalidInput("the request holds a lone surrogate") from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise e.InvalidInput(f"the request can't be sent: {error}") from None


def _body(route: Route, request: Any, given: dict[str, Any]) -> tuple[bytes, str]:
    there = [name for name in route.in_body if name in given and name not in _ELSEWHERE]
    fields = {name: given[name] for name in there}
    if route.form:
        return _form(request, fields)
    if not route.in_body:
        return b"", _JSON
    return msgspec.json.encode(fields if route.whole is None else fields[route.whole]), _JSON


def _is_plain(text: str) -> bool:
    """Whether it can stand in a header."""
    return text.isascii() and text.isprintable()


def _given(asked: Struct) -> dict[str, Any]:
    """What differs from the defaults: another server may refuse what it does not know."""
    config = type(asked).__struct_config__
    given = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, default in _defaults(type(asked)).items():
        if (value := getattr(asked, name)) != default:
            given[name] = _plain(value)
    return given


@cache
def _defaults(kind: type[Struct]) -> dict[str, Any]:
    return {
        field.name: field.default if field.default_factory is NODEFAULT else field.default_factory()
        for field in msgspec.structs.fields(kind)
    }


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            return _given(value)
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case datetime() if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        case float() if not math.isfinite(value):
            raise ValueError("it holds a number that is not finite")
        case _:
            return value


def _text(value: Any) -> Any:
    """How a value stands in a query or a form."""
    match value:
        case str():
            return value
        case list():
            return [_text(one) for one in value]
        case _:
            return msgspec.json.encode(value).decode().strip('"')


def _segment(field: str, name: str) -> str:
    """A name in a path. One that would lead to another path is refused."""
    if name in ("", ".", "..") or "/" in name:
        raise e.InvalidInput(f"{field} can't be {name!r}")
    return name


def _form(request: Any, fields: dict[str, Any]) -> tuple[bytes, str]:
    """A form with the file; the boundary comes of the file, so that a proof can be made over it before."""
    name = request.filename or "file"
    form = httpx.Request(
        "POST",
        "http://form",
        data={field: _text(value) for field, value in fields.items()},
        files={"file": (name, request.file, request.media_type or _guessed(name))},
        headers={"content-type": f"multipart/form-data; boundary={sha256(request.file).hexdigest()}"},
    )
    return form.read(), form.headers["content-type"]


def _guessed(filename: str) -> str:
    """The type that a name stands for where servers agree about it; others are left to the server."""
    guess = guess_type(filename)[0] or ""
    known = guess.startswith("text/") or guess in (_JSON, "application/pdf")
    return guess if known else "application/octet-stream"


_CONVERSATIONS = "/v3/"
_MOST_TOLD_CHARS = 2000
_LONGEST_WAIT_SECONDS = 24 * 3600
_Mending = Callable[[Any], Any]


class RawAnswer(Struct, frozen=True):
    status: int
    headers: httpx.Headers
    content: bytes


def _read(route: Route, answer: RawAnswer) -> Any:
    """The answer that the gate there gave. Raises: `UNREADABLE` for what is not one."""
    kind = route.operation.answer
    if not route.path.startswith(_CONVERSATIONS):
        return msgspec.json.decode(answer.content, type=settled(kind))
    if kind is Done:
        return Done()
    found = msgspec.json.decode(answer.content) if answer.content.strip() else None
    if issubclass(kind, BareListAnswer):
        items, repeated = msgspec.structs.fields(kind)
        return kind(
            _converted(found, items.type),
            msgspec.convert(answer.headers.get(REPEATED, "0"), settled(repeated.type), strict=False),
        )
    if kind is Note and not isinstance(found, dict):
        return Note()
    if kind is ChatAnswer and isinstance(found, dict):
        found["content"] = found.get("content") or None
    shown = _converted(found, kind)
    return shown if route.existing is None else Opened(shown, created=answer.status == route.status)


def _converted(found: Any, kind: Any) -> Any:
    mend = _mending(kind)
    return msgspec.convert(found if mend is None else mend(found), settled(kind))


@cache
def _mending(kind: Any) -> _Mending | None:
    """What fills in what was left out and makes every time one of UTC; None if there is nothing to mend."""
    if kind is datetime:
        return _moment
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _mending_fields(kind)
    parts = [part for part in get_args(kind) if part is not NoneType]
    mend = _mending(parts[-1]) if parts else None
    if mend is None:
        return None

    def mended(found: Any) -> Any:
        match found:
            case list():
                return [mend(one) for one in found]
            case dict() if get_origin(kind) is dict:
                return {key: mend(one) for key, one in found.items()}
            case _:
                return None if found is None else mend(found)

    return mended


def _mending_fields(kind: type[Struct]) -> _Mending:
    """What is left out or null has its default, or else is null or an empty object, if it may be that."""
    fields = [(field, get_args(field.type), get_origin(field.type)) for field in msgspec.structs.fields(kind)]
    left_out: dict[str, Any] = {field.name: {} for field, _, origin in fields if origin is dict}
    left_out |= {field.name: None for field, args, _ in fields if NoneType in args}
    parts = {field.name: mend for field, _, _ in fields if (mend := _mending(field.type))}

    def mended(found: Any) -> Any:
        if not isinstance(found, dict):
            return found
        whole = {**left_out, **{name: one for name, one in found.items() if one is not None}}
        for name in parts.keys() & whole.keys():
            whole[name] = parts[name](whole[name])
        return whole

    return mended


def _moment(text: Any) -> Any:
    """Raises: ValueError."""
    if not isinstance(text, str):
        return text
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


_BY_STATUS: dict[int, type[e.SouvenanceError]] = {
    401: e.CapSigInvalid,
    402: e.Denied,
    403: e.CapScopeMismatch,
    404: e.NotFound,
    405: e.Unsupported,
    408: e.Unavailable,
    409: e.Conflict,
    413: e.BodyTooLarge,
    415: e.UnsupportedType,
    425: e.Unavailable,
    429: e.RateLimited,
    501: e.Unsupported,
}
"""What a status means where no code of ours says more; others mean a bad request, or a server that failed."""

_PLAIN_SPOKEN = (413, 429)
"""Statuses that mean the same from any server, also from a proxy that knows no JSON."""


def _raised(route: Route, answer: RawAnswer, *, with_cap: bool) -> e.SouvenanceError:
    complaint = _complaint(answer.content)
    if not complaint and answer.status not in _PLAIN_SPOKEN:
        if "location" in answer.headers and answer.status < 400:
            return e.ServerUnreachable(
                f"the server answered {answer.status} and points elsewhere",
                hint="Use the address that it points to, if that one may have the cap.",
            )
        return e.ServerUnreachable(f"the server answered {answer.status}, and not as Souvenance does")
    detail = _detail(complaint) or f"the server answered {answer.status}"
    code, hint = complaint.get("error"), complaint.get("hint")
    kind = _BY_CODE.get(code) if isinstance(code, str) else None
    kind = kind or _by_status(answer.status, route, with_cap)
    hint = hint if isinstance(hint, str) else None
    if issubclass(kind, e.RateLimited):
        wait = seconds_to_wait(
            answer.headers.get("retry-after", ""), now=time.time(), most=_LONGEST_WAIT_SECONDS
        )
        return kind(detail, retry_after=wait, hint=hint)
    return kind(detail, hint=hint)


def _by_status(status: int, route: Route, with_cap: bool) -> type[e.SouvenanceError]:
    if status == 401 and not with_cap:
        return e.CapMissing
    if status == 413 and route.form:
        return e.FileTooLarge
    return _BY_STATUS.get(status) or (e.InvalidInput if status < 500 else e.Unavailable)


def _complaint(content: bytes) -> dict[str, Any]:
    """What a refusal says; empty for one that neither Souvenance nor Honcho would write."""
    found = decodable(content, dict[str, Any])
    return found if found and _detail(found) else {}


def _detail(complaint: Mapping[str, Any]) -> str:
    for name in ("detail", "message", "error"):
        match complaint.get(name):
            case str(text) if text:
                return text[:_MOST_TOLD_CHARS]
            case list(problems) if problems:
                return "; ".join(_problem(one) for one in problems)[:_MOST_TOLD_CHARS]
    return ""


def _problem(one: Any) -> str:
    """One fault of a request in FastAPI's words: where it is, and what it is."""
    if not isinstance(one, dict):
        return str(one)
    where = one.get("loc")
    steps = ".".join(str(step) for step in where) if isinstance(where, list) else ""
    return f"{steps}: {one.get('msg', '')}".strip(": ")


_BY_CODE = {
    kind.code: kind
    for kind in vars(e).values()
    if isinstance(kind, type) and issubclass(kind, e.SouvenanceError)
}
