"""How long a turn waits for each of its two layers."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from hermes.scene import configured
from mnemon.hermes.live import Live
from mnemon.hermes.recall import Recall
from mnemon.turns.memory import Known, Portrait
from mnemon.turns.seat import Seat

SEAT = Seat("w", "s", "ann", "hermes", True)
TOLD = Known(user=Portrait("[2026-01-02 09:00:00] Ann plays the bassoon"))
PATIENCE = 30.0


class Awaited(Future):
    """An answer that does not come, and for how long it was waited for."""

    waited = None

    def result(self, timeout=None):
        self.waited = timeout
        raise TimeoutError


class Station:
    """Memory that has what it has for the first layer at once, and nothing for the second."""

    def __init__(self, known, *, near, cold=False):
        self.near = near
        self.second = Awaited()
        self.first = Awaited() if known is None else Future()
        if known is not None:
            self.first.set_result(known)
        self._cold = cold

    def ready(self, patience):
        return True

    def ask(self, seat, question, patience=None):
        return self.second if patience is None else self.first

    def cold(self, seat):
        return self._cold


def waited(known, *, near=True, turn=1, **settings):
    """For how long the turn waited for its second layer."""
    station = Station(known, near=near)
    configuration = configured(recall_wait=PATIENCE, **settings)
    told = Recall(station, configuration, SEAT, Live(0)).background("What does Ann play?", turn)
    assert ("bassoon" in told) == (known is TOLD)
    return station.second.waited


def test_where_the_first_layer_told_something_memory_in_this_process_is_not_waited_for_again():
    assert waited(TOLD) == 0


@pytest.mark.parametrize(
    "known, more",
    [(Known(), {}), (TOLD, {"near": False}), (TOLD, {"first_turn_dialectic_wait": PATIENCE})],
    ids=["nothing was told", "memory is elsewhere", "waiting was asked for"],
)
def test_otherwise_a_turn_waits_as_long_as_it_may(known, more):
    assert PATIENCE / 2 < waited(known, **more) <= PATIENCE


def test_whose_lines_have_yet_to_be_loaded_is_waited_for_longer():
    for cold, most in ((False, 0.3), (True, 3.0)):
        station = Station(None, near=True, cold=cold)
        Recall(station, configured(recall_wait=0.3), SEAT, Live(0)).background("What does Ann play?", 1)
        assert most / 2 < station.first.waited <= most
