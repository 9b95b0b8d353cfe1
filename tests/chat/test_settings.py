"""The settings of the chat door: what they become, and which are refused."""

from __future__ import annotations

import pytest

from souvenance.config import settings_from
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.errors import Misconfigured


def chat(home, **more):
    return settings_from(
        {f"SOUVENANCE_CHAT_{name.upper()}": value for name, value in more.items()}, str(home)
    ).chat


def test_without_any_there_is_no_door(home):
    assert chat(home) == ChatSettings()
    assert chat(home).upstream is None


def test_each_has_its_place(home):
    found = chat(
        home,
        base_url="http://host:1/v1/",
        api_key="k",
        user_field="0",
        when_store_is_down="pass_without_memory",
        workspace="w",
        namespace="talk",
        assistant="helper",
        context_tokens="1",
        transcript_tokens="2",
        wait_ms="3",
        timeout_seconds="4",
    )
    assert found == ChatSettings(
        Upstream("http://host:1/v1", "k"),
        False,
        "pass_without_memory",
        "w",
        "talk",
        "helper",
        1,
        2,
        3,
        4,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"base_url": "host/v1"},
        {"base_url": "ftp://host/v1"},
        {"base_url": "http://user@host/v1"},
        {"base_url": "http://host/v1?key=1"},
        {"base_url": "http://[bad/v1"},
        {"api_key": "k"},
        {"user_field": "yes"},
        {"when_store_is_down": "pass"},
        {"workspace": "a b"},
        {"namespace": "Talk!"},
        {"assistant": "a:b"},
        {"assistant": "user"},
        {"context_tokens": "0"},
        {"wait_ms": "1.5"},
        {"transcript_tokens": "100001"},
        {"timeout_seconds": "-1"},
        {"made_up": "1"},
    ],
    ids=str,
)
def test_a_bad_one_is_refused_by_its_name(home, more):
    with pytest.raises(Misconfigured) as refused:
        chat(home, **more)
    assert f"SOUVENANCE_CHAT_{next(iter(more)).upper()}" in refused.value.detail
