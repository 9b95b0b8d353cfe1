"""Sixty planted orders before the real host: none is told outside the frame, and none of others unasked."""

from __future__ import annotations

from hermes_host.host import WORKSPACE, Talk
from security import planted
from security.planted import OTHERS, OWN, marks_in

PERSON, AGENT = "api-user-carol", "hermes"


def turn(talk, message):
    """What the model is sent for a message: what the host adds to it, and what is in the frame."""
    [asked] = talk.ask(message)
    assert asked.said == message
    memory = asked.memory.strip("\n")
    planted.check_frame(memory)
    outside = "".join(str(one["content"]) for one in asked.body["messages"]).replace(asked.memory, "")
    assert not marks_in(outside, *OTHERS, OWN)
    return memory


def test_a_statement_brings_nothing_of_others_and_a_question_only_quotations(server, model, store):
    talk = Talk(server, model, "user:carol")
    talk.ask("Good morning, I am Carol.")
    store.until(lambda store: "Good morning, I am Carol." in store.said())
    assert {one.peer for one in store.messages()} == {PERSON, AGENT}
    planted.plant(store._call, WORKSPACE, PERSON, AGENT)
    own, quoted = set(), set()
    for message in planted.statements():
        memory = turn(talk, message)
        assert not marks_in(memory, *OTHERS)
        own |= marks_in(memory, OWN)
    for message in planted.questions():
        memory = turn(talk, message)
        assert not marks_in(memory, "stranger")
        for line in memory.split("\n"):
            if found := marks_in(line, *OTHERS):
                quoted |= found
                assert "quoted by " in line or "Quoted: “" in line
    assert own <= planted.not_recognised(OWN)
    tried = {mark.removeprefix("zqown") for mark in planted.not_recognised(OWN)}
    assert {mark[-2:] for mark in own | quoted} == tried, "the frame was tried with every order"
