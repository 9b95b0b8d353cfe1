"""Another process holds a file that a turn is to be written to: the turn is kept, and written once."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from hermes.stage import Stage
from souvenance.adapters.private_files import sweep
from souvenance.adapters.write_queue.folder import BUSY_SECONDS, key_of, present_key
from souvenance.adapters.write_queue.queue import SealedWriteQueue
from souvenance.errors import StorageBusy
from souvenance.ports.write_queue import WriteQueueStatus

HOLDS_A_DATABASE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""
TELLS = """
import pathlib, sys
from hermes.stage import Stage
stage = Stage(pathlib.Path(sys.argv[1]))
stage.provider().sync_turn("I live in Porto.", "A fine town.")
print("kept", flush=True)
sys.stdin.read()
"""


DIES_IN_THE_MIDDLE_OF_A_LETTER = """
import os, pathlib, signal, sys
from souvenance.adapters.write_queue.queue import SealedWriteQueue
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


@contextmanager
def locked(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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
    return stage.home / "souvenance" / "outbox"


def test_turns_are_kept_in_order_while_another_holds_the_write_queue(begun):
    with held(write_queue_of(begun) / "outbox.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        begun.provider().sync_turn("My cat is Momo.", "")
    begun.provider().sync_turn("My dog is Rex.", "")
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto.", "My cat is Momo.", "My dog is Rex."]
    assert not list(write_queue_of(begun).glob("*.late"))


def test_what_is_kept_beside_a_held_write_queue_can_not_be_read_there(begun):
    with held(write_queue_of(begun) / "outbox.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        (late,) = write_queue_of(begun).glob("*.late")
        assert b"Porto" not in late.read_bytes()
        assert late.stat().st_mode & 0o077 == 0


def test_a_process_that_is_killed_while_another_holds_the_write_queue_loses_no_turn(begun, tmp_path):
    begun.close()
    with held(write_queue_of(begun) / "outbox.db"):
        host, told = run(TELLS, tmp_path)
        assert told == "kept"
        killed(host)
    stage = begun.anew()
    stage.provider()
    stage.flush()
    assert texts(stage) == ["This was before.", "I live in Porto.", "A fine town."]


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
    first.close()
    second.close()
    assert [letter.body["n"] for letter in taken] == [1, 2, 3]


def test_who_holds_the_folder_and_is_about_to_make_a_key_takes_the_one_that_is_made_meanwhile(
    tmp_path, monkeypatch
):
    write_queue, chance = SealedWriteQueue(tmp_path), os.urandom

    def put_first(count):
        monkeypatch.setattr(os, "urandom", chance)
        write_queue.put("chat", {"n": 1})
        return chance(count)

    with locked(tmp_path):
        monkeypatch.setattr(os, "urandom", put_first)
        key = key_of(tmp_path)
    assert key == present_key(tmp_path)
    taken = []
    assert write_queue.deliver(taken.append)
    write_queue.close()
    assert [letter.body["n"] for letter in taken] == [1]


def test_a_key_that_can_not_be_read_is_left_to_who_holds_the_folder(tmp_path):
    (tmp_path / "outbox.key").write_text("nothing that is known")
    (tmp_path / "outbox.key").chmod(0o600)
    write_queue = SealedWriteQueue(tmp_path)
    with locked(tmp_path), pytest.raises(StorageBusy):
        write_queue.put("chat", {"n": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["outbox.key"]


def test_who_is_killed_in_the_middle_of_a_letter_leaves_nothing_for_ever(tmp_path):
    write_queue = SealedWriteQueue(tmp_path)
    write_queue.put("chat", {"n": 1})
    write_queue.close()
    before = set(tmp_path.iterdir())
    with held(tmp_path / "outbox.db"):
        dies, _ = run(DIES_IN_THE_MIDDLE_OF_A_LETTER, tmp_path)
        dies.communicate()
    assert set(tmp_path.iterdir()) - before, "it was not killed in the middle"
    taken = []
    assert SealedWriteQueue(tmp_path).deliver(taken.append)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert [letter.body["n"] for letter in taken] == [1]


def test_a_letter_that_is_swept_away_while_it_is_written_is_written_again(tmp_path, monkeypatch):
    """As if another process opened the outbox, which removes what the killed left behind."""
    write_queue = SealedWriteQueue(tmp_path)
    write_queue.put("chat", {"n": 1})
    sweeps, sync = [True, True], os.fsync

    def sync_and_sweep(descriptor):
        sync(descriptor)
        if sweeps and sweeps.pop():
            sweep(tmp_path)

    with held(tmp_path / "outbox.db"):
        monkeypatch.setattr(os, "fsync", sync_and_sweep)
        write_queue.put("chat", {"n": 2})
    assert not sweeps
    taken = []
    assert write_queue.deliver(taken.append)
    write_queue.close()
    assert [letter.body["n"] for letter in taken] == [1, 2]


@pytest.mark.parametrize("hook", ["on_pre_compress", "shutdown"])
def test_a_conversation_ends_all_the_same_while_another_holds_the_write_queue(begun, hook):
    provider = begun.provider()
    begun.recall(provider, "What was before?")
    history = [{"role": "user", "content": "What was before?"}]
    with held(write_queue_of(begun) / "outbox.db"):
        ends = {"on_pre_compress": lambda: provider.on_pre_compress(history), "shutdown": provider.shutdown}
        began = time.monotonic()
        ends[hook]()
        assert time.monotonic() - began < BUSY_SECONDS


def test_a_turn_waits_while_another_holds_the_store(begun):
    with held(begun.home / "souvenance" / "souvenance.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        assert begun.runtime(begun.configuration(begun.home, "default")[0]).standing().waiting
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto."]


def test_who_took_a_letter_in_and_was_killed_before_its_file_was_gone_takes_it_in_once(tmp_path):
    """As the next process finds it: the letter in the outbox, and its own file beside it still."""
    write_queue = SealedWriteQueue(tmp_path)
    write_queue.put("chat", {"n": 1})
    with held(tmp_path / "outbox.db"):
        write_queue.put("chat", {"n": 2})
    (late,) = tmp_path.glob("*.late")
    kept = late.read_bytes()
    assert write_queue.standing().waiting == 2
    late.write_bytes(kept)
    taken = []
    assert write_queue.deliver(taken.append)
    late.write_bytes(kept)
    assert write_queue.deliver(taken.append)
    write_queue.close()
    assert [letter.body["n"] for letter in taken] == [1, 2, 2]
    assert [letter.attempts > 0 for letter in taken] == [False, True, True], "who carries it can't tell"


def test_a_file_that_is_no_letter_holds_up_none(tmp_path):
    write_queue = SealedWriteQueue(tmp_path)
    (tmp_path / "0.late").write_text("nothing that is known")
    write_queue.put("chat", {"n": 1})
    taken = []
    assert write_queue.deliver(taken.append)
    write_queue.close()
    assert [letter.body["n"] for letter in taken] == [1]
