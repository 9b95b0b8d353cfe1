"""The write queue's contract as tests, for any implementation of `souvenance.ports.write_queue`.

    class TestMyWriteQueue(WriteQueueContract):
        @pytest.fixture
        def open_write_queue(self, tmp_path: Path, clock: HandClock) -> Callable[[], WriteQueue]:
            return lambda: MyWriteQueue(tmp_path, clock)

What a killed process leaves behind, and what can be read in the files, each implementation that has
files must show for itself.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contracts.threads import often_interrupted
from souvenance.domain import ulid
from souvenance.ports.write_queue import (
    MOST_SET_ASIDE,
    QueuedWrite,
    WriteQueue,
    WriteQueueStatus,
    WriteRefused,
)

OpenWriteQueue = Callable[[], WriteQueue]

_PATIENCE_SECONDS = 20
_TEXT = st.text(st.characters(), max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


class HandClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.ms = 1_760_000_000_000

    def now(self) -> int:
        return self.ms


class Hand:
    """A carrier that keeps what it takes, and does not take what it is told not to."""

    def __init__(self) -> None:
        self.taken: list[QueuedWrite] = []
        self.offered: list[QueuedWrite] = []
        self.raising: dict[str, BaseException] = {}

    def __call__(self, letter: QueuedWrite) -> None:
        self.offered.append(letter)
        if letter.lane in self.raising:
            raise self.raising[letter.lane]
        self.taken.append(letter)

    @property
    def numbers(self) -> list[Any]:
        """The bodies' numbers, in the order they were taken."""
        return [letter.body["n"] for letter in self.taken]


def put(write_queue: WriteQueue, *letters: tuple[str, int]) -> list[str]:
    """Put numbered letters into lanes; their ids."""
    return [write_queue.put(lane, {"n": number}) for lane, number in letters]


class WriteQueueContract:
    """What every write queue promises. Override `open_write_queue`."""

    @pytest.fixture
    def clock(self) -> HandClock:
        return HandClock()

    @pytest.fixture
    def open_write_queue(self, clock: HandClock) -> OpenWriteQueue:
        """Opens the write queue of this test, the same one each time, as another process would."""
        raise NotImplementedError("override the fixture 'open_write_queue'")

    @pytest.fixture
    def write_queue(self, open_write_queue: OpenWriteQueue) -> WriteQueue:
        return open_write_queue()

    @pytest.fixture
    def second(self, write_queue: WriteQueue, open_write_queue: OpenWriteQueue) -> WriteQueue:
        """The same queue, open at the same time."""
        return open_write_queue()

    @pytest.fixture
    def hand(self) -> Hand:
        return Hand()

    def test_a_new_write_queue_is_empty(self, write_queue: WriteQueue, hand: Hand) -> None:
        assert write_queue.standing() == WriteQueueStatus()
        assert write_queue.deliver(hand)
        assert hand.offered == []

    def test_what_was_put_is_delivered_as_it_was(
        self, write_queue: WriteQueue, hand: Hand, clock: HandClock
    ) -> None:
        letter_id = write_queue.put("lane", {"text": "Grüße", "n": [1, None, {"x": 1.5}]})
        assert write_queue.deliver(hand)
        assert hand.taken == [
            QueuedWrite(letter_id, "lane", clock.now(), {"text": "Grüße", "n": [1, None, {"x": 1.5}]})
        ]
        assert ulid.check(letter_id) == letter_id
        assert ulid.milliseconds(letter_id) == clock.now()

    @settings(
        max_examples=min(50, settings().max_examples),
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(lane=st.text(max_size=20), body=st.dictionaries(_TEXT, _JSON, max_size=4))
    def test_any_lane_and_any_json_come_out_as_they_went_in(
        self, write_queue: WriteQueue, lane: str, body: dict[str, Any]
    ) -> None:
        hand = Hand()
        letter_id = write_queue.put(lane, body)
        assert write_queue.deliver(hand)
        assert [(one.id, one.lane, one.body) for one in hand.taken] == [(letter_id, lane, body)]

    def test_what_the_caller_does_with_the_body_afterwards_changes_nothing(
        self, write_queue: WriteQueue, hand: Hand
    ) -> None:
        body: dict[str, Any] = {"n": [1]}
        write_queue.put("a", body)
        body["n"].append(2)
        assert write_queue.deliver(hand)
        assert hand.numbers == [[1]]

    def test_a_body_that_is_not_json_is_an_error_and_leaves_nothing(self, write_queue: WriteQueue) -> None:
        with pytest.raises(TypeError):
            write_queue.put("a", {"n": object()})
        assert write_queue.standing() == WriteQueueStatus()

    def test_every_letter_has_an_id_of_its_own(self, write_queue: WriteQueue) -> None:
        assert len(set(put(write_queue, *[("a", 1)] * 50))) == 50

    def test_what_was_delivered_is_not_delivered_again(self, write_queue: WriteQueue, hand: Hand) -> None:
        put(write_queue, ("a", 1), ("a", 2))
        assert write_queue.standing() == WriteQueueStatus(waiting=2)
        assert write_queue.deliver(hand)
        assert write_queue.standing() == WriteQueueStatus()
        assert write_queue.deliver(hand)
        assert hand.numbers == [1, 2]

    def test_what_was_put_waits_for_who_opens_the_write_queue_next(
        self, write_queue: WriteQueue, open_write_queue: OpenWriteQueue, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1))
        again = open_write_queue()
        assert again.deliver(hand)
        assert hand.numbers == [1]

    def test_the_order_is_that_of_putting_whoever_put(
        self, write_queue: WriteQueue, second: WriteQueue, hand: Hand
    ) -> None:
        for number in range(6):
            put((write_queue, second)[number % 2], ("ab"[number % 3 == 0], number))
        assert write_queue.deliver(hand)
        assert hand.numbers == [0, 1, 2, 3, 4, 5]

    def test_the_order_is_that_of_putting_whatever_the_clock_says(
        self, write_queue: WriteQueue, clock: HandClock, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1))
        clock.ms -= 1000
        put(write_queue, ("a", 2))
        assert write_queue.deliver(hand)
        assert hand.numbers == [1, 2]

    def test_a_letter_that_was_not_taken_is_offered_again_under_its_id(
        self, write_queue: WriteQueue, hand: Hand
    ) -> None:
        (letter_id,) = put(write_queue, ("a", 1))
        hand.raising["a"] = OSError("no way through")
        for _ in range(3):
            assert not write_queue.deliver(hand)
        del hand.raising["a"]
        assert write_queue.deliver(hand)
        assert [(one.id, one.attempts) for one in hand.offered] == [(letter_id, n) for n in range(4)]

    def test_what_a_carrier_did_to_a_body_is_not_seen_the_next_time(self, write_queue: WriteQueue) -> None:
        seen: list[dict[str, Any]] = []

        def spoil(letter: QueuedWrite) -> None:
            seen.append(dict(letter.body))
            letter.body.clear()
            raise OSError

        put(write_queue, ("a", 1))
        for _ in range(2):
            write_queue.deliver(spoil)
        assert seen == [{"n": 1}, {"n": 1}]

    def test_a_lane_that_waits_keeps_its_order_and_holds_up_no_other(
        self, write_queue: WriteQueue, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5), ("a", 6))
        hand.raising["a"] = ValueError()
        assert not write_queue.deliver(hand)
        assert hand.numbers == [2, 4, 5]
        assert len(hand.offered) == 4
        assert write_queue.standing() == WriteQueueStatus(waiting=3)
        hand.raising.clear()
        assert write_queue.deliver(hand)
        assert hand.numbers == [2, 4, 5, 1, 3, 6]

    def test_a_refused_letter_is_set_aside_and_its_lane_goes_on(
        self, write_queue: WriteQueue, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1), ("b", 2))
        hand.raising["a"] = WriteRefused()
        assert write_queue.deliver(hand)
        hand.raising.clear()
        put(write_queue, ("a", 3))
        assert write_queue.deliver(hand)
        assert hand.numbers == [2, 3]
        assert write_queue.standing() == WriteQueueStatus(set_aside=1)

    def test_only_so_many_of_those_set_aside_are_kept(self, write_queue: WriteQueue) -> None:
        def refuse(letter: QueuedWrite) -> None:
            raise WriteRefused

        put(write_queue, *[("a", n) for n in range(MOST_SET_ASIDE + 5)])
        assert write_queue.deliver(refuse)
        assert write_queue.standing() == WriteQueueStatus(set_aside=MOST_SET_ASIDE)

    def test_an_interrupt_ends_the_delivery_and_keeps_the_letter(
        self, write_queue: WriteQueue, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1), ("a", 2))
        hand.raising["a"] = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            write_queue.deliver(hand)
        hand.raising.clear()
        assert write_queue.deliver(hand)
        assert hand.numbers == [1, 2]
        assert hand.taken[0].attempts == 1

    def test_what_is_put_during_a_delivery_is_delivered_by_it(
        self, write_queue: WriteQueue, second: WriteQueue
    ) -> None:
        taken: list[int] = []

        def carry(letter: QueuedWrite) -> None:
            taken.append(letter.body["n"])
            if letter.body["n"] == 2:
                put(second, ("b", 3))

        put(write_queue, ("a", 1), ("b", 2))
        assert write_queue.deliver(carry)
        assert sorted(taken) == [1, 2, 3]

    def test_while_one_delivers_nobody_else_does(
        self, write_queue: WriteQueue, second: WriteQueue, hand: Hand
    ) -> None:
        also: list[bool] = []

        def carry(letter: QueuedWrite) -> None:
            hand(letter)
            for one in (write_queue, second):
                also.append(one.deliver(hand))
                thread = threading.Thread(target=lambda one=one: also.append(one.deliver(hand)))
                thread.start()
                thread.join(_PATIENCE_SECONDS)

        put(write_queue, ("a", 1), ("b", 2))
        assert write_queue.deliver(carry)
        assert also == [False] * 8
        assert hand.numbers == [1, 2]

    def test_after_a_delivery_that_failed_another_may_deliver(
        self, write_queue: WriteQueue, second: WriteQueue, hand: Hand
    ) -> None:
        put(write_queue, ("a", 1))
        hand.raising["a"] = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            write_queue.deliver(hand)
        hand.raising.clear()
        assert second.deliver(hand)

    def test_any_number_of_threads_may_put_while_one_delivers(
        self, write_queue: WriteQueue, second: WriteQueue, hand: Hand
    ) -> None:
        threads, letters = 4, 25
        done = threading.Event()

        def fill(number: int) -> None:
            for n in range(letters):
                put((write_queue, second)[n % 2], (f"lane {number}", n))

        def empty() -> None:
            while not done.is_set():
                second.deliver(hand)

        with often_interrupted():
            filling = [threading.Thread(target=fill, args=(number,)) for number in range(threads)]
            emptying = threading.Thread(target=empty)
            for thread in (*filling, emptying):
                thread.start()
            for thread in filling:
                thread.join(_PATIENCE_SECONDS)
            done.set()
            emptying.join(_PATIENCE_SECONDS)
        assert write_queue.deliver(hand)
        order: dict[str, list[int]] = defaultdict(list)
        for letter in hand.taken:
            order[letter.lane].append(letter.body["n"])
        assert order == {f"lane {number}": list(range(letters)) for number in range(threads)}
