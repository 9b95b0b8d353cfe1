"""Hermes on the command line, a process for each prompt, remembers."""

from __future__ import annotations

import json

import pytest

from hermes_host.host import a_host, stored
from mnemon.surfaces.cli.demo.hermes_model import LINE

TOLD = "My trip goes to Chengdu, May 25–29."
ASKED = "Where does my trip go?"


@pytest.fixture(scope="module")
def host(tmp_path_factory, model):
    """A host that was told of a trip."""
    host = a_host(tmp_path_factory.mktemp("host"), model, {"sessionStrategy": "per-session"})
    assert host.once(TOLD) == LINE
    [told] = model.turns()
    assert "Chengdu" not in told.memory
    return host


def test_a_new_process_is_asked_and_the_model_s_request_holds_what_another_was_told(host, model, store):
    [line] = [row.lines[0] for row in store.log() if row.operation == "messages.add"]
    before = len(store.log())
    assert host.once(ASKED) == LINE
    *_, asked = model.turns()
    assert asked.said == ASKED
    assert "Chengdu" in asked.memory
    read = [row for row in store.log()[before:] if line in row.lines]
    assert {(row.actor, row.outcome) for row in read} == {("ann", "ok")}


def test_a_fresh_home_on_the_same_store_recalls_on_the_very_turn_on_which_a_chat_is_resumed(
    host, model, store, folder
):
    """And the title that the chat was given meanwhile moves it to no other session."""
    fresh = a_host(folder, model, {"store": str(host.store)})
    begun = fresh.chat("Good morning.")
    assert fresh.run("sessions", "rename", begun.session, "A trip").exit_code == 0
    assert fresh.chat(ASKED, resume=begun.session) == (LINE, begun.session)
    *_, asked = model.turns()
    assert len([one for one in asked.body["messages"] if one["role"] == "user"]) == 2
    assert "Chengdu" in asked.memory
    assert not (fresh.store / "mnemon.db").exists()
    said = [message.text for message in store.sessions()[fresh.project.name]]
    assert said[-4:] == ["Good morning.", LINE, ASKED, LINE]


def test_a_profile_has_a_memory_of_its_own(host, model):
    home = host.home / "profiles" / "coder"
    home.mkdir(parents=True)
    (home / "config.yaml").write_bytes((host.home / "config.yaml").read_bytes())
    (home / "mnemon.json").write_text(json.dumps({"peerName": "ann"}))
    host.install()
    assert host.run("-p", "coder", "-z", ASKED).out.strip() == LINE
    *_, asked = model.turns()
    assert "mnemon_search" in asked.tools
    assert "Chengdu" not in asked.memory
    with stored(home / "mnemon", "hermes_coder") as store:
        assert ASKED in store.said()
