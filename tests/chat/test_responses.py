"""The other way to ask a model: /v1/responses, streamed and not."""

from __future__ import annotations

import json

import openai
import pytest

from chat.stage import MODEL
from model.stand_in import Sends, Streams

QUESTION = "Am I allergic to plums or to pears?"
CALLS = {"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "sunny"}


def output(text, **more):
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    return {"id": "r", "object": "response", "status": "completed", "output": [message], **more}


def says(text, **more):
    return Sends(json.dumps(output(text, **more)).encode())


def streams(*texts, calls=False):
    events = [{"type": "response.output_text.delta", "output_index": 0, "delta": text} for text in texts]
    if calls:
        events = [{"type": "response.output_item.added", "item": {"type": "function_call"}}]
    events.append({"type": "response.completed", "response": output("".join(texts))})
    return Streams(tuple(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events))


@pytest.fixture
def client(stage, front):
    return stage.client(front, user_id="ann")


def ask(client, given, **more):
    return client.post("/responses", json={"model": MODEL, "input": given, **more})


def known(stage, client):
    stage.model.plays(says("Noted."))
    assert ask(client, "I am allergic to plums.").json() == output("Noted.")
    assert stage.model.asked[-1].path == "/v1/responses"
    assert stage.texts(2) == [("ann", "I am allergic to plums."), ("assistant", "Noted.")]


def test_a_text_is_asked_with_what_memory_has_for_it(stage, client):
    known(stage, client)
    ask(client, QUESTION, instructions="Be brief.")
    body = stage.model.asked[-1].body
    assert body["input"].startswith(f"{QUESTION}\n\n<memory-context>\n")
    assert body["instructions"] == "Be brief."
    assert stage.texts(4)[2] == ("ann", QUESTION)


@pytest.mark.parametrize(
    "content", [QUESTION, [{"type": "input_text", "text": QUESTION}]], ids=["text", "parts"]
)
def test_messages_are_asked_with_what_memory_has_for_the_last(stage, client, content):
    known(stage, client)
    before = {"type": "message", "role": "user", "content": "hello there"}
    ask(client, [before, {"role": "user", "content": content}])
    first, last = stage.model.asked[-1].body["input"]
    assert first == before
    told = last["content"] if isinstance(content, str) else last["content"][-1]["text"]
    assert "I am allergic to plums." in told
    if not isinstance(content, str):
        assert [part["type"] for part in last["content"]] == ["input_text", "input_text"]


def test_a_stream_passes_and_is_heard(stage, front):
    stage.model.plays(streams("One, ", "two."))
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=front, max_retries=0) as sdk:
        heard = list(sdk.responses.create(model=MODEL, input="Count.", stream=True, user="ann"))
    assert [event.delta for event in heard if event.type == "response.output_text.delta"] == ["One, ", "two."]
    assert stage.texts(2) == [("ann", "Count."), ("assistant", "One, two.")]


def test_a_call_is_not_the_end_of_a_turn(stage, client):
    stage.model.plays(Sends(json.dumps({**output(""), "output": [CALLS]}).encode()))
    ask(client, "What's the weather?")
    stage.model.plays(streams(calls=True))
    ask(client, "What's the weather?", stream=True)
    stage.model.plays(says("It is sunny."))
    ask(client, [{"role": "user", "content": "What's the weather?"}, CALLS, RESULT])
    assert stage.texts(2) == [("ann", "What's the weather?"), ("assistant", "It is sunny.")]


def calling(text, name, **item):
    """A response that says something and then calls a tool."""
    said = output(text, id=name)
    return Sends(json.dumps({**said, "output": [*said["output"], {**CALLS, **item}]}).encode())


@pytest.mark.parametrize("conversation", [None, "c-1", {"id": "c-1"}])
def test_what_was_asked_before_a_tool_is_remembered_where_the_endpoint_keeps_it(stage, client, conversation):
    def goes_on(name):
        return {"previous_response_id": name} if conversation is None else {"conversation": conversation}

    stage.model.plays(calling("Let me look.", "r-1"))
    ask(client, "What's the weather?", **({} if conversation is None else goes_on("")))
    stage.model.plays(calling("And again.", "r-2", type="local_shell_call"))
    ask(client, [RESULT], **goes_on("r-1"))
    stage.model.plays(streams("It is ", "sunny."))
    ask(client, [RESULT], stream=True, **goes_on("r-2"))
    assert stage.texts(2) == [
        ("ann", "What's the weather?"),
        ("assistant", "Let me look.\n\nAnd again.\n\nIt is sunny."),
    ]
    assert stage.model.asked[-1].body["input"] == [RESULT]


def test_nobody_goes_on_with_what_another_asked(stage, front):
    stage.model.plays(calling("", "r-1"))
    ask(stage.client(front, user_id="ann"), "What's the weather at my house?")
    stage.model.plays(says("It is sunny."))
    ask(stage.client(front, user_id="bob"), [RESULT], previous_response_id="r-1")
    assert stage.texts(1) == [("assistant", "It is sunny.")]


def test_a_transcript_goes_on_unless_the_endpoint_keeps_it(stage, front):
    client = stage.client(front, user_id="ann", session_id="t-1")
    stage.model.plays(says("A fine name."))
    ask(client, "My cat is called Minka.")
    ask(client, "How old is she?")
    told = stage.model.asked[-1].body["input"]
    assert told.startswith("How old is she?\n\n<memory-context>\n")
    assert "\n- The user said: My cat is called Minka.\n- The assistant said: A fine name.\n" in told
    ask(client, "How old is she now?", previous_response_id="r")
    assert stage.model.asked[-1].body["input"].startswith("How old is she now?")


def test_what_can_t_be_understood_is_left_to_the_endpoint(stage, client):
    stage.model.plays(says("Noted."))
    for given in (None, 7, [], {}, [7], [{"type": "item_reference", "id": "x"}]):
        assert ask(client, given).status_code == 200
        assert stage.model.asked[-1].body["input"] == given
