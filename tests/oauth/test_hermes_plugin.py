"""The Honcho plugin that Hermes bundles, unmodified, signs in to this server and remembers by that."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import httpx

from environments import client_program
from oauth.browser import Flow
from surfaces.door import PATIENCE_SECONDS, serving

PLUGIN = """
import json, sys, time
from pathlib import Path
from plugins.memory.honcho import oauth, oauth_flow

config = Path(sys.argv[1])
cred = oauth_flow.authorize_via_loopback(
    config_path=config,
    host="hermes",
    source="hermes-cli",
    open_url=lambda url: print(url, flush=True),
    timeout=60,
)
first = cred.refresh_token
token, refreshed = oauth.ensure_fresh_token(config, "hermes", now=time.time() + 3590)
block = json.loads(config.read_text())["hosts"]["hermes"]

from honcho import Honcho
honcho = Honcho(base_url=sys.argv[2], api_key=token, workspace_id=json.loads(config.read_text())["workspace"])
user, ai = honcho.peer(json.loads(config.read_text())["peerName"]), honcho.peer("hermes")
session = honcho.session("talk")
session.add_messages([user.message("I am allergic to peanuts."), ai.message("Noted.")])
print(json.dumps({
    "peer": cred.consent_peer_name,
    "scope": cred.scope,
    "refreshed": refreshed,
    "rotated": block["oauth"]["refreshToken"] != first,
    "kept": block["apiKey"] == token,
    "answer": user.chat("What am I allergic to?"),
}), flush=True)
"""


def test_the_bundled_plugin_signs_in_refreshes_and_remembers(home, tmp_path):
    config = tmp_path / "hermes" / "honcho.json"
    known = {"trust_env": False, "verify": False, "timeout": PATIENCE_SECONDS}
    with serving(home) as server, httpx.Client(base_url=server.url, **known) as browser:
        place = Flow()
        place.browser, place.owner_cap = browser, server.owner_cap
        plugin = subprocess.Popen(
            [client_program("hermes-0.19.0"), "-c", PLUGIN, str(config), server.url],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "HERMES_HOME": str(config.parent),
                "HONCHO_OAUTH_AUTHORIZE_URL": f"{server.url}/authorize",
                "HONCHO_OAUTH_TOKEN_URL": f"{server.url}/oauth/token",
            },
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            text=True,
        )
        with plugin:
            try:
                url = plugin.stdout.readline().strip()
                place.sign_in(at=url)
                page = browser.get(url)
                assert "~/hermes/honcho.json" in page.text
                found = place.decide(page)
                httpx.get(found.headers["location"], **known).raise_for_status()
                told = json.loads(plugin.communicate(timeout=PATIENCE_SECONDS)[0].splitlines()[-1])
            finally:
                plugin.kill()
    answer = told.pop("answer")
    assert told == {"peer": "alice", "scope": "write", "refreshed": True, "rotated": True, "kept": True}
    assert "peanuts" in answer
