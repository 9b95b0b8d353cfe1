"""The command that takes a peer's memory along to another name."""

from __future__ import annotations

import click

from mnemon.domain.names import ALL, DEFAULT_WORKSPACE
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.surfaces.cli.options import Command, pass_shell
from mnemon.surfaces.cli.shell import Shell
from mnemon.turns import renaming


@click.command(cls=Command)
@click.argument("old")
@click.argument("new")
@pass_shell
def rename(shell: Shell, old: str, new: str) -> None:
    """Take all that is remembered of OLD along to NEW, a peer's other name.

    If NEW is somebody already, both become one. What was stopped midway is gone on with.
    """
    own = shell.call(o.WHOAMI, m.WhoAmI()).wid
    workspace = shell.workspace or (DEFAULT_WORKSPACE if own == ALL else own)
    lines = renaming.rename(shell.call, workspace, old, new)

    def text() -> str:
        if not lines:
            return f"workspace {workspace}: nothing is remembered of {old}"
        return f"workspace {workspace}: {lines} lines of {old} are {new}'s now"

    shell.show({"workspace": workspace, "lines": lines}, text)
