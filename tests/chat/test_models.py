"""The models of the endpoint: its list, and one of it."""

from __future__ import annotations

import openai
import pytest

from chat.stage import a_stage
from model.stand_in import a_stand_in
from souvenance.domain.upstream import Upstream

MODELS = [{"id": "llama/x", "owned_by": "me"}, {"no": "id"}, {"id": 7}, {"id": "gpt-1"}]


@pytest.fixture(scope="module")
def listing(tmp_path_factory):
    with a_stand_in() as model:
        model.models = MODELS
        with a_stage(tmp_path_factory.mktemp("listing") / "home", upstream=Upstream(model.url)) as stage:
            yield stage


def test_the_list_is_the_endpoint_s_own(listing):
    answer = listing.client(listing.front()).get("/models").json()
    assert answer["data"] == MODELS


def test_the_list_is_for_those_with_a_cap(stage, front):
    assert stage.client(None).get("/models").status_code == 401
    assert stage.client(front).get("/models").status_code == 200


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt-1", {"id": "gpt-1"}),
        ("llama/x", {"id": "llama/x", "owned_by": "me"}),
        ("llama%2Fx", {"id": "llama/x", "owned_by": "me"}),
    ],
)
def test_a_model_is_told_of_as_the_list_has_it(listing, name, told):
    answer = listing.client(listing.front()).get(f"/models/{name}")
    assert (answer.status_code, answer.json()) == (200, told)


@pytest.mark.parametrize("name", ["gpt-9", "x", "7", "gpt-", "%00"])
def test_a_model_that_the_list_lacks_is_not_found_as_openai_says_it(listing, name):
    answer = listing.client(listing.front()).get(f"/models/{name}")
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
    with a_stage(home / "other", upstream=Upstream(f"{stage.model.url}/nowhere")) as other:
        refused = other.client(other.front()).get("/models/parrot-1")
        assert refused.status_code == 404
        assert "GET /v1/models" not in refused.text
    with a_stage(home / "gone", upstream=Upstream("http://127.0.0.1:9/v1")) as gone:
        answer = gone.client(gone.front()).get("/models/parrot-1")
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_unreachable")
