"""What is asked of a gate behind a URL, as it is sent: the other half of what the doors read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
from msgspec import NODEFAULT, Struct

from souvenance.errors import InvalidInput
from souvenance.gate.messages import Request
from souvenance.surfaces.http.route import Route

_JSON = "application/json"
_ELSEWHERE = frozenset({"idempotency_key", "stream", "parts", "file", "filename", "media_type"})
"""Fields that no body has: a header, what is never asked for, what is made there, and the file of a form."""


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
        self._in_query = frozenset(route.in_query)
        self._in_body = frozenset(route.in_body) - _ELSEWHERE

    def written(self, request: Request) -> EncodedRequest:
        """Raises: InvalidInput for what can't be sent."""
        try:
            return self._written(request)
        except UnicodeEncodeError:
            raise InvalidInput("the request holds a lone surrogate") from None
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InvalidInput(f"the request can't be sent: {error}") from None

    def _written(self, request: Request) -> EncodedRequest:
        given = _given(request)
        body, media = self._body(request, {name: one for name, one in given.items() if name in self._in_body})
        headers = {"content-type": media}
        if "idempotency_key" in given:
            headers["idempotency-key"] = _header("idempotency_key", given["idempotency_key"])
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
        raise InvalidInput(f"{field} holds characters that no header may have")
    return value


def _segment(field: str, name: str) -> str:
    """A name in a path. One that would lead to another path is refused."""
    if name in ("", ".", "..") or "/" in name:
        raise InvalidInput(f"{field} can't be {name!r}")
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
