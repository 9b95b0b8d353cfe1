"""The commands that change settings: each says what it changed and where."""

from __future__ import annotations

import json
from functools import partial

import pytest

from hermes.shell import KEY, a_home, a_shell, configuration_in, files_in
from souvenance.hermes.config_files import write_setting
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import identify


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    return a_home(tmp_path, monkeypatch)


@pytest.fixture
def told(capsys):
    return a_shell(capsys)


@pytest.fixture
def configured(home):
    return partial(configuration_in, home)


class TestChanging:
    @pytest.mark.parametrize(
        ("arguments", "line", "attribute", "value"),
        [
            (["disable"], "enabled: true -> false", "enabled", False),
            (["set", "recallMode=tools"], "recallMode: hybrid -> tools", "recall_mode", "tools"),
            (["peer", "--user", "bob"], "peerName: none -> bob", "peer_name", "bob"),
            (["peer", "--ai", "hal"], "aiPeer: hermes -> hal", "ai_peer", "hal"),
            (["set", "contextTokens=500"], "contextTokens: 1200 -> 500", "context_tokens", 500),
            (["set", "dialecticMaxChars=9"], "dialecticMaxChars: 600 -> 9", "dialectic_max_chars", 9),
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
        assert json.loads(told("set", "recallMode=tools", "--json")) == {
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
        assert told("set", "recallMode", "timeout") == "recallMode: hybrid\ntimeout: 30.0\n"
        assert told("peer") == "peerName: none\naiPeer: hermes\n"
        assert files_in(home) == {}

    def test_a_limit_may_be_taken_away(self, told, configured):
        told("set", "contextTokens=500")
        assert told("set", "contextTokens=0", "dialecticMaxChars=0").startswith(
            "contextTokens: 500 -> no limit\ndialecticMaxChars: 600 -> no limit\n"
        )
        assert configured().context_tokens == 0

    def test_a_profile_is_changed_alone(self, told, configured):
        told("set", "recallMode=tools", "--profile", "coder")
        assert (configured().recall_mode, configured("coder").recall_mode) == ("hybrid", "tools")

    def test_the_home_and_profile_may_be_named_before_the_command(self, told, home, monkeypatch):
        monkeypatch.delenv("HERMES_HOME")
        printed = told("--home", str(home), "--profile", "coder", "set", "recallMode=tools")
        assert printed.endswith("for hermes_coder\n")

    def test_a_user_called_like_the_agent_is_refused(self, told, home):
        told("peer", "--user", "ann")
        before = files_in(home)
        assert told("peer", "--ai", "ann", exit_code=11).startswith("misconfigured: ")
        assert files_in(home) == before

    def test_a_name_that_is_none_is_refused_with_one_that_is(self, told, home):
        assert told("peer", "--user", "a b", exit_code=3).startswith(
            "invalid_input: peerName must be 1 to 512 of"
        )
        assert files_in(home) == {}

    def test_errors_are_json_if_answers_are(self, told):
        error = json.loads(told("status", "--home", "/nowhere", "--json", exit_code=11))
        assert error["error"] == "misconfigured"
        assert "HERMES_HOME" in error["hint"]


class TestSet:
    def test_an_empty_value_is_the_default(self, told, configured):
        told("set", "recallMode=tools", 'sessions={"/srv": "srv"}')
        assert (configured().recall_mode, configured().sessions) == ("tools", {"/srv": "srv"})
        told("set", "recallMode=")
        assert configured().recall_mode == "hybrid"

    def test_a_name_that_is_none_is_refused_with_the_one_that_was_meant(self, told, home):
        assert "recalMode is not a setting" in told("set", "recalMode=tools", exit_code=3)
        assert files_in(home) == {}

    def test_what_is_changed_and_what_is_shown_are_not_mixed(self, told, home):
        assert "change settings, or show them" in told("set", "recallMode=tools", "timeout", exit_code=2)
        assert files_in(home) == {}


class TestObservation:
    def test_a_mode_takes_the_place_of_flags(self, told, configured, home):
        flags = {"user": {"observeMe": False}}
        write_setting(home, "hermes", {"observation": flags})
        write_setting(home, "hermes", {"observation": flags}, root=True)
        assert told("set", "observationMode=unified", "observation={}").startswith("observationMode: ")
        assert not configured().observation.ai.observe_me
        sides = {
            "user": {"observeMe": True, "observeOthers": False},
            "ai": {"observeMe": False, "observeOthers": True},
        }
        assert json.loads(told("set", "observation", "--json")) == {"observation": sides}


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
        told("setup", "--yes", "--peer", "ann", "--set", "recallMode=tools")
        assert "coder: made" in told("sync")
        mine, coder = configured(), configured("coder")
        assert (coder.host, coder.ai_peer) == ("hermes_coder", "coder")
        for name in ("peer_name", "workspace", "store", "recall_mode", "url"):
            assert getattr(coder, name) == getattr(mine, name)

    def test_gives_every_profile_the_key_of_the_default_one(self, told, configured, home):
        write_setting(home, "hermes", {"baseUrl": "https://memory.example.com", "apiKey": KEY})
        assert "login" not in told("sync")
        assert (configured("coder").url, configured("coder").api_key) == ("https://memory.example.com", KEY)

    def test_a_sign_in_stays_with_its_profile_and_others_are_told_to_sign_in(self, told, configured, home):
        name = "souvenance.json"
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
