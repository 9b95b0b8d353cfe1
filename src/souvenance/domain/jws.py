"""Compact JWS (RFC 7515) with the one algorithm that is used here, EdDSA over Ed25519 (RFC 8037).

There is no choice of algorithm to get wrong: the header must say EdDSA, and nothing that the
header says decides how a signature is checked.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from souvenance.decoders import settled
from souvenance.domain.encoding import b64, unb64

ALGORITHM = "EdDSA"


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A member that is not known here makes the header unreadable, because it may demand something."""

    alg: str
    kid: str = ""
    typ: str = ""


_Header = TypeVar("_Header", bound=Header)


class Unsigned(ValueError):
    """The signature does not hold."""


def sign(payload: bytes, key: Ed25519PrivateKey, *, typ: str, kid: str = "") -> str:
    head = msgspec.json.encode(Header(ALGORITHM, kid, typ))
    signed = f"{b64(head)}.{b64(payload)}"
    return f"{signed}.{b64(key.sign(signed.encode()))}"


def header(block: str, shape: type[_Header], *, typ: str) -> _Header:
    """What the block says of itself, which is not yet to be believed. Raises: ValueError."""
    said = msgspec.json.decode(unb64(_parts(block)[0]), type=settled(shape))
    if said.alg != ALGORITHM or said.typ != typ:
        raise ValueError(f"the header says alg {ALGORITHM} and typ {typ}")
    return said


def payload(block: str) -> bytes:
    """What the block holds, unchecked. Raises: ValueError."""
    return unb64(_parts(block)[1])


def check(block: str, key: Ed25519PublicKey) -> None:
    """Raises: Unsigned; ValueError if there is no signature to check."""
    signature = unb64(_parts(block)[2])
    try:
        key.verify(signature, block.rpartition(".")[0].encode())
    except InvalidSignature:
        raise Unsigned("the signature does not hold") from None


def _parts(block: str) -> list[str]:
    parts = block.split(".")
    if len(parts) != 3:
        raise ValueError("a block has three parts, separated by dots")
    return parts
