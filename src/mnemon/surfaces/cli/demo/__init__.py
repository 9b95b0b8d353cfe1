"""`mnemon demo`: the first story, played by separate processes over real HTTP and checked from outside."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from mnemon.surfaces.cli.options import Command, pass_shell
from mnemon.surfaces.cli.shell import Shell


@click.command(cls=Command)
@click.option("--keep", is_flag=True, help="Keep the throwaway folder, and say where it is.")
@pass_shell
def demo(shell: Shell, keep: bool) -> None:
    """Play the whole story in a throwaway folder; exit 1 unless every step is ok.

    Your own data folder and settings are not touched.
    """
    from mnemon.surfaces.cli.demo.play import play, summary
    from mnemon.surfaces.cli.demo.stage import Stage
    from mnemon.surfaces.cli.demo.story import STEPS

    folder = Path(tempfile.mkdtemp(prefix="mnemon-demo-"))
    try:
        with Stage(folder) as stage:
            results = []
            for result in play(STEPS, stage):
                results.append(result)
                if not shell.json:
                    click.echo(result.line)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    told = summary(results)
    kept = {"folder": str(folder)} if keep else {}
    steps = [{"id": one.id, "outcome": one.outcome, "seen": one.seen} for one in results]
    shell.show({"steps": steps, **told, **kept}, lambda: _closing(told, kept))
    if told["ok"] != len(STEPS):
        sys.exit(1)


def _closing(told: dict[str, int], kept: dict[str, str]) -> str:
    counted = f"{told['ok']} ok, {told['skipped']} skipped, {told['failed']} failed"
    return f"kept in {kept['folder']}\n{counted}" if kept else counted
