"""Souvenance as its users meet it: a server in a process of its own, and the command line in another."""

from __future__ import annotations

import multiprocessing
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from multiprocessing import forkserver
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

import stores
from processes import PATIENCE_SECONDS, until
from souvenance.commands import main
from souvenance.surfaces import cli

EVERY_OP = ["put", "get", "list", "snapshot", "invalidate", "forget", "grant", "revoke", "audit"]
UNLISTED = {(404, "not_found"), (405, "method_not_allowed"), (403, "host_refused")}
"""How paths and methods that OpenAPI does not list may answer."""


class Finished(NamedTuple):
    exit_code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    def rows(self) -> list[Any]:
        return [msgspec.json.decode(line) for line in self.out.splitlines()]

    def complaint(self) -> dict[str, str]:
        return msgspec.json.decode(self.err)


def environment(**more: str) -> dict[str, str]:
    """This process's environment without any setting of Souvenance's, with the given ones.

    Unless one of them says otherwise search is by words alone, so that no answer depends on whether a vector
    is there already.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    return {**kept, "SOUVENANCE_EMBEDDER": "none", **more}


def ordinary_signals() -> None:
    """Make Ctrl-C work in the child, even if whoever runs the tests ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Running:
    """A command line at work in a process of its own."""

    def __init__(
        self,
        *arguments: str,
        home: Path,
        url: str | None = None,
        stdin: str | bytes = b"",
        settings: dict[str, str] | None = None,
        user: int | None = None,
        start: Any = None,
    ) -> None:
        known = {
            "SOUVENANCE_HOME": str(home),
            **stores.settings_of(home),
            **({"SOUVENANCE_URL": url} if url else {}),
            **(settings or {}),
        }
        self._folder = TemporaryDirectory()
        self._files = [Path(self._folder.name) / name for name in ("in", "out", "err")]
        for file in self._files:
            file.touch()
        self._files[0].write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        asked = (arguments, environment(**known), self._files, user, start)
        self._told_to_end = False
        self._process = self._begin(*asked)

    def _begin(self, *asked: Any) -> Any:
        return forked(*asked)

    def printed(self, lines: int) -> list[str]:
        """The first lines that it prints, as soon as there are so many, or it has ended with fewer."""
        until(lambda: self._out().count("\n") >= lines or not self._process.is_alive())
        return self._out().splitlines(keepends=True)[:lines]

    def complained(self, of: str) -> None:
        """Wait until it has said that where complaints go."""
        until(lambda: of in self._files[2].read_text())

    @property
    def ended_by_itself(self) -> bool:
        return not self._told_to_end and not self._process.is_alive()

    def send(self, what: signal.Signals) -> None:
        self._told_to_end = True
        if self._process.is_alive():
            os.kill(self._process.pid, what)

    def finish(self, exit_code: int | None = 0) -> Finished:
        """Wait for its end and, unless told otherwise, hold it to its exit code."""
        self._process.join(PATIENCE_SECONDS)
        in_time = not self._process.is_alive()
        if not in_time:
            self._process.kill()
            self._process.join()
        finished = Finished(self._process.exitcode, self._out(), self._files[2].read_text())
        self._process.close()
        self._folder.cleanup()
        assert in_time, finished
        assert exit_code is None or finished.exit_code == exit_code, finished
        return finished

    def _out(self) -> str:
        return self._files[1].read_text()


class Anew(Running):
    """A command line at work in an interpreter of its own, begun where and as the test's process is."""

    def _begin(self, arguments: tuple[str, ...], known: dict[str, str], files: list[Path], *_: None) -> Any:
        return _Interpreter(arguments, known, files)


class _Interpreter(subprocess.Popen[bytes]):
    """A new interpreter, asked as a process of multiprocessing is."""

    def __init__(self, arguments: tuple[str, ...], known: dict[str, str], files: list[Path]) -> None:
        with files[0].open("rb") as given, files[1].open("wb") as out, files[2].open("wb") as err:
            super().__init__(
                [sys.executable, "-m", "souvenance", *arguments],
                env=known,
                stdin=given,
                stdout=out,
                stderr=err,
                preexec_fn=ordinary_signals,
            )

    def is_alive(self) -> bool:
        return self.poll() is None

    def join(self, timeout: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout)

    @property
    def exitcode(self) -> int | None:
        return self.poll()

    def close(self) -> None:
        """Nothing is left to close of one that has ended."""


def at_once(*commands: tuple[str, ...], **more: Any) -> list[Finished]:
    """Run several command lines that all begin at the same moment."""
    start = FORKS.Barrier(len(commands))
    running = [Running(*command, start=start, **more) for command in commands]
    finished = [one.finish(None) for one in running]
    assert not any(one.exit_code for one in finished), finished
    return finished


def souvenance(*arguments: str, exit_code: int | None = 0, **more: Any) -> Finished:
    """Run the command line to its end."""
    return Running(*arguments, **more).finish(exit_code)


LOADED = (
    *(f"souvenance.surfaces.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)),
    "souvenance.installation",
    "souvenance.language.times.almanac",
    "souvenance.language.times.search",
    "souvenance.surfaces.http.client",
    "souvenance.surfaces.http.server",
    "souvenance.adapters.backup",
    "souvenance.adapters.importers",
    "souvenance.adapters.index.ranked",
    "souvenance.adapters.sql.terms",
    "souvenance.adapters.sql.directory",
    "souvenance.adapters.sql.postgres",
    "souvenance.adapters.word_tables",
    "souvenance.gate.worker",
    "souvenance.hermes.setup.commands",
    "souvenance.hermes_backends",
    "importlib.readers",
    "souvenance.surfaces.http.oauth.door",
    "souvenance.surfaces.mcp.door",
    "souvenance.surfaces.mcp.server",
    "mcp.server.streamable_http_manager",
    "certifi",
    "encodings.idna",
    "httpcore",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.auto",
    "click._termui_impl",
    "click._textwrap",
    "click.shell_completion",
    "difflib",
    "encodings.ascii",
    "filelock",
    "tomllib",
)
"""What a command or a server imports."""
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([*LOADED, "pytest", "surfaces.door", "surfaces.warm"])
"""A process that has loaded the package once and forks for every command: loading is most of the cost.
Every fork imports the program that the tests were started with, pytest, and this module.

It also lets a command run as a user who may not read this interpreter's files.
"""


@cache
def _start_forking() -> None:
    """Start that process where it finds the modules that this one does: Python 3.11 does not tell it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()


def forked(
    arguments: tuple[str, ...],
    known: dict[str, str],
    files: list[Path],
    user: int | None = None,
    start: Any = None,
) -> Any:
    """A process that runs the command line in that environment, with those files as its streams."""
    _start_forking()
    process = FORKS.Process(target=_command_line, args=(arguments, known, files, user, start))
    process.start()
    return process


def _command_line(
    arguments: tuple[str, ...], known: dict[str, str], files: list[Path], user: int | None, start: Any
) -> None:
    for descriptor, file in enumerate(files):
        os.dup2(os.open(file, os.O_WRONLY if descriptor else os.O_RDONLY), descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(known)
    time.tzset()
    sys.argv = ["souvenance", *arguments]
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    if start is not None:
        start.wait(PATIENCE_SECONDS)
    main()


class Description:
    """What a server tells of its operations."""

    def __init__(self, openapi: dict[str, Any]) -> None:
        self.openapi = openapi
        self._paths = [
            (re.compile(re.sub(r"\{\w+\}", "[^/]+", template)), methods)
            for template, methods in openapi["paths"].items()
        ]

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        for described, methods in self._paths:
            if method in methods and described.fullmatch(path):
                return methods[method]
        return None


DESCRIPTIONS: dict[tuple[str, ...], Description] = {}
"""By the settings of a server."""


@dataclass
class Server:
    """A running `souvenance serve`."""

    process: Running
    url: str
    home: Path
    greeting: list[str]
    settings: tuple[str, ...]
    _clients: list[httpx.Client] = field(default_factory=list)
    _stopped: Finished | None = None

    @property
    def owner_cap(self) -> str:
        return (self.home / "owner.cap").read_text().strip()

    @property
    def openapi(self) -> dict[str, Any]:
        return self._description.openapi

    @property
    def _description(self) -> Description:
        """Asked of one server of those settings: to tell it takes as much as to start."""
        if self.settings not in DESCRIPTIONS:
            told = httpx.get(
                f"{self.url}/openapi.json", trust_env=False, verify=False, timeout=PATIENCE_SECONDS
            )
            DESCRIPTIONS[self.settings] = Description(told.json())
        return DESCRIPTIONS[self.settings]

    def client(self, cap: str | None = None, **headers: str) -> httpx.Client:
        """A client whose every answer is held against what /openapi.json promises."""
        given = {} if cap is None else {"authorization": f"Bearer {cap}"}
        client = httpx.Client(
            base_url=self.url,
            headers={**given, **{name.replace("_", "-"): value for name, value in headers.items()}},
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=False,  # Reading every authority for a TLS that is never used costs more than a request.
            event_hooks={"response": [self._check_documented]},
        )
        self._clients.append(client)
        return client

    @cached_property
    def owner(self) -> httpx.Client:
        return self.client(self.owner_cap)

    def mint(
        self, sub: str, ops: list[str] | None = None, namespaces: list[str] | None = None, **more: Any
    ) -> str:
        asked = {"sub": sub, "ops": ops or EVERY_OP, "namespaces_allowed": namespaces or ["*"], **more}
        answer = self.owner.post("/v1/caps", json=asked)
        assert answer.status_code == 201, answer.text
        return answer.json()["cap"]

    def actor(
        self, sub: str, ops: list[str] | None = None, namespaces: list[str] | None = None
    ) -> httpx.Client:
        """A client with a cap of that actor; by default it may do everything to its own memory."""
        return self.client(self.mint(sub, ops, namespaces))

    def stop(self, how: signal.Signals = signal.SIGINT) -> Finished:
        """Ask the server to stop, if it has not, and say how it did."""
        if self._stopped is None:
            for client in self._clients:
                client.close()
            by_itself = self.process.ended_by_itself
            self.process.send(how)
            finished = self.process.finish(None)
            assert not by_itself, finished
            self._stopped = finished._replace(out=finished.out.removeprefix("".join(self.greeting)))
        return self._stopped

    def _check_documented(self, response: httpx.Response) -> None:
        response.read()
        method, path = response.request.method.lower(), response.request.url.path
        code = response.json().get("error") if response.status_code >= 400 else None
        operation = self._description.operation(method, path)
        if operation is None:
            assert (response.status_code, code) in UNLISTED or response.is_success, response.text
            return
        described = operation["responses"].get(str(response.status_code))
        told = f"{method} {path} answered {response.status_code} {code}, which OpenAPI does not list"
        assert described, told
        if code is not None:
            schema = described["content"]["application/json"]["schema"]
            assert "allOf" not in schema or code in schema["allOf"][1]["properties"]["error"]["enum"], told


@contextmanager
def serving(home: Path, *arguments: str, anew: bool = False, **settings: str) -> Iterator[Server]:
    """A server on a free port of this machine, stopped at the end whatever happened.

    It is forked from a process that has loaded the package, unless it is to begin anew as a user's does.
    """
    asked = ("serve", "--port", "0", "--home", str(home), *arguments)
    process = (Anew if anew else Running)(*asked, home=home, settings=settings)
    chats = bool(settings.get("SOUVENANCE_CHAT_BASE_URL"))
    greeting = process.printed(4 + ("--trust-loopback" in arguments) + chats)
    found = re.search(r"at (http://\S+)$", "".join(greeting[:1]))
    if found is None:
        process.send(signal.SIGKILL)
        raise AssertionError(process.finish(None))
    told = (*arguments, *(f"{name}={value}" for name, value in sorted(settings.items())))
    server = Server(process, found[1], home, greeting, told)
    try:
        yield server
    finally:
        server.stop()
