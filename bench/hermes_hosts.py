"""Hosts side by side: what the turns of a conversation are given, and what many requests leave behind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression, median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hermes_figures import Verdict, figure, ms
from hermes_gateway import NOBODY, OURS, OURS_READ, OURS_REMOTE, THEIRS, Gateway, Held, Side, a_gateway
from hermes_store import TURNS, kept, told
from honcho_chat import message

SIDES = (NOBODY, THEIRS, OURS_REMOTE, OURS, OURS_READ)
LEFT_MOST = 0
"""Threads and files, after the warm-up. A count sways from one moment to the next; what is left, stays."""
MEMORY_MOST_MB = 10.0
"""More in a thousand requests, or as much as the host itself grows without a provider, if that is more."""

_SAMPLES = 10
_USERS = 20
_TURNS_EACH = 5
_REST_SECONDS = 0.5
_SAVING_SECONDS = 10.0


class Turn(NamedTuple):
    """What one turn came to."""

    memory: bool
    """Whether the model was given anything from memory."""
    apt: bool
    """Whether that holds what the message asks for."""
    saved: bool
    beside: float
    """The seconds that the request took beside the model's."""
    calls: int
    """Of the memory's server."""


class Conversation(NamedTuple):
    turns: list[Turn]
    before: Held
    after: Held


Talks = dict[tuple[Side, float], list[Conversation]]
"""By side and by how many seconds the model took."""


class Samples(NamedTuple):
    """What a host held after so many requests, and the seconds that each request took."""

    requests: list[int]
    held: list[Held]
    taken: list[float]

    def left(self, what: str) -> int:
        """How many more there are at the least in the last quarter than in the one after the warm-up."""
        quarter = max(1, len(self.held) // 4)
        counts = [int(getattr(one, what)) for one in self.held[len(self.held) // 2 :]]
        return min(counts[-quarter:]) - min(counts[:quarter])

    def slope(self, what: str) -> float:
        """The growth in a thousand requests, after the warm-up: the first half."""
        first = len(self.requests) // 2
        counts = [float(getattr(one, what)) for one in self.held[first:]]
        return 1000 * linear_regression(self.requests[first:], counts).slope


class Hosts:
    def __init__(self, folder: Path, store: Path, environment: Path, latency: float) -> None:
        self._folder = folder
        self._store = store
        self._environment = environment
        self._latency = latency

    def peers(self, rounds: int, model_seconds: Sequence[float]) -> Talks:
        """The same conversation with every side, as often as there are rounds."""
        found: Talks = {}
        for number in range(rounds):
            for seconds in model_seconds:
                for side in SIDES:
                    told(f"peer: round {number + 1} of {rounds}, {side.name}, a model of {seconds:g} s")
                    found.setdefault((side, seconds), []).append(self._talk(side, seconds))
        return found

    def _talk(self, side: Side, model_seconds: float) -> Conversation:
        with (
            TemporaryDirectory(dir=self._folder) as folder,
            a_gateway(
                side,
                self._environment,
                Path(folder),
                self._store,
                latency=self._latency,
                model_seconds=model_seconds,
            ) as gateway,
        ):
            before, turns = gateway.held(), []
            for asked in TURNS:
                calls = gateway.calls
                captured, beside = gateway.ask(asked.question, "conversation")
                memory = captured.memory
                turns.append(Turn(bool(memory), asked.word in memory, False, beside, gateway.calls - calls))
            after = gateway.held()
            saved = _saved(gateway)
        return Conversation(
            [turn._replace(saved=kept) for turn, kept in zip(turns, saved, strict=True)], before, after
        )

    def leaks(self, requests: int, peer_requests: int) -> dict[Side, Samples]:
        return {
            OURS: self._used(OURS, requests),
            NOBODY: self._used(NOBODY, requests),
            THEIRS: self._used(THEIRS, peer_requests),
        }

    def _used(self, side: Side, requests: int) -> Samples:
        found, every = Samples([], [], []), max(1, requests // _SAMPLES)
        with (
            TemporaryDirectory(dir=self._folder) as folder,
            a_gateway(
                side, self._environment, Path(folder), self._store, latency=0.0, model_seconds=0.0
            ) as gateway,
        ):
            for number in range(requests + 1):
                if number % every == 0:
                    told(f"leak: {side.name}, {number} of {requests} requests")
                    time.sleep(_REST_SECONDS)
                    found.requests.append(number)
                    found.held.append(gateway.held())
                if number < requests:
                    session = number // _TURNS_EACH
                    said = message(number, assistant=False)
                    taken = gateway.ask(said, f"talk-{session}", f"user:u{session % _USERS}")[1]
                    found.taken.append(taken)
        return found


def _saved(gateway: Gateway) -> list[bool]:
    """Which of the turns' messages are in the store, given some time to get there."""
    questions = [asked.question for asked in TURNS]
    if not gateway.store.exists():
        return [False] * len(questions)
    deadline = time.monotonic() + _SAVING_SECONDS
    while not all(found := kept(gateway.store, questions)) and time.monotonic() < deadline:
        time.sleep(_REST_SECONDS)
    return found


def print_peers(found: Talks, latency: float) -> list[Verdict]:
    print(f"\npeer: API server, {1000 * latency:g} ms to a memory's server; in how many rounds a turn was")
    print(
        f"{'':>24} {'model':>6} {'turn':>4} {'answered from memory':>21} {'given any':>11} {'saved':>6}"
        f" {'ms beside the model':>29} {'calls':>6} {'threads':>12}"
    )
    verdicts = []
    for (side, seconds), talks in found.items():
        for number in range(len(TURNS)):
            turns = [talk.turns[number] for talk in talks]
            shares = [
                f"{sum(getattr(turn, what) for turn in turns)}/{len(turns)}"
                for what in ("apt", "memory", "saved")
            ]
            last = number == len(TURNS) - 1
            before, after = (
                round(median(held.threads for held in every))
                for every in ([talk.before for talk in talks], [talk.after for talk in talks])
            )
            print(
                f"{side.name if number == 0 else '':>24} {f'{seconds:g} s' if number == 0 else '':>6}"
                f" {number + 1:>4} {shares[0]:>21} {shares[1]:>11} {shares[2]:>6}"
                f" {figure(ms([turn.beside for turn in turns]))}"
                f" {median(turn.calls for turn in turns):>6g} {f'{before} to {after}' if last else '':>12}"
            )
        if side.provider == "souvenance":
            about = f"{side.name}, model of {seconds:g} s"
            for what, claim in (("apt", "least turns answered from memory"), ("saved", "least turns saved")):
                least = min(sum(getattr(turn, what) for turn in talk.turns) for talk in talks)
                verdicts.append(Verdict(f"{claim}, {about}", [least], len(TURNS), least=True))
    return verdicts


def print_leaks(found: dict[Side, Samples]) -> list[Verdict]:
    print("\nleak: API server, requests one after the other, a model that answers at once")
    for side, samples in found.items():
        print(f"{side.name:>24}  {'requests':>8} {'threads':>8} {'files':>6} {'MB':>8} {'ms each':>8}")
        for at, (requests, held) in enumerate(zip(samples.requests, samples.held, strict=True)):
            every = samples.taken[samples.requests[at - 1] : requests] if at else []
            each = f"{1000 * median(every):.0f}" if every else ""
            counts = f"{held.threads:>8} {held.files:>6} {held.resident_mb:>8.1f}"
            print(f"{'':>24}  {requests:>8} {counts} {each:>8}")
        print(
            f"{'':>24}  left after the warm-up: {samples.left('threads'):+} threads, "
            f"{samples.left('files'):+} files; {samples.slope('resident_mb'):+.1f} MB in a thousand requests"
        )
    ours, nobody = found[OURS], found[NOBODY]
    return [
        Verdict("threads left after 1000 requests", [ours.left("threads")], LEFT_MOST),
        Verdict("open files left after 1000 requests", [ours.left("files")], LEFT_MOST),
        Verdict(
            "resident MB more in 1000 requests",
            [ours.slope("resident_mb")],
            round(max(MEMORY_MOST_MB, nobody.slope("resident_mb")), 1),
        ),
    ]
