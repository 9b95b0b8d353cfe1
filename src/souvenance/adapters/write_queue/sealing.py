"""How letters are sealed: what a lane is called where anybody may look, and the envelope of a letter.

    envelope = 0x01 | nonce (12) | AES-256-GCM ciphertext and tag

A letter's id and lane are bound to its envelope; a lane's name is blinded with the key.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING

from souvenance.domain.encoding import frame
from souvenance.errors import Tampered

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_FORMAT = b"\x01"
_NONCE_BYTES = 12
_LANE_BYTES = 16


class Seal:
    """Seals with one key; the cipher is loaded when something is sealed or opened."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher: AESGCM | None = None

    @property
    def check(self) -> bytes:
        """What tells the key, and does not give it away."""
        return blake2b(b"outbox 1", key=self._key, person=b"souvenance check").digest()

    def blinded(self, lane: str) -> bytes:
        name = lane.encode("utf-8", "surrogatepass")
        return blake2b(name, key=self._key, digest_size=_LANE_BYTES, person=b"souvenance lane").digest()

    def sealed(self, letter_id: str, lane: bytes, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return _FORMAT + nonce + self._sealer().encrypt(nonce, content, _bound(letter_id, lane))

    def opened(self, letter_id: str, lane: bytes, sealed: bytes) -> bytes:
        """Raises: Tampered."""
        from cryptography.exceptions import InvalidTag

        body = len(_FORMAT) + _NONCE_BYTES
        try:
            if sealed[:1] != _FORMAT:
                raise Tampered(f"letter {letter_id} is not a sealed envelope")
            return self._sealer().decrypt(sealed[1:body], sealed[body:], _bound(letter_id, lane))
        except (InvalidTag, TypeError, ValueError):
            raise Tampered(f"letter {letter_id} does not open: it was altered") from None

    def _sealer(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self._cipher is None:
            self._cipher = AESGCM(self._key)
        return self._cipher


def _bound(letter_id: str, lane: bytes) -> bytes:
    """What is sealed with a letter, so that its envelope opens nowhere else."""
    return frame("souvenance.outbox.v1", letter_id, lane)
