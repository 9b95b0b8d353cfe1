"""What the door knows nothing of goes to the endpoint: judged, recorded, with its key, and without memory."""

from __future__ import annotations

from dataclasses import replace

import httpx
import openai
import pytest

from chat.stage import CREDENTIALS, KEY, a_stage, asked
from model.stand_in import Sends, Streams, a_stand_in
from souvenance.domain.upstream import Upstream, asking
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.chat.upstreams import passed_on

IDS = "x-souvenance-recalled-ids"
VECTORS = Sends(b'{"object":"list","data":[{"index":0,"embedding":[0.5,-1]}],"model":"m"}')


def verdicts(stage):
    """The outcomes of all chats in the audit log."""
    auditor = Credentials(stage.mint("auditor", peers=("*",)))
    rows = stage.installation.gate.call(o.AUDIT, auditor, m.AuditList(limit=1000)).rows
    return [row.outcome for row in rows if row.operation == "chat"]


def test_the_sdk_gets_its_embeddings(stage, front):
    stage.model.plays(VECTORS)
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=front) as client:
        told = client.embeddings.create(model="m", input="hi", encoding_format="float")
    assert told.data[0].embedding == [0.5, -1]
    [heard] = stage.model.asked
    assert (heard.path, heard.headers["authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")


def test_the_bytes_of_the_body_and_the_path_are_those_that_came(stage):
    stage.model.plays(Sends(b"RIFF", kind="audio/wav"))
    body = b"--x\r\n\xff\xfe not JSON"
    answer = stage.client(stage.front(wid="*")).post(
        "/audio/a%2Fb//transcriptions?x=%20y", content=body, headers={"content-type": "multipart/x"}
    )
    assert (answer.content, answer.headers["content-type"]) == (b"RIFF", "audio/wav")
    assert answer.headers["x-souvenance-memory"] == "not-used"
    [heard] = stage.model.asked
    assert (heard.raw, heard.path) == (body, "/v1/audio/a%2Fb//transcriptions?x=%20y")
    assert heard.headers["content-type"] == "multipart/x"


def test_the_verdict_is_recorded_first_and_no_memory_is_read_or_written(stage, front):
    before = verdicts(stage)
    counted = []
    stage.model.plays(lambda heard: counted.append(verdicts(stage)) or VECTORS)
    stage.client(front, user_id="ann").post("/embeddings", json={"model": "m", "input": "plums"})
    assert counted == [[*before, "ok"]]
    assert not stage._exists(stage.workspace)


@pytest.mark.parametrize("who", ["nothing", "junk", "local", "ann's own cap, altered"])
def test_without_a_good_cap_nothing_is_passed_on(stage, who):
    answer = stage.client(CREDENTIALS[who](stage)).post("/embeddings", json={"model": "m", "input": "x"})
    assert answer.status_code == 401 and stage.model.asked == []


def test_a_cap_without_the_right_to_chat_is_refused(stage):
    answer = stage.client(stage.mint("ann", ops=("get",))).post("/embeddings", json={"model": "m"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cap_op_mismatch")
    assert stage.model.asked == []


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_what_the_endpoint_keeps_is_for_caps_of_every_workspace_and_everybody(stage, method):
    stage.model.plays(Sends(b'{"data":[]}'))
    for who in ("ann's own cap", "a cap of ann and bob", "a cap of everybody"):
        answer = stage.client(CREDENTIALS[who](stage)).request(method, "/files")
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cap_scope_mismatch")
    assert stage.model.asked == []
    wide = stage.front(wid="*")
    assert stage.client(wide).request(method, "/files").json() == {"data": []}
    assert [heard.body["method"] for heard in stage.model.asked] == [method]


@pytest.mark.parametrize(
    "path",
    [
        "/files",
        "/batches",
        "/fine_tuning/jobs",
        "/responses/r-1/cancel",
        "/embeddings/",
        "/embeddings%2F..%2Ffiles",
    ],
)
def test_a_token_of_some_people_asks_models_and_makes_nothing_that_the_endpoint_keeps(stage, front, path):
    stage.model.plays(Sends(b"{}"))
    answer = stage.client(front).post(path, json={"model": "m"})
    assert answer.status_code in (403, 404) and stage.model.asked == []
    assert stage.client(stage.front(wid="*")).post(path, json={"model": "m"}).status_code in (200, 404)


def test_a_setting_opens_further_paths_to_every_token(home):
    with a_stand_in() as model:
        upstreams = (Upstream(model.url, KEY),)
        with a_stage(home, upstreams=upstreams, paths="ocr, /batches/") as stage:
            model.plays(Sends(b"{}"))
            client = stage.client(stage.front())
            told = [
                client.post(path, json={"model": "m"}).status_code for path in ("/ocr", "/batches", "/files")
            ]
    assert told == [200, 200, 403]


def test_the_sdk_lists_files_with_a_cap_of_everybody(stage):
    stage.model.plays(Sends(b'{"object":"list","data":[]}'))
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=stage.front(wid="*")) as client:
        assert client.files.list().data == []


def test_a_stream_comes_as_it_is_sent(stage, front):
    stage.model.plays(Streams((b"data: 1\n\n", b"data: 2\n\n")))
    answer = stage.client(front).post("/completions", json={"model": "parrot-1", "prompt": "x"})
    assert (answer.text, answer.headers["content-type"]) == ("data: 1\n\ndata: 2\n\n", "text/event-stream")


@pytest.mark.parametrize(
    ("base", "query", "whole"),
    [
        ("http://h/v1", "", "http://h/v1"),
        ("http://h/v1", "api-version=1&a=%2F", "http://h/v1?api-version=1&a=%2F"),
        ("http://h/v1?api-version=2", "api-version=1&x", "http://h/v1?api-version=2&x"),
        ("http://h/v1?api-version=2", "api%2Dversion=1", "http://h/v1?api-version=2"),
    ],
)
def test_a_client_s_query_goes_on_and_changes_nothing_of_the_address_s_own(base, query, whole):
    assert asking(base, query) == whole


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/embeddings"])
def test_an_azure_style_query_reaches_the_endpoint(stage, front, path):
    stage.model.plays(VECTORS if path == "/embeddings" else "Noted.")
    body = {**asked("hi"), "input": "hi"}
    assert stage.client(front).post(f"{path}?api-version=2024-10-21", json=body).status_code == 200
    assert [heard.path for heard in stage.model.asked] == [f"/v1{path}?api-version=2024-10-21"]


def test_the_list_of_models_is_asked_for_with_the_client_s_query(stage, front):
    assert stage.client(front).get("/models?api-version=2024-10-21").json()["data"]


def test_of_several_endpoints_the_model_decides_and_the_rest_goes_to_the_one_for_all(home):
    with a_stand_in() as near, a_stand_in() as far:
        upstreams = (Upstream(near.url, prefix="local/", strip=True), Upstream(far.url, KEY))
        with a_stage(home, upstreams=upstreams) as stage:
            near.plays(VECTORS)
            far.plays(VECTORS)
            client = stage.client(stage.front())
            client.post("/embeddings", json={"model": "local/minilm", "input": "x"})
            client.post("/audio/transcriptions", content=b"x")
    assert [heard.raw for heard in near.asked] == [b'{"model":"minilm","input":"x"}']
    assert "authorization" not in near.asked[0].headers
    assert [heard.path for heard in far.asked] == ["/v1/audio/transcriptions"]


def test_an_answer_says_how_many_memories_were_recalled(stage, front):
    first = stage.say(front, "I am allergic to plums.", user="ann")
    assert first.headers["x-souvenance-recalled"] == "0"
    stage.texts(2)
    second = stage.say(front, "Am I allergic to plums or to pears?", user="ann")
    told = stage.heard().count("\n- ")
    assert second.headers["x-souvenance-recalled"] == str(told) and told > 0
    other = stage.say(front, "Am I allergic to plums or to pears?", user="bob")
    assert other.headers["x-souvenance-recalled"] == "0"


def test_an_answer_names_the_messages_that_were_recalled_to_whom_they_may_be_told(stage, front):
    first = stage.say(front, "I am allergic to plums.", user="ann")
    assert IDS not in first.headers
    stage.say(front, "The ferry leaves at six.", user="ann")
    stage.texts(4)
    second = stage.say(front, "Am I allergic to plums or to pears?", user="ann")
    said = {one.id: (one.peer_id, one.content) for one in stage.messages()}
    named = [said[id] for id in second.headers[IDS].split(",")]
    assert ("ann", "I am allergic to plums.") in named
    assert all(text in stage.heard() for _, text in named)
    assert IDS not in stage.say(front, "Am I allergic to plums or to pears?", user="bob").headers
    writer = stage.front(ops=("chat", "put"))
    assert IDS not in stage.say(writer, "Am I allergic to plums or to pears?", user="ann").headers


def test_an_endpoint_can_t_say_what_was_recalled(stage, front):
    stage.model.plays(Sends(b"{}"))
    stage = replace(stage)
    answer = stage.client(front).post("/embeddings", json={"model": "m", "input": "x"})
    assert "x-souvenance-recalled" not in answer.headers
    assert passed_on(httpx.Headers({IDS: "x", "x-request-id": "7"})) == {"x-request-id": "7"}
