"""The command that rebuilds the search index."""

from __future__ import annotations

import sys
import time

import click

from souvenance.errors import StorageBusy, Unavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.options import DATA, Command, pass_shell
from souvenance.surfaces.cli.session import Shell

_LOOK_SECONDS = 0.5
_MOST_BUSY = 6


@click.command(cls=Command, section=DATA)
@pass_shell
def reindex(shell: Shell) -> None:
    """Rebuild the search index.

    Do this after an upgrade or a change of embedder. A server can keep running. If it is interrupted, run it
    again to finish it. With --workspace, only that workspace is indexed.
    """
    workspace, shell.workspace = shell.workspace, None
    first = told = shell.call(o.REINDEX, m.Reindex(workspace))
    with click.progressbar(length=_left(first), label="index", file=sys.stderr) as bar:
        moved = True
        while not told.done and (moved or not told.trouble):
            _meanwhile(shell)
            before, told = told, shell.call(o.REINDEX, m.Reindex(workspace, begin=False))
            moved = _left(told) < _left(before)
            bar.update(max(0, _left(before) - _left(told)))
    if not told.done:
        raise Unavailable(
            f"{told.vectors} lines wait for their vectors: {told.trouble}",
            hint="They are found by words meanwhile. Once that is mended, run it again or let a server run.",
        )
    made = {
        "lines": first.lines - told.lines,
        "vectors": max(0, first.vectors - told.vectors),
        "old_vectors": first.old_vectors - told.old_vectors,
    }
    shell.show(
        made,
        lambda: (
            f"{made['lines']} lines reindexed, {made['vectors']} vectors made,"
            f" {made['old_vectors']} old vectors dropped"
        ),
    )


def _left(told: m.ReindexAnswer) -> int:
    return told.lines + told.vectors + told.old_vectors


def _meanwhile(shell: Shell) -> None:
    """Do some of the work here, or leave it to the server for a while. Raises: SouvenanceError."""
    if shell.is_remote:
        time.sleep(_LOOK_SECONDS)
        return
    end, busy, installation = time.monotonic() + _LOOK_SECONDS, 0, shell.installation()
    while time.monotonic() < end:
        try:
            if not installation.tidy():
                return
        except StorageBusy:
            busy += 1
            if busy == _MOST_BUSY:
                raise
