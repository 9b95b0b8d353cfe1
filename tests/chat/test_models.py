"""Several endpoints behind one door: which serves which model, with which key."""

from __future__ import annotations

import pytest

from chat.stage import a_stage, asked
from mnemon.domain.upstream import Upstream
from model.stand_in import a_stand_in


@pytest.fixture
def three(home):
    with a_stand_in() as plain, a_stand_in() as local, a_stand_in() as other:
        plain.models = [{"id": "gpt-1"}, {"id": "llama/x"}, {"id": "big-2"}, {"no": "id"}]
        local.models = [{"id": "small", "owned_by": "me"}]
        other.models = [{"id": "big-2"}, {"id": "gpt-2"}]
        upstreams = (
            Upstream(plain.url, "key-1"),
            Upstream(local.url, "key-2", "llama/", True),
            Upstream(other.url, None, "big-"),
        )
        with a_stage(home, upstreams=upstreams) as stage:
            yield stage, plain, local, other


def test_the_longest_prefix_decides_and_every_key_goes_to_its_own_endpoint(three):
    stage, plain, local, other = three
    client = stage.client(stage.front())
    for model in ("gpt-1", "llama/small", "big-2"):
        assert client.post("/chat/completions", json={**asked("hi"), "model": model}).status_code == 200
    heard = [
        (one.asked[0].body["model"], one.asked[0].headers.get("authorization"))
        for one in (plain, local, other)
    ]
    assert heard == [("gpt-1", "Bearer key-1"), ("small", "Bearer key-2"), ("big-2", None)]
    assert all(len(one.asked) == 1 for one in (plain, local, other))


def test_the_lists_are_one_under_names_that_lead_back(three):
    stage = three[0]
    answer = stage.client(stage.front()).get("/models").json()
    assert answer["object"] == "list"
    assert answer["data"] == [{"id": "gpt-1"}, {"id": "llama/small", "owned_by": "me"}, {"id": "big-2"}]


def test_a_list_that_is_missing_takes_none_of_the_others_away(home):
    with a_stand_in() as plain:
        upstreams = (Upstream(plain.url), Upstream("http://127.0.0.1:9/v1", None, "x-"))
        with a_stage(home, upstreams=upstreams) as stage:
            client = stage.client(stage.front())
            assert [model["id"] for model in client.get("/models").json()["data"]] == ["parrot-1"]


def test_a_model_that_nobody_serves_is_not_found(home):
    with a_stand_in() as one, a_stage(home, upstreams=(Upstream(one.url, None, "gpt-"),)) as stage:
        answer = stage.say(stage.front(), "hi")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_the_list_is_for_those_with_a_cap(stage, front):
    assert stage.client(None).get("/models").status_code == 401
    assert stage.client(front).get("/models").status_code == 200
