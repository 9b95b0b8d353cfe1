"""The stores of the scale benchmark: made once through a server, kept, and copied for each run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

from honcho_load import Failed, Plain
from scale_crowd import SESSIONS, Crowd
from scale_postgres import Cluster

_UNFINISHED = "-unfinished"
_BOOK = "souvenance.db*"
_COPIED = {
    "lines": ("owner", "id", "session", "about"),
    "terms": ("owner", "id", "session"),
    "packs": ("owner",),
    "vectors": ("owner", "id"),
    "citations": ("owner", "id", "source"),
    "compartment_keys": ("owner",),
    "entries": ("name", "uid"),
    "memberships": ("holder", "held"),
}
"""The tables that grow with the owners, and their columns that name an owner, a line or a session."""


class Place(NamedTuple):
    """A data folder, and the address of the database that goes with it, if there is one."""

    home: Path
    database: str | None = None


class Stores(Protocol):
    """Stores of one kind, by name."""

    kind: str

    @property
    def pid(self) -> int | None:
        """The database's server, if it has one."""
        ...

    def build(self, crowd: Crowd, embedder: str) -> str:
        """The name of the kept store that holds the crowd, which is made if it is not there."""
        ...

    def place(self, name: str) -> Place: ...

    def copy(self, name: str, to: str) -> None: ...

    def drop(self, name: str) -> None: ...

    def close(self) -> None: ...


class SqliteStores:
    """Files, filled through a server."""

    kind = "SQLite"
    pid = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def build(self, crowd: Crowd, embedder: str) -> str:
        name = _name(crowd)
        if not self._path(name).exists():
            making = name + _UNFINISHED
            self.drop(making)
            server = Serving(self.place(making), embedder)
            try:
                _fill(server, crowd)
            finally:
                server.stop()
            self._path(making).rename(self._path(name))
        return name

    def place(self, name: str) -> Place:
        return Place(self._path(name))

    def copy(self, name: str, to: str) -> None:
        shutil.copytree(self._path(name), self._path(to))

    def drop(self, name: str) -> None:
        shutil.rmtree(self._path(name), ignore_errors=True)

    def close(self) -> None:
        """Files need no server."""

    def _path(self, name: str) -> Path:
        return self._folder / f"sqlite-{name}"


class PostgresStores:
    """Databases, to which the files were moved by `souvenance migrate`."""

    kind = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._files = SqliteStores(folder)
        self._homes = folder / "postgres-homes"
        self._homes.mkdir(parents=True, exist_ok=True)
        self._cluster = Cluster(folder / "postgres")
        self._cluster.start()

    @property
    def pid(self) -> int | None:
        return self._cluster.pid

    def build(self, crowd: Crowd, embedder: str) -> str:
        """What is kept was vacuumed and analysed, as PostgreSQL does by itself after a while."""
        name = _name(crowd)
        if crowd.others:
            return self._among_others(name, crowd, embedder)
        if not (self._homes / name).exists():
            files = self._files.place(self._files.build(crowd, embedder)).home
            making = name + _UNFINISHED
            self.drop(making)
            self.drop(name)
            self._cluster.run(f"CREATE DATABASE {_database(making)}")
            command = [sys.executable, "-m", "souvenance", "migrate", str(files)]
            subprocess.run([*command, self._cluster.url(_database(making))], check=True, stdout=sys.stderr)
            self._cluster.run("VACUUM ANALYZE", _database(making))
            self._cluster.run(f"ALTER DATABASE {_database(making)} RENAME TO {_database(name)}")
            shutil.copytree(files, self._homes / name, ignore=shutil.ignore_patterns(_BOOK))
        return name

    def _among_others(self, name: str, crowd: Crowd, embedder: str) -> str:
        """The crowd's store, with its rows once more under names of others whom nobody asks."""
        if not (self._homes / name).exists():
            making = name + _UNFINISHED
            self.drop(making)
            self.drop(name)
            self.copy(self.build(replace(crowd, others=0), embedder), making)
            for table, named in _COPIED.items():
                self._cluster.run(_multiplying(table, named, crowd.copies), _database(making))
            self._cluster.run("VACUUM ANALYZE", _database(making))
            self._cluster.run(f"ALTER DATABASE {_database(making)} RENAME TO {_database(name)}")
            (self._homes / making).rename(self._homes / name)
        return name

    def place(self, name: str) -> Place:
        return Place(self._homes / name, self._cluster.url(_database(name)))

    def copy(self, name: str, to: str) -> None:
        copying = f"CREATE DATABASE {_database(to)} TEMPLATE {_database(name)} STRATEGY FILE_COPY"
        self._cluster.run(copying)
        shutil.copytree(self._homes / name, self._homes / to)

    def drop(self, name: str) -> None:
        self._cluster.drop(_database(name))
        shutil.rmtree(self._homes / name, ignore_errors=True)

    def close(self) -> None:
        self._cluster.stop()


def _name(crowd: Crowd) -> str:
    size = "" if crowd.sessions == SESSIONS else f"-of-{crowd.sessions}"
    others = f"-among-{crowd.others}" if crowd.others else ""
    return f"{crowd.owners}{size}{'-apart' if crowd.apart else ''}{others}"


def _database(name: str) -> str:
    return f"scale_{name.replace('-', '_')}"


class Serving:
    """A `souvenance serve` in a process of its own."""

    def __init__(self, place: Place, embedder: str) -> None:
        settings = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000", "SOUVENANCE_EMBEDDER": embedder}
        if place.database is not None:
            settings["SOUVENANCE_STORE"] = place.database
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
        command = [sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", str(place.home)]
        place.home.mkdir(parents=True, exist_ok=True)
        with (place.home / "serve.log").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env={**kept, **settings}
            )
        assert self._process.stdout is not None
        found = re.search(r"http://\S+", self._process.stdout.readline())
        if found is None:
            raise Failed(f"souvenance did not start: {(place.home / 'serve.log').read_text('utf-8')}")
        self.base_url = found.group()
        self.pid = self._process.pid
        self.key = (place.home / "owner.cap").read_text(encoding="ascii").strip()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        if self._process.stdout is not None:
            self._process.stdout.close()


def _fill(server: Serving, crowd: Crowd) -> None:
    began = time.perf_counter()

    def tell(stored: int) -> None:
        shown = sys.stderr.isatty()
        if shown or stored % 50_000 == 0:
            rate = stored / (time.perf_counter() - began)
            told = f"stored {stored} of {crowd.lines} lines, {rate:.0f} a second "
            print(told, end="\r" if shown else "\n", file=sys.stderr, flush=True)

    with closing(Plain(server.base_url, server.key)) as client:
        fill(client, crowd, tell)


def fill(client: Plain, crowd: Crowd, tell: Callable[[int], None] | None = None, first: int = 0) -> None:
    """Store the memory of the crowd's owners from that one on, one after the other.

    Raises: Failed.
    """
    stored = 0
    for owner in range(first, crowd.owners):
        if crowd.apart or owner == first:
            crowd.open(client, owner)
        for body in crowd.bodies(owner):
            client.call("POST", body.path, body.content)
            stored += body.lines
        if tell is not None:
            tell(stored)


def _multiplying(table: str, named: Sequence[str], copies: int) -> str:
    """What stores each row of a table so many times more, with other names."""
    changed = ", ".join(f"'{column}', kept.{column} || '-' || copy" for column in named)
    copied = "WHERE kept.kind <> 'workspace'" if table == "entries" else ""
    return (
        f"INSERT INTO {table} SELECT other.* FROM {table} AS kept, generate_series(1, {copies}) AS copy, "
        f"LATERAL jsonb_populate_record(kept, jsonb_build_object({changed})) AS other {copied}"
    )
