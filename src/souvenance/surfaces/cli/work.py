"""The command that does the work behind the requests, and serves none."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from queue import SimpleQueue

import click

from souvenance.surfaces.cli.options import Command, listens, pass_shell
from souvenance.surfaces.cli.session import OpenMemory, Shell, say, what_serves

_GREETING = "Souvenance works. Stop it with Ctrl-C."


@click.command(cls=Command)
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Tell there how it goes: /health, /ready and /metrics."
)
@listens
@pass_shell
def work(shell: Shell, port: int | None, host: str, allow_remote: bool, host_name: Sequence[str]) -> None:
    """Do the work behind the requests of other processes until Ctrl-C; what is begun is finished first."""
    shell.makes = True
    installation = shell.installation()
    if port is None:
        _work(installation)
        return
    with what_serves():
        from souvenance.surfaces.http.server import Address, tell

    tell(
        installation.gate,
        Address(host, port, allow_remote, host_name),
        installation,
        shell.settings.seen,
        greet=lambda url: say(f"{_GREETING} How it goes: {url}/health"),
    )


def _work(installation: OpenMemory) -> None:
    told: SimpleQueue[int] = SimpleQueue()  # An event could hang: two signals may come upon each other.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.put(number))
    with installation.working():
        say(_GREETING)
        told.get()
    say("Souvenance stopped.")
