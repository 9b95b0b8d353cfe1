"""The OpenAPI description, made from the tables of routes, so that it can't say anything but what they do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from souvenance import errors as e
from souvenance.gate.conversation import responses as a
from souvenance.surfaces.http.openapi_parts import Paths
from souvenance.surfaces.http.route import Route

_REF = "#/components/schemas/{name}"
_LISTS = {a.Messages: "messages", a.Conclusions: "conclusions"}
"""Answers that go out as the bare list in this field."""


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
    described = Description([*kinds, Error, HealthAnswer, Ready])
    paths: dict[str, Any] = defaultdict(dict)
    paths["/health"]["get"] = {
        "operationId": "health",
        "summary": "Whether the server is up",
        "security": [],
        "responses": {"200": described.answer(HealthAnswer), "403": described.refusals([e.HostRefused])},
    }
    paths["/ready"]["get"] = {
        "operationId": "ready",
        "summary": "Whether requests can be answered right now",
        "security": [],
        "responses": {
            "200": described.answer(Ready),
            "403": described.refusals([e.HostRefused]),
            "503": described.refusals(_UNREADY),
        },
    }
    for route in routes:
        paths[route.path][route.method.lower()] = described.operation(route)
    for door in doors:
        paths.update(door)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Souvenance", "version": version, "summary": "Memory for agents, behind a gate"},
        "security": [{"cap": []}],
        "paths": dict(paths),
        "components": {
            "schemas": described.schemas,
            "securitySchemes": {"cap": {"type": "http", "scheme": "bearer", "bearerFormat": "cap+jwt"}},
        },
    }


class Description:
    """The schemas of all that is asked and answered, and operations in terms of them."""

    def __init__(self, kinds: Sequence[type]) -> None:
        kinds = sorted(kinds, key=lambda kind: (kind.__name__, kind.__module__))
        refs, self.schemas = msgspec.json.schema_components(kinds, ref_template=_REF)
        self._refs = dict(zip(kinds, refs, strict=True))

    def operation(self, route: Route) -> dict[str, Any]:
        by_status: dict[int, list[type[e.SouvenanceError]]] = defaultdict(list)
        for kind in route.errors:
            by_status[route.refused_as(kind)].append(kind)
        described: dict[str, Any] = {
            "operationId": route.operation.name,
            "summary": route.summary,
            "responses": {
                str(status): self.answer(route.operation.answer)
                for status in (route.existing, route.status)
                if status is not None
            },
        }
        described["responses"].update(
            {str(status): self.refusals(found) for status, found in sorted(by_status.items())}
        )
        if parameters := self._parameters(route):
            described["parameters"] = parameters
        if route.in_body:
            described["requestBody"] = self._body(route)
        return described

    def _parameters(self, route: Route) -> list[dict[str, Any]]:
        schema = self._schema(route.operation.request)
        return [
            {
                "name": name,
                "in": "path" if name in route.in_path else "query",
                "required": name in route.in_path or name in schema.get("required", ()),
                "schema": schema["properties"][name],
            }
            for name in (*route.in_path, *route.in_query)
        ]

    def _body(self, route: Route) -> dict[str, Any]:
        schema = self._schema(route.operation.request)
        required = [name for name in route.in_body if name in schema.get("required", ())]
        if route.whole is not None:
            body = schema["properties"][route.whole]
        elif not (route.in_path or route.query):
            body = self._refs[route.operation.request]
        else:
            properties = {name: schema["properties"][name] for name in route.in_body}
            body = {"type": "object", "properties": properties, "required": required}
        media = "application/json"
        if route.form:
            media = "multipart/form-data"
            body["properties"]["file"] = {"type": "string", "format": "binary"}
            for name in ("filename", "media_type", "parts"):
                del body["properties"][name]
        return {"required": bool(required), "content": {media: {"schema": body}}}

    def answer(self, kind: type) -> dict[str, Any]:
        if kind is a.Done:
            return {"description": "Done"}
        schema = self._refs[kind]
        if kind in _LISTS:
            schema = self._schema(kind)["properties"][_LISTS[kind]]
        content: dict[str, Any] = {"application/json": {"schema": schema}}
        if kind is a.ChatAnswer:
            content["text/event-stream"] = {}
        return {"description": "Done", "content": content}

    def refusals(self, kinds: Iterable[type[e.SouvenanceError]]) -> dict[str, Any]:
        codes = sorted({kind.code for kind in kinds})
        schema = {"allOf": [self._refs[Error], {"properties": {"error": {"enum": codes}}}]}
        return {"description": ", ".join(codes), "content": {"application/json": {"schema": schema}}}

    def _schema(self, kind: type) -> dict[str, Any]:
        schema: dict[str, Any] = self.schemas[self._refs[kind]["$ref"].rsplit("/", 1)[1]]
        return schema
