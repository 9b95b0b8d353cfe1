"""The command `souvenance mcp`: memory for the program that starts it, and how to set that program up."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace as changed

from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.errors import InvalidInput, Misconfigured
from souvenance.extras import install
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.operation import Operation
from souvenance.surfaces.cli.options import NAMES, OPERATE, Command, pass_shell
from souvenance.surfaces.cli.session import Shell

if TYPE_CHECKING:
    from souvenance.surfaces.mcp.owner import MemoryOwner, Task


CLIENTS = ("claude-code", "codex", "opencode", "cursor")
"""Those that `mcp_clients.toml` has a configuration for."""
_SHELL = "claude-code"
"""The one that is set up by a command in a shell. The others read JSON strings and lists."""


class _Reach(Struct, frozen=True):
    """How far the model may reach, as far as the cap does."""

    peer: str | None
    via: tuple[str, ...] | None
    session: str | None
    namespace: str | None
    read: tuple[str, ...] | None
    write: str | None

    @property
    def read_namespaces(self) -> tuple[str, ...] | None:
        return self.read if self.namespace is None else (self.namespace,)

    @property
    def write_namespace(self) -> str | None:
        return self.write or self.namespace

    @property
    def only_reads(self) -> bool:
        return self.read is not None and self.write is None

    def options(self) -> list[str]:
        """What to start this command with to get the same again."""
        named = {
            "--peer": self.peer,
            "--via": None if self.via is None else ",".join(self.via),
            "--session": self.session,
            "--namespace": self.namespace,
            "--read": None if self.read is None else ",".join(self.read),
            "--write": self.write,
        }
        return [part for name, value in named.items() if value is not None for part in (name, value)]


@click.command("mcp", cls=Command, section=OPERATE)
@click.option("--peer", help="Use this peer's memory instead of your own.")
@click.option("--via", type=NAMES, help="Also read what these agents know of the peer.")
@click.option("--session", help="The session that new lines belong to.")
@click.option("--namespace", "-n", help="Read and write only this namespace.")
@click.option("--read", type=NAMES, help="Read only these namespaces. Without --write, write nothing.")
@click.option("--write", help="Write only to this namespace.")
@click.option("--print-config", type=click.Choice(CLIENTS), help="Print the configuration for this client.")
@click.option("--http", metavar="URL", help="With --print-config: connect to the server at URL.")
@click.option(
    "--with-cap", is_flag=True, help="With --http: send the token in SOUVENANCE_CAP instead of signing in."
)
@pass_shell
def mcp(
    shell: Shell, /, print_config: str | None, http: str | None, with_cap: bool, **narrowing: Any
) -> None:
    """Serve the memory over MCP on standard input and output."""
    reach = _Reach(**narrowing)
    if reach.namespace is not None and (reach.read is not None or reach.write is not None):
        raise click.UsageError("--namespace stands for --read and --write: give it alone.")
    if print_config is not None:
        _print(shell, reach, print_config, http, with_cap)
    elif http is not None or with_cap:
        raise click.UsageError("--http and --with-cap go with --print-config.")
    else:
        _serve(shell, reach)


def _serve(shell: Shell, reach: _Reach) -> None:
    try:
        from souvenance.surfaces.mcp.server import serve_stdio
    except ImportError:
        raise Misconfigured("this needs the MCP SDK 2.3 or newer", hint=f"Run: {install('mcp')}") from None
    shell.makes = True
    person, shells = _narrowed(shell, reach)

    def call(task: Task, operation: Operation, request: m.Request) -> Any:
        return shells[task].call(operation, request)

    if sys.stdin.isatty():
        click.echo(
            "This speaks MCP, for a program to use. Ctrl-D ends it."
            " 'souvenance mcp --print-config CLIENT' shows how to set a client up.",
            err=True,
        )
    with nullcontext() if shell.is_remote else shell.installation().working():
        serve_stdio(person, call)


def _narrowed(shell: Shell, reach: _Reach) -> tuple[MemoryOwner, dict[Task, Shell]]:
    """Whose memory it is, and for each task a shell with a cap for it alone. Raises: SouvenanceError."""
    from souvenance.surfaces.mcp.owner import TASKS, narrower, person_of

    given: m.WhoAmIAnswer = shell.call(o.WHOAMI, m.WhoAmI())
    token = shell.token()
    name = reach.peer or given.sub
    own_eyes = tuple(given.via) if name == given.sub else ()
    wanted = changed(
        given,
        sub=name,
        wid=DEFAULT_WORKSPACE if given.wid == ALL else given.wid,
        via=list(own_eyes if reach.via is None else reach.via),
        ops=[op for op in given.ops if not (reach.only_reads and op in ("put", "forget"))],
    )
    person = person_of(wanted, session=reach.session, namespace=reach.write_namespace)
    shells = {}
    for task in TASKS:
        wished = narrower(person, task, read=reach.read_namespaces, write=reach.write_namespace)
        made = shell.attenuated(token, wished).cap
        shells[task] = replace(shell, cap=made, workspace=None, holder_key=None)
    return person, shells


def _print(shell: Shell, reach: _Reach, client: str, http: str | None, with_cap: bool) -> None:
    import tomllib

    if http is None and with_cap:
        raise click.UsageError("--with-cap goes with --http.")
    if http is not None and reach.options():
        raise click.UsageError("What a server lets a client reach is in its cap: narrow that.")
    known = resources.files(__package__).joinpath("mcp_clients.toml").read_text("utf-8")
    texts = tomllib.loads(known)[client]
    if http is None:
        command = [*_program(), "mcp", *_place(shell), *reach.options()]
        setup, values = texts["local"], {"program": command[0], "arguments": command[1:], "command": command}
    else:
        setup = texts["server_with_cap" if with_cap else "server"]
        server = http.rstrip("/")
        values = {"url": http if server.endswith("/mcp") else f"{server}/mcp"}
    for name, value in values.items():
        setup = setup.replace(f"<{name}>", _quoted(client, value))
    where = texts["where"]
    if not shell.json:
        click.echo(f"# {where}:", err=True)
    shell.show({"client": client, "where": where, "setup": setup}, lambda: setup)


def _quoted(client: str, value: str | Sequence[str]) -> str:
    if client != _SHELL:
        return json.dumps(value, ensure_ascii=False)
    return shlex.quote(value) if isinstance(value, str) else shlex.join(value)


def _program() -> tuple[str, ...]:
    """This program, as another one can start it from anywhere."""
    script = Path(sys.argv[0])
    runs = script.name == "souvenance" and script.is_file() and os.access(script, os.X_OK)
    return (str(script.absolute()),) if runs else (sys.executable, "-m", "souvenance")


def _place(shell: Shell) -> list[str]:
    """The options that lead to the same memory and cap. Raises: InvalidInput for a cap given in full."""
    home = shell.home or os.environ.get("SOUVENANCE_HOME")
    config = shell.config or os.environ.get("SOUVENANCE_CONFIG")
    given = shell.cap or os.environ.get("SOUVENANCE_CAP")
    if given is not None and not given.startswith("@"):
        raise InvalidInput(
            "the whole token would be in the configuration", hint="Keep it in a file and pass --cap @FILE."
        )
    named = {
        "--home": home and _absolute(home),
        "--config": config and _absolute(config),
        "--url": shell.url or os.environ.get("SOUVENANCE_URL"),
        "--cap": given and f"@{_absolute(given[1:])}",
        "--holder-key": shell.holder_key and _absolute(shell.holder_key),
        "--workspace": shell.workspace,
    }
    return [part for name, value in named.items() if value for part in (name, value)]


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())
