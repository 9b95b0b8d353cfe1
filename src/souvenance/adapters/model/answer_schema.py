"""Answers in a shape: the part of JSON schema by which an answer is checked before it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_DEEPEST = 32


def fault(value: Any, schema: Any, root: Mapping[str, Any], where: str = "$", depth: int = 0) -> str:
    """Why the value does not follow the schema; nothing if it does. What is not known here is not checked."""
    if depth > _DEEPEST or not isinstance(schema, Mapping):
        return ""
    if isinstance(named := schema.get("$ref"), str):
        return fault(value, _named(named, root), root, where, depth + 1)
    for choices in ("anyOf", "oneOf"):
        if isinstance(schema.get(choices), list) and schema[choices]:
            faults = [fault(value, one, root, where, depth + 1) for one in schema[choices]]
            if all(faults):
                return faults[0]
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return f"{where} is none of the values that it may have"
    if not _is(value, schema.get("type")):
        return f"{where} is not of type {schema['type']}"
    if isinstance(value, dict):
        return _fault_of_object(value, schema, root, where, depth)
    if isinstance(value, list) and "items" in schema:
        found = (
            fault(one, schema["items"], root, f"{where}[{at}]", depth + 1) for at, one in enumerate(value)
        )
        return next(filter(None, found), "")
    return ""


def _fault_of_object(
    value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str, depth: int
) -> str:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"{where} lacks {name}"
    for name, one in value.items():
        if name in properties:
            if found := fault(one, properties[name], root, f"{where}.{name}", depth + 1):
                return found
        elif schema.get("additionalProperties") is False:
            return f"{where} has {name}, which is not asked for"
    return ""


def _is(value: Any, kind: Any) -> bool:
    kinds = kind if isinstance(kind, list) else [kind]
    known = [_KINDS[one] for one in kinds if isinstance(one, str) and one in _KINDS]
    if not known:
        return True
    if isinstance(value, bool):
        return (bool,) in known
    return any(isinstance(value, one) for one in known)


def _named(name: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for step in name.removeprefix("#/").split("/"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
