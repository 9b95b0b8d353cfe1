"""Delivers the write queue in the background, as soon as possible."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from souvenance.errors import SouvenanceError
from souvenance.ports.write_queue import Letter, WriteQueue

_IDLE_SECONDS = 10.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_STOP_SECONDS = 1.0
_LOOK_SECONDS = 60.0
"""How often it is looked whether what is held may go by now."""

_log = logging.getLogger("souvenance.hermes")


class DeliveryThread:
    """One thread at most, which goes when nothing is held and there is nothing to deliver for a while."""

    def __init__(
        self, write_queue: WriteQueue, carry: Callable[[Letter], None], *, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        self._write_queue = write_queue
        self._carry = carry
        self._look_seconds = look_seconds
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._rung = False
        self._asked_to_stay = False
        self._rounds = 0
        self._stopped = False

    def ring(self) -> None:
        """Say that there may be something to deliver."""
        with self._changed:
            self._rung = True
            self._come()
            self._changed.notify_all()

    def stay(self) -> None:
        """Say that something is held, to be delivered when that ends."""
        with self._changed:
            self._asked_to_stay = True
            self._come()

    def _come(self) -> None:
        if self._thread is None and not self._stopped:
            self._thread = threading.Thread(target=self._run, name="souvenance-outbox", daemon=True)
            self._thread.start()

    def flush(self, seconds: float) -> bool:
        """Wait up to that long for everything to be delivered, or a try to fail; whether all is."""
        deadline = time.monotonic() + seconds
        self.ring()
        with self._changed:
            start = self._rounds
        while self._write_queue.standing().waiting:
            with self._changed:
                left = deadline - time.monotonic()
                # The round under way may have begun before the last letter was put; the one after has not.
                if left <= 0 or self._rounds > start + 1:
                    return False
                self._changed.wait(left)
        return True

    def dismiss(self) -> None:
        """Deliver no more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Deliver no more; wait a moment for what is being delivered."""
        self.dismiss()
        thread = self._thread
        if thread is not None:
            thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            with self._changed:
                self._rung = self._asked_to_stay = False
            done, held = self._round()
            pause = _FIRST_PAUSE if done else min(pause * 2, _LONGEST_PAUSE)
            with self._changed:
                self._rounds += 1
                self._changed.notify_all()
                patience = pause if not done else self._look_seconds if held else _IDLE_SECONDS
                called = self._changed.wait_for(lambda: self._rung or self._stopped, patience)
                idle = done and not held and not called and not self._asked_to_stay
                if self._stopped or idle:
                    self._thread = None
                    return

    def _round(self) -> tuple[bool, bool]:
        """Whether all that may go was delivered, and whether something is held."""
        try:
            return self._write_queue.deliver(self._carry), self._write_queue.standing().held > 0
        except SouvenanceError as error:
            _log.warning("souvenance: what is to be written waits: %s: %s", error.code, error.detail)
            return False, False
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
            _log.warning("souvenance: what is to be written waits: %s: %s", type(error).__name__, error)
            return False, False
