"""The gate that a memory asks, in a data folder or behind a URL, and the token that it asks with."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from souvenance.adapters.private_files import secret_of
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.agents.narrow_tokens import CallableGate, Narrowed
from souvenance.config import settings_from
from souvenance.domain import capability
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.errors import CapMalformed, CapMissing, MemoryClosed, Misconfigured, Unavailable
from souvenance.extras import importing
from souvenance.gate.conversation.resource import ResponsePage
from souvenance.gate.messages import Attenuate, Request, checked
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation, open_installation

_START_WORK_SECONDS = 1.0
"""When background work starts, unless a request leaves some earlier."""
_FINISH_WORK_SECONDS = 5.0
"""How long closing waits for background work. The rest is done when the folder is opened again."""
_REPLICATE_SECONDS = 5.0
_PAGE = 100


class Connection:
    """Thread-safe. The argument of `close` says whether to finish background work first."""

    def __init__(
        self, gate: CallableGate, token: str, workspace: str | None, close: Callable[[bool], None]
    ) -> None:
        """Raises: CapMissing."""
        if not token:
            raise CapMissing(
                "no token was given", hint="Pass token=, or set SOUVENANCE_CAP to a token or to @FILE."
            )
        self._gate = gate
        self._token = token
        self._claims = _claims(token)
        self._workspace = workspace
        self._close = close
        self._narrowed = Narrowed(now=lambda: SystemClock().now() // 1000, chance=SystemEntropy().take)
        self._calls = 0
        self._closed = False
        self._changed = threading.Condition()

    @property
    def workspace(self) -> str:
        """The workspace that was asked for, or else that of the token."""
        own = DEFAULT_WORKSPACE if self._claims is None or self._claims.wid == ALL else self._claims.wid
        return self._workspace or own

    def grants(self, op: str) -> bool:
        """Whether the token says that it allows the operation; the gate decides."""
        return self._claims is None or op in self._claims.ops

    def call(self, operation: Operation, request: Request, peer: str | None = None) -> Any:
        """The gate's answer about the token's own memory, or about that of a peer.

        Raises: SouvenanceError.
        """
        with self._changed:
            if self._closed:
                raise MemoryClosed("this memory is closed")
            self._calls += 1
        try:
            return self._gate.call(operation, self._credentials(peer), checked(request))
        finally:
            with self._changed:
                self._calls -= 1
                self._changed.notify_all()

    def ask(self, operation: Operation, **fields: Any) -> Any:
        """The gate's answer to a request about the workspace with these fields. Raises: SouvenanceError."""
        return self.call(operation, operation.request(workspace_id=self.workspace, **fields))

    def pages(self, operation: Operation, **fields: Any) -> Iterator[Any]:
        """All items of a list, read in pages as they are needed. Raises: SouvenanceError."""
        number = pages = 1
        while number <= pages:
            page: ResponsePage = self.ask(operation, page=number, size=_PAGE, **fields)
            yield from page.items
            number, pages = number + 1, page.pages

    def close(self, *, finish: bool) -> None:
        """Refuse new calls, wait for those under way, and close. A second time does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.wait_for(lambda: self._calls == 0)
        try:
            self._close(finish)
        finally:
            atexit.unregister(self.close)

    def _credentials(self, peer: str | None) -> Credentials:
        if peer is None and self._workspace is None:
            return Credentials(self._token)
        wanted = Attenuate(sub=peer, wid=self._workspace)
        return self._narrowed.of(self._token, peer, lambda: wanted)


def connect(
    home: str | Path | None,
    url: str | None,
    token: str | None,
    workspace: str | None,
    timeout: float,
    settings: Mapping[str, str | int | bool],
) -> Connection:
    """Raises: SouvenanceError."""
    if home is not None and url is not None:
        raise Misconfigured("both a data folder and a URL were given", hint="Pass one of them.")
    given = {
        f"SOUVENANCE_{name.upper()}": str(int(value) if isinstance(value, bool) else value)
        for name, value in settings.items()
    }
    environment = {**os.environ, **given}
    token = secret_of(token or environment.get("SOUVENANCE_CAP", "")).strip()
    url = url or (None if home is not None else environment.get("SOUVENANCE_URL"))
    if url is None:
        return _in_folder(home, environment, token, workspace)
    if given:
        raise Misconfigured(
            f"{next(iter(settings))} is a setting of a data folder, and a URL was given",
            hint="Set it where the server runs.",
        )
    return _on_server(url, token, workspace, timeout)


def _on_server(url: str, token: str, workspace: str | None, timeout: float) -> Connection:
    with importing("client", "a URL needs httpx, which"):
        from souvenance.surfaces.http.client import RemoteGate
    gate = RemoteGate(url, timeout=timeout)
    return Connection(gate, token, workspace, lambda finish: gate.close())


def _in_folder(
    home: str | Path | None, environment: Mapping[str, str], token: str, workspace: str | None
) -> Connection:
    installation = open_installation(settings_from(environment, None if home is None else str(home)))
    with ExitStack() as opened:
        opened.callback(installation.close)
        opened.enter_context(installation.working(after=_START_WORK_SECONDS))
        connection = Connection(
            installation.gate,
            token or installation.owner_cap,
            workspace,
            partial(_leave, installation, opened.pop_all()),
        )
        # A program that ends while the embedder works is aborted.
        atexit.register(connection.close, finish=False)
        return connection


def _leave(installation: Installation, opened: ExitStack, finish: bool) -> None:
    with opened:
        if finish:
            installation.settle(_FINISH_WORK_SECONDS)
            with suppress(Unavailable):
                installation.carry(_REPLICATE_SECONDS)


def _claims(token: str) -> capability.Claims | None:
    """What the token says of itself; None for one that says nothing."""
    try:
        return capability.read_unverified(token)[0][-1]
    except CapMalformed:
        return None
