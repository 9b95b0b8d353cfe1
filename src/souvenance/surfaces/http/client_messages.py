"""What a gate behind a URL is asked and answers, as it is sent: the other half of what the doors do.

A server of Honcho's API leaves out what only Souvenance knows, adds what nobody here does, writes times in
several ways, and refuses without Souvenance's codes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from types import NoneType
from typing import Any, get_args, get_origin
from urllib.parse import quote, urlencode

import httpx
import msgspec
from msgspec import NODEFAULT, Struct

from souvenance import errors as e
from souvenance.decoders import settled
from souvenance.domain.retry_after import seconds_to_wait
from souvenance.gate.conversation.chat import ChatAnswer
from souvenance.gate.conversation.resource import BareListAnswer, Done, Note, Opened
from souvenance.gate.messages import Request
from souvenance.surfaces.http.routes import IN_HEADER, REPEATED, WITH_FILE, Route

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


class RequestWriter:
    """Writes a route's requests; where each field stands is looked up once."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self._in_path = route.in_path
        self._in_header = route.in_header
        self._in_query = frozenset(route.in_query)
        self._in_body = frozenset(route.in_body) - _ELSEWHERE

    def written(self, request: Request) -> EncodedRequest:
        """Raises: InvalidInput for what can't be sent."""
        try:
            return self._written(request)
        except UnicodeEncodeError:
            raise e.InvalidInput("the request holds a lone surrogate") from None
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise e.InvalidInput(f"the request can't be sent: {error}") from None

    def _written(self, request: Request) -> EncodedRequest:
        given = _given(request)
        body, media = self._body(request, {name: one for name, one in given.items() if name in self._in_body})
        headers = {"content-type": media}
        for name in self._in_header:
            if name in given:
                headers[IN_HEADER[name]] = _header(name, given[name])
        asked = {name: _text(value) for name, value in given.items() if name in self._in_query}
        query = f"?{urlencode(asked, doseq=True)}" if asked else ""
        names = {name: _segment(name, getattr(request, name)) for name in self._in_path}
        path = self.route.path.format_map({name: quote(value, safe="") for name, value in names.items()})
        target = self.route.path.format_map(names)
        return EncodedRequest(self.route.method, path + query, target + query, body, headers)

    def _body(self, request: Any, fields: dict[str, Any]) -> tuple[bytes, str]:
        if self.route.form:
            return _form(request, fields)
        if not self._in_body:
            return b"", _JSON
        return msgspec.json.encode(fields if self.route.whole is None else fields[self.route.whole]), _JSON


def is_plain(text: str) -> bool:
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


def _header(field: str, value: str) -> str:
    if not is_plain(value):
        raise e.InvalidInput(f"{field} holds characters that no header may have")
    return value


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


def read(route: Route, answer: RawAnswer) -> Any:
    """The answer that the gate there gave. Raises: `UNREADABLE` for what is not one."""
    kind = route.operation.answer
    if not route.path.startswith(_CONVERSATIONS):
        return msgspec.json.decode(answer.content, type=settled(kind))
    if kind is Done:
        return Done()
    found = msgspec.json.decode(answer.content) if answer.content.strip() else None
    if issubclass(kind, BareListAnswer):
        items, repeated = msgspec.structs.fields(kind)
        repeated_count = answer.headers.get(REPEATED, "0")
        return kind(
            _converted(found, items.type),
            msgspec.convert(repeated_count, settled(repeated.type), strict=False),
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
    match get_origin(kind):
        case origin if origin is list:
            return lambda found: [mend(one) for one in found] if isinstance(found, list) else found
        case origin if origin is dict:
            return lambda found: (
                {key: mend(one) for key, one in found.items()} if isinstance(found, dict) else found
            )
        case _:
            return lambda found: None if found is None else mend(found)


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


def raised(route: Route, answer: RawAnswer, *, with_cap: bool) -> e.SouvenanceError:
    """The error that the gate there raised."""
    complaint = _complaint(answer.content)
    if not complaint and answer.status not in _PLAIN_SPOKEN:
        return _foreign(answer)
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


def _foreign(answer: RawAnswer) -> e.ServerUnreachable:
    if "location" in answer.headers and answer.status < 400:
        return e.ServerUnreachable(
            f"the server answered {answer.status} and points elsewhere",
            hint="Use the address that it points to, if that one may have the cap.",
        )
    return e.ServerUnreachable(f"the server answered {answer.status}, and not as Souvenance does")


def _by_status(status: int, route: Route, with_cap: bool) -> type[e.SouvenanceError]:
    if status == 401 and not with_cap:
        return e.CapMissing
    if status == 413 and route.form:
        return e.FileTooLarge
    return _BY_STATUS.get(status) or (e.InvalidInput if status < 500 else e.Unavailable)


def _complaint(content: bytes) -> dict[str, Any]:
    """What a refusal says; empty for one that neither Souvenance nor Honcho would write."""
    try:
        found = msgspec.json.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and _detail(found) else {}


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


def _every(kind: type[e.SouvenanceError]) -> Iterator[type[e.SouvenanceError]]:
    """The kinds that the tree of errors has; a surface may have its own beside them."""
    if kind.__module__ == e.__name__:
        yield kind
    for child in kind.__subclasses__():
        yield from _every(child)


_BY_CODE = {kind.code: kind for kind in _every(e.SouvenanceError)}
