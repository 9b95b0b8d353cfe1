"""A house with an MCP door and the sign-in beside it behind a real server, and the official client at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from running import running
from souvenance.config import settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation, open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.oauth.door import SignInDoor
from souvenance.surfaces.mcp.door import McpDoor

EVERY_OP = ("put", "get", "list", "snapshot", "invalidate", "forget")
PATIENCE_SECONDS = 60


class Hosted:
    """A house, and the address that its doors are at."""

    def __init__(self, installation: Installation, url: str) -> None:
        self.installation = installation
        self.url = url
        self.mcp = f"{url}/mcp"

    def call(self, operation: Any, request: Any, cap: str | None = None) -> Any:
        return self.installation.gate.call(
            operation, Credentials(cap or self.installation.owner_cap), request
        )

    def mint(
        self, sub: str, *, ops: Sequence[str] = EVERY_OP, namespaces: Sequence[str] = ("*",), **more: Any
    ) -> str:
        return self.call(o.MINT, m.Mint(sub, tuple(ops), tuple(namespaces), **more)).cap

    def wide(self, sub: str, **more: Any) -> str:
        """A cap that reaches a whole workspace, and is the person's."""
        return self.mint(sub, peers=("*",), **more)

    @asynccontextmanager
    async def client(self, cap: str, **more: Any) -> AsyncIterator[Client]:
        """Without the authorities of TLS: to read them takes longer than to be answered."""
        near = {"timeout": PATIENCE_SECONDS, "trust_env": False, "verify": False}
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {cap}"}, **near) as http,
            Client(streamable_http_client(self.mcp, http_client=http), **more) as client,
        ):
            yield client

    def calls(self, cap: str, *calls: tuple[str, dict[str, Any]], **more: Any) -> list[Any]:
        """What some calls of tools answer, one after the other, in one conversation."""

        async def work() -> list[Any]:
            async with self.client(cap, **more) as client:
                return [await client.call_tool(name, arguments) for name, arguments in calls]

        return run(work)

    def tool(self, cap: str, name: str, **arguments: Any) -> Any:
        """What a tool answers, structured; what it refuses is a failure of the test."""
        (result,) = self.calls(cap, (name, arguments))
        assert not result.is_error, result.content
        return result.structured_content

    def protocol_error(self, cap: str, ask: Callable[[Client], Awaitable[Any]]) -> MCPError:
        """The error of the protocol that comes of what is asked."""

        async def work() -> MCPError:
            async with self.client(cap) as client:
                try:
                    answer = await ask(client)
                except MCPError as error:
                    return error
                raise AssertionError(f"it was answered: {answer}")

        return run(work)

    def refusal(self, cap: str, name: str, **arguments: Any) -> Any:
        (result,) = self.calls(cap, (name, arguments))
        assert result.is_error, result.content
        return result.structured_content


@contextmanager
def hosted(home: Path, wrapped: Callable[[Any], Any] = lambda app: app) -> Iterator[Hosted]:
    """The house behind a server of this process, on a free port."""
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    app = wrapped(make_app(installation.gate, doors=[SignInDoor(installation.sign_ins), McpDoor()]))
    with installation.working(), running(app) as url:
        yield Hosted(installation, url)
    installation.close()


def run(work: Any, *arguments: Any) -> Any:
    """Do asynchronous work, within the patience of a test."""

    async def bounded() -> Any:
        with anyio.fail_after(PATIENCE_SECONDS):
            return await work(*arguments)

    return anyio.run(bounded)
