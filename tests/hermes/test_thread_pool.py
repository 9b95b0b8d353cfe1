"""A few threads, never more, that come and go."""

import threading

import pytest

from souvenance.hermes.profile_runtime import ThreadPool


def test_what_comes_of_the_work_is_told():
    assert ThreadPool(2, "hand").give(lambda: 6 * 7).result(5) == 42


def test_who_waits_is_told_of_a_failure():
    with pytest.raises(ZeroDivisionError):
        ThreadPool(2, "hand").give(lambda: 1 // 0).result(5)


def test_where_all_hands_are_busy_work_waits_its_turn():
    hands, gate, done = ThreadPool(2, "hand"), threading.Event(), []
    busy = [hands.give(gate.wait) for _ in range(2)]
    waiting = [hands.give(lambda at=at: done.append(at)) for at in range(20)]
    assert done == []
    gate.set()
    assert [task.result(5) for task in busy] == [True, True]
    assert [task.result(5) for task in waiting] == [None] * 20
    assert sorted(done) == list(range(20))


def test_where_too_much_waits_work_is_refused_and_later_taken_again():
    hands, gate = ThreadPool(1, "hand", most_waiting=1), threading.Event()
    busy, waiting = (hands.give(gate.wait) for _ in range(2))
    assert hands.give(lambda: 1) is None
    gate.set()
    assert (busy.result(5), waiting.result(5)) == (True, True)
    assert hands.give(lambda: 1).result(5) == 1


def test_what_was_given_up_before_a_hand_began_is_never_done_and_makes_compartment():
    hands, gate, done = ThreadPool(1, "hand", most_waiting=1), threading.Event(), []
    busy, dropped = hands.give(gate.wait), hands.give(lambda: done.append("dropped"))
    assert dropped.cancel()
    last = hands.give(lambda: done.append("last"))
    gate.set()
    last.result(5)
    assert (busy.result(5), dropped.cancelled(), done) == (True, True, ["last"])


def test_what_a_hand_has_begun_is_not_dropped():
    hands, begun, gate = ThreadPool(1, "hand"), threading.Event(), threading.Event()
    task = hands.give(lambda: (begun.set(), gate.wait()))
    begun.wait(5)
    assert not task.cancel()
    gate.set()
    assert task.result(5) == (None, True)


def test_a_thousand_pieces_of_work_take_no_more_threads_than_there_are_hands():
    hands, names = ThreadPool(3, "hand"), set()
    done = 0
    while done < 1_000:
        task = hands.give(lambda: names.add(threading.get_ident()))
        if task is not None:
            task.result(5)
            done += 1
    assert 1 <= len(names) <= 3
