"""The wizard: Enter all the way works, nothing is written before the end, and no key is ever shown."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import types

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import InvalidInput, Misconfigured
from mnemon.hermes.files import read_configuration, write_setting
from mnemon.hermes.kinds import NO_LIMIT
from mnemon.hermes.setup import hostconfig
from mnemon.hermes.setup.console import Abandoned
from mnemon.hermes.setup.gateways import gateways
from mnemon.hermes.setup.hostconfig import choose_provider, provider_in
from mnemon.hermes.setup.inspection import Findings
from mnemon.hermes.setup.people import Mapped
from mnemon.hermes.setup.profiles import profile_at
from mnemon.hermes.setup.wizard import Given, activation, post_setup, set_up
from mnemon.turns.seat import Namespaces

LEAVES = object()
PATIENCE_SECONDS = 60
KEY = "hch-v3-0123456789-SECRET"


class Person:
    """Somebody who answers some questions, by a word in them, and presses Enter at all others.

    Several answers to one question are given one after the other; LEAVES is Ctrl-C.
    """

    interactive = True

    def __init__(self, answers=(), *, leaves_at=None):
        self.answers = {
            word: list(said) if isinstance(said, list) else [said] for word, said in dict(answers).items()
        }
        self.leaves_at = leaves_at
        self.asked = []
        self.heard = []

    def say(self, text=""):
        self.heard.append(text)

    def ask(self, prompt):
        self.asked.append(prompt)
        if len(self.asked) == self.leaves_at:
            raise Abandoned
        for word, said in self.answers.items():
            if word in prompt and said:
                answer = said.pop(0)
                if answer is LEAVES:
                    raise Abandoned
                return answer
        return ""

    ask_secret = ask

    @property
    def told(self):
        return "\n".join(self.heard)


class Nobody(Person):
    interactive = False

    def ask(self, prompt):
        raise AssertionError(prompt)

    ask_secret = ask


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / ".hermes"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path):
    return {"HOME": str(tmp_path), "USER": "ann"}


@pytest.fixture
def run(home, environment):
    """Let somebody through the wizard, and see what is then configured."""

    def run(person=None, given=None, inspect=None, **more):
        person = person or Person()
        set_up(
            profile_at(home),
            person,
            environment={**environment, **more},
            activate=activation(profile_at(home)),
            given=given,
            inspect=inspect,
        )
        return read_configuration(home, {**environment, **more})[0]

    return run


def written(home):
    return json.loads((home / "mnemon.json").read_text())["hosts"]["hermes"]


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestAFileThatHasFaults:
    def test_that_can_not_be_read_is_refused_before_anybody_is_asked(self, run, home):
        (home / "mnemon.json").write_text("{")
        with pytest.raises(Misconfigured, match="is not JSON"):
            run(person := Person())
        assert not person.asked

    def test_is_complained_of_once(self, run, home):
        (home / "mnemon.json").write_text('{"recalMode": "tools"}')
        run(person := Person())
        assert person.told.count("recalMode") == 1


class TestEnterAllTheWay:
    def test_gives_memory_on_this_machine_in_the_users_name(self, run, home):
        configured = run(person := Person())
        assert (configured.url, configured.peer_name, configured.enabled) == (None, "ann", True)
        assert provider_in(home / "config.yaml") == "mnemon"
        assert written(home) == {"peerName": "ann"}
        assert not configured.store.exists()
        assert "Start a new conversation" in person.told

    def test_every_question_shows_what_enter_means(self, run):
        run(person := Person())
        assert len(person.asked) == 11
        assert all(prompt.endswith("]") for prompt in person.asked)

    def test_a_second_time_changes_nothing(self, run, home):
        run(Person({"Your name": "bob", "model": "tools", "read": "work,home", "Answer": "2", "URL": ""}))
        before = files_in(home)
        run(person := Person())
        assert files_in(home) == before
        assert "already so" in person.told

    @pytest.mark.parametrize(
        ("user", "name"), [("Ann Smith", "Ann-Smith"), ("", "owner"), ("安", "owner"), ("--", "owner")]
    )
    def test_a_login_that_is_no_name_becomes_one(self, run, user, name):
        assert run(USER=user).peer_name == name

    def test_who_was_remembered_before_anybody_was_asked_goes_on_under_that_name(self, run, home):
        (home / "mnemon").mkdir()
        (home / "mnemon" / "mnemon.db").touch()
        assert run(person := Person()).peer_name == "user"
        assert "stays with" not in person.told

    def test_who_goes_from_this_machine_to_a_server_takes_no_name_that_anybody_may_have(self, run, home):
        (home / "mnemon").mkdir()
        (home / "mnemon" / "mnemon.db").touch()
        assert run(Person({"Answer": "2", "URL": "https://memory.example"})).peer_name == "ann"

    def test_a_profile_that_was_switched_off_is_on_again(self, run, home, environment):
        write_setting(home, "hermes", {"enabled": False}, environment=environment)
        assert run().enabled

    @pytest.mark.parametrize("level", [{"baseUrl": "no url"}, {"hosts": {"hermes": {"namespaces": "No!"}}}])
    def test_what_kept_memory_off_is_replaced(self, run, home, level):
        (home / "mnemon.json").write_text(json.dumps(level))
        assert run(person := Person()).enabled
        assert "warning: " in person.told


class TestLeaving:
    def test_at_any_question_leaves_everything_as_it_was(self, run, home):
        (home / "config.yaml").write_text("platforms:\n  telegram:\n    enabled: true\n")
        before = files_in(home)
        run_through = Person({"Answer": ["2", "2"]})
        with pytest.raises(Abandoned):
            run(Person({"dialectic": LEAVES, "Passes": LEAVES}))
        assert files_in(home) == before
        for question in range(1, 12):
            with pytest.raises(Abandoned):
                run(Person({"Answer": ["2", "2"]}, leaves_at=question))
            assert files_in(home) == before
        run(run_through)
        assert files_in(home) != before


class TestTheConnection:
    def test_to_a_server_takes_its_url_and_key(self, run, home):
        person = Person({"Answer": "2", "URL": "https://memory.example.com/v3/", "key": KEY})
        configured = run(person)
        assert (configured.url, configured.api_key) == ("https://memory.example.com", KEY)
        assert KEY not in person.told
        assert (home / "mnemon.json").stat().st_mode & 0o077 == 0

    def test_a_server_may_need_no_key(self, run):
        configured = run(Person({"Answer": "2", "URL": "http://127.0.0.1:8787"}))
        assert (configured.url, configured.api_key) == ("http://127.0.0.1:8787", None)

    def test_the_cloud_does_and_asks_until_there_is_one(self, run):
        person = Person({"Answer": "3", "key": ["", "with space", KEY]})
        assert run(person).url == "https://api.honcho.dev"
        assert "needs a key" in person.told
        assert "without spaces" in person.told

    def test_what_can_not_be_meant_is_asked_again_with_the_reason(self, run):
        person = Person(
            {
                "Answer": ["4", "2"],
                "URL": ["memory.example.com", "http://10.0.0.7:80"],
                "Your name": ["a b", "ann"],
            }
        )
        assert run(person).url == "http://10.0.0.7:80"
        assert "'4' is none of 1, 2, 3" in person.told
        assert "must be an http or https address" in person.told
        assert '"a-b"' in person.told

    def test_a_key_is_kept_for_its_server_and_not_sent_to_another(self, run):
        run(Person({"Answer": "2", "URL": "https://one.example.com", "key": KEY}))
        assert run(Person()).api_key == KEY
        moved = run(Person({"URL": "https://two.example.com"}))
        assert (moved.url, moved.api_key) == ("https://two.example.com", None)

    def test_back_to_this_machine_leaves_no_key_behind(self, run, home):
        run(Person({"Answer": "2", "URL": "https://one.example.com", "key": KEY}))
        assert run(Person({"Answer": "1"})).url is None
        assert KEY not in (home / "mnemon.json").read_text()

    def test_this_machine_means_this_machine_whatever_is_inherited(self, run, home, environment):
        everywhere = {"baseUrl": "https://one.example.com", "oauth": {"clientId": "x"}, "contextTokens": 9}
        write_setting(home, "hermes", everywhere, root=True, environment=environment)
        configured = run(
            Person({"Answer": "1", "Tokens": "0"}), HONCHO_API_KEY=KEY, HONCHO_ENVIRONMENT="local"
        )
        assert (configured.url, configured.enabled, configured.context_tokens) == (None, True, NO_LIMIT)
        assert '"contextTokens": 0' in (home / "mnemon.json").read_text()

    def test_a_key_that_lies_about_is_told_and_asked_about_and_decides_nothing(self, run):
        configured = run(person := Person(), HONCHO_API_KEY=KEY)
        assert "HONCHO_API_KEY is not used" in person.told
        assert "Where is memory kept?" in person.told
        assert configured.url is None
        run(again := Person(), HONCHO_API_KEY=KEY)
        assert "HONCHO_API_KEY" not in again.told, "it was answered"

    def test_a_key_that_lies_about_is_used_for_the_cloud_once_somebody_says_so(self, run):
        configured = run(person := Person({"Answer": "3"}), HONCHO_API_KEY=KEY)
        assert (configured.url, configured.api_key) == ("https://api.honcho.dev", KEY)
        assert KEY not in person.told
        assert run(given=Given(connection="cloud"), person=Nobody(), HONCHO_API_KEY=KEY).api_key == KEY

    def test_where_nobody_is_asked_a_key_that_lies_about_is_told_and_stays_unused(self, run):
        configured = run(person := Nobody(), HONCHO_API_KEY=KEY)
        assert "HONCHO_API_KEY is not used" in person.told
        assert configured.url is None

    def test_whether_a_server_answers_is_told_at_the_end(self, run):
        def silent(configuration):
            return Findings(reachable=False, told="connection refused")

        run(person := Person({"Answer": "2"}), inspect=silent)
        assert "http://127.0.0.1:8787 does not answer. connection refused" in person.told


class TestOlderSpellings:
    def test_are_replaced_by_the_wizard_also_where_all_else_stays(self, run, home):
        run()
        kept = json.loads((home / "mnemon.json").read_text())
        kept["pinPeerName"] = True
        (home / "mnemon.json").write_text(json.dumps(kept))
        assert run().pin_user_peer
        assert json.loads((home / "mnemon.json").read_text()).get("pinUserPeer") is True
        assert "pinPeerName" not in (home / "mnemon.json").read_text()


class TestNames:
    def test_the_agent_can_not_have_the_users(self, run):
        person = Person({"Your name": "ann", "agent": ["ann", "hal"]})
        configured = run(person)
        assert (configured.peer_name, configured.ai_peer) == ("ann", "hal")
        assert "the agent must have another one" in person.told

    def test_a_user_who_is_called_like_the_agent_is_no_trouble(self, run):
        assert run(Person({"Your name": "hermes"})).ai_peer == "hermes-ai"


class TestWhoTalksToThisGateway:
    @pytest.fixture(autouse=True)
    def gateway(self, home):
        (home / ".env").write_text("")
        (home / "config.yaml").write_text(
            "platforms:\n  telegram: {enabled: true}\n  discord: {enabled: true}\n"
        )

    def test_is_not_asked_where_there_is_none(self, run, home):
        (home / "config.yaml").unlink()
        run(person := Person())
        assert "gateway" not in person.told

    def test_just_me_pins(self, run):
        configured = run(person := Person({"Answer": ["1", "1"]}))
        assert configured.pin_user_peer
        assert "Who talks to this gateway (discord, telegram)?" in person.told

    def test_me_and_others_lets_my_ids_lead_to_me(self, run):
        configured = run(
            Person(
                {
                    "Answer": ["1", "2"],
                    "on telegram": "7654321, 99",
                    "on discord": "491827364",
                    "Prefix": "chat_",
                }
            )
        )
        assert not configured.pin_user_peer
        assert configured.user_peer_aliases == {"7654321": "ann", "99": "ann", "491827364": "ann"}
        assert configured.runtime_peer_prefix == "chat_"

    def test_me_and_others_without_an_id_of_mine_warns(self, run):
        run(person := Person({"Answer": ["1", "2"]}))
        assert "No id leads to ann yet" in person.told

    def test_others_each_have_their_own(self, run):
        configured = run(Person({"Answer": ["1", "3"], "Prefix": "telegram_"}))
        assert (configured.pin_user_peer, configured.runtime_peer_prefix) == (False, "telegram_")
        assert run(Person({"Prefix": "-"})).runtime_peer_prefix == ""

    def test_strangers_are_never_taken_for_the_user_by_default(self, run):
        assert not run().pin_user_peer

    def test_the_three_keys_can_be_edited(self, run):
        person = Person(
            {
                "Answer": ["1", "e"],
                "pinUserPeer": ["perhaps", "no"],
                "userPeerAliases": ["=", "1=ann, 2=bob"],
                "runtimePeerPrefix": "x_",
            }
        )
        configured = run(person)
        assert configured.user_peer_aliases == {"1": "ann", "2": "bob"}
        assert configured.runtime_peer_prefix == "x_"
        assert run(Person({"Answer": ["1", "e"], "userPeerAliases": "-"})).user_peer_aliases == {}

    def test_unpinning_explains_itself_and_offers_to_lead_the_users_ids_home(self, run):
        run(Person({"Answer": ["1", "1"]}))
        person = Person({"Answer": ["1", "3"], "on telegram": "7654321"})
        configured = run(person)
        assert "stays with ann" in person.told
        assert not configured.pin_user_peer
        assert configured.user_peer_aliases == {"7654321": "ann"}

    def test_unpinning_by_hand_is_explained_too(self, run):
        run(Person({"Answer": ["1", "1"]}))
        assert not run(person := Person({"Answer": ["1", "e"], "pinUserPeer": "false"})).pin_user_peer
        assert "stays with ann" in person.told

    def test_unpinning_may_be_meant(self, run):
        run(Person({"Answer": ["1", "1"]}))
        configured = run(person := Person({"Answer": ["1", "3"], "own ids lead": "n"}))
        assert not configured.pin_user_peer
        assert configured.user_peer_aliases == {}
        assert "on telegram" not in str(person.asked)


class TestNobodyToAsk:
    def test_takes_every_default_and_says_so(self, run, home):
        configured = run(nobody := Nobody())
        assert "Nobody is asked" in nobody.told
        assert (configured.url, configured.peer_name) == (None, "ann")
        assert provider_in(home / "config.yaml") == "mnemon"

    def test_what_is_given_is_written(self, run):
        configured = run(
            Nobody(),
            Given(
                url="https://memory.example.com",
                api_key=KEY,
                settings={
                    "peerName": "eve",
                    "aiPeer": "hal",
                    "recallMode": "tools",
                    "sessionStrategy": "per-repo",
                    "writeFrequency": 5,
                    "contextTokens": 700,
                    "dialecticCadence": 3,
                    "dialecticDepth": 2,
                },
                read=("work", "home"),
                write="-",
                mapped=Mapped(identity="pooled", aliases={"7": "eve"}, prefix="t_"),
            ),
        )
        assert (configured.url, configured.api_key) == ("https://memory.example.com", KEY)
        assert (configured.peer_name, configured.ai_peer, configured.recall_mode) == ("eve", "hal", "tools")
        assert (configured.session_strategy, configured.write_frequency) == ("per-repo", 5)
        assert (configured.context_tokens, configured.dialectic_cadence) == (700, 3)
        assert configured.dialectic_depth == 2
        assert configured.namespaces == Namespaces(("work", "home"), None)
        assert (configured.pin_user_peer, configured.user_peer_aliases) == (False, {"7": "eve"})
        assert configured.runtime_peer_prefix == "t_"

    @pytest.mark.parametrize("identity", ["just-me", "per-user"])
    def test_who_talks_can_be_given_without_a_gateway(self, run, identity):
        configured = run(Nobody(), Given(mapped=Mapped(identity=identity)))
        assert configured.pin_user_peer == (identity == "just-me")

    def test_unpinning_is_explained_to_a_log_too(self, run):
        run(Nobody(), Given(mapped=Mapped(identity="just-me")))
        run(nobody := Nobody(), Given(mapped=Mapped(identity="per-user")))
        assert "stays with ann" in nobody.told

    def test_the_cloud_without_a_key_is_refused_before_anything_is_written(self, run, home):
        with pytest.raises(InvalidInput, match="needs a key"):
            run(Nobody(), Given(connection="cloud"))
        assert files_in(home) == {}


class TestTheSettingsOfHermes:
    CONFIG = (
        "# mine\nmodel: x  # best\nmemory:\n    # how\n    memory_enabled: true\n"
        "    provider: honcho  # old\nlast: 1\n"
    )

    @pytest.fixture(params=["with a YAML library", "without one"], autouse=True)
    def library(self, request, monkeypatch):
        if request.param == "without one":
            monkeypatch.setitem(sys.modules, "yaml", None)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (CONFIG, CONFIG.replace("honcho  #", "mnemon  #")),
            (CONFIG.replace("    provider: honcho  # old\n", ""), None),
            ("", "memory:\n  provider: mnemon\n"),
            ("a: 1", "a: 1\nmemory:\n  provider: mnemon\n"),
            ("memory: {}\nb: 2\n", "memory:\n  provider: mnemon\nb: 2\n"),
            ("memory:\r\n  provider: ''\r\n", "memory:\r\n  provider: mnemon\r\n"),
            (
                "memory:  # empty\n\nb:\n- memory:\n",
                "memory:  # empty\n  provider: mnemon\n\nb:\n- memory:\n",
            ),
            ("other:\n  memory:\n    provider: x\n", None),
            ('{"memory": {"provider": "honcho"}, "b": [1]}', None),
        ],
    )
    def test_name_us_and_are_otherwise_as_they_were(self, tmp_path, before, after):
        path = tmp_path / "config.yaml"
        path.write_bytes(before.encode())
        expected = hostconfig._expected(hostconfig.read_settings(path), "mnemon")
        assert choose_provider(path, "mnemon")
        assert hostconfig.read_settings(path) == expected
        if after is not None:
            assert path.read_bytes().decode() == after
        assert all(line in path.read_text() for line in before.splitlines() if line.startswith("#"))
        assert not choose_provider(path, "mnemon")

    @pytest.mark.parametrize("text", ["memory: {provider: x}\n", "memory: [1]\n", "memory: &a\n  b: 1\n"])
    def test_in_a_style_that_can_not_be_changed_safely_are_left_alone(self, tmp_path, text):
        path = tmp_path / "config.yaml"
        path.write_text(text)
        with pytest.raises(Misconfigured) as told:
            choose_provider(path, "mnemon")
        assert told.value.hint == "Run: hermes config set memory.provider mnemon"
        assert path.read_text() == text

    def test_keep_their_rights_and_their_link(self, tmp_path):
        real = tmp_path / "real.yaml"
        real.write_text("a: 1\n")
        real.chmod(0o640)
        link = tmp_path / "config.yaml"
        link.symlink_to(real)
        choose_provider(link, "mnemon")
        assert link.is_symlink()
        assert real.stat().st_mode & 0o777 == 0o640
        assert provider_in(real) == "mnemon"

    def test_that_can_not_be_changed_do_not_spoil_the_rest(self, run, home):
        (home / "config.yaml").write_text("memory: {provider: x}\n")
        configured = run(person := Person())
        assert configured.peer_name == "ann"
        assert "Run: hermes config set memory.provider mnemon" in person.told


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text(max_size=12))
KEYS = st.sampled_from(["memory", "provider", "a", "b c", "d-e", "'", "#"])
CONFIGS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


@given(CONFIGS, st.booleans(), st.integers(1, 6))
def test_no_settings_file_is_ever_harmed(tmp_path_factory, said, flow, indent):
    path = tmp_path_factory.mktemp("any") / "config.yaml"
    text = "# first\n" + yaml.safe_dump(said, default_flow_style=flow, indent=max(indent, 2)) + "# last\n"
    path.write_text(text)
    try:
        choose_provider(path, "mnemon")
    except Misconfigured:
        assert path.read_text() == text
        return
    memory = said.get("memory") or {}
    assert yaml.safe_load(path.read_text()) == {**said, "memory": {**memory, "provider": "mnemon"}}
    assert "# first\n" in path.read_text()
    assert "# last\n" in path.read_text()


class TestInsideTheHost:
    @pytest.fixture
    def host(self, home, monkeypatch):
        """What the host offers: its settings, saved by its own function."""
        module = types.ModuleType("hermes_cli.config")
        module.saves = True

        def save_config(config):
            if module.saves:
                (home / "config.yaml").write_text(yaml.safe_dump(config))

        module.save_config = save_config
        monkeypatch.setitem(sys.modules, "hermes_cli", types.ModuleType("hermes_cli"))
        monkeypatch.setitem(sys.modules, "hermes_cli.config", module)
        return module

    def test_the_host_saves_its_own_settings(self, host, home, environment):
        config = {"model": "x", "memory": {"memory_enabled": True}}
        post_setup(str(home), config, environment=environment, console=Person())
        saved = yaml.safe_load((home / "config.yaml").read_text())
        assert saved == {"model": "x", "memory": {"memory_enabled": True, "provider": "mnemon"}}
        assert written(home) == {"peerName": "ann"}

    def test_a_host_that_may_not_save_is_noticed(self, host, home, environment):
        host.saves = False
        post_setup(str(home), {}, environment=environment, console=(person := Person()))
        assert "Run: hermes config set memory.provider mnemon" in person.told

    def test_who_leaves_is_told_that_nothing_happened(self, host, home, environment):
        post_setup(str(home), {}, environment=environment, console=(person := Person({"name": LEAVES})))
        assert person.told.endswith("Nothing was changed.")
        assert files_in(home) == {}

    def test_what_fails_is_told_and_not_raised(self, host, home, environment):
        (home / "mnemon.json").write_text("{")
        post_setup(str(home), {}, environment=environment, console=(person := Person()))
        assert "misconfigured: " in person.told
        assert (home / "mnemon.json").read_text() == "{"


class TestGateways:
    @pytest.mark.parametrize(
        ("config", "environment", "found"),
        [
            ("", {}, []),
            ("", {"TELEGRAM_BOT_TOKEN": "t", "SIGNAL_HTTP_URL": "u"}, ["telegram"]),
            ("", {"API_SERVER_ENABLED": "true"}, ["api_server"]),
            ("", {"API_SERVER_ENABLED": "false", "WHATSAPP_ENABLED": "0"}, []),
            ("platforms:\n  telegram:\n    enabled: false\n", {"TELEGRAM_BOT_TOKEN": "t"}, []),
            ("gateway:\n  platforms:\n    slack:\n      enabled: true\n", {}, ["slack"]),
            ("discord:\n  enabled: true\n", {}, ["discord"]),
            ("platforms:\n  newer:\n    enabled: true\n  webhook:\n    enabled: true\n", {}, ["newer"]),
            ("platforms: 7\ngateway: x\n", {}, []),
            ("a: [", {}, []),
        ],
    )
    def test_are_found_where_hermes_would_find_them(self, home, config, environment, found):
        (home / "config.yaml").write_text(config)
        assert gateways(profile_at(home), environment) == found

    def test_are_found_in_the_older_file_too(self, home):
        (home / "gateway.json").write_text('{"platforms": {"matrix": {"enabled": true}}}')
        assert gateways(profile_at(home), {}) == ["matrix"]


def test_a_key_typed_at_a_real_terminal_is_not_shown(home, tmp_path):
    ours, theirs = pty.openpty()
    wizard = subprocess.Popen(
        [sys.executable, "-m", "mnemon", "hermes", "setup", "--url", "https://memory.example.com"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(home), "TERM": "dumb"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        seen = typed_at(ours)
        assert wizard.wait(PATIENCE_SECONDS) == 0, seen
    finally:
        wizard.kill()
        wizard.wait()
        os.close(ours)
    assert "key" in seen
    assert KEY not in seen
    assert written(home)["apiKey"] == KEY


def typed_at(terminal):
    """Answer every question at the terminal, that for the key with it; all that was to be seen meanwhile."""
    seen = ""
    while select.select([terminal], [], [], PATIENCE_SECONDS)[0]:
        try:
            part = os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            return seen  # The other end is closed.
        seen += part
        if seen.endswith(": "):
            os.write(terminal, f"{KEY}\n".encode() if "key" in seen.splitlines()[-1] else b"\n")
    raise AssertionError(seen)
