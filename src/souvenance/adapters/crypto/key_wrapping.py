"""How a root key wraps another key.

wrapped = 0x01 | id of the root key (8 bytes) | nonce (12) | AES-256-GCM ciphertext and tag
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from souvenance.domain.seal import NONCE_BYTES
from souvenance.errors import Tampered, WrongKey

FORMAT = 1
ROOT_ID_BYTES = 8
_BODY = 1 + ROOT_ID_BYTES + NONCE_BYTES


def wrap(key: bytes, *, root_id: bytes, root: bytes, context: bytes, nonce: bytes) -> bytes:
    return bytes((FORMAT,)) + root_id + nonce + AESGCM(root).encrypt(nonce, key, context)


def root_id_of(wrapped: bytes) -> bytes:
    """Raises: Tampered."""
    if len(wrapped) <= _BODY or wrapped[0] != FORMAT:
        raise Tampered("a wrapped key is not a wrapped key any more")
    return wrapped[1 : 1 + ROOT_ID_BYTES]


def unwrap(wrapped: bytes, *, root: bytes, context: bytes) -> bytes:
    """Raises: WrongKey."""
    try:
        return AESGCM(root).decrypt(wrapped[_BODY - NONCE_BYTES : _BODY], wrapped[_BODY:], context)
    except InvalidTag:
        raise WrongKey("a wrapped key does not open: it was altered, or is of another store") from None
