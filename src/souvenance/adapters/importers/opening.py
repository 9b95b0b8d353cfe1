"""Opening a file of the source, in the terms that an import complains in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from souvenance.adapters.private_files import open_regular
from souvenance.errors import ImportUnreadable


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, to be read. Raises: ImportUnreadable."""
    try:
        with open_regular(path) as file:
            yield file
    except OSError as error:
        raise ImportUnreadable(f"{path} can't be read: {error.strerror or error}") from None
