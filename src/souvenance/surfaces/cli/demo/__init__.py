"""`souvenance demo`: a story played by separate processes, and checked from outside."""

from __future__ import annotations

import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from souvenance.errors import InvalidInput
from souvenance.surfaces.cli.session import OPERATE, Command, Shell, pass_shell


@click.command(cls=Command, section=OPERATE)
@click.option("--keep", is_flag=True, help="Keep the temporary folder and print its path.")
@click.option(
    "--fill", "fills", is_flag=True, help="Fill the data folder, which must be empty, with examples."
)
@pass_shell
def demo(shell: Shell, keep: bool, fills: bool) -> None:
    """Show what Souvenance does, in a temporary folder. Exits with 1 if a step fails.

    It does not touch your own data folder and settings. With --fill it plays nothing: it fills an empty data
    folder with people, agents and a year of conversations, to look at with 'souvenance open'.
    """
    if fills:
        _fill(shell)
        return
    from souvenance.surfaces.cli.demo.stage import STEPS, Stage, outcome_line, play, succeeded, summary

    folder = Path(tempfile.mkdtemp(prefix="souvenance-demo-"))
    results = []
    try:
        with Stage(folder) as stage:
            for result in play(STEPS, stage):
                results.append(result)
                if not shell.json:
                    click.echo(result.line)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    kept = {"folder": str(folder)} if keep else {}
    steps = [{"id": one.id, "outcome": one.outcome, "seen": one.seen} for one in results]
    text = f"kept in {folder}\n{outcome_line(results)}" if keep else outcome_line(results)
    shell.show({"steps": steps, **summary(results), **kept}, lambda: text)
    if not succeeded(results):
        sys.exit(1)


def _fill(shell: Shell) -> None:
    from souvenance.surfaces.cli.demo.fill import fill

    if shell.is_remote:
        raise InvalidInput("--fill works on a data folder, not on a server", hint="Leave out --url.")
    shell.makes = True
    shell.settings = replace(shell.settings, webhook_private=True)  # An example of a job that fails needs it.
    stored = fill(shell.installation(), datetime.now(UTC))
    text = "stored {messages} messages in {sessions} sessions, {notes} notes and {tokens} tokens".format(
        **stored
    )
    shell.show(
        stored, lambda: f"{text}\nSee them: souvenance serve, then souvenance open in another terminal"
    )
