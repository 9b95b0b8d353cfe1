"""How data is decoded, worked out before several threads decode it.

msgspec works it out for a class when that is first decoded, and a second thread that comes meanwhile ends
the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct


def settle() -> None:
    """Work it out for every class that is loaded; one that can't be decoded never is."""
    for shape in _ours(Struct):
        with suppress(TypeError, NameError):
            msgspec.json.Decoder(shape)


def _ours(shape: type[Struct]) -> Iterator[type[Struct]]:
    for one in shape.__subclasses__():
        if one.__module__.startswith("mnemon."):
            yield one
        yield from _ours(one)
