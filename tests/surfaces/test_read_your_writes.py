"""What was just written is found by the next request, in every door.

No work is done behind the requests here: a line that shares no word with the question has no vector but the
one that is made for the question. The model is the packaged one.
"""

from __future__ import annotations

import pytest

import stores
from chat.stage import MODEL, Stage
from front_door.memories import OPENS, in_folder
from mcp_door.served import Hosted
from model.stand_in import a_stand_in
from processes import PATIENCE_SECONDS, run_souvenance
from running import running
from souvenance.config import settings_from
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.chat.door import ChatDoor
from souvenance.surfaces.mcp.door import McpDoor

SAID = "Rex the terrier chewed up my slippers"
ASKED = "what did the dog destroy?"
BESIDES = ("The train to Graz leaves at nine", "Lunch with Petra was in the old harbour")


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    home = tmp_path_factory.mktemp("written") / "home"
    installation = open_installation(
        settings_from({"SOUVENANCE_EMBEDDER": "packaged", **stores.settings_of(home)}, str(home))
    )
    try:
        with a_stand_in() as model:
            chat = ChatSettings((Upstream(model.url, "key"),), wait_ms=PATIENCE_SECONDS * 1000)
            doors = [McpDoor(), ChatDoor(chat, cap=installation.owner_cap)]
            with running(make_app(installation.gate, doors=doors)) as url:
                found = Stage(installation, model, url)
                try:
                    yield found
                finally:
                    found.close()
    finally:
        installation.close()


def post(stage, cap, path, body):
    answer = stage.client(cap).post(f"{stage.url}{path}", json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def test_the_memory_api_finds_what_was_put(stage):
    cap = stage.mint("memory")
    for text in (*BESIDES, SAID):
        post(stage, cap, "/v1/memory/put", {"text": text})
    first = post(stage, cap, "/v1/memory/get", {"query": ASKED})["lines"][0]
    assert (first["text"], first["matched"]) == (SAID, True)


def test_a_conclusion_is_found_by_the_query_that_follows_it(stage):
    cap = stage.mint("front", peers=("*",))
    base = "/v3/workspaces/default"
    post(stage, cap, f"{base}/peers", {"id": "concluded"})
    for text in (*BESIDES, SAID):
        stated = {"content": text, "observer_id": "concluded", "observed_id": "concluded"}
        post(stage, cap, f"{base}/conclusions", {"conclusions": [stated]})
    whose = {"observer": "concluded", "observed": "concluded"}
    found = post(stage, cap, f"{base}/conclusions/query", {"query": ASKED, "top_k": 1, "filters": whose})
    assert [one["content"] for one in found] == [SAID]


def test_a_message_is_found_by_the_search_that_follows_it(stage):
    cap = stage.mint("front", peers=("*",))
    base = "/v3/workspaces/default/sessions/found"
    for text in (*BESIDES, SAID):
        post(stage, cap, f"{base}/messages", {"messages": [{"content": text, "peer_id": "speaker"}]})
    found = post(stage, cap, f"{base}/search", {"query": ASKED, "limit": 1})
    assert [one["content"] for one in found] == [SAID]


def test_a_turn_at_the_chat_door_is_recalled_by_the_next(stage):
    cap = stage.mint("chatting")
    for text in (*BESIDES, SAID):
        assert stage.say(cap, text, key="one").status_code == 200
    assert stage.say(cap, ASKED, key="one").status_code == 200
    assert SAID in stage.heard()
    assert stage.model.asked[-1].body["model"] == MODEL


def test_mcp_recalls_what_was_remembered(stage):
    server = Hosted(stage.installation, stage.url)
    cap = stage.mint("client")
    for text in (*BESIDES, SAID):
        server.tool(cap, "remember", statements=[text])
    assert SAID in server.tool(cap, "recall", question=ASKED)["lines"][0]["text"]


@pytest.mark.parametrize("way", OPENS)
@pytest.mark.parametrize("where", ["folder", "server"])
def test_a_program_finds_what_it_put_concluded_and_said(stage, home, way, where):
    if where == "folder":
        given = {**in_folder(home), "embedder": "packaged"}
    else:
        given = {"url": stage.url, "token": stage.mint(f"program-{way}", peers=("*",))}
    with OPENS[way](**given) as memory:
        peer, session = memory.peer(f"said-{way}"), memory.session(f"open-{way}")
        for text in (*BESIDES, SAID):
            memory.put(text)
            peer.conclude(text)
            peer.session(f"open-{way}").add(text)
        assert memory.get(ASKED)[0].text == SAID
        assert peer.conclusions(ASKED)[0].text == SAID
        assert session.search(ASKED, limit=1)[0].text == peer.search(ASKED, limit=1)[0].text == SAID


def test_the_command_line_finds_what_another_process_put(home):
    for text in (*BESIDES, SAID):
        run_souvenance("put", text, home=home)
    found = run_souvenance("get", ASKED, home=home).stdout
    assert SAID in found.splitlines()[0]
