"""Honcho's v3 API, spoken to the gate: requests as its clients send them, answers as they read them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as WebRoute

from souvenance.decoders import UNREADABLE, settled
from souvenance.errors import BodyTooLarge, FileTooLarge, InvalidInput, SouvenanceError
from souvenance.gate.conversation import responses as a
from souvenance.gate.gate import Gate
from souvenance.surfaces.http.honcho.multipart import parts_of
from souvenance.surfaces.http.honcho.old_clients import for_old_clients
from souvenance.surfaces.http.honcho.refusals import Unreadable, refusal
from souvenance.surfaces.http.honcho.routes import ADMINS, HONCHO_ROUTES
from souvenance.surfaces.http.request_bodies import FORM_BYTES, Body, body_of
from souvenance.surfaces.http.request_threads import HEADERS, Endpoint, RequestThreads, credentials_of, encode
from souvenance.surfaces.http.response_decoding import REPEATED
from souvenance.surfaces.http.route import Route

_REPEATED = ("sessions", "between")
_IDEMPOTENCY = "idempotency-key"
_ALSO_CALLED = {"name": "id", "peer_names": "peers"}
"""Other names that Honcho's server takes for fields, where they are no fields themselves."""
_EVENT_CHARS = 24


def honcho_routes(gate: Gate, hands: RequestThreads) -> list[WebRoute]:
    found = []
    for route in HONCHO_ROUTES:
        endpoint = _endpoint(gate, hands, route)
        found.append(WebRoute(route.path, endpoint, methods=[route.method]))
        if route.path.endswith("/messages"):
            found.append(WebRoute(f"{route.path}/", endpoint, methods=[route.method]))
    return found


def _endpoint(gate: Gate, hands: RequestThreads, route: Route) -> Endpoint:
    reader = _Reader(route)
    most = gate.limits.file_bytes + FORM_BYTES if route.form else gate.limits.batch_bytes

    async def answer(request: Request) -> Response:
        body = Body()

        def read() -> Any:
            if route.form:
                return reader.read(request, _form(request, _file_of(body, gate)))
            return reader.read(request, _fields(route, body.read()))

        try:
            if route.method != "GET":
                body = await body_of(request, gate, most)
            found = await hands.call(gate, route.operation, credentials_of(request, body.content), read)
            if isinstance(found, a.Telling):
                return await _telling(found, hands)
        except SouvenanceError as error:
            return refusal(error, admin=route.path in ADMINS)
        if _is_old_client(request):
            found = for_old_clients(found)
        return _answer(route, found, stream=_wants_stream(route, body.content), reasoner=gate.reasoner)

    return answer


def _is_old_client(request: Request) -> bool:
    """Whether it is an SDK from before 2.4, which says nothing of itself but the library it asks with."""
    return "x-honcho-host" not in request.headers and request.headers.get("user-agent", "").startswith(
        "python-httpx/"
    )


def _file_of(body: Body, gate: Gate) -> bytes:
    """The form with a file. Raises: SouvenanceError."""
    if isinstance(body.fault, BodyTooLarge):
        raise FileTooLarge(f"the file is larger than {gate.limits.file_bytes} bytes")
    return body.read()


def _fields(route: Route, body: bytes) -> dict[str, Any]:
    """What the body says, under the names of the request's fields."""
    if not body.strip():
        return {}
    try:
        found = msgspec.json.decode(body)
    except UNREADABLE as error:
        raise Unreadable(str(error), "body") from None
    if b"\\u0000" in body:
        found = _without_nul(found)
    if route.whole is not None:
        return {route.whole: found}
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable("Expected `object`", "body")
    return found


def _without_nul(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\0", "")
        case dict():
            return {_without_nul(key): _without_nul(one) for key, one in value.items()}
        case list():
            return [_without_nul(one) for one in value]
        case _:
            return value


def _form(request: Request, body: bytes) -> dict[str, Any]:
    """The fields of a form and its file. Raises: Unreadable."""
    try:
        parts = parts_of(body, request.headers.get("content-type", ""))
    except ValueError as error:
        raise Unreadable(str(error), "body") from None
    fields: dict[str, Any] = {}
    for part in parts:
        if part.filename is None:
            fields[part.name] = part.content.decode("utf-8", "replace").replace("\0", "")
        else:
            fields[part.name] = part.content
            fields["filename"] = part.filename
            fields["media_type"] = part.media_type
    return fields


class _Reader:
    """Makes a route's requests; where each field stands is looked up once."""

    def __init__(self, route: Route) -> None:
        self._kind = route.operation.request
        self._form = route.form
        self._body = frozenset(route.in_body) - {"idempotency_key"}
        self._also_called = {
            other: name
            for other, name in _ALSO_CALLED.items()
            if name in self._body and other not in self._body and route.whole is None
        }
        self._query = route.in_query
        self._keyed = "idempotency_key" in route.in_body
        self._where = "query" if route.method == "GET" else "body"

    def read(self, request: Request, fields: dict[str, Any]) -> Any:
        """The operation's request. The path outranks the query, and that the body."""
        if self._form:
            fields = _form_fields(fields)
        renamed = {name: fields[other] for other, name in self._also_called.items() if other in fields}
        known = {**renamed, **{name: value for name, value in fields.items() if name in self._body}}
        for name in self._query:
            values = request.query_params.getlist(name)
            if values:
                known[name] = values if name in _REPEATED else values[-1]
        known.update({name: value.replace("\0", "") for name, value in request.path_params.items()})
        if self._keyed and _IDEMPOTENCY in request.headers:
            known["idempotency_key"] = request.headers[_IDEMPOTENCY]
        try:
            return msgspec.convert(known, settled(self._kind), strict=False)
        except (msgspec.ValidationError, OverflowError, RecursionError) as error:
            raise Unreadable(str(error), self._where) from None


def _form_fields(fields: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(fields.get("file"), bytes):
        raise Unreadable("Object missing required field `file` - at `$`", "body")
    found = {name: value for name, value in fields.items() if name != "parts"}
    for name in ("metadata", "configuration"):
        if isinstance(found.get(name), str):
            try:
                found[name] = msgspec.json.decode(found[name])
            except msgspec.MsgspecError:
                raise InvalidInput(f"{name} is not JSON") from None
    return found


def _wants_stream(route: Route, body: bytes) -> bool:
    if route.operation.answer is not a.ChatAnswer:
        return False
    return msgspec.json.decode(body, type=settled(_Streamed), strict=False).stream


class _Streamed(msgspec.Struct):
    stream: bool = False


def _answer(route: Route, found: Any, *, stream: bool, reasoner: str) -> Response:
    """The answer in the form that Honcho gives it."""
    status, content = route.status, found
    headers = dict(HEADERS)
    match found:
        case a.Opened():
            status, content = 201 if found.created else 200, found.what
        case a.Messages():
            content = found.messages
            if found.repeated:
                headers["idempotency-replayed"] = "true"
        case a.Conclusions():
            content = found.conclusions
            if found.repeated:
                headers[REPEATED] = str(found.repeated)
        case a.Done():
            return Response(status_code=204, headers=headers)
        case a.ChatAnswer():
            headers["x-souvenance-reasoner"] = found.reasoner or reasoner
            if stream:
                return StreamingResponse(_events(found), 200, headers, "text/event-stream")
    return Response(encode(content), status, headers, "application/json")


async def _events(told: a.ChatAnswer) -> AsyncIterator[bytes]:
    """The answer in pieces that end between words, then what it rests on."""
    text = told.content or ""
    while text:
        cut = text.find(" ", _EVENT_CHARS) + 1 or len(text)
        piece, text = text[:cut], text[cut:]
        yield _piece(piece)
    yield _end(told)


async def _telling(found: a.Telling, hands: RequestThreads) -> Response:
    """A model's answer as it comes. Nothing is answered before the first of it is there, for it may fail."""
    first = await hands.next(found.pieces)

    async def events() -> AsyncIterator[bytes]:
        one = first
        while not isinstance(one, a.ChatAnswer):
            yield _piece(one)
            try:
                one = await hands.next(found.pieces)
            except SouvenanceError as error:
                one = a.ChatAnswer(None, lacking=error.code)
        yield _end(one)

    return StreamingResponse(events(), 200, HEADERS, "text/event-stream")


def _piece(text: str) -> bytes:
    return b"data: " + encode({"delta": {"content": text}, "done": False}) + b"\n\n"


def _end(told: a.ChatAnswer) -> bytes:
    last: dict[str, Any] = {"done": True}
    for name in ("evidence", "reasoner", "lacking"):
        if (value := getattr(told, name)) is not None:
            last[name] = value
    return b"data: " + encode(last) + b"\n\n"
