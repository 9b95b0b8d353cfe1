"""Setup and installation by command, and the same commands in Hermes and in our own shell."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.shell import KEY, a_home, a_shell, configuration_in, files_in
from souvenance.agents.conversation_scope import Namespaces
from souvenance.entry.souvenance.cli import register_cli

PATIENCE_SECONDS = 120


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return a_home(tmp_path, monkeypatch)


@pytest.fixture
def told(capsys):
    return a_shell(capsys)


@pytest.fixture
def configured(home):
    return partial(configuration_in, home)


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
            *("--peer", "eve", "--ai", "hal", "--alias", "7", "--alias", "8=bob"),
            *(
                "--set",
                "runtimePeerPrefix=t_",
                "--set",
                "recallMode=context",
                "--set",
                "sessionStrategy=global",
            ),
            *("--set", 'namespaces=["work", "home"]'),
            *("--set", "contextTokens=700", "--set", "dialecticCadence=4"),
        )
        now = configured()
        assert KEY not in printed
        assert (now.url, now.api_key) == ("https://memory.example.com", KEY)
        assert (now.peer_name, now.ai_peer) == ("eve", "hal")
        assert (now.user_peer_aliases, now.runtime_peer_prefix) == ({"7": "eve", "8": "bob"}, "t_")
        assert (now.recall_mode, now.session_strategy) == ("context", "global")
        assert now.namespaces == Namespaces(("work", "home"), "work")
        assert (now.context_tokens, now.dialectic_cadence) == (700, 4)

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
            (["--set", "namespaces=Work!"], 3, "namespace"),
            (["--set", "sessionStrategy=per-moon"], 3, "per-repo"),
            (["--set", "recalMode=tools"], 3, "recallMode"),
            (["--set", "recallMode"], 3, "not NAME=VALUE"),
        ],
    )
    def test_refuses_before_anything_is_written(self, told, home, arguments, exit_code, why):
        assert why in told("setup", "--yes", *arguments, exit_code=exit_code)
        assert files_in(home) == {}

    def test_without_a_terminal_is_as_if_nobody_were_asked(self, told, configured, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO())
        assert "No questions asked" in told("setup")
        assert configured().peer_name == "ann"


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
        assert "warning: the plugin is not placed: " in told("setup", "--yes")

    def test_setup_places_it_where_it_is_not_yet(self, told, home):
        folder = home / "plugins" / "souvenance"
        assert f"Placed the plugin in {folder}." in told("setup", "--yes")
        assert "plugin" not in told("setup", "--yes")
        assert f"default: already in place ({folder})" in told("install")


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
