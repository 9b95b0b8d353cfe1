"""Where what is said in the host's conversations goes, and that nothing else makes a session."""

from __future__ import annotations

import re
import subprocess

import pytest

from demo_host import a_terminal
from demo_model import LINE, DemoToolCall
from environments import client_program
from hermes_host.host import ODD, Message, a_host, stored
from processes import PATIENCE_SECONDS

LONG = "Tell me all of it."
POEM = "A poem about Porto, please."
ON_A_GATEWAY = """
import os
from pathlib import Path
from agent.memory_manager import MemoryManager
from hermes_state import SessionDB
from souvenance.hermes.host import window
from souvenance.plugin import register

home = Path(os.environ["HERMES_HOME"])
database = SessionDB(home / "state.db")

def chat(session):
    manager = MemoryManager()
    register(type("Context", (), {"register_memory_provider": manager.add_provider}))
    key = f"agent:main:telegram:dm:{session}"
    manager.initialize_all(session, platform="telegram", user_id="77", gateway_session_key=key)
    database.create_session(session, "telegram")
    return manager

def say(manager, session, text):
    database.append_message(session, "user", text)
    database.append_message(session, "assistant", "Noted.")
    manager.sync_all(text, "Noted.", session_id=session)
    manager.flush_pending(60)

first = chat("one")
for text in ("I like tea.", "I love Kim."):
    say(first, "one", text)
database.rewind_to_message("one", database.list_recent_user_messages("one")[0]["id"])
assert "love" not in window(home, "one", 9).text
say(chat("two"), "two", "It rains.")
database.archive_and_compact("two", [{"role": "user", "content": "Weather."}])
assert window(home, "two", 9).text == "Weather."
first.shutdown_all()
"""
"""What a gateway does with its transcript and its providers when somebody undoes their last message."""


def turn(text, answer=LINE):
    return [Message("ann", text), Message("hermes", answer)]


def test_every_turn_is_in_its_own_session_and_no_session_is_empty(folder, model):
    """New, undo, compress, branch, title, status, resume, subagents and reviews in one home."""
    model.answer(LONG, answer := "All of it. " * 400)
    model.answer("delegate", DemoToolCall("delegate_task", {"goal": "Find the lamp.", "context": "None."}))
    host = a_host(
        folder,
        model,
        {"sessionStrategy": "per-session"},
        compression={"protect_first_n": 0, "protect_last_n": 1, "target_ratio": 0.1},
        memory={"nudge_interval": 1},
    )
    with a_terminal(host) as terminal:
        terminal.type("Hello.", LONG, "Not this.", "/undo")
        for shown in ("Undid", "remaining", "Not this."):
            terminal.see(shown)  # Last in the line that is edited: typed too soon, the next would join it.
        terminal.type("But this.", "/title An unusual talk", "After the title.", "/compress")
        terminal.type("After the compression.", "/status", "/new", "/new", "Please delegate.")
        terminal.type("/branch aside", "In the branch.", "/status")
        told = terminal.leave()
    errands = [one for one in model.asked if "souvenance_search" not in one.tools]
    assert [one for one in errands if LONG in one.text and not one.tools], "nothing was compressed"
    assert [one for one in errands if LONG in one.text and one.tools], "nothing was reviewed"
    assert [one for one in errands if one.said == "Find the lamp."], "nothing was delegated"
    branch = re.search(r"hermes --resume (\S+)", told)[1]
    host.chat("Resumed.", resume=branch)
    status = host.run("souvenance", "status")
    assert status.exit_code == 0, status
    with stored(host.store) as store:
        first, second, third = store.sessions().items()
    assert first[1] == [
        *turn("Hello."),
        *turn(LONG, answer.strip()),
        *turn("But this."),
        *turn("After the title."),
        *turn("After the compression."),
    ]
    assert second[1] == turn("Please delegate.")
    assert third == (branch, [*turn("In the branch."), *turn("Resumed.")])


@pytest.fixture(scope="module")
def left(model, tmp_path_factory):
    """A host, and what its terminal showed: an answer was tried again, and turns of two talks were undone."""
    host = a_host(tmp_path_factory.mktemp("left") / ODD, model, {"sessionStrategy": "per-session"})
    with a_terminal(host) as terminal:
        terminal.type("Hello.", POEM, "/retry")
        terminal.see("Retrying")
        terminal.see(LINE)
        terminal.type("/new", "Hello.", "Not this.", "Nor this.", "/undo 2")
        for shown in ("Undid", "remaining", "Not this."):
            terminal.see(shown)
        terminal.type("/new", "Good evening.", "How late it is.", "Not that.", "/undo")
        for shown in ("Undid", "remaining", "Not that."):
            terminal.see(shown)
        return host, terminal.leave()


def test_of_an_answer_that_was_tried_again_the_last_is_kept(left, model):
    host, _ = left
    assert len([one for one in model.turns() if one.said == POEM]) == 2, "nothing was tried again"
    with stored(host.store) as store:
        first, *_ = store.sessions().values()
    assert first == [*turn("Hello."), *turn(POEM)]


def test_what_was_undone_is_forgotten_without_another_turn(left):
    """Before a new conversation, and before the host ends, which tells of undone turns as if they stood. In a
    chat that is resumed and has not gone on yet, it tells nobody: then with the next turn.
    """
    host, told = left
    late = turn("Good evening."), turn("How late it is.")
    with stored(host.store) as store:
        assert list(store.sessions().values())[1:] == [turn("Hello."), [*late[0], *late[1]]]
    session = re.search(r"hermes --resume (\S+)", told)[1]
    with a_terminal(host, "--resume", session) as terminal:
        terminal.type("/undo")
        terminal.see("Undid")
        terminal.leave()
    host.chat("Good night.", resume=session)
    with stored(host.store) as store:
        assert list(store.sessions().values())[1:] == [turn("Hello."), [*late[0], *turn("Good night.")]]


def test_what_was_undone_on_a_gateway_is_forgotten_when_somebody_else_is_heard(folder, model):
    host = a_host(folder, model)
    ended = subprocess.run(
        [client_program("hermes-0.19.0"), "-c", ON_A_GATEWAY],
        env=host.environment,
        cwd=host.project,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.returncode == 0, ended.stderr
    with stored(host.store) as store:
        assert list(store.sessions().values()) == [
            [Message("77", "I like tea."), Message("hermes", LINE)],
            [Message("77", "It rains."), Message("hermes", LINE)],
        ]
