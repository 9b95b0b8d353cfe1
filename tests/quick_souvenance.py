"""A `souvenance` command for scripts that run it often: each time a fork of a process that has it loaded.

To load it is most of what a short command takes. The command has the standard streams, the folder and the
environment of whoever runs it, who has its exit code. What runs until a signal ends it begins anew.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from souvenance.commands import main
from surfaces.door import FORKS

PROGRAM = """#!{python} -IS
import json, os, socket, sys

if sys.argv[1:2] in (["serve"], ["work"]):
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as wire:
    wire.connect({address!r})
    socket.send_fds(wire, [b"."], [0, 1, 2])
    wire.sendall(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode())
    wire.shutdown(socket.SHUT_WR)
    code = wire.recv(1)
sys.exit(code[0] if code else 1)
"""


@contextmanager
def quick_souvenance() -> Iterator[Path]:
    """The folder of the program, to be the first on a path, while it can be run."""
    with TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as listener:
        folder = Path(name)
        listener.bind(str(folder / "socket"))
        listener.listen()
        program = folder / "souvenance"
        real = Path(sys.executable).with_name("souvenance")
        program.write_text(
            PROGRAM.format(python=sys.executable, real=str(real), address=str(folder / "socket"))
        )
        program.chmod(0o755)
        server = FORKS.Process(target=_fork_for_each, args=(listener,))
        server.start()
        try:
            yield folder
        finally:
            server.terminate()
            server.join()


def _fork_for_each(listener: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        wire, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _run(wire)
        wire.close()


def _run(wire: socket.socket) -> Any:
    _, streams, _, _ = socket.recv_fds(wire, 1, 3)
    arguments, folder, environment = json.load(wire.makefile())
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    code: Any = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        wire.send(bytes([code]))
        os._exit(code)
