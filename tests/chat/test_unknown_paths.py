"""Where no path leads, OpenAI's clients are told so as they read it; the memory's own paths speak as ever."""

from __future__ import annotations

import openai
import pytest

SHAPE = {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "path", ["/embeddings", "/chat", "/chat/completions/", "/assistants/1/files", "/", "/audio/speech"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_is_not_there_is_told_in_openai_s_shape(stage, front, method, path):
    answer = stage.client(front).request(method, path)
    assert answer.status_code == 404
    assert answer.json()["error"].keys() == SHAPE
    assert (answer.json()["error"]["code"], answer.json()["error"]["type"]) == (
        "not_found",
        "invalid_request_error",
    )


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/chat/completions", "POST"),
        ("DELETE", "/responses", "POST"),
        ("POST", "/models", "GET, HEAD"),
        ("DELETE", "/models/parrot-1", "GET, HEAD"),
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


def test_the_sdk_reads_what_it_is_told(stage, front):
    client = openai.OpenAI(base_url=f"{stage.url}/v1", api_key=front)
    with client, pytest.raises(openai.NotFoundError) as refused:
        client.embeddings.create(model="m", input="hi")
    assert refused.value.code == "not_found"
    assert "no such path" in refused.value.message
