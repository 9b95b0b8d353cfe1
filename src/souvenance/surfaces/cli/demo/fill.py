"""`souvenance demo --fill`: a year of four people and two agents, in an empty data folder.

What is stored is always the same; when it was said is counted back from today. Everything
is a request to the gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import resources
from threading import Thread
from typing import Any

import msgspec

from souvenance.domain.names import DEFAULT_WORKSPACE
from souvenance.errors import Conflict, Denied
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import retention
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, NewConclusion
from souvenance.gate.conversation.messages import ADD_MESSAGES, NewMessage
from souvenance.gate.conversation.workspaces import (
    ADD_WEBHOOK,
    DELETE_WEBHOOK,
    LIST_WORKSPACES,
    TRY_WEBHOOKS,
    ListWorkspaces,
)
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.open_memory import OpenMemory

_WORK_SECONDS = 120.0
_BETWEEN = timedelta(minutes=2)


def fill(memory: OpenMemory, today: datetime) -> dict[str, int]:
    """How many sessions, messages, notes and tokens were stored. Raises: Conflict if there is any memory."""
    filler = _Filler(memory, today)
    filler.refuse_memory()
    text = resources.files(__package__).joinpath("demo_data.json").read_bytes()
    data = msgspec.json.decode(text)
    with _receiver_that_refuses() as url, memory.working():
        stored = filler.store(data)
        memory.settle(_WORK_SECONDS)
        filler.use(data)
        filler.announce_to(url)
    return stored


@contextmanager
def _receiver_that_refuses() -> Iterator[str]:
    """The address of a receiver on this machine that takes no webhook, so that there is a job that failed."""

    class Gone(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(HTTPStatus.GONE)

        def log_message(self, *message: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Gone) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class _Filler:
    def __init__(self, memory: OpenMemory, today: datetime) -> None:
        self._memory = memory
        self._today = today.replace(hour=0, minute=0, second=0, microsecond=0)
        self._said: dict[tuple[str, str], str] = {}
        """The first message of each peer in each session."""

    def refuse_memory(self) -> None:
        notes = self._ask(o.STATUS, m.Nothing()).namespaces
        if notes or self._ask(LIST_WORKSPACES, ListWorkspaces(size=1)).total:
            raise Conflict(
                "this data folder has memory already",
                hint="Name an empty one: souvenance --home demo-folder demo --fill",
            )

    def store(self, data: dict[str, Any]) -> dict[str, int]:
        for session in data["sessions"]:
            self._say(session)
        for note in data["notes"]:
            at = self._moment(note["days_ago"], 18)
            left = note.get("expires_in_days")
            ends = None if left is None else self._moment(-left, 18)
            put = m.Put(text=note["text"], namespace=note["namespace"], occurred_at=at, expires_at=ends)
            self._ask(o.PUT, put)
        counts = {name: len(data[name]) for name in ("sessions", "notes", "tokens")}
        return {**counts, "messages": sum(len(one["messages"]) for one in data["sessions"])}

    def use(self, data: dict[str, Any]) -> None:
        """What people and agents did with it: conclude, correct, set rules, make tokens, ask, be refused."""
        concluded = [
            NewConclusion(
                content=one["text"],
                observer_id=one["observer"],
                observed_id=one["observed"],
                session_id=one["session"],
                source_ids=[self._said[one["session"], one["observed"]]],
            )
            for one in data["conclusions"]
        ]
        self._tell(ADD_CONCLUSIONS, conclusions=concluded)
        for correction in data["corrections"]:
            found = self._ask(o.GET, m.Get(query=correction["text"], k=1)).lines
            self._ask(o.INVALIDATE, m.Invalidate(found[0].id, correction["becomes"]))
        for rule in data["retention"]:
            self._ask(retention.SET, retention.SetRule(**rule))
        (*minted, narrowed), refused = data["tokens"], data["refused"]
        caps = {one["sub"]: self._ask(o.MINT, m.Mint(**one)).cap for one in minted}
        self._memory.gate.call(o.ATTENUATE, Credentials(caps[narrowed["sub"]]), m.Attenuate(**narrowed))
        with suppress(Denied):
            asked_for = m.Get(query=refused["query"], namespaces=(refused["namespace"],))
            self._memory.gate.call(o.GET, Credentials(caps[refused["sub"]]), asked_for)

    def announce_to(self, url: str) -> None:
        """Send a test event to a webhook that is there until it was tried."""
        endpoint = self._tell(ADD_WEBHOOK, url=url).what.id
        self._tell(TRY_WEBHOOKS)
        self._memory.settle(_WORK_SECONDS)
        self._tell(DELETE_WEBHOOK, endpoint_id=endpoint)

    def _say(self, session: dict[str, Any]) -> None:
        begins = self._moment(session["days_ago"], session["hour"])
        said = [
            NewMessage(content=one["text"], peer_id=one["peer"], created_at=begins + turn * _BETWEEN)
            for turn, one in enumerate(session["messages"])
        ]
        for message in self._tell(ADD_MESSAGES, session_id=session["id"], messages=said).messages:
            self._said.setdefault((session["id"], message.peer_id), message.id)

    def _moment(self, days_ago: int, hour: int) -> datetime:
        return self._today - timedelta(days=days_ago) + timedelta(hours=hour)

    def _tell(self, operation: Operation, **fields: Any) -> Any:
        return self._ask(operation, operation.request(workspace_id=DEFAULT_WORKSPACE, **fields))

    def _ask(self, operation: Operation, asked: m.Request) -> Any:
        return self._memory.gate.call(operation, Credentials(self._memory.owner_cap), m.checked(asked))
