"""What a model's reply says, and whether it can be used: refusals, empty and broken ones can't."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from souvenance.adapters.model.endpoint import WireReply
from souvenance.decoders import settled
from souvenance.errors import ModelUnusable
from souvenance.patterns import pattern

_THOUGHT = pattern(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = pattern(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_REFUSAL = pattern(
    r"\W*(?:(?:i'?m|i am) (?:sorry|afraid|unable|not able)\b.{0,40}\b(?:can'?t|cannot|unable|not able)"
    r"|sorry,? (?:but )?i (?:can'?t|cannot|won'?t)"
    r"|i (?:can'?t|cannot|won'?t) (?:help|assist|comply|do that|provide)"
    r"|as an ai\b)",
    re.IGNORECASE,
)
_FENCE = pattern(r"\A```\w*\n?|\n?```\Z")
_T = TypeVar("_T")
_MOST_TRIED = 64
_decoder = json.JSONDecoder(strict=False)

CUT_OFF = "the model's reply was cut off"
"""What is told of a reply that was longer than it might be."""


def said(reply: WireReply) -> str:
    """The words of a reply, without what the model thought aloud. Raises: ModelUnusable if there are none, or
    the model refuses."""
    if reply.refused:
        raise ModelUnusable("the model refused")
    text = _THOUGHT_ENDS.sub("", _THOUGHT.sub("", reply.text)).strip()
    if not text:
        raise ModelUnusable("the model said nothing")
    return text


def in_words(reply: WireReply) -> str:
    """The same, where words are asked for and a refusal comes in words too. Raises: ModelUnusable."""
    text = said(reply)
    if is_refusal(text):
        raise ModelUnusable("the model refused")
    return text


def is_refusal(text: str) -> bool:
    return _REFUSAL.match(text.replace("’", "'")[:200]) is not None


def is_data(text: str) -> bool:
    """Whether it is JSON, as a whole or in a block of code."""
    plain = _FENCE.sub("", text.strip()).strip()
    if not plain.startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(plain)
    except (msgspec.DecodeError, RecursionError):
        return plain.startswith(('{"', "[{"))
    return True


def parsed(reply: WireReply, kind: type[_T]) -> _T:
    """The JSON object in a reply, whatever stands around it. Raises: ModelUnusable if there is none of that
    kind."""
    fault = "the model's reply has no JSON in it"
    for candidate in _objects(said(reply)):
        try:
            return msgspec.json.decode(candidate.encode("utf-8", "replace"), type=settled(kind), strict=False)
        except (msgspec.MsgspecError, RecursionError) as error:
            fault = f"the model's reply does not fit: {error}"
    raise ModelUnusable(CUT_OFF if reply.truncated else fault)


def _objects(text: str) -> list[str]:
    """What may be the object: what each of the first braces begins, the longest first."""
    found: list[str] = []
    start = text.find("{")
    for _ in range(_MOST_TRIED):
        if start < 0:
            break
        try:
            _, end = _decoder.raw_decode(text, start)
            found.append(text[start:end])
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return sorted(found, key=len, reverse=True)


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
