"""What attackers try on the inspector: stored text as markup, forged forms, frames and redirects."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from html import unescape
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx
import pytest
from playwright.sync_api import expect

from inspector.conftest import link_of
from inspector.door_pages import UNDER_WAY, filled, page_at, routes, samples_of
from inspector.scenes import Program
from inspector.test_passkeys import add, authenticator
from oauth.browser import fetching
from processes import PATIENCE_SECONDS, until
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import serving

pytestmark = pytest.mark.long

ATTACKS = json.loads(Path(__file__).with_name("attacks.json").read_text("utf-8"))
NEVER = {"img", "image", "iframe", "object", "embed", "base", "style", "math", "template", "b", "animate"}
ONCE = ("html", "head", "title", "body", "main")
ADDRESSES = {"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"}
LURKS = '"><img src=x onerror="window.hit=1"><svg/onload=window.hit=1>'
"""What a passkey, a program and an actor are called."""
ANYBODY = {
    "/inspect/back",
    "/inspect/links",
    "/inspect/sign-in",
    "/inspect/passkeys/challenges",
    "/inspect/passkeys/sign-in",
}
"""Where people come who are not signed in yet, so that no form of theirs can have a token."""


OURS = {"hx-get": r"/inspect/[^\s]*", "hx-trigger": r"load( delay:\d+ms)?", "hx-swap": "outerHTML"}
"""What our own pages tell htmx. Nothing else may be told, and nothing that is stored."""


class Markup(HTMLParser):
    """What of a page is not ours, and what it says: its text, and what its fields hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.tags: list[str] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()
        self.text = "".join(self.said)
        self.foreign += [f"{tag} {self.tags.count(tag)} times" for tag in ONCE if self.tags.count(tag) != 1]

    def handle_data(self, data):
        self.said.append(data)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = {name: value or "" for name, value in attributes}
        self.said += [given.get("value", ""), "\n"]
        if tag in NEVER or (tag == "meta" and "http-equiv" in given):
            self.foreign.append(self.get_starttag_text())
        if tag in ("script", "link") and not (given.get("src") or given.get("href", "")).startswith(
            "/inspect/static/"
        ):
            self.foreign.append(self.get_starttag_text())
        for name, value in given.items():
            local = re.match(r"[/?#]|http://localhost:\d+/", value) and not value.startswith("//")
            told = name.removeprefix("data-")
            htmx = told.startswith("hx-") and not re.fullmatch(OURS.get(name, "(?!)"), value)
            if htmx or name.startswith("on") or (name in ADDRESSES and not local):
                self.foreign.append(self.get_starttag_text())
            if name in ("style", "srcdoc"):
                self.foreign.append(self.get_starttag_text())


@pytest.fixture(scope="module")
def stored(server):
    """By what it is, each attack that the server took: every field that people or tokens fill holds them."""
    owner, place = server.owner, "/v3/workspaces/attacked"
    taken = defaultdict(list)
    for attack in ATTACKS:
        said = [{"peer_id": "mallory", "content": attack}]
        named = f"{place}/sessions/{quote(attack, safe='')}/messages"
        token = {"sub": attack, "ops": ["get", "put"], "namespaces_allowed": ["work"], "wid": "attacked"}
        for what, path, sent in (
            ("note", "/v1/memory/put", {"text": attack, "namespace": "work"}),
            ("namespace", "/v1/memory/put", {"text": "harmless", "namespace": attack}),
            ("token", "/v1/caps", token),
            ("message", f"{place}/sessions/attacks/messages", {"messages": said}),
            ("peer", f"{place}/sessions/names/messages", {"messages": [{**said[0], "peer_id": attack}]}),
            ("session", named, {"messages": said}),
            ("rule", "/v1/retention/set", {"name": attack, "then": "fade", "days": 9}),
        ):
            answer = owner.post(path, json=sent)
            if answer.is_success:
                taken[what].append(attack)
                if what == "token":
                    note = {"text": "harmless", "namespace": "work"}
                    holder = {"authorization": f"Bearer {answer.json()['cap']}"}
                    owner.post("/v1/memory/put", json=note, headers=holder).raise_for_status()
                    taken["owner"].append(attack)
        owner.post(
            f"{place}/sessions/files/messages/upload",
            files={"file": (attack, b"harmless", "text/plain")},
            data={"peer_id": "mallory"},
        )
    owner.put(f"{place}/peers/mallory/card", json={"peer_card": ATTACKS}).raise_for_status()
    concluded = [
        {"content": attack, "observer_id": "mallory", "observed_id": "mallory"} for attack in ATTACKS
    ]
    owner.post(f"{place}/conclusions", json={"conclusions": concluded}).raise_for_status()
    sourced = [
        {"peer_id": "mallory", "content": "harmless", "metadata": {"source": attack}} for attack in ATTACKS
    ]
    answer = owner.post(f"{place}/sessions/sourced/messages", json={"messages": sourced}).raise_for_status()
    taken["sourced"] = [one["id"] for one in answer.json()]
    return {**taken, "fact": ATTACKS, "conclusion": ATTACKS}


@pytest.fixture(scope="module")
def attacked(server, stored):
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
        shown = owner.get(url)
        assert shown.status_code == (404 if path == UNDER_WAY else 200)
        assert Markup(shown.text).foreign == []


def test_the_checker_finds_what_is_not_ours():
    page = "<html><head><title></title></head><body><main>{}</main></body></html>"
    assert Markup(page.format("&lt;b&gt;")).foreign == []
    for attack in (
        '<p onclick="x">',
        '<p hx-get="//evil.example">',
        '<p hx-post="/inspect/sign-out">',
        '<p data-hx-post="/inspect/sign-out">',
        '<p hx-on::load="x">',
        '<p style="inset:0">',
        '<a href="javascript:x">',
        "<script>x</script>",
        "<b>x</b>",
        "</main><main>",
    ):
        assert Markup(page.format(attack)).foreign, attack


SHOWN = {
    "note": "/inspect/notes?namespace=work",
    "message": "/inspect/attacked/sessions/attacks",
    "owner": "/inspect/data/stored?w=attacked",
    "fact": "/inspect/attacked/people/mallory",
    "conclusion": "/inspect/attacked/people/mallory?conclusions=1",
    "token": "/inspect/access?w=attacked",
    "rule": "/inspect/data/retention",
}
"""The page that shows them all, and others to which it leads on."""


def every_page(owner, address):
    """What the page and those that follow it say; none of them holds markup that is not ours."""
    said, read = [], set()
    left = {address}
    while left:
        read.add(here := left.pop())
        answer = owner.get(here)
        assert answer.status_code == 200, here
        page = Markup(answer.text)
        assert page.foreign == [], here
        said.append(page.text)
        left |= {unescape(one) for one in re.findall(r'href="([^"]+)" rel="next"', answer.text)} - read
    return "".join(said)


@pytest.mark.parametrize("what", SHOWN)
def test_what_is_stored_is_shown_word_for_word(owner, stored, what):
    text = every_page(owner, SHOWN[what])
    assert [attack for attack in stored[what] if attack not in text] == []


def test_the_source_that_metadata_names_is_shown_word_for_word(owner, stored):
    for attack, line in zip(ATTACKS, stored["sourced"], strict=True):
        shown = Markup(owner.get(f"/inspect/attacked/lines/mallory/{line}").text)
        assert shown.foreign == [], attack
        assert attack in shown.text


@pytest.fixture(scope="module")
def lurking(server, browser):
    """A passkey and a program that are called by attacks, where a browser looks at them."""
    rights = ["get", "list", "put", "grant", "revoke"]
    program = Program(server, server.mint("mallory", rights, wid="attacked", ttl_seconds=7200))
    with program.browser:
        program.sign_in()
        client = program.register(client_name=LURKS, grant_types=["authorization_code", "refresh_token"])
        chosen = {"workspace": "attacked", "peer": "mallory", "everyone": "no", "end": "3600"}
        named = {"client_id": client.json()["client_id"]}
        code = program.code(choosing=chosen, **named)
        program.fetch(fetching(code, **named)).raise_for_status()
    context = browser.new_context()
    page = context.new_page()
    page.goto(link_of(server).replace("127.0.0.1", "localhost"))
    with authenticator(page):
        add(page, server.url.replace("127.0.0.1", "localhost"), LURKS)
    context.close()


def test_the_server_took_what_is_looked_for(stored):
    counts = {what: len(stored.get(what, ())) for what in SHOWN}
    assert min(counts.values()) >= 60, counts
    assert not stored.keys() & {"peer", "session", "namespace"}, "say in SHOWN where these names are shown"


@pytest.mark.parametrize("attack", ATTACKS, ids=ascii)
def test_whatever_is_asked_for_is_shown_as_text(owner, attack):
    name = quote(attack, safe="")
    asked = {"w": "attacked", "peer": "mallory", "q": attack, "agent": attack, "namespaces": "work"}
    for address, params, status, told in (
        ("/", {"w": "attacked", "q": attack}, {200}, True),
        ("/", {"w": attack}, {200, 400}, False),
        (f"/inspect/attacked/people/{name}", None, {200, 400, 404}, False),
        (f"/inspect/attacked/sessions/{name}", None, {200, 400, 404}, False),
        ("/inspect/recall", asked, {200, 400}, True),
        ("/inspect/audit", {"actor": attack, "operation": attack, "outcome": attack}, {200}, True),
        ("/inspect/notes", {"namespace": attack}, {200, 400}, False),
        ("/inspect/sign-in", {"link": attack}, {403}, False),
    ):
        page = owner.get(address, params=params)
        assert page.status_code in status, page.url
        assert "hit" not in page.cookies
        if "json" not in page.headers["content-type"]:  # A path with a slash in it leads to no page.
            shown = Markup(page.text)
            assert shown.foreign == [], page.url
            assert not told or page.status_code != 200 or attack.strip() in shown.text, page.url


FORMS = {
    "/inspect/access/preview": ({"peer"}, {"read": "on", "workspace": "attacked", "namespaces": "work"}),
    "/inspect/access/tokens": ({"peer"}, {"read": "on", "workspace": "attacked", "namespaces": "work"}),
    "/inspect/access/revoke": ({"sub"}, {"w": "attacked"}),
    "/inspect/data/retention/set": ({"name"}, {"then": "fade", "days": "9"}),
    "/inspect/data/retention/remove": ({"name"}, {}),
    "/inspect/attacked/people/mallory/card": ({"before"}, {"after": "harmless", "others": "yes"}),
    "/inspect/attacked/sessions/attacks/move": ({"namespace"}, {}),
    "/inspect/audit/verify": ({"checkpoint"}, {}),
    "/inspect/audit/receipt": ({"receipt"}, {}),
    "/inspect/notes": ({"text"}, {"namespace": "work"}),
}
"""What is sent to forms that answer with a page: the attack in these fields, and the rest."""
TELLS = {"/inspect/attacked/people/mallory/card", "/inspect/notes", "/inspect/access/revoke"}
"""What answers with the attack itself."""


@pytest.mark.parametrize("path", FORMS)
def test_what_a_form_answers_shows_what_was_sent_as_text(owner, csrf, path):
    fields, more = FORMS[path]
    statuses = set()
    for attack in ATTACKS:
        answer = owner.post(path, data={**more, **dict.fromkeys(fields, attack), "csrf": csrf})
        statuses.add(answer.status_code)
        shown = Markup(answer.text)
        assert shown.foreign == [], attack
        if path in TELLS and answer.status_code == 200:
            assert attack.strip() in shown.text
    assert statuses <= {200, 400, 404, 409}, path
    assert 200 in statuses or path.startswith(("/inspect/audit", "/inspect/attacked/sessions")), path


def test_a_file_of_any_name_is_shown_by_that_name(owner, csrf):
    for attack in ATTACKS:
        file = {"file": (attack, b'{"role": "user", "content": "harmless"}\n')}
        sent = {"csrf": csrf, "kind": "jsonl"}
        answer = owner.post("/inspect/data/import?w=files", data=sent, files=file)
        assert answer.status_code == 200, attack
        until(lambda url=answer.url: "Discard" in owner.get(url).text)
        shown = Markup(owner.get(answer.url).text)
        assert shown.foreign == [], attack
        if not set('\t\r\n"\\/') & set(attack):  # Clients write these in their own way, or leave them out.
            assert attack in shown.text
        owner.post(f"{answer.url.path}/discard", data={"csrf": csrf})


@pytest.mark.usefixtures("lurking")
def test_a_browser_runs_nothing_of_what_is_stored(attacked, window, samples, stored):
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
        f"/inspect/attacked/lines/mallory/{stored['sourced'][0]}",
        "/inspect/data/stored?w=attacked",
        filled("/inspect/recall", samples),
        "/inspect/audit?w=attacked",
        "/inspect/access?w=attacked",
        "/inspect/passkeys",
    ):
        page.goto(attacked.url + path)
        page.wait_for_load_state("load")
        assert page.evaluate("window.hit") is None
        shows = path.startswith(("/inspect/access", "/inspect/passkeys"))
        assert not shows or LURKS in page.locator("main").inner_text(), path
    page.goto(f"{attacked.url}/inspect/work?w=attacked")
    expect(page.get_by_text("Live.")).to_be_visible()
    token = {"sub": LURKS, "ops": ["put"], "namespaces_allowed": ["work"], "wid": "attacked"}
    holder = attacked.client(attacked.owner.post("/v1/caps", json=token).raise_for_status().json()["cap"])
    holder.post("/v1/memory/put", json={"text": LURKS, "namespace": "work"}).raise_for_status()
    expect(page.locator("#tail")).to_contain_text(LURKS)
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
    """On pages of their own they look; of the other's they are told what their browser would be."""
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
            page, address = pages[viewer], attacked.url + filled(path, own[whose])
            if whose != viewer:
                shown = page.request.get(address).text()
            else:
                page.goto(address)
                shown = page.content()
            if whose == viewer and path != "/inspect/sign-in" and "htmx" in shown:
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
