"""Folders of Markdown, or a zip of one: a vault of Obsidian or basic-memory, and what MemPalace exports.

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

from souvenance.adapters.importers import source_files as source
from souvenance.adapters.importers.markdown import FRONT, notes
from souvenance.adapters.private_files import SourceFile
from souvenance.domain.imports import ImportedPeer, ImportedStatement, Record, Skipped
from souvenance.errors import ImportUnreadable

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
            front, left = front_matter(text)
            yield from left
            title = (front.get("title") or [PurePosixPath(place).stem])[0]
            at = _written_at(front, place)
            if at is None and any(front.get(one) for one in _TIMES):
                yield Skipped("times in front matter that can't be read")
            about = {
                "file": place,
                "tags": front.get("tags", [])[:_MOST_TAGS],
                "permalink": front.get("permalink", []),
            }
            for note in notes(text):
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
                where = f"{source.shown(place)}, line {note.line}"
                yield ImportedStatement(peer, peer, statement, ids.id_of(statement), where, at, origin=origin)


def front_matter(text: str) -> tuple[dict[str, list[str]], list[Skipped]]:
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
            left.append(Skipped("front matter that is no plain value"))
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
