"""A server of Honcho's API in this process: no caps, no idempotency, and as slow or broken as a test wants.

It keeps what it is told and notes everything that it is asked. Other servers' fields are ignored, as
Honcho ignores them, and what Honcho has no route for is refused.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from ports import vacant_port

LONGEST_HANG = 120.0


def eventually(seen: Callable[[], Any], seconds: float = 60.0) -> bool:
    """Whether it becomes true within that time."""
    end = time.monotonic() + seconds
    while not seen():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.01)
    return True


class Asked(NamedTuple):
    method: str
    host: str
    """Of an absolute address, which is what a proxy is asked for; empty otherwise."""
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]

    @property
    def bearer(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


class _Refusal(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Session:
    def __init__(self) -> None:
        self.peers: dict[str, dict[str, bool]] = {}
        self.messages: list[dict[str, Any]] = []
        self.summary = ""


class Workspace:
    def __init__(self) -> None:
        self.peers: set[str] = set()
        self.sessions: dict[str, Session] = {}
        self.conclusions: list[dict[str, Any]] = []
        self.cards: dict[tuple[str, str], list[str]] = {}


class Honcho:
    """Runs from its making to `close`, or to `die`, after which `revive` brings it back as it was."""

    def __init__(self, keys: set[str] | None = None) -> None:
        self.keys = keys
        """The keys that it takes; None for any and none."""
        self.deny: int | None = None
        """The status of every answer."""
        self.pause: Callable[[Asked], float] = lambda asked: 0.0
        """For how many seconds it thinks about a request."""
        self.lose = 0
        """How many of the next writes it keeps, and then goes without an answer."""
        self.think: Callable[[str, str], str] | None = None
        """What the dialectic answers to a query at a level; without it, all that it knows of the peer."""
        self.grants: dict[str, tuple[str, str]] = {}
        """By refresh token: the access token and the refresh token that it is good for, once."""
        self.lifetime: int | None = 3600
        """For how many seconds an access token is said to hold; None to say nothing of it."""
        self.asked: list[Asked] = []
        self.under_way = 0
        self.workspaces: dict[str, Workspace] = {}
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self._ids = count(1)
        self._awake = threading.Event()
        self._awake.set()
        self._connections: set[socket.socket] = set()
        self._held = ExitStack()
        self.port = self._held.enter_context(vacant_port())
        self.revive()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Honcho:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def revive(self) -> None:
        self._server = _Server(self, self.port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def die(self) -> None:
        """As a killed process: nobody listens, and every connection is gone."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        with self.lock:
            connections = list(self._connections)
        for connection in connections:
            _cut(connection)

    def close(self) -> None:
        self.awake()
        if self._thread.is_alive():
            self.die()
        self._held.close()

    def hang(self) -> None:
        """Take every request and answer none, until `awake`."""
        self._awake.clear()

    def awake(self) -> None:
        self._awake.set()

    def of(self, workspace: str = "hermes") -> Workspace:
        return self.workspaces.setdefault(workspace, Workspace())

    def texts(self, session: str, workspace: str = "hermes") -> list[tuple[str, str]]:
        """Who said what in a session, in order."""
        with self.lock:
            found = self.of(workspace).sessions.get(session, Session()).messages
            return [(one["peer_id"], one["content"]) for one in found]

    def sessions(self, workspace: str = "hermes") -> list[str]:
        with self.lock:
            return list(self.of(workspace).sessions)

    def requests(self, pattern: str, method: str | None = None) -> list[Asked]:
        """What was asked of the paths that the pattern is found in."""
        with self.lock:
            return [
                one for one in self.asked if re.search(pattern, one.path) and method in (None, one.method)
            ]

    def wait_for(self, seen: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Wait until what was asked makes it true. `seen` must not use methods that lock."""
        with self.changed:
            return self.changed.wait_for(seen, seconds)

    def state(self, observer: str, observed: str, content: str, workspace: str = "hermes") -> None:
        """Know something from the start."""
        with self.lock:
            place = self.of(workspace)
            place.peers |= {observer, observed}
            place.conclusions.append(self._conclusion(content, observer, observed, None))

    def say(self, session: str, peer: str, content: str, workspace: str = "hermes") -> None:
        """Have heard something before."""
        with self.lock:
            self._add(workspace, session, [{"peer_id": peer, "content": content}])

    def connected(self, connection: socket.socket, *, gone: bool = False) -> None:
        with self.lock:
            (self._connections.discard if gone else self._connections.add)(connection)

    def answer(self, asked: Asked) -> tuple[int, Any] | None:
        """Status and content; None to go without a word."""
        with self.changed:
            self.asked.append(asked)
            self.under_way += 1
            self.changed.notify_all()
        try:
            return self._answer(asked)
        finally:
            with self.changed:
                self.under_way -= 1
                self.changed.notify_all()

    def _answer(self, asked: Asked) -> tuple[int, Any] | None:
        self._awake.wait(LONGEST_HANG)
        if pause := self.pause(asked):
            threading.Event().wait(pause)
        if self.deny is not None:
            return self.deny, {"detail": "not for you"}
        if asked.method == "CONNECT":
            return 502, {"detail": "nobody is reached through here"}
        if asked.path == "/oauth/token":
            return self._renewed(asked)
        if self.keys is not None and asked.bearer not in self.keys:
            return 401, {"detail": "Invalid JWT"}
        with self.lock:
            try:
                return self._worked(asked)
            except _Refusal as refusal:
                return refusal.status, {"detail": str(refusal)}

    def _worked(self, asked: Asked) -> tuple[int, Any] | None:
        there = False
        for pattern, work in _ROUTES:
            method, path = pattern.split(" ")
            if found := re.fullmatch(path, asked.path):
                there = True
                if method == asked.method:
                    return work(self, asked, *map(unquote, found.groups()))
        raise _Refusal(405, "Method Not Allowed") if there else _Refusal(404, "Not Found")

    def _renewed(self, asked: Asked) -> tuple[int, Any]:
        """As the token endpoint of OAuth: a refresh token is good once."""
        given = self.grants.pop(str(asked.body.get("refresh_token")), None)
        if asked.body.get("grant_type") != "refresh_token" or given is None:
            return 400, {"error": "invalid_grant"}
        access, refresh = given
        if self.keys is not None:
            self.keys.add(access)
        lasts = {} if self.lifetime is None else {"expires_in": self.lifetime}
        told = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "scope": "write"}
        return 200, {**told, **lasts}

    def _written(self, kept: list[dict[str, Any]]) -> tuple[int, Any] | None:
        self.changed.notify_all()
        if self.lose:
            self.lose -= 1
            return None
        return 201, kept

    def _id(self) -> str:
        return f"{next(self._ids):021d}"

    def _peer(self, workspace: str, name: str) -> Workspace:
        if workspace not in self.workspaces or name not in self.workspaces[workspace].peers:
            raise _Refusal(404, f"Peer {name} not found")
        return self.workspaces[workspace]

    def _session(self, workspace: str, name: str) -> Session:
        found = self.of(workspace).sessions.get(name)
        if found is None:
            raise _Refusal(404, f"Session {name} not found")
        return found

    def _conclusion(self, content: str, observer: str, observed: str, session: str | None) -> dict[str, Any]:
        known = {"observer_id": observer, "observed_id": observed, "session_id": session}
        return {"id": self._id(), "content": content, **known, "level": "explicit", "created_at": _now()}

    def _add(self, workspace: str, session: str, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
        place = self.of(workspace)
        where = place.sessions.setdefault(session, Session())
        kept = []
        for one in said:
            place.peers.add(one["peer_id"])
            where.peers.setdefault(one["peer_id"], {})
            kept.append(
                {
                    "id": self._id(),
                    "content": one["content"],
                    "peer_id": one["peer_id"],
                    "session_id": session,
                    "workspace_id": workspace,
                    "metadata": one.get("metadata") or {},
                    "created_at": one.get("created_at") or _now(),
                    "token_count": len(one["content"]) // 4,
                }
            )
        where.messages += kept
        return kept


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, honcho: Honcho, port: int) -> None:
        self.honcho = honcho
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nothing to speak of."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.honcho.connected(self.connection)

    def finish(self) -> None:
        self.server.honcho.connected(self.connection, gone=True)
        super().finish()

    def do(self) -> None:
        target = urlsplit(self.path if self.command != "CONNECT" else f"//{self.path}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        content = self.rfile.read(int(headers.get("content-length", "0")))
        query = {name: values[-1] for name, values in parse_qs(target.query).items()}
        asked = Asked(self.command, target.netloc, target.path, query, _body(headers, content), headers)
        told = self.server.honcho.answer(asked)
        if told is None:
            self.close_connection = True
            _cut(self.connection)
            return
        status, answer = told
        sent = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PUT = do_DELETE = do_CONNECT = do  # noqa: N815 - the names are http.server's

    def log_message(self, *_: Any) -> None: ...


def _body(headers: dict[str, str], content: bytes) -> Any:
    kind = headers.get("content-type", "")
    if kind.startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(content.decode()))
    if kind.startswith("multipart/form-data"):
        message = BytesParser(policy=HTTP).parsebytes(f"content-type: {kind}\r\n\r\n".encode() + content)
        return {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode()
            for part in message.iter_parts()
        }
    return json.loads(content) if content.strip() else None


def _page(asked: Asked, found: list[Any]) -> tuple[int, Any]:
    page, size = int(asked.query.get("page", "1")), int(asked.query.get("size", "50"))
    if asked.query.get("reverse") == "true":
        found = found[::-1]
    shown = found[(page - 1) * size : page * size]
    pages = -(-len(found) // size)
    return 200, {"items": shown, "total": len(found), "page": page, "size": size, "pages": pages}


def _matching(
    found: list[dict[str, Any]], filters: dict[str, Any] | None, fields: tuple[str, ...]
) -> list[dict[str, Any]]:
    kept = found
    for name, wanted in (filters or {}).items():
        if name not in fields:
            raise _Refusal(422, f"Column {name} does not exist")
        if name == "metadata":
            kept = [one for one in kept if wanted.items() <= one["metadata"].items()]
        else:
            kept = [one for one in kept if one[name] == wanted]
    return kept


_OF_MESSAGES = ("session_id", "peer_id", "metadata")
_OF_CONCLUSIONS = ("id", "observer_id", "observed_id", "session_id")


def _alike(found: list[dict[str, Any]], query: str) -> list[dict[str, Any]]:
    words = set(re.findall(r"\w+", query.lower()))
    scored = [(len(words & set(re.findall(r"\w+", one["content"].lower()))), one) for one in found]
    return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score]


def _resource(name: str, workspace: str | None = None, **more: Any) -> dict[str, Any]:
    within = {} if workspace is None else {"workspace_id": workspace}
    return {"id": name, **within, "metadata": {}, "configuration": {}, "created_at": _now(), **more}


def _open_workspace(honcho: Honcho, asked: Asked) -> tuple[int, Any]:
    new = asked.body["id"] not in honcho.workspaces
    honcho.of(asked.body["id"])
    return 201 if new else 200, _resource(asked.body["id"])


def _open_peer(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any]:
    peers = honcho.of(workspace).peers
    new = asked.body["id"] not in peers
    peers.add(asked.body["id"])
    return 201 if new else 200, _resource(asked.body["id"], workspace)


def _open_session(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any]:
    place, name = honcho.of(workspace), asked.body["id"]
    new = name not in place.sessions
    session = place.sessions.setdefault(name, Session())
    for peer, habits in (asked.body.get("peers") or {}).items():
        place.peers.add(peer)
        session.peers[peer] = habits
    return 201 if new else 200, _resource(name, workspace, is_active=True)


def _list_sessions(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any]:
    names = list(honcho.of(workspace).sessions)
    return _page(asked, [_resource(name, workspace, is_active=True) for name in names])


def _add_messages(honcho: Honcho, asked: Asked, workspace: str, session: str) -> tuple[int, Any] | None:
    return honcho._written(honcho._add(workspace, session, asked.body["messages"]))


def _upload(honcho: Honcho, asked: Asked, workspace: str, session: str) -> tuple[int, Any] | None:
    form = asked.body
    metadata = json.loads(form.get("metadata") or "{}")
    said = [{"peer_id": form["peer_id"], "content": form["file"], "metadata": metadata}]
    return honcho._written(honcho._add(workspace, session, said))


def _list_messages(honcho: Honcho, asked: Asked, workspace: str, session: str) -> tuple[int, Any]:
    found = honcho._session(workspace, session).messages
    return _page(asked, _matching(found, (asked.body or {}).get("filters"), _OF_MESSAGES))


def _read_message(
    honcho: Honcho, asked: Asked, workspace: str, session: str, message: str
) -> tuple[int, Any]:
    for one in honcho._session(workspace, session).messages:
        if one["id"] == message:
            return 200, one
    raise _Refusal(404, "Message not found")


def _search_peer(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    filters = dict(asked.body.get("filters") or {})
    watcher = filters.pop("peer_perspective", None)
    found = [
        one
        for session in honcho._peer(workspace, peer).sessions.values()
        if watcher is None or watcher in session.peers
        for one in session.messages
        if one["peer_id"] == peer
    ]
    alike = _alike(_matching(found, filters, _OF_MESSAGES), asked.body["query"])
    return 200, alike[: asked.body.get("limit", 10)]


def _known(place: Workspace, observer: str, observed: str) -> list[dict[str, Any]]:
    return _matching(place.conclusions, {"observer_id": observer, "observed_id": observed}, _OF_CONCLUSIONS)


def _rendered(conclusions: list[dict[str, Any]]) -> str:
    lines = [f"[{one['created_at'][:19].replace('T', ' ')}] {one['content']}" for one in conclusions]
    return "\n".join(("## Explicit Observations", "", *lines)) if lines else ""


def _peer_context(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    place, target = honcho._peer(workspace, peer), asked.query.get("target", peer)
    shown = _rendered(_known(place, peer, target)[-int(asked.query.get("max_conclusions", "100")) :])
    card = place.cards.get((peer, target))
    return 200, {"peer_id": peer, "target_id": target, "representation": shown or None, "peer_card": card}


def _represent(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    known = _known(honcho._peer(workspace, peer), peer, asked.body.get("target") or peer)
    session = asked.body.get("session_id")
    return 200, {"representation": _rendered([one for one in known if session in (None, one["session_id"])])}


def _read_card(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    target = asked.query.get("target", peer)
    return 200, {"peer_card": honcho._peer(workspace, peer).cards.get((peer, target))}


def _write_card(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    place, target = honcho.of(workspace), asked.query.get("target", peer)
    place.peers |= {peer, target}
    place.cards[peer, target] = asked.body["peer_card"]
    return 200, {"peer_card": asked.body["peer_card"]}


def _chat(honcho: Honcho, asked: Asked, workspace: str, peer: str) -> tuple[int, Any]:
    known = _known(honcho._peer(workspace, peer), peer, asked.body.get("target") or peer)
    if len(asked.body["query"]) > 10_000:
        raise _Refusal(422, "String should have at most 10000 characters")
    known = _matching(known, asked.body.get("filters"), ("session_id",))
    if honcho.think is None:
        return 200, {"content": "\n".join(one["content"] for one in known) or None}
    return 200, {"content": honcho.think(asked.body["query"], asked.body.get("reasoning_level", "low"))}


def _summaries(honcho: Honcho, asked: Asked, workspace: str, session: str) -> tuple[int, Any]:
    told = honcho._session(workspace, session).summary
    short = {
        "content": told,
        "message_id": "0" * 21,
        "summary_type": "honcho_chat_summary_short",
        "created_at": _now(),
        "token_count": len(told) // 4,
    }
    return 200, {"id": session, "short_summary": short if told else None, "long_summary": None}


def _context(honcho: Honcho, asked: Asked, workspace: str, session: str) -> tuple[int, Any]:
    found = honcho.of(workspace).sessions.get(session, Session()).messages
    return 200, {"id": session, "messages": found[-20:], "summary": None}


def _conclude(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any] | None:
    made = []
    for one in asked.body["conclusions"]:
        place = honcho._peer(workspace, one["observer_id"])
        honcho._peer(workspace, one["observed_id"])
        if one.get("session_id") is not None:
            honcho._session(workspace, one["session_id"])
        about = (one["content"], one["observer_id"], one["observed_id"], one.get("session_id"))
        made.append(honcho._conclusion(*about))
        place.conclusions.append(made[-1])
    return honcho._written(made)


def _list_conclusions(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any]:
    filters = (asked.body or {}).get("filters")
    found = _matching(honcho.of(workspace).conclusions, filters, _OF_CONCLUSIONS)
    return _page(asked, found[::-1])


def _query_conclusions(honcho: Honcho, asked: Asked, workspace: str) -> tuple[int, Any]:
    found = _matching(honcho.of(workspace).conclusions, asked.body.get("filters"), _OF_CONCLUSIONS)
    return 200, _alike(found, asked.body["query"])[: asked.body.get("top_k", 10)]


def _delete_conclusion(honcho: Honcho, asked: Asked, workspace: str, conclusion: str) -> tuple[int, Any]:
    place = honcho.of(workspace)
    left = [one for one in place.conclusions if one["id"] != conclusion]
    if len(left) == len(place.conclusions):
        raise _Refusal(404, "Conclusion not found")
    place.conclusions = left
    return 204, None


_W = "/v3/workspaces/([^/]+)"
_ROUTES: tuple[tuple[str, Callable[..., tuple[int, Any] | None]], ...] = (
    ("POST /v3/workspaces", _open_workspace),
    (f"POST {_W}/peers", _open_peer),
    (f"POST {_W}/sessions", _open_session),
    (f"POST {_W}/sessions/list", _list_sessions),
    (f"POST {_W}/sessions/([^/]+)/messages", _add_messages),
    (f"POST {_W}/sessions/([^/]+)/messages/upload", _upload),
    (f"POST {_W}/sessions/([^/]+)/messages/list", _list_messages),
    (f"GET {_W}/sessions/([^/]+)/messages/([^/]+)", _read_message),
    (f"GET {_W}/sessions/([^/]+)/summaries", _summaries),
    (f"GET {_W}/sessions/([^/]+)/context", _context),
    (f"POST {_W}/peers/([^/]+)/search", _search_peer),
    (f"GET {_W}/peers/([^/]+)/context", _peer_context),
    (f"POST {_W}/peers/([^/]+)/representation", _represent),
    (f"GET {_W}/peers/([^/]+)/card", _read_card),
    (f"PUT {_W}/peers/([^/]+)/card", _write_card),
    (f"POST {_W}/peers/([^/]+)/chat", _chat),
    (f"POST {_W}/conclusions", _conclude),
    (f"POST {_W}/conclusions/list", _list_conclusions),
    (f"POST {_W}/conclusions/query", _query_conclusions),
    (f"DELETE {_W}/conclusions/([^/]+)", _delete_conclusion),
)
