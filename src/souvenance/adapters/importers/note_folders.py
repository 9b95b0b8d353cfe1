"""Notes in Markdown: a file, a vault of Obsidian or basic-memory, and what MemPalace exports.

- File: a list item or a paragraph is a statement about a peer. The headings and items that it stands under go
  before it, but for the title of the page. Code, quotations, tables, comments and front matter are none.
- Vault: a page is read as notes are, each statement under the page's title. Front matter gives title, time
  and tags. An observation of basic-memory (`- [category] text`) keeps its category; a relation is a sentence.
- MemPalace: a folder for each wing, a page for each room, and in it drawers: a text, and where it is from.

Front matter is read a line at a time: plain values and lists of them. What is nested in it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from msgspec import Struct

from souvenance.adapters.importers import source_files as source
from souvenance.adapters.private_files import SourceFile
from souvenance.domain.imports import ImportedPeer, ImportedStatement, Record, Skipped
from souvenance.errors import ImportUnreadable

MARKDOWN = "markdown"

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
    text: str
    under: tuple[str, ...]
    place: str


class Markdown(source.FileReader):
    kind = MARKDOWN

    def records(self) -> Iterator[Record]:
        name, ids, peer = self._path.name, source.Counted(), self._wanted.peer
        yield ImportedPeer(peer, peer)
        with source.opened(self._path) as file:
            text = source.decoded_page(source.page_of(file, name), name)
        for note in notes(text, name):
            if isinstance(note, Skipped):
                yield note
                continue
            statement, origin = ": ".join((*note.under, note.text)), {"file": source.clean(name)}
            yield ImportedStatement(peer, peer, statement, ids.id_of(statement), note.place, origin=origin)


def notes(text: str, place: str) -> Iterator[MarkdownNote | Skipped]:
    """The statements of a page, and what in it is none, each with its line of that place."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    for shape in (FRONT, _COMMENT):
        whole = shape.sub(lambda found: "\n" * found[0].count("\n"), whole)
    page = _MarkdownPage(place)
    for number, line in enumerate(whole.split("\n"), 1):
        yield from page.read(line, number)
    yield from page.end()


class _MarkdownPage:
    """How far a page is read: what stands open, and under what."""

    def __init__(self, place: str) -> None:
        self._place = place
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
            yield Skipped("code", f"{self._place}, line {number}")
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
        aside, text, place = self._aside, _plain(" ".join(self._open)), f"{self._place}, line {self._line}"
        column, self._open, self._aside, self._column = self._column, [], "", None
        if aside:
            yield Skipped(aside, place)
        elif text:
            deepest = [one for level, one in self._headings if level > 1 and one][-1:]
            parents = [one for at, one in self._parents if column is None or at < column]
            under = tuple(one[:_MOST_CONTEXT_CHARS] for one in (*deepest, *parents))
            if column is not None:
                self._parents.append((column, text.rstrip(":").strip()))
            if not text.endswith(":"):
                yield MarkdownNote(text, under, place)

    def _other(self, line: str, number: int) -> Iterator[MarkdownNote | Skipped]:
        stripped = line.strip()
        aside = {">": "quotations", "|": "tables"}.get(stripped[0], "")
        if not aside and not self._open and not self._aside and not self._parents and _is_indented(line):
            aside = "code"
        if aside != self._aside or (aside and self._open):
            yield from self.end()
        if not self._open and not self._aside:
            self._line = number
        if aside:
            self._aside = aside
            return
        if not self._open and not _is_indented(line):
            self._parents = []
        self._open.append(stripped)


def _is_indented(line: str) -> bool:
    return line.expandtabs(_TAB).startswith(" " * _TAB)


def _plain(text: str) -> str:
    """The words without the marks around them."""
    named = _WIKILINK.sub(lambda found: found[2] or found[1], text)
    return _MARKS.sub(r"\2", _LINK.sub(r"\1", named)).strip()


VAULT, MEMPALACE = "vault", "mempalace"
_TIMES = ("created", "date", "created_at", "modified", "updated")
_PROPERTY = re.compile(r"([\w-]+)[ \t]*:(?:[ \t]+(.*?))?[ \t]*")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
_OBSERVATION = re.compile(r"\[([^\[\]()]{2,80})\][ \t]+(.+)", re.DOTALL)
_HEADINGS = frozenset({"Observations", "Relations"})
"""Of basic-memory, which say nothing of what stands under them."""
_MOST_TAGS = 50


class NoteVault(source.FileReader):
    kind = VAULT

    def records(self) -> Iterator[Record]:
        peer, ids = self._wanted.peer, source.Counted()
        yield ImportedPeer(peer, peer)
        for page in source.pages(self._path):
            if isinstance(page, Skipped):
                yield page
                continue
            place, text = source.clean(page[0]), source.decoded_page(page[1], page[0])
            shown = source.shown(place)
            front, left = front_matter(text, shown)
            yield from left
            title = (front.get("title") or [PurePosixPath(place).stem])[0]
            at = _written_at(front, place)
            if at is None and any(front.get(one) for one in _TIMES):
                yield Skipped("times in front matter that can't be read", shown)
            about = {
                "file": place,
                "tags": front.get("tags", [])[:_MOST_TAGS],
                "permalink": front.get("permalink", []),
            }
            for note in notes(text, shown):
                if isinstance(note, Skipped):
                    yield note
                    continue
                said, origin = note.text, {key: value for key, value in about.items() if value}
                if observed := _OBSERVATION.fullmatch(said):
                    origin["category"], said = observed[1], observed[2]
                if "Relations" in note.under:
                    kind, _, target = said.partition(" ")
                    said = f"{kind.replace('_', ' ')} {target}"
                under = (one for one in note.under if one not in _HEADINGS)
                statement = ": ".join(dict.fromkeys((title, *under, said)))
                known = ids.id_of(statement)
                yield ImportedStatement(peer, peer, statement, known, note.place, at, origin=origin)


def front_matter(text: str, place: str) -> tuple[dict[str, list[str]], list[Skipped]]:
    """The plain values of a page's front matter by their names, and what in it is left out."""
    found, left = FRONT.match(text.replace("\r\n", "\n")), []
    properties: dict[str, list[str]] = {}
    current: list[str] = []
    for line in found[0].split("\n")[1:-1] if found else ():
        if match := _PROPERTY.fullmatch(line):
            value = match[2] or ""
            listed = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" else [value]
            current = properties[match[1].lower()] = [_bare(one) for one in listed if _bare(one)]
        elif match := _ENTRY.fullmatch(line):
            current.append(_bare(match[1]))
        elif line.strip() not in ("", "---", "...") and not line.startswith("#"):
            left.append(Skipped("front matter that is no plain value", place))
    return properties, left


def _bare(value: str) -> str:
    """The value without the quotes around it."""
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _written_at(front: dict[str, list[str]], place: str) -> datetime | None:
    """When the page says that it was written; its name may be a day. None if that is no time."""
    for said in (*(one for name in _TIMES for one in front.get(name, [])[:1]), PurePosixPath(place).stem):
        try:
            return source.moment(said, place)
        except ImportUnreadable:
            continue
    return None


_DRAWER = re.compile(
    r"^## (\S+)\n\n((?:> [^\n]*\n|>\n)+)\n\| Field \| Value \|\n\|-+\|-+\|\n((?:\|[^\n]*\n)*)", re.MULTILINE
)
_FIELD = re.compile(r"^\| (Source|Filed|Added by) \| ([^\n]*) \|$", re.MULTILINE)
PALACE = re.compile(rb"\A# Palace Export ")


class MemPalace(source.FileReader):
    kind = MEMPALACE

    def records(self) -> Iterator[Record]:
        peer = self._wanted.peer
        yield ImportedPeer(peer, peer)
        for page in source.pages(self._path):
            if isinstance(page, Skipped):
                yield page
                continue
            place, text = page[0], source.decoded_page(page[1], page[0])
            if PALACE.match(page[1]):
                continue
            drawers = list(_DRAWER.finditer(text))
            if len(drawers) != len(re.findall(r"^## ", text, re.MULTILINE)):
                raise ImportUnreadable(f"{source.shown(place)}: not all of its drawers can be read")
            wing, _, room = text.partition("\n")[0].removeprefix("# ").partition(" / ")
            for found in drawers:
                yield self._statement(found, place, {"wing": wing, "room": room})

    def _statement(self, found: re.Match[str], place: str, origin: dict[str, str]) -> ImportedStatement:
        peer, fields = self._wanted.peer, dict(_FIELD.findall(found[3]))
        where = f"{source.shown(place)}, drawer {source.shown(found[1])}"
        filed = fields.get("Filed", "unknown")
        origin |= {"source": fields.get("Source", ""), "by": fields.get("Added by", "")}
        said = "\n".join(line[2:] for line in found[2].rstrip("\n").split("\n")).strip()
        at = None if filed == "unknown" else source.moment(filed, where)
        return ImportedStatement(peer, peer, said, source.clean(found[1]), where, at, origin=origin)


def kind_of_folder(path: SourceFile) -> str | None:
    """What the pages of a folder or a zip are; None if there are none. Raises: ImportUnreadable."""
    kind = None
    for page in source.pages(path):
        if not isinstance(page, Skipped):
            kind = VAULT
            if PurePosixPath(page[0]).name == "index.md" and PALACE.match(page[1]):
                return MEMPALACE
    return kind
