"""The server's log: what happened and how it ended; never what was said, nor a key, nor anybody's name.

Of what a library logs, only the place and the error are written: its words may quote a request.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import msgspec

from souvenance.domain.telemetry import CURRENT, JSON, OFF, REQUESTS

_OWN_WORDS = ("souvenance", "uvicorn")
"""Whose messages are known to quote nothing."""
_MOST_FRAMES = 12
_encode = msgspec.json.Encoder().encode


class Log:
    """Writes to standard error, a line at a time, from any thread."""

    def __init__(self, style: str) -> None:
        self._style = style
        self._lock = threading.Lock()

    @property
    def structured(self) -> bool:
        return self._style == JSON

    @property
    def tells_requests(self) -> bool:
        return self._style in (JSON, REQUESTS)

    def request(self, *, level: str, **fields: Any) -> None:
        if self.structured:
            self.tell("request", level=level, **fields)
        else:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            told = " ".join(f"{name}={value}" for name, value in fields.items())
            self._write(f"{now} {told} request_id={CURRENT.get()}")

    def tell(self, event: str, *, level: str = "info", **fields: Any) -> None:
        """An event, in the structured log alone."""
        if not self.structured:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry: dict[str, Any] = {"time": now, "level": level, "event": event}
        if request_id := CURRENT.get():
            entry["request_id"] = request_id
        self._write(_encode({**entry, **fields}).decode())

    def say(self, text: str) -> None:
        """A line for people, or an event that says it."""
        if self.structured:
            self.tell("said", text=text)
        elif self._style != OFF:
            self._write(text)

    def _write(self, line: str) -> None:
        with self._lock:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


class _CleaningHandler(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        known = record.name.partition(".")[0] in _OWN_WORDS
        message = record.getMessage().strip() if known else f"in {record.module}, line {record.lineno}"
        error = record.exc_info[1] if record.exc_info else None
        if self._log.structured:
            about = {} if error is None else {"error": type(error).__name__, "frames": _frames(error)}
            self._log.tell("log", level=record.levelname.lower(), logger=record.name, text=message, **about)
            return
        about_it = "" if error is None else f": {type(error).__name__} ({', '.join(_frames(error))})"
        name = "souvenance" if record.name.partition(".")[0] == "souvenance" else f"souvenance: {record.name}"
        self._log.say(f"{name}: {message}{about_it}")


def _frames(error: BaseException) -> list[str]:
    """Where it happened, the innermost first: modules, functions and lines, and no word of what was there."""
    found: list[str] = []
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        found.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return found[::-1][:_MOST_FRAMES]


@contextmanager
def logging_to(log: Log) -> Iterator[None]:
    """Everything that this process logs, and what ends a thread, goes through the log meanwhile."""
    root = logging.getLogger()
    before, hook = list(root.handlers), threading.excepthook

    def ended(about: threading.ExceptHookArgs) -> None:
        error = about.exc_value
        if error is not None:
            logging.getLogger("souvenance").error("a thread ended", exc_info=error)

    root.handlers = [_CleaningHandler(log)]
    threading.excepthook = ended
    try:
        yield
    finally:
        root.handlers = before
        threading.excepthook = hook
