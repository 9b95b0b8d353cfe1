"""Files of a source that nobody vouches for.

JSON is typed, with the place of what is wrong, in clean characters; an array of any size is read one element
after the other, in the memory that one takes. A member of a zip archive is read from inside it: nothing is
ever unpacked. In a folder no link is followed. Names are made of what the source calls somebody or something:
as it is if it can be, and never two alike.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any, Generic, TypeVar

import msgspec

from souvenance import files
from souvenance.adapters.private_files import SourceFile, open_regular
from souvenance.agents.names import digest, is_plain, sanitised
from souvenance.decoders import settled
from souvenance.domain.imports import Skipped, Wanted
from souvenance.errors import ImportUnreadable


@contextmanager
def opened(path: SourceFile) -> Iterator[IO[bytes]]:
    """The file, to be read. Raises: ImportUnreadable."""
    try:
        with open_regular(path) as file:
            yield file
    except OSError as error:
        raise ImportUnreadable(f"{path} can't be read: {error.strerror or error}") from None


_Kind = TypeVar("_Kind")


class FileReader:
    """The reader of a file, which can be looked through before anything is written."""

    again = True

    def __init__(self, path: SourceFile, wanted: Wanted) -> None:
        self._path = path
        self._wanted = wanted


MENDED = "\ufffd"
"""What stands in place of a character that can't be stored."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_SHOWN_CHARS = 80
_DAY_CHARS = len("2026-05-25")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decoded(raw: bytes, kind: type[_Kind], place: str) -> _Kind:
    """The value of that type that the JSON text says. Raises: ImportUnreadable."""
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
        raise ImportUnreadable(f"{place}: {_complaint(raw, error)}") from None


def _complaint(raw: bytes, error: Exception) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "it is not text in UTF-8"
    return _harmless(str(error))


def clean(text: str) -> str:
    """The text without NUL and halves of characters."""
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


def moment(given: str | float | None, place: str) -> datetime | None:
    """A time as JSON files write it: ISO 8601, UTC if no zone is named, or seconds since 1970.

    A day without an hour is one of where this machine is.

    Raises: ImportUnreadable.
    """
    if given is None or given == "":
        return None
    try:
        if isinstance(given, str):
            found = datetime.fromisoformat(given)
            if found.tzinfo is None and len(given) > _DAY_CHARS:
                return found.replace(tzinfo=UTC)
            return found.astimezone(UTC)
        return _EPOCH + timedelta(milliseconds=round(given * 1000))
    except (ValueError, OverflowError):
        raise ImportUnreadable(f"{place}: {shown(str(given))!r} is not a time") from None


_MOST_STEM = 48
_DIGITS = 32


def name_of(text: str, prefix: str = "") -> str:
    """The text itself if it is a plain name, else as much of it as can be and a digest of all of it."""
    if is_plain(text):
        return f"{prefix}{text}"
    return f"{prefix}{sanitised(text)[:_MOST_STEM] or 'x'}-{digest(text)[:_DIGITS]}"


class Counted:
    """Ids for what the source gives none: made of what it says, and the how-manieth of its like it is."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def id_of(self, *said: str) -> str:
        whole = digest(*said)
        key = bytes.fromhex(whole)[:16]
        self._seen[key] = nth = self._seen.get(key, 0) + 1
        return whole[:_DIGITS] if nth == 1 else f"{whole[:_DIGITS]}-{nth}"


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


class ListedPage(msgspec.Struct, Generic[_Kind]):
    """One page of a list, as services answer it."""

    results: list[_Kind] | None = None
    items: list[_Kind] | None = None
    episodes: list[_Kind] | None = None
    next: str | None = None
    next_cursor: str | None = None


def listed(
    path: SourceFile, kind: type[_Kind], pages: type[ListedPage[_Kind]], noun: str
) -> Iterator[tuple[_Kind | Skipped, str]]:
    """What is in a list, or on one page of it, each with its place. Raises: ImportUnreadable."""
    with opened(path) as file:
        for number, raw in enumerate(elements(file, path.name), 1):
            place = f"{path.name}, {noun} {number}"
            page = decoded(raw, pages, place)
            some = next((one for one in (page.results, page.items, page.episodes) if one is not None), None)
            for nth, one in enumerate([decoded(raw, kind, place)] if some is None else some, number):
                yield one, f"{path.name}, {noun} {nth}"
            if page.next or page.next_cursor:
                yield Skipped("further pages, which the file names and does not hold", path.name), path.name


def _split(file: IO[bytes], name: str, buffer: bytes, most: int) -> Iterator[bytes]:
    depth = number = 0
    start = at = 0
    while True:
        passed = (_BETWEEN if depth == 1 else _WITHIN).match(buffer, at)
        at = at if passed is None else passed.end()
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


MOST_RATIO = 200
"""How many times smaller a member may lie in the archive; text is about ten times smaller."""
HARMLESS_BYTES = 64 * 1024 * 1024
"""Up to which it does not matter."""
_MOST_MEMBERS = 1_000_000


def names_in(path: SourceFile, wanted: re.Pattern[str]) -> list[str]:
    """The members whose file names match, in order. Raises: ImportUnreadable if it is no archive, or has
    names that lead out of it."""
    with _opened(path) as archive:
        return [one.filename for one in _wanted(path, archive, wanted)]


def _wanted(path: SourceFile, archive: zipfile.ZipFile, wanted: re.Pattern[str]) -> list[zipfile.ZipInfo]:
    """Raises: ImportUnreadable, also if together they would be far larger than the archive."""
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        raise ImportUnreadable(f"{path.name} has more than {_MOST_MEMBERS} members")
    for one in members:
        parts = PurePosixPath(one.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or re.match("[A-Za-z]:", one.filename):
            raise ImportUnreadable(f"{path.name} has a member whose name leads out of it")
    found = [
        one
        for one in members
        if not one.is_dir()
        and not stat.S_ISLNK(one.external_attr >> 16)
        and wanted.fullmatch(PurePosixPath(one.filename).name)
    ]
    if archive.fp is not None:  # Members that overlap share the bytes that each says it takes.
        _check_ratio(
            path, "what it holds", sum(one.file_size for one in found), archive.fp.seek(0, os.SEEK_END)
        )
    return sorted(found, key=lambda one: one.filename)


def _check_ratio(path: SourceFile, what: str, size: int, packed: int) -> None:
    if size > max(HARMLESS_BYTES, MOST_RATIO * packed):
        raise ImportUnreadable(
            f"{path.name}: {what} would be {size} bytes, more than {MOST_RATIO} times what it takes here",
            hint="If it is what it should be, unpack it and import the file.",
        )


@contextmanager
def member(path: SourceFile, name: str) -> Iterator[IO[bytes]]:
    """A member, to be read as a file. Raises: ImportUnreadable if it is encrypted, or smaller in the archive
    than any text would be."""
    with _opened(path) as archive, _member(path, archive, archive.getinfo(name)) as file:
        yield file


@contextmanager
def _member(path: SourceFile, archive: zipfile.ZipFile, about: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    if about.flag_bits & 1:
        raise ImportUnreadable(f"{path.name}: {shown(about.filename)} is encrypted")
    _check_ratio(path, shown(about.filename), about.file_size, about.compress_size)
    with archive.open(about) as file:
        yield file


PAGE = re.compile(r"[^.].*\.(?:md|markdown)", re.IGNORECASE | re.DOTALL)
MOST_PAGE_BYTES = 16 * 1024 * 1024
_LINKS = "links to other files and folders"
_NOT_MARKDOWN = "files that are not Markdown"


def pages(path: SourceFile, most: int = MOST_PAGE_BYTES) -> Iterator[tuple[str, bytes] | Skipped]:
    """The pages of Markdown in a folder or a zip archive, each with its name there, in order.

    Nothing outside is read: links are left out, and so are pipes and devices. What begins with a dot is an
    application's own and passed over.

    Raises: ImportUnreadable if a page can't be read, or is larger than `most`.
    """
    if isinstance(path, Path) and path.is_dir():
        yield from _folder_pages(path, most)
        return
    with _opened(path) as archive:
        wanted = {one.filename for one in _wanted(path, archive, PAGE)}
        for about in sorted(archive.infolist(), key=lambda one: one.filename):
            if about.is_dir() or any(part.startswith(".") for part in PurePosixPath(about.filename).parts):
                continue
            if about.filename not in wanted:
                is_link = stat.S_ISLNK(about.external_attr >> 16)
                yield Skipped(_LINKS if is_link else _NOT_MARKDOWN, shown(about.filename))
                continue
            with _member(path, archive, about) as file:
                yield about.filename, page_of(file, shown(about.filename), most)


def _folder_pages(top: Path, most: int) -> Iterator[tuple[str, bytes] | Skipped]:
    def refuse(error: OSError) -> None:
        raise ImportUnreadable(f"{top} can't be read: {error.strerror}") from error

    for folder, inner, names in os.walk(top, onerror=refuse):
        inner[:] = sorted(one for one in inner if not one.startswith("."))
        links = [one for one in (*inner, *names) if os.path.islink(os.path.join(folder, one))]
        below = Path(folder).relative_to(top)
        yield from (Skipped(_LINKS, shown((below / one).as_posix())) for one in links)
        for name in sorted(set(names) - set(links)):
            if name.startswith("."):
                continue
            path, place = Path(folder, name), clean((below / name).as_posix())
            if not PAGE.fullmatch(name):
                yield Skipped(_NOT_MARKDOWN, shown(place))
                continue
            if not stat.S_ISREG(path.lstat().st_mode):
                yield Skipped("pipes and devices", shown(place))
                continue
            try:
                with files.open_regular(path, files.NO_LINK) as file:
                    yield place, page_of(file, place, most)
            except OSError as error:
                raise ImportUnreadable(f"{shown(place)} can't be read: {error.strerror}") from None


def page_of(file: IO[bytes], place: str, most: int = MOST_PAGE_BYTES) -> bytes:
    """All of a page. Raises: ImportUnreadable if it is larger than `most`."""
    raw = file.read(most + 1)
    if len(raw) > most:
        raise ImportUnreadable(f"{shown(place)} is larger than {most} bytes")
    return raw


def decoded_page(raw: bytes, place: str) -> str:
    """The text of a page, in clean characters. Raises: ImportUnreadable."""
    try:
        return clean(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportUnreadable(f"{shown(place)}, line {line}: it is not text in UTF-8") from None


@contextmanager
def _opened(path: SourceFile) -> Iterator[zipfile.ZipFile]:
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, ValueError) as error:
        raise ImportUnreadable(f"{path.name} is not a zip archive that can be read: {error}") from None
    except zlib.error as error:
        raise ImportUnreadable(f"{path.name} is damaged: {error}") from None
