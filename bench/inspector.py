"""What the inspector's pages take with much in memory, what they weigh, and what they cost other doors.

    python bench/inspector.py [--lines 100000] [--people 200] [--sessions 5000] [--calls 15] [--keep DIR]
                              [--embedder packaged] [--first] [--json FILE]

Method. Conversations of some people with one agent are stored through the gate, in one process, and
concluded from before the clock starts: from all of them, for the person and for the agent, as agents observe
people by default. Every line has its vector by then, unless --embedder says none. Then a server of its own
shows the pages to a client that is signed in, on one connection that stays open. The pages are those of the
door's own routes, and views of them that hold more: a search, another's view of a person, the log filtered,
what is stored counted. A route that answers with no page has to be named here. Whose page it is changes with
every call. A page's time is from sending the request to the last byte of the
answer, so it holds a little more than the server's own; beside it stands what the server's threads ran
meanwhile, which other programs on a busy machine lengthen less. Both are medians. The first must hold; where
more programs want to run than there are cores, the second, and the report says so. With --first, server and
client run before every other program (root alone may do that), so that the times are those of a machine that
does nothing else. A page's weight is what a browser that sees it first gets over the wire: the page,
compressed as a browser asks for it, and every style and script it names, charts aside. What pages cost other
doors is taken in turns of a few seconds: the median of a recall over HTTP without, and while a page is loaded
once a second and another shows what happens now. Each round has a turn without before and after it; the most
by which these two differ in any round is what can't be measured, and looking must cost less. Every figure
must hold, or it exits with 1.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import quote

from starlette.routing import Route

import souvenance
from chat import UNLIMITED, serving
from honcho_chat import message
from machine import Machine
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.queue import QUEUE_STATUS, QueueStatus
from souvenance.gate.conversation.sessions import SET_MEMBERS, SetMembers
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.inspector.door import InspectorDoor

MOST_MS = 150.0
MOST_RECALL_MS = 60.0
MOST_BYTES = 60_000
MOST_COST = 1.10
"""Also where turns without differ by more."""
WORKSPACE = "default"
NO_PAGES = {"/inspect/data/imports/{id}", "/inspect/lines/{id}", "/inspect/work/tail"}
"""Of something that lasts moments, one that leads on to another page, and a stream."""
VIEWS = (
    "/?w={workspace}&q={said}",
    "/inspect/{workspace}/people/{peer}?as=assistant",
    "/inspect/{workspace}/lines/{peer}/{message}",
    "/inspect/recall?w={workspace}&peer={peer}&agent=assistant&q={said}&compare=yes&set=yes&layer=said",
    "/inspect/audit?w={workspace}&operation=searched+everything",
    "/inspect/notes?w={workspace}&namespace=work",
)
"""Other addresses of the same routes."""
_BATCH = 100
_NOTES = 200
_WARM = 2
_ROUNDS = 6
_RECALLS = 200
_BETWEEN = 0.01
_LONGEST_SETTLING = 3600.0
_ASSET = re.compile(r'(?:href|src)="(/inspect/static/[^"]+)"')
_CHARTS = ("uplot", "charts")
_AS_A_BROWSER = {"accept-encoding": "gzip", "sec-fetch-site": "none", "accept": "text/html"}


class Size(NamedTuple):
    lines: int
    people: int
    sessions: int


class Figure(NamedTuple):
    """A page: its median in milliseconds, what the server ran for it, and what a first view weighs."""

    page: str
    ms: float
    cpu_ms: float
    bytes: int
    busy: bool
    """Whether other programs took the cores meanwhile: then what the server ran is held to the limit."""

    @property
    def most_ms(self) -> float:
        return MOST_RECALL_MS if self.page.startswith("/inspect/recall") else MOST_MS

    @property
    def holds(self) -> bool:
        return (self.cpu_ms if self.busy else self.ms) <= self.most_ms and self.bytes <= MOST_BYTES


def person_of(session: int, size: Size) -> str:
    return f"person-{session % size.people:03}"


def fill(home: Path, size: Size, settings: dict[str, str]) -> str:
    """Store the conversations and some notes, and conclude from them all; the owner's token.

    The agent observes the people, as agents do by default, so both know what was concluded.
    """
    installation = souvenance.open_installation(souvenance.settings_from(settings, str(home)))
    owner, began = Credentials(installation.owner_cap), datetime.now(UTC) - timedelta(days=300)
    turns = max(1, size.lines // size.sessions)
    for session in range(size.sessions):
        person, at = person_of(session, size), began + timedelta(days=290) * (session / size.sessions)
        said = [
            NewMessage(
                content=message(session * turns + turn, assistant=bool(turn % 2)),
                peer_id="assistant" if turn % 2 else person,
                created_at=at + timedelta(minutes=turn),
            )
            for turn in range(turns)
        ]
        talk = {"workspace_id": WORKSPACE, "session_id": f"talk-{session}"}
        members = {person: MemberReasoning(), "assistant": MemberReasoning(observe_others=True)}
        installation.gate.call(SET_MEMBERS, owner, SetMembers(**talk, peers=members))
        for first in range(0, turns, _BATCH):
            asked = AddMessages(**talk, messages=said[first : first + _BATCH])
            installation.gate.call(ADD_MESSAGES, owner, asked)
    for number in range(_NOTES):
        note = m.Put(text=message(number, assistant=False), namespace=("personal", "work")[number % 2])
        installation.gate.call(o.PUT, owner, note)
    with installation.working():
        installation.settle(_LONGEST_SETTLING)
    queue = installation.gate.call(QUEUE_STATUS, owner, QueueStatus(workspace_id=WORKSPACE))
    assert not queue.pending_work_units, f"{queue.pending_work_units} jobs still wait"
    installation.close()
    return installation.owner_cap


class Client:
    """One connection that stays open."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = headers

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        return answer, answer.read()

    @contextmanager
    def open(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """The answer without its end: it may be a stream."""
        self._connection.request("GET", path, None, self._headers)
        answer = self._connection.getresponse()
        yield answer
        answer.close()
        self._connection.close()

    def begins(self, path: str) -> str:
        """Of what kind the answer is."""
        with self.open(path) as answer:
            return answer.headers.get("content-type", "") if answer.status == 200 else ""


def sign_in(port: int, token: str) -> Client:
    answer, body = Client(port, {"authorization": f"Bearer {token}"}).ask("POST", "/inspect/links")
    assert answer.status == 201, body
    followed, _ = Client(port, {}).ask("GET", json.loads(body)["path"])
    cookie = followed.headers["set-cookie"].partition(";")[0]
    return Client(port, {**_AS_A_BROWSER, "cookie": cookie})


def page_paths() -> list[str]:
    needed = [one for one in signature(InspectorDoor).parameters.values() if one.default is one.empty]
    door = InspectorDoor(*(None for _ in needed))  # type: ignore[arg-type]
    found = [route for route in door.routes(None, None) if isinstance(route, Route)]  # type: ignore[arg-type]
    return [one.path for one in found if "GET" in (one.methods or ()) and "/static/" not in one.path]


def messages_of(port: int, token: str, size: Size) -> dict[str, str]:
    """What some people said, by who said it."""
    client, found = Client(port, {"authorization": f"Bearer {token}"}), {}
    for session in range(min(size.people, size.sessions)):
        person, body = (
            person_of(session, size),
            json.dumps({"filters": {"peer_id": person_of(session, size)}}),
        )
        path = f"/v3/workspaces/{WORKSPACE}/sessions/talk-{session}/messages/list"
        found[person] = json.loads(client.ask("POST", path, body)[1])["items"][0]["id"]
    return found


def address(path: str, call: int, size: Size, lines: list[str], said: dict[str, str]) -> str:
    """The path for one call, of one person after the other."""
    session = call * 37 % size.sessions
    person = person_of(session, size)
    given = {
        "workspace": WORKSPACE,
        "peer": person,
        "session": f"talk-{session}",
        "id": lines[call % len(lines)],
        "message": said[person],
        "said": quote(message(call * 2, assistant=False)),
    }
    if "{owner}" in path:  # The owner's own note, where they keep it.
        given |= {"owner": "owner"}
    filled = re.sub(r"\{(\w+)[^}]*\}", lambda found: given[found[1]], path)
    if path == "/inspect/recall":
        return f"{filled}?w={WORKSPACE}&peer={person}&agent=assistant&q={given['said']}"
    return filled


def weight(client: Client, path: str) -> int:
    """What a first view takes over the wire, charts aside."""
    answer, body = client.ask("GET", path)
    html = _unpacked(answer, body).decode()
    names = [name for name in dict.fromkeys(_ASSET.findall(html)) if not any(one in name for one in _CHARTS)]
    return len(body) + sum(len(client.ask("GET", name)[1]) for name in names)


def _unpacked(answer: http.client.HTTPResponse, body: bytes) -> bytes:
    return gzip.decompress(body) if answer.headers.get("content-encoding") == "gzip" else body


def running_ms(pid: int) -> float:
    """How long the threads of a process have run."""
    threads = [(task / "schedstat").read_text("ascii") for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int(one.split()[0]) for one in threads) / 1_000_000


def busy() -> bool:
    """Whether more programs want to run than there are cores, and not even the scheduler puts us first."""
    return os.sched_getscheduler(0) == os.SCHED_OTHER and os.getloadavg()[0] > (os.cpu_count() or 1)


def measure(port: int, pid: int, token: str, size: Size, calls: int) -> list[Figure]:
    client = sign_in(port, token)
    _, listed = Client(port, {"authorization": f"Bearer {token}"}).ask("POST", "/v1/memory/list", "{}")
    lines = [line["id"] for line in json.loads(listed)["lines"]]
    said, found = messages_of(port, token, size), []
    for path in (*(one for one in page_paths() if one not in NO_PAGES), *VIEWS):
        begun = client.begins(address(path, 0, size, lines, said))
        assert begun.startswith("text/html"), f"{path} answers with no page, but with {begun or 'an error'}"
        taken, ran = [], []
        for call in range(_WARM + calls):
            before, began = running_ms(pid), time.perf_counter()
            answer, body = client.ask("GET", address(path, call, size, lines, said))
            taken.append((time.perf_counter() - began) * 1000)
            ran.append(running_ms(pid) - before)
            assert answer.status == 200, (path, answer.status, body[:300])
        heavy = weight(client, address(path, 0, size, lines, said))
        found.append(Figure(path, median(taken[_WARM:]), median(ran[_WARM:]), heavy, busy()))
    return found


@contextmanager
def looking(port: int, token: str) -> Iterator[None]:
    """Meanwhile somebody loads the first page once a second, and follows what happens on another."""
    client, following, over = sign_in(port, token), sign_in(port, token), threading.Event()

    def look() -> None:
        while not over.wait(1.0):
            client.ask("GET", "/")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        with following.open("/inspect/work/tail") as answer:
            assert answer.status == 200
            yield
    finally:
        over.set()
        thread.join()


class Cost(NamedTuple):
    """How many times as long a recall takes while somebody looks at pages, in the median of the rounds, and
    by how much two turns without differ at most, in one round."""

    beside: float
    noise: float

    @property
    def holds(self) -> bool:
        return self.beside <= min(self.noise, MOST_COST)


def cost(port: int, token: str, calls: int) -> Cost:
    other = Client(port, {"authorization": f"Bearer {token}"})

    def recall() -> list[float]:
        taken = []
        for call in range(calls):
            asked = json.dumps({"query": message(call, assistant=False)})
            began = time.perf_counter()
            answer, _ = other.ask("POST", "/v1/memory/get", asked)
            taken.append(time.perf_counter() - began)
            assert answer.status == 200
            time.sleep(_BETWEEN)
        return taken

    recall()
    beside, noise = [], []
    for _ in range(_ROUNDS):
        before = median(recall())
        with looking(port, token):
            meanwhile = median(recall())
        after = median(recall())
        beside.append(2 * meanwhile / (before + after))
        noise.append(max(before, after) / min(before, after))
    return Cost(median(beside), max(noise))


@contextmanager
def served(home: Path, settings: dict[str, str]) -> Iterator[tuple[int, int]]:
    """The port and process of a server with that memory."""
    command = [sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", str(home)]
    with serving(command, **settings) as port:
        [pid] = [int(one) for one in _children() if "serve" in Path(f"/proc/{one}/cmdline").read_text()]
        yield port, pid


def _children() -> list[str]:
    here = Path(f"/proc/self/task/{os.getpid()}/children")
    return here.read_text("ascii").split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=None, help="default: one for 500 lines")
    parser.add_argument("--sessions", type=int, default=None, help="default: one for 20 lines")
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--keep", type=Path, help="a data folder to fill, or one that was filled so before")
    parser.add_argument("--embedder", default="packaged", help="as the setting says; 'none' for words alone")
    parser.add_argument("--first", action="store_true", help="run before all other programs (as root)")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    size = Size(given.lines, given.people or max(1, given.lines // 500), given.sessions or given.lines // 20)
    machine, settings = Machine(), {**UNLIMITED, "SOUVENANCE_EMBEDDER": given.embedder}
    with tempfile.TemporaryDirectory() as folder:
        home = given.keep or Path(folder) / "home"
        owner_cap = home / "owner.cap"
        began = time.perf_counter()
        token = owner_cap.read_text().strip() if owner_cap.exists() else fill(home, size, settings)
        print(f"{size.lines} lines, {size.people} people, {size.sessions} sessions", end="")
        print(f": stored in {time.perf_counter() - began:.0f} s", flush=True)
        if given.first:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        with served(home, settings) as (port, pid):
            figures = measure(port, pid, token, size, given.calls)
            costs = cost(port, token, _RECALLS)
    for one in figures:
        verdict = (", CPU counts: busy" if one.busy else "") + ("" if one.holds else "  TOO MUCH")
        times = f"{one.ms:7.1f} ms (≤ {one.most_ms:.0f}), {one.cpu_ms:7.1f} ms of CPU"
        print(f"{one.page:44} {times}, {one.bytes:6} bytes{verdict}")
    verdict = "" if costs.holds else "  TOO MUCH"
    print(f"a recall while pages are loaded and open: {costs.beside:.3f} times as long{verdict}")
    print(f"two turns without pages differ by up to {costs.noise:.3f} times in a round")
    print(machine)
    if given.json:
        pages = [one._asdict() for one in figures]
        report = {"pages": pages, "cost": costs._asdict(), "size": size._asdict()}
        given.json.write_text(json.dumps(report, indent=1), "utf-8")
    if not costs.holds or not all(one.holds for one in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
