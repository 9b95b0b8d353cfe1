"""The page about retention: a rule is tried, set and removed, with JavaScript switched off; and who may."""

from __future__ import annotations

import re
import secrets
import time

import pytest
from playwright.sync_api import expect

from inspector.scenes import OFF
from souvenance.domain import ulid
from souvenance.domain.retention import DAY_MS

PAGE = "/inspect/data/retention"


def put_before(server, days, text, namespace):
    """Store a note that counts as so many days old."""
    line = ulid.compose(int(time.time() * 1000) - days * DAY_MS, secrets.token_bytes(10))
    note = {"id": line, "text": text, "namespace": namespace}
    return server.owner.post("/v1/memory/put", json=note).raise_for_status().json()["id"]


def retention_rows(server):
    """What the log of the owner's workspace records of rules: the operation and its detail."""
    rows = server.owner.get("/v1/audit", params={"limit": 1000}).raise_for_status().json()["rows"]
    return [(row["operation"], row["detail"]) for row in rows if row["operation"].startswith("retention.")]


@pytest.fixture
def page(server, window):
    found = window(**OFF)
    found.goto(server.url + PAGE)
    return found


def try_rule(page, name, days, namespace, then="goes"):
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("A line", exact=True).select_option(then)
    page.get_by_label("After so many days").fill(str(days))
    page.get_by_label("Only in the namespace").fill(namespace)
    page.get_by_role("button", name="See what it would do").click()


def test_a_rule_is_tried_before_it_holds_then_set_and_removed(server, page):
    old = put_before(server, 2, "the tram leaves at seven", "trams")
    put_before(server, 0, "the tram leaves at eight", "trams")
    address = f"{server.url}/inspect/default/lines/owner/{old}"
    try_rule(page, "short", 1, "trams")
    expect(page.get_by_role("heading", name="Set the rule short?")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("1 line is that old now. It goes for good")
    expect(page.locator("main")).to_contain_text("the tram leaves at seven")
    expect(page.locator("main")).not_to_contain_text("the tram leaves at eight")
    page.goto(address)
    expect(page.locator("main")).to_contain_text("the tram leaves at seven")
    expect(page.locator("main")).not_to_contain_text("Kept until")
    assert [name for name, _ in retention_rows(server) if name == "retention.remove"] == []
    page.goto(server.url + PAGE)
    try_rule(page, "short", 1, "trams")
    page.get_by_role("button", name="Set it").click()
    rules = page.get_by_role("region", name="Rules")
    expect(rules.get_by_role("row", name="short")).to_contain_text("A line in trams goes after 1 day")
    page.goto(address)
    expect(page.locator("main")).to_contain_text("there is no such line")
    page.goto(server.url + PAGE)
    rules.get_by_role("button", name="Remove … the rule short").click()
    expect(page.locator("main")).to_contain_text("What it removed does not come back")
    page.get_by_role("button", name="Remove it").click()
    expect(rules).to_contain_text("No rule holds")
    dry, first, again, removed = [row for row in retention_rows(server) if row[0] != "retention.list"]
    assert '"dry_run":true' in dry[1] and '"dry_run":true' in first[1]
    assert (again[0], '"dry_run":false' in again[1], removed[0]) == (
        "retention.set",
        True,
        "retention.remove",
    )


def test_a_line_tells_how_long_it_is_kept_and_by_which_rule(server, page):
    note = {"text": "the key box opens with 0815", "namespace": "keys", "expires_at": "2100-04-01T10:30:00Z"}
    line = server.owner.post("/v1/memory/put", json=note).raise_for_status().json()["id"]
    address = f"{server.url}/inspect/default/lines/owner/{line}"
    expiring = page.get_by_role("region", name="What expires next")
    page.reload()
    expect(expiring).to_contain_text("expires 1 Apr 2100, 10:30 UTC")
    expect(expiring).to_contain_text("the key box opens with 0815")
    page.goto(address)
    expect(page.locator("main")).to_contain_text(re.compile(r"Kept until\s*1 Apr 2100, 10:30 UTC(?!, by)"))
    page.goto(server.url + PAGE)
    try_rule(page, "keys", 400, "keys")
    expect(page.get_by_role("status")).to_contain_text("No lines are that old now")
    page.get_by_role("button", name="Set it").click()
    page.goto(address)
    expect(page.get_by_role("link", name="keys", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text(
        re.compile(r"Kept until\s*\d+ \w+ 20[23]\d, .* by the rule keys")
    )
    server.owner.post("/v1/retention/remove", json={"name": "keys"}).raise_for_status()


def test_a_rule_that_fades_removes_nothing_and_says_so(server, page):
    put_before(server, 2, "the market is on Friday", "market")
    try_rule(page, "older", 1, "market", "fade")
    expect(page.locator("main")).to_contain_text("1 line is that old now. Nothing is removed.")


@pytest.mark.parametrize(
    ("name", "then", "days", "code"),
    [
        ("", "forget", "3", "invalid_input"),
        ("x", "forget", "0", "invalid_input"),
        ("x", "burn", "3", "invalid_input"),
        ("x", "summarise", "3", "unsupported"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_with_a_reason(server, visitor, name, then, days, code):
    client = visitor()
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get(PAGE).text)[1]
    asked = {"csrf": csrf, "name": name, "then": then, "days": days, "sure": "yes"}
    answer = client.post(f"{PAGE}/set", data=asked, headers={"origin": server.url})
    assert (answer.status_code in (400, 501), code in answer.text) == (True, True), answer.text
    assert "No rule holds" in client.get(PAGE).text


def test_only_who_may_forget_in_the_whole_workspace_sets_a_rule(server, visitor):
    rights = {
        "who may forget": (["list", "get", "forget"], ["*"]),
        "who may look": (["list", "get"], ["*"]),
        "one person": (["list", "get", "forget"], []),
    }
    seen = {}
    for who, (ops, peers) in rights.items():
        client = visitor(server.mint("ann", ops, wid="home", peers=peers))
        text = client.get(PAGE).text
        csrf = re.search(r'name="csrf" value="([^"]+)"', text)[1]
        asked = {"csrf": csrf, "name": "mine", "then": "fade", "days": "900", "sure": "yes"}
        answer = client.post(f"{PAGE}/set", data=asked, headers={"origin": server.url})
        seen[who] = ("Try a rule" in text, "No rule holds" in text, answer.status_code)
    assert seen == {
        "who may forget": (True, True, 200),
        "who may look": (False, False, 403),
        "one person": (False, False, 403),
    }
    removed = server.client(server.mint("owner", ["list", "forget"], wid="home", peers=["*"]))
    removed.post("/v1/retention/remove", json={"name": "mine"}).raise_for_status()
