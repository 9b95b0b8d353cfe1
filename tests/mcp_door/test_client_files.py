"""`souvenance mcp --write-config CLIENT`: the client's file has the server, and all that it had before."""

import json
import os
import stat
import tomllib

import pytest

from surfaces.door import souvenance
from surfaces.terminal import on_terminal

SETTINGS = """\
// My editor.
{
    /* how it looks */
    "theme": "One // Dark", // not a comment inside
    "context_servers": {
        "other": {"command": "x", "args": ["{", "]"]}, // mine
    },
    "telemetry": {"metrics": false},
}
"""


def write(home, client, file, *options, **more):
    return souvenance("mcp", "--write-config", client, "--file", str(file), *options, home=home, **more)


def entry(home):
    told = souvenance("mcp", "--print-config", "json", home=home).json()
    return told["mcpServers"]["souvenance"]


def without_comments(text):
    """What a reader of comments and trailing commas finds in these few settings."""
    for comment in ("// My editor.", "/* how it looks */", " // not a comment inside", " // mine"):
        assert comment in text
        text = text.replace(comment, "")
    return json.loads(text.replace("},\n    },", "}\n    },").replace("},\n}", "}\n}"))


def test_a_file_with_comments_keeps_each_of_them_and_every_other_setting(home, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(SETTINGS)
    write(home, "zed", file, "--yes")
    before = [one for one in SETTINGS.splitlines() if one in file.read_text().splitlines()]
    assert before == SETTINGS.splitlines()
    found = without_comments(file.read_text())
    assert found["context_servers"]["souvenance"] == entry(home)
    assert found["context_servers"]["other"] == {"command": "x", "args": ["{", "]"]}


@pytest.mark.parametrize(
    "before", ["{}", "{\n}\n", "", '{"a": 1}', '{"mcpServers": {}}', '{"mcpServers": {"x": {"url": "u"}}}']
)
def test_whatever_the_file_has_it_has_the_server_too(home, tmp_path, before):
    file = tmp_path / "mcp.json"
    file.write_text(before)
    write(home, "json", file, "--yes")
    found = json.loads(file.read_text())
    assert found["mcpServers"].pop("souvenance") == entry(home)
    assert {**json.loads(before or "{}"), "mcpServers": {}} == {**found, "mcpServers": {}}
    assert found["mcpServers"] == json.loads(before or "{}").get("mcpServers", {})


def test_a_second_time_replaces_our_part_and_keeps_what_the_person_added_to_it(home, tmp_path):
    file = tmp_path / "mcp.json"
    write(home, "cursor", file, "--yes")
    changed = json.loads(file.read_text())
    changed["mcpServers"]["souvenance"]["disabled"] = True
    file.write_text(json.dumps(changed, indent=2))
    write(home, "cursor", file, "--http", "https://memory.example", "--yes")
    found = json.loads(file.read_text())["mcpServers"]["souvenance"]
    assert found == {"disabled": True, "url": "https://memory.example/mcp"}


def test_writing_what_is_there_changes_nothing_and_says_so(home, tmp_path):
    file = tmp_path / "mcp.json"
    write(home, "cursor", file, "--yes")
    written = file.stat().st_mtime_ns
    again = write(home, "cursor", file, "--json").json()
    assert again == {"client": "cursor", "file": str(file), "changed": False}
    assert file.stat().st_mtime_ns == written


def test_toml_keeps_its_comments_its_other_tables_and_our_table_s_own_keys(home, tmp_path):
    file = tmp_path / "config.toml"
    before = (
        'model = "o5" # mine\n\n[mcp_servers.souvenance]\ncommand = "old"\nargs = ["a"]\n'
        'startup_timeout_sec = 20 # slow disk\n\n[mcp_servers.other]\nurl = "u"\n'
    )
    file.write_text(before)
    write(home, "codex", file, "--yes")
    found = tomllib.loads(file.read_text())
    assert found["mcp_servers"]["souvenance"] == {**entry(home), "startup_timeout_sec": 20}
    assert found["mcp_servers"]["other"] == {"url": "u"} and found["model"] == "o5"
    assert "# mine" in file.read_text() and "# slow disk" in file.read_text()


@pytest.mark.parametrize(
    ("client", "before"),
    [
        ("json", '{"mcpServers": []}'),
        ("json", '{"mcpServers": {}'),
        ("json", "[1]"),
        ("json", '{"a": 1} /* no end'),
        ("codex", "mcp_servers = {}\n"),
        ("codex", '[mcp_servers.souvenance]\nargs = [\n "a",\n]\n'),
    ],
)
def test_a_file_that_would_lose_something_is_left_alone(home, tmp_path, client, before):
    file = tmp_path / ("config.toml" if client == "codex" else "mcp.json")
    file.write_text(before)
    refused = write(home, client, file, "--yes", exit_code=3)
    assert "by hand" in refused.err
    assert file.read_text() == before


def test_a_link_stays_a_link_and_the_file_keeps_who_may_read_it(home, tmp_path):
    target, link = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    target.write_text("{}")
    target.chmod(0o600)
    link.symlink_to(target)
    write(home, "cursor", link, "--yes")
    assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "mcpServers" in json.loads(target.read_text())


def test_the_difference_is_shown_and_nothing_written_without_a_yes(home, tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{\n  "a": 1\n}\n')
    refused = write(home, "cursor", file, exit_code=None)
    assert refused.exit_code and "--yes" in refused.err
    assert '+  "mcpServers": {' in refused.err and " {\n" in refused.err
    assert file.read_text() == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize(("answer", "changed"), [("n\n", False), ("y\n", True)])
def test_on_a_terminal_the_person_decides(home, tmp_path, answer, changed):
    file = tmp_path / "mcp.json"
    asked = ("mcp", "--write-config", "cursor", "--file", str(file))
    _, shown = on_terminal(*asked, home=home, answer=answer)
    assert "+" in shown and "Write this into" in shown
    assert file.exists() is changed


def test_what_the_client_writes_meanwhile_is_not_lost(home, tmp_path):
    file = tmp_path / "mcp.json"

    def yes():
        file.write_text('{"mine": 1}')
        return "y\n"

    asked = ("mcp", "--write-config", "cursor", "--file", str(file))
    code, shown = on_terminal(*asked, home=home, answer=yes)
    assert code and "was changed meanwhile" in shown.replace("\n", " ")
    assert file.read_text() == '{"mine": 1}'


def test_without_a_file_named_it_is_the_client_s_own(home, tmp_path):
    settings = {"HOME": str(tmp_path / "person")}
    souvenance("mcp", "--write-config", "windsurf", "--yes", home=home, settings=settings)
    found = tmp_path / "person/.codeium/windsurf/mcp_config.json"
    assert "souvenance" in json.loads(found.read_text())["mcpServers"]
    assert os.listdir(tmp_path / "person") == [".codeium"]


def test_claude_code_is_told_its_command_and_a_client_without_a_name_needs_a_file(home):
    refused = souvenance("mcp", "--write-config", "claude-code", "--yes", home=home, exit_code=3)
    assert "claude mcp add" in refused.err
    refused = souvenance("mcp", "--write-config", "json", "--yes", home=home, exit_code=3)
    assert "--file" in refused.err


@pytest.mark.parametrize("options", [("--yes",), ("--file", "x"), ("--print-config", "zed", "--yes")])
def test_options_of_writing_alone_are_refused(home, options):
    souvenance("mcp", *options, home=home, exit_code=2)
