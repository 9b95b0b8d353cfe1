"""The chat door on its stage: a house with a server on loopback, in front of a stand-in for a model."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace

from model.stand_in import StandIn, a_stand_in
from processes import PATIENCE_SECONDS, until
from running import running
from souvenance.config import settings_from
from souvenance.domain.capability import OPS
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.conversation.workspaces import LIST_WORKSPACES, ListWorkspaces
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation, open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.chat.door import ChatDoor

KEY = "the-endpoint-s-own-key"
MODEL = "parrot-1"


@dataclass
class Stage:
    installation: Installation
    model: StandIn
    url: str = ""
    workspace: str = "default"
    _clients: list[httpx.Client] = field(default_factory=list)

    def mint(self, sub: str, **more: Any) -> str:
        """A cap of that actor, by default with every right to its own memory alone."""
        asked = {"ops": OPS, "namespaces_allowed": ("*",), "wid": self.workspace, **more}
        minted = self.installation.gate.call(
            o.MINT, Credentials(self.installation.owner_cap), m.Mint(sub=sub, **asked)
        )
        return minted.cap

    def front(self, **more: Any) -> str:
        """The cap of a front-end that serves everybody."""
        return self.mint("front", **{"peers": ("*",), **more})

    def client(self, cap: str | None, **headers: str) -> httpx.Client:
        given = {} if cap is None else {"authorization": f"Bearer {cap}"}
        named = {f"x-hermes-{name.replace('_', '-')}": value for name, value in headers.items()}
        client = httpx.Client(
            base_url=f"{self.url}/v1",
            headers={**given, **named},
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=False,
        )
        self._clients.append(client)
        return client

    def say(
        self, cap: str | None, text: str, answer: Any = "Noted.", *, user=None, key=None, transcript=None
    ):
        """One turn: what the user says, and what the model is to answer."""
        named = {"user_id": user, "session_key": key, "session_id": transcript}
        client = self.client(cap, **{name: value for name, value in named.items() if value is not None})
        self.model.plays(answer)
        return client.post("/chat/completions", json=asked(text))

    def heard(self) -> str:
        """What the model was told last, as the last message has it."""
        return self.model.asked[-1].messages[-1]["content"]

    def lines(self, workspace: str | None = None) -> list[tuple[str, str, str]]:
        """Everything that was ever said in the workspace: session, peer and text, in order."""
        return [(one.session_id, one.peer_id, one.content) for one in self.messages(workspace)]

    def messages(self, workspace: str | None = None) -> list[Any]:
        workspace = workspace or self.workspace
        owner = Credentials(self.installation.owner_cap)
        sessions = self.installation.gate.call(
            LIST_SESSIONS, owner, ListSessions(workspace_id=workspace, size=100)
        )
        found: list[Any] = []
        for one in sessions.items:
            asked = ListMessages(workspace_id=workspace, session_id=one.id, size=100)
            found += self.installation.gate.call(LIST_MESSAGES, owner, asked).items
        return found

    def texts(self, count: int, workspace: str | None = None) -> list[tuple[str, str]]:
        """What was said, by whom, once there are that many messages."""
        workspace = workspace or self.workspace
        until(lambda: self._exists(workspace) and len(self.lines(workspace)) >= count)
        found = self.lines(workspace)
        assert len(found) == count, [text[:80] for _, _, text in found]
        return [(peer, text) for _, peer, text in found]

    def _exists(self, workspace: str) -> bool:
        owner = Credentials(self.installation.owner_cap)
        found = self.installation.gate.call(LIST_WORKSPACES, owner, ListWorkspaces(filters={"id": workspace}))
        return bool(found.items)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Meanwhile another program holds the store, and whoever comes to it waits."""
        with closing(sqlite3.connect(self.installation.settings.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield

    def close(self) -> None:
        for client in self._clients:
            client.close()


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}


def altered(cap: str) -> str:
    """The cap with another signature."""
    head, payload, signature = cap.split(".", 2)
    return f"{head}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


CREDENTIALS: dict[str, Callable[[Stage], str | None]] = {
    "nothing": lambda stage: None,
    "junk": lambda stage: "junk",
    "local": lambda stage: "local",
    "ann's own cap": lambda stage: stage.mint("ann"),
    "ann's own cap, altered": lambda stage: altered(stage.mint("ann")),
    "a cap of ann and bob": lambda stage: stage.mint("front", peers=("ann", "bob")),
    "a cap of everybody": lambda stage: stage.mint("front", peers=("*",)),
}
"""What a client may show."""


@contextmanager
def a_stage(
    home: Path, *, trusted: bool = False, own: bool = True, upstreams: tuple[Upstream, ...] = (), **more: Any
) -> Iterator[Stage]:
    """The door in front of the stand-in. Unless told otherwise it waits for memory as long as a test does."""
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    try:
        with a_stand_in() as model:
            found = upstreams or (Upstream(model.url, KEY),)
            settings = replace(ChatSettings(found, wait_ms=PATIENCE_SECONDS * 1000), **more)
            door = ChatDoor(settings, cap=installation.owner_cap if own else None)
            app = make_app(
                installation.gate, trusted=installation.owner_cap if trusted else None, doors=[door]
            )
            with running(app) as url:
                stage = Stage(installation, model, url)
                try:
                    yield stage
                finally:
                    stage.close()
    finally:
        installation.close()
