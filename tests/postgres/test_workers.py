"""Several processes that do the work behind the requests of one store."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import msgspec
import pytest

from contracts.jobs_contract import NOW, UNTIL
from contracts.store_scenes import log
from objects.stage import kept
from processes import until
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.core.conversation.directory import Delivery
from souvenance.domain import audit
from souvenance.domain.directory import DELIVER, DERIVE, Job
from surfaces.door import environment, ordinary_signals, souvenance

PATIENCE_SECONDS = 60
ERRANDS = 40


@contextmanager
def working(home, url):
    process = subprocess.Popen(
        [sys.executable, "-m", "souvenance", "work", "--home", str(home)],
        env=environment(SOUVENANCE_STORE=url),
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


def stopped(process):
    """Have it stop in good order."""
    process.send_signal(signal.SIGTERM)
    told, trouble = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, trouble) == (0, "")
    assert "stopped" in told


def to_nobody(n):
    """A job that is done at once: the webhook that it names was deleted."""
    payload = msgspec.json.encode(Delivery(endpoint="gone", body=str(n))).decode()
    return Job("w", DELIVER, payload=payload)


def claim_and_hang(url, told):
    """Take what is there and the workspace's lock, and never let go."""
    store = SqlStore(PostgresEngine(url))
    with store.claim() as tx, store.write("w") as writing:
        writing.work.add(to_nobody(0), 0)
        told.send(len(tx.work.claim("doomed", now=NOW, until=UNTIL, most=9)))
        told.recv()


def taken_by(holder, store):
    """What one claim gives to that holder, and for the how manieth time."""
    with store.claim() as tx:
        return [(task.payload, task.attempts) for task in tx.work.claim(holder, now=NOW, until=UNTIL, most=9)]


@pytest.fixture
def store(url):
    store = SqlStore(PostgresEngine(url))
    yield store
    store.close()


def is_idle(store):
    with store.read() as tx:
        return tx.work.next_due() is None


def test_two_workers_do_each_errand_once_and_stop_when_told(home, url, store):
    souvenance("init", home=home, settings={"SOUVENANCE_STORE": url})
    with working(home, url) as one, working(home, url) as other:
        for n in range(ERRANDS):
            with store.write("w") as tx:
                tx.work.add(to_nobody(n), 0)
        until(lambda: is_idle(store))
        for process in (one, other):
            stopped(process)
    rows = log(store, "w")
    audit.verify("w", rows)
    assert [row.event.operation for row in rows] == ["work.deliver"] * ERRANDS


def test_what_a_killed_process_was_about_to_take_or_write_is_free_at_once(url, store):
    with store.write("w") as tx:
        tx.work.add(to_nobody(1), 0)
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    doomed = spawning.Process(target=claim_and_hang, args=(url, theirs))
    doomed.start()
    assert ours.poll(PATIENCE_SECONDS)
    assert ours.recv() == 1
    assert taken_by("h", store) == []
    doomed.kill()
    doomed.join(PATIENCE_SECONDS)
    with store.write("w") as tx:
        tx.work.add(to_nobody(2), 0)
    taken = [until(lambda: taken_by("h", store)) for _ in range(2)]
    assert sorted(taken) == [[(to_nobody(n).payload, 1)] for n in (1, 2)]
    assert taken_by("h", store) == []


def add_some(store, workspace, count):
    """Add so many jobs, each in a transaction of its own."""
    for n in range(count):
        with store.write(workspace) as tx:
            tx.work.add(Job(workspace, DERIVE, f"s{n % 3}", "ann", n, n), NOW)


def work_off(store, added):
    """Claim and finish what there is, going round the workspaces, until all was added and nothing is left."""
    done, after = [], ""
    while True:
        last = added.is_set()
        with store.claim() as tx:
            tasks = tx.work.claim("h", now=NOW, until=UNTIL, most=4, after=after)
        for task in tasks:
            with store.write(after := task.workspace) as tx:
                assert tx.work.finish(task)
            done.append((task.workspace, task.first))
        with store.read() as tx:
            if not tasks and last and tx.work.next_due() is None:
                return done


def test_what_is_added_while_others_claim_in_its_workspace_is_done_once_and_never_overlooked(store):
    workspaces, each, added = ("a", "b", "c"), 40, threading.Event()
    with ThreadPoolExecutor() as threads:
        workers = [threads.submit(work_off, store, added) for _ in range(3)]
        for adding in [threads.submit(add_some, store, workspace, each) for workspace in workspaces]:
            adding.result()
        added.set()
        done = [one for worker in workers for one in worker.result(PATIENCE_SECONDS)]
    assert sorted(done) == sorted((workspace, n) for workspace in workspaces for n in range(each))
    with store.read() as tx:
        assert not tx.work.is_due(UNTIL)


class Watched:
    """A store from outside, where one can keep workers from finishing, see who waits, and end leases."""

    def __init__(self, server, database):
        self._server = server
        self._database = database

    def address(self, name):
        """The store's address for a process that is known by that name."""
        return f"{self._server.url(self._database)}&application_name={name}"

    @contextmanager
    def nothing_finished(self):
        """Meanwhile whoever has done some work waits before it leaves the list."""
        with self._server.connected(self._database) as connection, connection.transaction():
            connection.execute("LOCK TABLE finished_jobs IN EXCLUSIVE MODE")
            yield

    def finishing(self):
        """The names of the processes that wait so."""
        found = self._ask("SELECT application_name FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return [name for (name,) in found]

    def end_leases(self):
        """Let the time of all who hold work be over."""
        assert self._ask("UPDATE jobs SET until = 0 WHERE holder IS NOT NULL RETURNING seq")

    def _ask(self, statement):
        with self._server.connected(self._database) as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def watched(server, database):
    return Watched(server, database)


@pytest.fixture
def installation(home, url):
    """A house that takes requests and does no work."""
    with kept(home, None, store=url) as installation:
        yield installation


def derivings(store, workspace):
    """How often something was derived there, as the log tells."""
    rows = log(store, workspace)
    audit.verify(workspace, rows)
    return [row.event.operation for row in rows].count("work.derive")


def concluded(speaker):
    """What is known, in the order in which it was concluded, and how often each was."""
    found = sorted(speaker.conclusions(), key=lambda one: one["id"])
    return [(one["content"], one["times_derived"]) for one in found]


def test_a_killed_workers_work_is_done_by_another_once_and_in_its_order(home, watched, store, installation):
    with (
        installation.speaking("talk") as talk,
        installation.speaking("aside") as aside,
        ExitStack() as started,
    ):
        workers = {
            name: started.enter_context(working(home, watched.address(name))) for name in ("one", "other")
        }
        with watched.nothing_finished():
            talk.say("s", "I live in Bonn.")
            [doomed] = until(watched.finishing)
            workers.pop(doomed).kill()
        talk.say("s", "I live in Berlin now.")
        aside.say("s", "I live in Rome.")
        until(aside.is_served)
        assert (derivings(store, "talk"), concluded(talk)) == (0, [])
        watched.end_leases()
        aside.say("s", "I like tea.")  # Whoever looks for work now finds that too.
        until(talk.is_served)
        [survivor] = workers.values()
        stopped(survivor)
        assert concluded(talk) == [("I live in Bonn.", 1), ("I live in Berlin now.", 1)]
    assert derivings(store, "talk") == 1


def test_a_worker_finishes_what_it_holds_and_stops_however_often_it_is_told_to(
    home, watched, store, installation
):
    with installation.speaking("talk") as talk, working(home, watched.address("one")) as worker:
        with watched.nothing_finished():
            talk.say("s", "I live in Bonn.")
            assert until(watched.finishing) == ["one"]
            for _ in range(5000):
                worker.send_signal(signal.SIGTERM)
        stopped(worker)
        assert talk.is_served()
        assert concluded(talk) == [("I live in Bonn.", 1)]
    assert derivings(store, "talk") == 1
