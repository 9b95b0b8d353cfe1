"""The inspector lets in whom the token lets in."""

from __future__ import annotations

import importlib
import pkgutil
import re

import httpx
import pytest

from souvenance import gate
from souvenance.domain.names import COMMON_NAMESPACE
from souvenance.gate.operation import Operation
from souvenance.surfaces.http.inspector.audit_words import WORDS
from surfaces.door import souvenance

PAGES = ("/", "/inspect/notes", "/inspect/recall", "/inspect/audit", "/inspect/access")


@pytest.mark.parametrize("path", PAGES)
def test_nobody_sees_a_page_without_signing_in(server, path):
    answer = httpx.get(server.url + path, trust_env=False)
    assert answer.status_code == 401
    assert "souvenance open" in answer.text
    assert "nuts" not in answer.text


def test_a_link_signs_in_once(server, link):
    once = link()
    assert httpx.get(once, trust_env=False).status_code == 303
    again = httpx.get(once, trust_env=False)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert "This link was used before".lower() in again.text.lower()
    assert "Get a new one" in again.text
    assert "go on</a>" not in again.text


def test_a_link_that_is_followed_again_in_the_same_browser_leads_on(server, link, visitor):
    client, once = visitor(), link()
    client.get(once)
    again = client.get(once)
    assert again.status_code == 403
    assert 'signed in already, <a href="/">go on</a>' in again.text
    assert client.get("/").status_code == 200


def test_a_link_needs_a_good_token(server):
    answer = httpx.post(
        f"{server.url}/inspect/links", headers={"authorization": "Bearer nonsense"}, trust_env=False
    )
    assert answer.status_code == 401


def is_signed_in(server, secret):
    cookies = {"souvenance-inspector": secret}
    answer = httpx.get(f"{server.url}/", cookies=cookies, trust_env=False)
    return answer.status_code == 200


@pytest.mark.parametrize("way", ["link", "token"])
def test_a_session_is_made_anew_at_sign_in_so_that_nobody_can_plant_one(server, link, visitor, way):
    """Neither a secret that is made up nor one that the attacker is signed in with becomes the victim's."""
    attacker = visitor(server.mint("eve", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    for planted in ("planted", attacker.cookies["souvenance-inspector"]):
        with httpx.Client(
            base_url=server.url, trust_env=False, cookies={"souvenance-inspector": planted}
        ) as client:
            if way == "link":
                answer = client.get(link())
            else:
                answer = client.post("/inspect/sign-in", data={"token": server.owner_cap})
        made = re.search(r"souvenance-inspector=([^;]+)", answer.headers["set-cookie"])[1]
        assert answer.status_code == 303
        assert made != planted
        assert is_signed_in(server, made)
    assert not is_signed_in(server, "planted")
    assert "Signed in as <bdi>eve</bdi>" in attacker.get("/").text


def test_a_form_of_another_site_is_refused_whatever_it_holds(server, visitor):
    client = visitor()
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/inspect/notes").text)[1]
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        answer = client.post("/inspect/notes", data={"text": "planted", "csrf": csrf}, headers=headers)
        assert answer.status_code == 403


@pytest.mark.parametrize("odd", ["²", "9" * 5000, "-1", "1e9", "0", "\x00", "💥"], ids=ascii)
def test_an_odd_query_makes_no_page_fail(server, visitor, odd):
    client = visitor()
    for path, names in (
        ("/", ("w", "q")),
        ("/inspect/notes", ("namespace", "after")),
        ("/inspect/recall", ("w", "peer", "q", "tokens", "agent")),
        ("/inspect/audit", ("w", "before", "actor")),
        ("/inspect/home/sessions/ann-talk", ("page",)),
        ("/inspect/home/people/ann", ("as",)),
    ):
        for name in names:
            answer = client.get(path, params={"peer": "ann", "q": "x", name: odd})
            assert answer.status_code < 500, (path, name, answer.text)
            assert "text/html" in answer.headers["content-type"]


def test_two_people_in_two_browsers_see_each_their_own(server, visitor):
    tokens = {
        name: server.mint(name, ["get", "list", "put"], [COMMON_NAMESPACE], wid="home")
        for name in ("ann", "ben")
    }
    ann, ben = visitor(tokens["ann"]), visitor(tokens["ben"])
    assert "penicillin" in ann.get("/inspect/home/people/ann").text
    assert "penicillin" not in ben.get("/inspect/home/people/ben").text
    assert ben.get("/inspect/home/people/ann").status_code == 403
    assert ben.get("/inspect/home/sessions/ann-talk").status_code in (403, 404)
    assert "nuts" not in ann.get("/inspect/notes").text
    assert ann.get("/inspect/access", params={}).status_code == 200
    assert "Make a narrow token" not in ann.get("/inspect/access").text


def test_every_look_is_in_the_audit_log(server, visitor):
    client = visitor()
    before = server.owner.get("/v1/audit/checkpoint").json()["size"]
    client.get("/inspect/notes")
    rows = server.owner.get("/v1/audit", params={"first": before}).json()["rows"]
    assert "memory.list" in [row["operation"] for row in rows]


def test_a_token_that_is_revoked_while_a_page_is_open_leads_to_the_sign_in_and_says_why(server, visitor):
    made = {"sub": "rita", "ops": ["get", "list", "put"], "namespaces_allowed": ["*"], "wid": "home"}
    revoked = server.owner.post("/v1/caps", json=made).raise_for_status().json()
    open_page = visitor(revoked["cap"])
    [csrf] = set(re.findall(r'name="csrf" value="([^"]+)"', open_page.get("/inspect/notes").text))
    server.owner.post("/v1/caps/revoke", json={"jti": revoked["jti"]}).raise_for_status()
    note = {"csrf": csrf, "text": "too late", "namespace": "personal"}
    answer = open_page.post("/inspect/notes", data=note, headers={"origin": server.url})
    assert (answer.status_code, "your token was revoked" in answer.text) == (401, True)


def test_signing_out_ends_the_session_for_good(server, visitor):
    client = visitor()
    secret = client.cookies["souvenance-inspector"]
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)[1]
    client.post("/inspect/sign-out", data={"csrf": csrf})
    again = httpx.get(f"{server.url}/", cookies={"souvenance-inspector": secret}, trust_env=False)
    assert again.status_code == 401


def test_open_prints_a_link_and_says_what_to_do_without_a_server(server, home):
    told = souvenance("open", "--print", home=server.home)
    assert told.out.startswith(f"{server.url}/inspect/sign-in?link=")
    souvenance("init", home=home)
    refused = souvenance("open", "--print", home=home, exit_code=9)
    assert "souvenance serve" in refused.err


def test_every_operation_of_the_gate_is_told_in_words():
    found = {name for name, _ in every_operation()}
    assert len(found) > 100
    assert found - WORDS.keys() == set()


def every_operation():
    """The operations that the modules of the gate hold, each with its module."""
    for place in pkgutil.walk_packages(gate.__path__, "souvenance.gate."):
        for one in vars(importlib.import_module(place.name)).values():
            if isinstance(one, Operation):
                yield one.name, place.name
