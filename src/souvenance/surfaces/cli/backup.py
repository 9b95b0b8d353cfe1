"""The commands that keep a whole store: backup and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from souvenance.errors import Unsupported
from souvenance.gate import archive as p
from souvenance.surfaces.cli.archives import Backup
from souvenance.surfaces.cli.options import DATA, Command, pass_shell
from souvenance.surfaces.cli.session import CommandSettings, Shell


@click.command("backup", cls=Command, section=DATA)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--recipient",
    multiple=True,
    metavar="KEY",
    help="Encrypt it with age for this key (age1… or ssh-ed25519 …); repeat it for more.",
)
@click.option("--without-keys", is_flag=True, help="Leave out the keys. Nothing can be read without them.")
@click.option("--allow-empty", is_flag=True, help="Write it even if the store is empty.")
@pass_shell
def backup(
    shell: Shell, file: Path, recipient: tuple[str, ...], without_keys: bool, allow_empty: bool
) -> None:
    """Write the whole store to FILE. FILE must not exist. A server can keep running."""
    _here(shell, "backup")
    settings: CommandSettings = shell.settings
    shell.call(p.NOTE_BACKUP, p.NoteBackup(keys=not without_keys))
    kept = shell.transfers.back_up(
        settings, file, recipients=recipient, with_keys=not without_keys, allow_empty=allow_empty
    )
    if not recipient and not without_keys:
        click.echo(
            f"WARNING: {file} holds the root key: whoever has this file can read every line."
            " Keep it like the key, or encrypt it with --recipient.",
            err=True,
        )
    shell.show(_told(file, kept), lambda: f"{file}: {kept.lines} lines, {kept.bytes} bytes")


@click.command("restore", cls=Command, section=DATA)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--identity",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The age key that decrypts the backup.",
)
@pass_shell
def restore(shell: Shell, file: Path, identity: Path | None) -> None:
    """Restore the data folder from a backup. The folder must be empty."""
    _here(shell, "restore")
    home = shell.settings.home
    kept = shell.transfers.restore(file, home, identity=identity)
    told = {**_told(file, kept), "home": str(home)}

    def text() -> str:
        rows = [f"{home}: {kept.lines} lines restored; 'souvenance doctor' looks at each of them"]
        if not kept.files:
            rows.append("the backup holds no keys: put root.key and signing.key there before you use it")
        return "\n".join(rows)

    shell.show(told, text)


def _told(file: Path, kept: Backup) -> dict[str, Any]:
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
