"""The one thing that is wanted of a zip archive, read from inside it: nothing is ever unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from souvenance.adapters.importers.decoding import shown
from souvenance.adapters.private_files import open_regular
from souvenance.errors import ImportUnreadable

MOST_RATIO = 200
"""How many times smaller a member may lie in the archive; text is about ten times smaller."""
HARMLESS_BYTES = 64 * 1024 * 1024
"""Up to which it does not matter."""
_MOST_MEMBERS = 1_000_000


def names_in(path: Path, wanted: re.Pattern[str]) -> list[str]:
    """The members whose file names match, in order.

    Raises: ImportUnreadable if it is no archive, or has names that lead out of it.
    """
    with _opened(path) as archive:
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS:
            raise ImportUnreadable(f"{path.name} has more than {_MOST_MEMBERS} members")
        for one in members:
            parts = PurePosixPath(one.filename.replace("\\", "/"))
            if parts.is_absolute() or ".." in parts.parts or re.match("[A-Za-z]:", one.filename):
                raise ImportUnreadable(f"{path.name} has a member whose name leads out of it")
        return sorted(
            one.filename
            for one in members
            if not one.is_dir() and wanted.fullmatch(PurePosixPath(one.filename).name)
        )


@contextmanager
def member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """A member, to be read as a file.

    Raises: ImportUnreadable if it is encrypted, or smaller in the archive than any text would be.
    """
    with _opened(path) as archive:
        about = archive.getinfo(name)
        if about.flag_bits & 1:
            raise ImportUnreadable(f"{path.name}: {shown(name)} is encrypted")
        if about.file_size > max(HARMLESS_BYTES, MOST_RATIO * about.compress_size):
            raise ImportUnreadable(
                f"{path.name}: {shown(name)} would be {about.file_size} bytes, more than"
                f" {MOST_RATIO} times what it takes here",
                hint="If it is what it should be, unpack it and import the file.",
            )
        with archive.open(about) as file:
            yield file


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except OSError as error:
        raise ImportUnreadable(f"{path} can't be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, ValueError) as error:
        raise ImportUnreadable(f"{path.name} is not a zip archive that can be read: {error}") from None
    except zlib.error as error:
        raise ImportUnreadable(f"{path.name} is damaged: {error}") from None
