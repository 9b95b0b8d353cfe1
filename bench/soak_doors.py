"""The doors under load: each does one call after the other, and notes what it was answered.

Every call over HTTP travels with a token of its own, narrowed offline from the caller's, so that the audit
log tells for each answer whether it has its row.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from honcho_chat import message, question
from souvenance.domain import ulid
from souvenance.gate import messages as m
from souvenance.gate.tokens import attenuated

PEOPLE = 200
SESSIONS = 200
WORKSPACE = "default"
_TIMEOUT_SECONDS = 30.0
_REST_SECONDS = 0.05
_MOST_REMEMBERED = 500
_FOR_NOW = (429, 502, 503, 504)
_NOT_NOW = ("storage_busy", "storage_unavailable", "audit_unavailable")
"""The codes of an error that says the same."""
_EDGE_SECONDS = 2.0
"""How long after an outage a request that met it may still be refused."""
_GOOD = (200, 201, 202, 204)
_RECORDED = {"chat": (503,)}
"""What a door answers while the store is out of reach, and has a row for: a late one."""
SHARES = {"memory": 0.35, "honcho": 0.3, "mcp": 0.12, "chat": 0.185, "hermes": 0.04, "cli": 0.005}
"""How much of the load each door gets: a command is a process of its own."""

HOST = """
import sys
from souvenance import plugin
from souvenance.hermes.provider import Provider

made = Provider(plugin._SURROUNDINGS)
made.initialize("soak", platform="cli", hermes_home=sys.argv[1], agent_context="primary")
for turn, line in enumerate(sys.stdin, 1):
    said = line.strip()
    made.on_turn_start(turn, said)
    made.prefetch(said)
    made.sync_turn(said, "Noted.")
    print(said, flush=True)
made.shutdown()
"""
"""A host that says each line it is given to its provider, and tells when that was taken."""


class Ledger:
    """What was answered, to be looked up in the store at the end. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.kept: set[str] = set()
        """The ids of lines whose writing was acknowledged."""
        self.forgotten: set[str] = set()
        self.said: set[str] = set()
        """What a host's provider took: texts."""
        self.answered: dict[str, str] = {}
        """The door that answered, by the id of the token that asked."""
        self.calls: Counter[tuple[str, str]] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.problems: list[str] = []
        self._excused_until = 0.0

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Refusals for now are expected meanwhile."""
        self._excused_until = math.inf
        try:
            yield
        finally:
            self._excused_until = time.monotonic() + _EDGE_SECONDS

    def refuse(self, door: str, why: str) -> None:
        """One call that was refused for now. That is expected in an outage alone."""
        if time.monotonic() > self._excused_until:
            self.complain(f"{door}: {why} while the store could be reached")

    def keep(self, *ids: str) -> None:
        with self._lock:
            self.kept.update(ids)

    def forget(self, line_id: str, *, acknowledged: bool) -> None:
        """A line that was to be forgotten is gone for sure only if that was acknowledged."""
        with self._lock:
            self.kept.discard(line_id)
            if acknowledged:
                self.forgotten.add(line_id)

    def say(self, text: str) -> None:
        with self._lock:
            self.said.add(text)

    def note(self, door: str, outcome: str, seconds: float = 0.0, jti: str = "") -> None:
        """One call. With `jti`, the audit log has to have a row of that token."""
        with self._lock:
            self.calls[door, outcome] += 1
            self.seconds[door] += seconds
            if jti:
                self.answered[jti] = door

    def asked(self) -> int:
        """How many calls there were, whatever came of them."""
        with self._lock:
            return self.calls.total()

    def least_answered(self, offered: float) -> tuple[str, float]:
        """The door that answered least of its share of so many requests. A dead one breaks no promise."""
        answered = {door: self.calls[door, "answered"] / (offered * share) for door, share in SHARES.items()}
        return min(answered.items(), key=lambda found: found[1])

    def complain(self, problem: str) -> None:
        with self._lock:
            if len(self.problems) < 100:
                self.problems.append(problem)


class Lost(Exception):
    """There was no answer, or one that says to come again: nothing is promised of what was asked."""


class Pace:
    """When the next request of one door is due. What a door did not take in time is not made up for."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second
        self._due = 0.0

    def wait(self) -> None:
        now = time.monotonic()
        self._due = max(self._due, now)
        time.sleep(self._due - now)
        self._due += self._interval


class Client:
    """One door's way to the servers, whichever of them it calls."""

    def __init__(
        self,
        door: str,
        ports: Sequence[int],
        tokens: Mapping[str, str],
        ledger: Ledger,
        seed: int,
        pace: Pace,
    ) -> None:
        self.door = door
        self.random = random.Random(seed)
        self._pace = pace
        self._ports = ports
        self._tokens = tokens
        self._ledger = ledger
        self._connections: dict[int, http.client.HTTPConnection] = {}

    def call(
        self,
        whose: str,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """What the server answers, as JSON if it is. Raises: Lost."""
        jti = ulid.compose(time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES))
        secret = Ed25519PrivateKey.generate()
        given = attenuated(self._tokens[whose], m.Attenuate(), jti=jti, now=int(time.time()), secret=secret)
        sent = {"authorization": f"Bearer {given.cap}", "content-type": "application/json", **(headers or {})}
        port = self.random.choice(self._ports)
        self._pace.wait()
        began = time.perf_counter()
        try:
            status, content = self._exchange(port, method, path, body, sent)
        except (OSError, http.client.HTTPException) as error:
            self._drop(port)
            self._ledger.note(self.door, "no answer")
            raise Lost(type(error).__name__) from error
        taken = time.perf_counter() - began
        if status in _FOR_NOW:
            recorded = status in _RECORDED.get(self.door, ())
            self._ledger.note(self.door, f"{status}", taken, jti if recorded else "")
            self._ledger.refuse(self.door, f"{status} {content[:200]!r}")
            raise Lost(str(status))
        if status not in _GOOD:
            self._ledger.note(self.door, f"{status}", taken)
            self._ledger.complain(f"{self.door}: {method} {path} answered {status}: {content[:200]!r}")
            raise Lost(str(status))
        self._ledger.note(self.door, "answered", taken, jti)
        return json.loads(content) if content[:1] in (b"{", b"[") else content

    def _exchange(
        self, port: int, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        if port not in self._connections:
            self._connections[port] = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_SECONDS)
        connection = self._connections[port]
        connection.request(method, path, None if body is None else json.dumps(body), dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()

    def _drop(self, port: int) -> None:
        self._connections.pop(port).close()

    def close(self) -> None:
        for port in list(self._connections):
            self._drop(port)


Step = Callable[[], None]


class Memory:
    """The memory API, for one of many people at a time: writing, asking, reading one line, forgetting."""

    def __init__(self, client: Client, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger
        self._number = 0
        self._kept: list[tuple[str, str]] = []

    def __call__(self) -> None:
        random, chance = self._client.random, self._client.random.random()
        self._number += 1
        whose = f"person-{random.randrange(PEOPLE)}"
        text = message(random.randrange(100_000), assistant=False)
        if chance < 0.4:
            line = self._client.call(whose, "POST", "/v1/memory/put", {"text": f"{self._number}: {text}"})
            self._ledger.keep(line["id"])
            self._kept = [*self._kept[-_MOST_REMEMBERED:], (whose, line["id"])]
        elif chance < 0.8 or not self._kept:
            self._client.call(whose, "POST", "/v1/memory/get", {"query": question(self._number, text)})
        elif chance < 0.95:
            whose, line_id = random.choice(self._kept)
            found = self._client.call(whose, "GET", f"/v1/memory/lines/{line_id}")
            if line_id not in json.dumps(found):
                self._ledger.complain(f"line {line_id} was answered with another")
        else:
            self._forget(*self._kept.pop(random.randrange(len(self._kept))))

    def _forget(self, whose: str, line_id: str) -> None:
        self._ledger.forget(line_id, acknowledged=False)
        self._client.call(whose, "POST", "/v1/memory/forget", {"id": line_id})
        self._ledger.forget(line_id, acknowledged=True)


class Honcho:
    """The Honcho API: messages, search, conclusions, context."""

    def __init__(self, client: Client, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger

    def __call__(self) -> None:
        random, call = self._client.random, partial(self._client.call, "front")
        number = random.randrange(SESSIONS)
        session, peer = f"session-{number}", f"person-{number % PEOPLE}"
        base, chance = f"/v3/workspaces/{WORKSPACE}", random.random()
        text = message(random.randrange(100_000), assistant=False)
        if chance < 0.4:
            said = [{"content": text, "peer_id": peer}, {"content": "Noted.", "peer_id": "assistant"}]
            found = call("POST", f"{base}/sessions/{session}/messages", {"messages": said})
            self._ledger.keep(*(one["id"] for one in found))
        elif chance < 0.5:
            call("POST", f"{base}/peers", {"id": peer})
            stated = {"content": text, "observer_id": peer, "observed_id": peer}
            for one in call("POST", f"{base}/conclusions", {"conclusions": [stated]}):
                self._ledger.keep(one["id"])
        elif chance < 0.8:
            call("POST", f"{base}/search", {"query": question(number, text)})
        else:
            call("POST", f"{base}/sessions", {"id": session})
            call("GET", f"{base}/sessions/{session}/context?tokens=2000")


class Chat:
    """The chat door: a turn of one of many people. It is kept once it was answered: nothing is promised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self) -> None:
        number = self._client.random.randrange(100_000)
        text = question(number, message(number, assistant=False))
        body = {"model": "stand-in", "stream": True, "messages": [{"role": "user", "content": text}]}
        named = {"x-hermes-user-id": f"person-{number % PEOPLE}"}
        self._client.call("front", "POST", "/v1/chat/completions", body, named)


class Mcp:
    """MCP over HTTP: remember and recall."""

    def __init__(self, client: Client, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger

    def __call__(self) -> None:
        number = self._client.random.randrange(100_000)
        text = message(number, assistant=False)
        if number % 3:
            self._tool("recall", question=question(number, text))
            return
        for line_id in self._tool("remember", statements=[text])["ids"]:
            self._ledger.keep(line_id)

    def _tool(self, name: str, **arguments: Any) -> Any:
        asked = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
        accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        whose = f"person-{self._client.random.randrange(PEOPLE)}"
        answer = self._client.call(whose, "POST", "/mcp", body, accept)
        if "result" not in answer or answer["result"].get("isError"):
            if any(code in json.dumps(answer) for code in _NOT_NOW):
                self._ledger.refuse("mcp", json.dumps(answer)[:200])
                raise Lost("not now")
            self._ledger.complain(f"mcp: {name} answered {json.dumps(answer)[:200]}")
            raise Lost("refused")
        return answer["result"]["structuredContent"]


class CommandLine:
    """The command line on the data folder itself; now and then it is killed."""

    def __init__(self, environment: Mapping[str, str], ledger: Ledger, seed: int, pace: Pace) -> None:
        self._environment = dict(environment)
        self._ledger = ledger
        self._random = random.Random(seed)
        self._pace = pace

    def __call__(self) -> None:
        self._pace.wait()
        text = message(self._random.randrange(100_000), assistant=False)
        command = [sys.executable, "-m", "souvenance", "--json", "put", text]
        if self._random.random() < 0.3:
            command = [*command[:-2], "get", text]
        began = time.perf_counter()
        with subprocess.Popen(
            command, env=self._environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as ran:
            if self._random.random() < 0.2:
                time.sleep(self._random.random())
                ran.kill()
            try:
                told, trouble = ran.communicate(timeout=_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                ran.kill()
                told, trouble = ran.communicate()
        taken = time.perf_counter() - began
        if ran.returncode == 0:
            self._ledger.note("cli", "answered", taken)
            if command[4] == "put":
                self._ledger.keep(json.loads(told)["id"])
        elif ran.returncode == -signal.SIGKILL:
            self._ledger.note("cli", "killed", taken)
        else:
            self._ledger.note("cli", "refused", taken)
            if any(code in trouble for code in _NOT_NOW):
                self._ledger.refuse("cli", trouble.strip()[:200])
            else:
                self._ledger.complain(f"cli: {trouble.strip()[:200]}")


class Host:
    """A host with the Hermes provider and a store of its own, which is killed while it speaks."""

    def __init__(self, home: Path, environment: Mapping[str, str], ledger: Ledger, pace: Pace) -> None:
        self._home = home
        self._pace = pace
        self._environment = {**environment, "HERMES_HOME": str(home)}
        self._ledger = ledger
        self._number = 0
        self._process: subprocess.Popen[str] | None = None

    def __call__(self) -> None:
        self._pace.wait()
        self._number += 1
        text = f"Turn {self._number}: {message(self._number, assistant=False)}"
        began = time.perf_counter()
        try:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(text + "\n")
            process.stdin.flush()
            heard = process.stdout.readline().strip()
        except OSError:
            heard = ""
        if heard == text:
            self._ledger.say(text)
            self._ledger.note("hermes", "answered", time.perf_counter() - began)
        else:
            self._ledger.note("hermes", "no answer")

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-c", HOST, str(self._home)],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Let it end by itself, with what it still has to deliver."""
        if self._process is not None:
            assert self._process.stdin is not None and self._process.stdout is not None
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait(_TIMEOUT_SECONDS)
            self._process.stdout.close()
            self._process = None


def keep_going(step: Step, ledger: Ledger, door: str, stopped: threading.Event, paused: Paused) -> None:
    """Take steps until stopped; whatever goes wrong is a problem, but for what a kill or an outage does."""
    while not stopped.is_set():
        if paused.wait_if(door, stopped):
            continue
        try:
            step()
        except Lost:
            stopped.wait(_REST_SECONDS)
        except Exception as error:  # noqa: BLE001 - it is told at the end, and the others go on
            ledger.complain(f"{door}: {type(error).__name__}: {error}")
            stopped.wait(_REST_SECONDS)


class Paused:
    """Lets all doors rest at once, with their connections closed."""

    def __init__(self, clients: Mapping[str, Client]) -> None:
        self._clients = clients
        self._asked = threading.Event()
        self._resting: set[str] = set()

    def wait_if(self, door: str, stopped: threading.Event) -> bool:
        if not self._asked.is_set():
            self._resting.discard(door)
            return False
        if door not in self._resting and door in self._clients:
            self._clients[door].close()
        self._resting.add(door)
        stopped.wait(_REST_SECONDS)
        return True

    def all_rest(self, doors: int, seconds: float) -> None:
        """Ask all to rest, and wait until they do, then so long."""
        self._asked.set()
        until = time.monotonic() + _TIMEOUT_SECONDS
        while len(self._resting) < doors and time.monotonic() < until:
            time.sleep(_REST_SECONDS)
        time.sleep(seconds)

    def go_on(self) -> None:
        self._asked.clear()
