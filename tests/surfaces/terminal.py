"""The command line on a terminal of its own."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable
from fcntl import ioctl
from multiprocessing.connection import wait
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

from surfaces.door import environment, forked

ROWS = 40


def on_terminal(
    *arguments: str,
    home: Path,
    answer: str | Callable[[], str] = "",
    columns: int = 60,
    **settings: str,
) -> tuple[int, str]:
    """How the command ended, and what the terminal showed; `answer` is typed ahead, or when asked."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, pack("HHHH", ROWS, columns, 0, 0))
    waits = callable(answer)
    os.write(ours, b"" if callable(answer) else answer.encode())
    known = environment(SOUVENANCE_HOME=str(home), TERM="xterm-256color", **settings)
    known.pop("COLUMNS", None)
    process = forked(arguments, known, [Path(os.ttyname(theirs))] * 3)
    seen = b""
    while ours in (ready := wait([ours, process.sentinel])) or process.sentinel not in ready:
        seen += os.read(ours, 65536)
        if waits and callable(answer) and b"[y/N]" in seen:
            waits = False
            os.write(ours, answer().encode())
    process.join()
    os.close(theirs)
    os.close(ours)
    return process.exitcode, seen.decode().replace("\r\n", "\n")
