"""A lasting change is on the disk before its answer, and nobody else waits for that or for a long log."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading

import pytest

from souvenance.adapters.sql.sqlite import LOOK_EVERY, SqliteEngine
from souvenance.errors import StorageFull, StorageUnavailable

FLUSH = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


@pytest.fixture
def engine(tmp_path):
    made = SqliteEngine(tmp_path / "book.db")
    with made.write() as session:
        session.run("CREATE TABLE said (text TEXT)")
    yield made
    made.close()


def add(engine, text, **how):
    with engine.write(**how) as session:
        session.run("INSERT INTO said VALUES (?)", (text,))


def said(engine):
    with engine.read() as session:
        return [text for (text,) in session.rows("SELECT text FROM said")]


@pytest.fixture
def flushed(engine, monkeypatch, tmp_path):
    """The sizes of the log at each flush of it."""
    sizes, flush = [], getattr(os, FLUSH)
    log = tmp_path / "book.db-wal"

    def noted(descriptor):
        if os.path.samestat(os.fstat(descriptor), log.stat()):
            sizes.append(os.fstat(descriptor).st_size)
        flush(descriptor)

    monkeypatch.setattr(os, FLUSH, noted)
    return sizes


def test_a_lasting_change_is_flushed_with_all_that_was_committed(engine, flushed, tmp_path):
    add(engine, "lasting")
    assert flushed == [(tmp_path / "book.db-wal").stat().st_size]


def test_a_change_that_need_not_last_is_left_to_the_next_flush(engine, flushed, tmp_path):
    add(engine, "need not last", lasting=False)
    assert flushed == []
    add(engine, "lasting")
    assert flushed == [(tmp_path / "book.db-wal").stat().st_size]


def test_a_change_that_is_undone_is_not_flushed(engine, flushed):
    with pytest.raises(ZeroDivisionError), engine.write() as session:
        session.run("INSERT INTO said VALUES ('never')")
        raise ZeroDivisionError
    assert flushed == []
    assert said(engine) == []


def test_others_write_while_one_waits_for_the_disk(engine, monkeypatch):
    waits, go = threading.Event(), threading.Event()

    def slow(descriptor):
        waits.set()
        go.wait(30)

    monkeypatch.setattr(os, FLUSH, slow)
    writer = threading.Thread(target=add, args=(engine, "lasting"))
    writer.start()
    assert waits.wait(30)
    add(engine, "meanwhile", lasting=False)
    assert said(engine) == ["lasting", "meanwhile"]
    go.set()
    writer.join()


@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, StorageFull), (errno.EIO, StorageUnavailable)])
def test_a_change_that_can_not_be_flushed_is_not_acknowledged(engine, monkeypatch, number, error):
    def fails(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, FLUSH, fails)
    with pytest.raises(error):
        add(engine, "lost?")


LONG = "word " * 1_000_000
"""Some 1,200 pages."""


def test_a_long_log_is_copied_into_the_file_by_who_wrote_lastingly(engine, tmp_path):
    add(engine, LONG)
    for _ in range(LOOK_EVERY):
        add(engine, "lasting")
    assert (tmp_path / "book.db").stat().st_size > len(LONG)


def test_a_write_that_need_not_last_does_not_wait_until_the_log_is_copied(engine, tmp_path):
    add(engine, LONG, lasting=False)
    assert (tmp_path / "book.db").stat().st_size < len(LONG)
    for _ in range(LOOK_EVERY):
        add(engine, "lasting")
    assert (tmp_path / "book.db").stat().st_size > len(LONG)


def test_a_log_that_is_never_flushed_is_copied_too(engine, tmp_path):
    for _ in range(7):
        add(engine, LONG, lasting=False)
    assert (tmp_path / "book.db").stat().st_size > len(LONG)


def test_what_was_committed_as_the_store_was_closed_is_acknowledged_and_there(engine, tmp_path):
    class ClosedMeanwhile(SqliteEngine):
        def flush(self):
            self.close()
            super().flush()

    add(ClosedMeanwhile(tmp_path / "book.db"), "as it was closed")
    assert said(engine) == ["as it was closed"]


AT_EXIT = """
import atexit

@atexit.register
def add():
    with engine.write() as session:
        session.run("INSERT INTO said VALUES ('as Python ended')")

import sys
from pathlib import Path
from souvenance.adapters.sql.sqlite import SqliteEngine

engine = SqliteEngine(Path(sys.argv[1]))
with engine.read():
    pass
"""


def test_what_is_written_while_python_ends_is_acknowledged_and_there(engine, tmp_path):
    program = [sys.executable, "-c", AT_EXIT, tmp_path / "book.db"]
    ended = subprocess.run(program, capture_output=True, text=True)
    assert ended.stderr == ""
    assert said(engine) == ["as Python ended"]
