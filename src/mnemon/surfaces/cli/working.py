"""The command that does the work behind the requests, and serves none."""

from __future__ import annotations

import signal
import sys
import threading

import click

from mnemon.surfaces.cli.options import Command, pass_shell
from mnemon.surfaces.cli.shell import Shell


@click.command(cls=Command)
@pass_shell
def work(shell: Shell) -> None:
    """Do the work behind the requests of other processes until Ctrl-C; what is begun is finished first."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with shell.house().working():
        sys.stdout.write("Mnemon works. Stop it with Ctrl-C.\n")
        sys.stdout.flush()
        stopped.wait()
    sys.stdout.write("Mnemon stopped.\n")
