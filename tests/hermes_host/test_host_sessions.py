"""Where what is said in the host's conversations goes, and that nothing else makes a session."""

from __future__ import annotations

import re

from hermes_host.host import Message, a_host, stored
from mnemon.surfaces.cli.demo.hermes_model import LINE, ToolCall
from mnemon.surfaces.cli.demo.hermes_terminal import a_terminal

LONG = "Tell me all of it."


def turn(text, answer=LINE):
    return [Message("ann", text), Message("hermes", answer)]


def test_every_turn_is_in_its_own_session_and_no_session_is_empty(folder, model):
    """New, undo, compress, branch, title, status, resume, subagents and reviews in one home."""
    model.answer(LONG, answer := "All of it. " * 2_000)
    model.answer("delegate", ToolCall("delegate_task", {"goal": "Find the lamp.", "context": "None."}))
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
    errands = [one for one in model.asked if "mnemon_search" not in one.tools]
    assert [one for one in errands if LONG in one.text and not one.tools], "nothing was compressed"
    assert [one for one in errands if LONG in one.text and one.tools], "nothing was reviewed"
    assert [one for one in errands if one.said == "Find the lamp."], "nothing was delegated"
    branch = re.search(r"hermes --resume (\S+)", told)[1]
    host.chat("Resumed.", resume=branch)
    status = host.run("mnemon", "status")
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


def test_what_was_undone_is_forgotten_without_another_turn(folder, model):
    """Before a new conversation, and before the host ends, which tells of undone turns as if they stood. In a
    chat that is resumed and has not gone on yet, it tells nobody: then with the next turn.
    """
    host = a_host(folder, model, {"sessionStrategy": "per-session"})
    with a_terminal(host) as terminal:
        terminal.type("Hello.", "Not this.", "Nor this.", "/undo 2")
        for shown in ("Undid", "remaining", "Not this."):
            terminal.see(shown)
        terminal.type("/new", "Good evening.", "How late it is.", "Not that.", "/undo")
        for shown in ("Undid", "remaining", "Not that."):
            terminal.see(shown)
        told = terminal.leave()
    late = turn("Good evening."), turn("How late it is.")
    with stored(host.store) as store:
        assert list(store.sessions().values()) == [turn("Hello."), [*late[0], *late[1]]]
    session = re.search(r"hermes --resume (\S+)", told)[1]
    with a_terminal(host, "--resume", session) as terminal:
        terminal.type("/undo")
        terminal.see("Undid")
        terminal.leave()
    host.chat("Good night.", resume=session)
    with stored(host.store) as store:
        assert list(store.sessions().values()) == [turn("Hello."), [*late[0], *turn("Good night.")]]
