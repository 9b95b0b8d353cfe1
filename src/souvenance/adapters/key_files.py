"""The keyring in two files of the data folder, readable by their owner alone.

`root.key` holds the root keys, `signing.key` the signing keys and the installation's name. Both
are replaced atomically; a process that meets a key it does not know reads the file again. A root key wraps
another key so:

    wrapped = 0x01 | id of the root key (8 bytes) | nonce (12) | AES-256-GCM ciphertext and tag
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.private_files import is_unfinished, names_in, read_private, sweep, write_private
from souvenance.decoders import decoded
from souvenance.domain.capability import HolderKey
from souvenance.domain.encoding import b64, unb64
from souvenance.domain.seal import KEY_BYTES, NONCE_BYTES
from souvenance.errors import Misconfigured, Tampered, WrongKey
from souvenance.files import locked

FORMAT = 1
ROOT_ID_BYTES = 8
_BODY = 1 + ROOT_ID_BYTES + NONCE_BYTES


def wrap(key: bytes, *, root_id: bytes, root: bytes, context: bytes, nonce: bytes) -> bytes:
    return bytes((FORMAT,)) + root_id + nonce + AESGCM(root).encrypt(nonce, key, context)


def root_id_of(wrapped: bytes) -> bytes:
    """Raises: Tampered."""
    if len(wrapped) <= _BODY or wrapped[0] != FORMAT:
        raise Tampered("a wrapped key is damaged")
    return wrapped[1 : 1 + ROOT_ID_BYTES]


def unwrap(wrapped: bytes, *, root: bytes, context: bytes) -> bytes:
    """Raises: WrongKey."""
    try:
        return AESGCM(root).decrypt(wrapped[_BODY - NONCE_BYTES : _BODY], wrapped[_BODY:], context)
    except InvalidTag:
        raise WrongKey("a wrapped key does not open: it was altered, or belongs to another store") from None


ROOT_FILE = "root.key"
SIGNING_FILE = "signing.key"


class _KeyFile(Struct, frozen=True, omit_defaults=True):
    """What such a file says: its keys by their names, which of them is used now, and the installation."""

    current: str = ""
    keys: dict[str, str] = {}
    instance: str = ""


class KeyFiles:
    def __init__(self, home: Path) -> None:
        """Raises: Misconfigured if a file is missing, damaged or open to others."""
        self._root_path = home / ROOT_FILE
        self._signing_path = home / SIGNING_FILE
        self._retiring: set[str] = set()
        self._load_roots()
        self._load_signers()

    @classmethod
    def create(cls, home: Path) -> KeyFiles:
        """The keyring of a data folder, made on its first use."""
        names = set(names_in(home))
        if names >= {ROOT_FILE, SIGNING_FILE} and not any(map(is_unfinished, names)):
            return cls(home)  # As nearly always: nobody is held off.
        with locked(home):
            sweep(home)
            if not (home / ROOT_FILE).exists():
                write_private(home / ROOT_FILE, _encoded(_with_new_root(_KeyFile())))
            if not (home / SIGNING_FILE).exists():
                fresh = _KeyFile(instance=f"urn:souvenance:{os.urandom(8).hex()}")
                write_private(home / SIGNING_FILE, _encoded(_with_new_signer(fresh)))
        return cls(home)

    def wrap(self, key: bytes, context: bytes) -> bytes:
        if self._root_stamp != _stamp(self._root_path):
            self._load_roots()
        return wrap(
            key,
            root_id=self._current_root,
            root=self._roots[self._current_root],
            context=context,
            nonce=os.urandom(NONCE_BYTES),
        )

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        root_id = root_id_of(wrapped)
        if root_id not in self._roots:
            self._load_roots()
        if root_id not in self._roots:
            raise WrongKey("the store's keys were wrapped by a root key that is not here")
        return unwrap(wrapped, root=self._roots[root_id], context=context)

    def add_root(self) -> None:
        with locked(self._root_path.parent):
            content = _read(self._root_path)
            self._retiring |= set(content.keys)
            write_private(self._root_path, _encoded(_with_new_root(content)))
        self._load_roots()

    def retire_old_roots(self) -> None:
        with locked(self._root_path.parent):
            content = _read(self._root_path)
            kept = {name: key for name, key in content.keys.items() if name not in self._retiring}
            write_private(self._root_path, _encoded(replace(content, keys=kept)))
        self._retiring.clear()
        self._load_roots()

    def signer(self) -> tuple[str, Ed25519PrivateKey]:
        if self._signing_stamp != _stamp(self._signing_path):
            self._load_signers()
        return self._current_signer, self._signers[self._current_signer]

    def issuers(self, kid: str) -> Mapping[str, Ed25519PublicKey]:
        if kid not in self._issuers and self._signing_stamp != _stamp(self._signing_path):
            self._load_signers()
        return self._issuers

    def rotate_signer(self) -> str:
        with locked(self._signing_path.parent):
            write_private(self._signing_path, _encoded(_with_new_signer(_read(self._signing_path))))
        self._load_signers()
        return self._current_signer

    def _load_roots(self) -> None:
        self._root_stamp = _stamp(self._root_path)
        content = _read(self._root_path)
        try:
            self._roots = {bytes.fromhex(name): unb64(key) for name, key in content.keys.items()}
            self._current_root = bytes.fromhex(content.current)
        except ValueError:
            raise _damaged(self._root_path) from None
        sizes = {(len(name), len(key)) for name, key in self._roots.items()}
        if self._current_root not in self._roots or sizes != {(ROOT_ID_BYTES, KEY_BYTES)}:
            raise _damaged(self._root_path)

    def _load_signers(self) -> None:
        self._signing_stamp = _stamp(self._signing_path)
        content = _read(self._signing_path)
        try:
            self._signers = {
                kid: Ed25519PrivateKey.from_private_bytes(unb64(key)) for kid, key in content.keys.items()
            }
        except ValueError:
            raise _damaged(self._signing_path) from None
        if not content.instance or content.current not in self._signers:
            raise _damaged(self._signing_path)
        self.instance, self._current_signer = content.instance, content.current
        self._issuers = {kid: key.public_key() for kid, key in self._signers.items()}


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when the file is replaced."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _with_new_root(content: _KeyFile) -> _KeyFile:
    name = os.urandom(ROOT_ID_BYTES).hex()
    return replace(content, current=name, keys={**content.keys, name: b64(os.urandom(KEY_BYTES))})


def _with_new_signer(content: _KeyFile) -> _KeyFile:
    key = Ed25519PrivateKey.generate()
    kid = HolderKey.of(key.public_key()).thumbprint()
    return replace(content, current=kid, keys={**content.keys, kid: b64(key.private_bytes_raw())})


def _read(path: Path) -> _KeyFile:
    return decoded(read_private(path), _KeyFile, _damaged(path))


def _encoded(content: _KeyFile) -> str:
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def _damaged(path: Path) -> Misconfigured:
    return Misconfigured(
        f"{path.name} is damaged", hint="Restore it from a backup; without it nothing can be opened."
    )
