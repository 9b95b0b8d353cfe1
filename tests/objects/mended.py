"""Who compares a book and a bucket that are in a test's own hands, as `mnemon doctor --repair` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.system import SystemClock, SystemEntropy
from mnemon.core.desk import Tools
from mnemon.gate.carrier import Carrier
from mnemon.gate.mending import Mender
from mnemon.ports.objects import Objects


@contextmanager
def mending(book: SqlBook, objects: Objects, tools: Tools) -> Iterator[Mender]:
    """The book is one that does not note its changes; it is closed at the end."""
    clock, entropy = SystemClock(), SystemEntropy()
    carrier = Carrier(
        book=book,
        vault=tools.vault,
        entropy=entropy,
        clock=clock,
        objects=objects,
        report=lambda told: None,
    )
    try:
        yield Mender(book=book, clock=clock, tools=tools, carrier=carrier)
    finally:
        carrier.close()
        book.close()
