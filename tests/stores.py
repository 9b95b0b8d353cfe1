"""Where a store lies that a test asks for in a folder: there, unless the whole run puts stores elsewhere.

`pytest --store postgres` and `pytest --store postgres+s3` do: see `postgres.everywhere`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.core.request_context import Services
from souvenance.ports.store import Store


class Elsewhere(Protocol):
    def settings_of(self, home: Path) -> dict[str, str]:
        """What tells a process of that data folder where its store is."""
        ...

    def store(self, path: Path) -> Store:
        """The book that stands for the file, the same one each time."""
        ...

    def attend(self, path: Path, services: Services) -> None:
        """Look after the test whether all that was kept of that book agrees."""
        ...


elsewhere: Elsewhere | None = None


def settings_of(home: Path) -> dict[str, str]:
    """The settings that a data folder's processes need to find its store."""
    return {} if elsewhere is None else elsewhere.settings_of(home)


def store(path: Path) -> Store:
    """The book that a test asks for in that file."""
    return in_a_file(path) if elsewhere is None else elsewhere.store(path)


def in_a_file(path: Path) -> Store:
    """The book in that very file, wherever the run puts stores."""
    if not path.exists():
        path.write_bytes(_empty())
    return SqlStore(SqliteEngine(path))


@cache
def _empty() -> bytes:
    """The file of an empty book, which takes less to copy than to make."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "book.db"
        SqlStore(SqliteEngine(path)).close()
        return path.read_bytes()


def attend(path: Path, services: Services) -> None:
    """Tell with what the book of that file is worked on, to whoever keeps it elsewhere."""
    if elsewhere is not None:
        elsewhere.attend(path, services)
