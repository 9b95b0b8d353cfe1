"""What is no regular file is refused at once: a pipe would wait for ever, and a device might never end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import click
import pytest

from souvenance.commands import command_line
from souvenance.settings import SETTINGS
from surfaces.door import souvenance

pytestmark = pytest.mark.embedded("it is about files that are read")

KINDS = ("mem0", "chatgpt", "jsonl", "markdown", "souvenance")
REFUSALS = ("import_unreadable: ", "import_unrecognised: ", "invalid_input: ", "Usage: ")
COMMANDS = {
    "import": ("import",),
    **{f"import {kind}": ("import", "--from", kind) for kind in KINDS},
    "restore": ("restore",),
}


def pipe(folder):
    os.mkfifo(folder / "source.jsonl")
    return folder / "source.jsonl"


def device(folder):
    return Path("/dev/zero")


def bound(folder):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "source.jsonl"))
    return folder / "source.jsonl"


def directory(folder):
    (folder / "source.jsonl").mkdir()
    return folder / "source.jsonl"


@pytest.mark.parametrize("asked", COMMANDS)
@pytest.mark.parametrize("made", [pipe, device, bound, directory])
def test_what_is_no_regular_file_is_not_read(tmp_path, asked, made):
    source = made(tmp_path)
    refused = souvenance(*COMMANDS[asked], str(source), home=tmp_path / "home", exit_code=None)
    assert refused.exit_code in (2, 3)
    assert str(source) in refused.err
    assert refused.err.startswith(REFUSALS)


@pytest.mark.parametrize("name", ["root.key", "signing.key", "owner.cap"])
def test_a_key_that_is_a_pipe_is_not_waited_for(home, name):
    souvenance("init", home=home)
    (home / name).unlink()
    os.mkfifo(home / name, 0o600)
    assert "not a regular file" in souvenance("get", home=home, exit_code=11).err


def test_an_identity_that_is_a_pipe_is_not_waited_for(home, tmp_path):
    souvenance("put", "hello", home=home)
    souvenance("backup", str(tmp_path / "b"), home=home)
    os.mkfifo(tmp_path / "key", 0o600)
    asked = ("restore", str(tmp_path / "b"), "--identity", str(tmp_path / "key"))
    assert "not a regular file" in souvenance(*asked, home=tmp_path / "new", exit_code=11).err


LINE = "01M7ENKXSQN27K8P92THXMV5N1"
NAMED = {
    "--cap": ("status", "--cap", "@{}"),
    "--config": ("status", "--config", "{}"),
    "--holder-key": ("cap", "attenuate", "--ops", "get", "--holder-key", "{}"),
    "audit verify --checkpoint": ("audit", "verify", "--checkpoint", "{}"),
    "audit verify --receipt": ("audit", "verify", "--receipt", "{}"),
    "audit verify --rows": ("audit", "verify", "--rows", "{}"),
    "backup file": ("backup", "{}"),
    "cap holder-key file": ("cap", "holder-key", "{}"),
    "export file": ("export", "{}"),
    "forget --receipt": ("forget", LINE, "--yes", "--receipt", "{}"),
    "hermes setup --api-key-file": (
        "hermes",
        "setup",
        "--url",
        "http://127.0.0.1:9",
        "--yes",
        "--api-key-file",
        "{}",
    ),
    "import --identity": ("import", "archive", "--identity", "{}"),
    "import --key-file": ("import", "http://127.0.0.1:9", "--key-file", "{}"),
    "mcp --file": ("mcp", "--write-config", "cursor", "--file", "{}"),
    "restore --identity": ("restore", "archive", "--home", "new", "--identity", "{}"),
    "restore file": ("restore", "{}", "--home", "new"),
}
"""A command for every argument and option that names a file."""
FORWARDED = {"hermes forget --receipt"}
"""What runs another command on Hermes' store."""
NAMED_BY_SETTINGS = {"config": "{}", "chat_file": "{}"} | {
    name: "@{}" for name, setting in SETTINGS.items() if "@FILE" in setting.help
}


def files_named(command: click.Command, path: tuple[str, ...] = ()):
    """The arguments and options that name files, with their commands; those of all commands without."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from files_named(command.get_command(context, name), (*path, name))
    for param in command.params:
        if param.name in ("cap", "config", "holder_key"):
            yield param.opts[-1]
        elif isinstance(param.type, click.Path | click.File) or param.metavar == "FILE":
            yield " ".join((*path, param.opts[-1]))


def test_the_lists_have_every_way_to_name_a_file():
    assert NAMED.keys() | FORWARDED == set(files_named(command_line()))
    assert (
        {"config", "chat_file", "cap", "store", "webhook_secret"}
        <= NAMED_BY_SETTINGS.keys()
        <= SETTINGS.keys()
    )


@pytest.fixture
def fifo(home, tmp_path, monkeypatch):
    """A pipe that nobody writes into, beside an archive."""
    monkeypatch.chdir(tmp_path)
    souvenance("put", "hello", home=home)
    souvenance("export", "archive", home=home)
    return pipe(tmp_path)


@pytest.mark.parametrize("named", NAMED)
def test_no_command_waits_for_a_pipe_or_writes_into_one(home, fifo, named):
    asked = [part.format(fifo) for part in NAMED[named]]
    refused = souvenance(*asked, home=home, exit_code=None)
    assert refused.exit_code not in (0, 1), refused
    assert any(word in refused.err for word in ("not a regular file", "exists")), refused.err


@pytest.mark.parametrize("name", NAMED_BY_SETTINGS)
def test_no_setting_has_a_pipe_waited_for(home, fifo, name):
    known = {f"SOUVENANCE_OBJECTS_{part}_KEY": "x" for part in ("ACCESS", "SECRET")}
    known |= {"SOUVENANCE_CHAT_BASE_URL": "http://127.0.0.1:9/v1"}
    known |= {SETTINGS[name].variable: NAMED_BY_SETTINGS[name].format(fifo)}
    asked = ("status",) if name == "cap" else ("config", "check")
    refused = souvenance(*asked, home=home, settings=known, exit_code=None)
    assert refused.exit_code not in (0, 1), refused
    assert "not a regular file" in refused.err
