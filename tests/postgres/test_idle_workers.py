"""A worker with nothing to do leaves the database alone, and hears of work at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager

import msgspec
import psycopg
import pytest

from processes import PATIENCE_SECONDS, until
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.core.conversation.directory import Delivery
from souvenance.domain.directory import DELIVER, Job
from surfaces.door import environment, ordinary_signals, souvenance

SILENCE_SECONDS = 4
_SILENT = """SELECT coalesce(bool_and(state = 'idle' AND state_change < now() - %s * interval '1 s'), false)
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"""
"""Whether everybody else who is connected has asked for nothing in so many seconds."""
_NOW = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"


@contextmanager
def working(home, url):
    """A worker, which stops in good order at the end."""
    souvenance("init", home=home, settings={"SOUVENANCE_STORE": url})
    with subprocess.Popen(
        [sys.executable, "-m", "souvenance", "work", "--home", str(home)],
        env=environment(SOUVENANCE_STORE=url),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=ordinary_signals,
    ) as process:
        try:
            assert "works" in process.stdout.readline()
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


@pytest.fixture
def watching(url):
    with psycopg.connect(url, autocommit=True) as connection:
        yield lambda sql, *values: connection.execute(sql, values).fetchone()[0]


def do_one(url, due):
    """Give the worker something to do, and wait until it is done."""
    payload = msgspec.json.encode(Delivery(endpoint="gone", body="")).decode()
    store = SqlStore(PostgresEngine(url))

    def is_done():
        with store.read() as tx:
            return tx.work.next_due() is None

    with store.write("w") as tx:
        tx.work.add(Job("w", DELIVER, payload=payload), due)
    until(is_done)
    store.close()


def test_an_idle_worker_asks_nothing_for_seconds_and_hears_of_work_at_once(home, url, watching):
    with working(home, url):
        until(lambda: watching(_SILENT, SILENCE_SECONDS))
        began = watching(_NOW)
        do_one(url, due=0)
        assert watching(_NOW) - began < 20_000


def test_a_worker_wakes_for_what_is_due_later(home, url, watching):
    with working(home, url):
        began = watching(_NOW)
        do_one(url, due=began + 1500)
        assert 1500 <= watching(_NOW) - began < 20_000
