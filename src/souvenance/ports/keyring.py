"""The keyring: the root key that wraps all others, and the key that signs caps.

Contract. Keys never leave the keyring; a file, an environment variable or a KMS may stand
behind it. `unwrap` accepts what any root key still held has wrapped. `issuers` is every public
key whose caps are to be believed, by key id. All of it reflects a rotation that another process
made: nothing is wrapped or signed by a key that was replaced before the call.
Rotation is safe to interrupt: a new root key is kept beside the old one until
`retire_old_roots` says that nothing is wrapped by the old one any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class Keyring(Protocol):
    instance: str
    """The name of this installation: issuer and audience of its caps."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """The key, sealed under the current root key and bound to the context."""

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Raises: WrongKey, Tampered."""

    def add_root(self) -> None:
        """Make a new root key current and keep the old ones for unwrapping."""

    def retire_old_roots(self) -> None:
        """Destroy the root keys that were there before this keyring's `add_root`, and no others: another
        process may have begun a rotation of its own."""

    def signer(self) -> tuple[str, Ed25519PrivateKey]:
        """The key id and key that sign new caps."""

    def issuers(self, kid: str) -> Mapping[str, Ed25519PublicKey]:
        """The trusted keys, looked up anew when `kid` is not among those known."""

    def rotate_signer(self) -> str:
        """Make a new signing key current; caps of the old one stay valid until it is revoked."""
