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
from mnemon.adapters.outbox import SealedOutbox
from mnemon.adapters.outbox_folder import BUSY_SECONDS

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


def outbox_of(stage):
    return stage.home / "mnemon" / "outbox"


def test_turns_are_kept_in_order_while_another_holds_the_outbox(begun):
    with held(outbox_of(begun) / "outbox.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        begun.provider().sync_turn("My cat is Momo.", "")
    begun.provider().sync_turn("My dog is Rex.", "")
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto.", "My cat is Momo.", "My dog is Rex."]
    assert not list(outbox_of(begun).glob("*.late"))


def test_what_is_kept_beside_a_held_outbox_can_not_be_read_there(begun):
    with held(outbox_of(begun) / "outbox.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        (late,) = outbox_of(begun).glob("*.late")
        assert b"Porto" not in late.read_bytes()
        assert late.stat().st_mode & 0o077 == 0


def test_a_process_that_is_killed_while_another_holds_the_outbox_loses_no_turn(begun, tmp_path):
    begun.close()
    with held(outbox_of(begun) / "outbox.db"):
        host, told = run(TELLS, tmp_path)
        assert told == "kept"
        killed(host)
    stage = begun.anew()
    stage.provider()
    stage.flush()
    assert texts(stage) == ["This was before.", "I live in Porto.", "A fine town."]


def test_a_turn_is_kept_while_another_holds_the_folder_of_the_outbox(begun):
    begun.anew()
    descriptor = os.open(outbox_of(begun), os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        begun.provider().sync_turn("I live in Porto.", "")
    finally:
        os.close(descriptor)
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto."]


@pytest.mark.parametrize("hook", ["on_pre_compress", "shutdown"])
def test_a_conversation_ends_all_the_same_while_another_holds_the_outbox(begun, hook):
    provider = begun.provider()
    begun.recall(provider, "What was before?")
    history = [{"role": "user", "content": "What was before?"}]
    with held(outbox_of(begun) / "outbox.db"):
        ends = {"on_pre_compress": lambda: provider.on_pre_compress(history), "shutdown": provider.shutdown}
        began = time.monotonic()
        ends[hook]()
        assert time.monotonic() - began < BUSY_SECONDS


def test_a_turn_waits_while_another_holds_the_store(begun):
    with held(begun.home / "mnemon" / "mnemon.db"):
        begun.provider().sync_turn("I live in Porto.", "")
        assert begun.station(begun.configuration(begun.home, "default")[0]).standing().waiting
    begun.flush()
    assert texts(begun) == ["This was before.", "I live in Porto."]


def test_who_took_a_letter_in_and_was_killed_before_its_file_was_gone_takes_it_in_once(tmp_path):
    """As the next process finds it: the letter in the outbox, and its own file beside it still."""
    outbox = SealedOutbox(tmp_path)
    outbox.put("chat", {"n": 1})
    with held(tmp_path / "outbox.db"):
        outbox.put("chat", {"n": 2})
    (late,) = tmp_path.glob("*.late")
    kept = late.read_bytes()
    assert outbox.standing().waiting == 2
    late.write_bytes(kept)
    taken = []
    assert outbox.deliver(taken.append)
    late.write_bytes(kept)
    assert outbox.deliver(taken.append)
    outbox.close()
    assert [letter.body["n"] for letter in taken] == [1, 2, 2]
    assert [letter.attempts > 0 for letter in taken] == [False, True, True], "who carries it can't tell"


def test_a_file_that_is_no_letter_holds_up_none(tmp_path):
    outbox = SealedOutbox(tmp_path)
    (tmp_path / "0.late").write_text("nothing that is known")
    outbox.put("chat", {"n": 1})
    taken = []
    assert outbox.deliver(taken.append)
    outbox.close()
    assert [letter.body["n"] for letter in taken] == [1]
