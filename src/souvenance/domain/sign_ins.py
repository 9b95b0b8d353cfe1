"""What a sign-in is made of: the client that asks, what it was given, and the slips that go to and fro."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from msgspec import Struct

from souvenance.domain.encoding import frame
from souvenance.domain.names import COMMON_NAMESPACE, DEFAULT_NAMESPACE

CODE = "code"
REFRESH = "refresh"
DEVICE = "device"
USER_CODE = "user"
SESSION = "session"
REQUEST = "request"
LINK = "link"
PAGE_SESSION = "page"

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
LINK_MS = 60 * 1000
PAGE_SESSION_MS = 12 * 60 * 60 * 1000
SPENT_KEPT_MS = 30 * 24 * 3600 * 1000
"""For how long it is known that a slip was spent, so that whoever comes with it again is noticed."""
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


def hash_of(secret: str) -> bytes:
    """What is kept of a secret that has enough chance in it to need no salt."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def grant_place(signin: str) -> bytes:
    """What the sealed cap of a sign-in is bound to."""
    return frame("souvenance.signin.v1", "grant", signin)


def session_place(hashed: bytes) -> bytes:
    """What the sealed cap of a browser's session is bound to."""
    return frame("souvenance.signin.v1", "session", hashed)


def ops_of(access: str, allowed: frozenset[str]) -> tuple[str, ...]:
    """The operations that an access means, as far as the one who grants it has them."""
    return tuple(op for op in (WRITING if access == WRITE else READING) if op in allowed)
