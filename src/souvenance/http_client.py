"""HTTP clients for servers that a setting or a command names."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import httpx

from souvenance.errors import Misconfigured
from souvenance.version import __version__


def client(url: str, key: str | None, **options: Any) -> httpx.Client:
    """A client for the server of that URL, which follows no redirect. `options` are those of httpx.

    Requests to this machine use no proxy. Raises: Misconfigured if the environment spoils it.
    """
    headers = {"user-agent": f"souvenance/{__version__}"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    try:
        base = httpx.URL(url)
        secure = base.scheme == "https"
        return httpx.Client(
            headers=headers,
            follow_redirects=False,
            trust_env=not _is_here(base.host),
            verify=httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            **options,
        )
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


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
