"""What Souvenance does, as a story on a folder and a server in processes of their own, checked from outside.

    .venv/bin/python examples/story/story.py

It does not touch your own data folder and settings, and ends with 1 if a step fails. A step says what it saw:
in captured answers and in files, never in the program's own word. A refusal counts only with its code, and
beside a request like it that is granted. No call waits without an end. Nothing of the caller's SOUVENANCE_
settings reaches the processes.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, NamedTuple, Self, TypeVar

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.decoders import settled
from souvenance.domain import capability as caps
from souvenance.domain.capability import Claims
from souvenance.domain.encoding import unb64
from souvenance.surfaces.cli.session import fresh_ulid
from souvenance.surfaces.http.openapi import Error

DATABASE = "souvenance.db"
PATIENCE_SECONDS = 60.0
_NOTHING_SERVES = "the HTTP server is not installed"
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
            self._server = subprocess.Popen(
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
            kind = CheckSkipped if _NOTHING_SERVES in said else CheckFailed
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
        ended = subprocess.run(
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


TRIP = "trip to Chengdu, May 25–29"
ALLERGY = "allergic to penicillin"
QUESTION = "where am I going this weekend?"
_RARE_WORDS = ("Chengdu", "25–29", "allergic", "penicillin")
_GET = "/v1/memory/get"
_PIECE = 16


def serve(stage: Stage) -> str:
    stage.serve()
    health = answered(stage.ask("GET", "/health", cap=""))
    expect(health.get("status") == "ok", f"its health is {health}")
    owner = stage.home / "owner.cap"
    expect(owner.stat().st_mode & 0o777 == 0o600, "others can read owner.cap")
    stage.caps["owner"] = owner.read_text("utf-8").strip()
    return f"a server process answers at {stage.url}"


def learn(stage: Stage) -> str:
    stage.caps["alice"] = _minted(stage, ops="put,get,list,forget", namespaces="travel,personal")
    for name, text, namespace in (("trip", TRIP, "travel"), ("allergy", ALLERGY, "personal")):
        put = stage.souvenance("put", text, "-n", namespace, "--session", "1", cap=stage.caps["alice"])
        stage.lines[name] = printed(put)["id"]
    return "session 1 put a trip into travel and an allergy into personal, with its actor's own cap"


def pin(stage: Stage) -> str:
    answer = stage.souvenance("audit", "checkpoint", cap=stage.caps["owner"])
    size = printed(answer)["size"]
    (stage.folder / "checkpoint.json").write_text(answer.out, "utf-8")
    expect(size > 0, "the log is empty")
    return f"a checkpoint over {size} audit rows is saved outside the data folder"


def sealed(stage: Stage) -> str:
    where = stage.holding([stage.lines["trip"].encode()])
    expect(any(DATABASE in name for name in where), f"the line's id is in {where}: looked in the wrong place")
    found = stage.holding(text.encode() for text in (TRIP, ALLERGY, *_RARE_WORDS))
    expect(not found, f"readable in {found}")
    return f"{where[0]} holds the line's id; no file holds its sentence or a rare word of it"


def recall(stage: Stage) -> str:
    lines = printed(stage.souvenance("get", QUESTION, cap=stage.caps["alice"]))["lines"]
    found = [line["text"] for line in lines if line["id"] == stage.lines["trip"]]
    expect(found == [TRIP], f"it got {lines}")
    return f"a fresh process asked “{QUESTION}” and got “{found[0]}”"


def narrow(stage: Stage) -> str:
    stage.caps["travel"] = _minted(stage, ops="get", namespaces="travel")
    lines = printed(stage.souvenance("get", QUESTION, cap=stage.caps["travel"]))["lines"]
    expect([line["text"] for line in lines] == [TRIP], f"it got {lines}")
    return "a cap for travel alone gets the trip and nothing else"


def denied(stage: Stage) -> str:
    holds, empty = (
        stage.ask("POST", _GET, {"query": "allergic", "namespaces": [name]}, cap=stage.caps["travel"])
        for name in ("personal", "nothing-here")
    )
    seen = refused(holds, status=403, code="namespace_denied")
    same(holds, empty)
    allowed = answered(stage.ask("POST", _GET, {"namespaces": ["personal"]}, cap=stage.caps["alice"]))
    expect([line["text"] for line in allowed["lines"]] == [ALLERGY], f"its owner got {allowed}")
    return f"{seen} for the allergy, {len(holds.body)} bytes, the same for a namespace that holds nothing"


def data_class(stage: Stage) -> str:
    token = _minted(stage, "--data-class", "credentials", ops="get", namespaces="travel")
    seen = refused(
        stage.ask("POST", _GET, {"query": QUESTION}, cap=token), status=403, code="cap_data_class_mismatch"
    )
    return f"{seen} for a cap of data class credentials"


def attenuate(stage: Stage) -> str:
    made = stage.souvenance("cap", "attenuate", "--ttl", "5m", "--ops", "get", cap=stage.caps["travel"])
    child = printed(made)["cap"]
    answered(stage.ask("POST", _GET, {}, cap=child))
    wider = stage.souvenance("cap", "attenuate", "--namespaces", "travel,personal", cap=child)
    seen = complained(wider, exit_code=5, code="cap_scope_mismatch")
    return f"a narrower cap made offline works; a wider one can't be made: {seen}"


def forge(stage: Stage) -> str:
    honest = _forged(stage.caps["travel"], "travel")
    answered(stage.ask("POST", _GET, {"namespaces": ["travel"]}, cap=honest))
    wider = _forged(stage.caps["travel"], "travel", "personal")
    answer = stage.ask("POST", _GET, {"namespaces": ["personal"]}, cap=wider)
    seen = refused(answer, status=401, code="cap_sig_invalid")
    return f"{seen} for a wider block, forged by hand and signed with the right holder key"


def revoke(stage: Stage) -> str:
    parent = stage.caps["travel"]
    child = _forged(parent, "travel")
    for token in (parent, child):
        answered(stage.ask("POST", _GET, {}, cap=token))
    printed(stage.souvenance("cap", "revoke", parent, cap=stage.caps["owner"]))
    for token in (parent, child):
        seen = refused(stage.ask("POST", _GET, {}, cap=token), status=401, code="cap_revoked")
    return f"{seen} for a revoked cap and for the one made from it"


def audit(stage: Stage) -> str:
    checkpoint = stage.folder / "checkpoint.json"
    saved = msgspec.json.decode(checkpoint.read_bytes())["size"]
    verified = printed(
        stage.souvenance("audit", "verify", "--checkpoint", str(checkpoint), cap=stage.caps["owner"])
    )
    expect(verified["rows"] > saved, f"the checkpoint has {saved} rows, and it saw {verified}")
    return f"{verified['rows']} rows verify, and begin with the {saved} of the saved checkpoint"


def tamper(stage: Stage) -> str:
    checkpoint = str(stage.folder / "checkpoint.json")
    tampering = {
        "untouched": "",
        "edited": "UPDATE audit SET actor = 'mallory' WHERE seq = 1",
        "cut short": "DELETE FROM audit WHERE seq > 0",
    }
    seen = ""
    for name, sql in tampering.items():
        with stage.copied() as copy:
            expect(not sql or edit(copy, sql) > 0, f"there was no row to be {name}")
            verified = stage.souvenance_on(copy, "audit", "verify", "--checkpoint", checkpoint)
        if sql:
            seen = complained(verified, exit_code=10, code="broken_audit_chain")
        else:
            printed(verified)
    return f"an untouched copy verifies; one with a row edited, one cut short: {seen}"


def forget(stage: Stage) -> str:
    gone = stage.lines["allergy"]
    captured = [
        *stage.rows("SELECT sealed FROM lines WHERE id = ?", gone),
        *stage.rows("SELECT tokens FROM terms WHERE id = ?", gone),
    ]
    pieces = [blob[at : at + _PIECE] for (blob,) in captured for at in range(len(blob) - _PIECE + 1)]
    expect(bool(stage.holding(pieces)), "the sealed bytes are not where they should be before")
    printed(stage.souvenance("forget", gone, "--yes", cap=stage.caps["alice"]))
    seen = refused(
        stage.ask("GET", f"/v1/memory/lines/{gone}", cap=stage.caps["alice"]), status=404, code="not_found"
    )
    recalled = answered(stage.ask("POST", _GET, {"query": ALLERGY}, cap=stage.caps["alice"]))["lines"]
    expect([line["text"] for line in recalled] == [TRIP], f"a reader still got {recalled}")
    left = stage.holding(pieces)
    expect(not left, f"its bytes are still in {left}")
    size = sum(len(blob) for (blob,) in captured)
    return f"{seen} for the line; of the {size} bytes stored of it no file holds any"


STEPS = (
    DemoStep("serve", serve),
    DemoStep("learn", learn, ("serve",)),
    DemoStep("pin", pin, ("learn",)),
    DemoStep("sealed", sealed, ("learn",)),
    DemoStep("recall", recall, ("learn",)),
    DemoStep("narrow", narrow, ("learn",)),
    DemoStep("denied", denied, ("narrow",)),
    DemoStep("class", data_class, ("learn",)),
    DemoStep("attenuate", attenuate, ("narrow",)),
    DemoStep("forge", forge, ("narrow",)),
    DemoStep("revoke", revoke, ("narrow",)),
    DemoStep("audit", audit, ("pin",)),
    DemoStep("tamper", tamper, ("pin",)),
    DemoStep("forget", forget, ("learn",)),
)


def _minted(stage: Stage, *more: str, ops: str, namespaces: str) -> str:
    """A cap for alice, minted by the owner in a process of its own."""
    arguments = ("cap", "mint", "--sub", "alice", "--ops", ops, "--namespaces", namespaces, *more)
    token: str = printed(stage.souvenance(*arguments, cap=stage.caps["owner"]))["cap"]
    return token


def _forged(token: str, *namespaces: str) -> str:
    """A child of the cap as its holder could write it, with no program to refuse it."""
    *blocks, secret = token.split("~")
    parent: Claims = caps.read_unverified(token)[0][-1]
    claims = msgspec.structs.replace(parent, jti=fresh_ulid(), namespaces_allowed=namespaces)
    holder = Ed25519PrivateKey.from_private_bytes(unb64(secret))
    block = caps.sign(claims, key=holder, kid=parent.cnf.jwk.thumbprint())
    return "~".join((*blocks, block, secret))


@click.command()
@click.option("--keep", is_flag=True, help="Keep the temporary folder and print its path.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def story(keep: bool, as_json: bool) -> None:
    """Show what Souvenance does, in a temporary folder. Exits with 1 if a step fails."""
    folder = Path(tempfile.mkdtemp(prefix="souvenance-story-"))
    results = []
    try:
        with Stage(folder) as stage:
            for result in play(STEPS, stage):
                results.append(result)
                if not as_json:
                    click.echo(result.line)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    kept = {"folder": str(folder)} if keep else {}
    steps = [{"id": one.id, "outcome": one.outcome, "seen": one.seen} for one in results]
    if as_json:
        click.echo(msgspec.json.encode({"steps": steps, **summary(results), **kept}).decode())
    else:
        click.echo(f"kept in {folder}\n{outcome_line(results)}" if keep else outcome_line(results))
    sys.exit(0 if succeeded(results) else 1)


if __name__ == "__main__":
    story()
