"""A soak: mixed load at a fixed rate, with kills and outages, and what was promised checked at the end.

    python bench/soak.py [--minutes 30] [--rate 20] [--store sqlite|postgres] [--embedder auto] [--json FILE]

Two servers share one store. One lives throughout; the other is killed (-9) every 20 seconds and started
again, and so is a host with the Hermes provider. Every 5 minutes the store is out of reach for 15 seconds,
longer than a request waits for it: a SQLite file is locked by another program, PostgreSQL is stopped.

Six doors are asked: the memory API, the Honcho API, the chat door in front of a stand-in for a model, MCP
over HTTP, the command line on the data folder, and the Hermes provider on a store of its own. The inspector,
the pages for signing in, imports and /metrics are not asked. `--rate` is the requests per second over all
doors, of which each has a fixed share (`SHARES` in soak_doors.py), so that memory is judged at one rate.

At the end: every line whose writing was acknowledged is there, and none whose forgetting was. Every answer
has a row in the audit log, looked up by the token of that very call (MCP narrows its tokens itself: there
each write is looked up); a chat that was refused while the store was out of reach has one too, and some were.
Nobody is refused for now but in an outage. Each door answered at least half of what it was to be asked. The
log verifies, and the doctor finds nothing. The server that lived has no more threads, open files and database
connections at rest than after its first minute, and its memory is flat: the median of the last fifth of the
time is within 5 % of that of the third, and in both the load was at least four fifths of the rate. Memory and
load are judged from 10 minutes on.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import souvenance
from chat import STAND_IN, serving
from machine import Machine
from scale_postgres import Cluster
from soak_doors import (
    PEOPLE,
    SHARES,
    WORKSPACE,
    Chat,
    Client,
    CommandLine,
    Honcho,
    Host,
    Ledger,
    Mcp,
    Memory,
    Pace,
    Paused,
    Step,
    keep_going,
)
from souvenance.adapters.sql.sqlite import BUSY_SECONDS
from souvenance.domain.capability import OPS
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials

KILL_SECONDS = 20.0
OUTAGE_EVERY, OUTAGE_SECONDS = 300.0, 1.5 * BUSY_SECONDS
WARM_SECONDS = 60.0
REST_SECONDS = 5.0
SAMPLE_SECONDS = 2.0
MEMORY_MOST = 1.05
MEMORY_FROM_MINUTES = 10
LOAD_LEAST = 0.8
ANSWERED_LEAST = 0.5
SPARE = 3
"""By how many threads or files a server at rest may differ: pools grow when they are first needed."""
INDEX_MB = 2
"""Full after some three thousand lines, so that the last half of the time shows what else grows."""
HOST_WORKSPACE = "hermes"
_PAGE = 10_000
_T = TypeVar("_T")
_START_SECONDS = 180.0


class Held(NamedTuple):
    """What a process holds at one moment."""

    threads: int
    files: int
    resident_mb: float

    @classmethod
    def of(cls, pid: int) -> Held:
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
        )
        files = len(os.listdir(f"/proc/{pid}/fd"))
        return cls(int(status["Threads"]), files, int(status["VmRSS"].split()[0]) / 1024)


class Store:
    """A SQLite file in the data folder."""

    settings: Mapping[str, str] = {}

    def __init__(self, home: Path) -> None:
        self._home = home

    @contextmanager
    def out_of_reach(self) -> Iterator[None]:
        """Another program holds the store meanwhile: nothing can be written, audit rows neither."""
        with closing(
            sqlite3.connect(self._home / "souvenance.db", timeout=60, isolation_level=None)
        ) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield
            other.execute("ROLLBACK")

    def connections(self) -> int:
        return 0

    def close(self) -> None:
        pass


class Database:
    """A PostgreSQL server of the soak's own."""

    def __init__(self, folder: Path) -> None:
        folder.parent.chmod(0o711)  # PostgreSQL does not run as root, and has to get there.
        self._cluster = Cluster(folder)
        self._cluster.start()
        self._cluster.run("CREATE DATABASE soak")
        self.settings = {"SOUVENANCE_STORE": self._cluster.url("soak")}

    @contextmanager
    def out_of_reach(self) -> Iterator[None]:
        """It is stopped, whoever is connected."""
        self._cluster.stop()
        try:
            yield
        finally:
            self._cluster.start()

    def connections(self) -> int:
        import psycopg

        with psycopg.connect(self._cluster.url("soak")) as asking:
            found = asking.execute("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = 'soak'").fetchone()
            (count,) = found or (0,)
            return int(count)

    def close(self) -> None:
        self._cluster.stop()


class Server:
    """`souvenance serve` on a port that stays the same, however often it is killed."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment = dict(environment)
        self._log = log
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "souvenance", "serve", "--port", str(self.port)],
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.05)

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


class Watch:
    """What the server that lives holds and how many calls there were, moment by moment."""

    def __init__(self, server: Server, ledger: Ledger) -> None:
        self._server = server
        self._ledger = ledger
        self.samples: list[Held] = []
        self.asked: list[tuple[float, int]] = []

    def run(self, stopped: threading.Event) -> None:
        while not stopped.wait(SAMPLE_SECONDS):
            try:
                self.samples.append(Held.of(self._server.pid))
            except OSError:
                return
            self.asked.append((time.monotonic(), self._ledger.asked()))

    def fifth(self, number: int) -> float:
        """The median of its memory in a fifth of the time, in MB."""
        return median(held.resident_mb for held in _fifth(self.samples, number))

    def rate(self, number: int) -> float:
        """The calls per second in a fifth of the time."""
        asked = _fifth(self.asked, number)
        (first, before), (last, after) = asked[0], asked[-1]
        return (after - before) / max(last - first, SAMPLE_SECONDS)


def _fifth(samples: list[_T], number: int) -> list[_T]:
    size = max(1, len(samples) // 5)
    return samples[number * size :][:size]


class Soak:
    def __init__(self, folder: Path, minutes: float, rate: float, store: str, embedder: str) -> None:
        self.home = folder / "home"
        self.seconds = minutes * 60
        self.rate = rate
        self.store: Store | Database = Database(folder / "pg") if store == "postgres" else Store(self.home)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
        self._own = {
            "SOUVENANCE_HOME": str(self.home),
            "SOUVENANCE_EMBEDDER": embedder,
            "SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000",
            "SOUVENANCE_INDEX_MB": str(INDEX_MB),
            **self.store.settings,
        }
        self.environment = {**kept, **self._own}
        self.host_home = folder / "hermes"
        self.host_environment = {**kept, "SOUVENANCE_EMBEDDER": embedder}
        self.log = folder / "log"
        self.ledger = Ledger()
        self.kills = self.outages = 0
        self.at_rest: list[tuple[Held, int]] = []

    def tokens(self) -> dict[str, str]:
        """One for each person, and one that speaks for all."""
        installation = self.opened()
        try:

            def mint(sub: str, *peers: str) -> str:
                asked = m.Mint(sub=sub, ops=OPS, namespaces_allowed=("*",), wid=WORKSPACE, peers=peers)
                minted: m.CapAnswer = installation.gate.call(
                    o.MINT, Credentials(installation.owner_cap), asked
                )
                return minted.cap

            people = [f"person-{number}" for number in range(PEOPLE)]
            return {"front": mint("front", "*"), **{person: mint(person) for person in people}}
        finally:
            installation.close()

    def opened(self) -> souvenance.Installation:
        return souvenance.open_installation(souvenance.settings_from(self._own))

    def run(self) -> Watch:
        tokens = self.tokens()
        stopped = threading.Event()
        with ExitStack() as stack:
            model = stack.enter_context(serving([sys.executable, "-c", STAND_IN]))
            served = {**self.environment, "SOUVENANCE_CHAT_BASE_URL": f"http://127.0.0.1:{model}/v1"}
            lives, dies = Server(served, self.log), Server(served, self.log)
            for server in (lives, dies):
                stack.callback(server.stop)
                server.start()
            host = Host(self.host_home, self.host_environment, self.ledger, self._pace("hermes"))
            stack.callback(host.close)
            steps, clients = self._doors(tokens, [lives.port, dies.port], host)
            paused = Paused(clients)
            watch = Watch(lives, self.ledger)
            loaded_no_more = threading.Event()
            threads = [threading.Thread(target=watch.run, args=(loaded_no_more,), daemon=True)]
            threads += [
                threading.Thread(
                    target=keep_going, args=(step, self.ledger, door, stopped, paused), daemon=True
                )
                for door, step in steps.items()
            ]
            for thread in threads:
                thread.start()
            try:
                self._disturb(lives, dies, host, paused, len(steps))
                loaded_no_more.set()
                paused.all_rest(len(steps), REST_SECONDS)
                self.at_rest.append((Held.of(lives.pid), self.store.connections()))
                if not lives.runs:
                    self.ledger.complain("the server that was to live ended")
            finally:
                loaded_no_more.set()
                stopped.set()
                for thread in threads:
                    thread.join(60)
                for client in clients.values():
                    client.close()
        return watch

    def _doors(
        self, tokens: Mapping[str, str], ports: list[int], host: Host
    ) -> tuple[dict[str, Step], dict[str, Client]]:
        clients = {
            door: Client(door, ports, tokens, self.ledger, seed, self._pace(door))
            for seed, door in enumerate(("memory", "honcho", "chat", "mcp"))
        }
        steps: dict[str, Step] = {
            "memory": Memory(clients["memory"], self.ledger),
            "honcho": Honcho(clients["honcho"], self.ledger),
            "chat": Chat(clients["chat"]),
            "mcp": Mcp(clients["mcp"], self.ledger),
            "cli": CommandLine(self.environment, self.ledger, len(clients), self._pace("cli")),
            "hermes": host,
        }
        return steps, clients

    def _pace(self, door: str) -> Pace:
        return Pace(self.rate * SHARES[door])

    def _disturb(self, lives: Server, dies: Server, host: Host, paused: Paused, doors: int) -> None:
        """Kill and cut off, on time, until the end."""
        began = time.monotonic()
        killed = 0.0
        cut_off = -OUTAGE_EVERY / 2 if self.seconds < OUTAGE_EVERY else 0.0
        while (now := time.monotonic() - began) < self.seconds:
            if not self.at_rest and now > min(WARM_SECONDS, self.seconds / 3):
                load = self.ledger.asked() / now
                print(f"first {load:.1f} of {self.rate:g} requests a second", file=sys.stderr)
                paused.all_rest(doors, REST_SECONDS)
                self.at_rest.append((Held.of(lives.pid), self.store.connections()))
                paused.go_on()
            if now - killed > KILL_SECONDS:
                killed = now
                self.kills += 1
                dies.kill()
                host.kill()
                dies.start()
            if now - cut_off > OUTAGE_EVERY:
                cut_off = now
                self.outages += 1
                with self.ledger.outage(), self.store.out_of_reach():
                    time.sleep(OUTAGE_SECONDS)
            time.sleep(0.2)


class Verdict(NamedTuple):
    promise: str
    found: str
    holds: bool | None
    """None if it was not judged."""


def _looked_up(soak: Soak) -> tuple[set[str], set[str], set[str]]:
    """The ids of all lines in the store, and of the tokens and lines that its audit log tells of."""
    installation = soak.opened()
    try:
        with installation._store.read() as tx:
            lines = {row[0] for row in tx._session.rows("SELECT id FROM lines")}
        tokens: set[str] = set()
        told: set[str] = set()
        first = 0
        while True:
            with installation._store.read(WORKSPACE) as tx:
                rows = tx.audit.rows(WORKSPACE, first, first + _PAGE)
            for row in rows:
                tokens.add(row.event.cap)
                told.update(row.event.lines)
            if len(rows) < _PAGE:
                return lines, tokens, told
            first += _PAGE
    finally:
        installation.close()


def _said(soak: Soak) -> set[str]:
    """What the host's store remembers, once all that waited was delivered."""
    host = Host(soak.host_home, soak.host_environment, Ledger(), Pace(1.0))
    host()
    host.close()
    installation = souvenance.open_installation(
        souvenance.settings_from({}, str(soak.host_home / "souvenance"))
    )
    found: set[str] = set()
    try:

        def call(operation: Operation, request: Request) -> Any:
            return installation.gate.call(operation, Credentials(installation.owner_cap), request)

        for session in call(LIST_SESSIONS, ListSessions(workspace_id=HOST_WORKSPACE, size=100)).items:
            page, pages = 1, 1
            while page <= pages:
                asked = ListMessages(workspace_id=HOST_WORKSPACE, session_id=session.id, size=100, page=page)
                answer = call(LIST_MESSAGES, asked)
                found.update(one.content for one in answer.items)
                page, pages = page + 1, answer.pages
    finally:
        installation.close()
    return found


def _command(environment: Mapping[str, str], *command: str) -> tuple[bool, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "souvenance", *command], env=dict(environment), capture_output=True, text=True
    )
    return ran.returncode == 0, (ran.stdout or ran.stderr).strip().splitlines()[-1][:120]


def outages_seen(ledger: Ledger, outages: int) -> Verdict:
    """Whether requests met the outages: a chat is refused for as long as the store is out of reach."""
    refused = ledger.calls["chat", "503"]
    return Verdict("the outages are seen", f"{refused} chats refused in {outages}", refused >= outages)


def verdicts(soak: Soak, watch: Watch, minutes: float) -> list[Verdict]:
    ledger = soak.ledger
    lines, tokens, told = _looked_up(soak)
    lost = ledger.kept - lines
    unsaid = ledger.said - _said(soak)
    back = ledger.forgotten & lines
    unrecorded = {jti: door for jti, door in ledger.answered.items() if jti not in tokens and door != "mcp"}
    unwritten = (ledger.kept | ledger.forgotten) - told
    before, after = soak.at_rest[0], soak.at_rest[-1]
    flat = watch.fifth(4) / watch.fifth(2)
    loads = watch.rate(2), watch.rate(4)
    door, share = ledger.least_answered(soak.rate * soak.seconds)
    long = minutes >= MEMORY_FROM_MINUTES
    verified, log = _command(soak.environment, "audit", "verify")
    healthy, doctor = _command(soak.environment, "doctor")
    return [
        Verdict("no acknowledged write is lost", f"{len(lost)} of {len(ledger.kept)} lost", not lost),
        Verdict("no turn of the host is lost", f"{len(unsaid)} of {len(ledger.said)} lost", not unsaid),
        Verdict("what was forgotten is gone", f"{len(back)} of {len(ledger.forgotten)} back", not back),
        Verdict(
            "every answer has its audit row",
            f"{len(unrecorded)} of {len(ledger.answered)} have none {sorted(set(unrecorded.values())) or ''}",
            not unrecorded,
        ),
        Verdict("every write has its audit row", f"{len(unwritten)} have none", not unwritten),
        Verdict("the audit log verifies", log, verified),
        Verdict("the doctor finds nothing", doctor, healthy),
        Verdict(
            "threads at rest",
            f"{before[0].threads} to {after[0].threads}",
            after[0].threads <= before[0].threads + SPARE,
        ),
        Verdict(
            "open files at rest",
            f"{before[0].files} to {after[0].files}",
            after[0].files <= before[0].files + SPARE,
        ),
        Verdict("database connections", f"{before[1]} to {after[1]}", after[1] <= before[1] + SPARE),
        Verdict(
            "memory is flat",
            f"{watch.fifth(0):.0f}, {watch.fifth(2):.0f}, {watch.fifth(4):.0f} MB, x{flat:.3f}",
            flat <= MEMORY_MOST if long else None,
        ),
        Verdict(
            "the load was the same",
            f"{loads[0]:.1f} and {loads[1]:.1f} of {soak.rate:g} requests a second",
            min(loads) >= LOAD_LEAST * soak.rate if long else None,
        ),
        Verdict("every door answers", f"{door} {share:.0%} of its load", share >= ANSWERED_LEAST),
        outages_seen(ledger, soak.outages),
        Verdict("nothing unexpected", f"{len(ledger.problems)} problems", not ledger.problems),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=20.0, help="requests per second over all doors")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--keep", type=Path, help="leave the folder there, for a look")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    machine = Machine()
    with ExitStack() as stack:
        made = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        soak = Soak(made, asked.minutes, asked.rate, asked.store, asked.embedder)
        stack.callback(soak.store.close)
        watch = soak.run()
        found = verdicts(soak, watch, asked.minutes)
    ledger = soak.ledger
    print(
        f"{asked.minutes:g} minutes on {asked.store} at {asked.rate:g} requests a second:"
        f" {soak.kills} kills, {soak.outages} outages"
    )
    print(machine)
    for door in sorted({door for door, _ in ledger.calls}):
        outcomes = {outcome: count for (one, outcome), count in ledger.calls.items() if one == door}
        answered = outcomes.get("answered", 0)
        mean = ledger.seconds[door] / max(1, answered) * 1000
        outcomes.pop("answered", None)
        rest = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{door:>10}  {answered:7d} answered  {mean:7.1f} ms  {rest}")
    print(f"{len(ledger.kept)} lines kept, {len(ledger.forgotten)} forgotten")
    for verdict in found:
        state = {True: "holds", False: "BROKEN", None: "not judged"}[verdict.holds]
        print(f"{verdict.promise:>34}  {verdict.found:<60} {state}")
    for problem in ledger.problems[:20]:
        print(f"  {problem}")
    if asked.json:
        report = {
            "verdicts": {one.promise: {"found": one.found, "holds": one.holds} for one in found},
            "calls": {f"{door} {outcome}": count for (door, outcome), count in ledger.calls.items()},
            "samples": watch.samples,
            "problems": ledger.problems,
        }
        asked.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0 if all(one.holds is not False for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
