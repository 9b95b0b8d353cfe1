"""A vector at rest: a byte for each component, sealed like a line's text. Format 1.

    packed   = scale (32-bit float, little-endian) | a signed byte for each component
    envelope = 0x01 | epoch (4 bytes, big-endian) | nonce (12) | AES-256-GCM ciphertext and tag

The associated data binds the compartment, the line and the space, so a vector that was moved to another
line does not open.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from souvenance.domain.encoding import frame
from souvenance.domain.names import Compartment
from souvenance.domain.seal import FORMAT, NONCE_BYTES
from souvenance.errors import Tampered

SCALE_BYTES = 4
_MOST = 127
_BODY = 5 + NONCE_BYTES


def pack(vector: bytes) -> bytes:
    """A vector of little-endian 32-bit floats, rounded."""
    values = array("f", vector)
    scale = max(map(abs, values), default=0.0) / _MOST or 1.0
    return struct.pack("<f", scale) + bytes(array("b", [round(value / scale) for value in values]))


def unpack(packed: bytes) -> array[float]:
    """The components of a packed vector."""
    (scale,) = struct.unpack_from("<f", packed)
    return array("f", [value * scale for value in array("b", packed[SCALE_BYTES:])])


def seal_vector(
    vector: bytes,
    compartment: Compartment,
    line_id: str,
    space: str,
    *,
    key: AESGCM,
    epoch: int,
    nonce: bytes,
) -> bytes:
    """The envelope of a vector of little-endian 32-bit floats. The nonce must be fresh for every call."""
    header = bytes((FORMAT,)) + epoch.to_bytes(4, "big")
    return header + nonce + key.encrypt(nonce, pack(vector), _place(compartment, line_id, space))


def open_vector(
    sealed: bytes, compartment: Compartment, line_id: str, space: str, *, keys: Mapping[int, AESGCM]
) -> bytes:
    """The packed vector. Raises: Tampered, naming the line."""
    key = keys.get(int.from_bytes(sealed[1:5], "big")) if sealed[:1] == bytes((FORMAT,)) else None
    try:
        if key is not None and len(sealed) > _BODY:
            return key.decrypt(sealed[5:_BODY], sealed[_BODY:], _place(compartment, line_id, space))
    except InvalidTag:
        pass
    raise Tampered(f"the vector of line {line_id} does not open: its bytes or its place were altered")


def _place(compartment: Compartment, line_id: str, space: str) -> bytes:
    return frame("souvenance.vector.v1", *compartment, line_id, space)
