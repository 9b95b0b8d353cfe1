"""A chat goes on, whatever memory suffers from, and says why once; where a model is missing, it says that."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chat.stage import KEY, a_stage, asked
from model.stand_in import Streams
from souvenance.domain import ulid
from souvenance.domain.capability import read_unverified
from souvenance.domain.upstream import Upstream
from souvenance.gate import messages as m
from souvenance.gate.tokens import attenuated
from souvenance.surfaces.http.chat.conversation import MemoryWarnings

QUESTION = "Am I allergic to plums or to pears?"


def complaints(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "souvenance.chat"]


def test_a_dead_memory_blocks_no_chat_where_that_is_set(home, caplog):
    with a_stage(home, when_store_is_down="pass_without_memory") as stage:
        front = stage.front()
        stage.say(front, "I am allergic to plums.", user="ann")
        stage.texts(2)
        stage.installation.close()
        for _ in range(2):
            answer = stage.say(front, QUESTION, "Yes, to plums.", user="ann")
            assert answer.status_code == 200
            assert answer.json()["choices"][0]["message"]["content"] == "Yes, to plums."
            assert stage.heard() == QUESTION
        stranger = stage.client("junk").post("/chat/completions", json=asked("hi"))
        assert stranger.status_code == 401
    told = complaints(caplog)
    assert len(told) == len(set(told)) == 1
    assert "plums" not in str(told)


def test_a_memory_that_denies_blocks_no_chat(stage, caplog):
    nothing = stage.mint("ann", namespaces_allowed=())
    assert stage.say(nothing, QUESTION).status_code == 200
    assert stage.heard() == QUESTION
    [said] = complaints(caplog)
    assert "opens no namespace" in said


def test_that_nobody_is_named_is_said_once_for_a_token_whatever_is_narrowed_from_it(stage, caplog):
    minted = [stage.mint("ann", peers=("ann", "bob")) for _ in range(2)]
    children = [
        attenuated(
            cap,
            m.Attenuate(),
            jti=ulid.compose(number, bytes(10)),
            now=int(time.time()),
            secret=Ed25519PrivateKey.generate(),
        ).cap
        for cap in minted
        for number in range(3)
    ]
    for cap in (*children, *minted):
        assert stage.say(cap, QUESTION).status_code == 200
    told = complaints(caplog)
    assert len(told) == 2
    for cap, line in zip(minted, told, strict=True):
        assert read_unverified(cap)[0][0].jti in line


def test_an_endpoint_that_can_t_be_reached_is_said_to_be_so(home):
    with a_stage(home, upstreams=(Upstream("http://127.0.0.1:9/v1", KEY),)) as stage:
        front = stage.front()
        for answer in (
            stage.say(front, "hello there"),
            stage.client(front).post("/chat/completions", json=asked("hi", stream=True)),
            stage.client(front).post("/responses", json={"model": "m", "input": "hi"}),
            stage.client(front).get("/models"),
        ):
            told = answer.json()["error"]
            assert (answer.status_code, told["code"]) == (502, "upstream_unreachable")
            assert KEY not in answer.text


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"", b"\xff", b'{"a":' * 5000], ids=range(6))
def test_a_body_that_is_no_json_object_is_refused(stage, front, body):
    answer = stage.client(front).post("/chat/completions", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
    assert not stage.model.asked


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": "text"},
        {"messages": []},
        {"messages": [None, 7, "x", [], {}]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [{"role": "user", "content": [7, None, {"type": "text"}, {"type": "text", "text": 7}]}]},
        {"messages": [{"role": ["user"], "content": {}}]},
        {"model": 7, "stream": "yes"},
    ],
    ids=str,
)
def test_a_request_that_is_no_conversation_is_left_to_the_endpoint(stage, front, body):
    answer = stage.client(front).post("/chat/completions", json=body)
    assert answer.status_code == 200
    assert stage.model.asked[-1].body == body


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"a \ud83d b", "a \ufffd b"),
        (r"a \udE00", "a \ufffd"),
        (r"\uD83D\uD83D\uDE00", "\ufffd\U0001f600"),
        (r"\ud83d\ude00 \\ud83d \ud83d", "\U0001f600 \\ud83d \ufffd"),
    ],
)
def test_half_a_character_becomes_the_one_for_unknown_ones(stage, front, written, read):
    body = b'{"model": "m", "odd": "\\ud800", "messages": [{"role": "user", "content": "%s"}]}'
    answer = stage.client(front).post("/chat/completions", content=body % written.encode())
    assert answer.status_code == 200
    assert stage.model.asked[-1].messages[-1]["content"] == read
    assert stage.model.asked[-1].body["odd"] == "\ufffd"


def test_a_body_beyond_the_bound_is_refused_and_one_within_it_passes(stage, front):
    most = stage.installation.gate.limits.batch_bytes
    client = stage.client(front, user_id="ann")
    large = client.post("/chat/completions", content=b" " * (most + 1))
    assert (large.status_code, large.json()["error"]["code"]) == (413, "body_too_large")
    text = "word " * 400_000
    assert client.post("/chat/completions", json=asked(text)).status_code == 200
    assert stage.model.asked[-1].messages[-1]["content"] == text
    said = [piece for peer, piece in stage.texts(10) if peer != "assistant"]
    assert len(said) == 9
    assert max(map(len, said)) <= 25_000


def test_a_reason_is_told_once_and_only_so_many_are_remembered(caplog):
    told = MemoryWarnings()
    for _ in range(3):
        told.add("nothing was recalled", TimeoutError("what was said"))
    for number in range(1000):
        told.nobody_named(f"cap-{number}")
    told.nobody_named("cap-1")
    assert len(complaints(caplog)) == 1001
    told.add("nothing was recalled", TimeoutError("what was said"))
    assert len(complaints(caplog)) == 1002
    assert "what was said" not in caplog.text


@pytest.mark.embedded("it holds the lock of the file")
def test_a_turn_that_is_not_yet_written_when_the_server_stops_is_not_lost(home):
    asked_for, going_on = threading.Event(), threading.Event()
    content = b'{"choices": [{"message": {"content": "Noted."}, "finish_reason": "stop"}]}'
    answer = Streams((content,), lambda at: (asked_for.set(), going_on.wait()), kind="application/json")
    with a_stage(home) as stage, ThreadPoolExecutor(1) as pool:
        front = stage.front()
        stage.say(front, "hello there", user="ann")
        stage.texts(2)
        said = pool.submit(stage.say, front, "I am allergic to plums.", answer, user="ann")
        asked_for.wait()
        with stage.busy():
            going_on.set()
            assert said.result().status_code == 200
    with a_stage(home) as stage:
        assert stage.texts(4)[2:] == [("ann", "I am allergic to plums."), ("assistant", "Noted.")]


def test_the_turns_of_a_conversation_are_written_in_their_order(stage, front):
    client = stage.client(front, user_id="ann")
    for number in range(20):
        client.post("/chat/completions", json=asked(f"Number {number}."))
    said = [text for peer, text in stage.texts(40) if peer == "ann"]
    assert said == [f"Number {number}." for number in range(20)]
