"""Proof of possession: a JWS by the cap's holder key over one request (the shape of RFC 9449, DPoP).

It binds the method, the path, the hash of the body, of the cap and of the headers that say who speaks, where,
and whether a request is a retry. It carries its own time, and has an id that is burned on first use, so a
captured request can't be sent again.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.decoders import settled
from souvenance.domain import jws
from souvenance.domain.capability import HolderKey
from souvenance.domain.encoding import b64
from souvenance.errors import CapPopInvalid

TYPE = "dpop+jwt"
MAX_AGE_SECONDS = 60
_MAX_CHARS = 4096
_MAX_JTI = 128
_HEADERS = ("x-hermes-", "idempotency-key")
"""What the names of those headers begin with that a proof binds."""


class _Header(jws.Header, frozen=True):
    jwk: HolderKey | None = None
    """Other makers of proofs send their key along; the one that counts is the cap's."""


class Bound(msgspec.Struct, frozen=True):
    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    """Those of `bound_headers`."""


UNBOUND = Bound("", "")


def bound_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Of a request's headers those that a proof binds: names in lower case, in order."""
    found = ((name.lower(), value.strip(" \t")) for name, value in headers)
    return tuple(sorted((name, value) for name, value in found if name.startswith(_HEADERS)))


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    jti: str
    htm: str
    htu: str
    bh: str
    ath: str
    iat: int
    hh: str = ""
    """The hash of the headers that are bound; absent if there are none."""


def make(token: str, request: Bound, *, key: Ed25519PrivateKey, jti: str, now: int) -> str:
    body, cap = _hash(request.body), _hash(token.encode())
    claims = Proof(jti, request.method, request.path, body, cap, now, _of_headers(request))
    return jws.sign(msgspec.json.encode(claims), key, typ=TYPE)


def check(proof: str | None, token: str, request: Bound, *, holder: HolderKey, now: int) -> str:
    """The proof's id, to be burned, if the proof is the holder's and of this very request. Raises:
    CapPopInvalid."""
    if not proof or len(proof) > _MAX_CHARS:
        raise CapPopInvalid("the cap is bound to a key and the request carries no proof of it")
    try:
        jws.header(proof, _Header, typ=TYPE)
        jws.check(proof, holder.public())
        claims = msgspec.json.decode(jws.payload(proof), type=settled(Proof))
    except ValueError:
        raise CapPopInvalid("the proof is not the holder's") from None
    expected = (request.method, request.path, _hash(request.body), _hash(token.encode()))
    if (claims.htm, claims.htu, claims.bh, claims.ath) != expected:
        raise CapPopInvalid("the proof is of another request")
    if claims.hh != _of_headers(request):
        raise CapPopInvalid(
            "the proof is of other headers",
            hint="A proof binds X-Hermes-* and Idempotency-Key: see 'hh' in the reference of tokens.",
        )
    if abs(now - claims.iat) > MAX_AGE_SECONDS:
        raise CapPopInvalid("the proof is not fresh")
    if not 0 < len(claims.jti) <= _MAX_JTI or "\0" in claims.jti:
        raise CapPopInvalid("the proof has no usable id")
    return claims.jti


def _of_headers(request: Bound) -> str:
    lines = "".join(f"{name}:{value}\n" for name, value in request.headers)
    return _hash(lines.encode("latin-1", "replace")) if lines else ""


def _hash(data: bytes) -> str:
    return b64(sha256(data).digest())
