"""Another process holds a file that a turn is to be written to: the turn is kept, and written once."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from hermes.stage import Stage
from souvenance.adapters.private_files import sweep
from souvenance.adapters.write_queue import SealedWriteQueue
from souvenance.errors import StorageBusy
from souvenance.files import LOCK_FILE, locked
from souvenance.ports.write_queue import WriteQueueStatus

HOLDS_A_DATABASE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""
DIES_IN_THE_MIDDLE_OF_A_LETTER = """
import os, pathlib, signal, sys
from souvenance.adapters.write_queue import SealedWriteQueue
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
SealedWriteQueue(pathlib.Path(sys.argv[1])).put("chat", {"n": 2})
"""


def run(program, *arguments):
    started = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return started, started.stdout.readline().strip()


def killed(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


@contextmanager
def held(path):
    holder, told = run(HOLDS_A_DATABASE, path)
    assert told == "held"
    try:
        yield
    finally:
        killed(holder)


@pytest.fixture
def begun(tmp_path):
    """A profile in which something was said before."""
    stage = Stage(tmp_path)
    stage.tell(stage.provider(), "This was before.", "")
    yield stage
    stage.close()


def texts(stage):
    (found,) = stage.sessions().values()
    return [text for _, text in found]


def write_queue_of(stage):
    return stage.home / "souvenance" / "write-queue"


def test_a_turn_is_kept_while_another_holds_the_folder_of_the_write_queue(begun):
    begun.anew()
    with locked(write_queue_of(begun)):
        begun.provider().sync_turn("I live in Porto.", "")
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto."]


def test_the_very_first_letter_is_kept_while_another_holds_the_folder_of_the_write_queue(tmp_path):
    """And whoever comes after seals with the key that it made."""
    first, second = SealedWriteQueue(tmp_path), SealedWriteQueue(tmp_path)
    with locked(tmp_path):
        first.put("chat", {"n": 1})
        second.put("chat", {"n": 2})
    second.put("chat", {"n": 3})
    taken = []
    assert second.deliver(taken.append)
    assert first.standing() == WriteQueueStatus()
    assert [letter.body["n"] for letter in taken] == [1, 2, 3]


def test_a_key_that_can_not_be_read_is_left_to_who_holds_the_folder(tmp_path):
    (tmp_path / "queue.key").write_text("nothing that is known")
    (tmp_path / "queue.key").chmod(0o600)
    write_queue = SealedWriteQueue(tmp_path)
    with locked(tmp_path), pytest.raises(StorageBusy):
        write_queue.put("chat", {"n": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK_FILE, "queue.key"]


def test_who_is_killed_in_the_middle_of_a_letter_leaves_nothing_for_ever(tmp_path):
    write_queue = SealedWriteQueue(tmp_path)
    write_queue.put("chat", {"n": 1})
    before = set(tmp_path.iterdir())
    dies, _ = run(DIES_IN_THE_MIDDLE_OF_A_LETTER, tmp_path)
    dies.communicate()
    assert set(tmp_path.iterdir()) - before, "it was not killed in the middle"
    taken = []
    assert SealedWriteQueue(tmp_path).deliver(taken.append)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [LOCK_FILE]
    assert [letter.body["n"] for letter in taken] == [1]


def test_a_letter_that_is_swept_away_while_it_is_written_is_written_again(tmp_path, monkeypatch):
    """As if another process delivered, which removes what the killed left behind."""
    write_queue = SealedWriteQueue(tmp_path)
    write_queue.put("chat", {"n": 1})
    sweeps, sync = [True, True], os.fsync

    def sync_and_sweep(descriptor):
        sync(descriptor)
        if sweeps and sweeps.pop():
            sweep(tmp_path)

    monkeypatch.setattr(os, "fsync", sync_and_sweep)
    write_queue.put("chat", {"n": 2})
    assert not sweeps
    taken = []
    assert write_queue.deliver(taken.append)
    assert [letter.body["n"] for letter in taken] == [1, 2]


def test_a_turn_waits_while_another_holds_the_store(begun):
    with held(begun.home / "souvenance" / "souvenance.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        assert begun.runtime(begun.configuration(begun.home, "default")[0]).standing().waiting
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto."]
