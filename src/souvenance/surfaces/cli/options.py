"""Commands and groups with the options that every command takes, and the values that options read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

import click

from souvenance.domain import ulid
from souvenance.errors import InvalidInput
from souvenance.language.times import TimeSpan
from souvenance.surfaces.cli.session import Shell
from souvenance.surfaces.local_time import here

REMEMBER, PEOPLE, ACCESS, DATA, OPERATE = SECTIONS = ("Remember", "People", "Access", "Data", "Operate")
"""What people do with commands; `souvenance --help` groups them so."""
OTHER_NAMES = {
    **dict.fromkeys(("ask", "find", "query", "recall", "search"), "get"),
    **dict.fromkeys(("add", "remember", "save", "store", "write"), "put"),
    **dict.fromkeys(("delete", "erase", "remove", "rm"), "forget"),
    **dict.fromkeys(("edit", "replace", "update"), "correct"),
    **dict.fromkeys(("run", "server", "start"), "serve"),
    **dict.fromkeys(("token", "tokens"), "cap"),
    **dict.fromkeys(("log", "logs"), "audit"),
    "check": "doctor",
    "ls": "list",
    "settings": "config",
    "show": "line",
    "worker": "work",
}
"""What people type for a command that has another name."""
_SUMMARY_CHARACTERS = 500
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of whatever clock people go by
_SURE = 0.7
"""From this certainty on, the year or week of a time was said, not guessed."""
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    shell = ctx.find_object(Shell)
    if shell is not None and param.name is not None and value not in (None, False):
        setattr(shell, param.name, value)


def _common() -> list[click.Parameter]:
    def option(*names: str, **kwargs: Any) -> click.Option:
        return click.Option(list(names), expose_value=False, callback=_remember, **kwargs)

    return [
        option("--home", metavar="DIR", help="Data folder [SOUVENANCE_HOME, default: ~/.souvenance]."),
        option(
            "--config",
            metavar="FILE",
            help="Settings file [SOUVENANCE_CONFIG, default: souvenance.toml in the data folder].",
        ),
        option(
            "--url",
            metavar="URL",
            help="Use the server at this address, not the data folder [SOUVENANCE_URL].",
        ),
        option(
            "--cap", metavar="CAP", help="Capability token, or @FILE [SOUVENANCE_CAP, default: the owner's]."
        ),
        option("--holder-key", metavar="FILE", help="Private key of a token that is bound to a key."),
        option("--workspace", metavar="NAME", help="Use only this workspace."),
        option("--json", is_flag=True, help="Print JSON."),
    ]


class Command(click.Command):
    """A command that takes the common options too. With a section it is a command of `souvenance` itself."""

    def __init__(self, *args: Any, section: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section
        self.params.extend(_common())


class Group(Command, click.Group):
    """A group whose commands take the common options as it does."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            meant = [OTHER_NAMES[args[0]]] if OTHER_NAMES.get(args[0]) in known else []
            near = meant or get_close_matches(args[0], known, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(formatter, "Commands", self.commands)


def write_commands(formatter: click.HelpFormatter, title: str, commands: Mapping[str, click.Command]) -> None:
    """Write each command with the whole first sentence of its help."""
    with formatter.section(title):
        formatter.write_dl(
            [(name, one.get_short_help_str(_SUMMARY_CHARACTERS)) for name, one in sorted(commands.items())]
        )


def listens(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of where it listens, but for the port."""
    for option in (
        click.option(
            "--host-name", multiple=True, help="Host name that remote clients use; repeat it for more."
        ),
        click.option(
            "--allow-remote", is_flag=True, help="Allow other machines to connect. Put TLS in front."
        ),
        click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    ):
        command = option(command)
    return command


of_peer: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--peer",
    metavar="NAME",
    help="Use this peer's memory instead of your own.",
    expose_value=False,
    callback=_remember,
)
recipients: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--recipient",
    multiple=True,
    metavar="KEY",
    help="Encrypt it with age for this key (age1… or ssh-ed25519 …); repeat it for more.",
)


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())


class TimeRangeOption(click.ParamType[int]):
    """A length of time such as 90s, 15m, 1h, 30d."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        seconds = _seconds(value)
        if seconds is None:
            self.fail(f"{value!r} is not a time such as 90s, 15m, 1h or 30d", param, ctx)
        return seconds


def _seconds(value: str) -> int | None:
    found = re.fullmatch(r"(\d{1,9})([smhdw]?)", value)
    return int(found[1]) * _SECONDS[found[2] or "s"] if found else None


class Moment(click.ParamType[datetime]):
    """A date or time in ISO 8601, in words, or as an age. A day or week stands for its start, or its end."""

    name = "time"

    def __init__(self, *, end: bool = False) -> None:
        self._end = end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return read_time(value.strip(), datetime.now().astimezone(), end=self._end)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time. Write a date or time (2026-03-01, 2026-03-01T09:00Z), words"
                " (yesterday, last week) or an age (3d, 2h).",
                param,
                ctx,
            )


def read_time(value: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment that the value names; of a stretch, its start or end. Raises: ValueError, OverflowError."""
    age = None if value.isdigit() else _seconds(value)
    if age is not None:
        return now - timedelta(seconds=age)
    if found := _stretch(value, now.replace(tzinfo=UTC)):
        return here(_EPOCH + timedelta(milliseconds=found.end_ms if end else found.start_ms))
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else here(moment)


def _stretch(value: str, now: datetime) -> TimeSpan | None:
    """The stretch of time that the value names. A guess is made in the past: 'monday' is the last one."""
    from souvenance.language.times.search import spans

    at = int(now.timestamp() * 1000)
    found = next(iter(spans(value, at)), None)
    if found is None or found.phrase != value or found.grain == "open":
        return None
    if found.start_ms <= at or found.certainty >= _SURE:
        return found
    past = next((one.start_ms for one in spans(f"since {value}", at) if one.start_ms <= at), found.start_ms)
    return TimeSpan(past, past + found.end_ms - found.start_ms)


class LineId(click.ParamType[str]):
    """The id of a line."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return ulid.check(value)
        except InvalidInput:
            raise InvalidInput(
                f'"{value}" is not a line id',
                hint="Ids look like 01M7ENKXSQN27K8P92THXMV5N1; 'souvenance list' shows them.",
            ) from None


LINE_ID = LineId()
NAMES = Names()
SPAN = TimeRangeOption()
MOMENT, END = Moment(), Moment(end=True)
pass_shell = click.make_pass_decorator(Shell)
