"""What a scenario has in hand: a client on a workspace of its own, the plain wire, and patience."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import honcho.api_types
import httpx
from face import Face

import honcho

PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.02


class World:
    """One scenario's own corner of the server."""

    sdk = honcho
    types = honcho.api_types

    def __init__(self, url: str, key: str, workspace: str, flavour: str) -> None:
        self.url = url
        self.key = key
        self.workspace = workspace
        self.flavour = flavour
        self.used: set[str] = set()
        self.honcho = self.client()

    def client(self, workspace: str | None = None, **more: Any) -> Face:
        """Another client: by default of the same workspace and with the same key."""
        settings = {"base_url": self.url, "api_key": self.key, "workspace_id": workspace or self.workspace}
        return self.face(honcho.Honcho(**{**settings, **more}))

    def face(self, thing: Any) -> Face:
        return Face(thing, self.flavour, self.used)

    def raw(self, method: str, path: str = "", body: Any = None, **more: Any) -> httpx.Response:
        """The plain wire, below the workspace unless the path begins with /v3.

        `key` takes the place of the client's key, `params` are the query; the rest are headers.
        """
        where = path if path.startswith("/v3") else f"/v3/workspaces/{self.workspace}{path}"
        key, params = more.pop("key", self.key), more.pop("params", None)
        headers = {"authorization": f"Bearer {key}", **more}
        with httpx.Client(base_url=self.url, trust_env=False, verify=False, timeout=PATIENCE_SECONDS) as wire:
            return wire.request(method, where, json=body, params=params, headers=headers)

    async def settled(self, who: Face | None = None) -> None:
        """Wait until the server says that the work behind the requests is done."""

        async def done() -> bool:
            status = await (self.honcho if who is None else who).queue_status()
            return status.pending_work_units + status.in_progress_work_units == 0

        await self.eventually(done, "the queue never came to rest")

    async def eventually(
        self, holds: Callable[[], Awaitable[Any]], told: str, within: float = PATIENCE_SECONDS
    ) -> Any:
        """What the probe says as soon as it says something. The longer it takes, the less often it is asked:
        the server needs the processor more.
        """
        begun = time.monotonic()
        while not (found := await holds()):
            waited = time.monotonic() - begun
            assert waited < within, told
            await asyncio.sleep(max(PAUSE_SECONDS, waited / 4))
        return found

    async def refused(self, awaitable: Awaitable[Any], error: type[Exception]) -> Any:
        """The error of that kind that the call must raise."""
        try:
            result = await awaitable
        except error as raised:
            return raised
        raise AssertionError(f"{error.__name__} did not come, but {result!r}")
