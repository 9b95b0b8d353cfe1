"""The commands, put together: `souvenance`, and in Hermes `hermes souvenance`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click


def main() -> None:
    """`souvenance …`."""
    from souvenance.config import settings_from
    from souvenance.installation import open_installation
    from souvenance.surfaces.cli.main import run

    command_line()
    sys.exit(run(open_installation, settings_from))


def command_line() -> click.Group:
    """All of `souvenance`'s commands."""
    from souvenance.surfaces.cli.main import cli

    cli.later.setdefault("hermes", _hermes_commands)
    for name in ("login", "logout"):
        cli.later.setdefault(name, partial(_signing, name))
    for name in ("export", "import", "backup", "restore", "migrate"):
        cli.later.setdefault(name, partial(_moving, name))
    return cli


def souvenance_command(args: Any) -> None:
    """`hermes souvenance …`, as the host hands it over."""
    from souvenance.surfaces.cli.main import ended

    sys.exit(ended(_hermes_commands(), args.arguments, "hermes souvenance"))


def _signing(name: str) -> click.Command:
    from souvenance.hermes.setup import sign_in_commands

    return sign_in_commands.login if name == "login" else sign_in_commands.logout


def _moving(name: str) -> click.Command:
    from souvenance.adapters.archive import backup as keeping
    from souvenance.adapters.archive.archive import Archives
    from souvenance.adapters.importers.choice import reader
    from souvenance.data_folder import place_of
    from souvenance.surfaces.cli import backup, export, import_command, migrate

    match name:
        case "export":
            return export.export_command(Archives())
        case "import":
            return import_command.import_command(reader, Archives())
        case "backup":
            return backup.backup_command(
                lambda settings, target, **how: keeping.back_up(
                    place_of(settings), settings.home, target, **how
                )
            )
        case "restore":
            return backup.restore_command(keeping.restore)
        case _:
            return migrate.migrate_command(keeping.move)


def _hermes_commands() -> click.Group:
    from souvenance.hermes.setup.commands import hermes_group
    from souvenance.hermes_backends import carry, inspect

    return hermes_group(inspect, carry)
