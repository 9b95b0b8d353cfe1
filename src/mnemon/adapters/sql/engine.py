"""The engine: the few things in which one SQL database differs from another.

All SQL of this package is written once, with '?' for parameters, in what SQLite (3.35 and later)
and PostgreSQL share. An engine opens connections, turns that SQL into its database's own
spelling, and translates its database's errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

MOST_LISTED = 500
"""The most values that one statement names in a list."""

NO_LIMIT = (1 << 63) - 1

Values = Sequence[Any]
SqlRow = tuple[Any, ...]


class Session(Protocol):
    """One connection, in a transaction. It may live through many, one at a time."""

    unchanged: bool
    """Whether nobody at all wrote since this session's last transaction, and that one was committed."""

    attached: Any
    """What the session's user keeps with it from one transaction to the next; None at first."""

    def rows(self, sql: str, values: Values = ()) -> list[SqlRow]: ...

    def row(self, sql: str, values: Values = ()) -> SqlRow | None: ...

    def run(self, sql: str, values: Values = ()) -> int:
        """Execute, and say how many rows changed."""
        ...


class Engine(Protocol):
    @property
    def types(self) -> Mapping[str, str]:
        """What the placeholders of a migration stand for: {blob}, {serial} for a primary key that counts
        up and never takes a number again, and {clustered} after a table whose rows should lie in the
        order of its primary key."""
        ...

    def read(self) -> AbstractContextManager[Session]: ...

    def write(self, *, lasting: bool = True) -> AbstractContextManager[Session]: ...

    def reclaim(self) -> bool:
        """Leave no deleted byte in any file; False if that is not possible right now."""
        ...

    def close(self) -> None: ...


def as_bytes(value: object) -> bytes:
    """What a column of bytes holds. Whatever else someone put there is no sealed thing, and so is empty."""
    return value if isinstance(value, bytes) else b""


def listed(values: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The values, each once and in order, in lists that one statement can take, each with its '(?, ...)'."""
    distinct = sorted(set(values))
    for first in range(0, len(distinct), MOST_LISTED):
        some = distinct[first : first + MOST_LISTED]
        yield f"({', '.join('?' * len(some))})", some
