"""The vault: a compartment's keys, unwrapped for use and made when the compartment is first written to.

What is cached is only the unwrapping of a row that the store gave in this very transaction, so a
key whose compartment was forgotten, or whose creation was rolled back, can never be used from memory.
The caps of sign-ins are sealed under the root key, each bound to the place that it lies in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from hmac import compare_digest
from itertools import groupby

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct
from msgspec.structs import replace

from souvenance.decoders import settled
from souvenance.domain import seal, sign_ins
from souvenance.domain.line import OpenLine, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import IntegrityError, Tampered
from souvenance.ports.clock import Entropy
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Transaction, WrappedKey

SEAL = "seal"
BLIND = "blind"
_MOST_CACHED = 4096


class CompartmentKeys(Struct, frozen=True):
    compartment: Compartment
    seals: dict[int, AESGCM]
    epoch: int
    blind: bytes

    def open(self, line: SealedLine) -> str:
        """Raises: Tampered."""
        key = self.seals.get(line.epoch)
        if key is None:
            raise Tampered(f"line {line.id} names a key epoch that its compartment never had")
        return seal.open_sealed(line, key=key)

    def open_vector(self, line_id: str, sealed: bytes, space: str) -> bytes:
        """The packed vector. Raises: Tampered."""
        return seal.open_vector(sealed, self.compartment, line_id, space, keys=self.seals)


class Vault:
    def __init__(self, keyring: Keyring, entropy: Entropy) -> None:
        self._keyring = keyring
        self._entropy = entropy
        self._latest: tuple[list[WrappedKey], CompartmentKeys] | None = None
        self._open = lru_cache(_MOST_CACHED)(lambda key, kind: kind(self._unwrapped(key)))

    def compartments(
        self, tx: Transaction, workspace: str, owner: str, namespaces: Collection[str] | None
    ) -> dict[str, CompartmentKeys]:
        """The keys of the owner's compartments, by namespace. Raises: WrongKey, Tampered."""
        found = tx.keys.of(workspace, owner, namespaces)
        compartments = {
            compartment.namespace: self._compartment_keys(compartment, list(keys))
            for compartment, keys in groupby(found, key=lambda key: key.compartment)
        }
        for namespace in tx.lines.namespaces(workspace, owner):
            if namespace not in compartments and (namespaces is None or namespace in namespaces):
                raise _lost(owner, namespace)
        return compartments

    def known(self, tx: Transaction, compartment: Compartment) -> CompartmentKeys | None:
        """The keys of the compartment, if it exists. Raises: WrongKey, Tampered."""
        found = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
        return self._compartment_keys(compartment, found) if found else None

    def held(self, tx: Transaction, compartment: Compartment) -> CompartmentKeys:
        """The keys of a compartment that has lines. Raises: WrongKey, Tampered."""
        if (keys := self.known(tx, compartment)) is None:
            raise _lost(compartment.owner, compartment.namespace)
        return keys

    def left(self, tx: Transaction, compartment: Compartment) -> CompartmentKeys | None:
        """The keys of the compartment; None if it does not exist, or they are lost, and with them what it
        holds."""
        try:
            return self.known(tx, compartment)
        except IntegrityError:
            return None

    def compartment(self, tx: Transaction, compartment: Compartment) -> CompartmentKeys:
        """The keys of a compartment, which is made if it does not exist."""
        found = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
        latest = self._latest
        if latest is not None and latest[0] is found:  # The very same rows, as nobody has written since.
            return latest[1]
        if not found:
            epoch = tx.keys.next_epoch(compartment.workspace)
            return self._compartment_keys(
                compartment, [self._make(tx, compartment, purpose, epoch) for purpose in (BLIND, SEAL)]
            )
        keys = self._compartment_keys(compartment, found)
        self._latest = (found, keys)
        return keys

    def add_epoch(self, tx: Transaction, compartment: Compartment) -> None:
        """From now on, seal the compartment's new lines with a new key."""
        self._make(tx, compartment, SEAL, tx.keys.next_epoch(compartment.workspace))

    def rewrap(self, tx: Transaction, key: WrappedKey) -> None:
        """Wrap a key again, under the root key that is current now."""
        context = seal.key_place(key.compartment, key.purpose, key.epoch)
        tx.keys.rewrap(key._replace(wrapped=self._keyring.wrap(self._unwrapped(key), context)))

    def check(self, key: WrappedKey) -> None:
        """Raises: WrongKey, Tampered if the key does not open."""
        self._unwrapped(key)

    def same(self, one: WrappedKey, other: WrappedKey) -> bool:
        """Whether both are the same key, however wrapped; not if either does not open."""
        try:
            return compare_digest(self._unwrapped(one), self._unwrapped(other))
        except IntegrityError:
            return False

    def _unwrapped(self, key: WrappedKey) -> bytes:
        return self._keyring.unwrap(key.wrapped, seal.key_place(key.compartment, key.purpose, key.epoch))

    def seal(self, line: OpenLine, keys: CompartmentKeys) -> bytes:
        nonce = self._entropy.take(seal.NONCE_BYTES)
        return seal.seal(line, key=keys.seals[keys.epoch], epoch=keys.epoch, nonce=nonce)

    def seal_vector(self, vector: bytes, line_id: str, space: str, keys: CompartmentKeys) -> bytes:
        key, nonce = keys.seals[keys.epoch], self._entropy.take(seal.NONCE_BYTES)
        return seal.seal_vector(
            vector, keys.compartment, line_id, space, key=key, epoch=keys.epoch, nonce=nonce
        )

    def forget(self) -> None:
        """Drop every key held in memory."""
        self._latest = None
        self._open.cache_clear()

    def _make(self, tx: Transaction, compartment: Compartment, purpose: str, epoch: int) -> WrappedKey:
        context = seal.key_place(compartment, purpose, epoch)
        wrapped = self._keyring.wrap(self._entropy.take(seal.KEY_BYTES), context)
        key = WrappedKey(compartment, purpose, epoch, wrapped)
        tx.keys.add(key)
        return key

    def _compartment_keys(self, compartment: Compartment, keys: Sequence[WrappedKey]) -> CompartmentKeys:
        seals = {key.epoch: self._open(key, AESGCM) for key in keys if key.purpose == SEAL}
        blinds = [self._open(key, bytes) for key in keys if key.purpose == BLIND]
        if not seals or not blinds:
            raise _lost(compartment.owner, compartment.namespace)
        return CompartmentKeys(compartment, seals, max(seals), blinds[-1])


def _lost(owner: str, namespace: str) -> Tampered:
    return Tampered(f"namespace {namespace!r} of {owner!r} has lost its keys")


def seal_grant(keyring: Keyring, signin_id: str, token: str) -> bytes:
    return keyring.wrap(token.encode(), sign_ins.grant_place(signin_id))


def open_grant(keyring: Keyring, signin: sign_ins.SignIn) -> str:
    """The cap that the sign-in's access tokens are made from. Raises: WrongKey, Tampered."""
    return keyring.unwrap(signin.sealed, sign_ins.grant_place(signin.id)).decode()


def seal_passkey(keyring: Keyring, hashed: bytes, passkey: sign_ins.Passkey) -> bytes:
    return keyring.wrap(msgspec.json.encode(passkey), sign_ins.session_place(hashed))


def open_passkey(keyring: Keyring, slip: sign_ins.Slip) -> sign_ins.Passkey:
    """Raises: WrongKey, Tampered."""
    content = keyring.unwrap(slip.content, sign_ins.session_place(slip.hash))
    return msgspec.json.decode(content, type=settled(sign_ins.Passkey))


def rewrap(tx: Transaction, keyring: Keyring) -> None:
    """Seal every sign-in and passkey again, under the root key that is current now. Browsers' sessions, which
    last hours, are dropped instead. Raises: WrongKey, Tampered."""
    for signin in tx.signins.every():
        tx.signins.reseal(signin.id, seal_grant(keyring, signin.id, open_grant(keyring, signin)))
    for slip in tx.signins.slips(sign_ins.PASSKEY):
        sealed = seal_passkey(keyring, slip.hash, open_passkey(keyring, slip))
        tx.signins.keep(replace(slip, content=sealed))
    for kind in (sign_ins.SESSION, sign_ins.PAGE_SESSION, sign_ins.LINK):
        tx.signins.drop_all(kind)
