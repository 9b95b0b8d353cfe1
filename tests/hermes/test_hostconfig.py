"""Hermes' own settings: we name ourselves in them and leave all else alone, and find its gateways there."""

from __future__ import annotations

import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from souvenance.errors import Misconfigured
from souvenance.hermes.setup.profiles import choose_provider, profile_at, provider_in
from souvenance.hermes.setup.wizard import gateways


class TestTheSettingsOfHermes:
    CONFIG = (
        "# mine\nmodel: x  # best\nmemory:\n    # how\n    memory_enabled: true\n"
        "    provider: honcho  # old\nlast: 1\n"
    )

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (CONFIG, CONFIG.replace("honcho  #", "souvenance  #")),
            (CONFIG.replace("    provider: honcho  # old\n", ""), None),
            ("", "memory:\n  provider: souvenance\n"),
            ("a: 1", "a: 1\nmemory:\n  provider: souvenance\n"),
            ("memory: {}\nb: 2\n", "memory: {provider: souvenance}\nb: 2\n"),
            ("memory: {provider: x}\n", "memory: {provider: souvenance}\n"),
            ("memory: &a\n  b: 1\n", "memory: &a\n  provider: souvenance\n  b: 1\n"),
            ("memory:\r\n  provider: ''\r\n", "memory:\r\n  provider: souvenance\r\n"),
            (
                "memory:  # empty\n\nb:\n- memory:\n",
                "memory: {provider: souvenance}  # empty\n\nb:\n- memory:\n",
            ),
            ("other:\n  memory:\n    provider: x\n", None),
            ('{"memory": {"provider": "honcho"}, "b": [1]}', None),
        ],
    )
    def test_name_us_and_are_otherwise_as_they_were(self, tmp_path, before, after):
        path = tmp_path / "config.yaml"
        path.write_bytes(before.encode())
        settings = yaml.safe_load(before) or {}
        expected = {**settings, "memory": {**(settings.get("memory") or {}), "provider": "souvenance"}}
        assert choose_provider(path, "souvenance")
        assert yaml.safe_load(path.read_text()) == expected
        if after is not None:
            assert path.read_bytes().decode() == after
        assert all(line in path.read_text() for line in before.splitlines() if line.startswith("#"))
        assert not choose_provider(path, "souvenance")

    @pytest.mark.parametrize("text", ["memory: [1]\n", "a: &a\n  b: 1\nmemory: *a\n", "[1]\n", "a: ["])
    def test_in_a_style_that_can_not_be_changed_safely_are_left_alone(self, tmp_path, text):
        path = tmp_path / "config.yaml"
        path.write_text(text)
        with pytest.raises(Misconfigured) as told:
            choose_provider(path, "souvenance")
        assert told.value.hint == "Run: hermes config set memory.provider souvenance"
        assert path.read_text() == text

    def test_are_left_alone_where_there_is_no_yaml_library(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "yaml", None)
        path = tmp_path / "config.yaml"
        path.write_text("a: 1\n")
        with pytest.raises(Misconfigured) as told:
            choose_provider(path, "souvenance")
        assert told.value.hint == "Run: hermes config set memory.provider souvenance"
        assert provider_in(path) == ""

    def test_keep_their_rights_and_their_link(self, tmp_path):
        real = tmp_path / "real.yaml"
        real.write_text("a: 1\n")
        real.chmod(0o640)
        link = tmp_path / "config.yaml"
        link.symlink_to(real)
        choose_provider(link, "souvenance")
        assert link.is_symlink()
        assert real.stat().st_mode & 0o777 == 0o640
        assert provider_in(real) == "souvenance"


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text(max_size=12))
KEYS = st.sampled_from(["memory", "provider", "a", "b c", "d-e", "'", "#"])
CONFIGS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


@given(CONFIGS, st.booleans(), st.integers(1, 6))
def test_no_settings_file_is_ever_harmed(tmp_path_factory, said, flow, indent):
    path = tmp_path_factory.mktemp("any") / "config.yaml"
    text = "# first\n" + yaml.safe_dump(said, default_flow_style=flow, indent=max(indent, 2)) + "# last\n"
    path.write_text(text)
    try:
        choose_provider(path, "souvenance")
    except Misconfigured:
        assert path.read_text() == text
        return
    memory = said.get("memory") or {}
    assert yaml.safe_load(path.read_text()) == {**said, "memory": {**memory, "provider": "souvenance"}}
    assert "# first\n" in path.read_text()
    assert "# last\n" in path.read_text()


class TestGateways:
    @pytest.mark.parametrize(
        ("config", "environment", "found"),
        [
            ("", {}, []),
            ("", {"TELEGRAM_BOT_TOKEN": "t", "SIGNAL_HTTP_URL": "u"}, ["telegram"]),
            ("", {"API_SERVER_ENABLED": "true"}, ["api_server"]),
            ("", {"API_SERVER_ENABLED": "false", "WHATSAPP_ENABLED": "0"}, []),
            ("platforms:\n  telegram:\n    enabled: false\n", {"TELEGRAM_BOT_TOKEN": "t"}, []),
            ("gateway:\n  platforms:\n    slack:\n      enabled: true\n", {}, ["slack"]),
            ("discord:\n  enabled: true\n", {}, ["discord"]),
            ("platforms:\n  newer:\n    enabled: true\n  webhook:\n    enabled: true\n", {}, ["newer"]),
            ("platforms: 7\ngateway: x\n", {}, []),
            ("a: [", {}, []),
        ],
    )
    def test_are_found_where_hermes_would_find_them(self, tmp_path, config, environment, found):
        (tmp_path / "config.yaml").write_text(config)
        assert gateways(profile_at(tmp_path), environment) == found

    def test_are_found_in_the_older_file_too(self, tmp_path):
        (tmp_path / "gateway.json").write_text('{"platforms": {"matrix": {"enabled": true}}}')
        assert gateways(profile_at(tmp_path), {}) == ["matrix"]
