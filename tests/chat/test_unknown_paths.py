"""Where no path leads, OpenAI's clients are told so as they read it; the memory's own paths speak as ever."""

from __future__ import annotations

import openai
import pytest

from model.stand_in import Fails

SHAPE = {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "path", ["/%2e%2e/admin", "/..%2fadmin", "/files/%2E./x", "/files%5c..%5cx", "/embeddings/%2e"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_leads_out_is_told_in_openai_s_shape_and_asked_of_nobody(stage, method, path):
    answer = stage.client(stage.front(wid="*")).request(method, path)
    assert answer.status_code == 404
    assert answer.json()["error"].keys() == SHAPE
    assert (answer.json()["error"]["code"], answer.json()["error"]["type"]) == (
        "not_found",
        "invalid_request_error",
    )
    assert stage.model.asked == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/chat/completions", "POST"),
        ("DELETE", "/responses", "POST"),
        ("POST", "/models", "GET, HEAD"),
        ("DELETE", "/models/parrot-1", "GET, HEAD"),
        ("OPTIONS", "/embeddings", "DELETE, GET, PATCH, POST, PUT"),
    ],
)
def test_a_method_that_a_path_has_not_is_told_in_openai_s_shape(stage, front, method, path, allowed):
    answer = stage.client(front).request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["error"].keys() == SHAPE
    assert answer.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/memory/put", 405),
        ("GET", "/v1/memory/nothing", 404),
        ("POST", "/v1/status", 405),
        ("GET", "/v1/status/", 404),
        ("GET", "/v1/audit/x", 404),
        ("GET", "/nothing", 404),
        ("GET", "/v3/nothing", 404),
        ("GET", "/v1", 404),
        ("GET", "/v10/models", 404),
    ],
)
def test_the_memory_s_own_paths_refuse_as_ever(stage, front, method, path, status):
    answer = stage.client(front).request(method, f"{stage.url}{path}")
    assert answer.status_code == status
    assert answer.json().keys() == {"error", "detail", "hint"}


def test_the_sdk_reads_what_the_endpoint_says_of_a_path_that_it_has_not(stage, front):
    stage.model.plays(Fails(404, {"error": {"message": "no such route", "code": "unknown_url"}}))
    client = openai.OpenAI(base_url=f"{stage.url}/v1", api_key=front)
    with client, pytest.raises(openai.NotFoundError) as refused:
        client.embeddings.create(model="m", input="hi")
    assert refused.value.code == "unknown_url"
