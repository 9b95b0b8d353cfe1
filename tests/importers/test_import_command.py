"""`souvenance import` as its users meet it."""

import json
import re
import signal
import subprocess
import sys

import pytest

import stores
from importers.exports import conversation, said, written
from surfaces.door import environment, ordinary_signals, serving, souvenance


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home") as found:
        yield found


@pytest.fixture
def talk(tmp_path):
    return written(
        tmp_path / "conversations.json",
        [conversation(said("I live in Lisbon."), said("Noted.", "assistant"), said("x", "system"))],
    )


def test_an_import_says_what_came_in_what_was_there_and_what_was_left_out(home, talk):
    assert souvenance("import", str(talk), home=home).out == (
        f"from {talk}: 2 peers, 1 session, 2 messages, 0 conclusions\n"
        "  left out: messages of the system and of tools (1), such as"
        " conversations.json, conversation 1, message m2: system\n"
    )
    assert "  2 were there already\n" in souvenance("import", str(talk), home=home).out


def test_the_owner_of_the_cap_is_who_speaks_unless_somebody_is_named(home, talk):
    souvenance("import", str(talk), home=home)
    souvenance("import", str(talk), "--peer", "ann", "--workspace", "hers", "-n", "travel", home=home)
    status = souvenance("status", home=home).out
    compartments = re.findall(r"^  (\S+) +\d+ lines?$", status, re.MULTILINE)
    assert "default" in compartments
    hers = souvenance("audit", "list", "--workspace", "hers", "--json", home=home).rows()
    assert any("travel" in row["namespaces"] for row in hers)


def test_a_dry_run_writes_nothing(home, talk):
    told = souvenance("import", str(talk), "--dry-run", "--json", home=home).json()
    assert (told["from"], told["sessions"], told["messages"], told["there"]) == ("chatgpt", 1, 2, 0)
    assert told["examples"].keys() == told["skipped"].keys() == {"messages of the system and of tools"}
    assert souvenance("import", str(talk), "--json", home=home).json()["messages"] == 2


def test_a_dry_run_says_how_many_messages_are_there_already(home, talk):
    souvenance("import", str(talk), home=home)
    told = souvenance("import", str(talk), "--dry-run", "--json", home=home).json()
    assert (told["messages"], told["there"]) == (0, 2)
    elsewhere = souvenance("import", str(talk), "--dry-run", "--json", "--workspace", "new", home=home).json()
    assert (elsewhere["messages"], elsewhere["there"]) == (2, 0)


def test_a_file_that_is_bad_at_its_end_leaves_nothing_behind(home, tmp_path):
    path = tmp_path / "talk.jsonl"
    good = json.dumps({"role": "user", "content": "hello"})
    path.write_text("\n".join([*[good] * 200, "{"]))
    failed = souvenance("import", str(path), "--json", home=home, exit_code=3)
    assert failed.complaint()["error"] == "import_unreadable"
    assert "talk.jsonl, line 201" in failed.complaint()["detail"]
    path.write_text(good)
    assert souvenance("import", str(path), "--json", home=home).json()["messages"] == 1


def test_what_cannot_be_told_is_asked_for(home, tmp_path):
    path = written(tmp_path / "what.json", [{"a": 1}])
    failed = souvenance("import", str(path), home=home, exit_code=3)
    assert failed.err.startswith("import_unrecognised: ") and "--from" in failed.err


def test_far_along_it_says_how_far_a_line_at_a_time(home, tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps({"role": "user", "content": f"m{n}"}) for n in range(2100)))
    told = souvenance("import", str(path), home=home).err.splitlines()
    assert told == [
        "read 1000 lines",
        "read 2000 lines",
        "imported 1000 of 2100 lines",
        "imported 2000 of 2100 lines",
    ]


def test_statements_are_quotations_unless_somebody_vouches_for_them(server, tmp_path):
    path = tmp_path / "USER.md"
    path.write_text("- likes tea\n")
    how = {"home": server.home, "url": server.url}
    for flags, shown in (
        (("--peer", "ann"), "Quoted: “likes tea”"),
        (("--peer", "bob", "--own-words"), "likes tea"),
    ):
        souvenance("import", str(path), *flags, **how)
        asked = {"search_query": "Who likes tea?"}
        answer = server.owner.post(f"/v3/workspaces/default/peers/{flags[1]}/representation", json=asked)
        assert answer.json()["representation"].endswith(f"] {shown}")
    again = souvenance("import", str(path), "--peer", "ann", "--json", **how).json()
    assert (again["conclusions"], again["there"]) == (0, 1)


def test_a_server_is_a_source_and_its_key_comes_from_a_file_or_the_environment(server, talk, tmp_path):
    souvenance("import", str(talk), "--workspace", "talks", home=server.home, url=server.url)
    source = f"{server.url}/v3/workspaces/talks"
    by_file = souvenance(
        "import", source, "--key-file", str(server.home / "owner.cap"), "--json", home=tmp_path / "a"
    )
    known = {"HONCHO_API_KEY": server.owner_cap}
    by_name = souvenance("import", source, "--json", home=tmp_path / "b", settings=known)
    for told in (by_file.json(), by_name.json()):
        assert (told["from"], told["workspaces"], told["sessions"], told["messages"]) == ("honcho", 1, 1, 2)
    known_to_the_url = source.replace("://", "://someone:password@")
    shown = souvenance("import", known_to_the_url, home=tmp_path / "b", settings=known)
    assert shown.out.startswith(f"from {source}: ") and "password" not in shown.out + shown.err
    refused = souvenance("import", source, "--peer", "ann", home=tmp_path / "a", exit_code=3)
    assert "keep their names" in refused.err


def test_stopped_by_ctrl_c_it_says_how_far_it_came_and_goes_on_from_there(home, tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps({"role": "user", "content": f"m{n}"}) for n in range(6000)))
    souvenance("init", home=home)
    asked = [sys.executable, "-m", "souvenance", "import", str(path), "--home", str(home)]
    with subprocess.Popen(
        asked,
        env=environment(**stores.settings_of(home)),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ordinary_signals,
    ) as process:
        while not process.stderr.readline().startswith("imported 1000"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "stopped after 2 peers" not in rest and "import it again to go on" in rest
    told = souvenance("import", str(path), "--json", home=home).json()
    assert told["messages"] + told["there"] == 6000 and told["there"] >= 1000 and told["messages"] > 0


def test_a_namespace_that_cannot_be_is_refused_before_anything_is_written(home, talk):
    assert souvenance("import", str(talk), "-n", "Not One", home=home, exit_code=3).err.startswith(
        "invalid_input"
    )
    assert souvenance("import", str(talk), "--json", home=home).json()["peers"] == 2


def test_a_name_that_no_peer_can_have_is_refused(home, talk):
    assert "--peer NAME" in souvenance("import", str(talk), "--peer", "Ann Smith", home=home, exit_code=3).err


def test_a_file_cannot_write_to_the_terminal(home, tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "\x1b]0;owned\x07", "content": "x"}))
    failed = souvenance("import", str(path), home=home, exit_code=3)
    assert "\x1b" not in failed.err and "]0;owned" in failed.err


def test_no_key_and_no_text_is_ever_printed(home, talk):
    shown = souvenance("import", str(talk), "--json", home=home)
    assert "Lisbon" not in shown.out + shown.err


def test_an_archive_of_our_own_goes_the_way_of_archives(home, tmp_path, talk):
    souvenance("import", str(talk), home=home)
    archive = tmp_path / "taken.souvenance"
    souvenance("export", str(archive), home=home)
    souvenance("import", str(archive), home=tmp_path / "new")
    again = souvenance("import", str(talk), "--json", home=tmp_path / "new").json()
    assert (again["messages"], again["there"]) == (0, 2)


def test_a_dry_run_of_an_export_says_what_would_be_new_and_writes_nothing(home, tmp_path, talk):
    souvenance("import", str(talk), home=home)
    new = tmp_path / "new"
    for name in ("taken.souvenance", "taken.json", "taken.zip"):
        file = tmp_path / name
        souvenance("export", str(file), home=home)
        looked = souvenance("import", str(file), "--dry-run", home=new).out
        assert looked == "workspace default: 6 records would be imported, 0 are here already\n"
        told = souvenance("import", str(file), "--dry-run", "--json", home=new).json()
        assert (told["complete"], told["new"]) == (False, 6)
        assert souvenance("list", home=new).out == "(nothing)\n"
    souvenance("import", str(file), home=new)
    assert souvenance("import", str(file), "--dry-run", "--json", home=new).json()["same"] == 6
    file.write_bytes(file.read_bytes()[:300])
    souvenance("import", str(file), "--dry-run", home=new, exit_code=3)
