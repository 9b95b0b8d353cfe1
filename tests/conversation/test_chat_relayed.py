"""A question that an agent asks for somebody, answered without a model: what the person wrote counts."""

from __future__ import annotations

import pytest

from conversation.world import staged
from souvenance.domain.representation import relayed
from souvenance.hermes.recall import COLD, WARM

WROTE = "What should I cook for my sister?"


@pytest.fixture(scope="module")
def owner():
    with staged() as stage:
        stage.owner.say(
            "kitchen",
            "My sister is allergic to peanuts.",
            "I live in Oslo.",
            "We had a session about the most relevant context for the conversation.",
            peer="mira",
        )
        stage.rest()
        yield stage.owner


def chat(owner, query):
    asked = {"query": query, "include_evidence": True}
    told = owner.told("POST", "/peers/mira/chat", asked)
    return told["content"] or "", told["evidence"]["tool_calls"][0]["tool_input"]["query"]


@pytest.mark.parametrize("wanted", [COLD, WARM], ids=["cold", "warm"])
def test_what_the_person_wrote_is_answered_as_if_it_were_asked_alone(owner, wanted):
    told, _ = chat(owner, relayed(wanted, WROTE))
    assert told == chat(owner, WROTE)[0]
    assert "peanuts" in told


def test_the_evidence_tells_the_question_as_it_was_asked(owner):
    query = relayed(WARM, WROTE)
    assert chat(owner, query)[1] == query


@pytest.mark.parametrize("wanted", [COLD, WARM], ids=["cold", "warm"])
def test_an_agent_that_asks_on_its_own_is_told_no_document_unless_the_person_asked(owner, wanted):
    owner.say("kitchen", "The cellar of the museum holds amphorae.", peer="mira", metadata={"role": "tool"})
    assert "amphorae" not in chat(owner, relayed(wanted, "We went to the cellar of the museum."))[0]
    assert "amphorae" in chat(owner, relayed(wanted, "What does the cellar of the museum hold?"))[0]


def test_of_a_group_nobody_is_quoted_but_the_two(owner):
    owner.say("group", "Bob keeps his canoe in Oslo.", peer="bob")
    owner.say("group", "Mira keeps her canoe in Bergen.", peer="mira")
    owner.say("group", "Cem keeps his canoe in Izmir.", peer="cem")
    asked = "Where do I keep my canoe?"
    assert "Izmir" in chat(owner, asked)[0], "what was said beside it, to who asks"
    answer = chat(owner, relayed(WARM, asked))[0]
    assert "Bergen" in answer
    assert "Oslo" not in answer
    assert "Izmir" not in answer
