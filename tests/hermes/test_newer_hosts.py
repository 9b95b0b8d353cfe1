"""A host that is newer than we know: it tells its hooks more, has more of them, and reads entry points."""

import importlib.util
import sys
import tomllib
from abc import ABC, abstractmethod
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from hermes.host_fake import RecallStatus
from hermes.newer_host import Loader, modules
from souvenance import plugin

GROUP = "hermes_agent.memory_providers"
TURN = [{"role": "user", "content": "I live in Rome."}]

HOOKS = {
    "initialize": ("s1",),
    "system_prompt_block": (),
    "get_tool_schemas": (),
    "handle_tool_call": ("souvenance_profile", {}),
    "on_turn_start": (1, "Hello."),
    "prefetch": ("Where do I live?",),
    "sync_turn": ("I live in Rome.", "I see."),
    "on_memory_write": ("add", "user", "Lives in Rome."),
    "on_session_switch": ("s2",),
    "recall_status": (),
    "identity_signature": (),
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
    properties = {"name", "is_available", "unavailable_reason", "pre_compress_checkpoint_api_version"}
    assert hooks == {*HOOKS, *properties}


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


GROUP_OF_THREE = {"77": "Ann lives in Rome.", "88": "Bob lives in Oslo.", "99": "Cem lives in Izmir."}


@pytest.fixture
def group(stage):
    """A chat of three, of whom each has told where they live; the agent is that of the first."""
    provider = stage.provider(**TELEGRAM)
    for author, text in GROUP_OF_THREE.items():
        provider.sync_turn(text, "", session_id="s1", turn_author={"id": author, "is_bot": False})
    stage.flush()
    return stage.provider("s2", **TELEGRAM)


def asks(provider, message, **author):
    provider.on_turn_start(1, message, **author)
    return provider.prefetch(message)


def those_in(told):
    return [author for author, text in GROUP_OF_THREE.items() if text.split()[-1] in told]


@pytest.mark.parametrize("author", GROUP_OF_THREE)
def test_a_turn_recalls_what_is_known_of_who_wrote_it_by_the_host_s_word(group, author):
    told = asks(group, "Where do I live?", author_id=author, author_name="Somebody", author_is_bot=False)
    assert those_in(told) == [author]


@pytest.mark.parametrize("author", GROUP_OF_THREE)
def test_a_tool_is_used_for_who_wrote_the_turn(group, author):
    group.on_turn_start(1, "Where do I live?", author_id=author, author_is_bot=False)
    assert those_in(group.handle_tool_call("souvenance_search", {"query": "lives in"})) == [author]


def test_the_compressor_is_told_of_who_wrote_the_turn(group):
    group.on_turn_start(1, "Where do I live?", author_id="88", author_is_bot=False)
    assert those_in(group.on_pre_compress([{"role": "user", "content": "Where do I live?"}])) == ["88"]


def test_one_s_own_turn_comes_after_another_s_without_a_trace_of_it(group):
    asks(group, "Where do I live?", author_id="88", author_is_bot=False)
    assert those_in(asks(group, "Where do I live?")) == ["77"]


def test_what_no_human_asks_is_answered_from_nobody_s_memory(group):
    bot = {"author_id": "bot:elsewhere/scout", "author_is_bot": True}
    assert asks(group, "Where does Ann live?", **bot) == ""
    assert "error" in group.handle_tool_call("souvenance_search", {"query": "lives in"})


@pytest.mark.parametrize("key", [{}, {"gateway_session_key": "team-chat"}], ids=["no key", "a key"])
def test_a_host_without_ids_of_its_own_still_says_who_wrote_a_turn(stage, key):
    """As over HTTP, where the caller names the author of each message."""
    provider = stage.provider(platform="api_server", **key)
    for author, text in GROUP_OF_THREE.items():
        provider.sync_turn(text, "", session_id="s1", turn_author={"id": author, "is_bot": False})
    stage.flush()
    provider = stage.provider("s2", "api_server", **key)
    for author in GROUP_OF_THREE:
        assert those_in(asks(provider, "Where do I live?", author_id=author, author_is_bot=False)) == [author]


def test_over_http_an_author_is_a_claim_that_reaches_nobody_of_another_platform(stage):
    stage.configure(userPeerAliases={"7": "ann", "user:9": "ann"})
    stage.tell(stage.provider(), "I live in Rome.")
    caller = stage.provider("s2", "api_server", gateway_session_key="user:ann:chat")
    for author in ("7", "ann", "user:9", "7:user:9"):
        assert "Rome" not in asks(caller, "Where do I live?", author_id=author, author_is_bot=False)
    assert "Rome" in asks(caller, "Where do I live?", author_id="9", author_is_bot=False), "an alias says so"


def test_at_one_s_own_terminal_nobody_else_writes(stage):
    stage.provider().sync_turn("I live in Rome.", "", turn_author={"id": "uid-1000", "is_bot": False})
    stage.flush()
    assert "Rome" in asks(stage.provider("s2"), "Where do I live?", author_id="uid-1000", author_is_bot=False)


def test_what_no_human_wrote_is_nobody_s(stage):
    author = {"id": "plugin:reminder", "name": "Reminder", "is_bot": True}
    stage.provider().sync_turn("Remind the user of the tea.", "", session_id="s1", turn_author=author)
    stage.flush()
    assert not stage.sessions()


def test_a_session_is_named_after_the_directory_that_the_host_works_in(stage, tmp_path):
    stage.tell(stage.provider(cwd=str(tmp_path / "harbour")), "I live in Rome.")
    assert [*stage.sessions()] == ["harbour"]


@pytest.mark.parametrize("source, name", [("user", "Moving"), ("derived", "project"), ("llm", "project")])
def test_a_title_that_the_host_made_up_names_no_session(stage, source, name):
    stage.tell(stage.provider(session_title="Moving", session_title_source=source), "I live in Rome.")
    assert [*stage.sessions()] == [name]


@pytest.mark.parametrize("context", ["cron", "subagent", "flush"])
def test_what_no_person_began_leaves_no_session_and_is_told_nothing(stage, context):
    stage.tell(stage.provider("s1"), "I live in Rome.")
    before, provider = stage.sessions(), stage.provider("s2", agent_context=context)
    assert stage.recall(provider, "Where do I live?") == ""
    provider.on_memory_write("add", "user", "Lives in Oslo.")
    provider.on_pre_compress(TURN, require_checkpoint=True)
    stage.tell(provider, "Summarise the news.", session="s2")
    provider.on_session_switch("s3", parent_session_id="s2", reason="branch")
    provider.on_session_end(TURN)
    provider.shutdown()
    assert stage.sessions() == before


def test_a_status_tells_of_the_latest_turn_alone(stage, newer_host):
    stage.tell(stage.provider("s1"), "I live in Rome.")
    provider = stage.provider("s2")
    assert provider.recall_status() is None
    told = asks(provider, "Where do I live?")
    status = provider.recall_status()
    assert status == RecallStatus("Souvenance", told.count("\n- "))
    assert status.count > 0
    assert asks(provider, "Where does Ann live?", author_id="scout", author_is_bot=True) == ""
    assert provider.recall_status() is None


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
    module.MemoryProvider, module.RecallStatus = NewerMemoryProvider, RecallStatus
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
    assert provider.name == entry_point.name == "souvenance"
    assert provider.is_available()
    assert provider.recall_status() is None
    assert provider.on_delegation("Find the lamp.", "Here.", child_session_id="s2") is None


def test_a_host_that_keeps_models_for_tasks_is_told_of_ours(newer_host):
    tasks = []

    def offer(key, *, display_name, description, defaults=None):
        tasks.append((key, bool(display_name and description)))

    context = SimpleNamespace(register_memory_provider=lambda provider: None, register_auxiliary_task=offer)
    plugin.register(context)
    assert tasks == [("souvenance", True)]


def under_another_name(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_the_host_reads_beside_the_entry_point_is_there_and_shares_what_a_process_has_once(
    newer_host, entry_point, monkeypatch
):
    for name in ("plugins", "plugins.memory", "plugins.memory.config_schema"):
        monkeypatch.setitem(sys.modules, name, modules("0.21")[name])
    folder = Path(entry_point.load().__file__).parent
    assert type(Loader("0.21").load(folder).provider) is type(plugin.provider())
    commands = under_another_name(folder / "cli.py", "_hermes_a.souvenance_cli")
    assert callable(commands.register_cli)
    assert callable(commands.souvenance_command)
