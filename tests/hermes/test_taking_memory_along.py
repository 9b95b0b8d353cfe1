"""Another name, and memory comes along: by the command that the person runs, on every backend that can."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from hermes.honcho_fake import Honcho, eventually
from souvenance import hermes_backends
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    LIST_MESSAGES,
    AddMessages,
    ListMessages,
    NewMessage,
)
from souvenance.gate.conversation.peers import LIST_PEERS, ListPeers
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.setup.commands import hermes_group
from souvenance.surfaces.cli.main import ended
from surfaces.door import environment, serving, souvenance

TRIP = "I am going to Chengdu from May 25 to May 29."
QUESTION = "When do I go to Chengdu?"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("HONCHO", "HERMES", "SOUVENANCE"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def told(stage, capsys):
    """Run a command as Hermes would in that profile, hold it to its exit code, and say what it printed."""

    def told(*arguments, exit_code=0):
        group = hermes_group(hermes_backends.inspect, hermes_backends.carry, hermes_backends.inspector)
        code = ended(group, [*arguments, "--home", str(stage.home)], "souvenance hermes")
        printed = capsys.readouterr()
        assert code == exit_code, (printed.out, printed.err)
        return printed.out if exit_code == 0 else printed.err

    return told


def names(stage):
    """Who speaks in any session, and who is on the register."""
    with stage.gate() as ask:
        peers = ask(LIST_PEERS, ListPeers(workspace_id="hermes")).items
    spoken = {peer for said in stage.sessions().values() for peer, _ in said}
    return spoken, {one.id for one in peers}


def recalled(stage, session="s2"):
    return stage.recall(stage.anew().provider(session), QUESTION)


def test_under_another_name_memory_is_as_it_was(stage, told):
    stage.tell(stage.provider(), TRIP)
    stage.anew()
    printed = told("peer", "--user", "anna", "--carry", "ann")
    assert "lines of ann are anna's now." in printed
    assert "stays" not in printed
    assert "Chengdu" in recalled(stage)
    assert names(stage) == ({"anna", "hermes"}, {"anna", "hermes"})


def test_without_being_carried_it_stays_and_the_command_says_what_takes_it_along(stage, told):
    stage.tell(stage.provider(), TRIP)
    stage.anew()
    printed = told("peer", "--user", "anna")
    assert "To take it along: souvenance hermes peer --carry ann" in printed
    assert "Chengdu" not in recalled(stage)
    stage.anew()
    told("peer", "--carry", "ann")
    assert "Chengdu" in recalled(stage, "s3")


def test_a_second_time_says_that_nothing_is_left(stage, told):
    stage.tell(stage.provider(), TRIP)
    stage.anew()
    told("peer", "--user", "anna", "--carry", "ann")
    before = stage.sessions()
    answer = json.loads(told("peer", "--carry", "ann", "--json"))
    assert answer["carried"] == [{"old": "ann", "new": "anna", "lines": 0, "waiting": 0}]
    assert "Nothing is remembered of ann." in told("peer", "--user", "anna", "--carry", "ann")
    assert stage.sessions() == before


def test_where_nothing_is_remembered_nothing_is_made(stage, told):
    assert "Nothing is remembered of ann." in told("peer", "--user", "anna", "--carry", "ann")
    assert not (stage.home / "souvenance").exists()


def test_ids_that_led_to_the_old_name_lead_to_the_new_one(stage, told):
    stage.configure(userPeerAliases={"7": "ann", "8": "bo"})
    stage.tell(stage.provider(), TRIP)
    stage.anew()
    told("peer", "--user", "anna", "--carry", "ann")
    found = read_configuration(stage.home, stage.environment)[0]
    assert found.user_peer_aliases == {"7": "anna", "8": "bo"}
    on_telegram = stage.provider("s9", platform="telegram", user_id="7", chat_type="dm")
    assert "Chengdu" in stage.recall(on_telegram, QUESTION)


def test_the_agent_takes_along_what_it_said_and_concluded(stage, told):
    stage.tell(stage.provider(), TRIP, "Enjoy Chengdu.")
    stage.anew()
    printed = told("peer", "--ai", "hal", "--carry-ai", "hermes")
    assert "lines of hermes are hal's now." in printed and "stays" not in printed
    assert names(stage) == ({"ann", "hal"}, {"ann", "hal"})
    with stage.gate() as ask:
        filters = {"observer_id": "hal", "observed_id": "ann"}
        held = ask(LIST_CONCLUSIONS, ListConclusions(workspace_id="hermes", filters=filters)).items
    assert any("Chengdu" in one.content for one in held)


def test_the_host_s_own_files_are_not_taken_over_a_second_time(stage, told):
    (stage.home / "memories").mkdir()
    (stage.home / "memories" / "USER.md").write_text("Ann likes green tea.")
    stage.tell(stage.provider(), TRIP)
    stage.anew()
    told("peer", "--user", "anna", "--carry", "ann")
    before = [text for said in stage.sessions().values() for _, text in said]
    assert "Ann likes green tea." in before
    stage.tell(stage.provider("s2"), "Hello again.")
    after = [text for said in stage.sessions().values() for _, text in said]
    assert after.count("Ann likes green tea.") == 1


def test_a_honcho_server_can_t_and_nothing_is_changed(stage, told):
    with Honcho() as honcho:
        stage.configure(baseUrl=honcho.url)
        stage.tell(stage.provider(), TRIP)
        stage.anew()
        before = (stage.home / "souvenance.json").read_bytes()
        printed = told("peer", "--user", "anna", "--carry", "ann", exit_code=12)
        assert printed.startswith("unsupported: ") and "Honcho's API has no way to" in printed
        assert (stage.home / "souvenance.json").read_bytes() == before


class TestOnAServerOfOurs:
    @pytest.fixture
    def server(self, tmp_path):
        with serving(tmp_path / "server") as server:
            yield server

    def test_memory_comes_along(self, stage, told, server):
        stage.configure(hosts={"hermes": {"baseUrl": server.url, "apiKey": server.owner_cap}})
        stage.tell(stage.provider(), TRIP)
        stage.anew()
        assert "lines of ann are anna's now." in told("peer", "--user", "anna", "--carry", "ann")
        assert "Chengdu" in recalled(stage)
        assert names(stage) == ({"anna", "hermes"}, {"anna", "hermes"})

    def test_a_cap_that_does_not_open_it_all_is_refused_and_nothing_is_changed(self, stage, told, server):
        asked = ["--sub", "ann", "--wid", "hermes", "--peers", "*", "--namespaces", "default"]
        ops = ["--ops", "put,get,list,snapshot,forget"]
        narrow = souvenance("cap", "mint", *asked, *ops, home=server.home).out.strip()
        stage.configure(hosts={"hermes": {"baseUrl": server.url, "apiKey": narrow}})
        stage.tell(stage.provider(), TRIP)
        stage.anew()
        before = (stage.home / "souvenance.json").read_bytes()
        told("peer", "--user", "anna", "--carry", "ann", exit_code=5)
        assert (stage.home / "souvenance.json").read_bytes() == before
        assert "Chengdu" in recalled(stage)


LINES = 600


def test_a_command_killed_midway_is_finished_by_the_next(stage, tmp_path):
    said = [f"This is turn {number}." for number in range(LINES)]
    with stage.gate() as ask:
        for first in range(0, LINES, 100):
            messages = [NewMessage(content=text, peer_id="ann") for text in said[first : first + 100]]
            ask(ADD_MESSAGES, AddMessages(workspace_id="hermes", session_id="s", messages=messages))
    command = [sys.executable, "-m", "souvenance", "hermes", "peer", "--user", "anna", "--carry", "ann"]
    how = {"args": [*command, "--home", str(stage.home)], "env": environment(HOME=str(tmp_path))}
    with subprocess.Popen(**how) as running:
        assert eventually(lambda: owned(stage, "anna") or running.poll() is not None)
        running.send_signal(signal.SIGKILL)
    assert owned(stage, "ann") and owned(stage, "anna"), "it was not killed midway"
    assert read_configuration(stage.home, stage.environment)[0].peer_name == "ann"
    subprocess.run(**how, check=True)
    with stage.gate() as ask:
        found = [
            (one.peer_id, one.content)
            for page in range(1, LINES // 100 + 1)
            for one in ask(
                LIST_MESSAGES, ListMessages(workspace_id="hermes", session_id="s", page=page, size=100)
            ).items
        ]
    assert found == [("anna", text) for text in said]
    assert owned(stage, "ann") == 0
    assert read_configuration(stage.home, stage.environment)[0].peer_name == "anna"
    assert "lines readable" in souvenance("doctor", home=stage.home / "souvenance").out


def owned(stage, peer):
    """How many lines lie under that name."""
    store = sqlite3.connect(f"file:{stage.home / 'souvenance' / 'souvenance.db'}?mode=ro", uri=True)
    try:
        return store.execute("SELECT count(*) FROM lines WHERE owner = ?", (peer,)).fetchone()[0]
    finally:
        store.close()
