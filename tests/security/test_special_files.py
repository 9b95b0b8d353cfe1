"""What is no regular file is refused at once: a pipe would wait for ever, and a device might never end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

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
