"""A host that is newer than we know: it tells its hooks more, has more of them, and reads entry points."""

import importlib.util
import sys
import tomllib
from abc import ABC, abstractmethod
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from mnemon import plugin

GROUP = "hermes_agent.memory_providers"
TURN = [{"role": "user", "content": "I live in Rome."}]

HOOKS = {
    "initialize": ("s1",),
    "initialize_for_inspection": ("s1",),
    "system_prompt_block": (),
    "get_tool_schemas": (),
    "handle_tool_call": ("mnemon_profile", {}),
    "on_turn_start": (1, "Hello."),
    "prefetch": ("Where do I live?",),
    "queue_prefetch": ("Where do I live?",),
    "sync_turn": ("I live in Rome.", "I see."),
    "on_memory_write": ("add", "user", "Lives in Rome."),
    "on_session_switch": ("s2",),
    "on_session_end": (TURN,),
    "on_pre_compress": (TURN,),
    "shutdown": (),
    "get_config_schema": (),
    "save_config": ({"peerName": "ann"},),
    "get_status_config": ({},),
    "backup_paths": (),
}


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_takes_what_it_is_told_beyond_what_it_knows(stage, hook):
    provider, more = stage.provider(), {"turn_author": {"id": "7"}, "not_yet_thought_of": object()}
    if hook == "save_config":
        more["hermes_home"] = str(stage.home)
    getattr(provider, hook)(*HOOKS[hook], **more)


def test_no_public_hook_is_forgotten_here(stage):
    hooks = {name for name in dir(stage.provider()) if not name.startswith("_")}
    assert hooks == {*HOOKS, "name", "is_available", "unavailable_reason"}


TELEGRAM = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:group:5"}


@pytest.mark.parametrize(
    "author, speaker",
    [
        (None, "77"),
        ({"id": "77", "name": "Ann", "is_bot": False}, "77"),
        ({"id": None, "name": "Ann", "is_bot": False}, "77"),
        ({"id": "88", "name": "Bob", "is_bot": False}, "88"),
        ("nothing that is known", "77"),
    ],
)
def test_a_turn_is_theirs_who_wrote_it_by_the_host_s_word(stage, author, speaker):
    stage.provider(**TELEGRAM).sync_turn("I live in Rome.", "", session_id="s1", turn_author=author)
    stage.flush()
    assert [said for texts in stage.sessions().values() for said in texts] == [(speaker, "I live in Rome.")]


def test_what_no_human_wrote_is_nobody_s(stage):
    author = {"id": "plugin:reminder", "name": "Reminder", "is_bot": True}
    stage.provider().sync_turn("Remind the user of the tea.", "", session_id="s1", turn_author=author)
    stage.flush()
    assert not stage.sessions()


def test_an_agent_that_is_only_looked_at_opens_no_way_to_memory(stage):
    provider = stage.provider(begin=False)
    provider.initialize_for_inspection("s1", platform="cli", hermes_home=str(stage.home))
    assert "mnemon_search" in provider.system_prompt_block()
    assert not stage._stations


class NewerMemoryProvider(ABC):
    """What the next version may demand and offer."""

    pre_compress_checkpoint_api_version = 1

    @property
    @abstractmethod
    def name(self): ...

    @abstractmethod
    def is_available(self): ...

    @abstractmethod
    def initialize(self, session_id, **kwargs): ...

    @abstractmethod
    def get_tool_schemas(self): ...

    def recall_status(self):
        return None

    def on_delegation(self, task, result, *, child_session_id="", **kwargs):
        return None


@pytest.fixture
def newer_host(monkeypatch, tmp_path):
    module = ModuleType("agent.memory_provider")
    module.MemoryProvider = NewerMemoryProvider
    monkeypatch.setitem(sys.modules, "agent", ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.memory_provider", module)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    plugin._kind.cache_clear()
    yield
    plugin._kind.cache_clear()


def registered(register):
    found = []
    register(SimpleNamespace(register_memory_provider=found.append))
    [provider] = found
    return provider


@pytest.fixture
def entry_point():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    [(name, value)] = project["project"]["entry-points"][GROUP].items()
    return EntryPoint(name, value, GROUP)


def test_the_entry_point_leads_to_a_provider_of_the_host_s_kind(newer_host, entry_point):
    provider = registered(entry_point.load().register)
    assert isinstance(provider, NewerMemoryProvider)
    assert provider.name == entry_point.name == "mnemon"
    assert provider.is_available()
    assert provider.recall_status() is None
    assert provider.on_delegation("Find the lamp.", "Here.", child_session_id="s2") is None


def under_another_name(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_the_host_reads_beside_the_entry_point_is_there_and_shares_what_a_process_has_once(
    newer_host, entry_point
):
    folder = Path(entry_point.load().__file__).parent
    assert under_another_name(folder / "__init__.py", "_hermes_a.mnemon").register is plugin.register
    commands = under_another_name(folder / "cli.py", "_hermes_a.mnemon_cli")
    assert callable(commands.register_cli)
    assert callable(commands.mnemon_command)
