"""Several processes that do the work behind the requests of one store."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import msgspec
import pytest

from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.sql.postgres import PostgresEngine
from mnemon.core.conversation.hooks import Delivery
from mnemon.domain import audit
from mnemon.domain.tasks import DELIVER, Errand
from mnemon.testing.book_scenes import log
from mnemon.testing.work_contract import NOW, UNTIL
from surfaces.door import environment, mnemon, ordinary_signals

PATIENCE_SECONDS = 60
ERRANDS = 40


@contextmanager
def working(home, url):
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "work", "--home", str(home)],
        env=environment(MNEMON_STORE=url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ordinary_signals,
    )
    try:
        assert process.stdout is not None
        assert "works" in process.stdout.readline()
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def to_nobody(n):
    """An errand that is done at once: the webhook that it names was deleted."""
    payload = msgspec.json.encode(Delivery(endpoint="gone", body=str(n))).decode()
    return Errand("w", DELIVER, payload=payload)


def claim_and_hang(url, told):
    """Take what is there and the workspace's lock, and never let go."""
    book = SqlBook(PostgresEngine(url))
    with book.claim() as tx, book.write("w") as writing:
        writing.work.add(to_nobody(0), 0)
        told.send(len(tx.work.claim("doomed", now=NOW, until=UNTIL, most=9)))
        told.recv()


@pytest.fixture
def book(url):
    book = SqlBook(PostgresEngine(url))
    yield book
    book.close()


def until_done(book):
    rest, deadline = threading.Event(), time.monotonic() + PATIENCE_SECONDS
    while True:
        with book.read() as tx:
            if tx.work.next_due() is None:
                return
        assert time.monotonic() < deadline
        rest.wait(0.05)


def test_two_workers_do_each_errand_once_and_stop_when_told(home, url, book):
    mnemon("init", home=home, settings={"MNEMON_STORE": url})
    with working(home, url) as one, working(home, url) as other:
        for n in range(ERRANDS):
            with book.write("w") as tx:
                tx.work.add(to_nobody(n), 0)
        until_done(book)
        for process in (one, other):
            process.send_signal(signal.SIGTERM)
            told, trouble = process.communicate(timeout=PATIENCE_SECONDS)
            assert (process.returncode, trouble) == (0, "")
            assert "stopped" in told
    rows = log(book, "w")
    audit.verify("w", rows)
    assert [row.event.operation for row in rows] == ["work.deliver"] * ERRANDS


def test_what_a_killed_process_was_about_to_take_or_write_is_free_at_once(url, book):
    with book.write("w") as tx:
        tx.work.add(to_nobody(1), 0)
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    doomed = spawning.Process(target=claim_and_hang, args=(url, theirs))
    doomed.start()
    assert ours.poll(PATIENCE_SECONDS)
    assert ours.recv() == 1
    with book.claim() as tx:
        assert tx.work.claim("h", now=NOW, until=UNTIL, most=9) == []
    doomed.kill()
    doomed.join(PATIENCE_SECONDS)
    with book.write("w") as tx:
        tx.work.add(to_nobody(2), 0)
    with book.claim() as tx:
        taken = [task for _ in range(3) for task in tx.work.claim("h", now=NOW, until=UNTIL, most=9)]
    assert [(task.payload, task.attempts) for task in taken] == [(to_nobody(n).payload, 1) for n in (1, 2)]
