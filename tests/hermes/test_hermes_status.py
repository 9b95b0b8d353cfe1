"""`souvenance hermes status`: everything about memory in a profile, and nothing changed."""

from __future__ import annotations

import json
from functools import partial

import pytest

from hermes.shell import KEY, a_home, a_shell, configuration_in
from souvenance import hermes_backends
from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.config_files import write_setting
from souvenance.hermes.setup.status import Findings
from souvenance.ports.write_queue import WriteQueueStatus


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return a_home(tmp_path, monkeypatch)


@pytest.fixture
def told(capsys):
    return a_shell(capsys)


@pytest.fixture
def configured(home):
    return partial(configuration_in, home)


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
        told("setup", "--yes", "--peer", "ann", "--set", "recallMode=tools", "--set", "pinUserPeer=true")
        found = json.loads(told("status", "--json"))
        assert (found["profile"], found["host"], found["file"]) == (
            "default",
            "hermes",
            str(home / "souvenance.json"),
        )
        assert (found["url"], found["store"]) == (None, str(home / "souvenance"))
        assert (found["identity"], found["session"]) == ("just-me", "project")
        assert found["settings"]["recallMode"] == "tools"
        assert found["changed"] == ["pinUserPeer", "recallMode"]
        printed = told("status")
        assert "everyone who writes through a gateway is you" in printed
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
                detail="connection refused",
                health=BackendHealth(False, 4, "server_unreachable: refused", 1_700_000_000_000),
                write_queue=WriteQueueStatus(3, 0, 2),
                delay="cap_scope_mismatch: the cap may not write",
            )

        printed = told("status", inspect=inspect)
        assert asked == ["https://memory.example.com"]
        assert "no: connection refused" in printed
        assert "3 waiting, 0 set aside; 2 sealed with another key" in printed
        assert "not written cap_scope_mismatch: the cap may not write" in printed
        assert (
            "no answer since 2023-11-14 22:13 UTC, so turns go without memory: server_unreachable" in printed
        )
        found = json.loads(told("status", "--json", inspect=inspect))
        assert (found["write_queue"]["waiting"], found["write_queue"]["other_key"]) == (3, 2)

    @pytest.mark.parametrize(
        ("commands", "findings", "said"),
        [
            ([], Findings(), "on, but Hermes does not use it yet: see 'Next' below"),
            (["install", "setup --yes"], Findings(), "on, and nothing is remembered yet"),
            (["install", "setup --yes"], Findings(reachable=True), "on, and it works"),
            (
                ["install", "setup --yes"],
                Findings(reachable=False, detail="refused"),
                "on, but it does not answer: see 'answers' below",
            ),
            (
                ["install", "setup --yes"],
                Findings(reachable=True, unwritable="no folder"),
                "on, but nothing new is kept: see 'write queue' below",
            ),
            (
                ["install", "setup --yes"],
                Findings(reachable=True, write_queue=WriteQueueStatus(2, 0, 0), delay="denied"),
                "on, but what was said waits to be written: see 'not written' below",
            ),
            (["install", "setup --yes", "disable"], Findings(), "off: souvenance hermes enable switches"),
        ],
    )
    def test_begins_with_whether_it_works_and_where_to_look(self, told, commands, findings, said):
        for command in commands:
            told(*command.split())
        printed = told("status", inspect=lambda configuration, environment: findings)
        assert printed.splitlines()[1].startswith(f"  memory      {said}")

    def test_tells_that_there_is_no_place_for_memory(self, told, home):
        assert "nothing is stored yet" in told("status", inspect=hermes_backends.inspect)
        (home / "souvenance").write_text("")
        assert f"no: {home / 'souvenance'} is not a folder" in told("status", inspect=hermes_backends.inspect)

    def test_tells_that_nothing_can_be_kept_for_later(self, told, home):
        assert "write queue 0 waiting" in told("status", inspect=hermes_backends.inspect)
        (home / "souvenance" / "write-queue" / "queue.key").mkdir(parents=True)
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
