"""The Honcho door on a gate whose clock, courier and worker are in the test's hands.

Requests are plain HTTP, answered by the very application that a server runs, in this process.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from json import dumps

import httpx

from gate.world import World, on_sqlite
from processes import PATIENCE_SECONDS
from souvenance.domain.directory import DELIVER
from souvenance.gate.worker import Worker
from souvenance.ports.webhook_sender import Undelivered
from souvenance.surfaces.http.app import make_app

SECRET = b"the webhooks' secret"
_HOST = "127.0.0.1:8787"
HERE = f"http://{_HOST}"
_SCOPE = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": ""}
_PLAIN = re.compile(r"[\w/.~:@!$&'()*+,;=?-]+", re.ASCII)
"""What stands in an address as it is."""


class InProcess(httpx.BaseTransport):
    """Carries requests to an ASGI application on an event loop of its own."""

    def __init__(self, app, address="127.0.0.1"):
        self._app = app
        self._client = (address, 50000)
        self._runner = asyncio.Runner()

    def handle_request(self, request):
        url, body = request.url, request.read()
        headers = [(name.lower(), value) for name, value in request.headers.raw]
        scope = {"scheme": url.scheme, "server": (url.host, url.port), "path": url.path, "headers": headers}
        scope["raw_path"], scope["query_string"] = url.raw_path.partition(b"?")[0], url.query
        return self.answered(request.method, body, scope)

    def answered(self, method, content, scope):
        given = {**_SCOPE, "method": method, "client": self._client, **scope}
        told, body = self._runner.get_loop().run_until_complete(self._answer(content, given))
        return httpx.Response(told["status"], headers=told["headers"], content=body)

    async def _answer(self, content, scope):
        """How an answer begins, and its body; of an application that fails, what it told before."""
        body, told, whole = [content], [], asyncio.Event()

        async def receive():
            if not body:
                await whole.wait()
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": body.pop(), "more_body": False}

        async def send(message):
            assert not whole.is_set(), message
            told.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                whole.set()

        with suppress(Exception):
            await self._app(scope, receive, send)
        begin, *parts = told
        return begin, b"".join(part.get("body", b"") for part in parts if scope["method"] != "HEAD")

    def close(self):
        self._runner.close()


class Wire(httpx.Client):
    """A client of an application in this process. A request of JSON and of a plain path goes there without
    what httpx does for those over a network, which takes almost as long as to answer it.
    """

    def __init__(self, app):
        self._way = InProcess(app)
        super().__init__(transport=self._way, base_url=HERE)

    def request(self, method, url, *, headers=None, json=None, params=None, **more):
        path, mark, query = url.partition("?")
        if more or not _PLAIN.fullmatch(url) or (mark and params):
            return super().request(method, url, headers=headers, json=json, params=params, **more)
        known, body = {"host": _HOST, "accept": "*/*", **(headers or {})}, b""
        if json is not None:
            known.setdefault("content-type", "application/json")
            body = dumps(json, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        if body or method not in ("GET", "DELETE", "HEAD"):
            known["content-length"] = str(len(body))
        scope = {"scheme": "http", "server": ("127.0.0.1", 8787), "path": path, "raw_path": path.encode()}
        scope["query_string"] = str(httpx.QueryParams(params) if params else query).encode()
        scope["headers"] = [(name.lower().encode(), value.encode("ascii")) for name, value in known.items()]
        return self._way.answered(method, body, scope)


class Pigeon:
    """A courier that notes what it carries, or fails as it is told to."""

    def __init__(self):
        self.carried = []
        self.failing = 0

    def check(self, url):
        return url

    def deliver(self, parcel):
        if self.failing:
            self.failing -= 1
            raise Undelivered("the receiver answered 500", retry=True)
        self.carried.append(parcel)


class Counting:
    """A tokenizer that does first what it is told to do with a text; whatever is concluded is counted."""

    def __init__(self):
        self.on_count = lambda text: None

    def count(self, text):
        self.on_count(text)
        return len(text.split())


class Speaker:
    """One caller: a key, and the paths below one workspace."""

    def __init__(self, wire, key, workspace):
        self._wire = wire
        self.key = key
        self.workspace = workspace

    def another(self, key):
        """A caller with another key."""
        return Speaker(self._wire, key, self.workspace)

    def ask(self, method, path, body=None, *, headers=None, **more):
        """The answer. Paths that begin with /v1 or /v3 are taken as they are, others are the workspace's."""
        where = path if path.startswith(("/v1", "/v3")) else f"/v3/workspaces/{self.workspace}{path}"
        known = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        if body is not None:
            more["json"] = body
        return self._wire.request(method, where, headers={**known, **(headers or {})}, **more)

    def told(self, method, path, body=None, **more):
        """What a request that succeeds is answered with."""
        answer = self.ask(method, path, body, **more)
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def code(self, method, path, body=None, **more):
        """The status and, of a refusal, our code."""
        answer = self.ask(method, path, body, **more)
        return (
            (answer.status_code, answer.json()["error"]) if answer.status_code >= 400 else answer.status_code
        )

    def say(self, session, *said, peer="alice", headers=None, **more):
        """Add messages: texts of one peer, or pairs of peer and text."""
        pairs = [(peer, one) if isinstance(one, str) else one for one in said]
        batch = [{"peer_id": who, "content": text, **more} for who, text in pairs]
        return self.told("POST", f"/sessions/{session}/messages", {"messages": batch}, headers=headers)

    def messages(self, session, **query):
        return self.told("POST", f"/sessions/{session}/messages/list", params={"size": 100, **query})["items"]

    def texts(self, session, **query):
        return [one["content"] for one in self.messages(session, **query)]

    def search(self, where, query, **more):
        """The texts found; `where` is '', '/peers/p' or '/sessions/s'."""
        return [one["content"] for one in self.told("POST", f"{where}/search", {"query": query, **more})]

    def conclusions(self, **filters):
        body = {"filters": filters} if filters else None
        return self.told("POST", "/conclusions/list", body, params={"size": 100})["items"]

    def held(self, **filters):
        """What is concluded, in words."""
        return sorted(one["content"] for one in self.conclusions(**filters))

    def conclude(self, text, observer="alice", observed=None, session=None):
        one = {
            "content": text,
            "observer_id": observer,
            "observed_id": observed or observer,
            "session_id": session,
        }
        return self.told("POST", "/conclusions", {"conclusions": [one]})[0]

    def card(self, peer="alice", **query):
        return self.told("GET", f"/peers/{peer}/card", params=query)["peer_card"]

    def representation(self, peer="alice", **body):
        return self.told("POST", f"/peers/{peer}/representation", body)["representation"]

    def context(self, session, **query):
        return self.told("GET", f"/sessions/{session}/context", params=query)

    def summaries(self, session):
        found = self.told("GET", f"/sessions/{session}/summaries")
        return found["short_summary"], found["long_summary"]

    def chat(self, query, peer="alice", **body):
        return self.told("POST", f"/peers/{peer}/chat", {"query": query, **body})["content"]

    def queue(self, **query):
        return self.told("GET", "/queue/status", params=query)

    def is_served(self):
        """Whether some work was done behind its requests, and none is left."""
        told = self.queue()
        return told["completed_work_units"] > 0 == told["pending_work_units"] + told["in_progress_work_units"]

    def members(self, session):
        return [one["id"] for one in self.told("GET", f"/sessions/{session}/peers")["items"]]

    def open(self, kind, name, **body):
        """Get or make a peer, a session or a scope: kind is 'peers', 'sessions' or 'scopes'."""
        return self.told("POST", f"/{kind}", {"id": name, **body})


@contextmanager
def speaking(server, workspace, url=None) -> Iterator[Speaker]:
    """The owner of a running server, over a connection of its own."""
    address = url or server.url
    with httpx.Client(base_url=address, trust_env=False, verify=False, timeout=PATIENCE_SECONDS) as wire:
        yield Speaker(wire, server.owner_cap, workspace)


class Stage:
    """A gate behind the door, its worker driven by hand, and callers with any key."""

    def __init__(self, world, *, trusted=None):
        self.world = world
        self.clock = world.clock
        self.webhook_sender = world.services.webhook_sender
        self.tokenizer = world.services.tokenizer
        self.complaints = []
        self.worker = self.another_worker()
        self.owner_cap = world.operator(exp=world.seconds + 365 * 24 * 3600).token
        self._trusted = trusted

    @cached_property
    def wire(self):
        """The way to the door, made once somebody goes there."""
        app = make_app(self.world.gate, trusted=self._trusted)
        return Wire(app)

    @cached_property
    def owner(self):
        return self.speaker()

    def another_worker(self):
        """A further worker on the same book, as another process would have."""
        world = self.world
        return Worker(
            store=world.store,
            clock=world.clock,
            services=world.services,
            secret=lambda: SECRET,
            report=self.complaints.append,
        )

    def speaker(self, key=..., workspace="w"):
        """A caller; with the owner's cap unless told otherwise."""
        return Speaker(self.wire, self.owner_cap if key is ... else key, workspace)

    def key(self, workspace="w", **named):
        """A key as Honcho's clients ask for one."""
        asked = {"workspace_id": workspace, **named} if workspace is not None else named
        return self.owner.told("POST", "/v3/keys", params=asked)["key"]

    def cap(self, **changed):
        """A cap of our own kind, whatever it grants."""
        said = {"sub": "someone", "wid": "w", "peers": ["*"], "namespaces_allowed": ["default"], **changed}
        return self.world.issue(**said).token

    def rest(self, worker=None):
        """Do what is due, until nothing is."""
        while (worker or self.worker).work_once():
            pass

    def deliver(self, workspace="w"):
        """Do what is due, and wait for the couriers."""
        self.rest()
        while self._on_the_way(workspace):
            pass

    def _on_the_way(self, workspace):
        with self.world.store.read() as tx:
            return any(tally.claimed for tally in tx.work.tallies(workspace, (DELIVER,), self.clock.ms))

    def outcomes(self, workspace="w"):
        return self.world.outcomes(workspace)

    def later(self, **span):
        """A moment from now on the world's clock, as a query carries it."""
        return (datetime.fromtimestamp(self.clock.ms / 1000, UTC) + timedelta(**span)).isoformat()

    def close(self):
        if "wire" in vars(self):
            self.wire.close()


@contextmanager
def staged(folder=None, *, trusted=False, **options) -> Iterator[Stage]:
    """A stage on the reference parts or, given a folder, on a real file and the index of a house."""
    options = {"webhook_sender": Pigeon(), **options}
    world = World(**options) if folder is None else on_sqlite(folder / "book.db", **options)
    stage = Stage(world, trusted=world.operator().token if trusted else None)
    try:
        yield stage
    finally:
        stage.close()
        world.store.close()
