"""Commands on a whole store: backup, restore, migrate, rebuild, reindex."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from souvenance.domain.archive_records import KeptStore
from souvenance.errors import IntegrityError, StorageBusy, Unavailable, Unsupported
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.output import counted, progress
from souvenance.surfaces.cli.session import DATA, EXISTING_FILE, Command, Shell, mend, pass_shell, recipients


@click.command("backup", cls=Command, section=DATA)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@recipients
@click.option("--without-keys", is_flag=True, help="Leave out the keys. Nothing can be read without them.")
@click.option("--allow-empty", is_flag=True, help="Write it even if the store is empty.")
@pass_shell
def backup(
    shell: Shell, file: Path, recipient: tuple[str, ...], without_keys: bool, allow_empty: bool
) -> None:
    """Write the whole store to FILE. FILE must not exist. A server can keep running."""
    _here(shell, "backup")
    shell.call(p.NOTE_BACKUP, p.NoteBackup(keys=not without_keys))
    kept = shell.transfers.back_up(
        shell.settings, file, recipients=recipient, with_keys=not without_keys, allow_empty=allow_empty
    )
    if not recipient and not without_keys:
        click.echo(
            f"WARNING: {file} holds the root key: anyone with this file can read every line."
            " Keep it like the key, or encrypt it with --recipient.",
            err=True,
        )
    shell.show(_contents(file, kept), lambda: f"{file}: {counted(kept.lines, 'line')}, {kept.bytes} bytes")


@click.command("restore", cls=Command, section=DATA)
@click.argument("file", type=EXISTING_FILE)
@click.option("--identity", type=EXISTING_FILE, help="The age key that decrypts the backup.")
@pass_shell
def restore(shell: Shell, file: Path, identity: Path | None) -> None:
    """Restore the data folder from a backup. The folder must be empty."""
    _here(shell, "restore")
    home = shell.settings.home
    kept = shell.transfers.restore(file, home, identity=identity)
    result = {**_contents(file, kept), "home": str(home)}

    def rows() -> Iterator[str]:
        yield f"{home}: {counted(kept.lines, 'line')} restored; 'souvenance doctor' looks at each of them"
        if not kept.files:
            yield "the backup holds no keys: put root.key and signing.key there before you use it"

    shell.show(result, rows)


def _contents(file: Path, kept: KeptStore) -> dict[str, Any]:
    return {
        "file": str(file),
        "lines": kept.lines,
        "rows": kept.rows,
        "files": list(kept.files),
        "bytes": kept.bytes,
    }


def _here(shell: Shell, what: str) -> None:
    """Raises: Unsupported where the store is somebody else's to keep."""
    if shell.is_remote:
        raise Unsupported(
            f"{what} works only where the store is, not through a server",
            hint="Leave --url and SOUVENANCE_URL out.",
        )


@click.command("migrate", cls=Command, section=DATA)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@pass_shell
def migrate(shell: Shell, source: str, target: str) -> None:
    """Copy a store to another place and verify it row by row.

    FROM and TO are a data folder, sqlite:///FILE or postgresql://…. Stop everything that writes to FROM
    first. If the copy is interrupted, run it again to finish it.
    """

    def watch(table: str, rows: int) -> Any:
        return progress(f"{table:<16}", rows, hidden=shell.json)

    counts = shell.transfers.move(source, target, vectors=shell.settings.vectors, watch=watch)
    shell.show({"tables": counts, "rows": sum(counts.values())}, lambda: _closing(counts))


def _closing(counts: dict[str, int]) -> Iterator[str]:
    rows = sum(counts.values())
    yield f"{rows} rows of {len(counts)} tables copied and verified, {counted(counts['lines'], 'line')}"
    if "vectors" not in counts:
        yield (
            "vectors were left out, because the two stores keep them differently:"
            " the target rebuilds them; 'souvenance reindex' does it at once"
        )


@click.command(cls=Command, section=DATA)
@pass_shell
def rebuild(shell: Shell) -> None:
    """Rebuild an empty store from its bucket. Needs SOUVENANCE_OBJECTS and root.key."""
    from souvenance.gate.replication import NOT_REBUILT

    shell.makes = True
    found = mend(shell, lambda installation: installation.repairer.rebuild(), rebuilding=True)
    shell.show(
        {"restored": found.restored, "findings": found.findings, "not_rebuilt": NOT_REBUILT},
        lambda: [
            *found.findings,
            f"{counted(found.restored, 'line')} restored",
            "Not in a bucket, and so not back:",
            *(f"  {one}" for one in NOT_REBUILT),
        ],
    )
    if found.findings:
        raise IntegrityError(
            counted(len(found.findings), "finding"), hint="The bucket still has what did not open."
        )


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
    first = latest = shell.call(o.REINDEX, m.Reindex(workspace))
    with progress("index", _left(first)) as bar:
        moved = True
        while not latest.done and (moved or not latest.trouble):
            _meanwhile(shell)
            before, latest = latest, shell.call(o.REINDEX, m.Reindex(workspace, begin=False))
            moved = _left(latest) < _left(before)
            bar.update(max(0, _left(before) - _left(latest)))
    if not latest.done:
        raise Unavailable(
            f"{counted(latest.vectors, 'line')} without a vector: {latest.trouble}",
            hint="They are found by words meanwhile. Fix that, then run it again or let a server run.",
        )
    made = {
        "lines": first.lines - latest.lines,
        "vectors": max(0, first.vectors - latest.vectors),
        "old_vectors": first.old_vectors - latest.old_vectors,
    }
    shell.show(
        made,
        lambda: (
            f"{counted(made['lines'], 'line')} reindexed, {counted(made['vectors'], 'vector')} made,"
            f" {counted(made['old_vectors'], 'old vector')} dropped"
        ),
    )


def _left(answer: m.ReindexAnswer) -> int:
    return answer.lines + answer.vectors + answer.old_vectors


def _meanwhile(shell: Shell) -> None:
    """Do some of the work here, or leave it to the server for a while. Raises: SouvenanceError."""
    if shell.is_remote:
        time.sleep(_LOOK_SECONDS)
        return
    end, busy, installation = time.monotonic() + _LOOK_SECONDS, 0, shell.installation()
    while time.monotonic() < end:
        try:
            if not installation.worker.tidy():
                return
        except StorageBusy:
            busy += 1
            if busy == _MOST_BUSY:
                raise
