"""Exports that people read: pages of Markdown in a folder or a zip, or one file of JSON.

They carry the same records as an archive and are imported as one. The Markdown has an index, a page for each
person, and one for each session, in parts where it is long. A text stands on its page as a callout, and all
that its record says beyond it in a comment at the end of the page, a line of JSON for each record:

    > [!quote] [[people/ann|ann]] · 2026-05-25 10:00
    > I moved to Lisbon.

    ^01KSF0000000000000000000ZZ

    <!-- souvenance
    {"record":"line","id":"01KSF0000000000000000000ZZ",…}
    -->

Where a text would do something when it is shown (load a picture, run a query of a plugin, hide what follows),
the page shows it with that taken away, and the comment has the text as it was said.

The JSON is an array: what the export is, then every record in the order in which people read them.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

import msgspec

from souvenance.adapters.archive_file import ArchiveReader, Archives, ArchiveWriter, placed
from souvenance.adapters.importers.json_files import shape_of
from souvenance.adapters.importers.source_files import elements, opened, pages
from souvenance.adapters.private_files import SourceFile
from souvenance.agents.names import escalated
from souvenance.decoders import decoded, settled
from souvenance.domain import archive_records as r
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.imports import Skipped
from souvenance.domain.line import (
    CARD,
    CONCLUSIONS,
    DOCUMENT,
    MESSAGE,
    RELAYED,
    STATEMENT,
    SUMMARY,
    TOMBSTONE,
)
from souvenance.domain.names import SESSIONS
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import ArchiveDamaged, ImportUnreadable, InvalidInput
from souvenance.files import new_file

INDEX = "index.md"
_PART_BYTES = 1 << 20
"""A page ends with the record that reaches it: longer ones are slow to open."""
_MOST_PAGE_BYTES = 512 * 1024 * 1024
_FOREMOST = b'---\nexport: "souvenance"\n'
_IN_SESSIONS = frozenset((MESSAGE, DOCUMENT, RELAYED, SUMMARY))
_CONCLUDED = frozenset((STATEMENT, *CONCLUSIONS.values()))
_FOR_READING = ("when", "facts")
"""What the JSON says of a line twice, so that it can be read."""


class _CardText(msgspec.Struct):
    entries: list[CardEntry] | None = None


class ReadableExport:
    """Takes records as an archive does, and then gives them by the page that they stand on. They wait in a
    temporary file."""

    def __init__(self) -> None:
        self._stored = sqlite3.connect("")
        self._stored.execute(
            "CREATE TABLE record (page TEXT, part INTEGER DEFAULT 1, section INTEGER, place INTEGER, id TEXT,"
            " size INTEGER, json BLOB)"
        )

    def add(self, name: str, content: bytes) -> None:
        """As an archive's member is added. Its name says nothing here."""
        self._stored.executemany(
            "INSERT INTO record (page, section, place, id, size, json) VALUES (?, ?, ?, ?, ?, ?)",
            (_row(r.decode(line), line) for line in content.splitlines()),
        )

    def _in_order(self) -> Iterator[tuple[str, int, list[r.Record]]]:
        """Each page, which part of it, and its records."""
        self._stored.execute("CREATE INDEX place ON record (page, section, place, id)")
        self._stored.execute("CREATE INDEX id ON record (id)")
        self._stored.executemany("UPDATE record SET part = ? WHERE rowid = ?", list(self._parts()))
        for page, part in self._stored.execute("SELECT DISTINCT page, part FROM record ORDER BY page, part"):
            found = self._stored.execute(
                "SELECT json FROM record WHERE page = ? AND part = ? ORDER BY section, place, id",
                (page, part),
            )
            yield page, part, [r.decode(json) for (json,) in found]

    def _parts(self) -> Iterator[tuple[int, int]]:
        page, part, held = None, 1, 0
        rows = self._stored.execute("SELECT rowid, page, size FROM record ORDER BY page, section, place, id")
        for row, named, size in rows:
            if named != page:
                page, part, held = named, 1, 0
            elif held >= _PART_BYTES:
                part, held = part + 1, 0
            held += size
            if part > 1:
                yield part, row

    def _page_of(self, line: str) -> tuple[str, int] | None:
        rows = self._stored.execute("SELECT page, part FROM record WHERE id = ? LIMIT 1", (line,))
        return next(rows, None)

    def close(self, manifest: r.Manifest) -> r.Manifest:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Let go of the records, whatever became of them."""
        self._stored.close()


def _row(record: r.Record, line: bytes) -> tuple[str, int, int, str, int, bytes]:
    match record:
        case r.LineRecord():
            in_session = record.session if record.kind in _IN_SESSIONS else None
            page = f"people/{record.owner}" if in_session is None else f"sessions/{in_session}"
            section = 3 if record.kind == SUMMARY else 1 if record.kind == CARD else 2
            if in_session is None and record.kind not in (CARD, *_CONCLUDED):
                section = 4
            return page, section, record.turn or 0, record.id, len(line), line
        case r.PeerRecord():
            page = f"people/{record.name}"
        case r.SessionRecord():
            page = f"sessions/{record.name}"
        case _:
            page = ""
    return page, 0, 0, "", len(line), line


class MarkdownExport(ReadableExport):
    """Pages of Markdown, each given to `write` with its name. Written to as an archive is."""

    def __init__(self, write: Callable[[str, bytes], None]) -> None:
        super().__init__()
        self._write = write
        self._taken: set[str] = set()
        self._files: dict[str, str] = {"": INDEX.removesuffix(".md")}

    def close(self, manifest: r.Manifest) -> r.Manifest:
        written: list[tuple[str, str]] = []
        workspace: list[r.Record] = []
        for page, part, records in self._in_order():
            if page == "":
                workspace += records
                continue
            file = self._file(page, part)
            self._write(f"{file}.md", "\n".join(self._page(page, part, records)).encode())
            written.append((file, page.partition("/")[2] + (f" ({part})" if part > 1 else "")))
        self._write(INDEX, "\n".join(_index(manifest, workspace, written)).encode())
        return manifest

    def _file(self, page: str, part: int = 1) -> str:
        """Where the page lies: no two share a name, whatever a file system makes of case and accents."""
        if page not in self._files:
            folder, _, name = page.partition("/")
            safe = re.sub(r"[^\w-]+", "-", name)[:48]
            if safe != name or _folded(page) in self._taken or _RESERVED.fullmatch(name):
                taken = {one.removeprefix(f"{folder}/") for one in self._taken}
                safe = escalated(_folded(safe), taken, name)
            self._taken.add(_folded(f"{folder}/{safe}"))
            self._files[page] = f"{folder}/{safe}"
        return self._files[page] + (f" ({part})" if part > 1 else "")

    def _page(self, page: str, part: int, records: list[r.Record]) -> Iterator[str]:
        kind, _, name = page.partition("/")
        title = next((one.metadata.get("title") for one in records if isinstance(one, r.SessionRecord)), None)
        shown = _plain(str(title or name))
        yield from _front(
            {"title": shown, "aliases": [shown], "tags": [f"souvenance/{kind}"], _ONE[kind]: name}
        )
        yield f"# {shown}{f' ({part})' if part > 1 else ''}\n"
        rows: list[bytes] = []
        for record in records:
            if not isinstance(record, r.LineRecord):
                rows.append(r.encode(record))
                continue
            text, whole = _shown(record.text), msgspec.json.decode(r.encode(record))
            if record.text == text and record.kind not in (CARD, TOMBSTONE):
                del whole["text"]  # It is read from the page.
            rows.append(msgspec.json.encode(whole))
            if record.kind == CARD:
                yield f"## What {_plain(record.owner)} knows of {_plain(record.about or record.owner)}\n"
                yield from (f"- {_shown(_plain(fact))}" for fact in facts_of(record))
                yield ""
            elif record.kind != TOMBSTONE:
                yield from self._callout(record, text)
        yield from _data(rows)

    def _callout(self, record: r.LineRecord, text: str) -> Iterator[str]:
        kind = "abstract" if record.kind in (*_CONCLUDED, SUMMARY) else "quote" if record.turn else "note"
        replaced = "-" if record.invalidated_by else ""
        about = "" if record.about in (None, record.owner) else f" of {self._link(f'people/{record.about}')}"
        at = to_datetime(_moment(record)).isoformat(" ", "minutes")[:16]
        who = "Summary" if record.owner == SESSIONS else self._link(f"people/{record.owner}")
        yield f"> [!{kind}]{replaced} {who}{about} · {at}{' · replaced' if replaced else ''}"
        yield from (f"> {line}" if line else ">" for line in text.split("\n"))
        yield f"\n^{record.id}\n"
        for cited in record.cites:
            if (found := self._page_of(cited)) is not None:
                yield f"From {self._link(found[0], found[1], f'#^{cited}')}\n"

    def _link(self, page: str, part: int = 1, anchor: str = "") -> str:
        return f"[[{self._file(page, part)}{anchor}|{_plain(page.partition('/')[2])}]]"


_ONE = {"people": "person", "sessions": "session"}
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that Windows keeps for devices."""


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _moment(record: r.LineRecord) -> int:
    return record.created_at if record.occurred_at is None else record.occurred_at


def facts_of(record: r.LineRecord) -> list[str]:
    return [one.text for one in msgspec.json.decode(record.text, type=settled(_CardText)).entries or ()]


_ACTS = re.compile(r"!(?=\[)|<|%(?=%)|`(?=\$?=)")
_FENCE = re.compile(r"(`{3,}|~{3,})(?=[^\s`~])")


def _shown(text: str) -> str:
    """The text as a page can show it without anything happening; the text itself if that is so as it is."""
    return _FENCE.sub(r"\1text ", _ACTS.sub(r"\\\g<0>", text)).replace("\r", " ")


def _plain(text: str) -> str:
    """A name in a heading or a link."""
    return re.sub(r"[\[\]|#^<>%`\s]+", " ", text).strip() or "-"


def _front(properties: dict[str, Any]) -> Iterator[str]:
    yield "---"
    yield from (f"{name}: {msgspec.json.encode(value).decode()}" for name, value in properties.items())
    yield "---\n"


def _data(rows: Iterable[bytes]) -> Iterator[str]:
    """A comment that nothing in it can end."""
    yield "<!-- souvenance"
    yield from (row.strip().replace(b">", b"\\u003e").decode() for row in rows)
    yield "-->\n"


def _index(manifest: r.Manifest, records: list[r.Record], written: list[tuple[str, str]]) -> Iterator[str]:
    about = {key: str(value) for key, value in manifest.about.items()}
    yield from _front({"export": "souvenance", **about, "made_at": manifest.made_at, "tags": ["souvenance"]})
    of = about.get("owner") or about.get("workspace", "")
    yield f"# What is remembered of {_plain(of)}\n" if "owner" in about else f"# {_plain(of)}\n"
    for folder in ("people", "sessions"):
        yield f"## {folder.capitalize()}\n"
        yield from (f"- [[{file}|{_plain(name)}]]" for file, name in written if file.startswith(f"{folder}/"))
        yield ""
    yield from _data([msgspec.json.encode(manifest), *map(r.encode, records)])


class JsonExport(ReadableExport):
    """One array of JSON, written into a sink as an archive is."""

    def __init__(self, sink: IO[bytes]) -> None:
        super().__init__()
        self._sink = sink

    def close(self, manifest: r.Manifest) -> r.Manifest:
        self._sink.write(b"[\n" + _formatted({"souvenance": msgspec.to_builtins(manifest)}))
        for _page, _part, records in self._in_order():
            for record in records:
                self._sink.write(b",\n" + _formatted(_readable(record)))
        self._sink.write(b"\n]\n")
        return manifest


def _formatted(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def _readable(record: r.Record) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.json.decode(r.encode(record))
    if isinstance(record, r.LineRecord):
        whole["when"] = to_datetime(_moment(record)).isoformat(timespec="seconds")
        if record.kind == CARD:
            whole["facts"] = facts_of(record)
    return whole


class ReadableExportReader:
    """What one of these exports holds, as an archive is read. It is read from its beginning each time."""

    def __init__(self, path: SourceFile, read: Callable[[SourceFile], Iterator[tuple[str, bytes]]]) -> None:
        """Raises: ArchiveDamaged, InvalidInput."""
        self._path = path
        self._read = read
        whole, manifest = sha256(), None
        for sort, row in self._rows():
            whole.update(row)
            if sort == _MANIFEST:
                manifest = row
        if manifest is None:
            raise ArchiveDamaged(f"{path.name} does not say what it is")
        self.digest = whole.hexdigest()
        try:
            self.manifest = msgspec.json.decode(manifest, type=settled(r.Manifest))
        except msgspec.MsgspecError as error:
            raise ArchiveDamaged(f"what {path.name} says of itself can't be read: {error}") from None
        if self.manifest.format != r.FORMAT:
            raise InvalidInput(f"the export has format {self.manifest.format}", hint="Upgrade Souvenance.")

    def lines(self, prefix: str) -> Iterator[bytes]:
        """The records of one sort. Raises: ArchiveDamaged."""
        return (row for sort, row in self._rows() if sort == prefix)

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        try:
            yield from self._read(self._path)
        except ImportUnreadable as error:
            raise ArchiveDamaged(error.detail) from None


_MANIFEST, _REGISTER, _LINES, _RULES = "manifest", "register", "lines", "rules"
_COMMENT = "<!-- souvenance"
_ANCHOR = re.compile(r"\^([0-9A-Z]{26})")


def markdown_rows(path: SourceFile) -> Iterator[tuple[str, bytes]]:
    """The records of a folder or a zip of pages, and which sort each is of. Raises: ArchiveDamaged."""
    for page in pages(path, _MOST_PAGE_BYTES):
        if isinstance(page, Skipped):
            continue
        name, raw = page
        try:
            lines = raw.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError:
            raise ArchiveDamaged(f"{name} is not text in UTF-8") from None
        if _COMMENT not in lines:
            raise ArchiveDamaged(
                f"{name} is no page of this export",
                hint="Move it away, or import it by itself with --from markdown.",
            )
        texts = _texts(lines)
        start = lines.index(_COMMENT) + 1
        for row in lines[start : lines.index("-->", start) if "-->" in lines[start:] else len(lines)]:
            yield _sorted(row.encode(), texts, name)


def _texts(lines: list[str]) -> dict[str, str]:
    """The texts of the page's callouts, by the ids below them."""
    found: dict[str, str] = {}
    held: list[str] = []
    for line in lines:
        if line.startswith(">"):
            held.append(line[2:] if line.startswith("> ") else line[1:])
        elif held and (match := _ANCHOR.fullmatch(line)):
            found[match[1]] = "\n".join(held[1:])
            held = []
        elif line:
            held = []
    return found


def _sorted(row: bytes, texts: dict[str, str], place: str) -> tuple[str, bytes]:
    """A record, with its text and without what is for reading alone. Raises: ArchiveDamaged."""
    whole = decoded(row, dict[str, Any], ArchiveDamaged(f"{place}: a record can't be read"))
    if "record" not in whole:
        return _MANIFEST, row
    if whole["record"] != "line":
        return _RULES if whole["record"] == "rule" else _REGISTER, row
    for name in _FOR_READING:
        whole.pop(name, None)
    if "text" not in whole:
        if (text := texts.get(str(whole.get("id")))) is None:
            raise ArchiveDamaged(f"{place}: the text of line {whole.get('id')} is missing")
        whole["text"] = text
    return _LINES, msgspec.json.encode(whole)


def json_rows(path: SourceFile) -> Iterator[tuple[str, bytes]]:
    """The records of a file of JSON, and which sort each is of. Raises: ArchiveDamaged."""
    with opened(path) as file:
        for number, raw in enumerate(elements(file, path.name)):
            if number == 0:
                yield _MANIFEST, msgspec.json.encode(shape_of(raw, path.name).souvenance)
            else:
                yield _sorted(raw, {}, f"{path.name}, record {number}")


def _rows_of(path: SourceFile) -> Callable[[SourceFile], Iterator[tuple[str, bytes]]] | None:
    """How the export is read; None if it is none of these."""
    try:
        if getattr(path, "suffix", "").lower() == ".json":
            with opened(path) as file:
                first = file.read(4096).lstrip()
            return json_rows if re.match(rb'\[\s*\{\s*"souvenance"\s*:', first) else None
        for page in pages(path, _MOST_PAGE_BYTES):
            if isinstance(page, Skipped):
                continue
            if PurePosixPath(page[0]).name == INDEX:
                return markdown_rows if page[1].replace(b"\r\n", b"\n").startswith(_FOREMOST) else None
            if "/" in page[0] and isinstance(path, Path) and path.is_dir():
                return None  # What lies at the top of a folder comes first.
    except ImportUnreadable:
        return None
    return None


class Exports:
    """What the commands export to and import from: archives, and what people read."""

    _archives = Archives()

    @contextmanager
    def writing(
        self, path: Path, recipients: Sequence[str] = (), form: str = r.ARCHIVE
    ) -> Iterator[ArchiveWriter | ReadableExport]:
        """A new export, its owner's alone, which is there whole at the end or not at all.

        Markdown goes into a folder, unless the name ends in .zip.

        Raises: Conflict if it is there, InvalidInput, Unsupported, StorageUnavailable and its kind.
        """
        if form == r.ARCHIVE:
            with self._archives.writing(path, recipients) as archive:
                yield archive
            return
        if recipients:
            raise InvalidInput("only an archive can be encrypted", hint="Leave --recipient out, or --format.")
        with placed(path) as fresh:
            if form == r.MARKDOWN and path.suffix.lower() != ".zip":
                fresh.mkdir(mode=0o700)
                with MarkdownExport(lambda *page: _add_page(fresh, *page)) as export:
                    yield export
            else:
                with new_file(fresh) as file, self.packing(file, form) as export:
                    yield export

    @contextmanager
    def packing(self, sink: IO[bytes], form: str = r.ARCHIVE) -> Iterator[ArchiveWriter | ReadableExport]:
        """An export written into the sink; Markdown as a zip. Raises: OSError, as the sink does."""
        with ExitStack() as stack:
            if form == r.MARKDOWN:
                zipped = stack.enter_context(zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED))
                yield stack.enter_context(MarkdownExport(zipped.writestr))
            elif form == r.JSON:
                yield stack.enter_context(JsonExport(sink))
            else:
                yield stack.enter_context(self._archives.packing(sink))

    def reading(self, path: SourceFile, identity: Path | None = None) -> ArchiveReader | ReadableExportReader:
        """An export, read from beginning to end. Raises: as `ArchiveReader`."""
        rows = _rows_of(path)
        return self._archives.reading(path, identity) if rows is None else ReadableExportReader(path, rows)

    def is_archive(self, path: SourceFile) -> bool:
        """Whether it looks like an export."""
        return self._archives.is_archive(path) or _rows_of(path) is not None


def _add_page(folder: Path, name: str, content: bytes) -> None:
    page = folder / name
    page.parent.mkdir(mode=0o700, exist_ok=True)
    with new_file(page) as file:
        file.write(content)
