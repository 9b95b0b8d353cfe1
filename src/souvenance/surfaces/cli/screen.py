"""How lines of memory look: on a terminal wrapped and in colour, elsewhere one row each."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

_INDENT = "    "
_LEAST_WIDTH = 20
_WIDE = ("W", "F")
_NO_WIDTH = ("Mn", "Me", "Cf")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns the order of characters around."""


class Record(NamedTuple):
    """A line of memory as it is shown."""

    id: str
    about: str
    """When it was, where it lies, and of what kind it is."""
    text: str
    note: str = ""


def shown(records: Iterable[Record]) -> str:
    """All of them, or that there are none."""
    drawn = _for_terminal if sys.stdout.isatty() else _for_program
    return "\n".join(map(drawn, records)) or "(nothing)"


def visible(text: str) -> str:
    """The text without what a terminal would obey: control characters are written out."""
    return "".join(one if one in "\n\t" or not _commands(one) else f"\\u{ord(one):04x}" for one in text)


def faint(text: str) -> str:
    """Less bright, where there is colour."""
    return _styled(text, dim=True)


def _for_program(record: Record) -> str:
    said = " ".join(visible(record.text).split())
    return "  ".join(part for part in (record.id, record.about, said, record.note) if part)


def _for_terminal(record: Record) -> str:
    head = f"{_styled(record.id, fg='yellow')}  {_styled(record.about, fg='cyan')}"
    note = f"  {faint(record.note)}" if record.note else ""
    width = max(_LEAST_WIDTH, shutil.get_terminal_size().columns - len(_INDENT))
    said = visible(record.text).expandtabs(4).splitlines()
    rows = (row for paragraph in said for row in _wrapped(paragraph, width))
    return "\n".join([head + note, *(f"{_INDENT}{row}" for row in rows)])


def _wrapped(paragraph: str, width: int) -> Iterator[str]:
    """Rows of at most so many cells; a word that is longer is cut."""
    row = ""
    for word in paragraph.split():
        if row and _cells(row) + 1 + _cells(word) <= width:
            row = f"{row} {word}"
            continue
        if row:
            yield row
        *full, row = _cut(word, width)
        yield from full
    yield row


def _cut(word: str, width: int) -> list[str]:
    parts = [""]
    for one in word:
        if _cells(parts[-1]) + _cells(one) > width:
            parts.append("")
        parts[-1] += one
    return parts


def _cells(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(one) in _NO_WIDTH else 1 + (unicodedata.east_asian_width(one) in _WIDE)
        for one in text
    )


def _commands(one: str) -> bool:
    return unicodedata.category(one) in ("Cc", "Cs") or one in _DIRECTIONS


def _styled(text: str, fg: str | None = None, *, dim: bool | None = None) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, fg=fg, dim=dim)
