"""What a page shows follows the token: it tells nothing of a namespace that the token does not open."""

from __future__ import annotations

import re

import pytest

from inspector.door_pages import filled, routes, samples_of
from inspector.scenes import say, until_read
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import EVERY_OP

VEILED = "veiled"
"""The namespace, and a part of every name and text in it."""
WITH, WITHOUT = "walled", "walled-not"
"""Two workspaces alike, but for that namespace."""
MORE = (
    "/?w={workspace}&q=bees",
    "/inspect/notes?w={workspace}",
    "/inspect/recall?w={workspace}&peer=ann&agent=aide&q=where+are+my+bees%3F",
    "/inspect/{workspace}/people/ann?as=aide",
    "/inspect/access?w={workspace}",
    "/inspect/data?w={workspace}",
    "/inspect/data/stored?w={workspace}",
    "/inspect/data/kinds?w={workspace}",
    "/inspect/data/retention?w={workspace}",
    "/inspect/work?w={workspace}",
)
TOKENS = {
    "for everyone": {"sub": "clerk", "peers": ["*"]},
    "for one person": {"sub": "ann"},
    "for a person and an agent": {"sub": "ann", "peers": ["aide"]},
    "for everyone in one session": {"sub": "clerk", "peers": ["*"], "sessions": ["hives"]},
}
NUMBERED = ("/inspect/audit", "/inspect/work")
"""The number of a row of the log is its place among all rows: without it nobody could prove the row."""


def token_of(server, workspace):
    """One that opens all of the workspace."""
    return server.mint("owner", wid=workspace, peers=["*"])


def concluded(client, workspace, text, session):
    made = {"content": text, "observer_id": "aide", "observed_id": "ann", "session_id": session}
    answer = client.post(f"/v3/workspaces/{workspace}/conclusions", json={"conclusions": [made]})
    answer.raise_for_status()


@pytest.fixture(scope="module")
def walled(server):
    """Both workspaces; one of them holds something of every kind in the namespace that is closed."""
    for workspace in (WITH, WITHOUT):
        client, ann = map(server.client, (token_of(server, workspace), server.mint("ann", wid=workspace)))
        for said in (("ann", "I keep bees in Faro."), ("aide", "How nice.")):
            say(server, "hives", said, workspace=workspace)
        concluded(client, workspace, "Ann keeps bees.", "hives")
        note = {"text": "buy sugar for the bees", "namespace": COMMON_NAMESPACE}
        for writer in (client, ann):
            writer.post("/v1/memory/put", json=note).raise_for_status()
        if workspace == WITH:
            fill_veiled(server, client, ann)
        until_read(client, workspace)
    return server


def fill_veiled(server, client, ann):
    said = (("ann", f"My {VEILED} bees live in Graz."), (f"{VEILED}-guest", f"The {VEILED} hive."))
    say(server, f"{VEILED}-talk", *said, workspace=WITH, namespace=VEILED)
    concluded(client, WITH, f"Ann has {VEILED} bees.", f"{VEILED}-talk")
    for writer in (client, ann):
        note = {"text": f"the {VEILED} bees", "namespace": VEILED, "expires_at": "2099-01-01T00:00:00Z"}
        writer.post("/v1/memory/put", json=note).raise_for_status()
    rule = {"name": f"{VEILED}-rule", "then": "fade", "days": 90, "namespace": VEILED}
    client.post("/v1/retention/set", json=rule).raise_for_status()
    reader = {"sub": f"{VEILED}-reader", "ops": ["get"], "namespaces_allowed": [VEILED], "wid": WITH}
    client.post("/v1/caps", json={**reader, "peers": ["ann"]}).raise_for_status()


def addresses(server, workspace):
    samples = samples_of(server.url, token_of(server, workspace), workspace, "ann", "hives")
    given = [path for path in routes("GET") if "stream" not in path and not path.endswith("/tail")]
    return {path: filled(path, samples) for path in given} | {one: one.format_map(samples) for one in MORE}


def told(client, address, workspace):
    """The page without what differs between any two: ids, times, and the workspace's own name."""
    answer = client.get(address)
    text = answer.text.replace(workspace, "here")
    text = re.sub(r'name="csrf" value="[^"]*"|[0-9A-HJKMNP-TV-Z]{26}|\d\d:\d\d(:\d\d)?(\.\d+)?', "…", text)
    return [answer.status_code, *text.splitlines()]


def test_the_owner_is_shown_what_lies_there_on_most_pages(walled, visitor):
    client = visitor()
    shown = {path for path, address in addresses(walled, WITH).items() if VEILED in client.get(address).text}
    for address in addresses(walled, WITHOUT).values():
        assert VEILED not in client.get(address).text  # Both are looked at as often: pages say so.
    assert {"/", "/inspect/{workspace}/people/{peer}", *MORE[1:3], *MORE[4:7], MORE[8]} <= shown, shown


@pytest.mark.parametrize("name", TOKENS)
def test_a_page_tells_nothing_of_a_namespace_that_the_token_does_not_open(walled, visitor, name):
    there, alike = (
        visitor(walled.mint(ops=EVERY_OP, namespaces=[COMMON_NAMESPACE], wid=workspace, **TOKENS[name]))
        for workspace in (WITH, WITHOUT)
    )
    elsewhere = addresses(walled, WITHOUT)
    for path, address in addresses(walled, WITH).items():
        page = told(there, address, WITH)
        assert [line for line in page[1:] if VEILED in line] == [], path
        if path.startswith("/inspect/audit"):
            assert not any("rows</span>" in line for line in page[1:])
        if not path.startswith(NUMBERED):
            other = told(alike, elsewhere[path], WITHOUT)
            assert [pair for pair in zip(page, other, strict=False) if pair[0] != pair[1]] == [], path
            assert len(page) == len(other), path
