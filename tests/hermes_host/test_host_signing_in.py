"""An unmodified Hermes on a server that one signs in to: by our plugin, by Honcho's, by its web server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conversation.world import speaking
from hermes_host.host import ENVIRONMENT, a_host
from processes import until
from souvenance.hermes.config_files import write_setting
from surfaces.door import serving

PATIENCE_SECONDS = 120
VISITOR = Path(__file__).resolve().parents[1] / "hermes" / "visitor.py"
TOLD = "My name is Ann and I live in Lisbon. I am allergic to peanuts."
ASKED = "Please help me to plan a dinner for my friends."

BUNDLED = """
import subprocess, sys
from plugins.memory.honcho.oauth_flow import authorize_via_loopback

granted = authorize_via_loopback(
    source="hermes-cli", open_url=lambda page: subprocess.run([*sys.argv[1:], page], check=True), timeout=60
)
print(granted.consent_peer_name)
"""

WEB_SERVER = """
import json, os, sys
from starlette.testclient import TestClient
from hermes_cli.web_server import app

header = {"x-hermes-session-token": os.environ["HERMES_DASHBOARD_SESSION_TOKEN"]}
client = TestClient(app, base_url="http://127.0.0.1:9119", headers=header, client=("127.0.0.1", 50000))
listed = client.get("/api/memory")
assert listed.status_code == 200, listed.text
for asked in sys.stdin:
    method, path = asked.split()
    answer = client.request(method, f"/api/memory/providers/{path}")
    print(json.dumps([answer.status_code, answer.json()]), flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as made:
        yield made


def surroundings(host, server, **more):
    """The environment of the host's programs, with somebody who signs in with the browser that they open."""
    return {
        **host.environment,
        "BROWSER": f"{sys.executable} {VISITOR} %s",
        "VISITOR_CAP": server.owner_cap,
        **more,
    }


def run(host, server, *command, **more):
    ran = subprocess.run(
        command,
        env=surroundings(host, server, **more),
        cwd=host.project,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran
    return ran.stdout


def sign_in_here(host, server):
    return run(host, server, ENVIRONMENT / "bin" / "souvenance", "login", "--url", server.url)


def block(file):
    return json.loads(file.read_text())["hosts"]["hermes"]


def test_hermes_remembers_by_a_sign_in_that_is_renewed_in_between(folder, model, server):
    host = a_host(folder, model, {"sessionStrategy": "per-session"})
    assert "as ann" in sign_in_here(host, server)
    host.once(TOLD)
    with speaking(server, "hermes") as owner:
        until(owner.is_served)
    first = block(host.home / "souvenance.json")
    ended = {"oauth": {**first["oauth"], "expiresAt": int(time.time())}}
    write_setting(host.home, "hermes", ended, environment=host.environment)
    host.once("What am I allergic to?")
    second = block(host.home / "souvenance.json")
    assert second["apiKey"] != first["apiKey"]
    assert second["oauth"]["refreshToken"] != first["oauth"]["refreshToken"]
    *_, asked = model.turns()
    assert "peanuts" in asked.memory
    status = host.run("souvenance", "status")
    assert "OAuth (hermes-agent, valid for 60 min)" in status.out
    assert host.run("souvenance", "logout").exit_code == 0
    assert "oauth" not in block(host.home / "souvenance.json")


def test_honcho_s_own_plugin_signs_in_and_remembers_by_a_sign_in_that_it_renews(folder, model, server):
    host = a_host(folder, model, memory={"provider": "honcho"})
    file = host.home / "honcho.json"
    file.write_text(json.dumps({"baseUrl": server.url, "sessionStrategy": "per-session"}))
    named = run(
        host,
        server,
        ENVIRONMENT / "bin" / "python",
        "-c",
        BUNDLED,
        sys.executable,
        VISITOR,
        HONCHO_OAUTH_DASHBOARD=server.url,
        HONCHO_OAUTH_TOKEN_URL=f"{server.url}/oauth/token",
    )
    assert named.splitlines()[-1] == "alice"
    signed = json.loads(file.read_text())
    assert signed["peerName"] == "alice"
    assert signed["hosts"]["hermes"]["apiKey"].startswith("hch-at-")
    host.once(TOLD)
    with speaking(server, "hermes") as owner:
        until(owner.is_served)
    signed["hosts"]["hermes"]["oauth"]["expiresAt"] = int(time.time())
    file.write_text(json.dumps(signed))
    host.once(ASKED)
    renewed = block(file)
    assert renewed["apiKey"] != signed["hosts"]["hermes"]["apiKey"]
    assert renewed["oauth"]["refreshToken"] != signed["hosts"]["hermes"]["oauth"]["refreshToken"]
    *_, asked = model.turns()
    assert "peanuts" in asked.memory


class WebServer:
    """Hermes' own web server as a desktop shell sees it."""

    def __init__(self, host):
        self._process = subprocess.Popen(
            [ENVIRONMENT / "bin" / "python", "-c", WEB_SERVER],
            env={**host.environment, "HERMES_DASHBOARD_SESSION_TOKEN": "of-this-test"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(PATIENCE_SECONDS)

    def ask(self, method, path):
        self._process.stdin.write(f"{method} {path}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def test_a_desktop_shell_of_this_host_finds_no_sign_in_but_of_its_own_providers(folder, model, server):
    """Newer hosts find `oauth_flow.py` in the plugin's folder. Here one signs in by command."""
    host = a_host(folder, model, {"baseUrl": server.url})
    with WebServer(host) as web:
        status, told = web.ask("POST", "souvenance/oauth/start")
        assert (status, told) == (404, {"detail": "souvenance does not support OAuth connect"})
        _, told = web.ask("GET", "souvenance/config?surface=declared")
        assert {"peerName", "baseUrl", "apiKey"} <= {field["key"] for field in told["fields"]}
    assert "as ann" in sign_in_here(host, server)
