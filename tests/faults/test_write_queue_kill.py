"""The write queue under kill -9, on a full disk and under two hosts at once: nothing lost, all in order.

`python test_write_queue_kill.py put|deliver|hold FOLDER LIVES SEED` lets a host live and be killed so many
times, and prints what it acknowledged; it loads the package once and forks a child for every life.
`python test_write_queue_kill.py together FOLDER NUMBER` is one of two hosts that live to the end.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from souvenance.adapters.write_queue import SealedWriteQueue
from souvenance.errors import StorageFull
from souvenance.ports.write_queue import WriteQueueStatus

LANES = ("chat one", "chat two", "chat three")
PATIENCE_SECONDS = 60
FULL_LIFE = 300
JOURNAL = "journal"


def carrier(folder):
    """Takes letters to a journal beside the queue, line by line, as a backend would."""

    def carry(letter):
        fields = (letter.id, letter.lane, letter.body["life"], letter.body["n"], letter.attempts)
        with open(folder.parent / JOURNAL, "a") as journal:
            journal.write("\t".join(map(str, fields)) + "\n")

    return carry


def journal(folder):
    """What was taken, in order: (id, lane, life, number, attempts)."""
    rows = [line.split("\t") for line in (folder.parent / JOURNAL).read_text().splitlines()]
    return [(id_, lane, int(life), int(n), int(attempts)) for id_, lane, life, n, attempts in rows]


def live(folder, job, life, report):
    write_queue = SealedWriteQueue(folder)
    carry = carrier(folder)
    for number in range(FULL_LIFE):
        body = {"life": life, "n": number, "text": "and on " * (number % 200)}
        letter_id = write_queue.put(LANES[number % 3], body)
        os.write(report, f"{letter_id}\t{LANES[number % 3]}\t{life}\t{number}\n".encode())
        if job == "deliver":
            write_queue.deliver(carry)


def killed(folder, job, life, chance):
    """Let a host live until a random moment; what it acknowledged."""
    reading, report = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        live(folder, job, life, report)
        os._exit(0)
    os.close(report)
    told, wanted = b"", chance.randrange(8)
    while told.count(b"\n") < wanted and select.select([reading], [], [], PATIENCE_SECONDS)[0]:
        told += os.read(reading, 65536)
    select.select([], [], [], chance.uniform(0, 0.004))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    return told.decode()


def again_and_again(folder, job, lives, seed):
    """Live and be killed so many times; print what was acknowledged."""
    chance = random.Random(seed)
    for life in range(lives):
        sys.stdout.write(killed(folder, job, life, chance))


def together(folder, host):
    """Put and deliver beside another host, which writes into the same lanes; print each id."""
    write_queue, carry = SealedWriteQueue(folder), carrier(folder)
    for number in range(FULL_LIFE):
        print(write_queue.put(LANES[number % 3], {"life": host, "n": number}), flush=True)
        write_queue.deliver(carry)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "write-queue"


def acknowledged_by(folder, lives, job):
    """What killed hosts acknowledged: (id, lane, life, number)."""
    told = subprocess.run(
        [sys.executable, __file__, job, str(folder), str(lives), "2026"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (told.returncode, told.stderr) == (0, "")
    rows = [line.split("\t") for line in told.stdout.splitlines()]
    return [(id_, lane, int(life), int(number)) for id_, lane, life, number in rows]


def by_lane(rows):
    """The life and number of each letter, lane by lane."""
    lanes = defaultdict(list)
    for _, lane, life, number, *_ in rows:
        lanes[lane].append((life, number))
    return lanes


def test_what_killed_hosts_acknowledged_is_delivered_once_and_in_order(folder):
    lives = 40
    acknowledged = acknowledged_by(folder, lives, "put")
    assert len(acknowledged) > lives, "the hosts hardly lived"
    write_queue = SealedWriteQueue(folder)
    assert write_queue.deliver(carrier(folder))
    taken = journal(folder)
    assert {row[0] for row in acknowledged} <= {row[0] for row in taken}
    assert len(taken) == len({row[0] for row in taken}) <= len(acknowledged) + lives
    assert {row[4] for row in taken} == {0}
    assert all(order == sorted(order) for order in by_lane(taken).values())
    assert write_queue.standing() == WriteQueueStatus()


def test_hosts_killed_while_they_deliver_repeat_at_most_the_letter_in_hand(folder):
    lives = 40
    acknowledged = acknowledged_by(folder, lives, "deliver")
    assert len(acknowledged) > lives, "the hosts hardly lived"
    write_queue = SealedWriteQueue(folder)
    assert write_queue.deliver(carrier(folder))
    assert write_queue.standing() == WriteQueueStatus()
    taken = journal(folder)
    assert {row[0] for row in acknowledged} <= {row[0] for row in taken}
    assert all(order == sorted(order) for order in by_lane(taken).values())
    times = Counter(row[0] for row in taken)
    assert sum(count - 1 for count in times.values()) <= lives
    for lane in LANES:
        for one, next_ in pairwise(row for row in taken if row[1] == lane):
            assert one[0] != next_[0] or one[4] < next_[4]


def test_a_letter_whose_carrier_was_killed_comes_again_and_says_so(folder):
    write_queue = SealedWriteQueue(folder)
    letter_id = write_queue.put("a", {"n": 1})
    write_queue.put("a", {"n": 2})

    def die(letter):
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(2):
        child = os.fork()
        if not child:
            write_queue.deliver(die)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    taken = []
    assert write_queue.deliver(taken.append)
    assert [(letter.body["n"], letter.attempts) for letter in taken] == [(1, 2), (2, 0)]
    assert taken[0].id == letter_id


def test_a_child_that_outlives_a_killed_host_does_not_keep_others_from_delivering(folder):
    write_queue = SealedWriteQueue(folder)
    write_queue.put("a", {"n": 1})
    (reading, writing), (born, bearing) = os.pipe(), os.pipe()

    def leave_a_child(letter):
        if os.fork():
            os.read(born, 1)
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(bearing, b"x")
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)

    host = os.fork()
    if not host:
        write_queue.deliver(leave_a_child)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(host, 0)[1]) == -signal.SIGKILL
    taken = []
    assert write_queue.deliver(taken.append)
    for end in (reading, writing, born, bearing):
        os.close(end)
    assert [letter.body for letter in taken] == [{"n": 1}]


def test_on_a_full_disk_nothing_acknowledged_is_lost_and_a_little_compartment_is_enough_to_deliver_it(
    small_disk,
):
    if not hasattr(small_disk, "filler"):
        pytest.skip("no small disk can be mounted here")
    folder = small_disk.home.parent / "write-queue"
    write_queue, taken = SealedWriteQueue(folder), []
    acknowledged = []
    with pytest.raises(StorageFull):
        for number in range(2000):
            acknowledged.append(write_queue.put("a", {"n": number, "text": "and on " * 500}))
    assert len(acknowledged) > 20
    with pytest.raises(StorageFull):
        SealedWriteQueue(folder.parent / "another").put("a", {"text": "and on " * 100_000})
    with suppress(StorageFull):
        write_queue.deliver(taken.append)
    small_disk.free()
    assert write_queue.deliver(taken.append)
    assert list(dict.fromkeys(letter.id for letter in taken)) == acknowledged
    assert len(taken) <= len(acknowledged) + 1
    assert write_queue.put("a", {"n": 0})


def test_two_hosts_that_put_and_deliver_at_once_lose_nothing_and_repeat_nothing(folder):
    script = [sys.executable, __file__, "together", str(folder)]
    hosts = [
        subprocess.Popen([*script, str(number)], stdout=subprocess.PIPE, text=True) for number in range(2)
    ]
    told = [host.communicate(timeout=120)[0].splitlines() for host in hosts]
    assert [host.returncode for host in hosts] == [0, 0]
    write_queue = SealedWriteQueue(folder)
    assert write_queue.deliver(carrier(folder))
    assert write_queue.standing() == WriteQueueStatus()
    taken = journal(folder)
    assert sorted(row[0] for row in taken) == sorted(told[0] + told[1])
    assert {row[4] for row in taken} == {0}
    for order in by_lane(taken).values():
        for host in range(2):
            numbers = [number for life, number in order if life == host]
            assert numbers == sorted(numbers)
            assert len(numbers) == FULL_LIFE // len(LANES)


if __name__ == "__main__":
    job, place, *numbers = sys.argv[1:]
    if job == "together":
        together(Path(place), *map(int, numbers))
    else:
        again_and_again(Path(place), job, *map(int, numbers))
