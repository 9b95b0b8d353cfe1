"""`hermes souvenance show`, `correct` and `forget`: what a person sees and changes of what is remembered."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest

from hermes.shell import a_home
from hermes.stage import Stage
from souvenance.commands import souvenance_command
from souvenance.gate.messages import AuditList
from souvenance.gate.operations import AUDIT
from souvenance.installation import open_installation
from souvenance.surfaces.cli.session import Shell

ALLERGY = "I am allergic to peanuts."
TRIP = "My trip goes to Chengdu on May 25."
ASKED = "What am I allergic to?"


@pytest.fixture(scope="module")
def remembered(tmp_path_factory):
    """The home of a profile that was told two things, and noted a third."""
    stage = Stage(tmp_path_factory.mktemp("told"))
    provider = stage.provider("s1")
    for said in (ALLERGY, TRIP):
        stage.tell(provider, said)
    provider.handle_tool_call("souvenance_conclude", {"conclusion": "Ann walks to work."})
    provider.shutdown()
    stage.close()
    return stage.home


@pytest.fixture
def home(tmp_path, monkeypatch, remembered):
    folder = a_home(tmp_path, monkeypatch)
    shutil.copytree(remembered, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def run(capsys):
    """Runs `hermes souvenance …`, holds it to its exit code, and says what it printed."""

    def run(*arguments, exit_code=0):
        with pytest.raises(SystemExit) as ended:
            souvenance_command(SimpleNamespace(arguments=list(arguments)))
        printed = capsys.readouterr()
        assert ended.value.code == exit_code, (printed.out, printed.err)
        return printed.out if exit_code == 0 else printed.err

    return run


@pytest.fixture
def shown(run):
    return lambda *message: json.loads(run("show", *message, "--json"))["told"]


def log(home):
    """The operations in the audit log of the profile's workspace, with their outcomes."""
    shell = Shell(open_installation, None, home=str(home / "souvenance"), workspace="hermes")
    try:
        rows = shell.call(AUDIT, AuditList(0, 1000)).rows
    finally:
        shell.close()
    return [(row.operation, row.outcome) for row in rows]


def id_of(told, text):
    [found] = {one["id"] for one in told if one["text"] == text}
    return found


class TestShow:
    def test_tells_what_a_turn_would_be_told_with_the_id_of_each_line(self, home, shown):
        told = shown(ASKED)
        allergy = id_of(told, ALLERGY)
        assert allergy == id_of(told, "Allergy: peanuts"), "the card's fact is named by what was said"
        assert all(len(one["id"]) == 26 for one in told)
        assert {one["heading"] for one in told} == {
            "Noted about the user",
            "The user in brief",
            "Said earlier",
        }

    def test_without_a_message_tells_what_is_known_first_of_all(self, home, shown):
        assert {ALLERGY, TRIP, "Ann walks to work."} <= {one["text"] for one in shown()}

    def test_of_an_empty_home_says_what_to_do_and_makes_nothing(self, run, tmp_path, monkeypatch):
        home = a_home(tmp_path, monkeypatch)
        before = sorted(home.rglob("*"))
        assert run("show") == (
            "Nothing is remembered yet. Start a conversation and tell it something: hermes\n"
        )
        assert sorted(home.rglob("*")) == before

    def test_looks_through_the_gate_and_at_no_other_memory_than_the_profile_s(
        self, home, shown, monkeypatch, tmp_path
    ):
        before = len(log(home))
        monkeypatch.setenv("SOUVENANCE_HOME", str(tmp_path / "another"))
        monkeypatch.setenv("SOUVENANCE_URL", "http://127.0.0.1:9")
        assert shown(ASKED)
        monkeypatch.delenv("SOUVENANCE_URL")
        assert ("peers.context", "ok") in log(home)[before:]


@pytest.mark.parametrize("command", [["show"], ["correct", "ID", "I am fine."], ["forget", "ID"]])
def test_what_the_profile_keeps_for_its_environment_says_which_store_is_meant(home, run, shown, command):
    """As in Hermes, which reads the same file."""
    [line] = [one["id"] for one in shown(ASKED) if one["text"] == ALLERGY]
    (home / ".env").write_text("SOUVENANCE_STORE=elsewhere\n")
    refused = run(*[line if one == "ID" else one for one in command], exit_code=11)
    assert "SOUVENANCE_STORE is not the address" in refused


class TestForget:
    def test_erases_the_line_and_what_was_concluded_from_it(self, home, run, shown):
        assert run("forget", id_of(shown(ASKED), ALLERGY), "--yes").startswith("forgot 1 line")
        assert "peanuts" not in json.dumps(shown(ASKED))
        assert ("memory.forget", "ok") in log(home)

    def test_reaches_what_the_agent_noted(self, home, run, shown):
        run("forget", id_of(shown(ASKED), "Ann walks to work."), "--yes")
        assert "walks" not in json.dumps(shown(ASKED))

    def test_asks_first_and_without_a_terminal_changes_nothing(self, home, run, shown):
        line = id_of(shown(ASKED), ALLERGY)
        assert run("forget", line, exit_code=3).startswith("confirmation_needed: ")
        assert ALLERGY in run("forget", line, "--dry-run")
        assert id_of(shown(ASKED), ALLERGY) == line

    @pytest.mark.parametrize(
        ("arguments", "exit_code", "said"),
        [
            (["forget", "nonsense"], 3, "invalid_input: "),
            (["forget", "01M7ENKXSQN27K8P92THXMV5N1", "--yes"], 6, "'hermes souvenance show' shows the ids."),
            (["correct", "01M7ENKXSQN27K8P92THXMV5N1", "x", "--yes"], 6, "not_found: "),
            (["forget"], 2, "Missing argument 'ID'"),
        ],
    )
    def test_what_is_no_line_is_refused(self, home, run, arguments, exit_code, said):
        assert said in run(*arguments, exit_code=exit_code)

    def test_of_an_empty_home_makes_no_store(self, run, tmp_path, monkeypatch):
        home = a_home(tmp_path, monkeypatch)
        run("forget", "01M7ENKXSQN27K8P92THXMV5N1", "--yes", exit_code=6)
        assert not (home / "souvenance").exists()


class TestCorrect:
    def test_tells_what_is_true_in_place_of_what_was_not(self, home, run, shown):
        printed = run("correct", id_of(shown(ASKED), ALLERGY), "I am allergic to walnuts.", "--yes")
        assert "replaces" in printed
        told = json.dumps(shown(ASKED))
        assert "peanuts" not in told
        assert "I am allergic to walnuts." in told
        assert {("conclusions.add", "ok"), ("memory.forget", "ok")} <= set(log(home))

    def test_asks_first(self, home, run, shown):
        line = id_of(shown(ASKED), ALLERGY)
        assert run("correct", line, "Nuts.", exit_code=3).startswith("confirmation_needed: ")
        assert "Nuts." not in json.dumps(shown(ASKED))


def test_a_server_that_has_no_tokens_has_no_ids(home, run):
    settings = json.loads((home / "souvenance.json").read_text())
    (home / "souvenance.json").write_text(json.dumps({**settings, "baseUrl": "http://127.0.0.1:9"}))
    assert run("forget", "01M7ENKXSQN27K8P92THXMV5N1", exit_code=12).startswith("unsupported: ")
