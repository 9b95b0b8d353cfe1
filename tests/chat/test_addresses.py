"""Addresses of endpoints: what is put behind their path comes before their query, which every call has."""

from __future__ import annotations

import pytest

from chat.stage import a_stage, asked
from model.stand_in import a_stand_in
from souvenance.config import settings_from
from souvenance.domain.upstream import Upstream, below, is_address
from souvenance.errors import Misconfigured

AZURE = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"


@pytest.mark.parametrize(
    ("base", "whole"),
    [
        ("http://host/v1", "http://host/v1/models"),
        ("http://host/v1/", "http://host/v1/models"),
        ("http://host", "http://host/models"),
        ("http://host/?a=1", "http://host/models?a=1"),
        ("http://host/v1?a=1&b=x%2Fy", "http://host/v1/models?a=1&b=x%2Fy"),
        ("http://[::1]:8080/v1?a", "http://[::1]:8080/v1/models?a"),
        ("http://host/a%2Fb?q=/v1/", "http://host/a%2Fb/models?q=/v1/"),
    ],
)
def test_the_path_grows_and_the_query_stays_behind_it(base, whole):
    assert is_address(base)
    assert below(base, "/models") == whole


@pytest.mark.parametrize(
    "url",
    [
        "host/v1",
        "ftp://host/v1",
        "http://user@host/v1",
        "http://host/v1#top",
        "http://[bad/v1",
        "http://host:0/v1",
        "http://host/v1?key=1",
        "http://host/v1?a=1&api-key=k",
        "http://host/v1?Subscription-Key=k",
        "http://host/v1?access_token=t",
    ],
)
def test_an_address_holds_no_secret_and_is_one(url):
    assert not is_address(url)


def test_however_long_an_address_is_it_is_read_at_once():
    assert below("http://host/v1?" + "a=1&" * 100_000, "/models").startswith("http://host/v1/models?a=1&")
    assert not is_address("x" * 1_000_000)


def test_the_settings_take_an_address_like_azure_s(tmp_path):
    given = {
        "SOUVENANCE_CHAT_BASE_URL": AZURE,
        "SOUVENANCE_MODEL_BASE_URL": AZURE,
        "SOUVENANCE_MODEL_NAME": "d",
    }
    found = settings_from(given, str(tmp_path))
    assert [one.url for one in found.chat.upstreams] == [AZURE]
    with pytest.raises(Misconfigured, match="SOUVENANCE_CHAT_BASE_URL"):
        settings_from({"SOUVENANCE_CHAT_BASE_URL": f"{AZURE}&api-key=k"}, str(tmp_path))


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
def test_a_chat_asks_with_the_query_of_the_endpoint_s_address(home, path):
    with a_stand_in() as model:
        with a_stage(home, upstreams=(Upstream(f"{model.url}?api-version=2024-10-21"),)) as stage:
            body = asked("hi") if path != "/responses" else {"model": "parrot-1", "input": "hi"}
            assert stage.client(stage.front()).post(path, json=body).status_code == 200
        assert [one.path for one in model.asked] == [f"/v1{path}?api-version=2024-10-21"]
