"""The stand-in for hosts refuses what they refuse: else a test that passes against it would say nothing."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

from hermes.newer_host import (
    LEVELS,
    Collector,
    Installer,
    IsolatedProvider,
    Loader,
    RecallStatus,
    Refused,
    modules,
    plain,
    read_manifest,
)
from hermes.plugin_folder import FOLDER


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(FOLDER, tmp_path / "souvenance"))


def declare(folder, **changed):
    (folder / "plugin.yaml").write_text(yaml.safe_dump(read_manifest(folder) | changed))


class TestTheInstaller:
    @pytest.mark.parametrize("version", ["0.19.0", "0.20.1", "0.20.5", "0.21.0", "0.21.3"])
    def test_of_an_older_release_refuses_the_second_manifest(self, folder, tmp_path, version):
        with pytest.raises(Refused, match="manifest_version up to 1"):
            Installer(version).install(folder, tmp_path / "home")
        assert not (tmp_path / "home").exists()

    @pytest.mark.parametrize("version", ["0.21.4", "0.21.5", "0.22.0", "1.0.0"])
    def test_of_a_newer_release_places_the_folder_and_the_host_loads_it(
        self, folder, tmp_path, monkeypatch, version
    ):
        placed = Installer(version).install(folder, tmp_path / "home")
        for name, module in modules("0.21").items():
            monkeypatch.setitem(sys.modules, name, module)
        assert Loader("0.21").load(placed).provider.name == "souvenance"

    @pytest.mark.parametrize(
        "changed, why",
        [
            ({"manifest_version": 3}, "up to 2"),
            ({"requires_hermes": ">=99"}, "requires hermes"),
            ({"requires_hermes": "newest"}, "requires hermes"),
            ({"name": "builtin"}, "may be called"),
            ({"capability": []}, "unknown field"),
            ({"capabilities": ["memory.everything"]}, "unknown capability"),
        ],
    )
    def test_refuses_a_manifest_that_the_host_refuses(self, folder, tmp_path, changed, why):
        declare(folder, **changed)
        with pytest.raises(Refused, match=why):
            Installer("0.21.4").install(folder, tmp_path / "home")

    @pytest.mark.parametrize(
        "line",
        [
            "sys.modules['agent'] = None",
            "sys.modules.update(agent=None)",
            "setattr(agent, 'x', 1)",
            "del sys.modules['x']",
        ],
    )
    def test_refuses_code_that_changes_the_host(self, folder, tmp_path, line):
        with (folder / "cli.py").open("a") as file:
            file.write(f"\n\ndef later():\n    {line}\n")
        with pytest.raises(Refused, match=r"cli\.py, line"):
            Installer("0.21.4").install(folder, tmp_path / "home")


class TestTheCollector:
    @pytest.mark.parametrize("level", LEVELS[1:])
    @pytest.mark.parametrize(
        "call, given",
        [
            ("register_tool", ("terminal", False)),
            ("register_hook", ("pre_tool_call", False)),
            ("register_tool", ("souvenance_search", True)),
        ],
    )
    def test_refuses_what_is_not_declared(self, folder, level, call, given):
        collector = Collector(level, folder)
        with pytest.raises(Refused, match="not declared"):
            getattr(collector, call)(given[0], override=given[1])
        assert collector.registered == []

    @pytest.mark.parametrize("level", LEVELS[1:])
    def test_takes_what_is_declared(self, folder, level):
        declare(folder, capabilities=["tools.override"], provides_hooks=["pre_tool_call"])
        collector = Collector(level, folder)
        collector.register_tool("souvenance_search", override=True)
        collector.register_hook("pre_tool_call")
        assert len(collector.registered) == 2

    @pytest.mark.parametrize("level", LEVELS)
    def test_has_nothing_that_the_level_does_not_offer(self, folder, level):
        with pytest.raises(AttributeError):
            Collector(level, folder).register_platform("irc")


@dataclass
class Thing:
    count: int = 1


class Word(str):
    __slots__ = ()


class TestTheWire:
    @pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [1, ["b"]], {"a": {"b": [None]}}])
    def test_plain_data_crosses_as_it_is(self, value):
        assert plain(value) == value

    @pytest.mark.parametrize(
        "value",
        [
            (1,),
            {1},
            b"a",
            Path("a"),
            Thing(),
            Word("a"),
            {1: "a"},
            float("nan"),
            object(),
            RecallStatus("a", 1),
            [print],
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_nothing_else_does(self, value):
        with pytest.raises(Refused):
            plain(value)
        with pytest.raises(Refused):
            plain({"deep": [value]})

    def test_it_is_refused_before_it_is_sent(self, tmp_path):
        provider = IsolatedProvider("0.21", tmp_path, {})
        with pytest.raises(Refused):
            provider.initialize("s1", hermes_home=tmp_path)
        assert provider.starts == 0

    def test_a_single_module_is_refused(self):
        with pytest.raises(Refused):
            Loader("0.21").load_entry_point(EntryPoint("souvenance", "souvenance.plugin", "a"), isolated=True)
