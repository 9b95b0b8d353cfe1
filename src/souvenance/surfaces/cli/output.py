"""What commands print, ask and write: lines of memory, tables, progress, questions and files."""

from __future__ import annotations

import io
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from souvenance.errors import ConfirmationNeeded, InvalidInput

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
    drawn = _for_terminal if sys.stdout.isatty() else _for_program
    return "\n".join(map(drawn, records)) or "(nothing)"


def visible(text: str) -> str:
    """The text without what a terminal would obey: control characters are written out."""
    return "".join(one if one in "\n\t" or not _commands(one) else f"\\u{ord(one):04x}" for one in text)


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _for_program(record: Record) -> str:
    parts = (record.id, record.about, one_line(record.text), record.note)
    return "  ".join(part for part in parts if part)


def _for_terminal(record: Record) -> str:
    head = f"{_styled(record.id, fg='yellow')}  {_styled(record.about, fg='cyan')}"
    note = f"  {_styled(record.note, dim=True)}" if record.note else ""
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


def counted(number: int, what: str, width: int = 0) -> str:
    """The number with its noun: 1 line, 2 lines."""
    return f"{number:>{width}} {what if number == 1 else f'{what}s'}"


def say(text: str) -> None:
    """Print a line, and end quietly if nobody reads any more."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None


def table(rows: Sequence[Sequence[str]]) -> str:
    """The rows with their columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(lines)


def progress(label: str, length: int, *, hidden: bool = False, **options: Any) -> Any:
    """A progress bar on standard error, if somebody looks there."""
    seen = not hidden and sys.stderr.isatty()
    return click.progressbar(
        length=length, label=label, file=sys.stderr if seen else io.StringIO(), **options
    )


yes_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--yes", "-y", is_flag=True, help="Do not ask for confirmation. Scripts need this."
)


def confirm(what: str, details: str = "") -> None:
    """Show the details and ask whether to do that. Raises: ConfirmationNeeded, click.Abort."""
    if not sys.stdin.isatty():
        raise ConfirmationNeeded(f"there is no terminal on which to ask you: {what}?")
    if details:
        click.echo(details, err=True)
    try:
        click.confirm(f"{what[:1].upper()}{what[1:]}?", err=True, abort=True)
    except click.Abort:
        click.echo("\nNothing was changed.", err=True)
        raise


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """A new file of the user's alone, deleted if writing it fails. Raises: InvalidInput."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"{path} can't be made: {error.strerror}") from None
    with ExitStack() as otherwise:
        otherwise.callback(path.unlink, missing_ok=True)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yield file
        otherwise.pop_all()
