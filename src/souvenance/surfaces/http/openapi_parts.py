"""The words in which a door describes itself in OpenAPI, where no table of routes does it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from souvenance import errors as e
from souvenance.surfaces.http.statuses import status_of

Schema = dict[str, Any]
Paths = Mapping[str, Mapping[str, Any]]
"""Operations by path and method."""

JSON = "application/json"
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
URL: Schema = {"type": "string", "format": "uri"}

Shape = Callable[[list[str]], Schema]
"""What a refusal looks like that has one of these codes."""


def own_shape(codes: list[str]) -> Schema:
    """A refusal as Souvenance's own API has it."""
    error = {"$ref": "#/components/schemas/Error"}
    return {"allOf": [error, {"properties": {"error": {"enum": codes}}}]}


def described(
    name: str,
    summary: str,
    responses: Mapping[str, Any],
    *,
    body: Mapping[str, Any] | None = None,
    parameters: Iterable[Mapping[str, Any]] = (),
    needs_cap: bool = True,
) -> dict[str, Any]:
    """One operation. Whatever it is, the guard may refuse it first."""
    guarded = {"403": answer("host_refused", own_shape([e.HostRefused.code])), **responses}
    told: dict[str, Any] = {"operationId": name, "summary": summary, "responses": guarded}
    if not needs_cap:
        told["security"] = []
    if body is not None:
        told["requestBody"] = {"required": True, "content": body}
    if found := list(parameters):
        told["parameters"] = found
    return told


def answer(description: str, schema: Schema, *others: str) -> dict[str, Any]:
    """An answer in JSON, or of one of the other media types."""
    content: dict[str, Any] = {JSON: {"schema": schema}}
    content.update({media: {"schema": TEXT} for media in others})
    return {"description": description, "content": content}


def refusals(kinds: Iterable[type[e.SouvenanceError]], shape: Shape) -> dict[str, Any]:
    """The answers to what is refused, by status. What the guard refuses looks as everywhere."""
    by_status: dict[int, set[str]] = defaultdict(set)
    for kind in kinds:
        by_status[status_of(kind)].add(kind.code)
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
