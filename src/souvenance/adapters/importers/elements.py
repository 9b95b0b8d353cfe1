"""The elements of a JSON array of any size, one after the other, in the memory that one of them takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from souvenance.errors import ImportUnreadable

MOST_BYTES = 64 * 1024 * 1024
"""Of one element, or of a file that is no array."""

_CHUNK = 1024 * 1024
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
"""Up to the next bracket, or to a string that does not end."""
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
"""Up to the next comma, too."""


def elements(file: IO[bytes], name: str, most: int = MOST_BYTES) -> Iterator[bytes]:
    """The text of each element, or, if the file holds no array, of the whole file.

    Whether the text of an element is JSON is for its reader to see.

    Raises: ImportUnreadable if the file is empty, ends too early, goes on after its end, or has an element
    that is larger than `most`.
    """
    head = file.read(_CHUNK).removeprefix(_BOM).lstrip(_SPACE)
    while not head:
        chunk = file.read(_CHUNK)
        if not chunk:
            raise ImportUnreadable(f"{name} is empty")
        head = chunk.lstrip(_SPACE)
    if head[:1] != b"[":
        whole = head + file.read(most + 1 - len(head))
        if len(whole) > most:
            raise ImportUnreadable(f"{name} is larger than {most} bytes and no JSON array")
        yield whole
        return
    yield from _split(file, name, head, most)


def _split(file: IO[bytes], name: str, buffer: bytes, most: int) -> Iterator[bytes]:
    depth = number = 0
    start = at = 0
    while True:
        at = _end_of(_BETWEEN if depth == 1 else _WITHIN, buffer, at)
        found = buffer[at : at + 1]
        if found in (b"", b'"'):  # All is looked at, or a string goes on beyond what is read so far.
            buffer, at, start = buffer[start:], at - start, 0
            buffer += _more(file, name, len(buffer), number + 1, most)
            continue
        at += 1
        if found in b"[{":
            depth += 1
            start = at if depth == 1 else start
            continue
        ends = found != b","
        depth -= ends
        if depth == 0 or not ends:
            element = buffer[start : at - 1].strip(_SPACE)
            if element or number or not ends:
                number += 1
                yield element
            start = at
        if depth == 0:
            _nothing_after(file, name, buffer[at - 1 :])
            return


def _end_of(shape: re.Pattern[bytes], buffer: bytes, at: int) -> int:
    found = shape.match(buffer, at)
    return at if found is None else found.end()


def _more(file: IO[bytes], name: str, held: int, number: int, most: int) -> bytes:
    """The next bytes of the file, more the more of an element is held. Raises: ImportUnreadable."""
    if held > most:
        raise ImportUnreadable(f"{name}: element {number} is larger than {most} bytes")
    chunk = file.read(max(_CHUNK, held))
    if not chunk:
        raise ImportUnreadable(f"{name} ends in the middle of element {number}")
    return chunk


def _nothing_after(file: IO[bytes], name: str, rest: bytes) -> None:
    if rest[:1] != b"]":
        raise ImportUnreadable(f"{name} does not end as its array began")
    rest = rest[1:]
    while not rest.strip(_SPACE):
        rest = file.read(_CHUNK)
        if not rest:
            return
    raise ImportUnreadable(f"{name} goes on after the end of its array")
