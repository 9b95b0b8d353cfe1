"""The commands: each says what it changed and where, and is the same in Hermes as in our own shell."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments import client_program
from souvenance import hermes_backends
from souvenance.agents.conversation_scope import Namespaces
from souvenance.entry.cli import register_cli
from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import identify
from souvenance.hermes.setting_types import NO_LIMIT
from souvenance.hermes.setup.commands import hermes_group
from souvenance.hermes.setup.status import Findings
from souvenance.ports.write_queue import WriteQueueStatus
from souvenance.surfaces.cli.main import ended

PATIENCE_SECONDS = 120
KEY = "hch-v3-0123456789-SECRET"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A Hermes home with a profile `coder`, and a directory of ours to be in."""
    folder = tmp_path / ".hermes"
    (folder / "profiles" / "coder").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for name in [name for name in os.environ if name.startswith(("HONCHO", "HERMES", "SOUVENANCE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(folder))
    monkeypatch.setenv("USER", "ann")
    return folder


@pytest.fixture
def told(capsys):
    """Run a command, hold it to its exit code, and say what it printed."""

    def told(*arguments, exit_code=0, inspect=None):
        code = ended(hermes_group(inspect), arguments, "souvenance hermes")
        printed = capsys.readouterr()
        assert code == exit_code, (printed.out, printed.err)
        return printed.out if exit_code == 0 else printed.err

    return told


@pytest.fixture
def configured(home):
    def configured(profile="default"):
        folder = home if profile == "default" else home / "profiles" / profile
        return read_configuration(folder, os.environ, profile)[0]

    return configured


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestChanging:
    @pytest.mark.parametrize(
        ("arguments", "line", "attribute", "value"),
        [
            (["disable"], "enabled: true -> false", "enabled", False),
            (["mode", "tools"], "recallMode: hybrid -> tools", "recall_mode", "tools"),
            (["peer", "--user", "bob"], "peerName: none -> bob", "peer_name", "bob"),
            (["peer", "--ai", "hal"], "aiPeer: hermes -> hal", "ai_peer", "hal"),
            (["tokens", "--context", "500"], "contextTokens: 1200 -> 500", "context_tokens", 500),
            (["tokens", "--dialectic", "9"], "dialecticMaxChars: 600 -> 9", "dialectic_max_chars", 9),
        ],
    )
    def test_says_what_changed_and_where(self, told, configured, home, arguments, line, attribute, value):
        printed = told(*arguments)
        assert printed.splitlines() == [line, f"in {home / 'souvenance.json'}, for hermes"]
        assert getattr(configured(), attribute) == value

    def test_another_name_says_what_stays_with_the_one_of_so_far_and_how_to_go_back(self, told, home):
        told("peer", "--user", "ann")
        told("setup", "--yes", "--alias", "7=ann")
        (home / "souvenance").mkdir()
        (home / "souvenance" / "souvenance.db").touch()
        printed = told("peer", "--user", "anna")
        assert printed.splitlines()[2:] == [
            "What was remembered of ann stays with ann: nothing is moved.",
            "To take it along: souvenance hermes peer --carry ann",
            "To go on with it, go back: souvenance hermes peer --user ann",
            "These ids still lead to ann: 7",
        ]
        assert "stays" not in told("peer", "--user", "anna"), "that is her name already"
        assert "stays with anna: nothing is moved" in told("setup", "--yes", "--peer", "eve")
        assert len(json.loads(told("peer", "--user", "ann", "--json"))["stays"]) == 3

    def test_another_name_of_the_agent_says_what_stays_with_the_one_of_so_far(self, told, home):
        told("setup", "--yes", "--url", "http://127.0.0.1:9")
        printed = told("peer", "--ai", "hal", "--profile", "default")
        assert "What hermes concluded, of people and of itself, stays with hermes" in printed
        assert "souvenance hermes peer --ai hermes" in printed

    def test_a_first_name_leaves_what_is_nobody_s_by_name_and_a_way_back_to_it(self, told, home, configured):
        (home / "souvenance").mkdir()
        (home / "souvenance" / "souvenance.db").touch()
        conversation = HostConversation(session_id="", home=home, directory=home)
        nameless = identify(configured(), conversation).peer
        back = told("peer", "--user", "ann").splitlines()[-1].rpartition("souvenance hermes ")[2]
        told(*back.split())
        assert identify(configured(), conversation).peer == nameless

    def test_answers_in_json_too(self, told, home):
        assert json.loads(told("mode", "tools", "--json")) == {
            "file": str(home / "souvenance.json"),
            "host": "hermes",
            "recallMode": "tools",
            "complaints": [],
        }

    def test_what_is_already_so_is_only_said(self, told, home):
        told("disable")
        before = (home / "souvenance.json").stat().st_mtime_ns
        assert told("disable") == "enabled: false\n"
        assert (home / "souvenance.json").stat().st_mtime_ns == before
        assert told("enable").startswith("enabled: false -> true\n")

    def test_without_a_value_says_how_it_is_and_writes_nothing(self, told, home):
        assert told("mode") == "recallMode: hybrid\nobservation: directional\n"
        assert told("peer") == "peerName: none\naiPeer: hermes\n"
        assert told("tokens") == "contextTokens: 1200\ndialecticMaxChars: 600\n"
        assert files_in(home) == {}

    def test_a_limit_may_be_taken_away(self, told, configured):
        told("tokens", "--context", "500")
        assert told("tokens", "--context", "0", "--dialectic", "0").startswith(
            "contextTokens: 500 -> no limit\ndialecticMaxChars: 600 -> no limit\n"
        )
        assert configured().context_tokens == NO_LIMIT

    def test_a_profile_is_changed_alone(self, told, configured):
        told("mode", "tools", "--profile", "coder")
        assert (configured().recall_mode, configured("coder").recall_mode) == ("hybrid", "tools")

    def test_the_home_and_profile_may_be_named_before_the_command(self, told, home, monkeypatch):
        monkeypatch.delenv("HERMES_HOME")
        printed = told("--home", str(home), "--profile", "coder", "mode", "tools")
        assert printed.endswith("for hermes_coder\n")

    def test_a_user_called_like_the_agent_is_refused(self, told, home):
        told("peer", "--user", "ann")
        before = files_in(home)
        assert told("peer", "--ai", "ann", exit_code=11).startswith("misconfigured: ")
        assert files_in(home) == before

    def test_a_name_that_is_none_is_refused_with_one_that_is(self, told, home):
        assert told("peer", "--user", "a b", exit_code=3).startswith(
            'invalid_input: peerName must be spelled "a-b"'
        )
        assert files_in(home) == {}

    def test_errors_are_json_if_answers_are(self, told):
        error = json.loads(told("status", "--home", "/nowhere", "--json", exit_code=11))
        assert error["error"] == "misconfigured"
        assert "HERMES_HOME" in error["hint"]


class TestObservation:
    def test_a_mode_takes_the_place_of_flags(self, told, configured, home):
        flags = {"user": {"observeMe": False}}
        write_setting(home, "hermes", {"observation": flags})
        write_setting(home, "hermes", {"observation": flags}, root=True)
        assert told("mode", "directional").startswith("observation: ")
        assert told("mode") == "recallMode: hybrid\nobservation: directional\n"
        told("mode", "unified")
        assert not configured().observation.ai.observe_me
        assert told("mode").endswith("observation: unified\n")


class TestTheMap:
    def test_names_this_directory(self, told, configured, home, tmp_path):
        here = str(tmp_path / "project")
        assert told("map") == "No directory has a name of its own.\n"
        assert told("map", "thesis").splitlines() == [f"{here}: thesis", f"in {home / 'souvenance.json'}"]
        assert configured("coder").sessions == {here: "thesis"}
        assert told("map") == f"{here}: thesis\n"
        assert json.loads(told("status", "--json"))["session"] == "thesis"
        assert told("map", "--remove").startswith(f"{here} has no name of its own any more")
        assert configured().sessions == {}
        assert told("map", "--remove") == f"{here} has no name of its own.\n"

    def test_stands_where_it_stood(self, told, configured, home, tmp_path):
        write_setting(home, "hermes", {"sessions": {"/elsewhere": "other"}})
        told("map", "thesis")
        assert configured().sessions == {"/elsewhere": "other", str(tmp_path / "project"): "thesis"}
        assert configured("coder").sessions == {}

    def test_can_not_name_and_remove(self, told):
        assert "exclude each other" in told("map", "thesis", "--remove", exit_code=2)


class TestSync:
    def test_gives_every_profile_the_memory_of_the_default_one(self, told, configured, home):
        told("setup", "--yes", "--peer", "ann", "--recall", "tools")
        assert "coder: made" in told("sync")
        mine, coder = configured(), configured("coder")
        assert (coder.host, coder.ai_peer) == ("hermes_coder", "coder")
        for name in ("peer_name", "workspace", "store", "recall_mode", "url"):
            assert getattr(coder, name) == getattr(mine, name)

    def test_gives_every_profile_the_key_of_the_default_one(self, told, configured, home):
        write_setting(home, "hermes", {"baseUrl": "https://memory.example.com", "apiKey": KEY})
        assert "login" not in told("sync")
        assert (configured("coder").url, configured("coder").api_key) == ("https://memory.example.com", KEY)

    @pytest.mark.parametrize("name", ["souvenance.json", "honcho.json"])
    def test_a_sign_in_stays_with_its_profile_and_others_are_told_to_sign_in(
        self, told, configured, home, name
    ):
        oauth = {"refreshToken": "hch-rt-1", "clientId": "c", "tokenEndpoint": "https://m.example/token"}
        block = {"apiKey": "hch-at-1", "oauth": oauth, "recallMode": "tools"}
        document = {"baseUrl": "https://m.example", "hosts": {"hermes": block}}
        (home / name).write_text(json.dumps(document))
        (home / name).chmod(0o600)
        printed = told("sync")
        assert "Next: souvenance login --profile coder (a sign-in is for one profile alone)\n" in printed
        coder = configured("coder")
        assert (coder.api_key, coder.oauth) == (None, None)
        assert (coder.url, coder.recall_mode) == ("https://m.example", "tools")
        assert (configured().api_key, configured().oauth["refreshToken"]) == ("hch-at-1", "hch-rt-1")
        kept = [path for path in home.rglob("*.json") if "hch-rt-1" in path.read_text()]
        assert [path.name for path in kept] == [name]
        assert kept[0].read_text().count("hch-rt-1") == 1

    def test_changes_no_profile_that_has_settings(self, told, configured, home):
        told("sync")
        told("peer", "--ai", "hal", "--profile", "coder")
        before = files_in(home)
        assert "coder: already there" in told("sync")
        assert files_in(home) == before

    def test_leaves_a_profile_its_own_file(self, told, configured, home):
        own = home / "profiles" / "coder" / "honcho.json"
        own.write_text('{"peerName": "carl", "workspace": "work"}')
        (home / "profiles" / "writer").mkdir()
        printed = told("sync")
        assert "coder: has a file of its own" in printed
        assert "writer: made" in printed
        assert (configured("coder").peer_name, configured("coder").workspace) == ("carl", "work")
        assert own.read_text() == '{"peerName": "carl", "workspace": "work"}'

    def test_has_nothing_to_do_without_profiles(self, told, home):
        (home / "profiles" / "coder").rmdir()
        assert told("sync") == "There is no profile but the default one.\n"


class TestSetup:
    def test_by_options_alone(self, told, configured, home, tmp_path):
        (tmp_path / "key").write_text(f"{KEY}\n")
        printed = told(
            *(
                "setup",
                "--yes",
                "--url",
                "https://memory.example.com",
                "--api-key-file",
                str(tmp_path / "key"),
            ),
            *("--peer", "eve", "--ai", "hal", "--identity", "pooled", "--alias", "7", "--alias", "8=bob"),
            *("--prefix", "t_", "--recall", "context", "--strategy", "global", "--read", "work,home"),
            *("--write", "work", "--write-frequency", "session", "--context-tokens", "700"),
            *("--dialectic-cadence", "4", "--dialectic-depth", "2"),
        )
        now = configured()
        assert KEY not in printed
        assert (now.url, now.api_key) == ("https://memory.example.com", KEY)
        assert (now.peer_name, now.ai_peer) == ("eve", "hal")
        assert (now.user_peer_aliases, now.runtime_peer_prefix) == ({"7": "eve", "8": "bob"}, "t_")
        assert (now.recall_mode, now.session_strategy, now.write_frequency) == (
            "context",
            "global",
            "session",
        )
        assert now.namespaces == Namespaces(("work", "home"), "work")
        assert (now.context_tokens, now.dialectic_cadence, now.dialectic_depth) == (700, 4, 2)

    def test_takes_the_key_from_a_variable(self, told, configured, monkeypatch):
        monkeypatch.setenv("MY_KEY", KEY)
        assert KEY not in told("setup", "--yes", "--cloud", "--api-key-env", "MY_KEY")
        assert (configured().url, configured().api_key) == ("https://api.honcho.dev", KEY)

    @pytest.mark.parametrize(
        ("arguments", "exit_code", "why"),
        [
            (["--url", "memory.example.com"], 3, "must be an http or https address"),
            (["--embedded", "--url", "http://127.0.0.1"], 2, "exclude each other"),
            (["--cloud"], 3, "needs a key"),
            (["--cloud", "--api-key-env", "NO_SUCH"], 3, "there is no key"),
            (["--alias", "7"], 3, "needs to know your name"),
            (["--alias", "7="], 3, "neither an id nor"),
            (["--read", "Work!"], 3, "namespace"),
            (["--strategy", "per-moon"], 3, "per-repo"),
        ],
    )
    def test_refuses_before_anything_is_written(self, told, home, arguments, exit_code, why):
        assert why in told("setup", "--yes", *arguments, exit_code=exit_code)
        assert files_in(home) == {}

    def test_without_a_terminal_is_as_if_nobody_were_asked(self, told, configured, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO())
        assert "No questions asked" in told("setup")
        assert configured().peer_name == "ann"


class TestStatus:
    def test_makes_nothing(self, told, home):
        before = sorted(home.rglob("*"))
        told("status")
        told("status", "--json")
        assert sorted(home.rglob("*")) == before

    def test_says_what_is_missing_and_then_that_nothing_is(self, told):
        assert "Next: souvenance hermes install" in told("status")
        told("install")
        assert "Next: hermes memory setup souvenance" in told("status")
        told("setup", "--yes")
        printed = told("status")
        assert "Next" not in printed
        assert "placed in default, coder" in printed
        assert "default: souvenance; coder: none" in printed

    def test_says_which_other_profile_has_no_memory_for_want_of_the_plugin(self, told, home):
        """As after `hermes profile create --clone`, which copies the settings and no plugin."""
        told("install")
        told("setup", "--yes")
        cloned = home / "profiles" / "writer"
        cloned.mkdir()
        (cloned / "config.yaml").write_bytes((home / "config.yaml").read_bytes())
        printed = told("status")
        assert "the plugin is not placed there: writer\nNext: souvenance hermes install" in printed
        told("install")
        assert "Next" not in told("status")

    def test_says_what_counts(self, told, home, tmp_path):
        told("setup", "--yes", "--peer", "ann", "--recall", "tools", "--identity", "just-me")
        found = json.loads(told("status", "--json"))
        assert (found["profile"], found["host"], found["file"]) == (
            "default",
            "hermes",
            str(home / "souvenance.json"),
        )
        assert (found["url"], found["store"], found["store_bytes"]) == (None, str(home / "souvenance"), None)
        assert (found["identity"], found["session"]) == ("just-me", "project")
        assert found["settings"]["recallMode"] == "tools"
        assert found["changed"] == ["pinUserPeer", "recallMode"]
        printed = told("status")
        assert "whoever writes through a gateway is you" in printed
        assert "    recallMode: tools" in printed

    def test_shows_no_key(self, told, home):
        settings = {"baseUrl": "https://ann:pw-in-url@memory.example.com", "apiKey": KEY}
        write_setting(home, "hermes", settings)
        for printed in (told("status"), told("status", "--json")):
            assert KEY not in printed
            assert "pw-in-url" not in printed
            assert f"…{KEY[-4:]}" in printed
        write_setting(home, "hermes", {"oauth": {"refreshToken": KEY, "expiresAt": 1799999999}})
        for printed in (told("status"), told("status", "--json")):
            assert KEY not in printed
            assert "OAuth, which can't be renewed" in printed

    def test_tells_how_memory_does(self, told, home):
        write_setting(home, "hermes", {"baseUrl": "https://memory.example.com"})
        asked = []

        def inspect(configuration, environment):
            asked.append(configuration.url)
            return Findings(
                reachable=False,
                told="connection refused",
                health=BackendHealth(False, 4, "server_unreachable: refused", 1_700_000_000_000),
                write_queue=WriteQueueStatus(3, 1, 0, 2),
                delay="cap_scope_mismatch: the cap may not write",
            )

        printed = told("status", inspect=inspect)
        assert asked == ["https://memory.example.com"]
        assert "no: connection refused" in printed
        assert "3 waiting, 1 held, 0 set aside; 2 sealed with another key" in printed
        assert "not written cap_scope_mismatch: the cap may not write" in printed
        assert "open since 2023-11-14 22:13 UTC: server_unreachable: refused" in printed
        found = json.loads(told("status", "--json", inspect=inspect))
        assert (found["write_queue"]["waiting"], found["write_queue"]["held"]) == (3, 1)

    def test_tells_that_there_is_no_place_for_memory(self, told, home):
        assert "nothing is stored yet" in told("status", inspect=hermes_backends.inspect)
        (home / "souvenance").write_text("")
        assert f"no: {home / 'souvenance'} is not a folder" in told("status", inspect=hermes_backends.inspect)

    def test_tells_that_nothing_can_be_kept_for_later(self, told, home):
        assert "write queue 0 waiting" in told("status", inspect=hermes_backends.inspect)
        (home / "souvenance" / "outbox" / "outbox.key").mkdir(parents=True)
        assert "write queue can't be used, so nothing that is said is kept: " in told(
            "status", inspect=hermes_backends.inspect
        )

    def test_of_a_server_that_is_not_there_says_what_is_to_be_corrected(self, told, home):
        write_setting(home, "hermes", {"baseUrl": "http://127.0.0.1:9"})
        printed = told("status", inspect=hermes_backends.inspect)
        assert "Start that server, or correct baseUrl." in printed
        assert "--url" not in printed

    def test_of_namespaces_without_a_cap_blames_no_server_that_was_not_asked(self, told, home):
        apart = {"read": ["travel"], "write": "travel"}
        write_setting(home, "hermes", {"baseUrl": "http://127.0.0.1:9", "namespaces": apart})
        assert "apiKey is no cap of one. Leave namespaces out" in told(
            "status", inspect=hermes_backends.inspect
        )

    def test_tells_how_much_is_stored(self, told, home):
        (home / "souvenance" / "deep").mkdir(parents=True)
        (home / "souvenance" / "deep" / "file").write_bytes(b"x" * 12_345)
        assert f"{home / 'souvenance'} (12 KB)" in told("status")

    def test_names_the_block_as_the_file_spells_it(self, told, home):
        (home / "souvenance.json").write_text('{"hosts": {"hermes.coder": {"aiPeer": "coder"}}}')
        assert "block hermes.coder" in told("status", "--profile", "coder")
        (home / "souvenance.json").write_text('{"hosts": {"hermes_coder": {"aiPeer": "coder"}}}')
        assert "block hermes_coder" in told("status", "--profile", "coder")

    def test_passes_complaints_on_and_names_what_has_no_use(self, told, home):
        (home / "honcho.json").write_text('{"recalMode": "tools", "queryRewrite": true, "peerName": "ann"}')
        printed = told("status")
        assert "recallMode" in printed
        assert "warning: " in printed
        assert "queryRewrite is not needed here" in printed
        assert str(home / "honcho.json") in printed

    def test_tells_a_broken_file_from_a_memory(self, told, home):
        (home / "souvenance.json").write_text("{")
        printed = told("status")
        assert "memory      off" in printed
        assert "is not JSON" in printed

    @pytest.mark.parametrize(
        ("settings", "environment", "said"),
        [
            ({}, {}, "off: you were not asked yet, so quotes only (run: hermes memory setup souvenance)"),
            ({"hostModel": False}, {}, "off: you chose quotes only"),
            (
                {"hostModel": True},
                {},
                "on: Hermes' own, in the background; 0 of 40 calls and 0 of 100,000 tokens spent today, "
                "40 calls and 100,000 tokens left",
            ),
            (
                {"hostModel": True, "hostModelTokensPerDay": 10},
                {},
                "on: Hermes' own, but today's budget is spent",
            ),
            (
                {"hostModel": True},
                {"SOUVENANCE_MODEL_BASE_URL": "http://127.0.0.1:9", "SOUVENANCE_MODEL_NAME": "qwen2.5:7b"},
                "on: the one that model_base_url names, in the background; 0 calls and 0 tokens today",
            ),
            ({"baseUrl": "http://127.0.0.1:9"}, {}, "the server's own, if it has one"),
        ],
        ids=["not asked", "declined", "on", "spent", "of the environment", "of a server"],
    )
    def test_says_in_plain_words_how_it_stands_with_the_model(
        self, told, home, monkeypatch, settings, environment, said
    ):
        write_setting(home, "hermes", settings)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert f"  model       {said}" in told("status", inspect=hermes_backends.inspect)

    def test_of_sessions_by_run_names_none(self, told, home):
        write_setting(home, "hermes", {"sessionStrategy": "per-session"})
        assert "a new one in every run" in told("status")


class TestInstalling:
    def test_says_what_it_does_and_what_comes_next(self, told, home):
        folder = home / "plugins" / "souvenance"
        assert f"default: would be placed ({folder})" in told("install", "--dry-run")
        printed = told("install")
        assert f"default: placed ({folder})" in printed
        assert "Next: hermes memory setup souvenance" in printed
        assert f"default: already in place ({folder})" in told("install")

    def test_works_before_hermes_has_run_once(self, told, tmp_path, monkeypatch):
        new = tmp_path / "nobody-yet" / ".hermes"
        monkeypatch.setenv("HERMES_HOME", str(new))
        assert "would be placed" in told("install", "--dry-run")
        assert not new.exists()
        assert f"default: placed ({new / 'plugins' / 'souvenance'})" in told("install")
        assert "already in place" in told("install")

    def test_a_missing_folder_that_was_named_is_still_an_error(self, told, tmp_path):
        assert "not a Hermes home" in told("install", "--home", str(tmp_path / "typo"), exit_code=11)
        assert not (tmp_path / "typo").exists()

    def test_takes_profiles_by_name(self, told, home):
        steps = json.loads(told("install", "--profile", "coder", "--json"))["steps"]
        assert [(step["profile"], step["outcome"]) for step in steps] == [("coder", "placed")]
        assert "'nobody'" in told("install", "--profile", "nobody", exit_code=6)

    def test_taking_it_away_only_tells_what_still_names_it(self, told, home):
        told("install")
        told("setup", "--yes")
        before = (home / "config.yaml").read_text()
        assert "Run: hermes memory off" in told("install", "--uninstall")
        assert (home / "config.yaml").read_text() == before

    def test_somebody_elses_plugin_is_a_conflict(self, told, home):
        (home / "plugins" / "souvenance").mkdir(parents=True)
        (home / "plugins" / "souvenance" / "__init__.py").write_text("mine")
        assert told("install", exit_code=7).startswith("conflict: ")


class TestTheDoorOfTheHost:
    @given(
        st.lists(st.sampled_from(["status", "--json", "--help", "-h", "-p", "--verb", "x y", "", "-", "-1"]))
    )
    def test_hands_over_every_argument_as_it_is(self, arguments):
        host = argparse.ArgumentParser(prog="hermes")
        host.add_argument("-p")
        host.add_argument("--verbose", action="store_true")
        commands = host.add_subparsers(dest="command")
        register_cli(commands.add_parser("souvenance"))
        assert host.parse_args(["souvenance", *arguments]).arguments == arguments


class TestOurOwnShell:
    def souvenance(self, *arguments, exit_code=0):
        finished = subprocess.run(
            [sys.executable, "-m", "souvenance", *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert finished.returncode == exit_code, (finished.stdout, finished.stderr)
        return finished.stdout or finished.stderr

    def test_has_the_commands_and_their_exit_codes(self):
        assert json.loads(self.souvenance("--json", "hermes", "peer")) == {
            "peerName": None,
            "aiPeer": "hermes",
        }
        assert "misconfigured" in self.souvenance("hermes", "status", "--home", "/nowhere", exit_code=11)

    def test_takes_no_data_folder_for_a_home_of_hermes(self):
        assert "after their name" in self.souvenance("--home", "x", "hermes", "status", exit_code=2)

    def test_ends_quietly_if_nobody_reads(self):
        reading, writing = os.pipe()
        os.close(reading)
        finished = subprocess.run(
            [sys.executable, "-m", "souvenance", "hermes", "status"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_SECONDS,
        )
        os.close(writing)
        assert (finished.returncode, finished.stderr) == (0, b"")

    def test_loads_them_only_to_use_them(self, tmp_path):
        script = (
            "import sys\nfrom souvenance.commands import main\n"
            f"sys.argv = ['souvenance', '--home', {str(tmp_path / 'm')!r}, 'put', 'hello']\n"
            "try:\n    main()\nexcept SystemExit:\n    pass\n"
            "print([name for name in sys.modules if name.startswith('souvenance.hermes')])"
        )
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert told.stdout.splitlines()[-1] == "[]"


def test_a_stock_hermes_finds_sets_up_and_serves_it(told, home, tmp_path):
    told("install")

    def hermes(*arguments, exit_code=0):
        finished = subprocess.run(
            [client_program("hermes-0.19.0", "hermes"), *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(home), "USER": "ann"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert finished.returncode == exit_code, (finished.stdout, finished.stderr)
        return finished.stdout if exit_code == 0 else finished.stderr

    assert "• souvenance" in hermes("memory", "status")
    assert "No questions asked" in hermes("memory", "setup", "souvenance")
    assert "Status:    available ✓" in hermes("memory", "status")
    found = json.loads(hermes("souvenance", "status", "--json"))
    assert found["settings"]["peerName"] == "ann"
    assert found["places"][0] == {"profile": "default", "placed": True, "provider": "souvenance"}
    assert found["write_queue"]["waiting"] == 0
    assert hermes("souvenance", "--help").startswith("Usage: hermes souvenance [OPTIONS] COMMAND")
    assert hermes("souvenance", "peer", "--user", "a b", exit_code=3).startswith("invalid_input: ")
    assert "aiPeer: hermes -> hal" in hermes("souvenance", "peer", "--ai", "hal")
    assert not (home / "souvenance").exists()
