"""How a demo is played: its steps, a folder and a server in a process of its own, and checks from outside.

No call waits without an end. A refusal counts only with its code. Nothing of the caller's
SOUVENANCE_ settings reaches the processes.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple, Self, TypeVar

import msgspec

from souvenance.decoders import settled
from souvenance.surfaces.cli.session import NOTHING_SERVES
from souvenance.surfaces.http.openapi import Error

DATABASE = "souvenance.db"
PATIENCE_SECONDS = 60.0
_URL = re.compile(rb"http://127\.0\.0\.1:(\d+)")
_NOT_PASSED_ON = re.compile(r"_?SOUVENANCE_|(https?|all|no)_proxy$", re.IGNORECASE)
OK, SKIP, FAIL = "ok", "skip", "FAIL"
_Stage = TypeVar("_Stage")


class CheckFailed(Exception):
    """A step saw something else than it must."""


class CheckSkipped(Exception):
    """A step can't be played here, for a reason that is nobody's fault."""


class Ran(NamedTuple):
    """How a process of the command line ended."""

    exit_code: int
    out: str
    err: str


class Response(NamedTuple):
    """An HTTP answer as it came over the wire; the date apart, which alone may differ."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def expect(holds: bool, seen: str) -> None:
    if not holds:
        raise CheckFailed(seen)


def printed(ran: Ran) -> Any:
    """The JSON that a command printed."""
    expect(ran.exit_code == 0, f"exit {ran.exit_code}: {ran.err or ran.out}")
    return msgspec.json.decode(ran.out)


def complained(ran: Ran, *, exit_code: int, code: str) -> str:
    """The refusal that a command ended with, in words."""
    expect(
        ran.exit_code == exit_code and _code(ran.err.encode()) == code,
        f"wanted exit {exit_code} {code}, saw exit {ran.exit_code}: {ran.err or ran.out}",
    )
    return f"exit {exit_code} {code}"


def answered(response: Response) -> Any:
    """The JSON of an answer that is no refusal."""
    expect(response.status == 200, f"wanted 200, saw {response.status}: {_shortened(response.body)}")
    return msgspec.json.decode(response.body)


def refused(response: Response, *, status: int, code: str) -> str:
    """The refusal that an answer is, in words."""
    expect(
        response.status == status and _code(response.body) == code,
        f"wanted {status} {code}, saw {response.status}: {_shortened(response.body)}",
    )
    return f"{status} {code}"


def same(one: Response, other: Response) -> None:
    expect(one == other, f"the two answers differ: {one} and {other}")


def _code(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=settled(Error)).error
    except msgspec.MsgspecError:
        return None


def _shortened(body: bytes) -> str:
    return body[:300].decode(errors="replace")


@dataclass(frozen=True, slots=True)
class DemoStep(Generic[_Stage]):
    """A step tells what it saw, or raises. It is skipped if one that it needs was not ok."""

    id: str
    perform: Callable[[_Stage], str]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoResult:
    id: str
    outcome: str
    seen: str

    @property
    def line(self) -> str:
        return f"{self.outcome:<5}{self.id:<10} {' '.join(self.seen.split())}"


def play(steps: Iterable[DemoStep[_Stage]], stage: _Stage) -> Iterator[DemoResult]:
    done: set[str] = set()
    for step in steps:
        result = _played(step, stage, done)
        if result.outcome == OK:
            done.add(step.id)
        yield result


def summary(results: Iterable[DemoResult]) -> dict[str, int]:
    outcomes = [result.outcome for result in results]
    return {"ok": outcomes.count(OK), "skipped": outcomes.count(SKIP), "failed": outcomes.count(FAIL)}


def succeeded(results: Iterable[DemoResult]) -> bool:
    return all(result.outcome == OK for result in results)


def outcome_line(results: Iterable[DemoResult]) -> str:
    return "{ok} ok, {skipped} skipped, {failed} failed".format(**summary(results))


def _played(step: DemoStep[_Stage], stage: _Stage, done: set[str]) -> DemoResult:
    if missing := [name for name in step.needs if name not in done]:
        return DemoResult(step.id, SKIP, f"needs {', '.join(missing)}")
    try:
        return DemoResult(step.id, OK, step.perform(stage))
    except CheckSkipped as why:
        return DemoResult(step.id, SKIP, str(why))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a step, the step has failed
        return DemoResult(step.id, FAIL, str(error) or type(error).__name__)


class Stage:
    def __init__(self, folder: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.port = 0
        self.caps: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self._server: subprocess.Popen[bytes] | None = None
        self._patience = patience

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
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
        """Start the server on a free port. Raises: CheckSkipped if it is not installed; CheckFailed."""
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
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        contents = ((path, path.read_bytes().lower()) for path in files)
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


def _command(*arguments: str) -> list[str]:
    """-P: what lies in the current folder is not ours to run."""
    return [sys.executable, "-P", "-m", "souvenance", *arguments]


def _environment(home: Path, cap: str | None = None) -> dict[str, str]:
    passed = {name: value for name, value in os.environ.items() if not _NOT_PASSED_ON.match(name)}
    passed |= {"SOUVENANCE_HOME": str(home), "PYTHONUTF8": "1"}
    return passed if cap is None else {**passed, "SOUVENANCE_CAP": cap}
