"""The model endpoints over HTTP: asked with their own keys, and heard as they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request

from souvenance.domain.telemetry import onward
from souvenance.domain.upstream import ChatSettings, Upstream, asking, below
from souvenance.errors import UpstreamUnreachable
from souvenance.extras import importing
from souvenance.http_client import is_loopback, proxy_of
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx

PATHS = ("/chat/completions", "/responses", "/models")
"""What endpoints are asked for."""

_CONNECT_SECONDS = 10.0
_HEADERS = {
    "accept": "*/*",
    "accept-encoding": "identity",
    "connection": "keep-alive",
    "user-agent": f"souvenance/{__version__}",
}
_SENT_ON = ("accept", "content-type", "idempotency-key", "openai-beta", "x-client-request-id")
"""Headers of a client that its endpoint may see. All else is between the client and us."""
_BETWEEN_US = """
    connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade
    content-encoding content-length set-cookie server date alt-svc strict-transport-security
    x-hermes-user-id x-hermes-session-key x-hermes-session-id x-souvenance-memory x-souvenance-recalled
    x-souvenance-recalled-ids
"""
_KEPT_BACK = frozenset(_BETWEEN_US.split())
"""Headers of an endpoint that are about its connection to us."""


class _Connection(NamedTuple):
    """How an endpoint is asked: what is the same each time."""

    transport: httpx.AsyncHTTPTransport
    headers: dict[str, str]
    addresses: dict[str, httpx.URL]
    """By path."""


class Upstreams:
    """No cookies: what an endpoint gives to one person's request must not come with another's."""

    def __init__(self, settings: ChatSettings, key: Callable[[str], str]) -> None:
        self._settings = settings
        self._key = key
        self._connections: dict[Upstream, _Connection] = {}
        self._extensions: dict[str, object] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Raises: Misconfigured."""
        with importing("client", "a chat endpoint is configured, and httpx"):
            import httpx
        timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS, pool=None)
        self._extensions = {"timeout": timeout.as_dict()}
        async with AsyncExitStack() as stack:
            for one in self._settings.upstreams:
                transport = httpx.AsyncHTTPTransport(
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
                    trust_env=not is_loopback(urlsplit(one.url).hostname or ""),
                    proxy=proxy_of(one.url),
                )
                known = {} if one.key is None else {"authorization": f"Bearer {self._key(one.key)}"}
                self._connections[one] = _Connection(
                    await stack.enter_async_context(transport),
                    {**_HEADERS, **known},
                    {path: httpx.URL(below(one.url, path)) for path in PATHS},
                )
            yield

    async def ask(
        self, upstream: Upstream, path: str, request: Request, body: bytes | None = None
    ) -> httpx.Response:
        """The endpoint's answer to a client's request, whatever it is, as far as its headers.

        Raises: UpstreamUnreachable.
        """
        import httpx

        connection, headers = self._connections[upstream], request.headers
        query, address = request.scope["query_string"].decode("latin-1"), connection.addresses.get(path)
        sent = {name: headers[name] for name in _SENT_ON if name in headers}
        known = {**connection.headers, **sent, **onward()}
        with reaching():
            if address is None or query:
                address = httpx.URL(asking(below(upstream.url, path), query))
        onward_request = httpx.Request(
            "GET" if request.method == "HEAD" else request.method,
            address,
            # The bytes that came: a value may hold others than ASCII, which httpx would refuse as text.
            headers=[(name.encode(), value.encode("latin-1")) for name, value in known.items()],
            content=body,
            extensions=self._extensions,
        )
        with reaching():
            return await connection.transport.handle_async_request(onward_request)


@contextmanager
def reaching() -> Iterator[None]:
    """Tells of a failing connection in our own words. Raises: UpstreamUnreachable."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise UpstreamUnreachable("the model endpoint did not answer in time") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
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
