"""OpenAI's own SDK, pointed at the chat door and changed in nothing else."""

from __future__ import annotations

import openai
import pytest

from chat.stage import MODEL
from model.stand_in import Fails, Says


@pytest.fixture
def client(stage, front):
    with openai.OpenAI(
        base_url=f"{stage.url}/v1",
        api_key=front,
        default_headers={"X-Hermes-User-Id": "ann"},
        max_retries=0,
    ) as found:
        yield found


def user(text):
    return [{"role": "user", "content": text}]


def test_a_conversation_is_remembered_across_conversations(stage, client):
    stage.model.plays("I'll keep that in mind.")
    said = client.chat.completions.create(model=MODEL, messages=user("I am allergic to plums."))
    assert said.choices[0].message.content == "I'll keep that in mind."
    stage.texts(2)
    client.chat.completions.create(model=MODEL, messages=user("Am I allergic to plums or to pears?"))
    assert "I am allergic to plums." in stage.heard()


def test_a_stream_is_one(stage, client):
    stage.model.plays(Says(pieces=("One, ", "two.")))
    chunks = list(client.chat.completions.create(model=MODEL, messages=user("Count."), stream=True))
    assert [chunk.choices[0].delta.content for chunk in chunks if chunk.choices][:2] == ["One, ", "two."]
    assert stage.texts(2) == [("ann", "Count."), ("assistant", "One, two.")]


def test_tools_are_called_and_heard(stage, client):
    tools = [{"type": "function", "function": {"name": "search_memory", "parameters": {"type": "object"}}}]
    stage.model.plays(Says(searches=("weather",), finish="tool_calls"), "It is sunny.")
    messages = user("What's the weather?")
    called = client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0].message
    [call] = called.tool_calls
    messages = [*messages, called, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
    told = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    assert told.choices[0].message.content == "It is sunny."
    assert [asked.tools for asked in stage.model.asked] == [["search_memory"], ["search_memory"]]
    assert stage.texts(2) == [("ann", "What's the weather?"), ("assistant", "It is sunny.")]


def test_several_answers_come(stage, client):
    stage.model.plays("One of two.")
    said = client.chat.completions.create(model=MODEL, messages=user("Say it."), n=2, logprobs=True)
    assert [choice.index for choice in said.choices] == [0, 1]
    assert stage.model.asked[-1].body["n"] == 2
    assert stage.texts(2)[1] == ("assistant", "One of two.")


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == [MODEL]


def test_refusals_are_read_as_what_they_are(stage, front):
    def ask(cap, **headers):
        with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=cap, max_retries=0) as client:
            client.chat.completions.create(model=MODEL, messages=user("hi"), extra_headers=headers)

    with pytest.raises(openai.AuthenticationError) as missing:
        ask("junk")
    assert missing.value.code == "cap_malformed"
    with pytest.raises(openai.PermissionDeniedError) as other:
        ask(stage.mint("ann"), **{"X-Hermes-User-Id": "bob"})
    assert other.value.code == "cap_scope_mismatch"
    stage.model.plays(Fails(429, {"error": {"message": "slow down", "code": "x"}}))
    with pytest.raises(openai.RateLimitError) as slow:
        ask(front)
    assert (slow.value.code, slow.value.body["message"]) == ("x", "slow down")
