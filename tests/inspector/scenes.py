"""What tests of the inspector's pages say and store, and a browser with JavaScript switched off."""

from __future__ import annotations

import re
from contextlib import contextmanager

import httpx

from oauth.browser import Flow, fetching
from processes import PATIENCE_SECONDS, until
from souvenance.domain.names import COMMON_NAMESPACE

OFF = {"java_script_enabled": False}
SURE = re.compile(r"^Forget (it|\d+ lines)$")
"""The button that forgets what a page has shown."""
W = "/v3/workspaces/home"


def say(server, session, *said, workspace="home", **more):
    """Store messages, as (who, text); their ids."""
    messages = [{"peer_id": who, "content": text} for who, text in said]
    path = f"/v3/workspaces/{workspace}/sessions/{session}/messages"
    answer = server.owner.post(path, json={"messages": messages, **more})
    assert answer.status_code == 201, answer.text
    return [one["id"] for one in answer.json()]


def put(server, text, namespace="personal"):
    answer = server.owner.post("/v1/memory/put", json={"text": text, "namespace": namespace})
    return answer.raise_for_status().json()["id"]


def conclude(server, observer, observed, content, **more):
    """Note a conclusion; its id."""
    noted = {"content": content, "observer_id": observer, "observed_id": observed, **more}
    answer = server.owner.post(f"{W}/conclusions", json={"conclusions": [noted]})
    return answer.raise_for_status().json()[0]["id"]


def worked(server):
    """Wait until everything that was said is read."""
    until_read(server.owner, "home")


def until_read(client, workspace):
    def read():
        queue = client.get(f"/v3/workspaces/{workspace}/queue/status").json()
        return queue["completed_work_units"] == queue["total_work_units"]

    until(read)


def csrf_of(client):
    return re.search(r'name="csrf" value="([^"]+)"', client.get("/inspect/notes").text)[1]


class Program(Flow):
    """A program that asks a person to let it in, who has that token."""

    def __init__(self, server, token):
        self.owner_cap = token
        self.browser = self.program = httpx.Client(
            base_url=server.url, trust_env=False, timeout=PATIENCE_SECONDS
        )


@contextmanager
def signed_in_program(server, peer):
    """A program that the person let in, and its access token."""
    rights = ["get", "list", "put", "grant", "revoke"]
    program = Program(server, server.mint(peer, rights, [COMMON_NAMESPACE], wid="home", ttl_seconds=7200))
    with program.browser:
        program.sign_in()
        chosen = {"workspace": "home", "peer": peer, "everyone": "no", "end": "3600"}
        yield program, program.fetch(fetching(program.code(choosing=chosen))).json()["access_token"]
