"""The command that moves a store from one database to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from souvenance.surfaces.cli.options import DATA, Command, pass_shell
from souvenance.surfaces.cli.session import Shell


@click.command("migrate", cls=Command, section=DATA)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@pass_shell
def migrate(shell: Shell, source: str, target: str) -> None:
    """Copy a store to another place and verify it row by row.

    FROM and TO are a data folder, sqlite:///FILE or postgresql://…. Stop everything that writes to FROM
    first. If the copy is interrupted, run it again to finish it.
    """
    shown = _Shown()
    seen = not shell.json and sys.stderr.isatty()
    report = shown.step if seen else lambda step: None
    counts = shell.transfers.move(source, target, vectors=shell.settings.vectors, report=report)
    shown.end()
    told = {"tables": counts, "rows": sum(counts.values())}
    shell.show(told, lambda: "\n".join(_closing(counts)))


def _closing(counts: dict[str, int]) -> Iterator[str]:
    rows = sum(counts.values())
    yield f"{rows} rows of {len(counts)} tables copied and verified, {counts['lines']} lines"
    if "vectors" not in counts:
        yield (
            "vectors were left out, because the two places do not keep them alike:"
            " the target rebuilds them; 'souvenance reindex' does it at once"
        )


class _Place(NamedTuple):
    table: str
    bar: Any


class _Shown:
    """A bar for each table, on the side of complaints."""

    def __init__(self) -> None:
        self._place: _Place | None = None
        self._done = 0

    def step(self, step: Any) -> None:
        if self._place is None or self._place.table != step.table:
            self.end()
            bar = click.progressbar(length=step.rows, label=f"{step.table:<16}", file=sys.stderr)
            bar.render_progress()
            self._place, self._done = _Place(step.table, bar), 0
        self._place.bar.update(max(0, step.done - self._done))
        self._done = step.done

    def end(self) -> None:
        if self._place is not None:
            self._place.bar.render_finish()
