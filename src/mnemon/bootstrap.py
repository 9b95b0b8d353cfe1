"""The composition root: the one place that knows every part."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mnemon.adapters.crypto.keyfiles import ROOT_FILE, KeyFiles
from mnemon.adapters.files import exists, locked, make_private_folder, read_private, write_private
from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.sql.sqlite import SqliteEngine
from mnemon.adapters.system import SystemClock, SystemEntropy
from mnemon.config import Settings, settings_from
from mnemon.core.desk import Tools
from mnemon.core.vault import Vault
from mnemon.domain import cap, ulid
from mnemon.domain.cap import HolderKey
from mnemon.errors import Misconfigured, MnemonError
from mnemon.gate.caps import owner_claims
from mnemon.gate.gate import Gate
from mnemon.ports.book import Transaction
from mnemon.ports.index import Hit, Index, Question

_DAY = 24 * 3600
_OWNER_TTL = 365 * _DAY
_RENEW_BEFORE = 30 * _DAY


@dataclass(frozen=True, slots=True)
class House:
    """An open data folder: its gate, and the cap of its owner."""

    gate: Gate
    owner_cap: str
    settings: Settings
    made: bool
    _book: SqlBook

    def close(self) -> None:
        self._book.close()


def open_house(settings: Settings, *, renew_owner_cap: bool = False) -> House:
    """Open the data folder, and make whatever of it is missing.

    Raises: MnemonError.
    """
    home = settings.home
    make_private_folder(home)
    made = not exists(settings.book)
    if not made and not exists(home / ROOT_FILE):
        raise Misconfigured(
            f"{home / ROOT_FILE} is missing, and without it the lines of this store can't be opened",
            hint="Restore root.key from a backup.",
        )
    keyring = KeyFiles.create(home)
    _keep_private(settings.book)
    book = SqlBook(SqliteEngine(settings.book))
    entropy = SystemEntropy()
    tools = Tools(Vault(keyring, entropy), IndexWhenAsked(), entropy, settings.limits)
    gate = Gate(book=book, keyring=keyring, clock=SystemClock(), tools=tools)
    if book.scrub_pending():
        book.scrub()
    return House(gate, _owner_cap(settings.owner_cap, keyring, renew_owner_cap), settings, made, book)


class IndexWhenAsked:
    """The index, loaded with the first search: numpy costs a process that only writes too much."""

    def __init__(self) -> None:
        self._index: Index | None = None

    def search(
        self,
        tx: Transaction,
        questions: Sequence[Question],
        k: int,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        if self._index is None:
            from mnemon.adapters.index.bm25 import Bm25Index

            self._index = Bm25Index()
        return self._index.search(tx, questions, k, within)

    def forget(self) -> None:
        if self._index is not None:
            self._index.forget()


def _keep_private(path: Path) -> None:
    """Make the database file before SQLite does, so that it and the files beside it are the owner's alone."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        return  # SQLite says why it can't be opened, in terms that the engine translates.


def _owner_cap(path: Path, keyring: KeyFiles, renew: bool) -> str:
    """The cap in the file, or a new one if that is missing, ends soon or was signed by an older key."""
    now = SystemClock().now()
    kid, key = keyring.signer()
    if exists(path) and not renew:
        token = read_private(path).strip()
        try:
            claims = cap.authenticate(token, keys=keyring.issuers(kid), audience=keyring.instance).blocks[0]
            if cap.key_id(token) == kid and claims.exp > now // 1000 + _RENEW_BEFORE:
                return token
        except MnemonError:
            pass  # Not a cap of this installation: replaced below.
    secret = Ed25519PrivateKey.generate()
    claims = owner_claims(
        instance=keyring.instance,
        jti=ulid.compose(now, SystemEntropy().take(ulid.ENTROPY_BYTES)),
        now=now // 1000,
        exp=now // 1000 + _OWNER_TTL,
        holder=HolderKey.of(secret.public_key()),
    )
    token = cap.bearer(cap.sign(claims, key=key, kid=kid), secret)
    with locked(path.parent):
        write_private(path, token + "\n")
    return token


def main() -> None:
    """The command line."""
    from mnemon.surfaces.cli.main import run

    sys.exit(run(open_house, settings_from))
