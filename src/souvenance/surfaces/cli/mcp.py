"""The command `souvenance mcp`: memory for the program that starts it, and how to set that program up."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec import Struct
from msgspec.structs import replace as changed

from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.errors import Conflict, InvalidInput, Misconfigured
from souvenance.extras import install
from souvenance.files import replace_file, translated
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.operation import Operation
from souvenance.surfaces.cli.client_files import ServerEntry
from souvenance.surfaces.cli.options import NAMES, OPERATE, Command, pass_shell
from souvenance.surfaces.cli.output import confirm, visible, yes_option
from souvenance.surfaces.cli.session import Shell, this_program

if TYPE_CHECKING:
    from souvenance.surfaces.mcp.owner import MemoryOwner, Task


CLIENTS = (
    *("claude-code", "claude-desktop", "codex", "cursor", "gemini-cli"),
    *("json", "opencode", "vscode", "windsurf", "zed"),
)
"""Those that `mcp_clients.toml` has a configuration for."""
_BY_COMMAND = "claude-code"
"""The one that is set up by a command in a shell. The others read a file."""


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
@click.option(
    "--write-config",
    type=click.Choice(CLIENTS),
    help="Write the configuration into this client's file. Shows the difference and asks first.",
)
@click.option("--file", type=click.Path(path_type=Path), help="With --write-config: the client's file.")
@click.option(
    "--http", metavar="URL", help="With --print-config or --write-config: connect to the server at URL."
)
@click.option(
    "--with-cap", is_flag=True, help="With --http: send the token in SOUVENANCE_CAP instead of signing in."
)
@yes_option
@pass_shell
def mcp(
    shell: Shell,
    /,
    print_config: str | None,
    write_config: str | None,
    file: Path | None,
    http: str | None,
    with_cap: bool,
    yes: bool,
    **narrowing: Any,
) -> None:
    """Serve the memory over MCP on standard input and output."""
    reach = _Reach(**narrowing)
    if reach.namespace is not None and (reach.read is not None or reach.write is not None):
        raise click.UsageError("--namespace stands for --read and --write: give it alone.")
    if print_config is not None and write_config is not None:
        raise click.UsageError("Give --print-config or --write-config, not both.")
    if (file is not None or yes) and write_config is None:
        raise click.UsageError("--file and --yes go with --write-config.")
    if print_config is not None:
        _print(shell, _client_setup(shell, reach, print_config, http, with_cap))
    elif write_config is not None:
        _write(shell, _client_setup(shell, reach, write_config, http, with_cap), file, ask=not yes)
    elif http is not None or with_cap:
        raise click.UsageError("--http and --with-cap go with --print-config or --write-config.")
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


class _ClientSetup(Struct, frozen=True):
    client: str
    where: str
    file: str | None
    entry: ServerEntry | None
    """None for a client that a command sets up."""
    setup: str
    """What its people run, or put into its file."""


def _client_setup(shell: Shell, reach: _Reach, client: str, http: str | None, with_cap: bool) -> _ClientSetup:
    """Raises: InvalidInput if the client can't be set up so."""
    import tomllib

    if http is None and with_cap:
        raise click.UsageError("--with-cap goes with --http.")
    if http is not None and reach.options():
        raise click.UsageError("What a server lets a client reach is in its cap: narrow that.")
    known = tomllib.loads(resources.files(__package__).joinpath("mcp_clients.toml").read_text("utf-8"))[
        client
    ]
    forms = {one: known[one] for one in ("local", "server", "server_with_cap")}
    values: dict[str, str | list[str]]
    if http is None:
        form, command = "local", [*this_program(), "mcp", *_place(shell), *reach.options()]
        values = {"<program>": command[0], "<arguments>": command[1:], "<command>": command}
    else:
        form, server = "server_with_cap" if with_cap else "server", http.rstrip("/")
        values = {"<url>": http if server.endswith("/mcp") else f"{server}/mcp"}
    where, file = known["where"], known.get("file_on_macos" if sys.platform == "darwin" else "file")
    if isinstance(forms[form], str):
        text = forms[form]
        for name, value in values.items():
            text = text.replace(name, shlex.quote(value) if isinstance(value, str) else shlex.join(value))
        if client == _BY_COMMAND:
            return _ClientSetup(client, where, None, None, text)
        raise InvalidInput(f"the file of {client} can't say that", hint=text)
    fields = {
        name: values.get(value, value) if isinstance(value, str) else value
        for name, value in forms[form].items()
    }
    ours = {name for one in forms.values() if isinstance(one, dict) for name in one}
    file = file or known.get("file")
    entry = ServerEntry(
        known["under"], fields, ours, known.get("new", {}), toml=(file or "").endswith(".toml")
    )
    return _ClientSetup(client, where, file, entry, entry.alone())


def _print(shell: Shell, found: _ClientSetup) -> None:
    if not shell.json:
        click.echo(f"# {found.where}:", err=True)
    shell.show({"client": found.client, "where": found.where, "setup": found.setup}, lambda: found.setup)


def _write(shell: Shell, found: _ClientSetup, file: Path | None, *, ask: bool) -> None:
    """Raises: InvalidInput, ConfirmationNeeded, Conflict, StorageUnavailable."""
    from difflib import unified_diff

    if found.entry is None:
        raise InvalidInput(f"{found.client} changes its file itself", hint=f"Run: {found.setup}")
    if file is None and found.file is None:
        raise InvalidInput("every client has a file of its own", hint="Name it with --file.")
    path = file or Path(cast("str", found.file)).expanduser()
    before = _text_of(path)
    after = found.entry.into(before)
    if after != before:
        difference = list(
            unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="")
        )
        click.echo(visible("\n".join(difference)), err=True)
        if ask:
            confirm(f"write this into {path}")
        if _text_of(path) != before:
            raise Conflict(f"{path} was changed meanwhile", hint="Run this again.")
        with translated(f"{path} can't be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, after.encode("utf-8", "surrogateescape"))
    result = {"client": found.client, "file": str(path), "changed": after != before}
    shell.show(
        result, lambda: f"{'written' if result['changed'] else 'up to date'}: {path}. Restart {found.client}."
    )


def _text_of(path: Path) -> str:
    with translated(f"{path} can't be read"):
        return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


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
