"""The guard at the HTTP door: a page of another site, or a foreign name for this host, gets nothing.

A browser on this machine can be made to call a loopback server, by a cross-site request or by a name
that resolves to 127.0.0.1 (DNS rebinding). Both show in the Origin and Host headers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from souvenance.errors import HostRefused
from souvenance.http_client import is_loopback

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import Scope


def check_host(host: str | None, allowed: Collection[str] | None) -> None:
    """On loopback only loopback names, else those `allowed`, or any without such. Raises: HostRefused."""
    name = _name(f"//{host or ''}")
    known = is_loopback(name) if allowed is None else (not allowed or name in allowed)
    if not known:
        raise HostRefused("this server is not called by that name")


def check_origin(origin: str | None, host: str | None) -> None:
    """Raises: HostRefused for a request that a page of another origin made."""
    if origin is None:
        return
    if _authority(origin) != (host or "").lower():
        raise HostRefused("requests from pages of another origin are refused")


def from_here(scope: Scope, headers: Headers) -> bool:
    """Whether a program on this machine asks, and no proxy for someone else."""
    client = scope.get("client")
    forwarded = any(
        name in ("forwarded", "x-real-ip", "via") or name.startswith("x-forwarded-") for name in headers
    )
    return client is not None and is_loopback(client[0]) and not forwarded


def _authority(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
