"""Every store that a test asks for in a folder, in a database of its own instead; with S3, kept there too.

pytest --store postgres tests/surfaces
pytest --store postgres+s3 tests/surfaces

Whoever opens the file itself has the marker `embedded`, with the reason, and is skipped.
After each test on S3 the bucket must have what the book has, as `souvenance doctor --repair` sees it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from msgspec.structs import replace

import stores
from objects.mended import mending
from objects.seaweed import BUCKET, ROOT, Seaweed
from postgres import lasting
from postgres.lasting import LastingConnections
from postgres.server import Server
from souvenance import installation
from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.object_stores import open_objects
from souvenance.adapters.sql import postgres as in_postgres
from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.system_clock import SystemEntropy
from souvenance.config import Settings
from souvenance.core.request_context import Services
from souvenance.core.store_wrapper import mirrored
from souvenance.domain.embedding import AUTO
from souvenance.errors import Misconfigured, Tampered, WrongKey
from souvenance.gate.replication import RepairReport
from souvenance.ports.store import Store

OPEN_HOUSE = installation.open_installation


class Place(NamedTuple):
    """Where a store is, and where its lines are kept a second time."""

    database: str
    store: str
    objects: str | None


class Everywhere:
    """The servers of this run, and which database stands for which folder or file."""

    def __init__(self, kind: str) -> None:
        self._on_s3 = kind.endswith("s3")
        self._scratch = tempfile.TemporaryDirectory(prefix="souvenance-everywhere-")
        self._places: dict[Path, Place] = {}
        self._spare: list[str] = []
        self._attended: list[tuple[Path, Services]] = []

    @cached_property
    def _server(self) -> Server:
        return Server(Path(self._scratch.name))

    @cached_property
    def _template(self) -> str:
        name = self._server.create()
        SqlStore(LastingConnections(self._server.url(name), vectors=AUTO)).close()
        return name

    @cached_property
    def _seaweed(self) -> Seaweed:
        folder = Path(self._scratch.name) / "seaweed"
        folder.mkdir()
        server = Seaweed(folder)
        server.start()
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = ROOT
        return server

    def place(self, path: Path) -> Place:
        """Where the store of the data folder is, or of the file; a data folder's own file is the folder."""
        path = path.parent if path.name == Settings(path.parent).database.name else path
        if path not in self._places:
            name = self._spare.pop() if self._spare else self._server.create(self._template)
            objects = f"s3://{BUCKET}/{uuid4().hex}?endpoint={self._seaweed.url}" if self._on_s3 else None
            self._places[path] = Place(name, self._server.url(name), objects)
        return self._places[path]

    def settings_of(self, home: Path) -> dict[str, str]:
        place = self.place(home)
        objects = {} if place.objects is None else {"SOUVENANCE_OBJECTS": place.objects}
        return {"SOUVENANCE_STORE": place.store, **objects}

    def store(self, path: Path) -> Store:
        place = self.place(path)
        store = SqlStore(LastingConnections(place.store))
        objects = None if place.objects is None else open_objects(place.objects)
        return mirrored(store, SystemEntropy(), objects)

    def attend(self, path: Path, services: Services) -> None:
        if self._on_s3:
            self._attended.append((path, services))

    def open_installation(self, settings: Settings, **options: Any) -> installation.Installation:
        """The house of a data folder that names no database has its own."""
        return OPEN_HOUSE(self._moved(settings), **options)

    def _moved(self, settings: Settings) -> Settings:
        if settings.store is not None:
            return settings
        place = self.place(settings.home)
        return replace(settings, store=place.store, objects=settings.objects or place.objects)

    def leave(self, folder: Path) -> None:
        """Hold book and bucket against each other, and empty the databases of all that lies in the folder:
        the next stores are kept there.
        """
        left = {path: place for path, place in self._places.items() if path.is_relative_to(folder)}
        try:
            for path, mended in self._mended(left):
                assert mended == RepairReport(), f"{path}: book and bucket do not agree"
        finally:
            for path, place in left.items():
                self._server.disconnect(place.database, but=lasting.left(place.store))
                self._server.empty(place.database)
                self._spare.append(place.database)
                del self._places[path]

    def _mended(self, left: dict[Path, Place]) -> Iterator[tuple[Path, RepairReport]]:
        attended = [(path, services) for path, services in self._attended if path in left]
        self._attended = [one for one in self._attended if one[0] not in left]
        for path, services in attended:
            yield path, _mended_store(left[path], services)
        for path, place in left.items():
            if place.objects is not None and _can_be_opened(path):
                yield path, self._mended_installation(path)

    def _mended_installation(self, home: Path) -> RepairReport:
        installation = self.open_installation(Settings(home))
        try:
            return installation.repairer.repair()
        finally:
            installation.close()

    def close(self) -> None:
        """End the servers that were started."""
        started = self.__dict__
        if "_server" in started:
            self._server.remove()
        if "_seaweed" in started:
            self._seaweed.kill()
        self._scratch.cleanup()


def _can_be_opened(home: Path) -> bool:
    """Whether it is a data folder with all its keys, and its user's alone: a test may leave it otherwise."""
    try:
        KeyFiles(home)
    except Misconfigured:
        return False
    cap = Settings(home).owner_cap
    return not (cap.exists() and cap.stat().st_mode & 0o077)


def _mended_store(place: Place, services: Services) -> RepairReport:
    """By one connection for all of it: each that is new learns of every table first."""
    assert place.objects is not None
    store = SqlStore(LastingConnections(place.store))
    with mending(store, open_objects(place.objects), services) as mender:
        return mender.repair() if _has_its_keys(store, services) else RepairReport()


def _has_its_keys(store: Store, services: Services) -> bool:
    """Whether every key opens: of a room that a test left without one nothing can be told to a bucket."""
    try:
        with store.read() as tx:
            for key in tx.keys.every():
                services.vault.check(key)
    except (WrongKey, Tampered):
        return False
    return True


class Plugin:
    """What pytest calls while stores are elsewhere."""

    def __init__(self, kind: str) -> None:
        self._all = Everywhere(kind)
        stores.elsewhere = self._all
        installation.open_installation = self._all.open_installation
        in_postgres.PostgresEngine = LastingConnections  # type: ignore[misc]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers("embedded"):
                item.add_marker(pytest.mark.skip(reason=f"embedded: {mark.args[0]}"))

    @pytest.fixture
    def tmp_path(self, tmp_path: Path) -> Iterator[Path]:
        """The same, left when all that worked there has ended and the keys are still there."""
        yield tmp_path
        self._all.leave(tmp_path)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Leave what the tests of a file had in common."""
        yield
        if nextitem is None or nextitem.path != item.path:
            self._all.leave(Path("/"))

    def pytest_unconfigure(self) -> None:
        self._all.close()
