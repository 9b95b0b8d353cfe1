"""The caps of sign-ins at rest: sealed under the root key, each bound to the place that it lies in."""

from __future__ import annotations

from souvenance.domain.sign_ins import SESSION, SignIn, grant_place, session_place
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Transaction


def seal_grant(keyring: Keyring, signin_id: str, token: str) -> bytes:
    return keyring.wrap(token.encode(), grant_place(signin_id))


def open_grant(keyring: Keyring, signin: SignIn) -> str:
    """The cap that the sign-in's access tokens are made from.

    Raises: WrongKey, Tampered.
    """
    return keyring.unwrap(signin.sealed, grant_place(signin.id)).decode()


def seal_session(keyring: Keyring, hashed: bytes, token: str) -> bytes:
    return keyring.wrap(token.encode(), session_place(hashed))


def open_session(keyring: Keyring, hashed: bytes, sealed: bytes) -> str:
    """The cap that a person signed in with.

    Raises: WrongKey, Tampered.
    """
    return keyring.unwrap(sealed, session_place(hashed)).decode()


def rewrap(tx: Transaction, keyring: Keyring) -> int:
    """Seal every sign-in again, under the root key that is current now; how many there were.

    Browsers' sessions, which last minutes, are dropped instead.

    Raises: WrongKey, Tampered.
    """
    found = tx.signins.every()
    for signin in found:
        tx.signins.reseal(signin.id, seal_grant(keyring, signin.id, open_grant(keyring, signin)))
    tx.signins.drop_all(SESSION)
    return len(found)
