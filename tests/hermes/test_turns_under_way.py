"""Background work with a model waits for the turns: one that is interrupted, and one that never ends."""

import pytest

from souvenance.hermes.profile_runtime import QUIET_SECONDS, TurnsUnderWay

MINUTE = 60.0


class Watch:
    def __init__(self):
        self.now = 1000.0
        self.turns = TurnsUnderWay(lambda: self.now)


@pytest.fixture
def watch():
    return Watch()


def test_nobody_is_waited_for_before_the_first_turn(watch):
    assert not watch.turns.busy()


def test_a_turn_is_waited_for_until_a_while_after_its_end(watch):
    watch.turns.begin("a")
    watch.now += MINUTE
    assert watch.turns.busy()
    watch.turns.end("a")
    assert watch.turns.busy()
    watch.now += QUIET_SECONDS
    assert not watch.turns.busy()


def test_every_turn_is_waited_for(watch):
    watch.turns.begin("a")
    watch.turns.begin("b")
    watch.turns.end("a")
    watch.now += MINUTE
    assert watch.turns.busy()


def test_the_end_of_what_never_began_changes_nothing(watch):
    watch.turns.end("a")
    assert not watch.turns.busy()


def test_a_turn_of_whose_end_nobody_tells_is_over_some_day(watch):
    watch.turns.begin("a")
    watch.now += 11 * MINUTE
    assert not watch.turns.busy()


def test_where_somebody_always_talks_the_work_is_done_all_the_same(watch):
    for number in range(20):
        watch.turns.begin(number)
        watch.now += MINUTE
        watch.turns.end(number)
    watch.turns.begin("last")
    assert not watch.turns.busy()
    watch.turns.end("last")
    watch.now += MINUTE
    watch.turns.begin("after a while")
    assert watch.turns.busy()
