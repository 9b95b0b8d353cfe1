"""How data is decoded, worked out by one thread at a time.

msgspec works it out for a class when that is first decoded, and a second thread that comes meanwhile ends
the process. So every class is settled where something is decoded into it, e.g. `type=settled(Claims)`.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding raises for bytes that are not of the shape, not JSON at all, or nested too deep."""

_lock = Lock()
_known: set[Any] = set()


def settled(shape: _T) -> _T:
    """The same class, union or list of one, which any number of threads may decode from now on."""
    if shape not in _known:
        with _lock:
            msgspec.json.Decoder(shape)
            _known.add(shape)
    return shape


def decodable(raw: bytes | str, shape: type[_T], *, strict: bool = True) -> _T | None:
    """What the JSON says; None if it can't be read, or is not of the shape."""
    try:
        return msgspec.json.decode(raw, type=settled(shape), strict=strict)
    except UNREADABLE:
        return None


def decoded(raw: bytes | str, shape: type[_T], fault: Exception) -> _T:
    """What the JSON says. Raises: `fault` if it can't be read, or is not of the shape."""
    try:
        return msgspec.json.decode(raw, type=settled(shape))
    except UNREADABLE:
        raise fault from None
