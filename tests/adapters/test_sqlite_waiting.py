"""How long a writer waits for the store, when a program outside holds it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from time import monotonic

from souvenance.adapters.sql import sqlite as engine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.errors import StorageBusy

PATIENCE = 2.0


def test_waiting_for_a_writer_and_for_another_program_takes_no_longer_than_for_one(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", PATIENCE)
    store = SqliteEngine(tmp_path / "book.db")
    waited = []

    def write():
        began = monotonic()
        try:
            with store.write():
                pass
        except StorageBusy:
            waited.append(monotonic() - began)

    writer = threading.Thread(target=write)
    with closing(sqlite3.connect(tmp_path / "book.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with store._lock:
            writer.start()
            writer.join(PATIENCE * 0.9)
        writer.join()
    assert len(waited) == 1
    assert waited[0] < PATIENCE * 1.5
    with store.write() as session:
        assert session.rows("PRAGMA busy_timeout") == [(PATIENCE * 1000,)]
    store.close()
