"""Small disks, and folders that can be read but not written."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reference.index import ReferenceIndex
from reference.text import PLAIN
from souvenance import open_installation, settings_from
from souvenance.adapters.document_reader import Documents
from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.adapters.webhook_sender import HttpWebhookSender
from souvenance.adapters.word_tables import TokenCounter
from souvenance.core.request_context import Services
from souvenance.core.vault import Vault
from souvenance.gate.gate import Gate
from surfaces.door import souvenance

NOBODY = 65534


@dataclass
class SmallDisk:
    """A file system with little room, part of which can be freed."""

    home: Path
    filler: Path

    def open(self):
        installation = open_installation(settings_from({}, str(self.home)))
        return installation.gate, installation.close

    def free(self):
        self.filler.unlink()


class CappedEngine(SqliteEngine):
    """SQLite's own full disk: a file that may have only so many pages."""

    pages = 80

    def _connect(self):
        session = super()._connect()
        session.execute(f"PRAGMA max_page_count = {self.pages}")
        return session

    def cap(self, pages):
        self.pages = pages
        for session in (self._anchor, *self._idle):
            session.execute(f"PRAGMA max_page_count = {pages}")


@dataclass
class CappedStore:
    """A book that is full when its file has so many pages."""

    home: Path
    engine: CappedEngine | None = None

    def open(self):
        self.engine = CappedEngine(self.home / "souvenance.db")
        store, entropy, keyring = SqlStore(self.engine), SystemEntropy(), KeyFiles.create(self.home)
        services = Services(
            vault=Vault(keyring, entropy),
            index=ReferenceIndex(),
            entropy=entropy,
            tokenizer=TokenCounter(),
            reader=Documents(),
            webhook_sender=HttpWebhookSender(),
            **PLAIN,
        )
        return Gate(store=store, keyring=keyring, clock=SystemClock(), services=services), store.close

    def free(self):
        self.engine.cap(100_000)


def mounted(folder: Path) -> bool:
    asked = ["mount", "-t", "tmpfs", "-o", "size=2048k", "tmpfs", str(folder)]
    return subprocess.run(asked, capture_output=True).returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 2 MiB where mounting is allowed, else a book that may not grow."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if mounted(disk):
        try:
            filler = disk / "filler"
            filler.write_bytes(bytes(1024 * 1024))
            souvenance("init", home=disk / "home")
            yield SmallDisk(disk / "home", filler)
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)
    else:
        yield _capped(tmp_path)


@pytest.fixture
def capped_store(tmp_path):
    return _capped(tmp_path)


def _capped(folder):
    souvenance("init", home=folder / "home")
    return CappedStore(folder / "home")


@pytest.fixture
def reader():
    """A user who is not root, and a folder of theirs. Root may write everywhere and would prove nothing."""
    user = NOBODY if os.getuid() == 0 else None
    with TemporaryDirectory() as folder:
        if user is not None:
            os.chown(folder, user, user)
        yield user, Path(folder) / "home"
        for path in (Path(folder) / "home", *(Path(folder) / "home").glob("*")):
            path.chmod(0o700)
