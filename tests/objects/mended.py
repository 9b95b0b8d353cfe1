"""Who compares a book and a bucket that are in a test's own hands, as `souvenance doctor --repair` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from souvenance.adapters.sql.book import SqlBook
from souvenance.adapters.system import SystemClock, SystemEntropy
from souvenance.core.desk import Tools
from souvenance.gate.carrier import Carrier
from souvenance.gate.mending import Mender
from souvenance.ports.objects import Objects


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
