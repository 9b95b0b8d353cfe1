"""A workspace with someone in it, and one right request for every route of both doors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import httpx

from oauth.browser import Flow
from processes import PATIENCE_SECONDS
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.routes import ROUTES, Route

EVERY_ROUTE: dict[str, Route] = {route.operation.name: route for route in (*ROUTES, *HONCHO_ROUTES)}

Names = dict[str, str]
"""What stands in the placeholders of a path."""

PEER, OTHER_PEER, SESSION, SCOPE = "ann", "bot", "walk", "trips"
DIGEST = "0" * 64


class Right(NamedTuple):
    """What a right request carries besides its path."""

    json: Any = None
    params: dict[str, str] | None = None
    files: Any = None
    data: dict[str, str] | None = None

    def sent(self, client: httpx.Client, route: Route, names: Names) -> httpx.Response:
        return client.request(
            route.method,
            route.path.format_map(names),
            json=self.json,
            params=self.params,
            files=self.files,
            data=self.data,
        )


def inhabited(owner: httpx.Client, workspace: str | None = None) -> Names:
    """A new workspace in which every kind of thing exists, and the names of one of each."""
    name = workspace or f"w-{uuid4().hex[:12]}"
    place = f"/v3/workspaces/{name}"
    done(owner.post(f"{place}/sessions", json={"id": SESSION, "peers": {PEER: {}, OTHER_PEER: {}}}))
    said = [
        {"peer_id": PEER, "content": "I live in Lisbon.", "metadata": {"mood": "calm", "n": 1}},
        {"peer_id": OTHER_PEER, "content": "Noted."},
    ]
    messages = done(owner.post(f"{place}/sessions/{SESSION}/messages", json={"messages": said}))
    stated = {"content": "ann lives in Lisbon", "observer_id": PEER, "observed_id": PEER}
    conclusions = done(owner.post(f"{place}/conclusions", json={"conclusions": [stated]}))
    done(owner.post(f"{place}/scopes", json={"id": SCOPE}))
    owner.post(f"{place}/scopes/{SCOPE}/sessions", json={"session_ids": [SESSION]}).raise_for_status()
    webhook = done(owner.post(f"{place}/webhooks", json={"url": "https://receiver.example/hook"}))
    line = done(owner.post("/v1/memory/put", json={"text": "Trip to Chengdu", "namespace": "travel"}))
    other = done(owner.post("/v1/memory/put", json={"text": "Trip to Oslo", "namespace": "travel"}))
    forgotten = done(owner.post("/v1/memory/forget", json={"id": other["id"]}))
    done(owner.post("/v1/import/begin", json={"digest": DIGEST, "counts": {}}))
    rule = {"name": "kept long", "then": "forget", "days": 36500}
    done(owner.post("/v1/retention/set", json=rule))
    names = {
        "rule": rule["name"],
        "workspace_id": name,
        "peer_id": PEER,
        "session_id": SESSION,
        "scope_id": SCOPE,
        "message_id": messages[0]["id"],
        "conclusion_id": conclusions[0]["id"],
        "endpoint_id": webhook["id"],
        "id": line["id"],
        "receipt": forgotten["receipt"],
    }
    return _Inhabited(owner, names)


class _Inhabited(Names):
    """The names, and what is made only for those who ask for it: `signin_id`, of a program let in here."""

    def __init__(self, owner: httpx.Client, names: Names) -> None:
        super().__init__(names)
        self._owner = owner

    def __missing__(self, name: str) -> str:
        if name != "signin_id":
            raise KeyError(name)
        flow = Flow()
        flow.owner_cap = self._owner.headers["authorization"].removeprefix("Bearer ")
        with httpx.Client(
            base_url=self._owner.base_url, trust_env=False, verify=False, timeout=PATIENCE_SECONDS
        ) as flow.browser:
            flow.sign_in()
            flow.code(choosing={"workspace": self["workspace_id"]})
        found = done(self._owner.get("/v1/signins"))["sign_ins"]
        self[name] = found[0]["id"]
        return self[name]


def done(answer: httpx.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def right(operation: str, names: Names) -> Right:
    """A request that the owner of everything is granted."""
    return RIGHT[operation](names)


def _nothing(names: Names) -> Right:
    return Right()


def _json(body: Any) -> Callable[[Names], Right]:
    return lambda names: Right(json=body)


_FILE = Right(files={"file": ("notes.txt", b"I moved to Porto.", "text/plain")}, data={"peer_id": PEER})
_STATED = {"content": "ann likes tea", "observer_id": PEER, "observed_id": PEER}

RIGHT: dict[str, Callable[[Names], Right]] = {
    "memory.put": _json({"text": "hello", "namespace": "travel"}),
    "memory.get": _json({"query": "hello", "at": "2026-05-14T09:00:00Z", "explain": True}),
    "memory.line": _nothing,
    "memory.list": _json({}),
    "memory.snapshot": _json({}),
    "memory.invalidate": lambda names: Right(json={"id": names["id"], "text": "Trip to Xi'an"}),
    "memory.forget": lambda names: Right(json={"id": names["id"]}),
    "caps.mint": _json({"sub": "a", "ops": ["get"], "namespaces_allowed": ["travel"]}),
    "caps.attenuate": _json({"ops": ["get"]}),
    "caps.revoke": _json({"jti": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"}),
    "caps.whoami": _nothing,
    "signin.list": _nothing,
    "signin.withdraw": lambda names: Right(json={"id": names["signin_id"]}),
    "retention.list": _nothing,
    "retention.set": _json({"name": "short", "then": "forget", "days": 3650, "dry_run": True}),
    "retention.remove": lambda names: Right(json={"name": names["rule"]}),
    "status": _nothing,
    "reindex": _json({"begin": False}),
    "import.begin": _json({"digest": DIGEST, "counts": {}}),
    "import.page": _json({"records": [], "look": True}),
    "import.finish": _json({"digest": DIGEST}),
    "audit.list": _nothing,
    "audit.checkpoint": _nothing,
    "audit.proof": lambda names: Right(params={"seq": "0"}),
    "receipt.verify": lambda names: Right(json={"receipt": names["receipt"]}),
    "workspaces.open": lambda names: Right(json={"id": names["workspace_id"]}),
    "workspaces.list": _nothing,
    "workspaces.change": _json({"metadata": {"a": 1}}),
    "workspaces.delete": _nothing,
    "workspaces.search": _json({"query": "Lisbon", "scope": SCOPE}),
    "workspaces.chat": _json({"query": "Who lives in Lisbon?", "include_evidence": True}),
    "queue.status": _nothing,
    "dreams.schedule": _json({"observer": PEER, "dream_type": "omni"}),
    "peers.list": _json({"filters": {"metadata": {"a": 1}}, "kind": "all"}),
    "peers.open": _json({"id": "carl", "metadata": {"a": 1}, "configuration": {"observe_me": True}}),
    "peers.change": _json({"metadata": {"a": 2}}),
    "peers.delete": lambda names: Right(params={"keep_messages": "true"}),
    "peers.rename": _json({"name": "anna"}),
    "peers.sessions": _nothing,
    "peers.chat": _json({"query": "Where does ann live?", "include_evidence": True}),
    "peers.representation": _json({"search_query": "Lisbon"}),
    "peers.card": lambda names: Right(params={"target": OTHER_PEER}),
    "peers.set_card": _json({"peer_card": ["Name: Ann"]}),
    "peers.context": lambda names: Right(params={"search_query": "Lisbon"}),
    "peers.search": _json({"query": "Lisbon"}),
    "sessions.list": _nothing,
    "sessions.open": _json({"id": "talk", "peers": {PEER: {"observe_me": True}}, "scopes": [SCOPE]}),
    "sessions.read": _nothing,
    "sessions.change": _json({"metadata": {"a": 1}, "configuration": {"summary": {"enabled": True}}}),
    "sessions.delete": _nothing,
    "sessions.clone": lambda names: Right(params={"message_id": names["message_id"]}),
    "sessions.add_peers": _json({"carl": {}}),
    "sessions.set_peers": _json({PEER: {"observe_others": True}}),
    "sessions.remove_peers": _json([OTHER_PEER]),
    "sessions.peers": _nothing,
    "sessions.peer_config": _nothing,
    "sessions.set_peer_config": _json({"observe_me": False}),
    "sessions.context": lambda names: Right(params={"tokens": "500", "peer_target": PEER}),
    "sessions.summaries": _nothing,
    "sessions.search": _json({"query": "Lisbon"}),
    "scopes.open": _json({"id": "work", "metadata": {"a": 1}}),
    "scopes.list": _nothing,
    "scopes.read": _nothing,
    "scopes.delete": _nothing,
    "scopes.add_sessions": _json({"session_ids": [SESSION]}),
    "scopes.remove_session": _nothing,
    "scopes.sessions": _nothing,
    "scopes.status": _nothing,
    "messages.add": _json({"messages": [{"peer_id": PEER, "content": "I like tea."}]}),
    "messages.upload": lambda names: _FILE,
    "messages.list": _json({"filters": {"peer_id": PEER}}),
    "messages.read": _nothing,
    "messages.change": _json({"metadata": {"mood": "glad"}}),
    "messages.delete": _nothing,
    "conclusions.add": _json({"conclusions": [_STATED]}),
    "conclusions.list": _json({"filters": {"observer_id": PEER}}),
    "conclusions.query": _json({"query": "Lisbon"}),
    "conclusions.read": _nothing,
    "conclusions.delete": _nothing,
    "keys.new": lambda names: Right(params={"workspace_id": names["workspace_id"]}),
    "webhooks.add": _json({"url": "https://receiver.example/other"}),
    "webhooks.list": _nothing,
    "webhooks.delete": _nothing,
    "webhooks.test": _nothing,
}
