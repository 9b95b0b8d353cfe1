"""The command line on a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

from surfaces.door import environment

ROWS = 40


def on_terminal(
    *arguments: str, home: Path, answer: str = "", columns: int = 60, **settings: str
) -> tuple[int, str]:
    """How the command ended, and what the terminal showed; `answer` is typed ahead."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, pack("HHHH", ROWS, columns, 0, 0))
    os.write(ours, answer.encode())
    known = environment(SOUVENANCE_HOME=str(home), TERM="xterm-256color", **settings)
    known.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "souvenance", *arguments],
        env=known,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # The end of a terminal that nobody writes to any more.
        while part := os.read(ours, 65536):
            seen += part
    os.close(ours)
    return process.wait(), seen.decode().replace("\r\n", "\n")
