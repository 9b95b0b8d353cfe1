from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from base64 import b64encode

import pytest

from contracts.write_queue_contract import Hand, WriteQueueContract, put
from processes import PATIENCE_SECONDS
from reference.write_queue import MemoryWriteQueue
from souvenance.adapters.write_queue import KEY_FILE, WAITING, SealedWriteQueue
from souvenance.errors import StorageFull, StorageReadOnly, StorageUnavailable
from souvenance.ports.write_queue import WriteQueueStatus, WriteRefused

RARE = "Quxabolinda"
LANE = "Vrathnikel's lane"


class TestMemoryWriteQueue(WriteQueueContract):
    @pytest.fixture
    def open_write_queue(self, clock):
        write_queue = MemoryWriteQueue(clock)
        return lambda: write_queue


class TestSealedWriteQueue(WriteQueueContract):
    @pytest.fixture
    def open_write_queue(self, tmp_path, clock):
        return lambda: SealedWriteQueue(tmp_path / "write-queue", clock=clock)


@pytest.fixture
def folder(tmp_path):
    """Where the write queue will be; nothing is there yet."""
    return tmp_path / "write-queue"


@pytest.fixture
def write_queue(folder):
    write_queue = SealedWriteQueue(folder)
    yield write_queue


@pytest.fixture
def hand():
    return Hand()


def contents(folder):
    return b"\n".join(path.read_bytes() for path in sorted(folder.iterdir()))


def letters(folder, state=WAITING):
    """The files of the letters, in the order of putting."""
    return sorted(folder.glob(f"*.{state}"))


def renamed(path, part, value):
    """Change a part of what the name of a letter's file tells."""
    parts = path.name.split(".")
    parts[part] = value
    path.rename(path.with_name(".".join(parts)))


def test_nothing_is_made_before_the_first_letter(folder, write_queue, hand):
    assert write_queue.deliver(hand)
    assert write_queue.standing() == WriteQueueStatus()
    assert not folder.exists()


def test_the_folder_and_its_files_are_their_owners_alone(folder, write_queue, hand):
    usual = os.umask(0)
    try:
        put(write_queue, ("a", 1))
        write_queue.deliver(hand)
        put(write_queue, ("a", 2))
    finally:
        os.umask(usual)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} >= {KEY_FILE}
    assert letters(folder)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_loading_the_module_and_asking_an_empty_write_queue_loads_no_cipher(folder):
    script = """
import sys
from pathlib import Path
from souvenance.adapters.write_queue import SealedWriteQueue
outbox = SealedWriteQueue(Path(sys.argv[1]))
outbox.standing(), outbox.deliver(print)
print(*sorted({"cryptography", "sqlite3", "jwt", "numpy"} & set(sys.modules)))
"""
    told = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == []


@pytest.fixture
def secret_letters(folder, write_queue):
    """Letters with a rare word; the sealed bytes as they were stored."""
    for number in range(40):
        write_queue.put(LANE, {"text": f"{RARE} {number} " + "and on " * (number * 30)})
    return [path.read_bytes() for path in letters(folder)]


def shapes(text):
    raw = text.encode()
    return [raw, raw.lower(), text.encode("utf-16-le"), raw.hex().encode(), b64encode(raw)[:-3]]


def test_no_body_and_no_lane_can_be_read_in_the_files_during_their_life(folder, write_queue, secret_letters):
    hand = Hand()
    hand.raising[LANE] = WriteRefused()
    moments = [contents(folder)]
    write_queue.deliver(hand)
    moments.append(contents(folder))
    moments.append(contents(folder))
    assert len(hand.offered) == 40
    assert hand.offered[0].body["text"].startswith(RARE)
    for moment in moments:
        assert not [shape for word in (RARE, LANE, "and on") for shape in shapes(word) if shape in moment]


def test_not_even_a_sealed_byte_is_left_of_what_was_delivered(folder, write_queue, secret_letters, hand):
    assert all(sealed[:200] in contents(folder) for sealed in secret_letters)
    assert write_queue.deliver(hand)
    after = contents(folder)
    for sealed in secret_letters:
        assert not [at for at in range(13, len(sealed) - 16, 16) if sealed[at : at + 16] in after]


def test_the_same_letter_never_looks_the_same_twice(folder, write_queue):
    put(write_queue, ("a", 1), ("a", 1))
    one, other = letters(folder)
    assert one.read_bytes() != other.read_bytes()


def test_lanes_can_be_told_apart_only_with_the_key(tmp_path):
    names = []
    for place in ("one", "two"):
        write_queue = SealedWriteQueue(tmp_path / place)
        put(write_queue, ("a", 1), ("a", 2), ("b", 3))
        names.append([path.name.split(".")[2] for path in letters(tmp_path / place)])
    assert [len(set(lanes)) for lanes in names] == [2, 2]
    assert not set(names[0]) & set(names[1])


@pytest.mark.parametrize(
    "change",
    [
        lambda first, second, third: first.write_bytes(first.read_bytes()[:30]),
        lambda first, second, third: first.write_bytes(b""),
        lambda first, second, third: first.write_bytes(b"a text"),
        lambda first, second, third: first.write_bytes(second.read_bytes()),
        lambda first, second, third: renamed(first, 1, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        lambda first, second, third: renamed(first, 2, third.name.split(".")[2]),
    ],
)
def test_a_letter_that_was_altered_is_set_aside_and_the_others_are_delivered(
    folder, write_queue, hand, change
):
    put(write_queue, ("a", 1), ("a", 2), ("b", 3))
    change(*letters(folder))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2, 3]
    assert write_queue.standing() == WriteQueueStatus(set_aside=1)


def test_a_letter_that_can_not_be_read_holds_up_no_other_lane(folder, write_queue, hand):
    put(write_queue, ("a", 1), ("b", 2))
    (first, _) = letters(folder)
    kept = first.read_bytes()
    first.unlink()
    first.mkdir()
    assert not write_queue.deliver(hand)
    assert hand.numbers == [2]
    (left,) = letters(folder)
    left.rmdir()
    left.write_bytes(kept)
    assert write_queue.deliver(hand)
    assert hand.numbers == [2, 1]


def test_a_file_that_is_no_letter_holds_up_none(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    (folder / f"0.{WAITING}").write_text("nothing that is known")
    assert write_queue.deliver(hand)
    assert hand.numbers == [1]
    assert write_queue.standing() == WriteQueueStatus()


def test_a_letter_of_a_new_folder_is_not_taken_for_one_that_was_in_hand_when_the_old_was_lost(
    folder, write_queue, hand
):
    def carry(letter):
        for path in folder.iterdir():
            path.unlink()
        put(write_queue, ("a", 2))

    put(write_queue, ("a", 1))
    write_queue.deliver(lambda letter: carry(letter) if letter.body["n"] == 1 else hand(letter))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2]


def test_a_folder_that_lost_all_its_letters_is_begun_anew(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    for path in folder.iterdir():
        path.unlink()
    assert write_queue.standing() == WriteQueueStatus()
    assert write_queue.deliver(hand)
    put(write_queue, ("a", 2))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2]


@pytest.mark.parametrize("key", [None, "00" * 32 + "\n", "short", "", "no hex at all"])
def test_what_another_key_sealed_is_kept_and_delivered_once_that_key_is_back(folder, write_queue, key, hand):
    put(write_queue, ("a", 1), ("a", 2))
    right = (folder / KEY_FILE).read_text()
    (folder / KEY_FILE).unlink()
    if key is not None:
        (folder / KEY_FILE).write_text(key)
        (folder / KEY_FILE).chmod(0o600)
    put(write_queue, ("a", 3))
    assert write_queue.deliver(hand)
    assert hand.numbers == [3]
    assert write_queue.standing() == WriteQueueStatus(other_key=2)
    (folder / KEY_FILE).write_text(right)
    assert write_queue.deliver(hand)
    assert hand.numbers == [3, 1, 2]


def test_a_key_that_others_may_read_is_refused_with_the_remedy(folder, write_queue):
    put(write_queue, ("a", 1))
    (folder / KEY_FILE).chmod(0o644)
    with pytest.raises(StorageUnavailable, match=KEY_FILE) as refused:
        put(write_queue, ("a", 2))
    assert "chmod 600" in refused.value.hint
    (folder / KEY_FILE).chmod(0o600)
    assert write_queue.standing() == WriteQueueStatus(waiting=1)


def test_a_file_in_the_place_of_the_folder_is_a_storage_error(folder, write_queue):
    folder.write_text("not a folder")
    for ask in (lambda: put(write_queue, ("a", 1)), lambda: SealedWriteQueue(folder / "deeper").put("a", {})):
        with pytest.raises(StorageReadOnly):
            ask()


def test_a_folder_in_the_place_of_the_key_is_a_storage_error(folder, write_queue):
    (folder / KEY_FILE).mkdir(parents=True)
    for ask in (lambda: put(write_queue, ("a", 1)), write_queue.standing):
        with pytest.raises(StorageUnavailable):
            ask()


def test_a_full_disk_is_told_by_put_and_loses_nothing(folder, write_queue, hand, monkeypatch):
    put(write_queue, ("a", 0))

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk, pytest.raises(StorageFull):
        disk.setattr(os, "fsync", full)
        put(write_queue, ("a", 1))
    assert write_queue.standing() == WriteQueueStatus(waiting=1)
    put(write_queue, ("a", 2))
    assert write_queue.deliver(hand)
    assert hand.numbers == [0, 2]


def in_a_child(work):
    """Fork, and let the child do the work; its exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_puts_into_the_write_queue_that_its_parent_had_open(write_queue, hand):
    put(write_queue, ("a", 1))
    for number in (2, 3):
        assert in_a_child(lambda number=number: put(write_queue, ("a", number))) == 0
    put(write_queue, ("a", 4))
    assert write_queue.deliver(hand)
    assert hand.numbers == [1, 2, 3, 4]


def test_what_a_child_puts_is_not_lost_when_its_parent_closes_meanwhile(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    reading, writing = os.pipe()

    def work():
        put(write_queue, ("a", 2))
        os.read(reading, 1)
        put(write_queue, ("a", 3))

    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    while write_queue.standing().waiting < 2:
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.write(writing, b"x")
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    assert write_queue.deliver(hand)
    assert hand.numbers == [1, 2, 3]


def test_a_fork_in_the_middle_of_another_threads_puts_leaves_both_sides_working(write_queue, hand):
    forks, burst = 12, 15
    go = threading.Semaphore(0)

    def fill():
        for number in range(forks * burst):
            if number % burst == 0:
                assert go.acquire(timeout=PATIENCE_SECONDS)
            put(write_queue, ("parent", number))

    def fork(number):
        go.release()
        return in_a_child(lambda: put(write_queue, ("child", number)))

    thread = threading.Thread(target=fill)
    thread.start()
    codes = [fork(number) for number in range(forks)]
    thread.join(PATIENCE_SECONDS)
    assert codes == [0] * forks
    assert write_queue.deliver(hand)
    found = {lane: [one.body["n"] for one in hand.taken if one.lane == lane] for lane in ("parent", "child")}
    assert found == {"parent": list(range(forks * burst)), "child": list(range(forks))}
