"""Streams through the chat door: passed on as they come, heard on the side, and broken off by anybody."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.stage import PATIENCE_SECONDS, a_stage, asked
from model.stand_in import Fails, Hangs, Says, Streams
from souvenance.surfaces.http.chat.upstreams import Events, HeardAnswer


def event(text, **more):
    told = {"choices": [{"index": 0, "delta": {"content": text}, **more}]}
    return b"data: " + json.dumps(told, ensure_ascii=False).encode()


STOP = event("", finish_reason="stop") + b"\n\n"
DONE = b"data: [DONE]\n\n"
MEGABYTE = 1024 * 1024


class Listener:
    """A raw client that reads what has come, and no more."""

    def __init__(self, stage, cap, body, **named):
        self._connection = HTTPConnection(urlsplit(stage.url).netloc, timeout=PATIENCE_SECONDS)
        headers = {f"x-hermes-{name.replace('_', '-')}": value for name, value in named.items()}
        self._connection.request(
            "POST", "/v1/chat/completions", json.dumps(body), {"authorization": f"Bearer {cap}", **headers}
        )
        self.answer = self._connection.getresponse()

    def piece(self):
        return self.answer.read1()

    def close(self):
        self.answer.close()
        self._connection.close()


def test_each_piece_reaches_the_client_before_the_next_is_sent(stage, front):
    heard = threading.Semaphore(0)
    words = ("One, ", "two, ", "three.")
    pieces = (*(event(word) + b"\n\n" for word in words), STOP + DONE)
    stage.model.plays(Streams(pieces, lambda at: at == 0 or heard.acquire(timeout=PATIENCE_SECONDS)))
    with closing(Listener(stage, front, asked("Count.", stream=True), user_id="ann")) as client:
        assert client.answer.headers["content-type"] == "text/event-stream"
        assert client.answer.headers["x-hermes-user-id"] == "ann"
        for piece in pieces:
            assert client.piece() == piece
            heard.release()
        assert client.answer.read() == b""
    assert stage.texts(2) == [("ann", "Count."), ("assistant", "One, two, three.")]


def test_of_a_client_that_goes_away_what_was_said_so_far_is_kept_and_the_endpoint_is_left(stage, front):
    gone = threading.Event()
    left = threading.Event()

    def before(at):
        if at == 2:
            assert gone.wait(PATIENCE_SECONDS)
        if at > 2 and at == len(pieces) - 1:
            left.set()

    pieces = (event("One, ") + b"\n\n", event("two,") + b"\n\n", *([event(" and more") + b"\n\n"] * 100_000))
    stage.model.plays(Streams(pieces, before))
    client = Listener(stage, front, asked("Count.", stream=True), user_id="ann")
    received = client.piece()
    while b"two," not in received:
        received += client.piece()
    client.close()
    gone.set()
    said = stage.texts(2)
    assert said[0] == ("ann", "Count.")
    assert said[1][1].startswith("One, two,")
    assert not left.is_set(), "the endpoint was heard to its end"


def test_an_endpoint_that_breaks_off_is_told_of_in_the_stream_and_not_remembered(stage, front):
    stage.model.plays(Streams((event("One, ") + b"\n\n",), breaks_off=True))
    with closing(Listener(stage, front, asked("Count.", stream=True))) as client:
        told = client.answer.read()
    assert told.startswith(event("One, "))
    last = json.loads(told.strip().rpartition(b"data: ")[2])
    assert last["error"]["code"] == "upstream_unreachable"
    _nothing_but_a_sign(stage, front)


@pytest.mark.parametrize(
    "pieces",
    [
        (event("One") + b"\n\n",),
        (event("One") + b"\n\n", b'data: {"error": {"message": "overloaded"}}\n\n', DONE),
        (b"data: [DONE]\n\n",),
        (b": nothing but a comment\n\n",),
        (b"",),
    ],
    ids=["cut off", "an error inside", "nothing said", "a comment", "empty"],
)
def test_a_stream_that_came_to_no_answer_is_not_remembered(stage, front, pieces):
    stage.model.plays(Streams(tuple(filter(None, pieces))))
    with closing(Listener(stage, front, asked("Count.", stream=True))) as client:
        assert client.answer.read() == b"".join(pieces)
    _nothing_but_a_sign(stage, front)


def _nothing_but_a_sign(stage, front):
    stage.say(front, "A sign that all before is written.", user="bob")
    assert [peer for peer, _ in stage.texts(2)] == ["bob", "assistant"]


@pytest.mark.parametrize(
    "pieces",
    [
        (event("Grüße, 世界!") + b"\r\n\r\n", STOP),
        (event("Grüße, 世界!") + b"\r\r", STOP),
        (
            b": hello\n\nevent: x\nid: 7\n"
            + event("Grüße, ")
            + b"\n\n: ping\n\n"
            + event("世界!")
            + b"\n\n"
            + STOP,
        ),
        (event("Grüße, 世界!") + b"\n\n", DONE),
        (event("Grüße, 世界!") + b"\n\n", STOP.rstrip(b"\n")),
        tuple(bytes([one]) for one in event("Grüße, 世界!") + b"\n\n" + STOP + DONE),
        (b"data: not json\n\n", event("Grüße, 世界!") + b"\n\n", STOP),
        (
            event("Grüße, 世界!").replace(b"{", b"{\ndata:", 2) + b"\n\n",
            STOP,
        ),
    ],
    ids=["CRLF", "CR", "comments", "no reason", "no [DONE]", "byte by byte", "junk", "two lines"],
)
def test_however_a_stream_is_written_it_passes_unchanged_and_is_heard(stage, front, pieces):
    stage.model.plays(Streams(pieces))
    with closing(Listener(stage, front, asked("Greet."), user_id="ann")) as client:
        assert client.answer.read() == b"".join(pieces)
    assert stage.texts(2)[1] == ("assistant", "Grüße, 世界!")


def test_a_stream_of_tool_calls_is_not_over(stage, front):
    stage.model.plays(Says(searches=("tea",), finish="tool_calls"))
    with closing(Listener(stage, front, asked("Look.", stream=True))) as client:
        assert b"tool_calls" in client.answer.read()
    _nothing_but_a_sign(stage, front)


def test_an_error_in_place_of_a_stream_reaches_the_client_as_it_was(stage, front):
    stage.model.plays(Fails(429, {"error": {"message": "slow down"}}, {"retry-after": "3"}))
    with closing(Listener(stage, front, asked("Count.", stream=True))) as client:
        assert client.answer.status == 429
        assert client.answer.headers["retry-after"] == "3"
        assert json.loads(client.answer.read()) == {"error": {"message": "slow down"}}


def test_an_endpoint_that_is_silent_is_not_waited_for_for_ever(home):
    going_on = threading.Event()
    with a_stage(home, timeout_seconds=1) as stage:
        answer = stage.say(stage.front(), "hello there", Hangs(going_on))
        going_on.set()
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_unreachable")
        assert answer.json()["error"]["type"] == "server_error"


class TestEvents:
    @given(
        st.lists(st.binary(min_size=1, max_size=30).filter(lambda one: not {10, 13} & set(one)), max_size=5),
        st.sampled_from([b"\n", b"\r\n", b"\r"]),
        st.lists(st.integers(1, 7), min_size=1),
    )
    def test_are_the_same_however_they_are_cut(self, data, end, sizes):
        stream = b"".join(b"data:" + one + end + end for one in data)
        events, found, at = Events(), [], 0
        for size in sizes * (len(stream) + 1):
            if at >= len(stream):
                break
            found += events.feed(stream[at : at + size])
            at += size
        found += events.rest()
        assert found == [one.removeprefix(b" ") for one in data]

    @pytest.mark.parametrize("chunk", [b"x" * MEGABYTE, b"data: " + b"x" * MEGABYTE + b"\n"])
    def test_one_that_never_ends_is_not_kept_and_those_after_it_are_heard(self, chunk):
        events = Events()
        for _ in range(70):
            assert not list(events.feed(chunk))
        *_, broken = *events.feed(b"\n\n"), b""
        assert len(broken) < 33 * MEGABYTE
        assert list(events.feed(b"data: heard\n\n")) == [b"heard"]

    @given(st.lists(st.binary(max_size=60)))
    def test_nothing_that_comes_makes_the_listener_fail(self, chunks):
        for streamed in (True, False):
            heard = HeardAnswer(streamed=streamed)
            for chunk in chunks:
                heard.feed(b"data: " + chunk + b"\n\n")
                heard.feed(chunk)
            heard.close()
            assert isinstance(heard.text, str)
