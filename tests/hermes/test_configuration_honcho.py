"""A file that was written for Honcho's plugin works as it is."""

import json
import subprocess

import pytest

from environments import client_program
from souvenance.agents.conversation_scope import Flags, Observation
from souvenance.hermes.config_files import read_configuration, write_setting

FILE = {
    "apiKey": "hch-v3-0a1b2c3d",
    "environment": "production",
    "workspace": "annes-agents",
    "peerName": "anne",
    "pinPeerName": False,
    "dialecticCadence": 2,
    "contextTokens": 1200,
    "requestTimeout": 45,
    "userPeerAliases": {"86701400": "anne", "349988123": "anne"},
    "hosts": {
        "hermes": {
            "enabled": True,
            "aiPeer": "hermes",
            "recallMode": "auto",
            "observationMode": "directional",
            "writeFrequency": "async",
            "sessionStrategy": "per-session",
            "dialecticReasoningLevel": "medium",
            "dialecticDynamic": True,
            "dialecticMaxChars": 1200,
            "initOnSessionStart": False,
            "saveMessages": True,
        },
        "hermes.coder": {
            "aiPeer": "coder",
            "recallMode": "tools",
            "observation": {
                "user": {"observeMe": True, "observeOthers": False},
                "ai": {"observeMe": True, "observeOthers": True},
            },
            "dialecticDepth": 3,
            "dialecticDepthLevels": ["minimal", "medium"],
            "dialecticCadence": 5,
            "writeFrequency": "4",
            "sessionStrategy": "per-repo",
            "sessionPeerPrefix": True,
            "userPeerAliases": {},
            "runtimePeerPrefix": "tg_",
            "queryRewrite": True,
        },
        "claude_code": {"aiPeer": "claude", "sessionPrefix": "cc", "cache": {"ttl": 300}},
    },
    "sessions": {"/srv/garden": "garden"},
}
PLUGIN = """
import json
from dataclasses import asdict
from plugins.memory.honcho.client import HonchoClientConfig
read = asdict(HonchoClientConfig.from_global_config())
read.pop("raw")
print(json.dumps(read))
"""
OTHERWISE = {
    "workspace_id": "workspace",
    "pin_peer_name": "pin_user_peer",
}
"""What the plugin calls otherwise."""


@pytest.fixture
def home(tmp_path):
    home = tmp_path / ".hermes"
    (home / "profiles/coder").mkdir(parents=True)
    (home / "honcho.json").write_text(json.dumps(FILE, indent=2), "utf-8")
    (home / "honcho.json").chmod(0o600)
    return home


def read(home, profile="default"):
    own = home if profile == "default" else home / "profiles" / profile
    return read_configuration(own, {"HOME": str(home.parent)}, profile)


@pytest.mark.parametrize("profile", ["default", "coder"])
def test_nothing_in_it_is_complained_about(home, profile):
    assert read(home, profile)[1] == []


def test_the_default_profile_has_what_it_says(home):
    configuration, _ = read(home)
    assert configuration.url == "https://api.honcho.dev"
    assert configuration.api_key == "hch-v3-0a1b2c3d"
    assert configuration.timeout == 45
    assert (configuration.workspace, configuration.peer_name) == ("annes-agents", "anne")
    assert configuration.user_peer_aliases == {"86701400": "anne", "349988123": "anne"}
    assert configuration.recall_mode == "hybrid"
    assert configuration.observation == Observation()
    assert configuration.sessions == {"/srv/garden": "garden"}


def test_another_profile_has_its_own_block_and_what_all_have(home):
    configuration, _ = read(home, "coder")
    assert configuration.host == "hermes_coder"
    assert (configuration.workspace, configuration.ai_peer) == ("annes-agents", "coder")
    assert configuration.observation == Observation(Flags(True, False), Flags(True, True))
    assert configuration.dialectic_cadence == 5
    assert (configuration.user_peer_aliases, configuration.runtime_peer_prefix) == ({}, "tg_")


@pytest.mark.parametrize("profile", ["default", "coder"])
def test_it_is_read_as_the_plugin_reads_it(home, profile):
    own = home if profile == "default" else home / "profiles" / profile
    finished = subprocess.run(
        [client_program("hermes-0.19.0"), "-c", PLUGIN],
        env={"HOME": str(home.parent), "HERMES_HOME": str(own)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    theirs = json.loads(finished.stdout)
    ours, _ = read(home, profile)
    shared = {OTHERWISE.get(name, name): value for name, value in theirs.items()}
    shared = {name: value for name, value in shared.items() if hasattr(ours, name)}
    del shared["observation_mode"]
    found = json.loads(json.dumps({name: getattr(ours, name) for name in shared}))
    assert found == shared
    assert len(shared) > 20
    assert [ours.observation.user.observe_others, ours.observation.ai.observe_me] == [
        theirs["user_observe_others"],
        theirs["ai_observe_me"],
    ]


def test_it_is_never_changed(home):
    before = (home / "honcho.json").read_bytes()
    path = write_setting(
        home / "profiles/coder",
        "hermes_coder",
        {"recallMode": "context"},
        environment={"HOME": str(home.parent)},
    )
    assert path == home / "profiles/coder/souvenance.json"
    assert (home / "honcho.json").read_bytes() == before
    kept = json.loads(path.read_text("utf-8"))
    today = {"pinPeerName": "pinUserPeer", "requestTimeout": "timeout"}
    respelled = {today.get(name, name): value for name, value in FILE.items()}
    assert list(kept) == list(respelled)
    assert list(kept["hosts"]) == list(FILE["hosts"])
    assert kept["hosts"]["hermes.coder"] == {**FILE["hosts"]["hermes.coder"], "recallMode": "context"}
    assert {**kept, "hosts": None} == {**respelled, "hosts": None}
    configuration, complaints = read(home, "coder")
    assert (configuration.file, configuration.recall_mode) == (path, "context")
    assert complaints == []


def test_a_sign_in_of_honcho_s_plugin_is_not_copied_and_memory_goes_nowhere_else(home):
    signed_in = {"apiKey": "hch-at-1", "oauth": {"refreshToken": "hch-rt-1"}}
    (home / "honcho.json").write_text(json.dumps({"hosts": {"hermes": signed_in}}))
    path = write_setting(home, "hermes", {"recallMode": "tools"}, environment={"HOME": str(home.parent)})
    assert "hch-" not in path.read_text()
    configuration, [complaint] = read(home)
    assert (configuration.url, configuration.enabled) == ("https://api.honcho.dev", False)
    assert "there is no key for it" in complaint.wrong
