"""The wizard: Enter all the way works, nothing is written before the end, and no key is ever shown."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import types
from pathlib import Path

import pytest
import yaml

from souvenance.agents.conversation_scope import Namespaces
from souvenance.errors import InvalidInput, Misconfigured
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.setup.console import Abandoned
from souvenance.hermes.setup.profiles import choose_provider, profile_at, provider_in
from souvenance.hermes.setup.status import Findings
from souvenance.hermes.setup.wizard import WizardAnswers, post_setup, set_up

LEAVES = "Ctrl-C"
PATIENCE_SECONDS = 60
KEY = "hch-v3-0123456789-SECRET"
WITH_KEY = f"Answer=2; URL=https://one.example.com; key={KEY}"


class Person:
    """Somebody who answers some questions, by a word in them, and presses Enter at all others.

    "Answer=1|2; URL=http://x" answers 1, then 2, where "Answer" is asked for; LEAVES is Ctrl-C.
    """

    interactive = True

    def __init__(self, script="", *, leaves_at=None):
        answers = (answer.partition("=") for answer in script.split("; ") if answer)
        self.answers = {word: said.split("|") for word, _, said in answers}
        self.leaves_at = leaves_at
        self.asked = []
        self.heard = []

    def say(self, text=""):
        self.heard.append(text)

    def ask(self, prompt, hidden=False):
        self.asked.append(prompt)
        if len(self.asked) == self.leaves_at:
            raise Abandoned
        for word, said in self.answers.items():
            if word in prompt and said:
                answer = said.pop(0)
                if answer == LEAVES:
                    raise Abandoned
                return answer
        return ""

    @property
    def told(self):
        return "\n".join(self.heard)


class Nobody(Person):
    interactive = False

    def ask(self, prompt, hidden=False):
        raise AssertionError(prompt)


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
            activate=lambda: choose_provider(profile_at(home).settings, "souvenance"),
            given=given,
            inspect=inspect,
        )
        return read_configuration(home, {**environment, **more})[0]

    return run


@pytest.fixture
def shared_key(environment):
    """A file that other programs share, with a key of which nobody said what it is for."""
    file = Path(environment["HOME"], ".honcho/config.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"apiKey": KEY}))
    file.chmod(0o600)
    return file


def written(home):
    return json.loads((home / "souvenance.json").read_text())["hosts"]["hermes"]


def files_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestAFileThatHasFaults:
    def test_that_can_not_be_read_is_refused_before_anybody_is_asked(self, run, home):
        (home / "souvenance.json").write_text("{")
        with pytest.raises(Misconfigured, match="is not JSON"):
            run(person := Person())
        assert not person.asked

    def test_is_complained_of_once(self, run, home):
        (home / "souvenance.json").write_text('{"recalMode": "tools"}')
        run(person := Person())
        assert person.told.count("recalMode") == 1


class TestEnterAllTheWay:
    def test_gives_memory_on_this_machine_in_the_users_name(self, run, home):
        configured = run(person := Person())
        assert (configured.url, configured.peer_name, configured.enabled) == (None, "ann", True)
        assert provider_in(home / "config.yaml") == "souvenance"
        assert written(home) == {"peerName": "ann", "hostModel": True}
        assert not configured.store.exists()
        assert "Start a new conversation" in person.told

    def test_answers_two_questions_and_whether_to_see_more(self, run, home):
        (home / "config.yaml").write_text("platforms:\n  telegram:\n    enabled: true\n")
        run(person := Person(), **LIES_ABOUT)
        assert person.asked == ["Answer [1]", "Your name [ann]", "Advanced? [y/N]"]
        assert "Where is memory kept?" in person.told

    def test_advanced_asks_about_all_that_was_told_and_enter_keeps_it(self, run, home):
        run()
        before = files_in(home)
        run(person := Person("Advanced=y"))
        assert person.asked[3:] == ["Use Hermes' own model [Y/n]", "The agent's name [hermes]"]
        assert files_in(home) == before

    def test_a_second_time_changes_nothing(self, run, home):
        given = WizardAnswers(
            settings={"recallMode": "tools", "namespaces": Namespaces(("work", "home"), "default")}
        )
        run(Person("Your name=bob; Answer=2; URL="), given)
        before = files_in(home)
        run(person := Person())
        assert files_in(home) == before
        assert "already so" in person.told

    @pytest.mark.parametrize(
        ("user", "name"), [("Ann Smith", "Ann-Smith"), ("", "owner"), ("安", "owner"), ("--", "owner")]
    )
    def test_a_login_that_is_no_name_becomes_one(self, run, user, name):
        assert run(USER=user).peer_name == name

    @pytest.mark.parametrize(
        ("script", "name"),
        [("", "user"), ("Answer=2; URL=https://memory.example", "ann")],
        ids=["here", "to a server, where anybody may have that name"],
    )
    def test_who_was_remembered_before_anybody_was_asked_goes_on_under_that_name(
        self, run, home, script, name
    ):
        (home / "souvenance").mkdir()
        (home / "souvenance" / "souvenance.db").touch()
        assert run(person := Person(script)).peer_name == name
        assert ("stays with" in person.told) == bool(script)

    def test_a_profile_that_was_switched_off_is_on_again(self, run, home, environment):
        write_setting(home, "hermes", {"enabled": False}, environment=environment)
        assert run().enabled

    @pytest.mark.parametrize("level", [{"baseUrl": "no url"}, {"hosts": {"hermes": {"namespaces": "No!"}}}])
    def test_what_kept_memory_off_is_replaced(self, run, home, level):
        (home / "souvenance.json").write_text(json.dumps(level))
        assert run(person := Person()).enabled
        assert "warning: " in person.told


class TestHermesOwnModel:
    COSTS = "That costs about 3,000 tokens a conversation, and never more than 100,000 a day."

    def test_is_told_of_with_what_it_costs_before_the_question_that_agrees_to_it(self, run, home):
        before = files_in(home)
        with pytest.raises(Abandoned):
            run(person := Person(f"Advanced={LEAVES}"))
        assert f"{self.COSTS} You can switch it off under Advanced." in person.told
        assert files_in(home) == before

    def test_is_asked_about_in_one_question_that_says_what_it_costs(self, run):
        run(person := Person("Advanced=y"))
        [question] = [prompt for prompt in person.asked if "model" in prompt]
        assert question == "Use Hermes' own model [Y/n]"
        assert "Hermes' own model costs about 3,000 tokens a conversation, and never more than" in person.told

    @pytest.mark.parametrize(
        ("answers", "given", "chosen"),
        [
            ([""], {}, [True]),
            (["n", "", "y", ""], {}, [False, False, True, True]),
            ([""], {"hostModel": False}, [False]),
        ],
        ids=["Enter is yes", "an answer stays until it is changed", "not asked if it is given"],
    )
    def test_is_used_as_the_user_says(self, run, answers, given, chosen):
        found = [
            run(Person(f"Advanced=y; model={one}"), WizardAnswers(settings=given)).host_model
            for one in answers
        ]
        assert found == chosen

    @pytest.mark.parametrize(
        "person",
        [Nobody(), Person("Answer=2"), Person(f"Answer=3; key={KEY}")],
        ids=["nobody is there", "a server has its own", "the cloud has its own"],
    )
    def test_is_not_switched_on_where_nobody_was_asked(self, run, person):
        assert run(person).host_model is None
        assert not any("model" in prompt for prompt in person.asked)


class TestLeaving:
    def test_at_any_question_leaves_everything_as_it_was(self, run, home):
        (home / "config.yaml").write_text("platforms:\n  telegram:\n    enabled: true\n")
        before = files_in(home)
        script = "Answer=1|2; Advanced=y"
        run_through = Person(script)
        for question in range(1, 8):
            with pytest.raises(Abandoned):
                run(Person(script, leaves_at=question))
            assert files_in(home) == before
        run(run_through)
        assert len(run_through.asked) == 7
        assert files_in(home) != before


CLOUD = "https://api.honcho.dev"
LOCAL = "http://127.0.0.1:8787"
LIES_ABOUT = {"HONCHO_API_KEY": KEY}
"""A key in the environment of which nobody said what it is for."""


CONNECTIONS = {
    "a server and its key": (
        f"Answer=2; URL=https://memory.example.com/v3/; key={KEY}",
        {},
        ("https://memory.example.com", KEY),
        [],
    ),
    "a server without one": (f"Answer=2; URL={LOCAL}", {}, (LOCAL, None), []),
    "the cloud asks until there is a key": (
        f"Answer=3; key=|with space|{KEY}",
        {},
        (CLOUD, KEY),
        ["needs a key", "without spaces"],
    ),
    "what can't be meant is asked again": (
        f"Answer=4|2; URL=memory.example.com|{LOCAL}; Your name=a b|ann",
        {},
        (LOCAL, None),
        ["'4' is none of 1, 2, 3", "must be an http or https address", '"a-b"'],
    ),
    "a key that lies about is taken if somebody says so": (
        "Answer=3",
        LIES_ABOUT,
        (CLOUD, KEY),
        ["HONCHO_API_KEY is not used"],
    ),
}


class TestTheConnection:
    @pytest.mark.parametrize(
        ("script", "environment", "chosen", "told"), CONNECTIONS.values(), ids=CONNECTIONS
    )
    def test_is_as_the_user_says(self, run, home, script, environment, chosen, told):
        configured = run(person := Person(script), **environment)
        assert (configured.url, configured.api_key) == chosen
        assert all(words in person.told for words in told)
        assert KEY not in person.told
        assert (home / "souvenance.json").stat().st_mode & 0o077 == 0

    def test_a_key_is_kept_for_its_server_and_not_sent_to_another(self, run):
        run(Person(WITH_KEY))
        assert run(Person()).api_key == KEY
        moved = run(Person("URL=https://two.example.com"))
        assert (moved.url, moved.api_key) == ("https://two.example.com", None)

    def test_back_to_this_machine_leaves_no_key_behind(self, run, home):
        run(Person(WITH_KEY))
        assert run(Person("Answer=1")).url is None
        assert KEY not in (home / "souvenance.json").read_text()

    def test_this_machine_means_this_machine_whatever_is_inherited(self, run, home, environment):
        everywhere = {"baseUrl": "https://one.example.com", "oauth": {"clientId": "x"}, "contextTokens": 9}
        write_setting(home, "hermes", everywhere, root=True, environment=environment)
        given = WizardAnswers(settings={"contextTokens": 0})
        configured = run(Person("Answer=1"), given, **LIES_ABOUT, HONCHO_ENVIRONMENT="local")
        assert (configured.url, configured.enabled, configured.context_tokens) == (None, True, 0)
        assert '"contextTokens": 0' in (home / "souvenance.json").read_text()

    def test_a_key_that_lies_about_is_told_and_asked_about_and_decides_nothing(self, run):
        assert run(person := Person(), **LIES_ABOUT).url is None
        assert "HONCHO_API_KEY is not used" in person.told
        assert "Where is memory kept?" in person.told
        run(again := Person(), **LIES_ABOUT)
        assert "HONCHO_API_KEY" not in again.told, "it was answered"

    def test_where_nobody_is_asked_a_key_that_lies_about_is_told_and_stays_unused(self, run):
        configured = run(person := Nobody(), **LIES_ABOUT)
        assert "HONCHO_API_KEY is not used" in person.told
        assert configured.url is None
        assert run(Nobody(), WizardAnswers(connection="cloud"), **LIES_ABOUT).api_key == KEY

    @pytest.mark.parametrize("asked", [Person, Nobody])
    def test_a_key_of_the_file_that_programs_share_decides_nothing_either(self, run, shared_key, asked):
        assert run(person := asked()).url is None
        assert f"{shared_key}: apiKey is not used" in person.told
        run(again := asked())
        assert "apiKey" not in again.told, "the file that counts now is the profile's own"

    def test_a_key_of_that_file_is_taken_if_somebody_says_so(self, run, shared_key):
        configured = run(person := Person("Answer=3"))
        assert (configured.url, configured.api_key) == (CLOUD, KEY)
        assert KEY not in person.told

    @pytest.mark.parametrize("more", [{}, LIES_ABOUT], ids=["in a file", "in the environment"])
    def test_a_key_that_lies_about_is_not_sent_to_another_server(self, run, request, more):
        if not more:
            request.getfixturevalue("shared_key")
        configured = run(Person("Answer=2; URL=https://memory.example.com"), **more)
        assert (configured.url, configured.api_key) == ("https://memory.example.com", None)

    def test_whether_a_server_answers_is_told_at_the_end(self, run):
        def silent(configuration, environment):
            return Findings(reachable=False, detail="connection refused")

        run(person := Person("Answer=2"), inspect=silent)
        assert "http://127.0.0.1:8787 does not answer. connection refused" in person.told


class TestOlderSpellings:
    def test_are_replaced_by_the_wizard_also_where_all_else_stays(self, run, home):
        run()
        kept = json.loads((home / "souvenance.json").read_text())
        kept["pinPeerName"] = True
        (home / "souvenance.json").write_text(json.dumps(kept))
        assert run().pin_user_peer
        assert json.loads((home / "souvenance.json").read_text()).get("pinUserPeer") is True
        assert "pinPeerName" not in (home / "souvenance.json").read_text()


class TestNames:
    def test_the_agent_can_not_have_the_users(self, run):
        with pytest.raises(InvalidInput, match="the agent must have another one"):
            run(Person("Your name=ann"), WizardAnswers(settings={"aiPeer": "ann"}))

    def test_what_is_asked_is_asked_again_if_it_is_the_users(self, run):
        person = Person("Advanced=y; agent's=ann|hal")
        assert run(person).ai_peer == "hal"
        assert "the agent must have another one" in person.told

    def test_a_user_who_is_called_like_the_agent_is_no_trouble(self, run):
        assert run(Person("Your name=hermes")).ai_peer == "hermes-ai"


GATEWAYS = {
    "strangers are never taken for the user by default": (
        [""],
        (False, {}),
        "Everyone who writes through discord, telegram has a memory of their own.",
    ),
    "nor if all is asked": (["Advanced=y"], (False, {}), "(discord, telegram)?"),
    "it stays as it was": (["Advanced=y; Answer=1|1", ""], (True, {}), "telegram is you."),
    "just me pins": (["Advanced=y; Answer=1|1"], (True, {}), ""),
    "me and others lets my ids lead to me": (
        ["Advanced=y; Answer=1|2; on telegram=7654321, 99; on discord=4918"],
        (False, {"7654321": "ann", "99": "ann", "4918": "ann"}),
        "",
    ),
    "me and others without an id of mine warns": (
        ["Advanced=y; Answer=1|2"],
        (False, {}),
        "No id leads to ann yet",
    ),
    "unpinning leads the user's ids home": (
        ["Advanced=y; Answer=1|1", "Advanced=y; Answer=1|2; on telegram=7654321"],
        (False, {"7654321": "ann"}),
        "stays with ann",
    ),
    "unpinning may be meant": (
        ["Advanced=y; Answer=1|1", "Advanced=y; Answer=1|2"],
        (False, {}),
        "stays with ann",
    ),
}


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

    @pytest.mark.parametrize(("scripts", "chosen", "told"), GATEWAYS.values(), ids=GATEWAYS)
    def test_is_as_the_user_says(self, run, scripts, chosen, told):
        for script in scripts:
            configured = run(person := Person(script))
        found = (configured.pin_user_peer, configured.user_peer_aliases)
        assert found == chosen
        assert told in person.told


class TestNobodyToAsk:
    def test_takes_every_default_and_says_so(self, run, home):
        configured = run(nobody := Nobody())
        assert "No questions asked" in nobody.told
        assert (configured.url, configured.peer_name) == (None, "ann")
        assert provider_in(home / "config.yaml") == "souvenance"

    def test_what_is_given_is_written(self, run):
        configured = run(
            Nobody(),
            WizardAnswers(
                url="https://memory.example.com",
                api_key=KEY,
                settings={
                    "peerName": "eve",
                    "aiPeer": "hal",
                    "recallMode": "tools",
                    "sessionStrategy": "per-repo",
                    "contextTokens": 700,
                    "dialecticCadence": 3,
                    "namespaces": Namespaces(("work", "home"), None),
                    "userPeerAliases": {"7": "eve"},
                    "runtimePeerPrefix": "t_",
                },
            ),
        )
        assert (configured.url, configured.api_key) == ("https://memory.example.com", KEY)
        assert (configured.peer_name, configured.ai_peer, configured.recall_mode) == ("eve", "hal", "tools")
        assert configured.session_strategy == "per-repo"
        assert (configured.context_tokens, configured.dialectic_cadence) == (700, 3)
        assert configured.namespaces == Namespaces(("work", "home"), None)
        assert (configured.pin_user_peer, configured.user_peer_aliases) == (False, {"7": "eve"})
        assert configured.runtime_peer_prefix == "t_"

    @pytest.mark.parametrize("pinned", [True, False])
    def test_who_talks_can_be_given_without_a_gateway(self, run, pinned):
        configured = run(Nobody(), WizardAnswers(settings={"pinUserPeer": pinned}))
        assert configured.pin_user_peer == pinned

    def test_the_cloud_without_a_key_is_refused_before_anything_is_written(self, run, home):
        with pytest.raises(InvalidInput, match="needs a key"):
            run(Nobody(), WizardAnswers(connection="cloud"))
        assert files_in(home) == {}


class TestTheSettingsOfHermes:
    def test_that_can_not_be_changed_do_not_spoil_the_rest(self, run, home):
        (home / "config.yaml").write_text("memory: [1]\n")
        configured = run(person := Person())
        assert configured.peer_name == "ann"
        assert "Run: hermes config set memory.provider souvenance" in person.told


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
        assert saved == {"model": "x", "memory": {"memory_enabled": True, "provider": "souvenance"}}
        assert written(home) == {"peerName": "ann", "hostModel": True}

    def test_a_host_that_may_not_save_is_noticed(self, host, home, environment):
        host.saves = False
        post_setup(str(home), {}, environment=environment, console=(person := Person()))
        assert "Run: hermes config set memory.provider souvenance" in person.told

    def test_who_leaves_is_told_that_nothing_happened(self, host, home, environment):
        post_setup(str(home), {}, environment=environment, console=(person := Person(f"name={LEAVES}")))
        assert person.told.endswith("Nothing was changed.")
        assert files_in(home) == {}

    def test_what_fails_is_told_and_not_raised(self, host, home, environment):
        (home / "souvenance.json").write_text("{")
        post_setup(str(home), {}, environment=environment, console=(person := Person()))
        assert "misconfigured: " in person.told
        assert (home / "souvenance.json").read_text() == "{"


def test_a_key_typed_at_a_real_terminal_is_not_shown(home, tmp_path):
    ours, theirs = pty.openpty()
    wizard = subprocess.Popen(
        [sys.executable, "-m", "souvenance", "hermes", "setup", "--url", "https://memory.example.com"],
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
