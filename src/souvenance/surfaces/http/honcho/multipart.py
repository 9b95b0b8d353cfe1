"""A form with a file, taken apart in memory: the frameworks' own parsers write larger files to the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_MOST_PARTS = 17
_MOST_FILES = 1


class Part(Struct):
    name: str = ""
    filename: str | None = None
    """None for a field without a file."""
    media_type: str = ""
    content: bytes = b""


def parts_of(body: bytes, content_type: str) -> list[Part]:
    """The parts of a form in their order. Raises: ValueError for what is none."""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise ValueError("Expected a form: multipart/form-data with a boundary")
    reading = _Reading()
    try:
        parser = MultipartParser(options[b"boundary"], reading.callbacks())
        parser.write(body)
        parser.finalize()
    except FormParserError:
        raise ValueError("The form can't be read") from None
    if not reading.ended:
        raise ValueError("The form ends before its last boundary")
    return reading.parts


class _Reading:
    """What the parser tells, piece by piece."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._headers: dict[bytes, bytes] = {}
        self._field = bytearray()
        self._value = bytearray()
        self._pieces: list[memoryview] = []

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._add_to_field,
            "on_header_value": self._add_to_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._add_content,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        if len(self.parts) >= _MOST_PARTS:
            raise ValueError(f"The form has more than {_MOST_PARTS} parts")
        self._headers = {}

    def _add_to_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[bytes(self._field).lower()] = bytes(self._value)
        self._field.clear()
        self._value.clear()

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if b"name" not in options:
            raise ValueError("A part of the form has no name")
        filename = options.get(b"filename")
        part = Part(_text(options[b"name"]), None if filename is None else _text(filename))
        part.media_type = _text(self._headers.get(b"content-type", b""))
        self.parts.append(part)
        if sum(one.filename is not None for one in self.parts) > _MOST_FILES:
            raise ValueError("The form has more than one file")

    def _add_content(self, data: bytes, start: int, end: int) -> None:
        self._pieces.append(memoryview(data)[start:end])

    def _end_part(self) -> None:
        self.parts[-1].content = b"".join(self._pieces)
        self._pieces = []

    def _end(self) -> None:
        self.ended = True


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
