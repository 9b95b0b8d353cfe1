"""Reads text, JSON and PDF files.

Text is decoded by its byte order mark, else by a charset that the media type declares and that
fits, else as UTF-8, else as Windows-1252, where control characters show that it isn't text.
JSON is checked and given back as it was written. A PDF is read by `souvenance.adapters.pdf`.
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

import msgspec

from souvenance.adapters import pdf
from souvenance.errors import FileTooLarge, InvalidInput, UnsupportedType

MOST_BYTES = 5 * 1024 * 1024

_PDF_BOUNDS = pdf.PdfLimits()

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
_CHARSET = re.compile(r""";\s*charset\s*=\s*"?([\w.:-]+)""", re.IGNORECASE)
_KNOWN_CHARSET = re.compile(
    r"us-ascii|utf-?(8|16|32)([-_]?[bl]e)?|iso-?8859-\d{1,2}|latin-?1|(windows-|cp)12\d\d|koi8-[ru]|macintosh"
    r"|shift[-_]jis|euc-(jp|kr)|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class Documents:
    """A `Reader`."""

    def __init__(self, pdf_bounds: pdf.PdfLimits = _PDF_BOUNDS) -> None:
        self._pdf_bounds = pdf_bounds

    def read(self, data: bytes, media_type: str, filename: str | None) -> str:
        if len(data) > MOST_BYTES:
            raise FileTooLarge(f"the file has {len(data)} bytes; at most {MOST_BYTES} are read")
        match _kind(data, media_type, filename):
            case "pdf":
                text = pdf.read_text(data, self._pdf_bounds)
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
