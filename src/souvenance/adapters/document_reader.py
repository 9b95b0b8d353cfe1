"""Reads text, JSON and PDF files.

Text is decoded by its byte order mark, else by a charset that the media type declares and that
fits, else as UTF-8, else as Windows-1252, where control characters show that it isn't text.
JSON is checked and given back as it was written.

A PDF is read in a child process. A small file can ask for hours of work or gigabytes of memory, and no
in-process limit of the library catches every way of asking. So the bytes go to a child that has little time
and memory, and a file that kills it has killed nothing else. The child runs no script and opens no
attachment, link or picture: pypdf only collects text.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from importlib.util import find_spec
from io import BytesIO
from pathlib import PurePath
from threading import BoundedSemaphore
from typing import NamedTuple

import msgspec

from souvenance.errors import FileTooLarge, InvalidInput, Unavailable, UnsupportedType
from souvenance.patterns import pattern

_NO_TEXT = 3
_AT_ONCE = BoundedSemaphore(2)


class PdfLimits(NamedTuple):
    """What one file may take; seconds of processor time, bytes of memory."""

    pages: int = 2_000
    characters: int = 5_000_000
    seconds: int = 20
    memory: int = 512 * 1024 * 1024


def read_text(data: bytes, bounds: PdfLimits) -> str:
    """The text of the pages, a blank line between two of them. Raises: InvalidInput, UnsupportedType,
    Unavailable."""
    import subprocess  # Few processes ever read a PDF.

    if find_spec("pypdf") is None:
        raise UnsupportedType("PDF files can't be read: pypdf is not installed")
    command = [sys.executable, "-P", "-m", __name__, *map(str, bounds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        with _AT_ONCE:
            child = subprocess.run(  # noqa: S603 - our own module under our own interpreter
                command,
                input=data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                timeout=3 * bounds.seconds,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise InvalidInput("the PDF takes too long to read") from None
    except OSError as error:
        raise Unavailable(f"can't start a process to read the PDF: {error.strerror}") from None
    if child.returncode == 0:
        return child.stdout.decode()
    if child.returncode == _NO_TEXT:
        raise InvalidInput(f"the PDF {child.stdout.decode()}")
    raise InvalidInput("the PDF takes too much time or memory to read")


class _NoText(Exception):
    """What is wrong with the file, as the end of a sentence that begins with 'the PDF'."""


def _limit_this_process(bounds: PdfLimits) -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _collected(data: bytes, bounds: PdfLimits) -> str:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _NoText("is protected by a password")
    pages: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages, 1):
        if number > bounds.pages:
            raise _NoText(f"has more than {bounds.pages} pages")
        pages.append(page.extract_text().strip())
        length += len(pages[-1]) + 2
        if length > bounds.characters:
            raise _NoText(f"holds more than {bounds.characters} characters")
    if not any(pages):
        raise _NoText("holds no text; scanned pages are not read")
    return "\n\n".join(page for page in pages if page)


def _main(bounds: PdfLimits) -> int:
    from pypdf.errors import LimitReachedError

    _limit_this_process(bounds)
    try:
        said, code = _collected(sys.stdin.buffer.read(), bounds), 0
    except _NoText as refusal:
        said, code = str(refusal), _NO_TEXT
    except LimitReachedError:
        said, code = "takes too much time or memory to read", _NO_TEXT
    except MemoryError:
        return 1
    except Exception:  # noqa: BLE001 - pypdf lets any kind of error out of a damaged file
        said, code = "is damaged or not a PDF", _NO_TEXT
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
    return code


MOST_BYTES = 5 * 1024 * 1024
_PDF_LIMITS = PdfLimits()

_UNDECLARED = {"", "application/octet-stream", "binary/octet-stream", "application/unknown"}
_TEXT_TYPES = {
    "application/x-ndjson",
    "application/jsonl",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/sql",
}
_TEXT_SUFFIXES = """
.txt .text .md .markdown .rst .adoc .org .tex .log .csv .tsv .jsonl .ndjson .html .htm .xml .svg .yaml .yml
.toml .ini .cfg .conf .properties .srt .vtt .eml .ics .vcf .diff .patch .sql .sh .ps1 .bat .py .js .mjs .ts
.jsx .tsx .css .scss .java .kt .scala .go .rs .c .h .cc .cpp .hpp .cs .swift .rb .php .pl .lua .r .jl .hs
"""
_TYPE_OF_SUFFIX = {
    ".pdf": "application/pdf",
    ".json": "application/json",
    **dict.fromkeys(_TEXT_SUFFIXES.split(), "text/plain"),
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = pattern(r""";\s*charset\s*=\s*"?([\w.:-]+)""", re.IGNORECASE)
_KNOWN_CHARSET = pattern(
    r"us-ascii|utf-?(8|16|32)([-_]?[bl]e)?|iso-?8859-\d{1,2}|latin-?1|(windows-|cp)12\d\d|koi8-[ru]|macintosh"
    r"|shift[-_]jis|euc-(jp|kr)|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)
_CONTROL = pattern(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class Documents:
    def __init__(self, pdf_bounds: PdfLimits = _PDF_LIMITS) -> None:
        self._pdf_bounds = pdf_bounds

    def read(self, data: bytes, media_type: str, filename: str | None) -> str:
        if len(data) > MOST_BYTES:
            raise FileTooLarge(f"the file has {len(data)} bytes; at most {MOST_BYTES} are read")
        match _kind(data, media_type, filename):
            case "pdf":
                text = read_text(data, self._pdf_bounds)
            case "json":
                text = _json(data)
            case _:
                text = _decoded(data, media_type)
        text = text.replace("\0", "")
        if not text.strip():
            raise InvalidInput("the file holds no text")
        return text


def _kind(data: bytes, media_type: str, filename: str | None) -> str:
    declared = media_type.partition(";")[0].strip().lower()
    unknown = declared in _UNDECLARED
    if unknown:
        suffix = PurePath(filename or "").suffix.lower()
        declared = _TYPE_OF_SUFFIX.get(suffix, declared)
        unknown = suffix not in _TYPE_OF_SUFFIX
    if declared in {"application/pdf", "application/x-pdf"}:
        return "pdf"
    if declared == "application/json" or (declared.startswith("application/") and declared.endswith("+json")):
        return "json"
    textual = declared.startswith("text/") or declared in _TEXT_TYPES
    if (textual or unknown) and data.startswith(b"%PDF-"):
        return "pdf"
    if textual:
        return "text"
    what = "a file of unknown type" if unknown else f"a file of type {declared[:80]}"
    raise UnsupportedType(f"{what} is not read")


def _decoded(data: bytes, media_type: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    declared = _CHARSET.search(media_type)
    charsets = [declared[1]] if declared and _KNOWN_CHARSET.fullmatch(declared[1]) else []
    for charset in [*charsets, "utf-8"]:
        try:
            return data.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    text = data.decode("cp1252", "replace")
    if _CONTROL.search(text):
        raise InvalidInput("the file is not text")
    return text


def _json(data: bytes) -> str:
    text = _decoded(data, "")
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        raise InvalidInput(f"the file is not JSON: {error}") from None
    except RecursionError:
        raise InvalidInput("the file's JSON is nested too deeply") from None
    return text


if __name__ == "__main__":
    sys.exit(_main(PdfLimits(*map(int, sys.argv[1:]))))
