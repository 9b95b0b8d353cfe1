"""A process in the host's place, which the Hermes benchmark starts in the environment that it measures.

    python bench/hermes_recall.py once [MODULE ...] < {"home": ..., "messages": [...]}
    python bench/hermes_recall.py often             < {"home": ..., "messages": [...], "uncounted": 30}

It makes a provider for every message, as the host's API server does, and prints what was told and what
each step took, in seconds. `once` counts from the first line below, so whatever is imported counts, but
for the modules that are named.
"""

from __future__ import annotations

import sys
import time

for _module in sys.argv[2:]:
    __import__(_module)

BEGAN = time.perf_counter()

import importlib.util  # noqa: E402 - the clock is running
import json  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

from souvenance import plugin  # noqa: E402
from souvenance.hermes.provider import Provider  # noqa: E402

IMPORTED = time.perf_counter()
_HOST = importlib.util.find_spec("agent") is not None
_LOOKED_UP = "Looked up on"
"""What is told says so if the store was looked into; otherwise that took too long."""
_TURNS = 4
_MODEL_SECONDS = 0.1
"""What a quick model takes for its answer: no turn follows another sooner, and memory may think meanwhile."""
_REST_SECONDS = 3.0
"""After slow answers a provider leaves the store alone for a while: what comes meanwhile costs nothing."""
_WRITTEN = 3
"""Every so many messages are written too."""


def provider() -> Any:
    """As the host makes it; without a host, the same but for the host's own defaults."""
    return plugin.provider() if _HOST else Provider(plugin._SURROUNDINGS)


def initialize(made: Any, home: str, session: str) -> None:
    """As the host's API server says it for a request of Ann's."""
    made.initialize(
        session,
        platform="api_server",
        hermes_home=home,
        agent_context="primary",
        agent_identity="default",
        agent_workspace="hermes",
        gateway_session_key="user:ann",
    )


class Recalled(NamedTuple):
    """What one turn of a new provider took, and whether memory came in time."""

    initialize: float
    prefetch: float
    in_time: bool


def recall(home: str, session: str, turn: int, message: str) -> Recalled:
    made = provider()
    began = time.perf_counter()
    initialize(made, home, session)
    ready = time.perf_counter()
    made.on_turn_start(turn, message)
    told = made.prefetch(message)
    return Recalled(ready - began, time.perf_counter() - ready, _LOOKED_UP in told)


def once(home: str, messages: Sequence[str]) -> dict[str, Any]:
    found = recall(home, "cold", 1, messages[0])
    return {"imports": IMPORTED - BEGAN, "answer": time.perf_counter() - BEGAN, **found._asdict()}


def often(home: str, messages: Sequence[str], uncounted: int) -> dict[str, Any]:
    """A conversation is four turns long, and every turn has a provider of its own."""
    found, used = [], 0.0
    for number, message in enumerate(messages):
        if number == uncounted:
            used = time.process_time()
        found.append(recall(home, f"talk-{number // _TURNS}", number % _TURNS + 1, message))
        time.sleep(_MODEL_SECONDS if found[-1].in_time else _REST_SECONDS)
    counted = found[uncounted:]
    return {
        "initialize": [one.initialize for one in counted],
        "prefetch": [one.prefetch for one in counted],
        "late": sum(not one.in_time for one in counted),
        "cpu": (time.process_time() - used) / len(counted),
        "sync_turn": [written(home, f"told-{at}", text) for at, text in enumerate(messages[::_WRITTEN])],
    }


def written(home: str, session: str, message: str) -> float:
    """What it took until a turn was safe."""
    made = provider()
    initialize(made, home, session)
    began = time.perf_counter()
    made.sync_turn(message, "I see.", session_id=session)
    return time.perf_counter() - began


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps(once(**asked) if sys.argv[1] == "once" else often(**asked)))
