from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from base64 import b64encode

import pytest

from contracts.write_queue_contract import Hand, WriteQueueContract, put
from processes import PATIENCE_SECONDS
from reference.write_queue import MemoryWriteQueue
from souvenance.adapters.write_queue.folder import FILE, KEY_FILE, LOCK_FILE
from souvenance.adapters.write_queue.queue import SealedWriteQueue
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
        return lambda: SealedWriteQueue(tmp_path / "outbox", clock=clock)


@pytest.fixture
def folder(tmp_path):
    """Where the outbox will be; nothing is there yet."""
    return tmp_path / "outbox"


@pytest.fixture
def write_queue(folder):
    write_queue = SealedWriteQueue(folder)
    yield write_queue
    write_queue.close()


@pytest.fixture
def hand():
    return Hand()


def contents(folder):
    return b"\n".join(path.read_bytes() for path in sorted(folder.iterdir()))


def stored(folder, column, table="letters"):
    """What a column holds, as anybody may read it."""
    reading = sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)
    try:
        return [value for (value,) in reading.execute(f"SELECT {column} FROM {table} ORDER BY place")]
    finally:
        reading.close()


def alter(folder, sql, *values):
    writing = sqlite3.connect(folder / FILE)
    with writing:
        writing.execute(sql, values)
    writing.close()


def test_nothing_is_made_before_the_first_letter(folder, write_queue, hand):
    assert write_queue.deliver(hand)
    assert write_queue.standing() == WriteQueueStatus()
    write_queue.release("a")
    write_queue.close()
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
    assert {path.name for path in folder.iterdir()} >= {FILE, f"{FILE}-wal", KEY_FILE, LOCK_FILE}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_loading_the_module_and_asking_an_empty_write_queue_loads_neither_sqlite_nor_the_cipher(folder):
    script = """
import sys
from pathlib import Path
from souvenance.adapters.write_queue.queue import SealedWriteQueue
outbox = SealedWriteQueue(Path(sys.argv[1]))
outbox.standing(), outbox.deliver(print)
print(*sorted({"sqlite3", "cryptography", "jwt", "numpy"} & set(sys.modules)))
"""
    told = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == []


@pytest.fixture
def secret_letters(folder, write_queue):
    """Letters with a rare word; the sealed bytes as they were stored."""
    for number in range(40):
        write_queue.put(LANE, {"text": f"{RARE} {number} " + "and on " * (number * 30)}, held=number % 4 == 0)
    return stored(folder, "sealed")


def shapes(text):
    raw = text.encode()
    return [raw, raw.lower(), text.encode("utf-16-le"), raw.hex().encode(), b64encode(raw)[:-3]]


def test_no_body_and_no_lane_can_be_read_in_the_files_during_their_life(folder, write_queue, secret_letters):
    hand = Hand()
    hand.raising[LANE] = WriteRefused()
    moments = [contents(folder)]
    write_queue.release(LANE)
    write_queue.deliver(hand)
    moments.append(contents(folder))
    write_queue.close()
    moments.append(contents(folder))
    assert len(hand.offered) == 40
    assert hand.offered[0].body["text"].startswith(RARE)
    for moment in moments:
        assert not [shape for word in (RARE, LANE, "and on") for shape in shapes(word) if shape in moment]


def test_not_even_a_sealed_byte_is_left_of_what_was_delivered(folder, write_queue, secret_letters, hand):
    assert all(sealed[:200] in contents(folder) for sealed in secret_letters)
    write_queue.release(LANE)
    assert write_queue.deliver(hand)
    after = contents(folder)
    assert (folder / f"{FILE}-wal").stat().st_size == 0
    for sealed in secret_letters:
        assert not [at for at in range(13, len(sealed) - 16, 16) if sealed[at : at + 16] in after]


def test_the_file_gives_back_the_compartment_that_it_took(folder, write_queue, hand):
    put(write_queue, ("a", 0))
    write_queue.deliver(hand)
    small = (folder / FILE).stat().st_size
    for number in range(50):
        write_queue.put("a", {"n": number, "text": "and on " * 2000})
    write_queue.deliver(hand)
    assert (folder / FILE).stat().st_size == small


def test_the_same_letter_never_looks_the_same_twice(folder, write_queue):
    put(write_queue, ("a", 1), ("a", 1))
    assert len(set(stored(folder, "sealed"))) == 2


def test_lanes_can_be_told_apart_only_with_the_key(tmp_path):
    names = []
    for place in ("one", "two"):
        write_queue = SealedWriteQueue(tmp_path / place)
        put(write_queue, ("a", 1), ("a", 2), ("b", 3))
        write_queue.close()
        names.append(stored(tmp_path / place, "lane"))
    assert [len(set(lanes)) for lanes in names] == [2, 2]
    assert not set(names[0]) & set(names[1])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE letters SET sealed = substr(sealed, 1, 30) WHERE place = 1",
        "UPDATE letters SET sealed = x'' WHERE place = 1",
        "UPDATE letters SET sealed = 'a text' WHERE place = 1",
        "UPDATE letters SET sealed = 7 WHERE place = 1",
        "UPDATE letters SET sealed = (SELECT sealed FROM letters WHERE place = 2) WHERE place = 1",
        "UPDATE letters SET id = '01ARZ3NDEKTSV4RRFFQ69G5FAV' WHERE place = 1",
        "UPDATE letters SET lane = (SELECT lane FROM letters WHERE place = 3) WHERE place = 1",
        "UPDATE letters SET lane = 'a text' WHERE place = 1",
    ],
)
def test_a_letter_that_was_altered_is_set_aside_and_the_others_are_delivered(
    folder, write_queue, hand, change
):
    put(write_queue, ("a", 1), ("a", 2), ("b", 3))
    write_queue.close()
    alter(folder, change)
    assert write_queue.deliver(hand)
    assert hand.numbers == [2, 3]
    assert write_queue.standing() == WriteQueueStatus(set_aside=1)


def test_a_holder_that_nobody_could_be_holds_nothing(folder, write_queue, hand):
    put(write_queue, ("a", 1), ("b", 2), held=True)
    for number, holder in enumerate(("", "nonsense"), 1):
        alter(folder, "UPDATE letters SET holder = ? WHERE place = ?", holder, number)
    assert write_queue.standing() == WriteQueueStatus(waiting=2)
    assert write_queue.deliver(hand)
    assert hand.numbers == [1, 2]


def moved_aside(folder):
    return sorted(path.name for path in folder.glob("*.broken-*"))


@pytest.mark.parametrize("junk", [b"no database at all", b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_moved_aside_whole_and_a_new_one_begun(folder, write_queue, hand, junk):
    put(write_queue, ("a", 1))
    write_queue.close()
    (folder / FILE).write_bytes(junk)
    put(write_queue, ("a", 2))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2]
    assert write_queue.standing() == WriteQueueStatus(broken=1)
    (kept,) = moved_aside(folder)
    assert (folder / kept).read_bytes() == junk


def test_a_file_that_is_spoiled_while_it_is_open_is_moved_aside_with_its_log(folder, write_queue, hand):
    for number in range(20):
        write_queue.put("a", {"n": number, "text": "and on " * 3000})
    write_queue.close()
    put(write_queue, ("a", 20))
    size = (folder / FILE).stat().st_size
    with open(folder / FILE, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    write_queue.deliver(hand)
    put(write_queue, ("b", 21))
    assert write_queue.deliver(hand)
    assert hand.numbers[-1] == 21
    assert write_queue.standing().broken == 1
    assert len(moved_aside(folder)) >= 1


def test_a_file_that_was_cut_short_does_not_stop_the_next_letter(folder, write_queue, hand):
    for number in range(20):
        write_queue.put("a", {"n": number, "text": "and on " * 3000})
    write_queue.close()
    os.truncate(folder / FILE, 3 * 4096)
    write_queue.deliver(hand)
    put(write_queue, ("b", 21))
    assert write_queue.deliver(hand)
    assert hand.numbers[-1] == 21


def test_a_log_that_lost_its_file_is_kept(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    log = (folder / f"{FILE}-wal").read_bytes()
    (folder / FILE).unlink()
    put(write_queue, ("a", 2))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2]
    (kept,) = [name for name in moved_aside(folder) if name.endswith("-wal")]
    assert (folder / kept).read_bytes() == log
    assert write_queue.standing() == WriteQueueStatus(broken=1)


def test_a_letter_of_a_new_file_is_not_taken_for_one_that_was_in_hand_when_the_old_was_lost(
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


def test_a_file_that_was_lost_with_all_its_letters_is_begun_anew(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    for path in folder.iterdir():
        path.unlink()
    assert write_queue.standing() == WriteQueueStatus()
    assert write_queue.deliver(hand)
    put(write_queue, ("a", 2))
    assert write_queue.deliver(hand)
    assert hand.numbers == [2]


@pytest.mark.parametrize("key", [None, "00" * 32 + "\n", "short", "", "no hex at all"])
def test_what_another_key_sealed_is_moved_aside_whole_and_can_be_restored_with_it(
    folder, write_queue, key, hand
):
    put(write_queue, ("a", 1), ("a", 2))
    write_queue.close()
    right = (folder / KEY_FILE).read_text()
    (folder / KEY_FILE).unlink()
    if key is not None:
        (folder / KEY_FILE).write_text(key)
        (folder / KEY_FILE).chmod(0o600)
    put(write_queue, ("a", 3))
    assert write_queue.deliver(hand)
    assert hand.numbers == [3]
    assert write_queue.standing().broken == 1
    write_queue.close()
    for kept in folder.glob(f"{FILE}.broken-*"):
        beside = kept.name[-4:] if kept.name.endswith(("-wal", "-shm")) else ""
        kept.rename(folder / f"{FILE}{beside}")
    (folder / KEY_FILE).write_text(right)
    assert write_queue.deliver(hand)
    assert hand.numbers == [3, 1, 2]


def test_a_file_that_is_moved_aside_by_one_is_left_by_all(folder, write_queue, hand):
    put(write_queue, ("a", 1))
    (folder / KEY_FILE).write_text("00" * 32)
    other = SealedWriteQueue(folder)
    put(other, ("a", 2))
    put(write_queue, ("a", 3))
    assert other.deliver(hand)
    other.close()
    assert hand.numbers == [2, 3]
    assert write_queue.standing() == WriteQueueStatus(broken=1)


def test_a_key_that_others_may_read_is_refused_with_the_remedy(folder, write_queue):
    put(write_queue, ("a", 1))
    write_queue.close()
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


def test_a_folder_in_the_place_of_the_file_is_a_storage_error(folder, write_queue):
    (folder / FILE).mkdir(parents=True)
    with pytest.raises(StorageUnavailable):
        put(write_queue, ("a", 1))


class SmallWriteQueue(SealedWriteQueue):
    """One whose file may have only so many pages."""

    def allow(self, pages):
        self.standing()
        self._file._execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_told_by_put_and_loses_nothing(folder, hand):
    write_queue = SmallWriteQueue(folder)
    put(write_queue, ("a", 0))
    write_queue.allow(40)
    acknowledged = 1
    with pytest.raises(StorageFull):
        for number in range(1, 1000):
            write_queue.put("a", {"n": number, "text": "and on " * 500})
            acknowledged += 1
    assert acknowledged > 3
    assert write_queue.standing() == WriteQueueStatus(waiting=acknowledged)
    write_queue.allow(100_000)
    put(write_queue, ("a", acknowledged))
    assert write_queue.deliver(hand)
    assert hand.numbers == list(range(acknowledged + 1))
    write_queue.close()


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
    write_queue.close()
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
