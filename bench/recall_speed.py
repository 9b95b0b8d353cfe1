"""What recall takes at ten thousand lines of one owner, on one core, in a process of its own.

The lines are those of `honcho_chat`, about 40 tokens each, said by one person in sessions of a hundred.
They are stored by requests, then the work behind them is done and timed: with an embedder, that is the
embedding. Then the owner's lines are searched for ten, every question once, in rounds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hermes_figures import Verdict, figure
from honcho_chat import message, question
from honcho_server import resident_mb
from recall_data import Corpus, Session, Turn
from recall_souvenance import TOP, Ask, fill, opened, search
from recall_systems import timing
from souvenance.gate.token_verifier import Credentials

QUERY_MOST_MS = 30.0
EMBEDDED_LEAST_PER_SECOND = 60.0

_OWNER = "ann"
_SESSION = 100
_CALLS = 200
_STRIDE = 7919
"""A prime, so that the questions are spread over all that was said."""
_BEGAN = datetime(2024, 1, 1, 9, tzinfo=UTC)


def measure_speed(lines: int, rounds: int, told: Callable[[str], None]) -> dict[str, Any]:
    told(f"speed: {lines} lines")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(_measured, lines, rounds).result()
    told("")
    return found


def _measured(lines: int, rounds: int) -> dict[str, Any]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    said = [message(number, assistant=False) for number in range(lines)]
    sessions = [
        Session(
            f"s{start}",
            _BEGAN + timedelta(days=start // _SESSION),
            [Turn(str(start + n), _OWNER, text) for n, text in enumerate(said[start : start + _SESSION])],
        )
        for start in range(0, lines, _SESSION)
    ]
    now = sessions[-1].at + timedelta(days=1)
    with TemporaryDirectory(prefix="recall-speed-") as folder:
        installation = opened(Path(folder) / "house", {})
        try:
            cpu = time.process_time()
            filled = fill(installation, Corpus("speed", sessions, [], {}))
            cpu = time.process_time() - cpu
            credentials = Credentials(installation.owner_cap)

            def taken(number: int) -> float:
                text = question(number, said[number * _STRIDE % lines])
                began = time.perf_counter()
                search(installation, credentials, Ask(filled.workspace, text, now, peer=_OWNER), TOP)
                return time.perf_counter() - began

            first = taken(rounds * _CALLS)
            seconds = [[taken(turn * _CALLS + number) for number in range(_CALLS)] for turn in range(rounds)]
        finally:
            installation.close()
        return {
            "lines": lines,
            **timing(seconds),
            "ms_first": 1000 * first,
            "stored_per_second": lines / filled.seconds,
            "behind_seconds": filled.behind_seconds,
            "behind_per_second": lines / filled.behind_seconds if filled.pieces else None,
            "cpu_ms_per_message": 1000 * cpu / lines,
            "resident_mb": resident_mb(os.getpid())[0],
        }


def print_speed(found: dict[str, Any]) -> list[Verdict]:
    rounds, behind = found["ms_median_rounds"], found["behind_per_second"]
    print(f"\nspeed at {found['lines']} lines of one owner, on one core")
    print(f"{'query, ms':>28} {figure(rounds)} p95 {found['ms_p95']:.1f}, first {found['ms_first']:.0f}")
    print(f"{'stored by requests':>28} {found['stored_per_second']:8.0f} messages a second")
    work = "nothing: there is no embedder" if behind is None else f"{behind:8.0f} messages a second"
    print(f"{'work behind the requests':>28} {work}")
    print(f"{'CPU in all':>28} {found['cpu_ms_per_message']:8.2f} ms a message")
    print(f"{'resident':>28} {found['resident_mb']:8.0f} MB")
    verdicts = [Verdict("query, median ms", rounds, QUERY_MOST_MS)]
    if behind is not None:
        verdicts.append(
            Verdict("embedded, messages a second", [behind], EMBEDDED_LEAST_PER_SECOND, least=True)
        )
    return verdicts
