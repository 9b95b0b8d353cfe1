"""The settings of the chat door: what they become, and which are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from souvenance.config import settings_from
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.errors import Misconfigured

LISTED = """
[[upstream]]
base_url = "http://one/v1/"
prefix = "gpt-"
api_key = "k1"

[[upstream]]
base_url = "https://two/v1"
prefix = "gpt-5"
strip_prefix = true
"""


def chat(home, **more):
    return settings_from(
        {f"SOUVENANCE_CHAT_{name.upper()}": value for name, value in more.items()}, str(home)
    ).chat


def test_without_any_there_is_no_door(home):
    assert chat(home) == ChatSettings()
    assert not chat(home).upstreams


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
        (Upstream("http://host:1/v1", "k"),),
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


def test_a_file_lists_several_beside_the_one_that_serves_the_rest(home, tmp_path):
    home.mkdir()
    (home / "endpoints.toml").write_text(LISTED)
    found = chat(home, file="endpoints.toml", base_url="http://rest/v1")
    rest, one, two = found.upstreams
    assert (one, two) == (
        Upstream("http://one/v1", "k1", "gpt-"),
        Upstream("https://two/v1", None, "gpt-5", True),
    )
    assert [found.serving(name) for name in ("gpt-4", "gpt-5x", "other", "")] == [one, two, rest, rest]
    assert two.named("gpt-5x") == "x"
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(LISTED)
    assert chat(home, file=str(elsewhere)).serving("other") is None


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
        {"file": "missing.toml"},
        {"made_up": "1"},
    ],
    ids=str,
)
def test_a_bad_one_is_refused_by_its_name(home, more):
    with pytest.raises(Misconfigured) as refused:
        chat(home, **more)
    assert f"SOUVENANCE_CHAT_{next(iter(more)).upper()}" in refused.value.detail


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "",
        "[[upstream]]\nprefix = 'x'",
        "[[upstream]]\nbase_url = 'x'",
        "[[upstream]]\nbase_url = 'http://h/v1'\nkey = 'x'",
        "[[upstream]]\nbase_url = 'http://h/v1'\n[[upstream]]\nbase_url = 'http://i/v1'",
        "[[upstream]]\nbase_url = 7",
    ],
)
def test_a_bad_file_is_refused_and_its_keys_are_not_told(home, text):
    home.mkdir()
    (home / "f.toml").write_text(text)
    with pytest.raises(Misconfigured) as refused:
        chat(home, file="f.toml")
    assert "SOUVENANCE_CHAT_FILE" in refused.value.detail


def test_the_file_on_the_page_names_two_endpoints(home, tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs/reference/chat.md").read_text("utf-8")
    home.mkdir()
    (home / "f.toml").write_text(re.search(r"^```toml\n(.*?)^```$", page, re.M | re.S)[1])
    monkeypatch.setenv("HOME", str(tmp_path))
    key = tmp_path / "models.key"
    key.write_text("k")
    key.chmod(0o600)
    found = chat(home, file="f.toml")
    assert [found.serving(model).named(model) for model in ("gpt-5", "local/qwen")] == ["gpt-5", "qwen"]
    assert found.serving("other") is None
