"""Several endpoints behind one door: which serves which model, with which key."""

from __future__ import annotations

import openai
import pytest

from chat.stage import a_stage, asked
from model.stand_in import a_stand_in
from souvenance.domain.upstream import Upstream


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    home = tmp_path_factory.mktemp("several") / "home"
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


@pytest.fixture
def three(several):
    for model in several[1:]:
        model.asked.clear()
    return several


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


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt-1", {"id": "gpt-1"}),
        ("llama/small", {"id": "llama/small", "owned_by": "me"}),
        ("llama%2Fsmall", {"id": "llama/small", "owned_by": "me"}),
        ("big-2", {"id": "big-2"}),
    ],
)
def test_a_model_is_told_of_by_the_name_that_leads_to_it(three, name, told):
    stage = three[0]
    answer = stage.client(stage.front()).get(f"/models/{name}")
    assert (answer.status_code, answer.json()) == (200, told)


@pytest.mark.parametrize("name", ["gpt-9", "small", "llama/x", "big-", "gpt-2", "%00"])
def test_a_model_that_no_list_has_is_not_found_as_openai_says_it(three, name):
    stage = three[0]
    answer = stage.client(stage.front()).get(f"/models/{name}")
    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "not_found", None)
    assert "GET /v1/models" in error["message"]


def test_openais_own_client_retrieves_a_model_and_knows_when_there_is_none(stage, front):
    with openai.OpenAI(api_key=front, base_url=f"{stage.url}/v1", max_retries=0) as client:
        assert client.models.retrieve("parrot-1").id == "parrot-1"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("parrot-2")


def test_a_model_is_for_those_with_a_cap_and_an_endpoints_refusal_is_passed_on(home, stage):
    assert stage.client(None).get("/models/parrot-1").status_code == 401
    with a_stage(home / "other", upstreams=(Upstream(f"{stage.model.url}/nowhere"),)) as other:
        refused = other.client(other.front()).get("/models/parrot-1")
        assert refused.status_code == 404
        assert "GET /v1/models" not in refused.text
    with a_stage(home / "gone", upstreams=(Upstream("http://127.0.0.1:9/v1"),)) as gone:
        answer = gone.client(gone.front()).get("/models/parrot-1")
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_unreachable")


def test_a_model_can_be_asked_for_without_its_body(stage, front):
    assert stage.client(front).head("/models/parrot-1").status_code == 200
