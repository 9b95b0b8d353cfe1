"""What the Honcho API costs, on any Honcho v3 server: latency, throughput, memory, disk, start.

    python bench/honcho_api.py [--base-url URL] [--api-key KEY] [--pids 12,13] [--sdk]
        [--rounds 3] [--stores 1000,20000] [--clients 1,8] [--session-length 100] [--only CALLS] [--json FILE]

Without --base-url it starts a `souvenance serve` of its own on an empty folder, and then also tells the
cold start, the resident memory and the bytes on disk. On another server it leaves its workspaces
behind, named `bench-...`. Only documented v3 routes are used.

Method. Each store is a workspace of its own: sessions of 100 messages of about 40 tokens between one of
eight people and one of two assistants, and one stated conclusion for every ten messages. After filling,
the work behind the messages is waited for (`queue/status`). Then every round goes through all calls,
first those that only read, then in further rounds those that write, each with one client and with
eight at once; a client is a process with one kept-alive connection, its requests made beforehand. Adds
are measured while the server works on what was added; how long that work lags behind the last add
is told beside. A figure is the median of the rounds' medians, with the least and the largest of these;
p95 is over all calls of all rounds. `CPU` is what the server's processes used per call (ticks of 10 ms
over the whole cell), the steadiest figure on a machine that does other things too. That of an add contains
the deriving, so the 32 ms per message that Honcho's deriver was seen to use are added to its figure.

`PEER` are figures of Honcho's own server, recorded elsewhere and at another time: November 2026,
server 3.0.12 with one uvicorn worker, PostgreSQL 15 with pgvector, Redis and deriver off, an embedding
endpoint that answers at once, honcho-ai 2.7.0 on loopback, 2 cores, median of 3 repeats. So a ratio is
ours against figures recorded elsewhere, and claims no more. Two things make it fairer: `--sdk` measures
through the same SDK, whose own cost (about 1 ms a call) the recorded figures contain; and each call is
also given as a multiple of the floor, `GET /health` of the same server in the same rounds, for both.
The default client has hardly any cost of its own: it measures the server, and its latencies flatter us
where the SDK is most of the recorded figure. So the targets are judged by CPU per call where that is known;
latency and throughput stand beside. Foreign load inflates CPU too: how much, a fixed piece of Python tells.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from honcho_load import BATCH, CALLS, Call, Crew, Job, Plain, Store
from honcho_server import Disk, Server, cpu_seconds, resident_mb

FLOOR = "floor_health"
START_MOST_SECONDS = 1.5
RESIDENT_MOST_MB = 200.0
STORED_MOST_BYTES = 3 * 1024
DERIVING_MS = 32.0
"""What Honcho's deriver uses per message beside the model; our CPU of an add contains the deriving."""

_STANDSTILL_SECONDS = 20.0
_POLL_SECONDS = 0.02


class Peer(NamedTuple):
    """One row of what was recorded: milliseconds, requests per second, milliseconds of CPU."""

    p50: float
    p95: float
    rate: float
    p50_many: float
    p95_many: float
    rate_many: float
    cpu: float


PEER = {
    1000: {
        "floor_health": Peer(1.6, 3.8, 737.3, 11, 19, 740.1, 0.8),
        "session_get_existing": Peer(3.0, 7.1, 337.9, 18, 25, 452.8, 2.0),
        "peer_get_existing": Peer(5.6, 8.1, 175.9, 37, 45, 219.2, 4.5),
        "session_create_new": Peer(14.5, 22.3, 69.6, 80, 97, 101.4, 9.6),
        "add_messages_1": Peer(60.6, 93.2, 15.8, 387, 589, 19.8, 61.0),
        "add_messages_100": Peer(514.8, 1583.8, 1.0, 2639, 5397, 2.2, 752.0),
        "context_default": Peer(13.0, 18.4, 73.5, 85, 133, 84.3, 10.8),
        "context_tokens2000": Peer(10.1, 16.1, 90.8, 63, 112, 110.9, 8.6),
        "context_peer_search": Peer(84.6, 92.2, 11.8, 661, 964, 11.3, 80.5),
        "representation_search": Peer(34.8, 37.7, 28.6, 237, 261, 33.8, 33.9),
        "conclusions_query": Peer(26.0, 27.6, 38.3, 167, 190, 46.2, 24.5),
        "search_session": Peer(30.5, 34.2, 32.4, 167, 222, 46.8, 28.0),
        "search_peer": Peer(26.4, 29.3, 38.5, 154, 176, 51.9, 23.3),
        "search_workspace": Peer(73.5, 77.8, 13.5, 308, 424, 25.2, 70.8),
        "messages_page50": Peer(9.2, 13.2, 105.1, 62, 92, 122.7, 8.7),
    },
    20_000: {
        "floor_health": Peer(1.3, 1.8, 885.7, 6, 14, 1619.2, 0.8),
        "session_get_existing": Peer(5.3, 6.0, 233.5, 15, 31, 497.0, 3.8),
        "peer_get_existing": Peer(5.7, 7.0, 174.8, 34, 39, 239.5, 4.8),
        "session_create_new": Peer(15.1, 20.0, 68.4, 77, 92, 103.3, 9.4),
        "add_messages_1": Peer(61.0, 85.2, 15.9, 411, 607, 18.5, 52.5),
        "add_messages_100": Peer(936.7, 1612.6, 1.1, 5403, 8605, 1.2, 550.0),
        "context_default": Peer(15.0, 18.1, 67.6, 87, 114, 84.9, 12.0),
        "context_tokens2000": Peer(11.1, 12.3, 93.9, 68, 84, 113.3, 9.3),
        "context_peer_search": Peer(80.0, 86.8, 12.5, 601, 698, 13.1, 84.8),
        "representation_search": Peer(36.8, 41.3, 27.0, 240, 270, 33.4, 36.4),
        "conclusions_query": Peer(25.8, 28.5, 38.8, 284, 332, 28.4, 24.3),
        "search_session": Peer(59.0, 72.8, 17.0, 259, 339, 29.3, 37.5),
        "search_peer": Peer(80.0, 89.0, 12.9, 350, 609, 20.4, 53.5),
        "search_workspace": Peer(874.3, 1303.3, 1.1, 3641, 6162, 2.0, 843.0),
        "messages_page50": Peer(17.8, 22.4, 58.4, 86, 110, 94.0, 11.0),
    },
}


@dataclass
class Cell:
    """One call with so many clients: every round's median, rate and CPU per call, and every latency."""

    medians: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    bytes: int = 0

    @property
    def p50_ms(self) -> float:
        return median(self.medians) * 1000

    @property
    def p95_ms(self) -> float:
        return quantiles(self.taken, n=20)[-1] * 1000 if len(self.taken) > 1 else self.p50_ms

    @property
    def rate(self) -> float:
        return median(self.rates)

    @property
    def cpu_ms(self) -> float | None:
        return median(self.cpu) * 1000 if self.cpu else None


@dataclass
class Measured:
    """What was found at one size of store."""

    store: Store
    filled_per_second: float = 0.0
    fill_lag: float | None = 0.0
    yardsticks: list[float] = field(default_factory=list)
    cells: dict[str, dict[int, Cell]] = field(default_factory=dict)
    resident: tuple[float, float] | None = None
    disk: Disk | None = None
    start_again: float | None = None

    def cell(self, name: str, clients: int) -> Cell:
        return self.cells.setdefault(name, {}).setdefault(clients, Cell())


class Bench:
    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.server: Server | None = None
        self.clients = [int(number) for number in asked.clients.split(",")]
        self._numbers = count()
        self.base_url = asked.base_url
        self.key = asked.api_key
        self.pids = [int(pid) for pid in asked.pids.split(",")] if asked.pids else []
        self.starts: list[float] = []
        self.start_cpu: list[float] = []

    def begin(self) -> None:
        """Start a server of our own if none was named, as often as there are rounds; the last one stays."""
        if self.asked.base_url is not None:
            return
        for _ in range(self.asked.rounds):
            self.end()
            self.server = Server()
            self.starts.append(self.server.start())
            self.start_cpu.append(self.server.start_cpu)
        self._reached()

    def end(self) -> None:
        if self.server is not None:
            self.server.clear()

    def _reached(self) -> None:
        if self.server is not None:
            self.base_url, self.key, self.pids = self.server.base_url, self.server.key, [self.server.pid]

    def measure(self, size: int) -> Measured:
        store = Store(f"bench-{size}-{int(time.time())}", size, self.asked.session_length)
        found = Measured(store)
        self._fill(found)
        filling = 0.0
        if self.server is not None:
            filling = resident_mb(self.server.pid)[1]
            self.server.stop()
            found.disk = self.server.disk()
            found.start_again = self.server.start()
            self._reached()
        crew = Crew(max(self.clients), self.base_url, self.key, sdk=self.asked.sdk)
        only = self.asked.only.split(",") if self.asked.only else [call.name for call in CALLS]
        wanted = [call for call in CALLS[1:] if call.name in only]
        reads = [CALLS[0], *(call for call in wanted if not call.writes)]
        writes = [CALLS[0], *(call for call in wanted if call.writes)]
        for calls in (reads, writes):
            for number in range(self.asked.rounds):
                told(f"{size} messages, round {number + 1} of {'reads' if calls is reads else 'writes'}")
                for call in calls:
                    found.yardsticks.append(yardstick())
                    for clients in self.clients:
                        self._round(found, crew, call, clients)
        crew.dismiss()
        if self.server is not None:
            now, most = resident_mb(self.server.pid)
            found.resident = (now, max(most, filling))
        return found

    def _round(self, found: Measured, crew: Crew, call: Call, clients: int) -> None:
        each = max(2, call.calls // (1 if clients == 1 else 4))
        jobs = [
            Job(call.name, found.store, [next(self._numbers) for _ in range(each)], self.asked.seconds)
            for _ in range(clients)
        ]
        used = cpu_seconds(self.pids)
        done = crew.do(jobs)
        cell = found.cell(call.name, clients)
        if call.adds:
            lag = self._drain(found.store)
            if lag is not None:
                cell.lags.append(lag)
        taken = [seconds for one in done for seconds in one.taken]
        span = max(one.ended for one in done) - min(one.began for one in done)
        cell.medians.append(median(taken))
        cell.rates.append(len(taken) / span)
        cell.taken += taken
        cell.bytes = done[0].bytes
        if self.pids:
            cell.cpu.append((cpu_seconds(self.pids) - used) / sum(one.calls for one in done))

    def _fill(self, found: Measured) -> None:
        store, client = found.store, Plain(self.base_url, self.key)
        workspace = f"/v3/workspaces/{store.workspace}"
        client.call("POST", "/v3/workspaces", {"id": store.workspace})
        for name in store.peers:
            client.call("POST", f"{workspace}/peers", {"id": name})
        batches = store.batches()
        began = time.perf_counter()
        for number, (session, said) in enumerate(batches):
            client.call("POST", f"{workspace}/sessions/{session}/messages", {"messages": said})
            if number % 10 == 0:
                told(f"storing {number * BATCH} of {store.size}")
        found.filled_per_second = store.size / (time.perf_counter() - began)
        found.fill_lag = self._drain(store)
        client.close()
        stated = store.conclusions()
        for at in range(0, len(stated), BATCH):
            client.call("POST", f"{workspace}/conclusions", {"conclusions": stated[at : at + BATCH]})
        client.close()

    def _drain(self, store: Store) -> float | None:
        """How many seconds it took until no work was left; None if it stands still, as without a worker."""
        client = Plain(self.base_url, self.key)
        began = moved = time.perf_counter()
        last = None
        while True:
            status = client.call("GET", f"/v3/workspaces/{store.workspace}/queue/status")
            left = status["pending_work_units"] + status["in_progress_work_units"]
            now = time.perf_counter()
            if left == 0:
                client.close()
                return now - began
            if left != last:
                last, moved = left, now
                told(f"waiting for {left} pieces of work")
            elif now - moved > _STANDSTILL_SECONDS:
                client.close()
                return None
            time.sleep(_POLL_SECONDS)


def yardstick() -> float:
    """Seconds of CPU that a fixed piece of Python takes now: more where the machine does other things too."""
    began = time.process_time()
    sum(number * number for number in range(200_000))
    return time.process_time() - began


def told(text: str) -> None:
    print(f"\r{text:<70}", end="\r", file=sys.stderr, flush=True)


class Verdict(NamedTuple):
    claim: str
    value: float
    bound: float
    least: bool
    """Whether the bound is a least and not a most."""
    beside: str = ""

    @property
    def met(self) -> bool:
        return self.value >= self.bound if self.least else self.value <= self.bound


def recorded_cpu(call: str, peer: Peer) -> float:
    """What the recorded server used per call, its deriving included where ours is."""
    return peer.cpu + DERIVING_MS * next(one.adds for one in CALLS if one.name == call)


def ratios(call: str, found: Measured) -> dict[str, float]:
    """How many times better ours are than recorded: CPU if known, latency of one, throughput of many."""
    peer = PEER.get(found.store.size, {}).get(call)
    if peer is None or call not in found.cells:
        return {}
    cells = found.cells[call]
    better = {}
    if used := [seconds for cell in cells.values() for seconds in cell.cpu]:
        better["CPU"] = recorded_cpu(call, peer) / (median(used) * 1000)
    if 1 in cells:
        better["latency"] = peer.p50 / cells[1].p50_ms
    if 8 in cells:
        better["throughput"] = cells[8].rate / peer.rate_many
    return better


def print_store(found: Measured) -> None:
    store = found.store
    lag = "never (nobody works)" if found.fill_lag is None else f"{found.fill_lag:.2f} s later"
    print(
        f"\n{store.size} messages in {store.sessions} sessions, filled at {found.filled_per_second:.0f} "
        f"messages/s, their work done {lag}"
    )
    least, usual, most = min(found.yardsticks), median(found.yardsticks), max(found.yardsticks)
    print(f"the same Python took {usual / least:.2f} times its least CPU (most {most / least:.2f}) meanwhile")
    print(
        f"{'call':>22} {'clients':>7} {'p50 ms (least to most)':>26} {'p95':>8} {'req/s':>8} {'CPU ms':>7}"
        f" {'x floor':>8} | {'Honcho x floor':>14} {'recorded p50, req/s':>20} {'p50':>6} {'req/s':>6}"
        f" {'CPU':>6}"
    )
    for name, cells in found.cells.items():
        for clients, cell in cells.items():
            print_cell(found, name, clients, cell)
        lags = [lag for cell in cells.values() for lag in cell.lags]
        if lags:
            print(f"{'':>22}   work done {median(lags):.2f} s after the last add (most {max(lags):.2f})")


def print_cell(found: Measured, name: str, clients: int, cell: Cell) -> None:
    floor = found.cells[FLOOR][clients]
    spread = f"({min(cell.medians) * 1000:.2f} to {max(cell.medians) * 1000:.2f})"
    cpu = "" if cell.cpu_ms is None else f"{cell.cpu_ms:.2f}"
    line = (
        f"{name:>22} {clients:>7} {cell.p50_ms:>9.2f} {spread:>16} {cell.p95_ms:>8.2f} {cell.rate:>8.1f}"
        f" {cpu:>7} {cell.p50_ms / floor.p50_ms:>8.1f} |"
    )
    table = PEER.get(found.store.size, {})
    if name in table and clients in (1, 8):
        peer, bare = table[name], table[FLOOR]
        p50, rate = (peer.p50, peer.rate) if clients == 1 else (peer.p50_many, peer.rate_many)
        multiple = p50 / (bare.p50 if clients == 1 else bare.p50_many)
        by_cpu = f"{recorded_cpu(name, peer) / cell.cpu_ms:>5.1f}x" if cell.cpu_ms else ""
        line += (
            f" {multiple:>14.1f} {f'{p50:g}, {rate:g}':>20} {p50 / cell.p50_ms:>5.1f}x"
            f" {cell.rate / rate:>5.1f}x {by_cpu}"
        )
    print(line)


def verdicts(bench: Bench, measured: Sequence[Measured]) -> list[Verdict]:
    found = []
    for call in CALLS:
        for one in measured:
            better = ratios(call.name, one)
            if call.target and better:
                by, *others = better
                beside = ", ".join(f"by {other} {better[other]:.1f}" for other in others)
                claim = f"{call.name} at {one.store.size}, by {by}"
                found.append(Verdict(claim, better[by], call.target, least=True, beside=beside))
    if bench.starts:
        found.append(Verdict("cold start, s", median(bench.starts), START_MOST_SECONDS, least=False))
    for one in measured:
        size = one.store.size
        if one.start_again is not None:
            found.append(
                Verdict(f"start with {size} messages, s", one.start_again, START_MOST_SECONDS, least=False)
            )
        if one.resident is not None:
            found.append(
                Verdict(f"resident at {size} messages, MB", one.resident[1], RESIDENT_MOST_MB, least=False)
            )
    if measured and (disk := measured[-1].disk) is not None:
        stored = sum(one.store.size for one in measured)
        found.append(
            Verdict(
                f"bytes on disk per message at {stored}", disk.total / stored, STORED_MOST_BYTES, least=False
            )
        )
    return found


def print_footprint(bench: Bench, measured: Sequence[Measured]) -> None:
    if bench.starts:
        each = ", ".join(f"{seconds:.2f}" for seconds in bench.starts)
        cpu = f"{median(bench.start_cpu):.2f} s of CPU"
        print(f"\ncold start, process to first answer: {median(bench.starts):.2f} s (of {each}), {cpu}")
    for one in measured:
        if one.resident is not None:
            now, most = one.resident
            print(f"resident after {one.store.size} messages: {now:.0f} MB (at most {most:.0f})")
        if one.disk is not None:
            shares = {name: 100 * size / one.disk.total for name, size in one.disk.parts.items()}
            parts = ", ".join(f"{name} {share:.0f} %" for name, share in shares.items() if share >= 1)
            print(f"disk after filling {one.store.size}: {one.disk.total / 1e6:.1f} MB: {parts or 'unknown'}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--base-url", help="a running Honcho v3 server; without it, a souvenance of our own")
    parser.add_argument("--api-key")
    parser.add_argument("--pids", help="the server's processes, for CPU per call")
    parser.add_argument("--sdk", action="store_true", help="measure through honcho-ai")
    parser.add_argument("--only", default="", help="some of the calls, by name; the floor is always measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stores", default="1000,20000")
    parser.add_argument("--clients", default="1,8")
    parser.add_argument("--session-length", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=4.0, help="the most that one cell of a round takes")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def report(bench: Bench, measured: Sequence[Measured]) -> int:
    via = "honcho-ai" if bench.asked.sdk else "plain HTTP"
    print(
        f"\n{bench.asked.rounds} rounds through {via}; right of the bar: against figures recorded elsewhere"
    )
    for one in measured:
        print_store(one)
    print_footprint(bench, measured)
    print()
    found = verdicts(bench, measured)
    for verdict in found:
        word = "at least" if verdict.least else "at most"
        state = "met" if verdict.met else "MISSED"
        beside = f"   ({verdict.beside})" if verdict.beside else ""
        print(f"{verdict.claim:>42}  {verdict.value:8.2f}  {word} {verdict.bound:g}: {state}{beside}")
    if bench.asked.json:
        bench.asked.json.write_text(json.dumps(_plain(bench, measured, found), indent=1), encoding="utf-8")
    return 0 if all(verdict.met for verdict in found) else 1


def _plain(bench: Bench, measured: Sequence[Measured], found: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "starts": bench.starts,
        "stores": {
            one.store.size: {
                "resident": one.resident,
                "disk": one.disk,
                "start_again": one.start_again,
                "filled_per_second": one.filled_per_second,
                "fill_lag": one.fill_lag,
                "calls": {
                    name: {
                        clients: {
                            "medians": cell.medians,
                            "p95_ms": cell.p95_ms,
                            "rates": cell.rates,
                            "cpu": cell.cpu,
                            "lags": cell.lags,
                            "bytes": cell.bytes,
                        }
                        for clients, cell in cells.items()
                    }
                    for name, cells in one.cells.items()
                },
            }
            for one in measured
        },
        "verdicts": [{**verdict._asdict(), "met": verdict.met} for verdict in found],
    }


def main() -> int:
    asked = arguments()
    bench = Bench(asked)
    try:
        bench.begin()
        measured = [bench.measure(int(size)) for size in asked.stores.split(",")]
        told("")
        return report(bench, measured)
    finally:
        bench.end()


if __name__ == "__main__":
    sys.exit(main())
