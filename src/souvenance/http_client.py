"""HTTP clients for servers that a setting or a command names. Requests to this machine use no proxy."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from souvenance.errors import Misconfigured
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx


def client(url: str, key: str | None, **options: Any) -> httpx.Client:
    """A client for the server of that URL, which follows no redirect. `options` are those of httpx.

    Raises: Misconfigured if the environment spoils it.
    """
    import httpx

    headers = {"user-agent": f"souvenance/{__version__}"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    with by_environment():
        near = is_loopback(httpx.URL(url).host)
        return httpx.Client(
            headers=headers, follow_redirects=False, trust_env=not near, verify=authorities(url), **options
        )


@lru_cache(64)
def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for the server, if it does."""
    parts = urlsplit(url)
    host, place = parts.hostname or "", parts.netloc.rpartition("@")[2]
    if is_loopback(host) or proxy_bypass(host) or proxy_bypass(place):
        return None
    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    return found if not found or "://" in found else f"http://{found}"


def authorities(url: str) -> ssl.SSLContext:
    """Who vouches for the server: without TLS nobody, for reading them takes longer than a request."""
    import httpx

    parts = urlsplit(url)
    if parts.scheme == "https":
        return httpx.create_ssl_context(trust_env=not is_loopback(parts.hostname or ""))
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@contextmanager
def by_environment() -> Iterator[None]:
    """Make within this what goes by the environment's proxy and certificates. Raises: Misconfigured."""
    import httpx

    try:
        yield
    except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        raise Misconfigured(
            f"the environment's proxy or certificates can't be used: {error}",
            hint="Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE or SSL_CERT_DIR.",
        ) from error


def bounded(
    response: httpx.Response, most: int, end: float, failure: Callable[[str], Exception]
) -> Iterator[bytes]:
    """The chunks of a body of at most so many bytes, until that moment of the monotonic clock. Raises: what
    `failure` makes of the reason."""
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > most:
            raise failure(f"the reply has more than {most} bytes")
        if time.monotonic() > end:
            raise failure("the reply does not come to an end")
        yield chunk


def seconds_to_wait(header: str, *, now: float, most: int) -> int:
    """What the header Retry-After says, seconds or a date, in seconds from now; 1 if it can't be read."""
    if header.isascii() and header.isdigit():
        return min(int(header), most)
    try:
        left = parsedate_to_datetime(header).timestamp() - now
    except ValueError:
        return 1
    return max(1, min(int(left) + 1, most))
