"""The OpenAPI description, made from the table of routes, so that it can't say anything else than they do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from mnemon import errors as e
from mnemon.surfaces.http.routes import Route
from mnemon.surfaces.http.statuses import status_of

_REF = "#/components/schemas/{name}"


class Error(msgspec.Struct):
    """What every refusal and failure looks like."""

    error: str
    detail: str
    hint: str


class Health(msgspec.Struct):
    status: str
    version: str


def describe(routes: Iterable[Route], version: str) -> dict[str, Any]:
    routes = tuple(routes)
    kinds = [kind for route in routes for kind in (route.operation.request, route.operation.answer)]
    _, schemas = msgspec.json.schema_components([*kinds, Error, Health], ref_template=_REF)
    paths: dict[str, Any] = defaultdict(dict)
    paths["/health"]["get"] = {
        "operationId": "health",
        "summary": "Whether the server is up",
        "security": [],
        "responses": {"200": _answer("Health"), "403": _refusals([e.HostRefused])},
    }
    for route in routes:
        paths[route.path][route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Mnemon", "version": version, "summary": "Memory for agents, behind a gate"},
        "security": [{"cap": []}],
        "paths": dict(paths),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"cap": {"type": "http", "scheme": "bearer", "bearerFormat": "cap+jwt"}},
        },
    }


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    by_status: dict[int, list[type[e.MnemonError]]] = defaultdict(list)
    for kind in route.errors:
        by_status[status_of(kind)].append(kind)
    described: dict[str, Any] = {
        "operationId": route.operation.name,
        "summary": route.summary,
        "responses": {
            str(route.status): _answer(route.operation.answer.__name__),
            **{str(status): _refusals(found) for status, found in sorted(by_status.items())},
        },
    }
    name = route.operation.request.__name__
    if route.method == "GET":
        described["parameters"] = _parameters(route, schemas[name])
    else:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(name)}}}
    return described


def _parameters(route: Route, schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, kind in schema.get("properties", {}).items():
        in_path = f"{{{name}}}" in route.path
        found.append(
            {
                "name": name,
                "in": "path" if in_path else "query",
                "required": in_path or name in schema.get("required", ()),
                "schema": kind,
            }
        )
    return found


def _answer(name: str) -> dict[str, Any]:
    return {"description": "Done", "content": {"application/json": {"schema": _ref(name)}}}


def _refusals(kinds: Iterable[type[e.MnemonError]]) -> dict[str, Any]:
    codes = sorted(kind.code for kind in kinds)
    schema = {"allOf": [_ref("Error"), {"properties": {"error": {"enum": codes}}}]}
    return {"description": ", ".join(codes), "content": {"application/json": {"schema": schema}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}
