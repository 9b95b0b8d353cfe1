"""A few threads, never more, that come and go."""

import threading

import pytest

from mnemon.hermes.hands import Hands


def test_what_comes_of_the_work_is_told():
    assert Hands(2, "hand").give(lambda: 6 * 7).result(5) == 42


def test_who_waits_is_told_of_a_failure():
    with pytest.raises(ZeroDivisionError):
        Hands(2, "hand").give(lambda: 1 // 0).result(5)


def test_where_all_hands_are_busy_work_is_refused_and_later_taken_again():
    hands, gate = Hands(2, "hand"), threading.Event()
    busy = [hands.give(gate.wait) for _ in range(2)]
    assert hands.give(lambda: 1) is None
    gate.set()
    assert [task.result(5) for task in busy] == [True, True]
    while (task := hands.give(lambda: 1)) is None:
        pass
    assert task.result(5) == 1


def test_a_thousand_pieces_of_work_take_no_more_threads_than_there_are_hands():
    hands, names = Hands(3, "hand"), set()
    done = 0
    while done < 1_000:
        task = hands.give(lambda: names.add(threading.get_ident()))
        if task is not None:
            task.result(5)
            done += 1
    assert 1 <= len(names) <= 3
