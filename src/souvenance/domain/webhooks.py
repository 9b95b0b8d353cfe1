"""Webhooks: where events may be sent, how one is signed, and when a failed delivery is tried again.

What is public is decided by lists in this file and not by the standard library, whose answer
changed with its version. Addresses that carry another one inside (NAT64, 6to4, Teredo,
IPv4-mapped) are not public, whatever they carry.
"""

from __future__ import annotations

import hmac
import re
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from souvenance.errors import InvalidInput

MOST_CHARACTERS = 2_048

_PORTS = {"http": 80, "https": 443}
_PRINTABLE = re.compile(r"[!-~]+")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_AUTHORITY = re.compile(r"\[[0-9A-Fa-f:.]+\](:\d*)?|[^][]+")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")

_NOT_PUBLIC_4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # The host of a machine at Azure, from inside it.
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
]
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = [IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]


class Destination(Struct, frozen=True):
    """The parts of a checked URL; `host` is lower case, without brackets and final dot."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address and no name."""
        return ":" in self.host or _NUMBER.fullmatch(self.host.rpartition(".")[2]) is not None

    @property
    def authority(self) -> str:
        """The host as a request names it: IPv6 in brackets, the port only where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def is_public(address: str) -> bool:
    """Whether an IP address belongs to somebody on the internet, and to nothing nearer."""
    if "%" in address:
        return False
    found = ip_address(address)
    if isinstance(found, IPv4Address):
        return not any(found in network for network in _NOT_PUBLIC_4)
    return found in _UNICAST_6 and not any(found in network for network in _NOT_PUBLIC_6)


def destination(url: str, *, allow_private: bool = False) -> Destination:
    """The URL's parts. A host name is not resolved here, so the address behind it must be judged later.
    Raises: InvalidInput."""
    if len(url) > MOST_CHARACTERS:
        raise InvalidInput(f"the URL is longer than {MOST_CHARACTERS} characters")
    if not _PRINTABLE.fullmatch(url) or "\\" in url:
        raise InvalidInput(
            "the URL holds spaces or special characters: use %-escapes, and xn-- names for hosts"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("the URL is malformed") from None
    if parts.scheme not in _PORTS:
        raise InvalidInput("the URL is neither http nor https")
    if "@" in parts.netloc:
        raise InvalidInput("the URL holds credentials")
    if "#" in url:
        raise InvalidInput("the URL holds a fragment")
    if not _AUTHORITY.fullmatch(parts.netloc):
        raise InvalidInput("the URL is malformed")
    host = _host(parts.hostname or "", bracketed=parts.netloc.startswith("["))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    found = Destination(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, target)
    if found.port == 0:
        raise InvalidInput("the URL has a port that is not allowed")
    if not allow_private:
        _refuse_private(found)
    return found


def _host(host: str, *, bracketed: bool) -> str:
    if bracketed:
        try:
            return str(ip_address(host))
        except ValueError:
            raise InvalidInput("the URL's address is malformed") from None
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidInput("the URL's host name is malformed")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            raise InvalidInput("the URL's address is not four decimal numbers") from None
    return host


def _refuse_private(found: Destination) -> None:
    if found.host == "localhost" or found.host.endswith(".localhost"):
        raise InvalidInput("the URL names this machine")
    if found.is_address and not is_public(found.host):
        raise InvalidInput("the URL names an address that is not public")
    if found.port < 1024 and found.port not in _PORTS.values():
        raise InvalidInput("the URL has a port that is not allowed")


SIGNATURE_HEADER = "X-Honcho-Signature"

_PAUSES_MS = (1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000)


def sign(secret: bytes, body: bytes) -> str:
    """The HMAC-SHA256 of the body as it is sent, in lower-case hex."""
    return hmac.new(secret, body, "sha256").hexdigest()


def retry_after_ms(attempt: int) -> int | None:
    """How long to wait after that many failed attempts; None: give up."""
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    return _PAUSES_MS[attempt - 1] if attempt <= len(_PAUSES_MS) else None
