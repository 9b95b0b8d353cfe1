"""The command line: `mnemon`."""

from __future__ import annotations

import sys

import click
import msgspec

from mnemon.errors import MnemonError
from mnemon.surfaces.cli import audit, caps, memory, upkeep
from mnemon.surfaces.cli.demo import demo
from mnemon.surfaces.cli.exits import INTERRUPTED, exit_of
from mnemon.surfaces.cli.options import Group
from mnemon.surfaces.cli.shell import OpenHouse, SettingsFrom, Shell
from mnemon.version import __version__


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mnemon")
def cli() -> None:
    """Long-term memory for AI agents, behind a gate."""


for part in (
    upkeep.init,
    upkeep.serve,
    memory.put,
    memory.get,
    memory.list_,
    memory.line,
    memory.snapshot,
    memory.correct,
    memory.forget,
    caps.caps,
    caps.keys,
    audit.audit,
    upkeep.status,
    upkeep.doctor,
    demo,
    upkeep.completion,
):
    cli.add_command(part)


def run(open_house: OpenHouse, settings_from: SettingsFrom) -> int:
    """Run the command line and say how it ended."""
    shell = Shell(open_house, settings_from)
    try:
        ended = cli.main(prog_name="mnemon", obj=shell, standalone_mode=False)
    except MnemonError as error:
        _complain(error.code, error.detail, error.hint, as_json=shell.json)
        return exit_of(type(error))
    except click.ClickException as error:
        if "--json" in sys.argv:
            _complain("usage", error.format_message(), "See 'mnemon --help'.", as_json=True)
        else:
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    finally:
        shell.close()
    return ended if isinstance(ended, int) else 0


def _complain(code: str, detail: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        body = {"error": code, "detail": detail, "hint": hint}
        click.echo(msgspec.json.encode(body).decode(), err=True)
    else:
        click.echo(f"{code}: {detail}", err=True)
        if hint:
            click.echo(f"  {hint}", err=True)
