"""Notes in Markdown, as people and agents keep them in MEMORY.md or USER.md: statements about a peer.

A list item or a paragraph is a statement; the headings and items that it stands under go before it, but for
the title of the page. Code, quotations, tables, comments and front matter are no statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from souvenance.adapters.importers import source_files as source
from souvenance.domain.imports import ImportedPeer, ImportedStatement, Record, Skipped

KIND = "markdown"

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_RULE = re.compile(r"[ \t]*(?:§|\^[\w-]+|(?:[-*_=][ \t]*){3,})[ \t]*")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
FRONT = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_MARKS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,300}?)(?<=\S)\1")
_TAB = 4
_MOST_CONTEXT_CHARS = 200


class MarkdownNote(Struct, frozen=True):
    """A statement, what it stands under, and its line."""

    text: str
    under: tuple[str, ...]
    line: int


class Markdown(source.FileReader):
    kind = KIND

    def records(self) -> Iterator[Record]:
        name, ids, peer = self._path.name, source.Counted(), self._wanted.peer
        yield ImportedPeer(peer, peer)
        for note in notes(self._text()):
            if isinstance(note, Skipped):
                yield note
                continue
            statement = ": ".join((*note.under, note.text))
            where, origin = f"{name}, line {note.line}", {"file": source.clean(name)}
            yield ImportedStatement(peer, peer, statement, ids.id_of(statement), where, origin=origin)

    def _text(self) -> str:
        with source.opened(self._path) as file:
            return source.decoded_page(source.page_of(file, self._path.name), self._path.name)


def notes(text: str) -> Iterator[MarkdownNote | Skipped]:
    """The statements of a page, and what in it is none."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    for shape in (FRONT, _COMMENT):
        whole = shape.sub(lambda found: "\n" * found[0].count("\n"), whole)
    page = _MarkdownPage()
    for number, line in enumerate(whole.split("\n"), 1):
        yield from page.read(line, number)
    yield from page.end()


class _MarkdownPage:
    """How far a page is read: what stands open, and under what."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []
        self._parents: list[tuple[int, str]] = []
        self._open: list[str] = []
        self._line = 0
        self._column: int | None = None
        """Where the open list item begins; None for a paragraph."""
        self._fence: str | None = None
        self._aside = ""
        """Why the lines at hand are no statement."""

    def read(self, line: str, number: int) -> Iterator[MarkdownNote | Skipped]:
        if self._fence is not None:
            closing = _FENCE.fullmatch(line)
            if closing and closing[1].startswith(self._fence) and not closing[2].strip():
                self._fence = None
            return
        if fence := _FENCE.fullmatch(line):
            yield from self.end()
            self._fence = fence[1]
            yield Skipped("code")
        elif heading := _HEADING.fullmatch(line):
            yield from self.end()
            level = len(heading[1])
            self._parents = []
            self._headings = [one for one in self._headings if one[0] < level]
            self._headings.append((level, _plain(heading[2].rstrip(" \t#"))))
        elif not line.strip() or _RULE.fullmatch(line):
            yield from self.end()
        elif item := _ITEM.fullmatch(line):
            yield from self.end()
            column = len(item[1].expandtabs(_TAB))
            self._parents = [one for one in self._parents if one[0] < column]
            self._column, self._line, self._open = column, number, [item[2]]
        else:
            yield from self._other(line, number)

    def end(self) -> Iterator[MarkdownNote | Skipped]:
        """What stood open, as a statement."""
        aside, text = self._aside, _plain(" ".join(self._open))
        column, self._open, self._aside, self._column = self._column, [], "", None
        if aside:
            yield Skipped(aside)
        elif text:
            deepest = [one for level, one in self._headings if level > 1 and one][-1:]
            parents = [one for at, one in self._parents if column is None or at < column]
            under = tuple(one[:_MOST_CONTEXT_CHARS] for one in (*deepest, *parents))
            if column is not None:
                self._parents.append((column, text.rstrip(":").strip()))
            if not text.endswith(":"):
                yield MarkdownNote(text, under, self._line)

    def _other(self, line: str, number: int) -> Iterator[MarkdownNote | Skipped]:
        stripped = line.strip()
        aside = {">": "quotations", "|": "tables"}.get(stripped[0], "")
        if not aside and not self._open and not self._aside and not self._parents and _is_indented(line):
            aside = "code"
        if aside != self._aside or (aside and self._open):
            yield from self.end()
        if aside:
            self._aside = aside
            return
        if not self._open:
            self._line = number
            if not _is_indented(line):
                self._parents = []
        self._open.append(stripped)


def _is_indented(line: str) -> bool:
    return line.expandtabs(_TAB).startswith(" " * _TAB)


def _plain(text: str) -> str:
    """The words without the marks around them."""
    named = _WIKILINK.sub(lambda found: found[2] or found[1], text)
    return _MARKS.sub(r"\2", _LINK.sub(r"\1", named)).strip()
