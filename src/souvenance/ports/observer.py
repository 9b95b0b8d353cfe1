"""The observer: hears how long a piece of work took, and how it ended.

It gets kinds, names of operations, codes and numbers. It never gets content, a token, or a name that a
person gave. It must not raise, and must not hold up what it watches.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

OPERATION = "operation"
"""A request at the gate; its name is the operation's."""
STORE = "store"
"""A transaction; its name is 'read' or 'write'."""
MODEL = "model"
"""A call of a model; its name is the task's."""
WORK = "work"
"""A piece of work behind the requests; its name is the kind of job."""

LINES = "lines"
TOKENS = "tokens"


class Watched(Protocol):
    """One piece of work under way. An error that leaves it tells how it ended."""

    def count(self, what: str, number: int) -> None:
        """So many of something came of it."""


class Observer(Protocol):
    def watch(self, kind: str, name: str) -> AbstractContextManager[Watched]:
        """Watch one piece of work, from entering to leaving."""
