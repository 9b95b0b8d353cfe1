"""What attackers try on the inspector: stored text as markup, forged forms, frames and redirects."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx
import pytest
from playwright.sync_api import expect

from inspector.conftest import link_of
from inspector.door_pages import filled, page_at, routes, samples_of
from processes import PATIENCE_SECONDS
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import serving

pytestmark = pytest.mark.long

ATTACKS = json.loads(Path(__file__).with_name("attacks.json").read_text("utf-8"))
NEVER = {"img", "image", "iframe", "object", "embed", "base", "style", "math", "template", "b", "animate"}
ONCE = ("html", "head", "title", "body", "main")
ADDRESSES = {"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"}
ANYBODY = {
    "/inspect/back",
    "/inspect/links",
    "/inspect/sign-in",
    "/inspect/passkeys/challenges",
    "/inspect/passkeys/sign-in",
}
"""Where people come who are not signed in yet, so that no form of theirs can have a token."""


class Markup(HTMLParser):
    """What of a page is not ours."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.foreign += [f"{tag} {self.tags.count(tag)} times" for tag in ONCE if self.tags.count(tag) != 1]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = {name: value or "" for name, value in attributes}
        if tag in NEVER or (tag == "meta" and "http-equiv" in given):
            self.foreign.append(self.get_starttag_text())
        if tag in ("script", "link") and not (given.get("src") or given["href"]).startswith(
            "/inspect/static/"
        ):
            self.foreign.append(self.get_starttag_text())
        for name, value in given.items():
            local = re.match(r"[/?#]|http://localhost:\d+/", value) and not value.startswith("//")
            if name.startswith(("on", "hx-on")) or (name in ADDRESSES and not local):
                self.foreign.append(self.get_starttag_text())


@pytest.fixture(scope="module")
def embedder():
    """Nothing: what is stored is shown, not found, and each attack is stored seven times."""
    return "none"


@pytest.fixture(scope="module")
def attacked(server):
    """A server where every field that people or tokens can fill holds every attack that it takes."""
    owner, place = server.owner, "/v3/workspaces/attacked"
    for attack in ATTACKS:
        owner.post("/v1/memory/put", json={"text": attack, "namespace": "work"})
        owner.post("/v1/memory/put", json={"text": "harmless", "namespace": attack})
        owner.post("/v1/caps", json={"sub": attack, "ops": ["get"], "namespaces_allowed": [attack]})
        said = [{"peer_id": "mallory", "content": attack}]
        owner.post(f"{place}/sessions/attacks/messages", json={"messages": said})
        owner.post(f"{place}/sessions/names/messages", json={"messages": [{**said[0], "peer_id": attack}]})
        owner.post(f"{place}/sessions/{quote(attack, safe='')}/messages", json={"messages": said})
        owner.post(
            f"{place}/sessions/files/messages/upload",
            files={"file": (attack, b"harmless", "text/plain")},
            data={"peer_id": "mallory"},
        )
    owner.put(f"{place}/peers/mallory/card", json={"peer_card": ATTACKS})
    concluded = [
        {"content": attack, "observer_id": "mallory", "observed_id": "mallory"} for attack in ATTACKS
    ]
    owner.post(f"{place}/conclusions", json={"conclusions": concluded})
    return server


@pytest.fixture(scope="module")
def samples(attacked):
    return samples_of(attacked.url, attacked.owner_cap, "attacked", "mallory", "attacks")


@pytest.fixture(scope="module")
def owner(attacked):
    """One client for all cases, signed in."""
    with httpx.Client(
        base_url=attacked.url, trust_env=False, timeout=PATIENCE_SECONDS, follow_redirects=True
    ) as client:
        assert client.get(link_of(attacked)).status_code == 200
        yield client


def test_there_are_sixty_cases():
    assert len(set(ATTACKS)) >= 60


@pytest.mark.parametrize("path", routes("GET"))
def test_no_page_that_shows_stored_text_has_markup_of_it(owner, samples, path):
    url = filled(path, samples)
    if page_at(str(owner.base_url).rstrip("/") + url, dict(owner.cookies)) is not None:
        assert Markup(owner.get(url).text).foreign == []


@pytest.mark.parametrize("attack", ATTACKS, ids=ascii)
def test_whatever_is_asked_for_is_shown_as_text(owner, attack):
    name = quote(attack, safe="")
    pages = [
        owner.get("/", params={"w": attack, "q": attack}),
        owner.get(f"/inspect/attacked/people/{name}"),
        owner.get(f"/inspect/attacked/sessions/{name}"),
        owner.get(
            "/inspect/recall", params={"w": "attacked", "peer": "mallory", "q": attack, "agent": attack}
        ),
        owner.get("/inspect/audit", params={"actor": attack, "operation": attack, "outcome": attack}),
        owner.get("/inspect/notes", params={"namespace": attack}),
        owner.get("/inspect/sign-in", params={"link": attack}),
    ]
    for page in pages:
        assert page.status_code < 500
        assert "hit" not in page.cookies
        if "json" not in page.headers["content-type"]:  # A path with a slash in it leads to no page.
            assert Markup(page.text).foreign == [], page.url


def test_a_browser_runs_nothing_of_what_is_stored(attacked, window, samples):
    page = window()
    ran = []
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: ran.append(request.url) if "evil" in request.url else None)
    for path in (
        "/?w=attacked",
        "/inspect/notes?namespace=work",
        "/inspect/attacked/people/mallory",
        "/inspect/attacked/sessions/attacks",
        "/inspect/attacked/sessions/names",
    ):
        page.goto(attacked.url + path)
        assert page.evaluate("window.hit") is None
    assert ran == []


def refused_at(path: str, samples: dict[str, str]) -> str:
    """The path of a form; what is refused need not exist."""
    anything = defaultdict(lambda: "01JD7Y8Q2W0000000000000000", samples)
    return filled(path, anything).partition("?")[0]


@pytest.mark.parametrize("path", sorted(set(routes("POST")) - ANYBODY))
def test_a_form_without_its_own_token_does_nothing(owner, samples, path):
    fields = {"text": "planted", "after": "planted", "sure": "yes", "peer": "eve", "sub": "owner"}
    url = refused_at(path, samples)
    for token in ({}, {"csrf": ""}, {"csrf": "wrong"}):
        answer = owner.post(url, data={**fields, **token})
        if answer.status_code == 400:  # It wants a file, too.
            answer = owner.post(url, data={**fields, **token}, files={"file": ("planted.txt", b"planted")})
        assert answer.status_code == 403, token
    assert owner.get("/inspect/notes").status_code == 200


@pytest.fixture(scope="module")
def csrf(owner):
    """The token of the owner's forms."""
    return re.search(r'name="csrf" value="([^"]+)"', owner.get("/").text)[1]


@pytest.mark.parametrize("path", sorted(routes("POST")))
def test_a_form_of_another_site_is_refused_and_signs_nobody_in(owner, samples, csrf, path):
    url = refused_at(path, samples)
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        answer = owner.post(url, data={"csrf": csrf, "token": "x", "link": "x"}, headers=headers)
        assert answer.status_code in (401, 403), headers
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", routes("GET"))
def test_no_page_can_be_framed_or_run_what_is_not_ours(owner, samples, path):
    url = filled(path, samples)
    if page_at(str(owner.base_url).rstrip("/") + url, dict(owner.cookies)) is None:
        return
    for answer in (owner.get(url), httpx.get(str(owner.base_url).rstrip("/") + url, trust_env=False)):
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_signing_in_leads_nowhere_else(attacked, target):
    names = ("next", "to", "url", "redirect", "redirect_uri", "return", "continue", "location")
    answer = httpx.get(link_of(attacked) + f"&{urlencode(dict.fromkeys(names, target))}", trust_env=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"


def test_the_cookie_is_for_this_site_alone_and_out_of_reach_of_scripts(attacked):
    cookie = httpx.get(link_of(attacked), trust_env=False).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie


def test_behind_tls_the_cookie_is_for_tls_and_this_very_host_alone(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_PUBLIC_URL="https://memory.example") as server:
        cookie = httpx.get(link_of(server), trust_env=False).headers["set-cookie"]
    assert cookie.startswith("__Host-souvenance-inspector=")
    assert "secure" in cookie.lower()


def test_a_link_that_another_site_shows_signs_in_only_after_a_click(attacked):
    link = link_of(attacked)
    shown = httpx.get(link, headers={"sec-fetch-site": "cross-site"}, trust_env=False)
    assert shown.status_code == 200
    assert "set-cookie" not in shown.headers
    secret = link.partition("link=")[2]
    clicked = httpx.post(
        f"{attacked.url}/inspect/sign-in",
        data={"link": secret},
        headers={"sec-fetch-site": "same-origin"},
        trust_env=False,
    )
    assert clicked.status_code == 303
    assert "set-cookie" in clicked.headers


SECRETS = {"ann": ("penicillin", "Lisbon", "Keller"), "ben": ("vegetarian",)}
SESSIONS = {"ann": "ann-health", "ben": "ben-talk"}
STREAM = "/inspect/work/tail"


def test_two_people_in_two_browsers_see_nothing_of_each_other_on_any_page(attacked, window):
    tokens = {
        name: attacked.mint(name, ["get", "list", "put", "audit"], [COMMON_NAMESPACE], wid="home")
        for name in SECRETS
    }
    pages = {name: window(token) for name, token in tokens.items()}
    own = {name: samples_of(attacked.url, tokens[name], "home", name, SESSIONS[name]) for name in SECRETS}
    seen = defaultdict(set)
    for path in routes("GET"):
        for whose, viewer in product(SECRETS, SECRETS):
            if path == STREAM:
                continue
            page = pages[viewer]
            page.goto(attacked.url + filled(path, own[whose]))
            shown = page.content()
            if path != "/inspect/sign-in" and "htmx" in shown:
                expect(page.locator("header")).to_contain_text(f"Signed in as {viewer}")
            others = {word for name, words in SECRETS.items() if name != viewer for word in words}
            assert [word for word in others if word in shown] == [], (viewer, path)
            seen[viewer] |= {word for word in SECRETS[viewer] if word in shown}
    assert seen == {name: set(words) for name, words in SECRETS.items()}


def test_signing_out_of_one_browser_leaves_the_other_signed_in(attacked, window):
    ann, ben = (
        window(attacked.mint(name, ["get", "list"], [COMMON_NAMESPACE], wid="home")) for name in SECRETS
    )
    secrets = [page.context.cookies()[0]["value"] for page in (ann, ben)]
    assert len({*secrets, attacked.owner_cap}) == 3
    ann.get_by_role("button", name="Sign out").click()
    ben.reload()
    expect(ben.locator("header")).to_contain_text("Signed in as ben")
    ann.reload()
    expect(ann.get_by_role("heading", name="What does memory know about you?")).to_be_visible()
