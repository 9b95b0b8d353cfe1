"""An embeddings endpoint: asked as OpenAI's is, and every way in which it may fail."""

from __future__ import annotations

import socket
from threading import Event

import pytest

from adapters.embeddings import endpoint, usual
from adapters.receivers import rude
from contracts.embedder_contract import likeness
from ports import vacant_port
from reference.embedder import ReferenceEmbedder
from souvenance.adapters.embed.choice import EndpointEmbedder
from souvenance.errors import Misconfigured, Unavailable

KEY = "sk-a-very-secret-key"


@pytest.fixture
def server():
    with endpoint() as server:
        yield server


@pytest.fixture
def make(server):
    made = []

    def make(url=None, dimensions=64, **options):
        made.append(EndpointEmbedder(url or server.url, "words", dimensions, **options))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def refuse(status):
    return lambda body: (status, {"error": {"message": "no", "type": "whatever"}})


def test_it_asks_as_openai_is_asked(server, make):
    make(server.url + "/", api_key=KEY).passages(["one", "two"])
    [(path, headers, body)] = server.asked
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {"model": "words", "input": ["one", "two"], "encoding_format": "float"}


def test_without_a_key_none_is_sent(server, make):
    make().question("hello")
    assert "authorization" not in server.asked[0][1]


def test_its_vectors_are_those_of_the_endpoint_at_length_1(make):
    assert likeness(make().question("hello world"), ReferenceEmbedder().question("hello world")) > 0.9999


def test_many_texts_go_in_batches(server, make):
    texts = [f"text number {number}" for number in range(70)]
    found = make().passages(texts)
    assert [len(body["input"]) for _, _, body in server.asked] == [32, 32, 6]
    for text, vector in zip(texts, found, strict=True):
        assert likeness(vector, ReferenceEmbedder().question(text)) > 0.9999


def test_vectors_in_another_order_go_to_their_texts(server, make):
    def reversed_answer(body):
        told = usual(body)
        return 200, {**told, "data": told["data"][::-1]}

    server.always = reversed_answer
    one, two = make().passages(["one", "two"])
    assert likeness(one, ReferenceEmbedder().question("one")) > 0.9999
    assert likeness(two, ReferenceEmbedder().question("two")) > 0.9999


def test_vectors_without_an_index_are_in_order(server, make):
    def plain(body):
        return 200, {"data": [{"embedding": item["embedding"]} for item in usual(body)["data"]]}

    server.always = plain
    assert likeness(make().passages(["one", "two"])[1], ReferenceEmbedder().question("two")) > 0.9999


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_an_endpoint_that_has_no_time_is_unavailable_and_works_later(server, make, status):
    server.scripts.append(refuse(status))
    embedder = make()
    with pytest.raises(Unavailable, match=str(status)) as caught:
        embedder.question("hello")
    assert caught.value.retryable
    assert embedder.question("hello")


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_an_endpoint_that_refuses_for_good_is_misconfigured(server, make, status):
    server.always = refuse(status)
    with pytest.raises(Misconfigured, match=str(status)) as caught:
        make(api_key=KEY).passages(["hello"])
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    assert len(server.asked) == 1


def test_a_text_that_is_refused_is_sent_alone_and_shorter(server, make):
    def short(body):
        return None if max(map(len, body["input"])) <= 2500 else refuse(400)(body)

    server.always = short
    embedder = make()
    long, brief = embedder.passages(["long " * 1000, "brief"])
    assert long == embedder.passages(["long " * 1000])[0]
    assert brief == embedder.passages(["brief"])[0]


def test_a_batch_that_is_too_large_is_sent_one_by_one(server, make):
    server.always = lambda body: refuse(413)(body) if len(body["input"]) > 1 else None
    found = make().passages(["one", "two", "three"])
    assert found == [make().question(text) for text in ("one", "two", "three")]


def test_an_endpoint_that_takes_nothing_is_misconfigured_soon(server, make):
    server.always = refuse(400)
    with pytest.raises(Misconfigured, match="400"):
        make().passages([f"text {number}" for number in range(32)])
    assert len(server.asked) == 4


def test_the_models_own_dimensions_are_not_asked_for(server, make):
    make().question("hello")
    assert all("dimensions" not in body for _, _, body in server.asked)


def test_other_dimensions_are_asked_for_once_the_model_gives_others(server, make):
    embedder = make(dimensions=16)
    assert [len(vector) for vector in embedder.passages(["one", "two"])] == [64, 64]
    embedder.question("three")
    assert [body.get("dimensions") for _, _, body in server.asked] == [None, 16, 16]


def test_wrong_dimensions_are_misconfigured(make):
    with pytest.raises(Misconfigured, match="64 dimensions, not 100") as caught:
        make(dimensions=100).question("hello")
    assert "SOUVENANCE_EMBEDDER_DIMENSIONS" in caught.value.hint


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[" * 50_000,
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0] * 64}]},
        {"data": [{"index": 0, "embedding": [1.0] * 64}] * 2},
        {"data": [{"index": 0, "embedding": ["1.0"] * 64}]},
        {"data": [{"index": 0, "embedding": [0.0] * 64}]},
        {"data": [{"index": 0, "embedding": [None] * 64}]},
        b'{"data": [{"index": 0, "embedding": [' + b"1e999, " * 63 + b"1]}]}",
        {"error": "soon"},
        b" " * 200_000,
    ],
    ids=range(13),
)
def test_an_answer_that_makes_no_sense_is_unavailable(server, make, told):
    server.always = lambda body: (200, told)
    with pytest.raises(Unavailable):
        make().question("hello")


def test_an_endpoint_that_never_answers_is_unavailable(server, make):
    done = Event()
    server.always = lambda body: done.wait(30) and None
    try:
        with pytest.raises(Unavailable, match="in time"):
            make(question_seconds=0.1).question("hello")
        with pytest.raises(Unavailable, match="in time"):
            make(passages_seconds=0.1).passages(["hello"])
    finally:
        done.set()


@pytest.mark.parametrize(("pause", "told"), [(0, "more than"), (0.01, "come to an end")])
def test_an_answer_without_an_end_is_unavailable(make, pause, told):
    done = Event()

    def pour(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
        while not done.wait(pause):
            line.sendall(b" " * (1 if pause else 65536))

    with rude(pour) as port:
        with pytest.raises(Unavailable, match=told):
            make(f"http://127.0.0.1:{port}", question_seconds=1 if pause else 30).question("hello")
        done.set()


def test_nobody_there_is_unavailable(make):
    with vacant_port() as port, pytest.raises(Unavailable, match="can't be reached"):
        make(f"http://127.0.0.1:{port}/v1").question("hello")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://host/v1",
        "http://",
        "http://user:pw@host/v1",
        "http://host/v1?key=x",
        "http://[",
        "http://host:0/v1",
    ],
)
def test_what_is_no_address_is_misconfigured(url):
    with pytest.raises(Misconfigured, match="SOUVENANCE_EMBEDDER_BASE_URL"):
        EndpointEmbedder(url, "words", 64)


def test_its_space_names_what_the_vectors_depend_on_and_no_key():
    spaces = {
        EndpointEmbedder(url, model, dimensions, api_key=KEY).space
        for url in ("http://a/v1", "http://b/v1")
        for model in ("small", "large")
        for dimensions in (64, 128)
    }
    assert len(spaces) == 8
    assert not [space for space in spaces if KEY in space]


def test_it_may_be_asked_again_after_it_was_closed(make):
    embedder = make()
    embedder.question("hello")
    embedder.close()
    assert embedder.question("hello")


def test_the_query_of_its_address_goes_with_every_call(server, make):
    make(f"{server.url}?api-version=2024-10-21").question("hello")
    assert server.asked[0][0] == "/v1/embeddings?api-version=2024-10-21"
