"""The command line: `souvenance`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec

from souvenance.errors import Misconfigured, SouvenanceError
from souvenance.extras import install
from souvenance.surfaces.cli import audit, memory, operate, tokens
from souvenance.surfaces.cli.demo import demo
from souvenance.surfaces.cli.exit_codes import INTERRUPTED, exit_of
from souvenance.surfaces.cli.mcp import mcp
from souvenance.surfaces.cli.options import Group
from souvenance.surfaces.cli.reindex import reindex
from souvenance.surfaces.cli.rename import rename
from souvenance.surfaces.cli.session import OpenInstallation, SettingsFrom, Shell
from souvenance.surfaces.cli.sign_ins import signins
from souvenance.surfaces.cli.work import work
from souvenance.version import __version__

_CLIENT = "httpx"
"""What speaks to servers; whoever keeps memory on this machine alone needs none."""


class Root(Group):
    """The group of all commands. What is in `later` is made when somebody asks for it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.later: dict[str, Callable[[], click.Command]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self.later})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.later:
            self.add_command(self.later.pop(cmd_name)())
        return super().get_command(ctx, cmd_name)


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="souvenance")
def cli() -> None:
    """Long-term memory for AI agents, behind a gate."""


for part in (
    operate.init,
    operate.serve,
    work,
    memory.put,
    memory.get,
    memory.list_,
    memory.line,
    memory.snapshot,
    memory.correct,
    memory.forget,
    rename,
    tokens.caps,
    tokens.keys,
    signins,
    audit.audit,
    operate.status,
    operate.doctor,
    operate.rebuild,
    reindex,
    mcp,
    demo,
    operate.completion,
):
    cli.add_command(part)


def run(open_installation: OpenInstallation, settings_from: SettingsFrom) -> int:
    """Run the command line and say how it ended."""
    shell = Shell(open_installation, settings_from)
    try:
        return ended(cli, sys.argv[1:], "souvenance", shell)
    finally:
        shell.close()


def ended(command: click.Command, arguments: Sequence[str], name: str, shell: Shell | None = None) -> int:
    """Run a command, complain as every command does, and say how it ended."""
    as_json = "--json" in arguments
    try:
        code = command.main(args=list(arguments), prog_name=name, obj=shell, standalone_mode=False)
    except SouvenanceError as error:
        told = as_json or (shell is not None and shell.json)
        _complain(error.code, error.detail, error.hint, as_json=told)
        return exit_of(type(error))
    except ModuleNotFoundError as error:
        if error.name != _CLIENT:
            raise
        hint = f"Run: {install('client')}"
        _complain(Misconfigured.code, f"this needs {_CLIENT}, which is not installed", hint, as_json=as_json)
        return exit_of(Misconfigured)
    except click.ClickException as error:
        if as_json:
            _complain("usage", error.format_message(), f"See '{name} --help'.", as_json=True)
        else:
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _complain(code: str, detail: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        body = {"error": code, "detail": detail, "hint": hint}
        click.echo(msgspec.json.encode(body).decode(), err=True)
    else:
        click.echo(f"{code}: {detail}", err=True)
        if hint:
            click.echo(f"  {hint}", err=True)
