"""The demo's stage: a folder, a server in a process of its own, and ways to look at both from outside.

No call waits without an end. Nothing of the caller's SOUVENANCE_ settings reaches the processes.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import msgspec

from souvenance.surfaces.cli.demo.checks import CheckFailed, CheckSkipped, Ran, Response
from souvenance.surfaces.cli.session import NOTHING_SERVES

DATABASE = "souvenance.db"
PATIENCE_SECONDS = 60.0
_URL = re.compile(rb"http://127\.0\.0\.1:(\d+)")
_NOT_PASSED_ON = re.compile(r"_?SOUVENANCE_|(https?|all|no)_proxy$", re.IGNORECASE)


class Stage:
    def __init__(self, folder: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.port = 0
        self.caps: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self._server: subprocess.Popen[bytes] | None = None
        self._patience = patience

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is None:
            return
        self._server.terminate()
        try:
            self._server.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(PATIENCE_SECONDS)
        if self._server.stdout is not None:
            self._server.stdout.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        """Start the server on a free port, which it tells in its first line.

        Raises: Skipped, if there is nothing that could serve; Failed.
        """
        with open(self.folder / "server.log", "wb") as log:
            self._server = subprocess.Popen(  # noqa: S603 - our own command line
                _command("serve", "--port", "0"),
                env=_environment(self.home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        output = self._server.stdout
        if output is None or not select.select([output], [], [], self._patience)[0]:
            raise CheckFailed("the server said nothing")
        greeting = output.readline()
        found = _URL.search(greeting)
        if found is None:
            said = (self.folder / "server.log").read_text("utf-8")
            kind = CheckSkipped if NOTHING_SERVES in said else CheckFailed
            raise kind(f"the server did not start: {' '.join(said.split()) or 'it said nothing'}")
        self.port = int(found[1])

    def souvenance(self, *arguments: str, cap: str) -> Ran:
        """Run a command in a process of its own, which has no data folder and asks the server."""
        return self._run("--url", self.url, *arguments, environment=_environment(self.folder / "client", cap))

    def souvenance_on(self, home: Path, *arguments: str) -> Ran:
        """Run a command in a process of its own on a data folder, without a server."""
        return self._run(*arguments, environment=_environment(home))

    def ask(self, method: str, path: str, body: Any = None, *, cap: str) -> Response:
        """One bare HTTP request."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=self._patience)) as connection:
            content = None if body is None else msgspec.json.encode(body)
            connection.request(method, path, content, {"authorization": f"Bearer {cap}"})
            answer = connection.getresponse()
            headers = sorted((name.lower(), value) for name, value in answer.getheaders())
            kept = tuple(pair for pair in headers if pair[0] not in ("date", "x-request-id"))
            return Response(answer.status, kept, answer.read())

    def holding(self, needles: Iterable[bytes]) -> list[str]:
        """The files anywhere in the folder that hold one of the byte strings, whatever its case."""
        wanted = [needle.lower() for needle in needles]
        contents = ((path, path.read_bytes().lower()) for path in _files(self.folder))
        return [
            str(path.relative_to(self.folder))
            for path, content in contents
            if any(needle in content for needle in wanted)
        ]

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """A copy of the data folder, gone afterwards. The server is idle while it is made."""
        with TemporaryDirectory(dir=self.folder) as place:
            yield Path(shutil.copytree(self.home, Path(place) / "home"))

    def rows(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        """What the server's database holds, read past the server."""
        source = f"{(self.home / DATABASE).as_uri()}?mode=ro"
        with closing(sqlite3.connect(source, uri=True, timeout=self._patience)) as database:
            return database.execute(sql, values).fetchall()

    def _run(self, *arguments: str, environment: Mapping[str, str]) -> Ran:
        ended = subprocess.run(  # noqa: S603 - our own command line
            _command("--json", *arguments),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=self._patience,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def edit(home: Path, sql: str) -> int:
    """Change a data folder behind Souvenance's back; how many rows that met."""
    with closing(sqlite3.connect(home / DATABASE, timeout=PATIENCE_SECONDS)) as database, database:
        return database.execute(sql).rowcount


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _command(*arguments: str) -> list[str]:
    """-P: what lies in the current folder is not ours to run."""
    return [sys.executable, "-P", "-m", "souvenance", *arguments]


def _environment(home: Path, cap: str | None = None) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if not _NOT_PASSED_ON.match(name)}
    passed |= {"SOUVENANCE_HOME": str(home), "PYTHONUTF8": "1"}
    return passed if cap is None else {**passed, "SOUVENANCE_CAP": cap}
