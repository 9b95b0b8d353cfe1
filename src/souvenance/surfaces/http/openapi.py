"""The OpenAPI description, made from the tables of routes, so that it can't say anything but what they do.

A door without such a table describes itself in the words below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from souvenance import errors as e
from souvenance.gate.conversation.chat import ChatAnswer
from souvenance.gate.conversation.resource import BareListAnswer, Done
from souvenance.gate.messages import Answer
from souvenance.surfaces.http.routes import IN_HEADER, REFUSALS, WITH_FILE, Route, status_of

Schema = dict[str, Any]
Paths = Mapping[str, Mapping[str, Any]]
"""Operations by path and method."""

JSON = "application/json"
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}

Shape = Callable[[list[str]], Schema]
"""What a refusal looks like that has one of these codes."""
Statuses = Callable[[type[e.SouvenanceError]], int]


def own_shape(codes: list[str]) -> Schema:
    """A refusal as Souvenance's own API has it."""
    return {"allOf": [{"$ref": "#/components/schemas/Error"}, {"properties": {"error": {"enum": codes}}}]}


def described(
    name: str,
    summary: str,
    responses: Mapping[str, Any],
    *,
    body: Mapping[str, Any] | None = None,
    parameters: Iterable[Mapping[str, Any]] = (),
    needs_cap: bool = True,
) -> dict[str, Any]:
    """One operation. The guard may refuse any of them first."""
    guarded = {"403": answer("host_refused", own_shape([e.HostRefused.code])), **responses}
    operation: dict[str, Any] = {"operationId": name, "summary": summary, "responses": guarded}
    if not needs_cap:
        operation["security"] = []
    if body is not None:
        operation["requestBody"] = {"required": True, "content": body}
    if found := list(parameters):
        operation["parameters"] = found
    return operation


def answer(description: str, schema: Schema, *others: str) -> dict[str, Any]:
    """An answer in JSON, or of one of the other media types."""
    content: dict[str, Any] = {JSON: {"schema": schema}}
    content.update({media: {"schema": TEXT} for media in others})
    return {"description": description, "content": content}


def refusals(
    kinds: Iterable[type[e.SouvenanceError]], shape: Shape = own_shape, refused_as: Statuses = status_of
) -> dict[str, Any]:
    """The answers to what is refused, by status. What the guard refuses looks as everywhere."""
    by_status: dict[int, set[str]] = defaultdict(set)
    for kind in kinds:
        by_status[refused_as(kind)].add(kind.code)
    found = {}
    for status, codes in sorted(by_status.items()):
        schema = shape(sorted(codes - {e.HostRefused.code}))
        if e.HostRefused.code in codes:
            schema = {"anyOf": [own_shape([e.HostRefused.code]), schema]}
        found[str(status)] = answer(", ".join(sorted(codes)), schema)
    return found


def an_object(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    """An object with these members, and maybe others."""
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def a_list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


_REF = "#/components/schemas/{name}"
_UNREADY = (e.StorageUnavailable, e.StorageBusy, e.StorageFull, e.StorageReadOnly)


class Error(msgspec.Struct):
    """What every refusal and failure looks like."""

    error: str
    detail: Any
    hint: str


class Ready(msgspec.Struct):
    status: str


class HealthAnswer(msgspec.Struct):
    status: str
    version: str
    store: str
    embedder: str


def describe(routes: Iterable[Route], version: str, doors: Iterable[Paths]) -> dict[str, Any]:
    """What the routes do, and the paths of doors that describe themselves."""
    routes = tuple(routes)
    kinds = {kind for route in routes for kind in (route.operation.request, route.operation.answer)}
    schemas = Description([*kinds, Error, HealthAnswer, Ready])
    paths: dict[str, Any] = defaultdict(dict)
    paths["/health"]["get"] = described(
        "health", "Whether the server is up", {"200": schemas.answer(HealthAnswer)}, needs_cap=False
    )
    ready = {"200": schemas.answer(Ready), **refusals(_UNREADY)}
    paths["/ready"]["get"] = described(
        "ready", "Whether requests can be answered right now", ready, needs_cap=False
    )
    for route in routes:
        paths[route.path][route.method.lower()] = schemas.operation(route)
    for door in doors:
        paths.update(door)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Souvenance", "version": version, "summary": "Memory for agents, behind a gate"},
        "security": [{"cap": []}],
        "paths": dict(paths),
        "components": {
            "schemas": schemas.schemas,
            "securitySchemes": {"cap": {"type": "http", "scheme": "bearer", "bearerFormat": "cap+jwt"}},
        },
    }


class Description:
    """The schemas of all that is asked and answered, and operations in terms of them."""

    def __init__(self, kinds: Sequence[type]) -> None:
        kinds = sorted(kinds, key=lambda kind: (kind.__name__, kind.__module__))
        refs, self.schemas = msgspec.json.schema_components(kinds, ref_template=_REF)
        self._refs = dict(zip(kinds, refs, strict=True))
        for kind in _subclasses(Answer):
            if kind.__name__ in self.schemas and not kind.__struct_config__.omit_defaults:
                self.schemas[kind.__name__]["required"] = list(kind.__struct_fields__)

    def operation(self, route: Route) -> dict[str, Any]:
        statuses = [status for status in (route.existing, route.status) if status is not None]
        answers = {str(status): self.answer(route.operation.answer) for status in statuses}
        responses = {**answers, **refusals(REFUSALS, refused_as=route.refused_as)}
        parameters = self._parameters(route)
        operation = described(route.operation.name, route.summary, responses, parameters=parameters)
        if route.in_body:
            operation["requestBody"] = self._body(route)
        return operation

    def _parameters(self, route: Route) -> list[dict[str, Any]]:
        schema = self._schema(route.operation.request)
        places = {"path": route.in_path, "query": route.in_query, "header": route.in_header}
        return [
            {
                "name": IN_HEADER.get(name, name),
                "in": place,
                "required": place == "path" or name in schema.get("required", ()),
                "schema": schema["properties"][name],
            }
            for place, names in places.items()
            for name in names
        ]

    def _body(self, route: Route) -> dict[str, Any]:
        schema = self._schema(route.operation.request)
        required = [name for name in route.in_body if name in schema.get("required", ())]
        if route.whole is not None:
            body = schema["properties"][route.whole]
        elif not (route.in_path or route.query or route.in_header):
            body = self._refs[route.operation.request]
        else:
            properties = {name: schema["properties"][name] for name in route.in_body}
            body = {"type": "object", "properties": properties, "required": required}
        media = JSON
        if route.form:
            media = "multipart/form-data"
            for name in WITH_FILE:
                del body["properties"][name]
            body["properties"]["file"] = {"type": "string", "format": "binary"}
        return {"required": bool(required), "content": {media: {"schema": body}}}

    def answer(self, kind: type) -> dict[str, Any]:
        if kind is Done:
            return {"description": "Done"}
        schema = self._refs[kind]
        if issubclass(kind, BareListAnswer):
            schema = self._schema(kind)["properties"][kind.__struct_fields__[0]]
        described = answer("Done", schema)
        if kind is ChatAnswer:
            described["content"]["text/event-stream"] = {}
        return described

    def _schema(self, kind: type) -> dict[str, Any]:
        schema: dict[str, Any] = self.schemas[self._refs[kind]["$ref"].rsplit("/", 1)[1]]
        return schema


def _subclasses(kind: type[Answer]) -> Iterator[type[Answer]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)
