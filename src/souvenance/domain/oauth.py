"""The rules of OAuth that need no server: where an answer may be sent, for whom a token is, codes to type."""

from __future__ import annotations

from urllib.parse import urlsplit

from souvenance.patterns import pattern

_MOST_URI = 2048
_URI = pattern(r"[!-~]+\Z")
_LOOPBACK = pattern(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::([0-9]{1,5}))?(/[^\\#]*)?\Z")
_AUTHORITY = pattern(r"(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?\Z")
"""A host and perhaps a port, of letters that mean nothing in a header or a page."""
_REVERSED_DOMAIN = pattern(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+\Z")
_KNOWN_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf", "zed"})
"""Of editors that sign in: their schemes are no reversed domain names, as RFC 8252 would have them."""

_TYPED = "BCDFGHJKLMNPQRSTVWXZ"
"""Letters of codes that people type: no vowels, so that they spell no words."""
_TYPED_LENGTH = 8
_LARGEST_PORT = 65535


def may_redirect(uri: str) -> bool:
    """Whether an answer may ever be sent there: over TLS, to this machine, or to a program's own scheme."""
    if len(uri) > _MOST_URI or not _URI.match(uri) or "#" in uri or "\\" in uri:
        return False
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None:
        return False
    match parts.scheme:
        case "https":
            return _AUTHORITY.match(parts.netloc) is not None
        case "http":
            return host in ("localhost", "127.0.0.1", "::1")
        case scheme:
            return scheme in _KNOWN_SCHEMES or _REVERSED_DOMAIN.match(scheme) is not None


def redirect_matches(registered: str, given: str) -> bool:
    """Whether that is the registered address: byte for byte, but for the port of a loopback address."""
    if registered == given:
        return True
    known, asked = _LOOPBACK.match(registered), _LOOPBACK.match(given)
    if known is None or asked is None:
        return False
    return known[1] == asked[1] and known[3] == asked[3] and _is_port(asked[2])


def where_of(uri: str) -> str:
    """The host and port that an answer goes to, or the program's own scheme."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def form_target(uri: str) -> str:
    """The source expression that lets a form lead there; empty for where no answer may be sent."""
    if not may_redirect(uri):
        return ""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def is_target(resource: str, origin: str) -> bool:
    """Whether the resource that a token is asked for is this server (RFC 8707)."""
    return resource.rstrip("/") in (origin, f"{origin}/mcp")


def user_code(chance: bytes) -> str:
    """A code to type, made of bytes that nobody can guess; sixteen of them at least."""
    value, letters = int.from_bytes(chance, "big"), ""
    for _ in range(_TYPED_LENGTH):
        value, letter = divmod(value, len(_TYPED))
        letters += _TYPED[letter]
    return f"{letters[:4]}-{letters[4:]}"


def typed(code: str) -> str | None:
    """The code that somebody typed, however they spelled it; None if it can't be one."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    if len(letters) != _TYPED_LENGTH or not set(letters) <= set(_TYPED):
        return None
    return f"{letters[:4]}-{letters[4:]}"


def _is_port(text: str | None) -> bool:
    return text is None or 0 < int(text) <= _LARGEST_PORT
