"""What is asked of a server that signs people in: one request, one small answer, no surprises."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.errors import ServerUnreachable
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 15.0

_MOST_BYTES = 256 * 1024
_MOST_CHARS = 200
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": f"souvenance/{__version__}",
}


class Unheard(ServerUnreachable):
    """The server was asked, and no answer came that can be read: what was asked may have been done."""


class SignInRefused(Exception):
    """The server understood, and said no, with a word of the protocol."""

    def __init__(self, error: str, description: str = "") -> None:
        super().__init__(f"{error}: {description}" if description else error)
        self.error = error


class Issued(Struct, frozen=True):
    """What a token endpoint gives."""

    access_token: str
    refresh_token: str = ""
    expires_in: float = 3600
    scope: str = ""
    token_type: str = "Bearer"  # noqa: S105 - a kind of tokens
    config: Any = None
    """What was chosen where the sign-in was allowed, if the server says."""


class _Refusal(Struct, frozen=True):
    error: str
    error_description: str = ""


def issued(endpoint: str, form: Mapping[str, str], *, timeout: float = TIMEOUT_SECONDS) -> Issued:
    """What the token endpoint gives for that. Raises: Refused; ServerUnreachable, Unheard among it."""
    status, content = post(endpoint, form, timeout=timeout)
    try:
        told = msgspec.json.decode(content, type=settled(Issued), strict=False)
    except (msgspec.MsgspecError, ValueError):
        told = None
    usable = told is not None and told.access_token and told.token_type.lower() == "bearer"
    if status != 200 or told is None or not usable:
        raise Unheard(f"{place(endpoint)} answered with nothing that can be used as a token")
    return told


def post(endpoint: str, form: Mapping[str, str], *, timeout: float = TIMEOUT_SECONDS) -> tuple[int, bytes]:
    """Send a form. Raises: Refused; ServerUnreachable, Unheard among it."""
    return _asked("POST", endpoint, timeout, form)


def found(url: str, *, timeout: float = TIMEOUT_SECONDS) -> Any:
    """The JSON object that is there; None if there is none. Raises: ServerUnreachable."""
    try:
        status, content = _asked("GET", url, timeout)
        told = msgspec.json.decode(content) if status == 200 else None
    except (SignInRefused, msgspec.MsgspecError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def place(url: str) -> str:
    """Where a URL leads, without what it may hide."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _asked(method: str, url: str, timeout: float, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    import httpx

    # What is for this machine is nothing for the environment's proxy to see; who vouches for a server
    # without TLS is not read, for that takes longer than the request.
    trusting = not on_this_machine(url)
    verify = True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    end = time.monotonic() + timeout
    try:
        with (
            httpx.Client(trust_env=trusting, verify=verify, timeout=timeout, headers=_HEADERS) as client,
            client.stream(method, url, data=form) as answer,
        ):
            return answer.status_code, _read(answer, end, url)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
        raise ServerUnreachable(f"no answer from {place(url)}: {error}") from error
    except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        raise ServerUnreachable(f"{place(url)} can't be asked: {error}", hint="") from error
    except httpx.HTTPError as error:
        told = str(error) or type(error).__name__
        raise Unheard(f"no answer from {place(url)}: {told}", hint="") from error


def _read(answer: httpx.Response, end: float, url: str) -> bytes:
    """The body of an answer that is not a refusal."""
    chunks: list[bytes] = []
    size = 0
    for chunk in answer.iter_raw():
        size += len(chunk)
        if size > _MOST_BYTES or time.monotonic() > end:
            raise Unheard(f"{place(url)} does not come to an end", hint="")
        chunks.append(chunk)
    content = b"".join(chunks)
    if answer.status_code >= 500:
        raise Unheard(f"{place(url)} answered {answer.status_code}", hint="")
    if answer.status_code >= 400:
        raise _refused(answer.status_code, content)
    return content


def _refused(status: int, content: bytes) -> SignInRefused:
    try:
        told = msgspec.json.decode(content, type=settled(_Refusal))
    except (msgspec.MsgspecError, ValueError):
        return SignInRefused(f"http_{status}")
    return SignInRefused(_printable(told.error), _printable(told.error_description))


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:_MOST_CHARS])
