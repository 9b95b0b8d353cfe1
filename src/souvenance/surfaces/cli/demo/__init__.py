"""`souvenance demo`: a story played by separate processes, and checked from outside."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from souvenance.surfaces.cli.options import OPERATE, Command, pass_shell
from souvenance.surfaces.cli.session import Shell


@click.command(cls=Command, section=OPERATE)
@click.option("--keep", is_flag=True, help="Keep the temporary folder and print its path.")
@pass_shell
def demo(shell: Shell, keep: bool) -> None:
    """Show what Souvenance does, in a temporary folder. Exits with 1 if a step fails.

    It does not touch your own data folder and settings.
    """
    from souvenance.surfaces.cli.demo.stage import Stage, outcome_line, play, succeeded, summary
    from souvenance.surfaces.cli.demo.story import STEPS

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
    told = f"kept in {folder}\n{outcome_line(results)}" if keep else outcome_line(results)
    shell.show({"steps": steps, **summary(results), **kept}, lambda: told)
    if not succeeded(results):
        sys.exit(1)
