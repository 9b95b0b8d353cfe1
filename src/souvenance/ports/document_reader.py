"""The document reader: the text of an uploaded file.

Contract. The kind of file follows from its media type, or, where that is missing or says
nothing, from its name. The text that comes back holds neither NUL nor lone surrogates and is not
blank. Whatever the bytes are, `read` ends within bounded time and memory, runs nothing that is in
them, and raises nothing but the errors below.

Raises: FileTooLarge; UnsupportedType for a kind that is not read; InvalidInput, saying why, for a
file that can't be read as what it is; Unavailable when this machine can't read any such file now.
"""

from __future__ import annotations

from typing import Protocol


class DocumentReader(Protocol):
    def read(self, data: bytes, media_type: str, filename: str | None) -> str: ...
