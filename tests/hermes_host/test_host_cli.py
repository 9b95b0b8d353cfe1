"""Hermes on the command line, a process for each prompt, remembers; and its own commands tell of that."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from demo_host import Chatted, Host
from demo_model import LINE, Asked
from environments import client_program
from hermes_host.host import ODD, a_host, reconfigure, stored
from souvenance.gate.messages import AuditRow
from souvenance.hermes.setup.install import install
from souvenance.hermes.setup.profiles import find_installation

TOLD = "My trip goes to Chengdu, May 25–29."
ASKED = "Where does my trip go?"
TOLD_HERE = "My boat lies in Piran."
ASKED_BOTH = "Where does my trip go, and where does my boat lie?"
ROOT = Path(__file__).resolve().parents[2]


def test_a_host_that_is_shown_installs_nothing_of_its_own(host):
    asked = "from tools import lazy_deps; print(lazy_deps._allow_lazy_installs())"
    told = subprocess.check_output([client_program("hermes-0.19.0"), "-c", asked], env=host.environment)
    assert told.split() == [b"False"]


def test_a_stock_hermes_finds_sets_up_and_serves_it(folder, model):
    host = a_host(folder, model)
    for file in ("config.yaml", "souvenance.json"):
        (host.home / file).unlink()

    def hermes(*arguments, exit_code=0):
        finished = subprocess.run(
            host.command(*arguments),
            env=host.environment | {"USER": "ann"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert finished.returncode == exit_code, (finished.stdout, finished.stderr)
        return finished.stdout if exit_code == 0 else finished.stderr

    assert "• souvenance" in hermes("memory", "status")
    assert "No questions asked" in hermes("memory", "setup", "souvenance")
    assert "Status:    available ✓" in hermes("memory", "status")
    found = json.loads(hermes("souvenance", "status", "--json"))
    assert found["settings"]["peerName"] == "ann"
    assert found["places"][0] == {"profile": "default", "placed": True, "provider": "souvenance"}
    assert found["write_queue"]["waiting"] == 0
    assert hermes("souvenance", "--help").startswith("Usage: hermes souvenance [OPTIONS] COMMAND")
    assert hermes("souvenance", "peer", "--user", "a b", exit_code=3).startswith("invalid_input: ")
    assert "aiPeer: hermes -> hal" in hermes("souvenance", "peer", "--ai", "hal")
    assert not (host.home / "souvenance").exists()


BY_ENTRY_POINT = """
from importlib.metadata import entry_points
from agent.memory_manager import MemoryManager
from agent.memory_provider import MemoryProvider

[entry] = entry_points(group="hermes_agent.memory_providers", name="souvenance")
manager = MemoryManager()

class Context:
    register_memory_provider = manager.add_provider

entry.load().register(Context)
[provider] = manager.providers
manager.initialize_all(session_id="s1", platform="cli")
prompt = manager.build_system_prompt()
print(isinstance(provider, MemoryProvider), provider.name, "souvenance_search" in prompt)
"""
"""What newer hosts do with the entry point that this one leaves alone."""


def test_a_home_without_the_plugin_finds_the_provider_by_its_entry_point(host, folder):
    home = {"HERMES_HOME": str(folder), "HOME": str(folder)}
    told = subprocess.run(
        [client_program("hermes-0.19.0"), "-c", BY_ENTRY_POINT],
        env=host.environment | home,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.stdout.split() == ["True", "souvenance", "True"], told.stderr
    assert not (folder / "plugins").exists()


EIGHT_AT_THE_START = """
import sys, threading
from plugins.memory import load_memory_provider

found = {}

def ask(name):
    found[name] = load_memory_provider("souvenance")

others = [threading.Thread(target=ask, args=(number,)) for number in range(1, 8)]

class Loading:
    def find_spec(self, name, path=None, target=None):
        if name in ("souvenance.plugin", "souvenance.commands") and not others[0].ident:
            for other in others:
                other.start()
            others[0].join(1.0)

sys.meta_path.insert(0, Loading())
ask(0)
for other in others:
    other.join()
print(*(found[number].name for number in range(8)))
"""
"""What a gateway does for seven people who write while it loads memory for the first."""


def test_eight_people_at_the_moment_when_the_host_loads_the_plugin_all_have_memory(host):
    told = subprocess.run(
        [client_program("hermes-0.19.0"), "-c", EIGHT_AT_THE_START],
        env=host.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.stdout.split() == ["souvenance"] * 8, told.stderr


ANOTHER_BEFORE_THE_PACKAGE_ITSELF = """
import threading
from importlib.machinery import SourceFileLoader
from plugins.memory import load_memory_provider

found, get_code = {}, SourceFileLoader.get_code

def ask(name):
    found[name] = load_memory_provider("souvenance")

def reading(loader, name):
    if loader.path.endswith("plugins/souvenance/__init__.py") and not found:
        second = threading.Thread(target=ask, args=("second",))
        second.start()
        second.join()
    return get_code(loader, name)

SourceFileLoader.get_code = reading
ask("first")
print(*(getattr(found[name], "name", None) for name in ("first", "second")))
"""
"""What happens to a person who writes at the moment when the host reads the plugin's own files."""


def test_who_comes_while_the_plugin_s_own_files_are_read_has_memory_too(host):
    told = subprocess.run(
        [client_program("hermes-0.19.0"), "-c", ANOTHER_BEFORE_THE_PACKAGE_ITSELF],
        env=host.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.stdout.split() == ["souvenance", "souvenance"], told.stderr


def memory_of(host):
    """Where the store lies: outside the host's home, but in the user's."""
    return host.user / "memory"


@pytest.fixture(scope="module")
def host(tmp_path_factory, model):
    """A host that was told of a trip."""
    folder = tmp_path_factory.mktemp("host")
    known = {"sessionStrategy": "per-session", "store": str(folder / "user" / "memory")}
    host = a_host(folder, model, known)
    assert host.once(TOLD) == LINE
    [told] = model.turns()
    assert "Chengdu" not in told.memory
    return host


@pytest.fixture
def store(host):
    with stored(memory_of(host)) as store:
        yield store


class Talk(NamedTuple):
    """What was seen of a chat in a fresh home: begun, given a title and resumed; and of a new one."""

    home: Host
    begun: Chatted
    resumed: Chatted
    asked: Asked
    log: list[AuditRow]
    asked_anew: Asked
    days: list[date]


@pytest.fixture(scope="module")
def talk(host, model, tmp_path_factory):
    """On the memory of the host that was told of a trip, where it is another day than in UTC."""
    fresh = a_host(tmp_path_factory.mktemp("fresh") / ODD, model, {"store": str(memory_of(host))})
    zone = ZoneInfo("Pacific/Kiritimati" if datetime.now(UTC).hour >= 11 else "Etc/GMT+12")
    config = fresh.home / "config.yaml"
    config.write_text(json.dumps({**json.loads(config.read_text()), "timezone": zone.key}))
    begun = fresh.chat(TOLD_HERE)
    assert fresh.run("sessions", "rename", begun.session, "A boat").exit_code == 0
    days = [datetime.now(zone).date()]
    with stored(memory_of(host)) as store:
        before = len(store.log())
        resumed = fresh.chat(ASKED_BOTH, resume=begun.session)
        log = store.log()[before:]
    *_, asked = model.turns()
    days.append(datetime.now(zone).date())
    fresh.chat(ASKED_BOTH)
    *_, anew = model.turns()
    return Talk(fresh, begun, resumed, asked, log, anew, days)


def test_a_fresh_home_recalls_what_another_process_was_told_on_the_very_turn_on_which_a_chat_is_resumed(
    talk, store
):
    """And the title that the chat was given meanwhile moves it to no other session."""
    assert talk.resumed == (LINE, talk.begun.session)
    assert len([one for one in talk.asked.body["messages"] if one["role"] == "user"]) == 2
    assert "Chengdu" in talk.asked.text
    line = next(row.lines[0] for row in store.log() if row.operation == "messages.add")
    assert {(row.actor, row.outcome) for row in talk.log if line in row.lines} == {("ann", "ok")}
    assert not (talk.home.store / "souvenance.db").exists()
    said = [message.text for message in store.sessions()[talk.home.project.name]]
    assert said[:4] == [TOLD_HERE, LINE, ASKED_BOTH, LINE]


def test_a_resumed_chat_is_not_told_as_memory_what_it_holds_already(talk):
    """And a new one is."""
    assert TOLD_HERE in talk.asked.text
    assert TOLD_HERE not in talk.asked.memory
    assert TOLD_HERE in talk.asked_anew.memory


def test_a_day_is_one_of_the_time_zone_that_the_host_is_set_to(talk):
    assert "Chengdu" in talk.asked_anew.memory
    assert any(f"Looked up on {day}." in talk.asked_anew.memory for day in talk.days)


def test_a_profile_has_a_memory_of_its_own(host, model):
    home = host.home / "profiles" / "coder"
    home.mkdir(parents=True)
    (home / "config.yaml").write_bytes((host.home / "config.yaml").read_bytes())
    (home / "souvenance.json").write_text(json.dumps({"peerName": "ann"}))
    host.install()
    assert host.run("-p", "coder", "-z", ASKED).out.strip() == LINE
    *_, asked = model.turns()
    assert "souvenance_search" in asked.tools
    assert "Chengdu" not in asked.memory
    with stored(home / "souvenance", "hermes_coder") as store:
        assert ASKED in store.said()


def test_the_host_sees_the_provider_and_its_state(host):
    seen = host.run("memory", "status")
    assert seen.exit_code == 0
    assert "souvenance" in seen.out
    assert "available ✓" in seen.out
    status = host.run("souvenance", "status")
    assert status.exit_code == 0, status
    assert "write queue 0 waiting" in status.out


def test_the_hosts_doctor_says_that_memory_works_or_where_to_look(host):
    assert "souvenance provider active" in host.run("doctor").out
    settings = host.home / "souvenance.json"
    before = settings.read_bytes()
    settings.write_text("{")
    said = host.run("doctor").out
    settings.write_bytes(before)
    assert "souvenance configured but not available" in said
    assert "run: hermes memory status" in said


def test_this_host_leaves_a_manifest_of_the_second_version_to_our_own_installer(host, tmp_path):
    shutil.rmtree(host.home / "plugins" / "souvenance")
    shutil.copytree(ROOT / "plugin", tmp_path / "repository" / "plugin")
    git = ("git", "-C", tmp_path / "repository", "-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "All")):
        subprocess.run([*git, *command], check=True)
    refused = host.run("plugins", "install", f"file://{tmp_path}/repository#plugin", "--no-enable")
    assert "manifest_version 2" in refused.out + refused.err
    [step, *_] = install(find_installation({}, str(host.home)).profiles())
    assert step.outcome == "placed"
    assert "available ✓" in host.run("memory", "status").out


def test_a_home_restored_from_a_backup_remembers(host, model, folder):
    archive = host.user / "backup.zip"
    assert host.run("backup", "-o", str(archive)).exit_code == 0
    restored = a_host(folder, model)
    assert restored.run("import", "--force", str(archive)).exit_code == 0
    reconfigure(restored, store=str(memory_of(restored)))
    restored.once(ASKED)
    *_, asked = model.turns()
    assert "Chengdu" in asked.memory
