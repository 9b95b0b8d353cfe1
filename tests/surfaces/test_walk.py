"""Every route and every command, found by walking: each refuses without a cap unless it is named here."""

import click
import pytest
from click.testing import CliRunner

from souvenance.commands import command_line
from surfaces.door import souvenance
from surfaces.inhabited import EVERY_ROUTE, RIGHT, inhabited, right

cli = command_line()

OPEN_ROUTES = {("get", "/health"), ("get", "/ready")}
"""OpenAPI does not list itself; it is open too."""

OF_DOORS = ("/oauth/", "/.well-known/", "/mcp")
"""Doors that describe themselves; who may ask them is tested with their descriptions."""

OF_ADMINS = {"workspaces.list", "keys.new"}
REFUSED = 401
"""Honcho's clients know no 403."""

OPEN_COMMANDS = {
    "init": "makes the folder that the owner's cap is in",
    "serve": "has no answer of its own; what it serves asks for caps",
    "work": "has no answer of its own; it does what others asked for",
    "demo": "fills the empty folder that the owner's cap is in",
    "completion": "prints a script",
    "config check": "says whether settings of this process are good",
    "config show": "prints settings of this process, without secrets",
    "service install": "has a server started with this machine; what it serves asks for caps",
    "service status": "says whether this machine starts a server",
    "service uninstall": "has that server started no more",
    "cap show": "reads what it is given, and proves nothing",
    "cap attenuate": "works on what it is given, offline",
    "cap holder-key": "makes a key",
    "restore": "makes a folder of what it is given",
    "migrate": "copies sealed rows between stores whose files or passwords it is given",
    "rebuild": "makes a book of what the root key opens",
}
OF_HERMES = "hermes"
"""The commands that change and tell Hermes' own settings; what they ask of memory, they ask with its caps."""
OF_SIGN_IN = ("login", "logout")
"""Commands for Hermes too, under names of their own."""
GUARDED_COMMANDS = {
    "put": ("hello",),
    "get": ("hello",),
    "list": (),
    "line": ("01JD7Y8Q2W3E4R5T6Y7V8J9K0M",),
    "snapshot": (),
    "correct": ("01JD7Y8Q2W3E4R5T6Y7V8J9K0M",),
    "forget": ("-n", "travel", "--yes"),
    "rename": ("ann", "anna"),
    "status": (),
    "open": ("--print",),
    "mcp": (),
    "doctor": (),
    "reindex": (),
    "retention show": (),
    "retention set": ("short", "--keep", "90d", "--dry-run"),
    "retention remove": ("short",),
    "cap mint": ("--sub", "a", "--ops", "get", "--namespaces", "travel"),
    "cap revoke": ("--sub", "owner"),
    "cap whoami": (),
    "key rotate": (),
    "export": ("memory.souvenance",),
    "import": ("--from", "markdown", __file__),
    "backup": ("store.souvenance",),
    "sign-ins list": (),
    "sign-ins end": ("01JD7Y8Q2W3E4R5T6Y7V8J9K0M",),
    "audit list": (),
    "audit verify": (),
    "audit checkpoint": (),
    "audit proof": ("0",),
}
AT_THE_STORE = {"backup"}
"""What is not done through a server."""


def commands(group=cli, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if name == OF_HERMES or name in OF_SIGN_IN:
            continue
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A genuine owner's cap of another installation."""
    home = tmp_path_factory.mktemp("stranger") / "home"
    souvenance("init", home=home)
    return (home / "owner.cap").read_text().strip()


@pytest.fixture(scope="module")
def world(server):
    return inhabited(server.owner)


def test_there_is_a_right_request_for_every_route():
    assert sorted(RIGHT) == sorted(EVERY_ROUTE)


def test_every_route_refuses_without_a_cap_with_junk_and_with_a_strangers_cap(server, stranger, world):
    walked = set()
    callers = {
        "cap_missing": server.client(),
        "cap_malformed": server.client("junk"),
        "cap_sig_invalid": server.client(stranger),
    }
    for route in EVERY_ROUTE.values():
        walked.add((route.method.lower(), route.path))
        for code, client in callers.items():
            asked = right(route.operation.name, world)
            answer = asked.sent(client, route, world)
            assert (answer.status_code, answer.json()["error"]) == (401, code), route.path
    listed = {
        (method, path)
        for path, methods in server.openapi["paths"].items()
        for method in methods
        if not path.startswith(OF_DOORS)
    }
    assert walked | OPEN_ROUTES == listed


def test_every_route_judges_the_cap_before_it_looks_at_the_body(server, world):
    client = server.client(None, content_type="application/json")
    for route in EVERY_ROUTE.values():
        answer = client.request(route.method, route.path.format_map(world), content=b"{junk")
        assert (answer.status_code, answer.json()["error"]) == (401, "cap_missing"), route.path


def test_a_key_of_one_workspace_opens_no_route_of_another(server, world):
    elsewhere = inhabited(server.owner)
    minted = server.owner.post("/v3/keys", params={"workspace_id": elsewhere["workspace_id"]})
    stranger = server.client(minted.json()["key"])
    for operation, route in EVERY_ROUTE.items():
        if route.path.startswith("/v3/"):
            answer = right(operation, world).sent(stranger, route, world)
            expected = "cap_op_mismatch" if operation == "keys.new" else "cap_scope_mismatch"
            assert (answer.status_code, answer.json()["error"]) == (REFUSED, expected), route.path
            told = "Resource requires admin privileges" if operation in OF_ADMINS else "JWT not permissioned"
            assert answer.json()["detail"].startswith(told)
    place = f"/v3/workspaces/{world['workspace_id']}"
    assert server.owner.post(f"{place}/sessions/list").json()["total"] == 1


def test_a_cap_without_the_right_is_refused_on_every_route_that_needs_one(server, world):
    client = server.actor("nobody", ["audit"], ["*"])
    for operation, route in EVERY_ROUTE.items():
        if route.operation.need.op not in (None, "audit"):
            answer = right(operation, world).sent(client, route, world)
            status = REFUSED if route.path.startswith("/v3/") else 403
            assert (answer.status_code, answer.json()["error"]) == (status, "cap_op_mismatch"), route.path


def test_every_command_is_known_to_be_open_or_guarded():
    assert set(commands()) == set(OPEN_COMMANDS) | set(GUARDED_COMMANDS)


@pytest.mark.parametrize("command", GUARDED_COMMANDS)
def test_a_command_refuses_a_strangers_cap_on_the_data_folder(server, stranger, command):
    refused = souvenance(
        *command.split(), *GUARDED_COMMANDS[command], "--cap", stranger, home=server.home, exit_code=4
    )
    assert refused.err.startswith("cap_sig_invalid: ")
    assert refused.out == ""


@pytest.mark.parametrize("command", sorted(GUARDED_COMMANDS.keys() - AT_THE_STORE))
def test_a_command_without_a_cap_is_refused_before_the_server_is_asked(server, tmp_path, command):
    refused = souvenance(
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
    rows.write_text(souvenance("audit", "list", "--json", home=server.home).out)
    souvenance("audit", "verify", "--rows", str(rows), home=tmp_path / "nothing-here")
    assert not (tmp_path / "nothing-here").exists()


@pytest.mark.parametrize("command", ["", *commands()])
def test_every_command_explains_itself_and_takes_the_common_options(command):
    told = CliRunner().invoke(cli, [*command.split(), "--help"], prog_name="souvenance")
    assert told.exit_code == 0
    assert told.output.startswith("Usage: souvenance")
    for option in ("--home DIR", "--url URL", "--cap CAP", "--holder-key FILE", "--workspace NAME", "--json"):
        assert option in told.output


def test_the_commands_for_hermes_explain_themselves_and_take_options_of_their_own():
    context = click.Context(cli)
    group = cli.get_command(context, OF_HERMES)
    for name in ("", *group.list_commands(context)):
        told = CliRunner().invoke(cli, [OF_HERMES, *name.split(), "--help"], prog_name="souvenance")
        assert told.exit_code == 0
        for option in ("--home DIR", "--profile NAME"):
            assert option in told.output


@pytest.mark.parametrize("asked", [("--help",), ("put", "-h"), ("--version",)])
def test_help_and_version_need_neither_a_cap_nor_a_folder(tmp_path, asked):
    assert "souvenance" in souvenance(*asked, home=tmp_path / "nothing-here").out
    assert not (tmp_path / "nothing-here").exists()
