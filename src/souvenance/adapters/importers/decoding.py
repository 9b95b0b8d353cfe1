"""JSON from files that nobody vouches for: typed, with the place of what is wrong, in clean characters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from souvenance.decoders import settled
from souvenance.errors import ImportUnreadable

MENDED = "\ufffd"
"""What stands in place of a character that can't be stored."""

_Kind = TypeVar("_Kind")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_SHOWN_CHARS = 80
_DAY_CHARS = len("2026-05-25")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decoded(raw: bytes, kind: type[_Kind], place: str) -> _Kind:
    """The value of that type that the JSON text says.

    Raises: ImportUnreadable.
    """
    try:
        try:
            return msgspec.json.decode(raw, type=settled(kind))
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            if not _HALF.search(raw):
                raise
            return msgspec.convert(json.loads(raw), settled(kind))
    except RecursionError:
        raise ImportUnreadable(f"{place}: it is nested too deep") from None
    except (msgspec.MsgspecError, ValueError, OverflowError) as error:
        raise ImportUnreadable(f"{place}: {_harmless(str(error))}") from None


def clean(text: str) -> str:
    """The text without NUL and halves of characters."""
    if "\0" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            return _UNSTORABLE.sub(MENDED, text)
        return text
    return _UNSTORABLE.sub(MENDED, text)


def _harmless(text: str) -> str:
    return "".join(one if one.isprintable() else MENDED for one in text)


def shown(text: str) -> str:
    """A name out of the source as a complaint may show it: short, and harmless to a terminal."""
    return _harmless(text[:_MOST_SHOWN_CHARS])


def cleaned(value: Any, depth: int = 32) -> Any:
    """The value with clean characters in all its strings. Raises: ValueError if it is nested deeper."""
    if depth == 0:
        raise ValueError("it is nested too deep")
    match value:
        case str():
            return clean(value)
        case list():
            return [cleaned(one, depth - 1) for one in value]
        case Mapping():
            return {clean(str(key)): cleaned(one, depth - 1) for key, one in value.items()}
        case _:
            return value


def bag(value: Mapping[str, Any] | None, place: str) -> dict[str, Any]:
    """Metadata in clean characters. Raises: ImportUnreadable."""
    try:
        return dict(cleaned(value or {}))
    except ValueError as error:
        raise ImportUnreadable(f"{place}: metadata: {error}") from None


def moment(told: str | float | None, place: str) -> datetime | None:
    """A time as JSON files write it: ISO 8601, UTC if no zone is named, or seconds since 1970.

    A day without an hour is one of where this machine is.

    Raises: ImportUnreadable.
    """
    if told is None or told == "":
        return None
    try:
        if isinstance(told, str):
            found = datetime.fromisoformat(told)
            if found.tzinfo is None and len(told) > _DAY_CHARS:
                return found.replace(tzinfo=UTC)
            return found.astimezone(UTC)
        return _EPOCH + timedelta(milliseconds=round(told * 1000))
    except (ValueError, OverflowError):
        raise ImportUnreadable(f"{place}: {shown(str(told))} is not a time that a calendar has") from None
