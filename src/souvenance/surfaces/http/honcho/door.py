"""Honcho's v3 API, spoken to the gate: requests as its clients send them, answers as they read them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec.structs import astuple, replace
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as WebRoute

from souvenance import errors as e
from souvenance.decoders import UNREADABLE, decoded, settled
from souvenance.gate.conversation.chat import ChatAnswer, Telling
from souvenance.gate.conversation.resource import BareListAnswer, Done, Opened, ResponsePage
from souvenance.gate.conversation.sessions import SessionAnswer
from souvenance.gate.conversation.workspaces import WorkspaceAnswer
from souvenance.gate.gate import Gate
from souvenance.surfaces.http.form_fields import form_fields
from souvenance.surfaces.http.honcho.routes import ADMINS, HONCHO_ROUTES, refused_as
from souvenance.surfaces.http.request_bodies import FORM_BYTES, Body, body_of
from souvenance.surfaces.http.request_threads import (
    HEADERS,
    Endpoint,
    RequestThreads,
    credentials_of,
    encode,
    json_answer,
    refusal_headers,
)
from souvenance.surfaces.http.routes import IN_HEADER, REPEATED, Route
from souvenance.surfaces.http.telemetry.observer import note

TEXTS: dict[type[e.SouvenanceError], str] = {
    e.CapMissing: "No access token provided",
    e.CapMalformed: "Invalid JWT",
    e.CapSigInvalid: "Invalid JWT",
    e.CapExpired: "JWT expired",
    e.CapRevoked: "JWT revoked",
    e.CapPopInvalid: "Invalid JWT",
    e.CapOpMismatch: "JWT not permissioned for this resource",
    e.CapDataClassMismatch: "JWT not permissioned for this resource",
    e.CapScopeMismatch: "JWT not permissioned for this resource",
    e.NamespaceDenied: "JWT not permissioned for this resource",
}

_AT = re.compile(r" - at (?:`key` in )?`\$(.*)`\Z")
_PATTERN = re.compile(r"Expected `str` matching regex .*(?:scope\\|a-zA-Z0-9_-).*")
_NAMES = "A name has letters, digits, _ and - only; names that begin with 'scope.' belong to scopes"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d*|\.\.\.)\]")


class Unreadable(e.InvalidInput):
    """A request whose fields are not what they should be, told the way FastAPI does."""

    def __init__(self, fault: str, where: str) -> None:
        found = _AT.search(fault)
        problem = _PATTERN.sub(_NAMES, _AT.sub("", fault))
        super().__init__(f"the {where} can't be read: {problem}")
        places = _STEP.findall(found.group(1)) if found else ()
        steps = [name or (int(index) if index.isdigit() else index) for name, index in places]
        self.problems = [{"type": "value_error", "loc": [where, *steps], "msg": problem}]


def refusal(error: e.SouvenanceError, *, admin: bool) -> Response:
    note(error)
    detail: Any = TEXTS.get(type(error), error.detail)
    if isinstance(error, Unreadable):
        detail = error.problems
    elif admin and isinstance(error, e.Denied):
        detail = "Resource requires admin privileges"
    body = {"detail": detail, "error": error.code, "hint": error.hint}
    return json_answer(refused_as(type(error)), body, refusal_headers(error))


_NEWER = "custom_instructions"
_UNKNOWN_IN = ("peer_card", "summary", "dream")


def for_old_clients(answer: Any) -> Any:
    """The answer without the newer keys of configurations; they stay stored."""
    match answer:
        case Opened():
            return replace(answer, what=for_old_clients(answer.what))
        case ResponsePage():
            return replace(answer, items=[for_old_clients(item) for item in answer.items])
        case WorkspaceAnswer() | SessionAnswer():
            return replace(answer, configuration=_older(answer.configuration))
        case _:
            return answer


def _older(configuration: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: one for key, one in part.items() if key != _NEWER}
        if name in _UNKNOWN_IN and isinstance(part, dict)
        else part
        for name, part in configuration.items()
    }


_ALSO_CALLED = {"name": "id", "peer_names": "peers"}
"""Other names that Honcho's server takes for fields, where they are no fields themselves."""
_EVENT_CHARS = 24


def honcho_routes(gate: Gate, threads: RequestThreads) -> list[WebRoute]:
    found = []
    for route in HONCHO_ROUTES:
        endpoint = _endpoint(gate, threads, route)
        for path in (route.path, f"{route.path}/") if route.path.endswith("/messages") else (route.path,):
            found.append(WebRoute(path, endpoint, methods=[route.method], name=route.operation.name))
    return found


def _endpoint(gate: Gate, threads: RequestThreads, route: Route) -> Endpoint:
    reader = _RequestReader(route)
    most = gate.limits.file_bytes + FORM_BYTES if route.form else gate.limits.batch_bytes

    async def answer(request: Request) -> Response:
        body, in_pieces = Body(), False

        def read() -> Any:
            nonlocal in_pieces
            form = _form(request, _file_of(body, gate)) if route.form else _fields(route, body.read())
            asked = reader.read(request, form)
            in_pieces = getattr(asked, "stream", False)
            return asked

        try:
            if route.method != "GET":
                body = await body_of(request, gate, most)
            found = await threads.call(gate, route.operation, credentials_of(request, body.content), read)
            if isinstance(found, Telling):
                return await _telling(found, threads)
        except e.SouvenanceError as error:
            return refusal(error, admin=route.path in ADMINS)
        # An SDK from before 2.4 says nothing of itself but the library it asks with.
        agent = request.headers.get("user-agent", "")
        if agent.startswith("python-httpx/") and "x-honcho-host" not in request.headers:
            found = for_old_clients(found)
        return _answer(route, found, in_pieces=in_pieces, reasoner=gate.reasoner)

    return answer


def _file_of(body: Body, gate: Gate) -> bytes:
    """The form with a file. Raises: SouvenanceError."""
    if isinstance(body.fault, e.BodyTooLarge):
        raise e.FileTooLarge(f"the file is larger than {gate.limits.file_bytes} bytes")
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
    """The fields of a form and its file. Raises: Unreadable, InvalidInput."""
    try:
        fields = form_fields(body, request.headers.get("content-type", ""))
    except ValueError as error:
        raise Unreadable(str(error), "body") from None
    if not isinstance(fields.get("file"), bytes):
        raise Unreadable("Object missing required field `file` - at `$`", "body")
    for name in ("metadata", "configuration"):
        if isinstance(fields.get(name), str):
            fields[name] = decoded(fields[name], object, e.InvalidInput(f"{name} is not JSON"))
    return fields


class _RequestReader:
    """Makes a route's requests; where each field stands is looked up once."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._kind = route.operation.request
        self._body = frozenset(route.in_body)
        self._also_called = {
            other: name
            for other, name in _ALSO_CALLED.items()
            if name in self._body and other not in self._body and route.whole is None
        }

    @cached_property
    def _query(self) -> dict[str, bool]:
        """Whether each field of the query takes several values. For all routes at once this takes long."""
        types = {field.name: field.type for field in msgspec.structs.fields(self._kind)}
        return {name: _takes_several(types[name]) for name in self._route.in_query}

    def read(self, request: Request, fields: dict[str, Any]) -> Any:
        """The operation's request. The path outranks the query, and that the body."""
        renamed = {name: fields[other] for other, name in self._also_called.items() if other in fields}
        known = {**renamed, **{name: value for name, value in fields.items() if name in self._body}}
        for name, several in self._query.items():
            values = request.query_params.getlist(name)
            if values:
                known[name] = values if several else values[-1]
        known.update({name: value.replace("\0", "") for name, value in request.path_params.items()})
        for name in self._route.in_header:
            if IN_HEADER[name] in request.headers:
                known[name] = request.headers[IN_HEADER[name]]
        try:
            return msgspec.convert(known, settled(self._kind), strict=False)
        except (msgspec.ValidationError, OverflowError, RecursionError) as error:
            raise Unreadable(str(error), "query" if self._route.method == "GET" else "body") from None


def _takes_several(kind: Any) -> bool:
    """Whether it is a list or may be one, so that its name may stand in a query several times."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return get_origin(kind) is list or any(map(_takes_several, get_args(kind)))


def _answer(route: Route, found: Any, *, in_pieces: bool, reasoner: str) -> Response:
    """The answer in the form that Honcho gives it."""
    status, content, headers = route.status, found, dict(HEADERS)
    match found:
        case Opened():
            status, content = 201 if found.created else 200, found.what
        case BareListAnswer():
            content, repeated = astuple(found)
            if repeated:
                headers[REPEATED] = str(repeated).lower()
        case Done():
            return Response(status_code=204, headers=headers)
        case ChatAnswer():
            headers["x-souvenance-reasoner"] = found.reasoner or reasoner
            if in_pieces:
                told: list[str | ChatAnswer] = [*_words(found.content or ""), found]
                return Response(b"".join(map(_event, told)), 200, headers, "text/event-stream")
    return Response(encode(content), status, headers, "application/json")


def _words(text: str) -> Iterator[str]:
    """The text in pieces that end between words."""
    while text:
        cut = text.find(" ", _EVENT_CHARS) + 1 or len(text)
        yield text[:cut]
        text = text[cut:]


async def _telling(found: Telling, threads: RequestThreads) -> Response:
    """A model's answer as it comes. Nothing is answered before the first of it is there, for it may fail."""
    first = await threads.next(found.pieces)

    async def events() -> AsyncIterator[bytes]:
        one = first
        while not isinstance(one, ChatAnswer):
            yield _event(one)
            try:
                one = await threads.next(found.pieces)
            except e.SouvenanceError as error:
                one = ChatAnswer(None, lacking=error.code)
        yield _event(one)

    return StreamingResponse(events(), 200, HEADERS, "text/event-stream")


def _event(told: str | ChatAnswer) -> bytes:
    """A piece of an answer, or its end with what it rests on."""
    if isinstance(told, str):
        return b"data: " + encode({"delta": {"content": told}, "done": False}) + b"\n\n"
    last = {name: getattr(told, name) for name in ("evidence", "reasoner", "lacking")}
    known = {name: value for name, value in last.items() if value is not None}
    return b"data: " + encode({"done": True, **known}) + b"\n\n"
