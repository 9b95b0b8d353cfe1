"""Recall: what a turn is given from memory, and how long it waits for it."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from datetime import UTC, datetime
from typing import TypeVar

from msgspec.structs import replace

from mnemon.errors import MnemonError
from mnemon.hermes import cadence, dialectic
from mnemon.hermes.configuration import Configuration
from mnemon.hermes.injection import inject
from mnemon.hermes.live import Live, Supplement
from mnemon.hermes.station import Station
from mnemon.turns import injection
from mnemon.turns.memory import Known
from mnemon.turns.seat import Seat

_COLD_SECONDS = 3.0
"""How long the first look into a store takes at worst, once in a process: its index is read into memory."""

_log = logging.getLogger("mnemon.hermes")
_T = TypeVar("_T")


class Recall:
    """The recall of one conversation."""

    def __init__(self, station: Station, configuration: Configuration, seat: Seat, live: Live) -> None:
        self._station = station
        self._configuration = configuration
        self._seat = seat
        self._live = live

    def background(self, message: str, number: int) -> str:
        """What the turn of that number is given; empty if memory has nothing, or not in time."""
        live = self._live
        turn = live.pace.turn(number, message, self._configuration)
        if not self._seat.namespaces.read or (not turn.base and not turn.ask) or not self._ready(number):
            return ""
        began = time.monotonic()
        base_wait, supplement_wait = self._waits(number)
        looked_up = self._look_up(message, base_wait) if turn.refresh else None
        earlier = self._earlier(number)
        asks, warm, near = turn.ask and live.supplement is None, live.known is not None, self._station.near
        if asks and not near:
            self._ask(message, number, warm=warm)
        known = self._base(looked_up, number, began + base_wait) if turn.base else None
        base = "" if known is None else self._rendered(known, message)
        if asks and near:
            self._ask(message, number, warm=warm)
            supplement_wait = self._wait_near(number, known, supplement_wait)
        supplement = self._supplement(began + supplement_wait) or earlier
        return inject(self._configuration, base, supplement)

    def at_once(self, message: str) -> str:
        """The first layer for the message, whichever turn it is."""
        if not self._seat.namespaces.read or not self._ready(0):
            return ""
        wait = self._waits(0)[0]
        known = _within(self._look_up(message, wait), wait)
        return "" if known is None else self._rendered(known, message)

    def _ready(self, number: int) -> bool:
        return self._station.ready(self._waits(number)[0])

    def _waits(self, number: int) -> tuple[float, float]:
        """For how long the turn waits for each layer."""
        configuration = self._configuration
        base = supplement = configuration.recall_wait
        if number <= 1 and configuration.first_turn_base_wait is not None:
            base = configuration.first_turn_base_wait
        if number <= 1 and configuration.first_turn_dialectic_wait is not None:
            supplement = configuration.first_turn_dialectic_wait
        if self._station.cold(self._seat):
            base, supplement = (max(wait, _COLD_SECONDS) if wait > 0 else wait for wait in (base, supplement))
        return base, supplement

    def _wait_near(self, number: int, known: Known | None, wait: float) -> float:
        """For how long a turn waits for the second layer where both are made by this very process.

        What it would say by rule is what the first layer tells already: it comes with the next turn, unless
        there was nothing to tell, or waiting was asked for.
        """
        told = known is not None and bool(known.user.view or known.passages)
        asked_for = number <= 1 and self._configuration.first_turn_dialectic_wait is not None
        return 0.0 if told and not asked_for else wait

    def _look_up(self, message: str, patience: float) -> Future[Known] | None:
        return self._station.ask(self._seat, lambda memory: memory.known(message), patience)

    def _ask(self, message: str, number: int, *, warm: bool) -> None:
        asked = self._station.ask(
            self._seat,
            lambda memory: dialectic.supplement(memory.ask, self._configuration, message, warm),
        )
        if asked is not None:
            self._live.supplement = Supplement(number, asked)

    def _base(self, looked_up: Future[Known] | None, number: int, deadline: float) -> Known | None:
        """What was looked up; where it does not come in time, what was known, but for what was said."""
        live = self._live
        known = _within(looked_up, deadline - time.monotonic())
        if known is not None:
            live.known, live.pace = known, live.pace.with_base(number)
            return known
        return None if live.known is None else replace(live.known, passages=())

    def _earlier(self, number: int) -> str:
        """What memory was asked in an earlier turn and has answered since, if it still bears on this one."""
        asked = self._live.supplement
        if asked is not None and not cadence.fresh(asked.turn, number, self._configuration):
            self._live.supplement = None
        return self._supplement(0.0)

    def _supplement(self, deadline: float) -> str:
        """The answer to what memory was asked, if it is there by then; otherwise a later turn may have it."""
        live = self._live
        asked = live.supplement
        if asked is None or (told := _within(asked.answer, deadline - time.monotonic())) is None:
            return ""
        live.supplement = None
        live.pace = live.pace.with_answer(asked.turn, found=bool(told))
        return told

    def _rendered(self, known: Known, message: str) -> str:
        """Without what was said in this very conversation: that is before the model."""
        began = datetime.fromtimestamp(self._live.began_at / 1000, UTC)
        passages = tuple(
            passage
            for passage in known.passages
            if passage.session != self._seat.session or passage.said_at < began
        )
        return injection.base(
            replace(known, passages=passages),
            message,
            datetime.now(UTC),
            tokens=self._configuration.context_tokens,
        )


def _within(task: Future[_T] | None, seconds: float) -> _T | None:
    """What came of the task, if that is known by then."""
    if task is None:
        return None
    try:
        return task.result(max(0.0, seconds))
    except TooLate:
        return None
    except MnemonError as error:
        _log.debug("mnemon: nothing recalled: %s: %s", error.code, error.detail)
        return None
