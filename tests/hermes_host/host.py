"""The real host for tests: hosts in homes of their own, and the store they leave, as its owner sees it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from demo_host import ApiServer, Host
from demo_model import Asked, DemoModel
from environments import client_program
from processes import PATIENCE_SECONDS, until
from souvenance.config import settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated
from souvenance.installation import open_installation
from souvenance.surfaces.cli.session import fresh_ulid

ENVIRONMENT = client_program("hermes-0.19.0").parents[1]
programs_from = ENVIRONMENT
"""Where hosts have their programs from. The tests' fixtures set it to an environment that starts faster."""
WORKSPACE = "hermes"
RECALLS = {"peerName": "ann", "recallWait": PATIENCE_SECONDS}
"""What the provider is told unless a test says otherwise: on a busy machine too a turn gets its memory."""
ODD = "Zoë's hosts"
"""A place for homes whose name is no identifier."""
_PAGE = 100

_T = TypeVar("_T")


class Message(NamedTuple):
    peer: str
    text: str


class Store:
    """A data folder of the provider's."""

    def __init__(self, folder: Path, workspace: str) -> None:
        self._workspace = workspace
        self._installation = open_installation(settings_from({}, str(folder)))
        self._jti = fresh_ulid()
        self._cap = attenuated(
            self._installation.owner_cap,
            m.Attenuate(wid=workspace),
            jti=self._jti,
            now=int(time.time()),
            secret=Ed25519PrivateKey.generate(),
        ).cap

    def close(self) -> None:
        self._installation.close()

    def sessions(self) -> dict[str, list[Message]]:
        """What was said in each session, in its order."""
        return {one.id: self._messages(one.id) for one in self._all(LIST_SESSIONS, ListSessions)}

    def messages(self) -> list[Message]:
        """Everything that was said, in whatever session."""
        return [message for messages in self.sessions().values() for message in messages]

    def said(self) -> list[str]:
        return [message.text for message in self.messages()]

    def said_with(self, peer: str) -> list[str]:
        """What was said in the one session in which the peer speaks."""
        [found] = [said for said in self.sessions().values() if any(one.peer == peer for one in said)] or [[]]
        return [message.text for message in found]

    def conclusions(self) -> list[str]:
        """What was concluded, of whomever."""
        return [one.content for one in self._all(LIST_CONCLUSIONS, ListConclusions)]

    def log(self) -> list[m.AuditRow]:
        """What the gate did for others than this reader."""
        rows = self._call(o.AUDIT, m.AuditList(0, 1000)).rows
        return [row for row in rows if row.cap != self._jti]

    def until(self, found: Callable[[Store], _T]) -> _T:
        """What is found in the store, as soon as it is."""
        return until(lambda: found(self))

    def _messages(self, session: str) -> list[Message]:
        found = self._all(LIST_MESSAGES, ListMessages, session_id=session)
        return [Message(one.peer_id, one.content) for one in found]

    def _all(self, operation: Any, ask: Any, **where: Any) -> Iterator[Any]:
        page, pages = 1, 1
        while page <= pages:
            told = self._call(operation, ask(workspace_id=self._workspace, page=page, size=_PAGE, **where))
            yield from told.items
            page, pages = page + 1, told.pages

    def _call(self, operation: Any, request: Any) -> Any:
        return self._installation.gate.call(operation, Credentials(self._cap), request)


@contextmanager
def stored(folder: Path, workspace: str = WORKSPACE) -> Iterator[Store]:
    store = Store(folder, workspace)
    try:
        yield store
    finally:
        store.close()


def a_host(folder: Path, model: DemoModel, recalls: dict[str, Any] | None = None, **settings: Any) -> Host:
    return Host(programs_from, folder, model, {**RECALLS, **(recalls or {})}, **settings)


def reconfigure(host: Host, **recalls: Any) -> None:
    """Change what the provider is told, under a running host."""
    (host.home / "souvenance.json").write_text(json.dumps({**RECALLS, **recalls}))


def log_of(host: Host) -> str:
    """What the host wrote into its logs."""
    return "".join(path.read_text("utf-8") for path in sorted((host.home / "logs").glob("*.log")))


class Talk:
    """A user of an API server, seen from the model's side."""

    def __init__(self, server: ApiServer, model: DemoModel, key: str | None) -> None:
        self._server = server
        self._model = model
        self._key = key

    def ask(self, prompt: str, **more: Any) -> list[Asked]:
        """What the model was asked in the course of the answer."""
        before = len(self._model.turns())
        self._server.ask(prompt, key=self._key, **more)
        return self._model.turns()[before:]
