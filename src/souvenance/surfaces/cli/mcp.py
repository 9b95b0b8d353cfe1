"""The command `souvenance mcp`: memory for the program that starts it, and how to set that program up."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
from msgspec import Struct
from msgspec.structs import replace as changed

from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.upstream import is_address
from souvenance.errors import Conflict, InvalidInput
from souvenance.extras import importing
from souvenance.files import read_regular, replace_file, translated
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.operation import Operation
from souvenance.patterns import pattern
from souvenance.surfaces.cli.output import confirm, visible, yes_option
from souvenance.surfaces.cli.session import NAMES, OPERATE, Command, Shell, pass_shell, this_program

if TYPE_CHECKING:
    from souvenance.surfaces.mcp.memory import MemoryOwner, Task


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
        found = _client_setup(shell, reach, print_config, http, with_cap)
        if not shell.json:
            click.echo(f"# {found.where}:", err=True)
        shell.show({"client": found.client, "where": found.where, "setup": found.setup}, lambda: found.setup)
    elif write_config is not None:
        _write(shell, _client_setup(shell, reach, write_config, http, with_cap), file, ask=not yes)
    elif http is not None or with_cap:
        raise click.UsageError("--http and --with-cap go with --print-config or --write-config.")
    else:
        _serve(shell, reach)


def _serve(shell: Shell, reach: _Reach) -> None:
    with importing("mcp", "this needs the MCP SDK 2.3 or newer, which"):
        from souvenance.surfaces.mcp.server import serve_stdio
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
    from souvenance.surfaces.mcp.memory import TASKS, narrower, person_of

    given: m.WhoAmIAnswer = shell.call(o.WHOAMI, m.Nothing())
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


_NAME = "souvenance"
"""What the server is called there."""

_TOKEN = pattern(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+', re.DOTALL)


@dataclass(frozen=True)
class ServerEntry:
    under: str
    fields: dict[str, Any]
    known: Collection[str]
    """The fields that we may have set before. Others are the person's own."""
    new: dict[str, Any]
    """What a file that is missing begins with."""
    toml: bool

    def alone(self) -> str:
        """The file, if there is nothing else in it."""
        if self.toml:
            return "\n".join([f"[{self.under}.{_NAME}]", *_toml_lines(self.fields)])
        return json.dumps({**self.new, self.under: {_NAME: self.fields}}, indent=2, ensure_ascii=False)

    def into(self, text: str) -> str:
        """The file's text with the entry. Raises: InvalidInput."""
        import tomllib

        if not text.strip():
            return f"{self.alone()}\n"
        read = tomllib.loads if self.toml else _read_json
        try:
            before = read(text)
            wanted = {**before, self.under: {**before.get(self.under, {}), _NAME: self._merged(before)}}
            changed = self._in_toml(text) if self.toml else self._in_json(text, wanted[self.under][_NAME])
            if read(changed) == wanted:
                return changed
        except (ValueError, TypeError, AttributeError):
            pass
        raise InvalidInput(
            "the client's file can't be read, or can't be changed without losing what is in it",
            hint="--print-config prints what to add by hand.",
        )

    def _merged(self, before: dict[str, Any]) -> dict[str, Any]:
        old = before.get(self.under, {}).get(_NAME, {})
        kept = {name: value for name, value in old.items() if name not in self.known}
        return {**kept, **self.fields}

    def _in_toml(self, text: str) -> str:
        """Whoever calls this checks what came of it: of a value on several lines only the first is found."""
        head, lines = f"[{self.under}.{_NAME}]", text.splitlines()
        if head not in lines:
            return "\n".join([*lines, "", head, *_toml_lines(self.fields), ""])
        at = lines.index(head) + 1
        end = next((i for i in range(at, len(lines)) if lines[i].startswith("[")), len(lines))
        kept = [one for one in lines[at:end] if one.partition("=")[0].strip() not in self.known]
        return "\n".join([*lines[:at], *_toml_lines(self.fields), *kept, *lines[end:], ""])

    def _in_json(self, text: str, fields: dict[str, Any]) -> str:
        tokens = _tokens(text)
        unit = next((one[: -len(one.lstrip())] for one in text.splitlines() if one[:1] in " \t"), "") or "  "
        root = _members(tokens, 0)
        if self.under not in root:
            return _with_first(text, tokens[0].end, self.under, {_NAME: fields}, unit, 1, lonely=not root)
        servers = _members(tokens, root[self.under][0])
        if _NAME not in servers:
            opening = tokens[root[self.under][0]].end
            return _with_first(text, opening, _NAME, fields, unit, 2, lonely=not servers)
        first, last = servers[_NAME]
        return text[: tokens[first].start] + _drawn(fields, unit, 2) + text[tokens[last].end :]


def _toml_lines(fields: dict[str, Any]) -> list[str]:
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


class _Token(NamedTuple):
    start: int
    end: int
    text: str


def _tokens(text: str) -> list[_Token]:
    """Those that JSON has: no comment, and no comma before what closes. Raises: ValueError."""
    found: list[_Token] = []
    at = 0
    for one in _TOKEN.finditer(text):
        if text[at : one.start()].strip():
            raise ValueError
        at = one.end()
        if one[0].startswith(("//", "/*")):
            continue
        if one[0] in "}]" and found and found[-1].text == ",":
            found.pop()
        found.append(_Token(*one.span(), one[0]))
    if text[at:].strip():
        raise ValueError
    return found


def _read_json(text: str) -> dict[str, Any]:
    """Raises: ValueError."""
    found = json.loads(" ".join(one.text for one in _tokens(text)))
    if not isinstance(found, dict):
        raise ValueError
    return found


def _members(tokens: list[_Token], at: int) -> dict[str, tuple[int, int]]:
    """Of each member of the object that opens there, the first and the last token of its value."""
    if tokens[at].text != "{":
        raise ValueError
    found, at = {}, at + 1
    while tokens[at].text != "}":
        last, depth = at + 1, 0
        while last == at + 1 or depth:
            last += 1
            depth += (tokens[last].text in "{[") - (tokens[last].text in "}]")
        found[json.loads(tokens[at].text)] = (at + 2, last)
        at = last + 1 + (tokens[last + 1].text == ",")
    return found


def _with_first(
    text: str, at: int, name: str, value: dict[str, Any], unit: str, depth: int, *, lonely: bool
) -> str:
    """The text with a member more, the first in the object that opens before `at`."""
    added = f"\n{unit * depth}{json.dumps(name)}: {_drawn(value, unit, depth)}"
    rest = text[at:]
    return text[:at] + added + (f"\n{unit * (depth - 1)}{rest.lstrip()}" if lonely else f",{rest}")


def _drawn(value: dict[str, Any], unit: str, depth: int) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{unit * depth}")


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
        if not is_address(http):
            raise InvalidInput("--http takes the address of a server", hint="E.g. --http https://HOST.")
        form, server = "server_with_cap" if with_cap else "server", http.rstrip("/")
        values = {"<url>": http if server.endswith("/mcp") else f"{server}/mcp"}
    where, file = known["where"], known.get("file_on_macos" if sys.platform == "darwin" else "file")
    if isinstance(forms[form], str):
        text = forms[form]
        for name, value in values.items():
            text = text.replace(name, shlex.quote(value) if isinstance(value, str) else shlex.join(value))
        if client == _BY_COMMAND:
            return _ClientSetup(client, where, None, None, text)
        raise InvalidInput(f"{client} can't be set up like that", hint=text)
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
        return read_regular(path).decode("utf-8", "surrogateescape") if path.exists() else ""


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
