"""Hermes in a terminal: lines are typed at it, and what it writes is watched."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

from souvenance.surfaces.cli.demo.checks import CheckFailed
from souvenance.surfaces.cli.demo.hermes_host import PATIENCE_SECONDS, Host

_PROMPT = "❯"
_CLEAR = "\x05\x15"
"""To the end of the line, and delete up to there."""
_ENTER = "\r"
_ROWS, _COLUMNS = 50, 200
_STYLE = re.compile(r"\x1b\[[0-9;?<>]*[a-zA-Z]")


class DemoTerminal:
    def __init__(self, process: subprocess.Popen[bytes], side: int) -> None:
        self._process = process
        self._side = side
        self._written = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """What it wrote so far, without colours and movements."""
        return _STYLE.sub("", self._written.decode(errors="replace"))

    def type(self, *lines: str) -> None:
        """Type lines. The host takes each when it is done with the one before."""
        for line in lines:
            os.write(self._side, f"{_CLEAR}{line}{_ENTER}".encode())

    def see(self, text: str) -> None:
        """Wait until it writes the text after what was seen before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.text.find(text, self._seen)) < 0:
            if time.monotonic() > deadline or not self._read():
                raise CheckFailed(f"the host did not write {text!r}, but: {self.text[self._seen :][-500:]}")
        self._seen = found + len(text)

    def leave(self) -> str:
        """Quit, and wait for the end; everything that it wrote."""
        self.type("/quit")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self._read():
            pass
        if self._process.wait(PATIENCE_SECONDS) != 0:
            raise CheckFailed(f"the host ended with {self._process.returncode}: {self.text[-500:]}")
        return self.text

    def _read(self) -> bool:
        """Take what there is to read; False after the end."""
        if select.select([self._side], [], [], 0.1)[0]:
            try:
                more = os.read(self._side, 65536)
            except OSError:
                return False
            self._written += more
            return bool(more)
        return True


@contextmanager
def a_terminal(host: Host, *arguments: str) -> Iterator[DemoTerminal]:
    """The host's chat, ready for the first line, until the end of the block."""
    ours, its = pty.openpty()
    _prepare(its)
    process = subprocess.Popen(  # noqa: S603 - the host of an environment that the user chose
        host.command("chat", *arguments),
        cwd=host.project,
        env=host.environment,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    try:
        terminal = DemoTerminal(process, ours)
        terminal.see(_PROMPT)
        yield terminal
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE_SECONDS)
        os.close(ours)


def _prepare(side: int) -> None:
    """Give it a size, and leave the key that clears a line to the host, whatever the host is doing."""
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    attributes = termios.tcgetattr(side)
    attributes[-1][termios.VKILL] = bytes([os.fpathconf(side, "PC_VDISABLE")])
    termios.tcsetattr(side, termios.TCSANOW, attributes)
