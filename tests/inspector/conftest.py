"""A server with two people and a few notes, and browsers that look at it."""

from __future__ import annotations

import json

import httpx
import pytest

from browser.chromium import PATIENCE_MS
from importers.exports import conversation, said
from processes import PATIENCE_SECONDS, until
from surfaces.door import serving

W = "/v3/workspaces/home"
SAID = (
    ("ann", "talk", "2026-01-12", "My name is Ann Keller. I live in Lisbon."),
    ("ann", "talk", "2026-03-04", "I live in Porto now."),
    ("ann", "health", "2026-06-10", "I'm allergic to penicillin."),
    ("ann", "music", "2026-06-11", "The concert was too loud."),
    ("ben", "talk", "2026-07-01", "My name is Ben. I'm vegetarian."),
)


@pytest.fixture(scope="module")
def embedder():
    """What makes the vectors of that server: nothing. A file about what is found by its meaning says what."""
    return "none"


@pytest.fixture(scope="module")
def server(tmp_path_factory, embedder):
    home = tmp_path_factory.mktemp("inspector") / "home"
    with serving(home, SOUVENANCE_EMBEDDER=embedder) as found:
        for who, about, day, text in SAID:
            said = [{"peer_id": who, "content": text, "created_at": f"{day}T10:00:00Z"}]
            answer = found.owner.post(f"{W}/sessions/{who}-{about}/messages", json={"messages": said})
            assert answer.status_code == 201, answer.text
        for text, namespace in (("window seats on long flights", "travel"), ("allergic to nuts", "personal")):
            found.owner.post("/v1/memory/put", json={"text": text, "namespace": namespace})

        def read():
            queue = found.owner.get(f"{W}/queue/status").json()
            return (
                queue["completed_work_units"] and queue["completed_work_units"] == queue["total_work_units"]
            )

        until(read)
        yield found


def link_of(server, token=None):
    """A fresh link that signs in with the token, or the owner's."""
    answer = httpx.post(
        f"{server.url}/inspect/links",
        headers={"authorization": f"Bearer {token or server.owner_cap}"},
        trust_env=False,
        verify=False,  # Here and below: reading every authority costs more than a request without TLS.
        timeout=PATIENCE_SECONDS,
    )
    assert answer.status_code == 201, answer.text
    return server.url + answer.json()["path"]


@pytest.fixture
def link(server):
    return lambda token=None: link_of(server, token)


@pytest.fixture
def visitor(server, link):
    """A client with cookies that has signed in: `visitor()`, or `visitor(token)`."""
    clients = []

    def signed_in(token=None):
        client = httpx.Client(
            base_url=server.url,
            trust_env=False,
            verify=False,
            timeout=PATIENCE_SECONDS,
            follow_redirects=True,
        )
        clients.append(client)
        assert client.get(link(token)).status_code == 200
        return client

    yield signed_in
    for client in clients:
        client.close()


@pytest.fixture
def window(browser, link):
    """A page of a browser that is signed in."""
    contexts = []

    def opened(token=None, **options):
        context = browser.new_context(viewport={"width": 1100, "height": 800}, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.goto(link(token))
        return page

    yield opened
    for context in contexts:
        context.close()


def chatgpt_export(folder, talks=3, messages=60):
    """The file, and how many messages it holds."""
    told = [
        conversation(
            *(said(f"I like tea number {number} of talk {talk}.") for number in range(messages)),
            id=f"8f3a2b1c-0000-4000-8000-{talk:012}",
        )
        for talk in range(talks)
    ]
    path = folder / "conversations.json"
    path.write_text(json.dumps(told))
    return path, talks * messages


def choose(page, server, path, workspace="home", kind="chatgpt"):
    page.goto(f"{server.url}/inspect/data?w={workspace}")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_label("It is").select_option(kind)
    page.get_by_role("button", name="Look at the file").click()
