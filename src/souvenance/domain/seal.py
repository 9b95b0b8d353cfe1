"""The seal: the envelope around a line's text at rest. Format 1.

    envelope = 0x01 | epoch (4 bytes, big-endian) | nonce (12) | AES-256-GCM ciphertext and tag

The associated data binds everything that gives the line its place, so that an envelope moved
to another line, session, namespace, owner or workspace does not open. The same layout wraps
keys under the root key, with a context of its own. See docs/reference/format.md.
"""

from __future__ import annotations

from itertools import chain

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from souvenance.domain.encoding import frame
from souvenance.domain.line import Line, LinePlace, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered

FORMAT = 1
DATA_CLASS = "memory"
KEY_BYTES = 32
NONCE_BYTES = 12
_TAG_BYTES = 16
_HEADER_BYTES = 5


_BOUND = [name for name in LinePlace.__struct_fields__ if name not in ("cap", "compartment")]


def place(line: LinePlace, epoch: int) -> bytes:
    """The associated data of a line: where it lies, and the name and value of each field that it has."""
    told = [(name, value) for name in _BOUND if (value := getattr(line, name)) is not None]
    return frame("souvenance.seal.v1", DATA_CLASS, *line.compartment, epoch, *chain.from_iterable(told))


def key_place(compartment: Compartment, purpose: str, epoch: int) -> bytes:
    """The associated data of a wrapped key."""
    return frame("souvenance.key.v1", DATA_CLASS, *compartment, purpose, epoch)


def seal(line: Line, *, key: AESGCM, epoch: int, nonce: bytes) -> bytes:
    """The envelope of the line's text. The nonce must be fresh for every call."""
    header = bytes((FORMAT,)) + epoch.to_bytes(4, "big")
    return header + nonce + key.encrypt(nonce, line.text.encode(), place(line, epoch))


def open_sealed(line: SealedLine, *, key: AESGCM) -> str:
    """The line's text.

    Raises: Tampered, naming the line, if anything about it or its place was altered.
    """
    sealed = line.sealed
    body = _HEADER_BYTES + NONCE_BYTES
    if len(sealed) < body + _TAG_BYTES or sealed[0] != FORMAT:
        raise Tampered(f"line {line.id} is not a sealed envelope")
    if int.from_bytes(sealed[1:_HEADER_BYTES], "big") != line.epoch:
        raise Tampered(f"line {line.id} names another key epoch than its envelope")
    try:
        return key.decrypt(sealed[_HEADER_BYTES:body], sealed[body:], place(line, line.epoch)).decode()
    except (InvalidTag, UnicodeDecodeError):
        raise Tampered(f"line {line.id} does not open: its bytes or its place were altered") from None
