"""The command that runs a background worker."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from queue import SimpleQueue

import click

from souvenance.surfaces.cli.options import OPERATE, Command, listens, pass_shell
from souvenance.surfaces.cli.session import OpenMemory, Shell, say, what_serves

_GREETING = "Souvenance works. Stop it with Ctrl-C."


@click.command(cls=Command, section=OPERATE)
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Serve /health, /ready and /metrics on this port."
)
@listens
@pass_shell
def work(shell: Shell, port: int | None, host: str, allow_remote: bool, host_name: Sequence[str]) -> None:
    """Run a background worker until Ctrl-C. It finishes the job it is doing first."""
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
