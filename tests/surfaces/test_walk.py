"""Every route and every command, found by walking: each refuses without a cap unless it is named here."""

import click
import pytest
from click.testing import CliRunner

from mnemon.surfaces.cli.main import cli
from surfaces.door import mnemon

OPEN_ROUTES = {("get", "/health")}
"""OpenAPI does not list itself; it is open too."""

A_BODY = {"id": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M", "text": "x"}

OPEN_COMMANDS = {
    "init": "makes the folder that the owner's cap is in",
    "serve": "has no answer of its own; what it serves asks for caps",
    "demo": "plays in a throwaway folder",
    "completion": "prints a script",
    "cap show": "reads what it is given, and proves nothing",
    "cap attenuate": "works on what it is given, offline",
    "cap holder-key": "makes a key",
}
GUARDED_COMMANDS = {
    "put": ("hello",),
    "get": ("hello",),
    "list": (),
    "line": ("01JD7Y8Q2W3E4R5T6Y7V8J9K0M",),
    "snapshot": (),
    "correct": ("01JD7Y8Q2W3E4R5T6Y7V8J9K0M",),
    "forget": ("-n", "travel"),
    "status": (),
    "doctor": (),
    "cap mint": ("--sub", "a", "--ops", "get", "--namespaces", "travel"),
    "cap revoke": ("--sub", "owner"),
    "cap whoami": (),
    "key rotate": (),
    "audit list": (),
    "audit verify": (),
    "audit checkpoint": (),
    "audit proof": ("0",),
}


def commands(group=cli, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A genuine owner's cap of another installation."""
    home = tmp_path_factory.mktemp("stranger") / "home"
    mnemon("init", home=home)
    return (home / "owner.cap").read_text().strip()


def test_every_route_refuses_without_a_cap_with_junk_and_with_a_strangers_cap(server, stranger):
    walked = set()
    for path, methods in server.openapi["paths"].items():
        for method in methods:
            target = path.replace("{id}", A_BODY["id"])
            walked.add((method, path))
            if (method, path) in OPEN_ROUTES:
                continue
            for cap, code in (
                (None, "cap_missing"),
                ("junk", "cap_malformed"),
                (stranger, "cap_sig_invalid"),
            ):
                body = {} if method == "get" else {"json": A_BODY}
                answer = server.client(cap).request(method, target, **body)
                assert (answer.status_code, answer.json()["error"]) == (401, code), (method, path)
    assert walked >= OPEN_ROUTES
    assert len(walked) > 10


def test_every_command_is_known_to_be_open_or_guarded():
    assert set(commands()) == set(OPEN_COMMANDS) | set(GUARDED_COMMANDS)


@pytest.mark.parametrize("command", GUARDED_COMMANDS)
def test_a_command_refuses_a_strangers_cap_on_the_data_folder(server, stranger, command):
    refused = mnemon(
        *command.split(), *GUARDED_COMMANDS[command], "--cap", stranger, home=server.home, exit_code=4
    )
    assert refused.err.startswith("cap_sig_invalid: ")
    assert refused.out == ""


@pytest.mark.parametrize("command", GUARDED_COMMANDS)
def test_a_command_without_a_cap_is_refused_before_the_server_is_asked(server, tmp_path, command):
    refused = mnemon(
        *command.split(),
        *GUARDED_COMMANDS[command],
        home=tmp_path / "nothing-here",
        url=server.url,
        exit_code=4,
    )
    assert refused.err.startswith("cap_missing: ")
    assert refused.out == ""
    assert not (tmp_path / "nothing-here").exists()


def test_reading_saved_rows_needs_no_cap_no_folder_and_no_server(server, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(mnemon("audit", "list", "--json", home=server.home).out)
    mnemon("audit", "verify", "--rows", str(rows), home=tmp_path / "nothing-here")
    assert not (tmp_path / "nothing-here").exists()


@pytest.mark.parametrize("command", ["", *commands()])
def test_every_command_explains_itself_and_takes_the_common_options(command):
    told = CliRunner().invoke(cli, [*command.split(), "--help"], prog_name="mnemon")
    assert told.exit_code == 0
    assert told.output.startswith("Usage: mnemon")
    for option in ("--home DIR", "--url URL", "--cap CAP", "--holder-key FILE", "--workspace NAME", "--json"):
        assert option in told.output


@pytest.mark.parametrize("asked", [("--help",), ("put", "-h"), ("--version",)])
def test_help_and_version_need_neither_a_cap_nor_a_folder(tmp_path, asked):
    assert "mnemon" in mnemon(*asked, home=tmp_path / "nothing-here").out
    assert not (tmp_path / "nothing-here").exists()
