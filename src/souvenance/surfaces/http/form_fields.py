"""Forms that carry a file: multipart/form-data, read in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

_MOST_PARTS = 17
_IN_MEMORY: dict[Any, Any] = {"MAX_MEMORY_FILE_SIZE": None}
"""No file of a form is ever written to the disk."""


def form_fields(body: bytes, content_type: str) -> dict[str, Any]:
    """The fields of a form, its file among them. Raises: ValueError for what is none."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise ValueError("Expected a form: multipart/form-data with a boundary")
    parts: list[Field | File] = []
    ends: list[None] = []

    def add(part: Field | File) -> None:
        if len(parts) >= _MOST_PARTS:
            raise ValueError(f"The form has more than {_MOST_PARTS} parts")
        parts.append(part)

    parser = FormParser(
        "multipart/form-data", add, add, lambda: ends.append(None), boundary=boundary, config=_IN_MEMORY
    )
    try:
        parser.write(body)
        parser.finalize()
    except FormParserError:
        raise ValueError("The form can't be read") from None
    if not ends:
        raise ValueError("The form ends before its last boundary")
    if sum(isinstance(part, File) for part in parts) > 1:
        raise ValueError("The form has more than one file")
    return dict(_form_items(parts))


def _form_items(parts: Iterable[Field | File]) -> Iterator[tuple[str, Any]]:
    for part in parts:
        name = _text(part.field_name)
        if isinstance(part, Field):
            yield name, _text(part.value).replace("\0", "")
        else:
            part.file_object.seek(0)
            yield name, part.file_object.read()
            yield "filename", _text(part.file_name)
            yield "media_type", part.content_type or ""


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")
