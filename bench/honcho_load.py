"""Clients of a Honcho v3 server, and the calls that are measured with them.

Two clients: `Plain` is a keep-alive connection with hardly any code of its own (about 15 µs a call,
where http.client takes 150 and httpx 600), so that what is measured is the server; `Sdk` is the
`honcho-ai` package, as its users have it. Every client is a process of its own, since threads would
wait for one another instead of for the server. Requests are made before the clock starts.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from honcho_chat import message, question, statement

PEOPLE, ASSISTANTS = 8, 2
BATCH = 100
_TIMEOUT_SECONDS = 120.0
_WARM_CALLS = 3

Step = Callable[[], object]


class Failed(Exception):
    """The server did not answer as Honcho's API says."""


class Answer(NamedTuple):
    status: int
    body: bytes


class Plain:
    """One keep-alive connection."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        url = urlsplit(base_url)
        self._address = (url.hostname or "127.0.0.1", url.port or 80)
        self._prefix = url.path.rstrip("/")
        host = f"{url.hostname}:{url.port}" if url.port else f"{url.hostname}"
        self._headers = f"host: {host}\r\naccept: application/json\r\ncontent-type: application/json\r\n"
        if api_key:
            self._headers += f"authorization: Bearer {api_key}\r\n"
        self._socket: socket.socket | None = None
        self._rest = b""

    def request(self, method: str, path: str, body: object = None) -> bytes:
        """The bytes of a request."""
        encoded = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._headers}content-length: {len(encoded)}\r\n\r\n"
        )
        return head.encode() + encoded

    def send(self, request: bytes) -> Answer:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, _TIMEOUT_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        head = self._until(b"\r\n\r\n").lower()
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in head:
            body = self._chunks()
        else:
            length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
            body = self._exactly(int(length or 0))
        if b"connection: close" in head:
            self.close()
        return Answer(status, body)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """What the server answers.

        Raises: Failed.
        """
        return json.loads(checked(self.send(self.request(method, path, body))).body or b"null")

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest = None, b""

    def _more(self) -> None:
        got = self._socket.recv(262_144) if self._socket else b""
        if not got:
            self.close()
            raise Failed("the server closed the connection")
        self._rest += got

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            self._more()
        found, _, self._rest = self._rest.partition(mark)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            self._more()
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self._until(b"\r\n").partition(b";")[0], 16):
            body += self._exactly(size)
            self._until(b"\r\n")
        self._until(b"\r\n")
        return body


def checked(answer: Answer) -> Answer:
    """Raises: Failed."""
    if answer.status == 429:
        raise Failed("the server limits how often it may be asked; lift the limit for this measurement")
    if not 200 <= answer.status < 300:
        raise Failed(f"{answer.status}: {answer.body[:300]!r}")
    return answer


@dataclass(frozen=True)
class Store:
    """A workspace with so many messages in sessions of one length; people and assistants take turns."""

    workspace: str
    size: int
    session_length: int

    @property
    def sessions(self) -> int:
        return -(-self.size // self.session_length)

    @property
    def peers(self) -> list[str]:
        people = [f"person-{number}" for number in range(PEOPLE)]
        return people + [f"assistant-{number}" for number in range(ASSISTANTS)]

    def session(self, number: int) -> str:
        return f"talk-{number % self.sessions}"

    def person(self, number: int) -> str:
        """Who speaks in the session of that number."""
        return f"person-{number % self.sessions % PEOPLE}"

    def assistant(self, number: int) -> str:
        return f"assistant-{number % self.sessions % ASSISTANTS}"

    def message(self, session: int, turn: int, serial: int) -> dict[str, str]:
        """The message of that serial number, as the next of a session."""
        assistant = turn % 2 == 1
        peer = self.assistant(session) if assistant else self.person(session)
        return {"peer_id": peer, "content": message(serial, assistant=assistant)}

    def batches(self) -> list[tuple[str, list[dict[str, str]]]]:
        """Every session's messages, in batches that one request takes."""
        found = []
        for session in range(self.sessions):
            first = session * self.session_length
            count = min(self.session_length, self.size - first)
            said = [self.message(session, turn, first + turn) for turn in range(count)]
            found += [(self.session(session), said[at : at + BATCH]) for at in range(0, count, BATCH)]
        return found

    def conclusions(self) -> list[dict[str, str]]:
        """What a client states of the people, one for every ten messages."""
        peers = [f"person-{number % PEOPLE}" for number in range(self.size // 10)]
        return [
            {"content": statement(number), "observer_id": peer, "observed_id": peer}
            for number, peer in enumerate(peers)
        ]

    def asked(self, session: int, serial: int) -> str:
        """A question about something that the person said in the session."""
        last = min(self.session_length, self.size - session * self.session_length) - 1
        turn = 2 * (serial % (last // 2 + 1))
        stored = self.message(session, turn, session * self.session_length + turn)
        return question(serial, stored["content"])


class Call(NamedTuple):
    """One thing to measure: `plain` gives method, path and body; `sdk` the same through the SDK."""

    name: str
    target: float
    calls: int
    plain: Callable[[Store, int], tuple[str, str, object]]
    sdk: Callable[[Any, Store, int], Step]
    writes: bool = False
    adds: int = 0
    """How many messages one call stores."""


def _sessions(store: Store, number: int, rest: str = "") -> str:
    return f"/v3/workspaces/{store.workspace}/sessions/{quote(store.session(number))}{rest}"


def _peers(store: Store, number: int, rest: str) -> str:
    return f"/v3/workspaces/{store.workspace}/peers/{quote(store.person(number))}{rest}"


def _said(store: Store, number: int, count: int) -> dict[str, object]:
    first = 1_000_000 + number * BATCH
    return {"messages": [store.message(number, turn, first + turn) for turn in range(count)]}


def _context(store: Store, number: int, **asked: object) -> tuple[str, str, object]:
    asked = {"summary": "true", "limit_to_session": "false", **asked}
    return "GET", _sessions(store, number, f"/context?{urlencode(asked)}"), None


def _query(store: Store, number: int) -> str:
    return store.asked(number % store.sessions, number)


def _search(store: Store, number: int) -> dict[str, object]:
    return {"query": _query(store, number), "filters": None, "limit": 10}


def _conclusions(store: Store, number: int) -> tuple[str, str, object]:
    person = store.person(number)
    body = {
        "query": _query(store, number),
        "top_k": 10,
        "filters": {"observer_id": person, "observed_id": person},
    }
    return "POST", f"/v3/workspaces/{store.workspace}/conclusions/query", body


def _sdk_add(sdk: Any, store: Store, number: int, count: int) -> Step:
    said: Any = _said(store, number, count)["messages"]
    session = sdk.session(store.session(number))
    messages = [sdk.peer(one["peer_id"]).message(one["content"]) for one in said]
    return lambda: session.add_messages(messages)


CALLS = (
    Call(
        "floor_health",
        0.0,
        300,
        lambda store, number: ("GET", "/health", None),
        lambda sdk, store, number: partial(sdk.honcho._http.request, "GET", "/health"),
    ),
    Call(
        "session_get_existing",
        2.0,
        200,
        lambda store, number: (
            "POST",
            f"/v3/workspaces/{store.workspace}/sessions",
            {"id": store.session(number)},
        ),
        lambda sdk, store, number: partial(sdk.honcho.session, store.session(number)),
    ),
    Call(
        "peer_get_existing",
        2.0,
        200,
        lambda store, number: (
            "POST",
            f"/v3/workspaces/{store.workspace}/peers",
            {"id": store.person(number)},
        ),
        lambda sdk, store, number: partial(sdk.honcho.peer, store.person(number)),
    ),
    Call(
        "context_default",
        5.0,
        100,
        _context,
        lambda sdk, store, number: sdk.session(store.session(number)).context,
    ),
    Call(
        "context_tokens2000",
        5.0,
        100,
        lambda store, number: _context(store, number, tokens=2000),
        lambda sdk, store, number: partial(sdk.session(store.session(number)).context, tokens=2000),
    ),
    Call(
        "context_peer_search",
        5.0,
        100,
        lambda store, number: _context(
            store, number, peer_target=store.person(number), search_query=_query(store, number)
        ),
        lambda sdk, store, number: partial(
            sdk.session(store.session(number)).context,
            peer_target=store.person(number),
            search_query=_query(store, number),
        ),
    ),
    Call(
        "representation_search",
        5.0,
        100,
        lambda store, number: (
            "POST",
            _peers(store, number, "/representation"),
            {"search_query": _query(store, number)},
        ),
        lambda sdk, store, number: partial(
            sdk.peer(store.person(number)).representation, search_query=_query(store, number)
        ),
    ),
    Call(
        "conclusions_query",
        10.0,
        100,
        _conclusions,
        lambda sdk, store, number: partial(
            sdk.peer(store.person(number)).conclusions.query, _query(store, number)
        ),
    ),
    Call(
        "search_session",
        10.0,
        100,
        lambda store, number: ("POST", _sessions(store, number, "/search"), _search(store, number)),
        lambda sdk, store, number: partial(sdk.session(store.session(number)).search, _query(store, number)),
    ),
    Call(
        "search_peer",
        10.0,
        100,
        lambda store, number: ("POST", _peers(store, number, "/search"), _search(store, number)),
        lambda sdk, store, number: partial(sdk.peer(store.person(number)).search, _query(store, number)),
    ),
    Call(
        "search_workspace",
        10.0,
        100,
        lambda store, number: ("POST", f"/v3/workspaces/{store.workspace}/search", _search(store, number)),
        lambda sdk, store, number: partial(sdk.honcho.search, _query(store, number)),
    ),
    Call(
        "messages_page50",
        2.0,
        100,
        lambda store, number: ("POST", _sessions(store, number, "/messages/list?page=1&size=50"), None),
        lambda sdk, store, number: sdk.session(store.session(number)).messages,
    ),
    Call(
        "session_create_new",
        10.0,
        100,
        lambda store, number: ("POST", f"/v3/workspaces/{store.workspace}/sessions", {"id": f"new-{number}"}),
        lambda sdk, store, number: partial(sdk.honcho.session, f"new-{number}"),
        writes=True,
    ),
    Call(
        "add_messages_1",
        10.0,
        100,
        lambda store, number: ("POST", _sessions(store, number, "/messages"), _said(store, number, 1)),
        lambda sdk, store, number: _sdk_add(sdk, store, number, 1),
        writes=True,
        adds=1,
    ),
    Call(
        "add_messages_100",
        10.0,
        8,
        lambda store, number: ("POST", _sessions(store, number, "/messages"), _said(store, number, BATCH)),
        lambda sdk, store, number: _sdk_add(sdk, store, number, BATCH),
        writes=True,
        adds=BATCH,
    ),
)


class Sdk:
    """The `honcho-ai` package, its peers and sessions fetched once."""

    def __init__(self, base_url: str, api_key: str | None, workspace: str) -> None:
        from honcho import Honcho  # type: ignore[import-not-found, unused-ignore]

        self.honcho = Honcho(base_url=base_url, api_key=api_key, workspace_id=workspace)
        self._known: dict[tuple[str, str], Any] = {}

    def session(self, name: str) -> Any:
        return self._fetched("session", name)

    def peer(self, name: str) -> Any:
        return self._fetched("peer", name)

    def _fetched(self, kind: str, name: str) -> Any:
        if (kind, name) not in self._known:
            self._known[kind, name] = getattr(self.honcho, kind)(name)
        return self._known[kind, name]


class Job(NamedTuple):
    """What one client does: calls with these numbers, one after the other, for at most so long."""

    call: str
    store: Store
    numbers: Sequence[int]
    seconds: float


@dataclass
class Done:
    """What came of it, in seconds; moments are of the machine's one clock."""

    taken: list[float] = field(default_factory=list)
    began: float = 0.0
    ended: float = 0.0
    calls: int = 0
    """How many, those to warm up included."""
    bytes: int = 0
    """Of the last answer."""
    fault: str | None = None


class Crew:
    """Client processes that wait for jobs."""

    def __init__(self, clients: int, base_url: str, api_key: str | None, *, sdk: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        for _ in range(clients):
            ours, theirs = context.Pipe()
            context.Process(target=_client, args=(theirs, base_url, api_key, sdk), daemon=True).start()
            self._lines.append(ours)

    def do(self, jobs: Sequence[Job]) -> list[Done]:
        """Do the jobs, a client each, all beginning together.

        Raises: Failed.
        """
        lines = self._lines[: len(jobs)]
        for line, job in zip(lines, jobs, strict=True):
            line.send(job)
        for line in lines:
            line.recv()
        for line in lines:
            line.send("go")
        done: list[Done] = [line.recv() for line in lines]
        for one in done:
            if one.fault is not None:
                raise Failed(f"{jobs[0].call}: {one.fault}")
        return done

    def dismiss(self) -> None:
        for line in self._lines:
            line.send(None)


def _client(line: Connection, base_url: str, api_key: str | None, sdk: bool) -> None:
    plain = Plain(base_url, api_key)
    sdks: dict[str, Sdk] = {}
    calls = {call.name: call for call in CALLS}
    while (job := line.recv()) is not None:
        done, steps = Done(), []
        try:
            if sdk and job.store.workspace not in sdks:
                sdks[job.store.workspace] = Sdk(base_url, api_key, job.store.workspace)
            user = sdks.get(job.store.workspace) if sdk else None
            steps = [_step(calls[job.call], job.store, number, plain, user) for number in job.numbers]
        except Exception as error:  # noqa: BLE001 - told to whoever gave the job, whatever it is
            done.fault = f"{type(error).__name__}: {error}"
        plain.close()
        line.send("ready")
        line.recv()
        try:
            done = _work(steps, job.seconds) if done.fault is None else done
        except Exception as error:  # noqa: BLE001 - as above
            done.fault = f"{type(error).__name__}: {error}"
        line.send(done)


def _step(call: Call, store: Store, number: int, plain: Plain, sdk: Sdk | None) -> Step:
    if sdk is not None:
        return call.sdk(sdk, store, number)
    request = plain.request(*call.plain(store, number))
    return lambda: len(checked(plain.send(request)).body)


def _work(steps: Sequence[Step], seconds: float) -> Done:
    """Take the steps; the first few only open and warm the connection where there are enough of them."""
    warm = _WARM_CALLS if len(steps) > 10 * _WARM_CALLS else 0
    for step in steps[:warm]:
        step()
    done = Done(began=time.perf_counter())
    last: object = 0
    for step in steps[warm:]:
        began = time.perf_counter()
        last = step()
        done.ended = time.perf_counter()
        done.taken.append(done.ended - began)
        if done.ended - done.began > seconds:
            break
    done.calls = warm + len(done.taken)
    done.bytes = last if isinstance(last, int) else 0
    return done
