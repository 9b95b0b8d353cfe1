"""Letting a program in: one workspace, headers that no address writes, and an end to all that came of it."""

from __future__ import annotations

import pytest

from oauth.browser import Place, action, asking, fetching, hidden, refreshing
from souvenance.domain.sign_ins import form_target, may_redirect
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture
def place():
    return Place()


@pytest.mark.parametrize("workspace", ["*", " * ", "", "a\x00b"])
def test_a_consent_names_one_workspace(place, workspace):
    place.sign_in()
    found = place.decide(place.consent(), workspace=workspace)
    assert found.status_code == 400
    assert 'class="trouble"' in found.text


def test_the_page_of_one_workspace_lets_nobody_into_another(place):
    place.sign_in(place.world.operator(wid="acme"))
    page = place.consent()
    for workspace in ("*", "other"):
        assert place.decide(page, workspace=workspace, end="3600").status_code in (400, 403)
    assert place.decide(page, workspace="acme", end="3600").status_code == 303


HOSTS = ["a.example;script-src", "a.example,b.example", "a.example'", "*", "*.example", "a.example;", "a b"]


@pytest.mark.parametrize("host", HOSTS)
def test_no_address_adds_to_a_header(place, host):
    uri = f"https://{host}/callback"
    assert not may_redirect(uri)
    assert form_target(uri) == ""
    assert place.register(redirect_uris=[uri]).status_code == 400


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example/cb",
        "https://a.example:8443/c;d,e'f?x=;y",
        "https://[2001:db8::1]:9/cb",
        "zed://a;b/c",
    ],
)
def test_the_policy_of_the_page_names_the_host_alone(place, uri):
    told = place.register(redirect_uris=[uri]).json()
    place.sign_in()
    page = place.browser.get("/authorize", params=asking(client_id=told["client_id"], redirect_uri=uri))
    directives = [part.split()[0] for part in page.headers["content-security-policy"].split("; ")]
    assert directives == ["default-src", "style-src", "form-action", "frame-ancestors", "base-uri"]
    assert page.headers["content-security-policy"].count(";") == 4


@pytest.mark.parametrize("named", ["jti", "admin", "alice"])
def test_a_program_is_let_in_no_longer_than_who_let_it_in_or_whom_it_acts_for(place, named):
    asked = m.Mint("admin", ("put", "get", "list", "grant"), ("*",), wid="hermes", peers=("*",))
    admin = place.world.call(o.MINT, place.owner, asked)
    form = place.browser.get("/signin")
    place.browser.post(action(form), data={"csrf": hidden(form, "csrf"), "cap": admin.cap})
    first = place.fetch(fetching(place.code(choosing={"end": "3600"}))).json()
    second = place.fetch(refreshing(first["refresh_token"])).json()
    tokens = (first["access_token"], second["access_token"])
    assert [place.whoami(token).status_code for token in tokens] == [200, 200]
    place.world.clock.advance(ms=1)
    place.world.call(
        o.REVOKE, place.owner, m.Revoke(jti=admin.jti) if named == "jti" else m.Revoke(sub=named)
    )
    assert [place.whoami(token).json()["error"] for token in tokens] == ["cap_revoked"] * 2
    refused = place.fetch(refreshing(second["refresh_token"]))
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_ending_a_sign_in_ends_every_access_token_it_gave(place):
    place.sign_in()
    first = place.fetch(fetching(place.code())).json()
    second = place.fetch(refreshing(first["refresh_token"])).json()
    owner = {"authorization": f"Bearer {place.owner_cap}"}
    [known] = place.program.get("/v1/signins", headers=owner).json()["sign_ins"]
    assert place.program.post("/v1/signins/end", json={"id": known["id"]}, headers=owner).status_code == 200
    for token in (first["access_token"], second["access_token"]):
        assert place.whoami(token).json()["error"] == "cap_revoked"
    assert place.fetch(refreshing(second["refresh_token"])).status_code == 400
