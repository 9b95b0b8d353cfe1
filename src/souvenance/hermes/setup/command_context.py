"""What the commands share: which installation and profile they are about, and how answers are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import msgspec

from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.config_reader import Complaint
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.setup.people import Carry
from souvenance.hermes.setup.profiles import HermesInstallation, environment_of, find_installation
from souvenance.hermes.setup.status import Inspect

_OTHERS_OPTIONS = ("home", "url", "cap", "workspace", "holder_key")
"""What the group above takes and these commands have no use for."""


@dataclass
class CommandContext:
    """One invocation."""

    home: str | None = None
    profile: str | None = None
    json: bool = False
    inspect: Inspect | None = None
    carry: Carry | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def installation(self) -> HermesInstallation:
        return find_installation(self.environment, self.home, self.profile)

    @property
    def surroundings(self) -> dict[str, str]:
        """The environment as Hermes sees it in this profile."""
        return environment_of(self.installation.current, self.environment)

    def read(self) -> tuple[Configuration, list[Complaint]]:
        """The profile's configuration, and what in it does not work."""
        profile = self.installation.current
        return read_configuration(profile.home, self.surroundings, profile.name)

    def configuration(self) -> Configuration:
        return self.read()[0]

    def say(self, text: str) -> None:
        """Tell how it goes meanwhile; beside the answer, if that is for a program."""
        click.echo(text, err=self.json)

    def show(self, answer: Any, text: Iterable[str]) -> None:
        """Print an answer, and end quietly if nobody reads any more."""
        told = msgspec.json.encode(answer, enc_hook=str).decode() if self.json else "\n".join(text)
        try:
            click.echo(told)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None


def settle(ctx: click.Context, command_context: CommandContext) -> None:
    """Take over what the group above was told. Raises: UsageError for what is not for these commands."""
    above = ctx.parent.obj if ctx.parent is not None else None
    if isinstance(above, CommandContext):
        return
    if any(getattr(above, name, None) for name in _OTHERS_OPTIONS):
        raise click.UsageError("These commands take their options after their name, such as --home.", ctx)
    command_context.json = command_context.json or bool(getattr(above, "json", False))


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if param.name is not None and value not in (None, False):
        setattr(ctx.ensure_object(CommandContext), param.name, value)


class HermesCommand(click.Command):
    """A command that takes the common options too, but for those that mean nothing to it."""

    def __init__(self, *args: Any, without: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(option for option in common_options() if not {*option.opts} & {*without})


def common_options() -> list[click.Option]:
    def option(*names: str, **kwargs: Any) -> click.Option:
        return click.Option(list(names), expose_value=False, callback=_remember, **kwargs)

    return [
        option("--home", metavar="DIR", help="Hermes' folder (HERMES_HOME, else ~/.hermes)."),
        option("--profile", metavar="NAME", help="The profile, if not the active one."),
        option("--json", is_flag=True, help="Answer in JSON."),
    ]


pass_command_context = click.make_pass_decorator(CommandContext, ensure=True)
