"""Options that every command takes, before or after its name, and the values they read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from souvenance.domain import ulid
from souvenance.errors import InvalidInput
from souvenance.surfaces.cli.session import Shell
from souvenance.surfaces.local_time import here

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    shell = ctx.find_object(Shell)
    if shell is not None and param.name is not None and value not in (None, False):
        setattr(shell, param.name, value)


def _common() -> list[click.Parameter]:
    def option(*names: str, **kwargs: Any) -> click.Option:
        return click.Option(list(names), expose_value=False, callback=_remember, **kwargs)

    return [
        option("--home", metavar="DIR", help="Data folder (SOUVENANCE_HOME, else ~/.souvenance)."),
        option(
            "--url", metavar="URL", help="Ask a running server instead of the data folder (SOUVENANCE_URL)."
        ),
        option("--cap", metavar="CAP", help="The cap, or @FILE (SOUVENANCE_CAP, else the owner's)."),
        option("--holder-key", metavar="FILE", help="The key that a bound cap is bound to."),
        option("--workspace", metavar="NAME", help="Narrow the cap to this workspace first."),
        option("--json", is_flag=True, help="Answer in JSON."),
    ]


class Command(click.Command):
    """A command that takes the common options too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_common())


class Group(click.Group):
    """A group that takes the common options too, and whose commands do."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_common())


def listens(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of where it listens, but for the port."""
    for option in (
        click.option("--host-name", multiple=True, help="A name that remote clients call this process by."),
        click.option(
            "--allow-remote", is_flag=True, help="Needed to listen beyond this machine; put TLS in front."
        ),
        click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen."),
    ):
        command = option(command)
    return command


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
        found = re.fullmatch(r"(\d{1,9})([smhdw]?)", value)
        if not found:
            self.fail(f"{value!r} is not a time such as 90s, 15m, 1h or 30d", param, ctx)
        return int(found[1]) * _SECONDS[found[2] or "s"]


class Moment(click.ParamType[datetime]):
    """A date or a time in ISO 8601; without a zone it is that of this machine."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is not a date or time such as 2026-05-25 or 2026-05-25T09:00:00Z", param, ctx
            )
        return moment if moment.tzinfo else here(moment)


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
MOMENT = Moment()
pass_shell = click.make_pass_decorator(Shell)
