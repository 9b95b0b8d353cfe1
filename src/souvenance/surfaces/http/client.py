"""The HTTP doors from outside: the gate's own `call`, over the network.

What is behind the URL may be Souvenance or, for what is asked about conversations, any server of Honcho's
v3 API, which refuses without Souvenance's codes.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from typing import Any

import httpx
import msgspec

from souvenance import errors as e
from souvenance.domain.proof import Bound, bound_headers
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.http_client import authorities, by_environment, proxy_of
from souvenance.surfaces.http.client_messages import (
    EncodedRequest,
    RawAnswer,
    RequestWriter,
    is_plain,
    raised,
    read,
)
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.routes import ROUTES
from souvenance.version import __version__

MOST_ANSWER_BYTES = 64 * 1024 * 1024
"""Far more than the longest messages of a page, each of their characters escaped."""

_HEADERS = {
    "user-agent": f"souvenance/{__version__}",
    "accept": "application/json",
    "accept-encoding": "identity",
}
_TIMEOUT_SECONDS = 60.0
_CONNECTIONS = 16
_KEPT_SECONDS = 30.0

NO_KEY = "local"
"""What is sent to a server where no key is known: one that trusts this machine takes it."""

_ROUTES = {route.operation.name: route for route in (*ROUTES, *HONCHO_ROUTES)}


NO_SUCH_PATH = ("there is no such path", "Not Found")
"""What Souvenance and what Honcho say of a path that they do not have."""


class RemoteGate:
    """A gate behind a URL, for any number of threads: it answers and raises what the gate there does.

    `timeout` is what a call has for each of its steps, and for the whole of an answer that has begun;
    `connect_timeout`, if less, to reach the server. Calls wait for one of the `connections`.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = _TIMEOUT_SECONDS,
        connect_timeout: float | None = None,
        connections: int = _CONNECTIONS,
    ) -> None:
        """Raises: ServerUnreachable if that is no URL, Misconfigured if the environment spoils it."""
        try:
            base = httpx.URL(url.rstrip("/"))
        except httpx.InvalidURL as error:
            raise e.ServerUnreachable(f"no server has that address: {error}") from None
        self._base = base.path.rstrip("/")
        self._address = f"{base.scheme}://{base.netloc.decode()}{_path_of(base)}"
        self._headers = _HEADERS | _named_in(base)
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._transport = _transport(url, connections)
        self._closed = False

    def bind(self, operation: Operation, request: Request) -> Bound:
        """What a proof of possession is made over. Raises: InvalidInput, Unsupported."""
        sent = _writer(operation.name).written(request)
        headers = bound_headers(sent.headers.items())
        return Bound(sent.method, f"{self._base}{sent.target}", sent.body, headers)

    def call(
        self,
        operation: Operation,
        credentials: Credentials,
        request: Request,
        *,
        timeout: float | None = None,
    ) -> Any:
        """The gate's answer. Raises: SouvenanceError."""
        writer = _writer(operation.name)
        sent = writer.written(request)
        headers = {**sent.headers, **_proving(credentials), **self._headers}
        again = not operation.writes and not credentials.proof
        answer = self._exchange(sent, headers, timeout, again=again)
        if not 200 <= answer.status < 300:
            raise raised(writer.route, answer, with_cap=credentials.token not in (None, "", NO_KEY))
        try:
            return read(writer.route, answer)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise e.ServerUnreachable("what answers there is not Souvenance") from None

    def close(self) -> None:
        self._closed = True
        self._transport.close()

    def _exchange(
        self,
        sent: EncodedRequest,
        headers: Mapping[str, str],
        timeout: float | None,
        *,
        again: bool,
    ) -> RawAnswer:
        """What came back. Raises: ServerUnreachable. `again` allows a second try if the server closed a kept
        connection the moment it was used again."""
        if self._closed:
            raise e.ServerUnreachable("the connection to the server was closed")
        seconds = self._timeout if timeout is None else timeout
        end = time.monotonic() + seconds
        course = _Course()
        try:
            request = httpx.Request(
                sent.method,
                f"{self._address}{sent.path}",
                content=sent.body,
                headers=headers,
                extensions={"trace": course.goes_on, "timeout": self._timeouts(seconds)},
            )
            with closing(self._transport.handle_request(request)) as response:
                return RawAnswer(response.status_code, response.headers, _bounded(response, end))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError) as error:
            kept = not course.connected
            if again and kept and isinstance(error, httpx.RemoteProtocolError | httpx.NetworkError):
                return self._exchange(sent, headers, timeout, again=False)
            reason = str(error) or type(error).__name__
            raise e.ServerUnreachable(f"no answer from the server: {reason}") from error

    def _timeouts(self, seconds: float) -> dict[str, float]:
        connecting = seconds if self._connect_timeout is None else min(seconds, self._connect_timeout)
        return {"connect": connecting, "read": seconds, "write": seconds, "pool": seconds}


_CONNECTING = ("connect_tcp", "start_tls")


class _Course:
    """Whether an exchange took a new connection."""

    def __init__(self) -> None:
        self.connected = False

    def goes_on(self, step: str, about: Mapping[str, Any]) -> None:
        """httpcore calls it with every step, as `connection.connect_tcp.started`."""
        self.connected |= step.split(".")[-2] in _CONNECTING


def _transport(url: str, connections: int) -> httpx.HTTPTransport:
    """A transport without a client around it, which would take as long again as all the rest: for cookies,
    redirects and addresses. Raises: Misconfigured."""
    with by_environment():
        return httpx.HTTPTransport(
            limits=httpx.Limits(
                max_connections=connections,
                max_keepalive_connections=connections,
                keepalive_expiry=_KEPT_SECONDS,
            ),
            verify=authorities(url),
            proxy=proxy_of(url),
        )


def _path_of(base: httpx.URL) -> str:
    """As it is sent."""
    return base.raw_path.decode().partition("?")[0].rstrip("/")


def _named_in(base: httpx.URL) -> dict[str, str]:
    """The header for the name and password that the address holds, if it does."""
    if not base.userinfo:
        return {}
    named = b64encode(f"{base.username}:{base.password}".encode()).decode()
    return {"authorization": f"Basic {named}"}


def _bounded(response: httpx.Response, end: float) -> bytes:
    """The body, if it is not too large, too slow or packed. Raises: ServerUnreachable."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise e.ServerUnreachable("the server answers in an encoding that it was not asked for")
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_raw():
        size += len(chunk)
        if size > MOST_ANSWER_BYTES:
            raise e.ServerUnreachable(f"the server answers with more than {MOST_ANSWER_BYTES} bytes")
        if time.monotonic() > end:
            raise e.ServerUnreachable("no answer from the server: it does not come to an end")
        chunks.append(chunk)
    return b"".join(chunks)


def _proving(credentials: Credentials) -> dict[str, str]:
    """Raises: CapMalformed for what can't stand in a header."""
    headers = {}
    if credentials.token:
        if not is_plain(credentials.token):
            raise e.CapMalformed("the cap holds characters that no cap has")
        headers["authorization"] = f"Bearer {credentials.token}"
    if credentials.proof:
        headers["dpop"] = credentials.proof
    return headers


@cache
def _writer(name: str) -> RequestWriter:
    """Raises: Unsupported."""
    if name not in _ROUTES:
        raise e.Unsupported(
            f"{name} is not served over HTTP", hint="Run it on the machine that has the data folder."
        )
    return RequestWriter(_ROUTES[name])
