"""The seal: the envelope around a line's text, and around its vector, at rest. Format 1.

    envelope = 0x01 | epoch (4 bytes, big-endian) | nonce (12) | AES-256-GCM ciphertext and tag
    packed   = scale (32-bit float, little-endian) | a signed byte for each component of a vector

The associated data binds everything that gives the line its place, so that an envelope moved
to another line, session, namespace, owner or workspace does not open; that of a vector binds the compartment,
the line and the space. The same layout wraps keys under the root key, with a context of its own. See
docs/reference/format.md.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping
from operator import attrgetter

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from souvenance.domain.encoding import Field, frame
from souvenance.domain.line import LinePlace, OpenLine, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered

FORMAT = 1
DATA_CLASS = "memory"
KEY_BYTES = 32
NONCE_BYTES = 12
_TAG_BYTES = 16
_HEADER_BYTES = 5
_BODY = _HEADER_BYTES + NONCE_BYTES

_BOUND = [name for name in LinePlace.__struct_fields__ if name not in ("cap", "compartment")]
_bound_values = attrgetter(*_BOUND)


def place(line: LinePlace, epoch: int) -> bytes:
    """The associated data of a line: where it lies, and the name and value of each field that it has."""
    bound: list[Field] = ["souvenance.seal.v1", DATA_CLASS, *line.compartment, epoch]
    for name, value in zip(_BOUND, _bound_values(line)):  # noqa: B905 - for every line that is sealed or opened
        if value is not None:
            bound += name, value
    return frame(*bound)


def key_place(compartment: Compartment, purpose: str, epoch: int) -> bytes:
    """The associated data of a wrapped key."""
    return frame("souvenance.key.v1", DATA_CLASS, *compartment, purpose, epoch)


def seal(line: OpenLine, *, key: AESGCM, epoch: int, nonce: bytes) -> bytes:
    """The envelope of the line's text. The nonce must be fresh for every call."""
    return _envelope(line.text.encode(), place(line, epoch), key, epoch, nonce)


def _envelope(content: bytes, place: bytes, key: AESGCM, epoch: int, nonce: bytes) -> bytes:
    return bytes((FORMAT,)) + epoch.to_bytes(4, "big") + nonce + key.encrypt(nonce, content, place)


def open_sealed(line: SealedLine, *, key: AESGCM) -> str:
    """The line's text. Raises: Tampered, naming the line, if anything about it or its place was altered."""
    sealed = line.sealed
    if len(sealed) < _BODY + _TAG_BYTES or sealed[0] != FORMAT:
        raise Tampered(f"line {line.id} is not a sealed envelope")
    if int.from_bytes(sealed[1:_HEADER_BYTES], "big") != line.epoch:
        raise Tampered(f"line {line.id} names another key epoch than its envelope")
    try:
        return key.decrypt(sealed[_HEADER_BYTES:_BODY], sealed[_BODY:], place(line, line.epoch)).decode()
    except (InvalidTag, UnicodeDecodeError):
        raise Tampered(f"line {line.id} does not open: its bytes or its place were altered") from None


SCALE_BYTES = 4
_MOST = 127


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
    return _envelope(pack(vector), _place(compartment, line_id, space), key, epoch, nonce)


def open_vector(
    sealed: bytes, compartment: Compartment, line_id: str, space: str, *, keys: Mapping[int, AESGCM]
) -> bytes:
    """The packed vector. Raises: Tampered, naming the line."""
    key = keys.get(int.from_bytes(sealed[1:_HEADER_BYTES], "big")) if sealed[:1] == bytes((FORMAT,)) else None
    try:
        if key is not None and len(sealed) > _BODY:
            place = _place(compartment, line_id, space)
            return key.decrypt(sealed[_HEADER_BYTES:_BODY], sealed[_BODY:], place)
    except InvalidTag:
        pass
    raise Tampered(f"the vector of line {line_id} does not open: its bytes or its place were altered")


def _place(compartment: Compartment, line_id: str, space: str) -> bytes:
    return frame("souvenance.vector.v1", *compartment, line_id, space)
