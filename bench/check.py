"""Whether requests got slower: short benches in ratios, held against those in `check.json`.

    python bench/check.py [--calls 300] [--record]

A figure is the processor time of one of our requests by that of a fixed work: a BM25 search of the same
sentences by SQLite's FTS5. All are measured in turns, so that whatever the machine is doing hits all. What
else runs can only add to processor time, so of all calls the quickest tenth counts. The check fails if a
figure is more than a tenth above the recorded one in three tries. `--record` records what this run finds; a
commit that records something slower says why.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from souvenance.gate.conversation.context import CONTEXT, SessionContext
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    SEARCH_WORKSPACE,
    AddMessages,
    NewMessage,
    SearchWorkspace,
)

if TYPE_CHECKING:
    from gate import Step

RECORDED = Path(__file__).with_name("check.json")
MOST = 1.10
FIXED = "FTS5"
LINES = 1000
CALLS = 300
_SESSION = {"workspace_id": "check", "session_id": "talk"}
_BATCH = 20


class Requests:
    """The same sentences as lines, as messages of one session, and in plain SQLite."""

    def __init__(self, folder: Path) -> None:
        from gate import Sides

        self._sides = Sides(folder, seed=4, SOUVENANCE_EMBEDDER="none")
        self._sides.grow(LINES)
        for _ in range(LINES // _BATCH):
            self._add_messages()()
        self.works: dict[str, Callable[[], Step]] = {
            FIXED: self._sides.fts5_get,
            "put": self._sides.gate_put,
            "add 20 messages": self._add_messages,
            "get": self._sides.gate_get,
            "search messages": self._search,
            "context": self._context,
        }

    def close(self) -> None:
        self._sides.close()

    def _call(self, operation: Any, request: Any) -> Step:
        return lambda: self._sides.installation.gate.call(operation, self._sides.credentials, request)

    def _add_messages(self) -> Step:
        said = [NewMessage(content=self._sides.text.sentence(), peer_id="ann") for _ in range(_BATCH)]
        return self._call(ADD_MESSAGES, AddMessages(**_SESSION, messages=said))

    def _search(self) -> Step:
        request = SearchWorkspace(workspace_id="check", query=self._sides.question(), limit=10)
        return self._call(SEARCH_WORKSPACE, request)

    def _context(self) -> Step:
        return self._call(CONTEXT, SessionContext(**_SESSION, tokens=2000))


def measured(calls: int) -> dict[str, float]:
    """The figure of each request."""
    with tempfile.TemporaryDirectory(prefix="bench-check-") as folder:
        requests = Requests(Path(folder))
        taken: dict[str, list[float]] = {name: [] for name in requests.works}
        for _ in range(calls):
            for name, prepare in requests.works.items():
                step = prepare()
                began = time.process_time()
                step()
                taken[name].append(time.process_time() - began)
        requests.close()
    quick = {name: quantiles(seconds, n=10)[0] for name, seconds in taken.items()}
    fixed = quick.pop(FIXED)
    return {name: seconds / fixed for name, seconds in quick.items()}


def slower(found: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """Print each figure beside the recorded one. Gives those that are worse by more than a tenth."""
    worse = []
    for name, now in found.items():
        before = recorded.get(name)
        if before is None or now > MOST * before:
            worse.append(name)
        told = "not recorded" if before is None else f"recorded {before:5.2f}, {now / before - 1:+5.0%}"
        print(f"{name:>20}  {now:5.2f}  {told}{'  SLOWER' * (name in worse)}")
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=CALLS, help="of each request")
    parser.add_argument("--tries", type=int, default=3, help="before a slower request fails the check")
    parser.add_argument("--record", action="store_true", help="record what this run finds")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="the file of recorded figures")
    asked = parser.parse_args()
    found = measured(asked.calls)
    if asked.record:
        asked.recorded.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    recorded = json.loads(asked.recorded.read_text("utf-8"))
    tries = 1
    while (worse := slower(found, recorded)) and tries < asked.tries:
        print(f"\nmeasured again: {', '.join(worse)}")
        again = measured(asked.calls)
        found = {name: min(value, again[name]) for name, value in found.items()}
        tries += 1
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
