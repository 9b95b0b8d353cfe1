"""The commands that keep a whole store: backup and restore."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import click

from souvenance.errors import Unsupported
from souvenance.gate import archive as p
from souvenance.surfaces.cli.options import Command, pass_shell
from souvenance.surfaces.cli.session import CommandSettings, Shell


class BackupReport(Protocol):
    """What a backup holds."""

    @property
    def rows(self) -> int: ...

    @property
    def lines(self) -> int: ...

    @property
    def files(self) -> tuple[str, ...]: ...

    @property
    def bytes(self) -> int: ...


BackUp = Callable[..., BackupReport]
"""Of (settings, target), with `recipients`, `with_keys` and `allow_empty`."""
Restore = Callable[..., BackupReport]
"""Of (source, home), with `identity`."""


def backup_command(back_up: BackUp) -> click.Command:
    """`souvenance backup`."""

    @click.command("backup", cls=Command)
    @click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
    @click.option(
        "--recipient",
        multiple=True,
        metavar="KEY",
        help="Encrypt it with age, for this recipient (age1… or ssh-ed25519 …); may be given again.",
    )
    @click.option("--without-keys", is_flag=True, help="Leave the keys out; without them nothing opens.")
    @click.option("--allow-empty", is_flag=True, help="Write it even if the store has no lines.")
    @pass_shell
    def backup(
        shell: Shell, file: Path, recipient: tuple[str, ...], without_keys: bool, allow_empty: bool
    ) -> None:
        """Write all of the store to FILE, which must not exist. A server may serve meanwhile."""
        _here(shell, "backup")
        settings: CommandSettings = shell.settings
        shell.call(p.NOTE_BACKUP, p.NoteBackup(keys=not without_keys))
        kept = back_up(
            settings, file, recipients=recipient, with_keys=not without_keys, allow_empty=allow_empty
        )
        if not recipient and not without_keys:
            click.echo(
                f"WARNING: {file} holds the root key: whoever has this file can read every line."
                " Keep it like the key, or encrypt it with --recipient.",
                err=True,
            )
        shell.show(_told(file, kept), lambda: f"{file}: {kept.lines} lines, {kept.bytes} bytes")

    return backup


def restore_command(restore: Restore) -> click.Command:
    """`souvenance restore`."""

    @click.command("restore", cls=Command)
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option(
        "--identity",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The file with the age key that opens it.",
    )
    @pass_shell
    def restore_(shell: Shell, file: Path, identity: Path | None) -> None:
        """Make the data folder out of a backup. A folder that holds anything is refused."""
        _here(shell, "restore")
        home = shell.settings.home
        kept = restore(file, home, identity=identity)
        told = {**_told(file, kept), "home": str(home)}

        def text() -> str:
            rows = [f"{home}: {kept.lines} lines restored; 'souvenance doctor' looks at each of them"]
            if not kept.files:
                rows.append("the backup holds no keys: put root.key and signing.key there before you use it")
            return "\n".join(rows)

        shell.show(told, text)

    return restore_


def _told(file: Path, kept: BackupReport) -> dict[str, Any]:
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
            f"{what} is done where the store is, not through a server",
            hint="Leave --url and SOUVENANCE_URL out.",
        )
