"""The command line: `souvenance`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click
import msgspec

from souvenance import errors as e
from souvenance.extras import install
from souvenance.surfaces import cli as package
from souvenance.surfaces.cli.session import SECTIONS, Group, Shell, write_commands
from souvenance.surfaces.open_memory import OpenInstallation, Transfers
from souvenance.version import __version__

INTERNAL = 1
INTERRUPTED = 130

EXIT: dict[type[e.SouvenanceError], int] = {
    e.InvalidInput: 3,
    e.Unauthenticated: 4,
    e.Denied: 5,
    e.NotFound: 6,
    e.MethodNotAllowed: 6,
    e.Conflict: 7,
    e.LimitExceeded: 8,
    e.Unavailable: 9,
    e.IntegrityError: 10,
    e.Misconfigured: 11,
    e.Unsupported: 12,
    e.UnsupportedType: 12,
    e.Disabled: 12,
}


def exit_of(kind: type[e.SouvenanceError]) -> int:
    """The code of an error class: its own row, or that of its nearest ancestor."""
    return next((EXIT[base] for base in kind.__mro__ if base in EXIT), INTERNAL)


class Root(Group):
    """All commands: those in this package that have a section, and those that other packages add."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._added: dict[str, tuple[str, Callable[[], click.Command]]] = {}

    def add(self, section: str, name: str, load: Callable[[], click.Command]) -> None:
        """Add a command that is loaded when somebody asks for it."""
        self._added[name] = (section, load)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_own_commands(), *self._added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._added and cmd_name not in self.commands:
            self.add_command(self._added[cmd_name][1]())
        return super().get_command(ctx, cmd_name) or _own_commands().get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        every = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        for section in SECTIONS:
            write_commands(
                formatter,
                section,
                {name: one for name, one in every.items() if one and self._section(name, one) == section},
            )

    def _section(self, name: str, command: click.Command) -> str | None:
        return self._added[name][0] if name in self._added else getattr(command, "section", None)


@cache
def _own_commands() -> dict[str, click.Command]:
    """The commands of this package, whichever module declares them."""
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    values = [value for module in modules for value in vars(module).values()]
    return {
        value.name: value
        for value in values
        if isinstance(value, click.Command) and value.name and getattr(value, "section", None)
    }


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="souvenance")
def cli() -> None:
    """Long-term memory for AI agents, behind a gate."""


def run(open_installation: OpenInstallation, transfers: Transfers) -> int:
    """Run the command line and say how it ended."""
    try:
        with closing(Shell(open_installation, transfers)) as shell:
            return ended(cli, sys.argv[1:], "souvenance", shell)
    except KeyboardInterrupt:  # While it closed.
        return INTERRUPTED


def ended(command: click.Command, arguments: Sequence[str], name: str, shell: Shell | None = None) -> int:
    """Run a command, complain as every command does, and say how it ended."""
    as_json = "--json" in arguments
    try:
        code = command.main(args=list(arguments), prog_name=name, obj=shell, standalone_mode=False)
    except e.SouvenanceError as error:
        wants_json = as_json or (shell is not None and shell.json)
        _complain(error.code, error.detail, error.hint, as_json=wants_json)
        return exit_of(type(error))
    except ModuleNotFoundError as error:
        if error.name != "httpx":  # What speaks to servers. A memory on this machine alone does not need it.
            raise
        hint = f"Run: {install('client')}"
        _complain(e.Misconfigured.code, "this needs httpx, which is not installed", hint, as_json=as_json)
        return exit_of(e.Misconfigured)
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
