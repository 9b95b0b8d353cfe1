"""What a sign-in is made of, and the rules of OAuth that need no server: clients, redirects, codes."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from souvenance.domain.encoding import frame
from souvenance.domain.names import COMMON_NAMESPACE, DEFAULT_NAMESPACE
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
    is_port = asked[2] is None or 0 < int(asked[2]) <= _LARGEST_PORT
    return known[1] == asked[1] and known[3] == asked[3] and is_port


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


def typed(code: str) -> str | None:
    """The code that somebody typed, however they spelled it; None if it can't be one."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    if len(letters) != _TYPED_LENGTH or not set(letters) <= set(_TYPED):
        return None
    return f"{letters[:4]}-{letters[4:]}"


CODE = "code"
REFRESH = "refresh"
DEVICE = "device"
USER_CODE = "user"
SESSION = "session"
REQUEST = "request"
LINK = "link"
PAGE_SESSION = "page"
PASSKEY = "passkey"
CHALLENGE = "challenge"

REFRESH_PREFIX = "hch-rt-"
"""What a refresh token begins with, as clients of Honcho expect."""

READ = "read"
WRITE = "write"
SCOPES = (READ, WRITE)
Access = Literal["read", "write"]

CODE_GRANT = "authorization_code"
REFRESH_GRANT = "refresh_token"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = (CODE_GRANT, REFRESH_GRANT, DEVICE_GRANT)

PUBLIC = "none"
"""How a client proves itself that has no secret."""
AUTH_METHODS = (PUBLIC, "client_secret_basic", "client_secret_post")

READING = ("get", "list", "snapshot")
WRITING = (*READING, "put", "invalidate", "forget")

CODE_MS = 2 * 60 * 1000
REQUEST_MS = 10 * 60 * 1000
SESSION_MS = 15 * 60 * 1000
DEVICE_MS = 15 * 60 * 1000
LATE_MS = 60_000
"""How long an expired code is still known, so that a late client learns that it has expired."""
LINK_MS = 60 * 1000
PAGE_SESSION_MS = 12 * 60 * 60 * 1000
CHALLENGE_MS = 5 * 60 * 1000
SPENT_KEPT_MS = 30 * 24 * 3600 * 1000
"""For how long a spent slip is remembered, so that a second use is noticed."""
UNUSED_MS = 24 * 3600 * 1000
"""After so long, a client that nobody let in and a sign-in that nobody fetched are forgotten."""
ACCESS_SECONDS = 3600


class Client(Struct, frozen=True, kw_only=True):
    """A program that may ask to be let in."""

    id: str
    name: str
    redirects: tuple[str, ...]
    grants: tuple[str, ...] = GRANTS
    auth: str = PUBLIC
    secret: bytes | None = None
    """The hash of its secret, if it has one."""
    created_at: int = 0
    used_at: int | None = None
    """When it was first let in."""


class Preset(Struct, frozen=True):
    """What is proposed for a client, and whether it speaks for everyone in its workspace."""

    workspace: str | None = None
    namespaces: tuple[str, ...] = (DEFAULT_NAMESPACE, COMMON_NAMESPACE)
    everyone: bool = False


HERMES = Client(id="hermes-agent", name="Hermes Agent", redirects=("http://127.0.0.1/callback",))
BUILT_IN = {HERMES.id: HERMES}
PRESETS = {HERMES.id: Preset("hermes", (COMMON_NAMESPACE,), everyone=True)}
"""Honcho's clients write sessions for several peers, which only a cap of the whole workspace may."""


class SignIn(Struct, frozen=True, kw_only=True):
    """What a client was given: a cap that stays here, sealed, and that its access tokens are made from."""

    id: str
    client: str
    workspace: str
    peer: str
    access: Access
    jti: str
    sealed: bytes
    created_at: int
    until: int
    used_at: int | None = None
    """When the client last fetched a token."""


class Slip(Struct, frozen=True, kw_only=True):
    """A secret that was handed out, known here by its hash alone, and what it stands for."""

    kind: str
    hash: bytes
    client: str = ""
    signin: str | None = None
    until: int
    spent_at: int | None = None
    content: bytes = b""


class Passkey(Struct, frozen=True, kw_only=True):
    """A passkey (WebAuthn) and the token that it signs in with. It is sealed as a whole."""

    token: str
    name: str
    public_key: bytes
    counter: int
    """How often it signed, as far as it counts; a copy of it would fall behind."""
    created_at: int
    used_at: int | None = None


def hash_of(secret: str) -> bytes:
    """What is kept of a secret that has enough chance in it to need no salt."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def grant_place(signin: str) -> bytes:
    """What the sealed cap of a sign-in is bound to."""
    return frame("souvenance.signin.v1", "grant", signin)


def session_place(hashed: bytes) -> bytes:
    """What the sealed cap of a browser's session, or a sealed passkey, is bound to."""
    return frame("souvenance.signin.v1", "session", hashed)


def ops_of(access: str, allowed: frozenset[str]) -> tuple[str, ...]:
    """The operations that an access means, as far as the one who grants it has them."""
    return tuple(op for op in (WRITING if access == WRITE else READING) if op in allowed)
