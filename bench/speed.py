"""What a request costs the server at 20,000 messages: its own time and CPU, beside what is aimed at.

    python bench/speed.py [--rounds 3] [--messages 20000] [--home FOLDER] [--only CALLS] [--json FILE]

It starts `souvenance serve` on an empty folder, fills a workspace over Honcho's API as `honcho_api.py` does,
waits for the work behind the messages, and starts the server again. Then every round asks each call with one
client, the reads also with eight at once, and adds messages last. Clients are processes with a kept-alive
socket and hardly any code, their requests made beforehand: what is measured is the server, and no SDK.

A figure is the median of the rounds' medians, with the least and the largest of them. CPU is what the
server's processes used of the processor for one call, read from their clock to the nanosecond; that of an
add contains the work behind it. Foreign load lengthens times much and CPU little. With --home the filled
folder is kept, and used again if it is filled already.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple

from honcho_load import BATCH, CALLS, Call, Crew, Job, Plain, Store
from honcho_server import Server, resident_mb
from machine import Machine

WORKSPACE = "speed"
MANY = 8
RESIDENT_MOST_MB = 180.0
_SECONDS = 4.0
"""The most that one call is asked for in one round."""


class Aim(NamedTuple):
    """What is aimed at: milliseconds with one client, and answers per second with eight, 0 for none."""

    call: str
    most_ms: float
    least_rate: float = 0.0


AIMS = (
    Aim("session_get_existing", 1.5, 2000),
    Aim("messages_page50", 3),
    Aim("context_default", 3, 600),
    Aim("context_peer_search", 7),
    Aim("representation_search", 4),
    Aim("search_session", 6, 350),
    Aim("search_peer", 5),
    Aim("search_workspace", 15),
    Aim("add_messages_1", 2.5),
    Aim("add_messages_100", 35),
)


@dataclass
class Cell:
    """One call with so many clients: each round's median, rate and CPU."""

    medians: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class Bench:
    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.store = Store(WORKSPACE, asked.messages, session_length=100)
        self.server = Server(asked.home)
        self.cells: dict[tuple[str, int], Cell] = defaultdict(Cell)
        self._numbers = count()

    def measure(self) -> tuple[float, float]:
        """Fill the store and ask; the resident memory now and at most, in MB."""
        try:
            self.server.start()
            self._fill()
            self.server.stop()
            self.server.start()
            crew = Crew(MANY, self.server.base_url, self.server.key, sdk=False)
            known = {call.name: call for call in CALLS}
            for writes in (False, True):
                for number in range(self.asked.rounds):
                    for aim in AIMS:
                        call = known[aim.call]
                        if call.writes == writes and (not self.asked.only or call.name in self.asked.only):
                            told(f"round {number + 1}: {call.name}")
                            self._ask(crew, call, 1)
                            if aim.least_rate:
                                self._ask(crew, call, MANY)
            resident = resident_mb(self.server.pid)
            crew.dismiss()
            return resident
        finally:
            told("")
            self.server.clear()

    def _ask(self, crew: Crew, call: Call, clients: int) -> None:
        each = call.calls * (1 if clients == 1 else 2)
        jobs = [
            Job(call.name, self.store, [next(self._numbers) for _ in range(each)], _SECONDS)
            for _ in range(clients)
        ]
        used = self._cpu()
        done = crew.do(jobs)
        if call.adds:
            self._drain()
        used = self._cpu() - used
        taken = [seconds for one in done for seconds in one.taken]
        cell = self.cells[call.name, clients]
        cell.medians.append(median(taken))
        cell.rates.append(len(taken) / (max(one.ended for one in done) - min(one.began for one in done)))
        cell.cpu.append(used / sum(one.calls for one in done))

    def _fill(self) -> None:
        """Nothing is stored that is there already."""
        store, client = self.store, Plain(self.server.base_url, self.server.key)
        workspace = f"/v3/workspaces/{store.workspace}"
        client.call("POST", "/v3/workspaces", {"id": store.workspace})
        if client.call("POST", f"{workspace}/sessions/list", {})["total"] >= store.sessions:
            client.close()
            return
        for name in store.peers:
            client.call("POST", f"{workspace}/peers", {"id": name})
        for number, (session, said) in enumerate(store.batches()):
            client.call("POST", f"{workspace}/sessions/{session}/messages", {"messages": said})
            told(f"storing {number * BATCH} of {store.size}")
        stated = store.conclusions()
        for at in range(0, len(stated), BATCH):
            client.call("POST", f"{workspace}/conclusions", {"conclusions": stated[at : at + BATCH]})
        client.close()
        self._drain()

    def _drain(self) -> None:
        """Wait until no work is left behind what was stored."""
        client = Plain(self.server.base_url, self.server.key)
        while True:
            status = client.call("GET", f"/v3/workspaces/{self.store.workspace}/queue/status")
            if status["pending_work_units"] + status["in_progress_work_units"] == 0:
                client.close()
                return
            time.sleep(0.02)

    def _cpu(self) -> float:
        """Seconds of the processor that the server used so far."""
        return time.clock_gettime(~self.server.pid << 3 | 2)  # What `clock_getcpuclockid` gives.


def told(text: str) -> None:
    print(f"\r{text:<60}", end="\r", file=sys.stderr, flush=True)


def spread(values: list[float], scale: float = 1000) -> str:
    return f"{median(values) * scale:8.2f} ({min(values) * scale:.2f} to {max(values) * scale:.2f})"


def print_table(bench: Bench, resident: tuple[float, float]) -> bool:
    """Whether every aim is met."""
    met = True
    print(f"{'call':>22} {'clients':>7} {'CPU ms':>24} {'wall ms':>26} {'per s':>8}  aim")
    for aim in AIMS:
        for clients in (1, MANY):
            cell = bench.cells.get((aim.call, clients))
            if cell is None:
                continue
            if clients == 1:
                reached, aimed_at = median(cell.medians) * 1000 <= aim.most_ms, f"at most {aim.most_ms:g} ms"
            else:
                reached, aimed_at = median(cell.rates) >= aim.least_rate, f"at least {aim.least_rate:g} per s"
            met &= reached
            print(
                f"{aim.call:>22} {clients:>7} {spread(cell.cpu):>24} {spread(cell.medians):>26}"
                f" {median(cell.rates):>8.0f}  {aimed_at}: {'met' if reached else 'MISSED'}"
            )
    now, most = resident
    print(f"resident: {now:.0f} MB, at most {most:.0f} (aim {RESIDENT_MOST_MB:.0f})")
    return met and now <= RESIDENT_MOST_MB


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--home", type=Path, help="a data folder to fill, or one that is filled")
    parser.add_argument("--only", type=lambda given: given.split(","), help="some of the calls, by name")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    bench, machine = Bench(asked), Machine()
    resident = bench.measure()
    print(f"{asked.messages} messages, {asked.rounds} rounds; {machine}")
    met = print_table(bench, resident)
    if asked.json:
        cells = [
            {"call": name, "clients": clients, **vars(cell)} for (name, clients), cell in bench.cells.items()
        ]
        asked.json.write_text(json.dumps({"resident": resident, "cells": cells}, indent=1), encoding="utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
