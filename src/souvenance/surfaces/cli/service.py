"""The commands `souvenance service …`: a server of one's own, which runs whenever one is signed in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import click
from msgspec import Struct

from souvenance.errors import Misconfigured, Unsupported
from souvenance.files import replace_file, translated
from souvenance.settings import SETTINGS
from souvenance.surfaces.cli.operate import DEFAULT_PORT
from souvenance.surfaces.cli.session import OPERATE, Group, Shell, pass_shell, this_program

_UNIT = "souvenance.service"
_LABEL = "io.souvenance.server"
_TEXT = resources.files(__package__).joinpath(_UNIT)


class ServiceManager(Struct, frozen=True):
    """What starts programs with a person's session: where it finds ours, and what it is told."""

    file: Path
    content: bytes
    start: Sequence[Sequence[str]]
    stop: Sequence[str]
    state: Sequence[str]
    """Succeeds if it runs."""
    log: str
    """How the server's log is read."""


def systemd(home: Path, command: Sequence[str], environment: Mapping[str, str]) -> ServiceManager:
    def quoted(text: str) -> str:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
        return f'"{text}"'

    given = "\n".join(f"Environment={quoted(f'{name}={value}')}" for name, value in environment.items())
    started = " ".join(quoted(one).replace("$", "$$") for one in command)
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd/user"
    ask = ("systemctl", "--user")
    return ServiceManager(
        folder / _UNIT,
        _TEXT.read_text("utf-8").format(command=started, environment=given).encode(),
        ((*ask, "daemon-reload"), (*ask, "enable", _UNIT), (*ask, "restart", _UNIT)),
        (*ask, "disable", "--now", _UNIT),
        (*ask, "is-active", "--quiet", _UNIT),
        f"journalctl --user --unit {_UNIT}",
    )


def launchd(home: Path, command: Sequence[str], environment: Mapping[str, str]) -> ServiceManager:
    import plistlib

    file, log = home / f"Library/LaunchAgents/{_LABEL}.plist", home / "Library/Logs/souvenance.log"
    agent = {
        "Label": _LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
        "StandardOutPath": str(log),
        "StandardErrorPath": str(log),
    }
    domain = f"gui/{os.getuid()}"
    return ServiceManager(
        file,
        plistlib.dumps(agent),
        (("launchctl", "bootstrap", domain, str(file)),),
        ("launchctl", "bootout", f"{domain}/{_LABEL}"),
        ("launchctl", "print", f"{domain}/{_LABEL}"),
        f"tail -f {log}",
    )


@click.group("service", cls=Group, section=OPERATE)
def service() -> None:
    """Run a server whenever you are signed in."""


@service.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on.",
)
@click.option("--no-start", is_flag=True, help="Only write the file.")
@pass_shell
def install(shell: Shell, port: int, no_start: bool) -> None:
    """Install the service and start it. Again: replaces it and starts it anew."""
    manager = _manager(shell, port)
    with translated(f"{manager.file} can't be written"):
        manager.file.parent.mkdir(parents=True, exist_ok=True)
    was_there = manager.file.exists()
    replace_file(manager.file, manager.content, 0o600)
    if not no_start:
        if was_there:
            _succeeds(manager.stop)
        for command in manager.start:
            _tell(command)
    _warn_of_variables()
    shell.show(
        {"file": str(manager.file), "started": not no_start},
        lambda: (
            f"written: {manager.file}",
            f"The server is at http://127.0.0.1:{port}. Its log: {manager.log}",
        ),
    )


@service.command()
@pass_shell
def uninstall(shell: Shell) -> None:
    """Stop the service and remove it. What is remembered stays."""
    manager = _manager(shell)
    was_there = manager.file.exists()
    if was_there:
        _succeeds(manager.stop)
        with translated(f"{manager.file} can't be removed"):
            manager.file.unlink()
    shell.show(
        {"file": str(manager.file), "removed": was_there},
        lambda: f"{'removed' if was_there else 'not installed'}: {manager.file}",
    )


@service.command()
@pass_shell
def status(shell: Shell) -> None:
    """Show whether the service is installed, and whether it runs."""
    manager = _manager(shell)
    installed = manager.file.exists()
    runs = installed and _succeeds(manager.state)
    state = "runs" if runs else "stopped" if installed else "not installed"
    shell.show(
        {"file": str(manager.file), "installed": installed, "runs": runs},
        lambda: f"{state}: {manager.file}. Its log: {manager.log}" if installed else state,
    )


def _manager(shell: Shell, port: int = DEFAULT_PORT) -> ServiceManager:
    command = [*this_program(), "serve", "--port", str(port)]
    environment = {"SOUVENANCE_HOME": str(shell.settings.home.absolute())}
    if config := shell.config or os.environ.get("SOUVENANCE_CONFIG"):
        environment["SOUVENANCE_CONFIG"] = str(Path(config).expanduser().absolute())
    return (launchd if sys.platform == "darwin" else systemd)(Path.home(), command, environment)


def _warn_of_variables() -> None:
    """A service has no variables of a shell."""
    known = {one.variable for name, one in SETTINGS.items() if name not in ("home", "config", "url", "cap")}
    if found := sorted(known & os.environ.keys()):
        click.echo(
            f"Not for the service: {', '.join(found)}. Put that into souvenance.toml in the data folder.",
            err=True,
        )


def _succeeds(command: Sequence[str]) -> bool:
    return _run(command).returncode == 0


def _tell(command: Sequence[str]) -> None:
    """Raises: Misconfigured, Unsupported."""
    ran = _run(command)
    if ran.returncode:
        raise Misconfigured(
            f"{' '.join(command)} failed: {ran.stderr.strip()}",
            hint="The file is written. With --no-start nothing is started.",
        )


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our words
    except FileNotFoundError:
        raise Unsupported(
            f"there is no {command[0]} on this machine",
            hint="Start 'souvenance serve' with what starts programs here.",
        ) from None
