"""A narrow token's pages lead nowhere that is closed to it, and what they offer it may do."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from inspector.scenes import OFF, SURE, W, conclude, csrf_of, say, worked
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import EVERY_OP

HERE = [COMMON_NAMESPACE]
TOKENS = {
    "of a person": ("zoe", EVERY_OP, HERE, {}),
    "of a person in another namespace": ("zoe", EVERY_OP, ["travel"], {}),
    "of an agent and what it knows": ("helper", EVERY_OP, HERE, {"via": ["zoe"]}),
    "of a session": ("guest", EVERY_OP, HERE, {"peers": ["*"], "sessions": ["atlas"]}),
    "of a person in a session": ("zoe", EVERY_OP, HERE, {"sessions": ["atlas"]}),
    "of everyone": ("clerk", EVERY_OP, HERE, {"peers": ["*"]}),
    "that reads": ("zoe", ["get", "list"], HERE, {}),
    "that forgets": ("zoe", ["get", "list", "forget"], HERE, {}),
    "that only searches": ("zoe", ["get"], HERE, {}),
    "that only lists": ("zoe", ["list"], HERE, {}),
    "that lists everyone": ("clerk", ["list"], HERE, {"peers": ["*"]}),
    "that audits": ("clerk", ["audit", "list"], ["*"], {"peers": ["*"]}),
    "that writes": ("zoe", ["put"], HERE, {}),
}
NOT_SENT = ("/inspect/sign-out", "/inspect/data/import")
"""One ends the visit, the other takes a file."""


class Forms(HTMLParser):
    """The forms of a page that are posted, each with what it holds as the page came."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.posted: list[tuple[str, dict[str, str]]] = []
        self._fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._fields = {}
            if given.get("method") == "post":
                self.posted.append((given["action"], self._fields))
        elif tag in ("input", "textarea") and (given.get("type") != "checkbox" or "checked" in given):
            self._fields[given.get("name", "")] = given.get("value", "")


@pytest.fixture(scope="module")
def atlas(server):
    """What zoe said with others and alone, here and in another namespace, and what an agent concluded."""
    said = (
        ("zoe", "I live in Rome. I keep an atlas."),
        ("helper", "Which one?"),
        ("ben", "Mine is older."),
    )
    say(server, "atlas", *said)
    say(server, "trip", ("zoe", "I'm allergic to nuts."), namespace="travel")
    conclude(server, "helper", "zoe", "Zoe keeps an atlas.")
    conclude(server, "helper", "helper", "Helper asks which one.")
    worked(server)
    zoe = server.client(server.mint("zoe", wid="home"))
    for namespace in (COMMON_NAMESPACE, "travel"):
        zoe.post(
            "/v1/memory/put", json={"text": "the map is torn", "namespace": namespace}
        ).raise_for_status()
    return server


@pytest.mark.parametrize("name", TOKENS)
def test_nothing_on_a_page_leads_a_narrow_token_to_a_refusal(atlas, visitor, name):
    sub, ops, namespaces, more = TOKENS[name]
    client, here = visitor(atlas.mint(sub, ops, namespaces, wid="home", **more)), {"namespace": namespaces[0]}
    left, seen, sent = ["/", "/?q=atlas", "/?q=xyzzy"], {}, {}
    while left:
        address = left.pop().partition("#")[0]
        if address not in seen:
            seen[address] = client.get(address)
            links = re.findall(r'href="(/(?:inspect/|\?)[^"]*)"', seen[address].text)
            left += [unescape(one) for one in links if "/static/" not in one]
    for address, answer in seen.items():
        for action, fields in Forms(answer.text).posted:
            if not action.startswith(NOT_SENT):
                filled = {key: value or here.get(key, "") for key, value in fields.items()}
                sent[address, action] = client.post(action, data=filled).status_code
    assert len(seen) > 3
    assert {address: one.status_code for address, one in seen.items() if one.status_code != 200} == {}
    assert {what: status for what, status in sent.items() if status not in (200, 400)} == {}


def test_a_person_forgets_what_they_said_among_others_and_nothing_that_others_said(server, window, visitor):
    _, other = say(server, "bridge", ("yara", "I'm allergic to nuts."), ("ben", "I take the ferry."))
    worked(server)
    token = server.mint("yara", ["get", "list", "forget"], HERE, wid="home")
    page = window(token, **OFF)
    page.goto(f"{server.url}/inspect/home/sessions/bridge")
    turns = page.locator(".turns > li")
    buttons = turns.get_by_role("button", name=re.compile("Forget"))
    buttons.first.wait_for()
    assert [turn.get_by_role("button").count() for turn in turns.all()] == [1, 0]
    assert page.get_by_role("button", name="Forget this session").count() == 0
    page.goto(f"{server.url}/inspect/home/people/yara")
    fact = page.locator(".card > li", has_text="Allergy: nuts")
    assert fact.get_by_text("Correct or remove").count() == 0
    fact.get_by_role("button", name="Forget what was said").click()
    page.get_by_role("button", name=SURE).click()
    page.get_by_role("heading", name="Forgotten").wait_for()
    said = server.owner.post(f"{W}/sessions/bridge/messages/list", json={}).json()["items"]
    assert [one["content"] for one in said] == ["I take the ferry."]
    client = visitor(token)
    sent = {"csrf": csrf_of(client), "sure": "yes"}
    refused = client.post(f"/inspect/home/sessions/bridge/messages/{other}/forget", data=sent)
    assert refused.status_code == 403
    assert server.owner.post(f"{W}/sessions/bridge/messages/list", json={}).json()["items"] == said


def test_a_fact_is_corrected_and_added_where_the_token_opens_another_namespace(server, visitor):
    say(server, "xena-trip", ("xena", "I'm allergic to nuts."), namespace="travel")
    worked(server)
    client = visitor(server.mint("xena", ["get", "list", "put"], ["travel"], wid="home"))
    for fields in (
        {"before": "Allergy: nuts", "after": "Allergy: hazelnuts", "sure": "yes"},
        {"after": "Shoes: 42"},
    ):
        page = client.post("/inspect/home/people/xena/card", data={**fields, "csrf": csrf_of(client)}).text
        assert fields["after"] in page
    card = server.owner.get(f"{W}/peers/xena/card").json()["peer_card"]
    assert card == ["Allergy: hazelnuts", "Shoes: 42"]
    elsewhere = visitor(server.mint("xena", ["get", "list"], HERE, wid="home"))
    assert "hazelnuts" not in elsewhere.get("/inspect/home/people/xena").text
