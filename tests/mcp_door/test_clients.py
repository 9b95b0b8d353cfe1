"""`souvenance mcp --print-config CLIENT`: what it prints is what that client reads."""

import json
import shlex
import sys
import tomllib

import pytest

from souvenance.surfaces.cli.mcp import CLIENTS
from surfaces.door import souvenance

URL = "https://memory.example"


def printed(home, client, *options, **more):
    return souvenance("mcp", "--print-config", client, *options, home=home, **more).out


def test_claude_code_gets_a_command_line(home):
    words = shlex.split(printed(home, "claude-code", "--peer", "anna", "--read", "a,b"))
    assert words[:3] == ["claude", "mcp", "add"]
    assert words[words.index("--") - 1] == "souvenance"
    started = words[words.index("--") + 1 :]
    assert started[: started.index("mcp")] == [sys.executable, "-m", "souvenance"]
    assert started[started.index("mcp") :] == ["mcp", "--home", str(home), "--peer", "anna", "--read", "a,b"]


def test_codex_gets_a_table_of_toml(home):
    told = tomllib.loads(printed(home, "codex"))["mcp_servers"]["souvenance"]
    assert [told["command"], *told["args"]] == [
        sys.executable,
        "-m",
        "souvenance",
        "mcp",
        "--home",
        str(home),
    ]
    remote = tomllib.loads(printed(home, "codex", "--http", URL, "--with-cap"))["mcp_servers"]["souvenance"]
    assert remote == {"url": f"{URL}/mcp", "bearer_token_env_var": "SOUVENANCE_CAP"}


def test_opencode_gets_its_json(home):
    told = json.loads(printed(home, "opencode"))["mcp"]["souvenance"]
    assert told["type"] == "local" and told["command"][-3:] == ["mcp", "--home", str(home)]
    remote = json.loads(printed(home, "opencode", "--http", f"{URL}/"))["mcp"]["souvenance"]
    assert remote == {"type": "remote", "url": f"{URL}/mcp", "enabled": True}


def test_cursor_gets_its_json(home):
    told = json.loads(printed(home, "cursor"))["mcpServers"]["souvenance"]
    assert told["args"][-3:] == ["mcp", "--home", str(home)]
    remote = json.loads(printed(home, "cursor", "--http", f"{URL}/mcp", "--with-cap"))["mcpServers"][
        "souvenance"
    ]
    assert remote == {"url": f"{URL}/mcp", "headers": {"Authorization": "Bearer ${env:SOUVENANCE_CAP}"}}


def test_claude_code_signs_in_at_a_server_or_sends_the_cap(home):
    assert shlex.split(printed(home, "claude-code", "--http", URL))[-2:] == ["souvenance", f"{URL}/mcp"]
    words = shlex.split(printed(home, "claude-code", "--http", URL, "--with-cap"))
    assert words[-2:] == ["--header", "Authorization: Bearer ${SOUVENANCE_CAP}"]


def test_a_cap_in_a_file_is_named_and_one_in_full_is_not_written_into_settings(home, tmp_path):
    (tmp_path / "a.cap").write_text("x")
    told = json.loads(printed(home, "cursor", "--cap", f"@{tmp_path}/a.cap"))["mcpServers"]["souvenance"]
    assert told["args"][-2:] == ["--cap", f"@{tmp_path}/a.cap"]
    refused = souvenance("mcp", "--print-config", "cursor", "--cap", "eyJ.x.y", home=home, exit_code=3)
    assert refused.out == "" and refused.err.splitlines()[-2].startswith("invalid_input: ")


def test_json_says_where_it_belongs(home):
    told = json.loads(printed(home, "codex", "--json"))
    assert told["client"] == "codex" and "config.toml" in told["where"]
    assert tomllib.loads(told["setup"])


STARTED_BY = {
    "claude-desktop": ("mcpServers", {}),
    "gemini-cli": ("mcpServers", {}),
    "json": ("mcpServers", {}),
    "vscode": ("servers", {"type": "stdio"}),
    "windsurf": ("mcpServers", {}),
    "zed": ("context_servers", {}),
}
"""What stands beside the command in each client's file, and where."""


@pytest.mark.parametrize(("client", "form"), STARTED_BY.items())
def test_each_client_that_reads_json_starts_the_command(home, client, form):
    under, beside = form
    told = json.loads(printed(home, client))
    arguments = ["-m", "souvenance", "mcp", "--home", str(home)]
    assert told == {under: {"souvenance": {**beside, "command": sys.executable, "args": arguments}}}


@pytest.mark.parametrize(
    ("client", "under", "address", "beside", "variable"),
    [
        ("gemini-cli", "mcpServers", "httpUrl", {}, "${SOUVENANCE_CAP}"),
        ("json", "mcpServers", "url", {"type": "http"}, "${SOUVENANCE_CAP}"),
        ("vscode", "servers", "url", {"type": "http"}, "${env:SOUVENANCE_CAP}"),
        ("windsurf", "mcpServers", "serverUrl", {}, "${env:SOUVENANCE_CAP}"),
    ],
)
def test_each_client_reaches_a_server_and_finds_the_cap_in_its_environment(
    home, client, under, address, beside, variable
):
    alone = {**beside, address: f"{URL}/mcp"}
    assert json.loads(printed(home, client, "--http", URL)) == {under: {"souvenance": alone}}
    sent = {**alone, "headers": {"Authorization": f"Bearer {variable}"}}
    assert json.loads(printed(home, client, "--http", URL, "--with-cap")) == {under: {"souvenance": sent}}


@pytest.mark.parametrize(
    ("client", "options", "way"),
    [
        ("claude-desktop", ("--http", URL), f"Settings > Connectors: add {URL}/mcp"),
        ("claude-desktop", ("--http", URL, "--with-cap"), "--cap @FILE"),
        ("zed", ("--http", URL, "--with-cap"), "--cap @FILE"),
    ],
)
def test_what_a_client_s_file_can_t_say_is_refused_with_another_way(home, client, options, way):
    refused = souvenance("mcp", "--print-config", client, *options, home=home, exit_code=3)
    assert refused.out == "" and way in refused.err


@pytest.mark.parametrize("url", ["memory.example", "ftp://memory.example", "http://me:hush@memory.example"])
def test_what_is_no_address_of_a_server_is_refused(home, url):
    refused = souvenance("mcp", "--print-config", "codex", "--http", url, home=home, exit_code=3)
    assert "--http takes the address of a server" in refused.err
    assert refused.out == "" and "hush" not in refused.err


@pytest.mark.parametrize("client", CLIENTS)
def test_printing_touches_nothing(home, client):
    printed(home, client)
    assert not home.exists()


def test_what_a_server_lets_reach_is_not_narrowed_by_settings(home):
    refused = souvenance(
        "mcp", "--print-config", "cursor", "--http", URL, "--peer", "anna", home=home, exit_code=2
    )
    assert refused.out == ""
