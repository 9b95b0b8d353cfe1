"""A server with a model behind it, as its clients and its owner meet it."""

from __future__ import annotations

import json
import subprocess
import threading
import time

import httpx
import pytest

from environments import client_program
from model.brain import honest
from model.stand_in import NAME, Fails, Hangs, Says, a_stand_in
from processes import PATIENCE_SECONDS, until
from surfaces.door import serving, souvenance

W = "/v3/workspaces/w"


@pytest.fixture(scope="module")
def endpoint():
    with a_stand_in() as found:
        yield found


@pytest.fixture(scope="module")
def settings(endpoint):
    return {
        "SOUVENANCE_MODEL_BASE_URL": endpoint.url,
        "SOUVENANCE_MODEL_NAME": NAME,
        "SOUVENANCE_MODEL_CALLS_PER_DAY": "500",
        "SOUVENANCE_MODEL_API_KEY": "sesame",
        "SOUVENANCE_MODEL_QUIET_SECONDS": "1",
    }


@pytest.fixture(scope="module")
def server(endpoint, settings, tmp_path_factory):
    endpoint.plays(honest)
    with serving(tmp_path_factory.mktemp("served") / "home", **settings) as found:
        said = [{"peer_id": "ann", "content": "I live in Lisbon and I work as a nurse."}]
        assert found.owner.post(f"{W}/sessions/s/messages", json={"messages": said}).status_code == 201
        _settled(found)
        yield found


def _settled(server):
    def done():
        queue = server.owner.get(f"{W}/queue/status").json()
        return queue["completed_work_units"] == queue["total_work_units"]

    until(done)


def test_tokens_are_told_as_the_model_makes_them(server, endpoint):
    heard = threading.Event()
    waited = []

    def before(piece):
        if piece == 1:
            waited.append(heard.wait(PATIENCE_SECONDS))

    endpoint.plays(Says(pieces=("She lives in Lisbon", ", where she works as a nurse [s1]."), before=before))
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        asked = {"query": "Where does ann live?", "stream": True}
        headers = {"authorization": f"Bearer {server.owner_cap}"}
        with client.stream("POST", f"{W}/peers/ann/chat", json=asked, headers=headers) as answer:
            events = []
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    events.append(json.loads(line[5:]))
                    heard.set()
    assert waited == [True]
    assert [one["delta"]["content"] for one in events[:-1]] == [
        "She lives in Lisbon",
        ", where she works as a nurse.",
    ]
    assert events[-1]["done"] is True


SDK = """
import sys
from honcho import Honcho
honcho = Honcho(base_url=sys.argv[1], api_key=sys.argv[2], workspace_id="w")
ann = honcho.peer("ann")
print(ann.chat("Where does ann live?"))
told = ann.chat("Where does ann live?", include_evidence=True)
print(len(told.evidence.conclusions) + len(told.evidence.messages) > 0)
print("".join(ann.chat_stream("Where does ann live?")))
print(ann.chat("What about quasars?"))
"""


def test_an_unmodified_client_reads_what_a_model_answers(server, endpoint):
    endpoint.plays(honest)
    told = subprocess.run(
        [client_program("honcho-2.7.0"), "-c", SDK, server.url, server.owner_cap],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.returncode == 0, told.stderr
    first, evidence, streamed, nothing = told.stdout.strip().splitlines()
    assert "Lisbon" in first
    assert (evidence, nothing) == ("True", "None")
    assert "Lisbon" in streamed


def test_the_status_tells_who_reasons_and_what_is_left(server, settings):
    told = souvenance("--workspace", "w", "status", home=server.home, settings=settings)
    assert f"model {NAME} (derive, summarise, answer)" in told.out
    answer = souvenance("--workspace", "w", "--json", "status", home=server.home, settings=settings).json()
    assert answer["reasoner"] == f"model {NAME}"
    assert answer["model"]["tasks"] == dict.fromkeys(("derive", "summarise", "answer"), NAME)
    left = answer["model"]["left"]["calls_today"]
    assert 400 < left < 500
    served = souvenance("--workspace", "w", "--json", "status", home=server.home, url=server.url).json()
    assert served["model"]["left"]["calls_today"] == left


def test_anybody_may_know_that_there_is_a_model_and_no_more(server):
    told = httpx.get(f"{server.url}/health", trust_env=False, timeout=PATIENCE_SECONDS).json()
    assert (told["reasoner"], told["model"]) == ("model", "ok")
    assert NAME not in str(told)


def test_without_a_model_the_status_says_so(tmp_path):
    souvenance("init", home=tmp_path / "home")
    answer = souvenance("--json", "status", home=tmp_path / "home").json()
    assert (answer["reasoner"], answer["model"]) == ("quotes", None)


def test_a_server_stops_though_the_model_hangs(endpoint, settings, tmp_path):
    released = threading.Event()
    endpoint.plays(Hangs(released))
    asked = len(endpoint.asked)
    with serving(tmp_path / "home", **settings) as server:
        said = [{"peer_id": "ann", "content": "I live in Lisbon."}]
        server.owner.post(f"{W}/sessions/s/messages", json={"messages": said})
        endpoint.wait(asked + 1)
        started = time.monotonic()
        finished = server.stop()
        assert time.monotonic() - started < PATIENCE_SECONDS / 2
    released.set()
    assert finished.exit_code == 0
    endpoint.plays(honest)
    with serving(tmp_path / "home", **settings) as server:
        _settled(server)
        assert "Lisbon" in server.owner.post(f"{W}/conclusions/list", json={}).text


def test_nobody_who_writes_waits_for_a_model(endpoint, settings, tmp_path):
    released = threading.Event()
    said = {"messages": [{"peer_id": "ann", "content": "I live in Lisbon."}]}
    asked = {"query": "Where does ann live?"}
    endpoint.plays(honest)
    with serving(tmp_path / "home", **settings) as server:
        server.owner.post(f"{W}/sessions/s/messages", json=said)
        _settled(server)
        endpoint.plays(Hangs(released))
        before = len(endpoint.asked)
        chats = [
            threading.Thread(
                target=server.client(server.owner_cap).post,
                args=(f"{W}/peers/ann/chat",),
                kwargs={"json": asked},
            )
            for _ in range(12)
        ]
        for chat in chats:
            chat.start()
        endpoint.wait(before + len(chats))
        assert server.owner.post(f"{W}/sessions/s/messages", json=said).status_code == 201
        released.set()
        for chat in chats:
            chat.join()


def test_the_log_says_what_went_without_the_model_and_never_the_key(endpoint, settings, tmp_path):
    endpoint.plays(Fails(401, {"error": "sesame is wrong"}))
    with serving(tmp_path / "home", **settings) as server:
        said = [{"peer_id": "ann", "content": "I live in Lisbon."}]
        server.owner.post(f"{W}/sessions/s/messages", json={"messages": said})
        server.process.complained("waits for the model: the model's endpoint answered 401")
        finished = server.stop()
    assert "sesame" not in finished.err
