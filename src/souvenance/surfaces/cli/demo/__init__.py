"""`souvenance demo`: memory to look at."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import click
from msgspec.structs import replace

from souvenance.errors import InvalidInput
from souvenance.surfaces.cli.session import OPERATE, Command, Shell, pass_shell


@click.command(cls=Command, section=OPERATE)
@click.option("--fill", is_flag=True, required=True, help="Yes, fill the data folder, which must be empty.")
@pass_shell
def demo(shell: Shell, fill: bool) -> None:
    """Fill an empty data folder with examples.

    They are people, agents and a year of conversations, to look at with 'souvenance open'.
    """
    from souvenance.surfaces.cli.demo import fill as examples

    if shell.is_remote:
        raise InvalidInput("--fill works on a data folder, not on a server", hint="Leave out --url.")
    shell.makes = True
    shell.settings = replace(shell.settings, webhook_private=True)  # An example of a job that fails needs it.
    stored = examples.fill(shell.installation(), datetime.now(UTC))
    text = "stored {messages} messages in {sessions} sessions, {notes} notes and {tokens} tokens".format(
        **stored
    )
    command = shlex.join(["souvenance", *(("--home", shell.home) if shell.home else ())])
    shell.show(stored, lambda: f"{text}\nSee them: {command} serve, then {command} open in another terminal")
