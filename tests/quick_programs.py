"""Programs for tests that start them often: each start is a fork of a process that has their modules loaded.

To load modules is most of what a short command takes. A command has the standard streams, the folder and the
environment of its caller. The caller gets its exit code and may ask it to end, and it ends when the caller is
killed. This file is also the program that forks; any interpreter runs it, so it needs nothing but the
standard library.
"""

from __future__ import annotations

import ast
import atexit
import fcntl
import gc
import gettext
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_PROGRAM = """#!{python} -IS
import json, os, signal, socket, sys

with socket.socket(socket.AF_UNIX) as wire:
    wire.connect({address!r})
    socket.send_fds(wire, [b"."], [0, 1, 2])
    asked = [{real!r}, {folder!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]
    wire.sendall(json.dumps(asked).encode() + b"\\n")
    command = int.from_bytes(wire.recv(4))
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda number, _: os.kill(command, number))
    code = wire.recv(1)
sys.exit(code[0] if code else 1)
"""
_PYTHON = """#!/bin/sh
case "$*" in
"-P -m souvenance "*) shift 3; exec "{folder}/souvenance" "$@" ;;
esac
exec "{python}" "$@"
"""


@contextmanager
def quick_programs(
    place: Path,
    real: Path,
    entries: Mapping[str, str],
    *,
    loaded: Sequence[str] = (),
    unread: str = "",
    prepared: str = "",
) -> Iterator[Path]:
    """The folder of programs that stand for those in the folder `real` and its Python, while they can be run.

    `entries` has the "module:function" of each name. `loaded` are modules to load before, but for those that
    read the variable `unread` of the environment while they are loaded: each command loads them itself.
    `prepared` is code that runs once then; what it makes, every command has.
    Callers that ask for the same place meanwhile, in any process, share the process that forks.
    """
    place.mkdir(exist_ok=True)
    with _locked(place):
        if not (place / "users").exists():
            _write(place, real, entries)
            command = [
                str(real / "python"),
                "-P",
                __file__,
                str(place),
                json.dumps(dict(entries)),
                unread,
                prepared,
            ]
            _start([*command, *loaded], place)
        user = os.open(place / "users", os.O_WRONLY)
    try:
        yield place / "bin"
    finally:
        os.close(user)


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(place: Path, real: Path, entries: Mapping[str, str]) -> None:
    folder = place / "bin"
    folder.mkdir(exist_ok=True)
    places = {"folder": str(folder), "python": str(real / "python"), "address": str(place / "socket")}
    (folder / "python").write_text(_PYTHON.format(**places))
    for named in entries:
        (folder / named).write_text(_PROGRAM.format(real=str(real / named), **places))
    for program in folder.iterdir():
        program.chmod(0o755)


def _start(command: list[str], place: Path) -> None:
    """Start the process that forks, which listens on its standard input. It stays as long as it has users."""
    os.mkfifo(place / "users")
    (place / "socket").unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "socket"))
        listener.listen()
        actions = [(os.POSIX_SPAWN_DUP2, listener.fileno(), 0)]
        os.posix_spawn(command[0], command, os.environ, file_actions=actions)


def _serve(place: Path, users: int, entries: Mapping[str, str]) -> None:
    """Fork for everybody who comes, until all users have ended."""
    running = 0
    with socket.socket(fileno=os.dup(0)) as listener:
        while True:
            ready, _, _ = select.select([listener, users], [], [])
            while running and os.waitpid(-1, os.WNOHANG)[0]:
                running -= 1
            if users in ready:
                if _is_over(place, users):
                    return
                continue
            wire, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _run(wire, entries)
            running += 1
            wire.close()


def _is_over(place: Path, users: int) -> bool:
    """Whether all users have ended; the next one starts another."""
    with suppress(FileNotFoundError), _locked(place):  # The place may be gone already.
        if not select.select([users], [], [], 0)[0]:
            return False
        (place / "users").unlink()
    return True


def _run(wire: socket.socket, entries: Mapping[str, str]) -> None:
    """Run a command in a process of its own, and tell how it ended."""
    _, streams, _, _ = socket.recv_fds(wire, 1, 3)
    with wire.makefile() as asked:
        real, programs, arguments, folder, environment = json.loads(asked.readline())
    command = os.fork()
    if command:
        wire.sendall(command.to_bytes(4))
    else:
        wire.close()
        _become(streams, [real, *arguments], folder, environment)
        sys.executable = f"{programs}/python"
        _end(_called(entries[os.path.basename(real)]))
    ended = os.pidfd_open(command)
    if ended not in select.select([wire, ended], [], [])[0]:
        os.kill(command, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    wire.send(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _called(entry: str) -> object:
    """What a program ends with."""
    module, _, function = entry.partition(":")
    try:
        return getattr(importlib.import_module(module), function)()
    except SystemExit as ended:
        return ended.code


def _end(code: object) -> None:
    """End as an interpreter does, but for taking all modules apart, which takes longer than a command."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _become(streams: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(arguments[0]))


class _Read(BaseException):
    """No error that a module would handle."""


def _load(modules: list[str], unread: str) -> None:
    """Load modules that don't read that variable, nor import one that does."""

    class Watched(os._Environ):
        def __getitem__(self, name: str) -> str:
            if name == unread:
                raise _Read
            return super().__getitem__(name)

    ast.parse = cache(ast.parse)  # A host parses all its tools whenever they are loaded.
    os.environ.__class__ = Watched
    for one in modules:
        with suppress(_Read):
            importlib.import_module(one)
    os.environ.__class__ = os._Environ
    gettext.find = cache(gettext.find)  # Each option of each command looks for a translation.


if __name__ == "__main__":
    _, place, entries, unread, prepared, *loaded = sys.argv
    users = os.open(f"{place}/users", os.O_RDONLY)
    _load(loaded, unread)
    exec(prepared, made := {})
    gc.freeze()
    _serve(Path(place), users, json.loads(entries))
