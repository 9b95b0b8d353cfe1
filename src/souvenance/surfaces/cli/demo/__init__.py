"""`souvenance demo`: a story played by separate processes, alone or with Hermes, and checked from outside."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from souvenance.surfaces.cli.options import OPERATE, Command, pass_shell
from souvenance.surfaces.cli.session import Shell

if TYPE_CHECKING:
    from souvenance.surfaces.cli.demo.play import DemoResult


@click.command(cls=Command, section=OPERATE)
@click.option("--keep", is_flag=True, help="Keep the temporary folder and print its path.")
@click.option("--hermes", is_flag=True, help="Run it with an unmodified Hermes Agent.")
@click.option(
    "--environment",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="With --hermes: the Python environment to use. It is made if missing.",
)
@pass_shell
def demo(shell: Shell, keep: bool, hermes: bool, environment: Path | None) -> None:
    """Show what Souvenance does, in a temporary folder. Exits with 1 if a step fails.

    It does not touch your own data folder and settings.
    """
    from souvenance.surfaces.cli.demo.play import summary

    if environment is not None and not hermes:
        raise click.UsageError("--environment goes with --hermes")
    if hermes and (environment is None or not environment.exists()):
        click.echo("Installing Hermes first, which takes a minute or more.", err=True)
    folder = Path(tempfile.mkdtemp(prefix="souvenance-demo-"))
    results = []
    try:
        told = _with_hermes(folder, environment or folder / "environment") if hermes else _by_itself(folder)
        for result in told:
            results.append(result)
            if not shell.json:
                click.echo(result.line)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    counted = summary(results)
    kept = {"folder": str(folder)} if keep else {}
    steps = [{"id": one.id, "outcome": one.outcome, "seen": one.seen} for one in results]
    shell.show({"steps": steps, **counted, **kept}, lambda: _closing(counted, kept))
    if counted["ok"] != len(results):
        sys.exit(1)


def _by_itself(folder: Path) -> Iterator[DemoResult]:
    from souvenance.surfaces.cli.demo.play import play
    from souvenance.surfaces.cli.demo.stage import Stage
    from souvenance.surfaces.cli.demo.story import STEPS

    with Stage(folder) as stage:
        yield from play(STEPS, stage)


def _with_hermes(folder: Path, environment: Path) -> Iterator[DemoResult]:
    from souvenance.surfaces.cli.demo.hermes_model import a_model
    from souvenance.surfaces.cli.demo.hermes_stage import HermesStage
    from souvenance.surfaces.cli.demo.hermes_story import STEPS
    from souvenance.surfaces.cli.demo.play import play

    with a_model() as model:
        stage = HermesStage(folder, environment, model)
        with stage:
            yield from play(STEPS, stage)


def _closing(told: dict[str, int], kept: dict[str, str]) -> str:
    counted = f"{told['ok']} ok, {told['skipped']} skipped, {told['failed']} failed"
    return f"kept in {kept['folder']}\n{counted}" if kept else counted
