"""Settings that a command changes: all of the change or none of it, and nobody else's lost."""

import json
import stat
import subprocess
import sys

import pytest
from msgspec import to_builtins

from souvenance.errors import InvalidInput, Misconfigured, StorageReadOnly
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.configuration import KEYS

LOCK = ".souvenance.lock"
WRITER = """
import sys
from pathlib import Path
from souvenance.hermes.config_files import write_setting
home, host = Path(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    write_setting(home, f"{host}{number}", {"contextTokens": number}, environment={})
    write_setting(home, host, {"dialecticCadence": 2}, root=True, environment={})
"""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def write(home, changes, host="hermes", **options):
    return write_setting(home, host, changes, environment={"HOME": str(home.parent)}, **options)


def content(path):
    return json.loads(path.read_text("utf-8"))


def read(home):
    return read_configuration(home, {"HOME": str(home.parent)})


def put(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    path.chmod(0o600)
    return path


def test_a_setting_that_is_written_is_read(home):
    path = write(home, {"recallMode": "tools", "contextTokens": 800})
    assert path == home / "souvenance.json"
    assert content(path) == {"hosts": {"hermes": {"recallMode": "tools", "contextTokens": 800}}}
    configuration, complaints = read(home)
    assert (configuration.recall_mode, configuration.context_tokens) == ("tools", 800)
    assert complaints == []


def test_a_setting_for_all_hosts_stands_at_the_root(home):
    assert content(write(home, {"peerName": "ann"}, root=True)) == {"peerName": "ann"}


def test_the_file_is_its_owner_s_alone(home):
    path = put(home / "souvenance.json", {"apiKey": "k"})
    path.chmod(0o644)
    write(home, {"enabled": True})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_unknown_stays_and_everything_keeps_its_place(home):
    before = {
        "$schema": "x",
        "hosts": {
            "z": {"theirs": 12345678901234567890123},
            "hermes": {"b": 1.0, "recallMode": "hybrid", "a": "ü"},
        },
        "zeta": [1, {"é": None}],
    }
    path = put(home / "souvenance.json", before)
    write(home, {"recallMode": "tools", "timeout": 5})
    before["hosts"]["hermes"] |= {"recallMode": "tools", "timeout": 5}
    assert json.dumps(content(path)) == json.dumps(before)


def test_nothing_stands_for_taking_a_setting_out(home):
    path = write(home, {"recallMode": "tools", "peerName": "ann"})
    write(home, {"recallMode": None, "aiPeer": None})
    assert content(path) == {"hosts": {"hermes": {"peerName": "ann"}}}


def test_a_text_is_written_as_what_it_stands_for(home):
    given = {
        "contextTokens": "800",
        "enabled": "true",
        "recallWait": "0.5",
        "recallMode": " Tools ",
        "peerName": "",
    }
    written = content(write(home, {**given, "baseUrl": "http://a.example/v3/"}))["hosts"]["hermes"]
    assert written == {
        "contextTokens": 800,
        "enabled": True,
        "recallWait": 0.5,
        "recallMode": "tools",
        "peerName": "",
        "baseUrl": "http://a.example",
    }


def test_older_spellings_go_when_anything_is_written(home):
    put(
        home / "souvenance.json",
        {"pinPeerName": True, "hosts": {"hermes": {"pinPeerName": True, "base_url": "x"}}},
    )
    path = write(home, {"pinPeerName": False})
    assert content(path) == {
        "pinUserPeer": True,
        "hosts": {"hermes": {"baseUrl": "x", "pinUserPeer": False}},
    }
    write(home, {"baseUrl": None})
    assert content(path)["hosts"]["hermes"] == {"pinUserPeer": False}


def test_a_setting_that_is_spelled_both_ways_keeps_what_counted(home):
    path = put(home / "souvenance.json", {"pinPeerName": True, "pinUserPeer": False})
    write(home, {"recallMode": "tools"}, root=True)
    assert content(path) == {"pinUserPeer": False, "recallMode": "tools"}


def test_a_block_of_an_older_spelling_is_changed_where_it_stands(home):
    hosts = {"hermes.coder": {"aiPeer": "coder"}, "hermes": {}}
    path = put(home / "souvenance.json", {"hosts": hosts})
    write(home, {"recallMode": "tools"}, host="hermes_coder")
    expected = {"hermes.coder": {"aiPeer": "coder", "recallMode": "tools"}, "hermes": {}}
    assert json.dumps(content(path)["hosts"]) == json.dumps(expected)


def test_a_block_of_the_new_spelling_leaves_the_older_alone(home):
    path = put(home / "souvenance.json", {"hosts": {"hermes.coder": {"aiPeer": "old"}, "hermes_coder": {}}})
    write(home, {"recallMode": "tools"}, host="hermes_coder")
    assert content(path)["hosts"] == {
        "hermes.coder": {"aiPeer": "old"},
        "hermes_coder": {"recallMode": "tools"},
    }


def test_a_profile_writes_to_the_file_that_counts_for_it(home):
    shared = put(home / "souvenance.json", {"workspace": "w"})
    profile = home / "profiles/coder"
    assert write(profile, {"recallMode": "tools"}, host="hermes_coder") == shared
    assert content(shared) == {"workspace": "w", "hosts": {"hermes_coder": {"recallMode": "tools"}}}
    assert not (profile / "souvenance.json").exists()


def test_of_the_file_that_other_programs_share_only_what_is_ours_is_taken_over(home):
    theirs = {
        "logging": True,
        "apiKey": "k",
        "hosts": {"cursor": {"x": 1}},
        "queryRewrite": True,
        "defaultHost": "h",
    }
    shared = put(home.parent / ".honcho/config.json", theirs)
    path = write(home, {"peerName": "ann"}, host="h")
    assert content(shared) == theirs
    del theirs["logging"], theirs["apiKey"]
    assert content(path) == {**theirs, "hosts": {"cursor": {"x": 1}, "h": {"peerName": "ann"}}}


def test_a_linked_file_stays_a_link(home):
    real = put(home.parent / "dotfiles/hermes.json", {"workspace": "w"})
    home.mkdir()
    (home / "souvenance.json").symlink_to(real)
    assert write(home, {"peerName": "ann"}) == home / "souvenance.json"
    assert (home / "souvenance.json").is_symlink()
    assert content(real) == {"workspace": "w", "hosts": {"hermes": {"peerName": "ann"}}}


def test_what_a_killed_writer_left_is_cleared_away(home):
    put(home / ".souvenance.json.0123.tmp", '{"half')
    write(home, {"peerName": "ann"})
    assert sorted(one.name for one in home.iterdir()) == [LOCK, "souvenance.json"]


class TestARefusal:
    """It names the setting, and leaves everything as it was."""

    @pytest.mark.parametrize(
        ("changes", "detail", "hint"),
        [
            ({"recalMode": "tools"}, "recalMode is not a setting", 'Did you mean "recallMode"?'),
            ({"hosts": {}}, "hosts is not a setting", ""),
            ({"queryRewrite": True}, "queryRewrite is not a setting", "It has no use here."),
            (
                {"recallMode": "hybird"},
                'recallMode must be "hybrid", "context" or "tools", not "hybird"',
                'Did you mean "hybrid"?',
            ),
            (
                {"contextTokens": True},
                "contextTokens must be a whole number, at least 1, or 0 for no limit, not true",
                "",
            ),
            ({"timeout": float("nan")}, "timeout must be something that JSON can hold", ""),
            ({"oauth": {"at": object()}}, "oauth must be something that JSON can hold", ""),
            (
                {"peerName": "Ann B"},
                "peerName must be 1 to 512 of a-z, A-Z, 0-9, '_' and '-', not \"Ann B\"",
                'Did you mean "Ann-B"?',
            ),
            ({"userPeerAliases": {"7": []}}, "userPeerAliases must be an object of names of peers by id", ""),
            (
                {"baseUrl": "nowhere"},
                "baseUrl must be an http or https address",
                "For example http://127.0.0.1:8787.",
            ),
        ],
    )
    def test_of_a_value_that_the_setting_does_not_take(self, home, changes, detail, hint):
        path = put(home / "souvenance.json", {"peerName": "ann"})
        before = path.read_bytes()
        with pytest.raises(InvalidInput) as refused:
            write(home, {"saveMessages": False, **changes})
        assert (refused.value.detail, refused.value.hint) == (detail, hint)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("document", "changes"),
        [
            ({"peerName": "ann"}, {"aiPeer": "ann"}),
            ({"aiPeer": "ann"}, {"peerName": "ann"}),
            ({}, {"peerName": "hermes"}),
            ({"aiPeer": "bot"}, {"userPeerAliases": {"1": "bot"}}),
            ({"peerName": "ann b"}, {"userPeerAliases": {"1": "ann-b"}}),
        ],
    )
    def test_of_names_that_make_one_of_two(self, home, document, changes):
        path = put(home / "souvenance.json", document)
        with pytest.raises(Misconfigured):
            write(home, changes)
        assert content(path) == document

    def test_is_not_for_what_was_wrong_before(self, home):
        put(home / "souvenance.json", {"recallMode": "x", "userPeerAliases": {"1": []}})
        write(home, {"aiPeer": "bot"})
        assert read(home)[0].ai_peer == "bot"

    @pytest.mark.parametrize("name", ["souvenance.json", "honcho.json"])
    def test_of_a_file_that_can_not_be_read(self, home, name):
        path = put(home / name, '{"peerName": "ann",')
        with pytest.raises(Misconfigured) as refused:
            write(home, {"peerName": "bo"})
        assert refused.value.detail == f"{path} is not JSON (line 1, column 20)"
        assert path.read_text("utf-8") == '{"peerName": "ann",'
        assert sorted(one.name for one in home.iterdir()) == [LOCK, name]

    @pytest.mark.parametrize("hosts", [[], {"hermes": "x"}])
    def test_of_a_block_that_is_none(self, home, hosts):
        put(home / "souvenance.json", {"hosts": hosts})
        with pytest.raises(Misconfigured):
            write(home, {"peerName": "bo"})

    def test_of_a_place_that_can_not_be_written(self, tmp_path):
        put(tmp_path / "file", "")
        with pytest.raises(StorageReadOnly) as refused:
            write(tmp_path / "file/home", {"peerName": "bo"})
        assert refused.value.hint == "Make it writable for this user."


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_the_default_of_every_setting_can_be_written(home, key):
    write(home, {key.name: to_builtins(key.default_value)})
    assert read(home)[1] == []


def test_writers_in_several_processes_lose_nothing_of_each_other(home):
    put(home / "souvenance.json", {"workspace": "w"})
    times, writers = 15, []
    for host, folder in (("a", home), ("b", home), ("c", home / "profiles/c")):
        arguments = [sys.executable, "-c", WRITER, str(folder), host, str(times)]
        writers.append(subprocess.Popen(arguments))
    complaints = []
    while any(writer.poll() is None for writer in writers):
        complaints += read_configuration(home, {})[1]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert complaints == []
    blocks = {f"{host}{number}": {"contextTokens": number} for host in "abc" for number in range(times)}
    assert content(home / "souvenance.json") == {"workspace": "w", "hosts": blocks, "dialecticCadence": 2}
