"""The command that takes a peer's memory along to another name."""

from __future__ import annotations

from dataclasses import replace

import click

from souvenance.agents import rename_peer
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.confirm import confirm, yes_option
from souvenance.surfaces.cli.options import PEOPLE, Command, pass_shell
from souvenance.surfaces.cli.session import Shell


@click.command(cls=Command, section=PEOPLE)
@click.argument("old")
@click.argument("new")
@yes_option
@pass_shell
def rename(shell: Shell, old: str, new: str, yes: bool) -> None:
    """Move the memory of peer OLD to the name NEW.

    If NEW has memory already, the two are merged for good; you are asked first. If a rename is interrupted,
    run it again to finish it.
    """
    own = shell.call(o.WHOAMI, m.WhoAmI()).wid
    workspace = shell.workspace or (DEFAULT_WORKSPACE if own == ALL else own)
    if not yes and _has_memory(shell, workspace, new):
        confirm(f"make {old} and {new} one, who can't be told apart afterwards")
    lines = rename_peer.rename(shell.call, workspace, old, new)

    def text() -> str:
        if not lines:
            return f"workspace {workspace}: nothing is remembered of {old}"
        return f"workspace {workspace}: {lines} lines of {old} are {new}'s now"

    shell.show({"workspace": workspace, "lines": lines}, text)


def _has_memory(shell: Shell, workspace: str, peer: str) -> bool:
    """Raises: SouvenanceError."""
    found = replace(shell, peer=peer).call(o.LIST, m.List(limit=1, history=True), workspace=workspace)
    return bool(found.lines)
