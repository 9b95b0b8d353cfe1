"""The model endpoints over HTTP: asked with their own keys, and heard as they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from mnemon.domain.request_id import onward
from mnemon.domain.upstream import ChatSettings, Upstream
from mnemon.errors import Misconfigured, UpstreamUnreachable
from mnemon.surfaces.http.guard import is_loopback
from mnemon.version import __version__

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 10.0
_SENT_ON = ("accept", "content-type", "idempotency-key", "openai-beta", "x-client-request-id")
"""Headers of a client that its endpoint may see. All else is between the client and us."""
_BETWEEN_US = """
    connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade
    content-encoding content-length set-cookie server date alt-svc strict-transport-security
    x-hermes-user-id x-hermes-session-key x-hermes-session-id x-mnemon-memory
"""
_KEPT_BACK = frozenset(_BETWEEN_US.split())
"""Headers of an endpoint that are about its connection to us."""


class Upstreams:
    def __init__(self, settings: ChatSettings, key: Callable[[str], str]) -> None:
        self._settings = settings
        self._key = key
        self._clients: dict[Upstream, httpx.AsyncClient] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Raises: Misconfigured."""
        try:
            import httpx
        except ImportError:
            raise Misconfigured(
                "a chat endpoint is configured, and httpx is not installed",
                hint="Run: pip install 'mnemon[client]'",
            ) from None
        timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS, pool=None)
        async with AsyncExitStack() as stack:
            for one in self._settings.upstreams:
                headers = {"user-agent": f"mnemon/{__version__}", "accept-encoding": "identity"}
                if one.key is not None:
                    headers["authorization"] = f"Bearer {self._key(one.key)}"
                client = httpx.AsyncClient(
                    headers=headers,
                    timeout=timeout,
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
                    trust_env=not is_loopback(urlsplit(one.url).hostname or ""),
                )
                self._clients[one] = await stack.enter_async_context(client)
            yield

    async def ask(
        self, upstream: Upstream, method: str, path: str, headers: Headers, body: bytes | None = None
    ) -> httpx.Response:
        """The endpoint's answer, whatever it is, as far as its headers. Raises: UpstreamUnreachable."""
        client = self._clients[upstream]
        sent = {**{name: headers[name] for name in _SENT_ON if name in headers}, **onward()}
        request = client.build_request(method, f"{upstream.url}{path}", headers=sent, content=body)
        with reaching():
            return await client.send(request, stream=True)


class reaching:  # noqa: N801 - it reads as a word of the with statement
    """Tells of a failing connection in our own words. Raises: UpstreamUnreachable."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            raise UpstreamUnreachable("the model endpoint did not answer in time") from error
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL | httpx.StreamError):
            raise UpstreamUnreachable("the model endpoint can't be reached, or broke off") from error


async def whole(response: httpx.Response) -> bytes:
    """All of the answer. Raises: UpstreamUnreachable."""
    try:
        with reaching():
            return await response.aread()
    finally:
        await response.aclose()


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an endpoint's answer that are for the client; their names are in lower case."""
    return {
        name: value
        for name, value in headers.items()
        if name not in _KEPT_BACK and not name.startswith("access-control-")
    }
