"""One sign-in in honcho.json, which Honcho's own plugin and ours both live on: each renews it there."""

import fcntl
import json
import multiprocessing
import os
import subprocess
import time

import pytest

from environments import client_program
from hermes.test_signing_in_for_real import PATIENCE_SECONDS, read, renew, sign_in, whoami, works
from souvenance import hermes_backends
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.oauth_tokens import OAuthGrant
from souvenance.hermes.sign_in import profile as signin
from surfaces.door import serving

PLUGIN = """
import sys
from pathlib import Path
from plugins.memory.honcho import oauth

print("ready", flush=True)
for _ in sys.stdin:
    oauth._expiry_cache.clear()
    print(oauth.ensure_fresh_token(Path(sys.argv[1]), "hermes")[0], flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as made:
        yield made


@pytest.fixture
def environment(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("HONCHO", "HERMES", "SOUVENANCE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return {"HOME": str(tmp_path)}


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / ".hermes"
    folder.mkdir()
    return folder


@pytest.fixture
def file(server, home, environment):
    grant = OAuthGrant.of(sign_in(server, home, environment))
    (home / "souvenance.json").unlink()
    file = home / "honcho.json"
    kept = {
        "refreshToken": grant.refresh,
        "expiresAt": grant.expires_at,
        "clientId": grant.client,
        "tokenEndpoint": grant.endpoint,
        "scope": grant.scope,
        "tokenType": "Bearer",
    }
    block = {"peerName": "alice", "apiKey": grant.access, "oauth": kept, "somethingNew": [1, 2]}
    file.write_text(json.dumps({"theirs": "ü", "baseUrl": server.url, "hosts": {"hermes": block}, "z": 1}))
    file.chmod(0o600)
    return file


@pytest.fixture
def plugins(file):
    """Starts Honcho's plugin in a process of its own."""
    started = []

    def start():
        plugin = subprocess.Popen(
            [client_program("hermes-0.19.0"), "-c", PLUGIN, file],
            env={"HOME": str(file.parent.parent), "HERMES_HOME": str(file.parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(plugin)
        return plugin

    yield start
    for plugin in started:
        with plugin:
            plugin.stdin.close()


def ask(plugin):
    plugin.stdin.write("\n")
    plugin.stdin.flush()


def run_out(file, *, seconds=0):
    values = json.loads(file.read_text())
    values["hosts"]["hermes"]["oauth"]["expiresAt"] = int(time.time()) + seconds
    file.write_text(json.dumps(values, indent=2))


def kept(file):
    return json.loads(file.read_text())["hosts"]["hermes"]


def test_each_renews_what_the_other_has_renewed(server, home, file, plugins):
    plugin = plugins()
    assert plugin.stdout.readline() == "ready\n"
    spent = {kept(file)["oauth"]["refreshToken"]}
    for turn in range(4):
        run_out(file)
        if turn % 2:
            ask(plugin)
            token = plugin.stdout.readline().strip()
        else:
            works(home)
            token = kept(file)["apiKey"]
        assert whoami(server, token).status_code == 200
        assert kept(file)["apiKey"] == token
        spent.add(kept(file)["oauth"]["refreshToken"])
    assert len(spent) == 5


def test_only_the_sign_in_changes_in_their_file(home, file):
    run_out(file)
    before = json.loads(file.read_text())
    works(home)
    after = json.loads(file.read_text())
    assert file.stat().st_mode & 0o777 == 0o600
    assert not (home / "souvenance.json").exists()
    for values in (before, after):
        for name in ("apiKey", "refreshToken", "expiresAt"):
            values["hosts"]["hermes"].pop(name, None)
            values["hosts"]["hermes"]["oauth"].pop(name, None)
    assert json.dumps(after) == json.dumps(before)


def test_all_at_once_spend_a_token_once(server, home, file, plugins):
    run_out(file)
    first = kept(file)["oauth"]["refreshToken"]
    theirs = [plugins() for _ in range(3)]
    assert [plugin.stdout.readline() for plugin in theirs] == ["ready\n"] * 3
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(4)
    ours = [context.Process(target=renew, args=(home, ready)) for _ in range(3)]
    for process in ours:
        process.start()
    ready.wait(PATIENCE_SECONDS)
    for plugin in theirs:
        ask(plugin)
    told = {plugin.stdout.readline().strip() for plugin in theirs}
    for process in ours:
        process.join(PATIENCE_SECONDS)
    assert [process.exitcode for process in ours] == [0] * 3
    assert told == {kept(file)["apiKey"]}
    assert kept(file)["oauth"]["refreshToken"] != first
    # Had anybody spent a token a second time, the grant would be dead.
    run_out(file)
    works(home)
    assert whoami(server, kept(file)["apiKey"]).status_code == 200


def test_while_their_plugin_renews_it_is_left_alone(home, file):
    run_out(file, seconds=60)
    before = file.read_bytes()
    with open(f"{file}.lock", "a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert hermes_backends._upkeep(read(home)).token() == kept(file)["apiKey"]
        assert file.read_bytes() == before
    assert hermes_backends._upkeep(read(home)).token() == kept(file)["apiKey"]
    assert file.read_bytes() != before


def test_it_stays_there_when_settings_of_ours_are_made(server, home, environment, file, plugins):
    write_setting(home, "hermes", {"recallMode": "tools"}, environment=environment)
    ours = (home / "souvenance.json").read_text()
    assert "hch-" not in ours
    assert (read(home).recall_mode, OAuthGrant.of(read(home)).access) == ("tools", kept(file)["apiKey"])
    run_out(file)
    works(home)
    plugin = plugins()
    assert plugin.stdout.readline() == "ready\n"
    run_out(file)
    ask(plugin)
    assert whoami(server, plugin.stdout.readline().strip()).status_code == 200
    works(home)
    assert (home / "souvenance.json").read_text() == ours


def test_signing_out_here_leaves_it_to_them(server, home, environment, file):
    before = file.read_bytes()
    gone = signin.sign_out(home, environment)
    assert (gone.was_signed_in, gone.trouble) == (
        True,
        f"the sign-in is Honcho's own, and stays in {file}",
    )
    assert read(home).oauth is None
    assert file.read_bytes() == before
    assert whoami(server, kept(file)["apiKey"]).status_code == 200


def test_whoever_signed_out_there_is_told_here(home, environment, file):
    write_setting(home, "hermes", {"recallMode": "tools"}, environment=environment)
    file.write_text("{}")
    _, (complaint, *_) = read_configuration(home, environment)
    assert str(complaint) == (
        f"{home / 'souvenance.json'}: hosts.hermes.oauth refers to {file}, where nobody is signed in."
        " Sign in: souvenance login"
    )
