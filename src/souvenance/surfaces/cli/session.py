"""What every command shares: its options, where the memory is, and which cap speaks."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.config import Settings, settings_from
from souvenance.domain import capability as cap
from souvenance.domain import proof, ulid
from souvenance.domain.encoding import unb64
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.proof import Bound
from souvenance.errors import CapMissing, InvalidInput, Unavailable
from souvenance.files import file_text, read_regular
from souvenance.gate.messages import Attenuate, CapAnswer, Nothing, Request, checked
from souvenance.gate.operation import Operation
from souvenance.gate.operations import COMPARTMENTS, WHOAMI
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated
from souvenance.language.times import TimeSpan
from souvenance.surfaces.cli.output import say
from souvenance.surfaces.local_time import here
from souvenance.surfaces.open_memory import OpenInstallation, OpenMemory, Transfers

if TYPE_CHECKING:
    from souvenance.gate.replication import RepairReport


_CARRYING_SECONDS = 5.0


class GateCaller(Protocol):
    """The gate, here or behind a URL."""

    def bind(self, operation: Operation, request: Request) -> Bound: ...

    def call(self, operation: Operation, credentials: Credentials, request: Request) -> Any: ...


@dataclass
class Shell:
    """One invocation of the command line."""

    open_installation: OpenInstallation
    transfers: Transfers
    home: str | None = None
    config: str | None = None
    url: str | None = None
    cap: str | None = None
    workspace: str | None = None
    holder_key: str | None = None
    json: bool = False
    peer: str | None = None
    """Whose memory is looked at; None for that of the cap's own subject."""
    makes: bool = False
    """Whether a data folder that was never set up is made; what only looks or deletes says so instead."""
    _installation: OpenMemory | None = field(default=None, repr=False)
    _caller: GateCaller | None = field(default=None, repr=False)
    _opened: list[Callable[[], None]] = field(default_factory=list, repr=False)

    @cached_property
    def settings(self) -> Settings:
        return settings_from(os.environ, self.home, config=self.config, url=self.url, cap=self.cap)

    def installation(self, **options: Any) -> OpenMemory:
        if self._installation is None:
            self._installation = self.open_installation(self.settings, make=self.makes, **options)
            self._opened.append(partial(_leave, self._installation))
        return self._installation

    def call(self, operation: Operation, request: Request, *, workspace: str | None = None) -> Any:
        """Ask the gate, with the cap of this invocation. Raises: SouvenanceError."""
        request = checked(request)
        caller = self._connected()
        token = self.token(workspace)
        credentials = Credentials(token)
        if cap.read_unverified(token)[1]:
            credentials = self._proved(token, caller.bind(operation, request))
        return caller.call(operation, credentials, request)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Meanwhile the data folder is read as it is at one moment, also if others write."""
        with self.installation().gate.still() as gate:
            self._caller = gate
            try:
                yield
            finally:
                self._caller = None

    def token(self, workspace: str | None = None) -> str:
        """The cap of this invocation, narrowed to a workspace if one was named."""
        given = self.settings.cap
        if given is None:
            token = self._owner_cap()
        else:
            token = file_text(given[1:]) if given.startswith("@") else given.strip()
        if not token:
            raise CapMissing("the cap that was given is empty")
        named = workspace or self.workspace
        if not named and not self.peer:
            return token
        return self.attenuated(token, Attenuate(sub=self.peer, wid=named)).cap

    def grants(self, op: str) -> bool:
        """Whether the cap of this invocation says that it allows the operation; the gate decides."""
        self._connected()
        return op in cap.read_unverified(self.token())[0][-1].ops

    def attenuated(self, token: str, request: Attenuate) -> CapAnswer:
        """A narrower cap, made here and now."""
        return attenuated(
            token,
            request,
            jti=fresh_ulid(),
            now=int(time.time()),
            secret=Ed25519PrivateKey.generate(),
            holder_secret=self._holder_secret(),
        )

    def own_workspace(self) -> str:
        """The workspace that the cap of this invocation speaks for. Raises: SouvenanceError."""
        named: str = self.call(WHOAMI, Nothing()).wid
        return DEFAULT_WORKSPACE if named == ALL else named

    def show(self, answer: Any, text: Callable[[], str | Iterable[str]]) -> None:
        """Print an answer: as JSON if asked for, else the text, or rows of it."""
        if self.json:
            say(msgspec.json.encode(answer).decode())
            return
        found = text()
        if shown := found if isinstance(found, str) else "\n".join(found):
            say(shown)

    def renew(self) -> None:
        """Open the data folder anew, with a new owner's cap."""
        self._installation, self._caller = None, None
        self.installation(renew_owner_cap=True)

    def close(self) -> None:
        for close in self._opened:
            close()

    @property
    def is_remote(self) -> bool:
        """Whether a server is asked, and not the data folder."""
        return bool(self.settings.url)

    def _connected(self) -> GateCaller:
        if self._caller is None:
            if url := self.settings.url:
                from souvenance.surfaces.http.client import RemoteGate

                remote = RemoteGate(url)
                self._opened.append(remote.close)
                self._caller = remote
            else:
                self._caller = self.installation().gate
        return self._caller

    def _owner_cap(self) -> str:
        if self._installation is not None:
            return self._installation.owner_cap
        path = self.settings.owner_cap
        try:
            return read_regular(path).decode().strip()
        except OSError:
            raise CapMissing(
                f"no cap was given and there is none at {path}", hint="Give one with --cap or SOUVENANCE_CAP."
            ) from None

    def _proved(self, token: str, bound: Bound) -> Credentials:
        key = self._holder_secret()
        if key is None:
            return Credentials(token, None, bound)
        made = proof.make(token, bound, key=key, jti=fresh_ulid(), now=int(time.time()))
        return Credentials(token, made, bound)

    def _holder_secret(self) -> Ed25519PrivateKey | None:
        if self.holder_key is None:
            return None
        try:
            return Ed25519PrivateKey.from_private_bytes(unb64(file_text(self.holder_key)))
        except ValueError:
            raise InvalidInput(
                f"{self.holder_key} holds no key", hint="Make one: 'souvenance cap holder-key'."
            ) from None


def _leave(installation: OpenMemory) -> None:
    """Take to the bucket what this command left for it; what can't be waits in the store."""
    with suppress(Unavailable):
        installation.carry(_CARRYING_SECONDS)
    installation.close()


def mend(
    shell: Shell, work: Callable[[OpenMemory], RepairReport], *, rebuilding: bool = False
) -> RepairReport:
    """Raises: SouvenanceError, also without a cap for the whole installation."""
    if shell.is_remote:
        raise InvalidInput("this works only where the data folder is", hint="Leave --url out.")
    installation = shell.installation(rebuilding=rebuilding)
    shell.call(COMPARTMENTS, Nothing())
    return work(installation)


def fresh_ulid() -> str:
    return ulid.compose(time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES))


def this_program() -> tuple[str, ...]:
    """This program, as another one can start it from anywhere."""
    script = Path(sys.argv[0])
    runs = script.name == "souvenance" and script.is_file() and os.access(script, os.X_OK)
    return (str(script.absolute()),) if runs else (sys.executable, "-m", "souvenance")


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


class ReadType(click.ParamType[Any]):
    """A type of options whose text is read so. What was read already, such as a default, stays as it is."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._read(value) if isinstance(value, str) else value


def _names(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _span(value: str) -> int:
    seconds = _seconds(value)
    if seconds is None:
        raise click.BadParameter(f"{value!r} is not a time such as 90s, 15m, 1h or 30d")
    return seconds


def _seconds(value: str) -> int | None:
    found = re.fullmatch(r"(\d{1,9})([smhdw]?)", value)
    return int(found[1]) * _SECONDS[found[2] or "s"] if found else None


def _moment(value: str, *, end: bool = False) -> datetime:
    """A date or time in ISO 8601, in words, or as an age. A day or week stands for its start, or its end."""
    try:
        return read_time(value.strip(), datetime.now().astimezone(), end=end)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{value!r} is not a time. Write a date or time (2026-03-01, 2026-03-01T09:00Z), words"
            " (yesterday, last week) or an age (3d, 2h)."
        ) from None


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


def _line_id(value: str) -> str:
    try:
        return ulid.check(value)
    except InvalidInput:
        raise InvalidInput(
            f'"{value}" is not a line id',
            hint="Ids look like 01M7ENKXSQN27K8P92THXMV5N1; 'souvenance list' shows them.",
        ) from None


LINE_ID, NAMES, SPAN = ReadType("id", _line_id), ReadType("names", _names), ReadType("time", _span)
MOMENT, END = ReadType("time", _moment), ReadType("time", partial(_moment, end=True))
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
pass_shell = click.make_pass_decorator(Shell)
