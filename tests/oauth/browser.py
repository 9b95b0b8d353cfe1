"""A person's browser and a program's hands, before the sign-in door."""

from __future__ import annotations

import re
from hashlib import sha256
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from starlette.testclient import TestClient

from gate.world import World
from souvenance.domain.encoding import b64
from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.oauth.door import SignInDoor

ORIGIN = "http://127.0.0.1:8787"
CALLBACK = "http://127.0.0.1:49152/callback"
VERIFIER = "v" * 64


def challenge(verifier=VERIFIER):
    return b64(sha256(verifier.encode()).digest())


def asking(**changed):
    """What the Hermes plugin asks with; None leaves a field out."""
    fields = {
        "client_id": "hermes-agent",
        "redirect_uri": CALLBACK,
        "scope": "write",
        "code_challenge": challenge(),
        "code_challenge_method": "S256",
        "response_type": "code",
        "state": "the state",
        **changed,
    }
    return {name: value for name, value in fields.items() if value is not None}


def fetching(code, **changed):
    fields = {
        "grant_type": "authorization_code",
        "client_id": "hermes-agent",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        **changed,
    }
    return {name: value for name, value in fields.items() if value is not None}


def refreshing(token, **changed):
    return {"grant_type": "refresh_token", "client_id": "hermes-agent", "refresh_token": token, **changed}


def hidden(page, name):
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', page.text)[1])


def action(page):
    return unescape(re.search(r'<form method="post" action="([^"]*)"', page.text)[1])


def answered(response):
    """What a redirect tells the client."""
    assert response.status_code == 303, (response.status_code, response.text)
    return {name: value for name, (value,) in parse_qs(urlsplit(response.headers["location"]).query).items()}


class Flow:
    """What people and programs do, with whatever clients they have."""

    browser: httpx.Client
    program: httpx.Client
    owner_cap: str

    def sign_in(self, cap=None, at="/signin", browser=None):
        browser = browser or self.browser
        form = browser.get(at)
        assert form.status_code == 200, form.text
        token = self.owner_cap if cap is None else cap.token
        return browser.post(action(form), data={"csrf": hidden(form, "csrf"), "cap": token})

    def consent(self, browser=None, **changed):
        """The consent page."""
        found = (browser or self.browser).get("/authorize", params=asking(**changed))
        assert found.status_code == 200, found.text
        return found

    def decide(self, page, decision="allow", browser=None, **changed):
        form = {
            "csrf": hidden(page, "csrf"),
            "request": hidden(page, "request"),
            "decision": decision,
            "workspace": "hermes",
            "peer": "alice",
            "namespace": "default",
            "everyone": "yes",
            "access": "write",
            "end": "2592000",
            **changed,
        }
        return (browser or self.browser).post(action(page), data=form)

    def code(self, choosing=None, **changed):
        """The code that a signed-in person lets a program have."""
        return answered(self.decide(self.consent(**changed), **(choosing or {})))["code"]

    def fetch(self, fields, **options):
        return self.program.post("/oauth/token", data=fields, **options)

    def signed_in_program(self):
        self.sign_in()
        return self.fetch(fetching(self.code())).json()

    def whoami(self, token):
        return self.program.get("/v1/caps/whoami", headers={"authorization": f"Bearer {token}"})

    def register(self, **metadata):
        told = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", **metadata}
        return self.program.post("/oauth/register", json=told)

    def there(self, **fields):
        return f"/authorize?{urlencode(asking(**fields))}"


class Place(Flow):
    """A server over a world in the test's hands."""

    def __init__(self, world=None, *, trusting=False, public_url=None, origin=ORIGIN):
        self.world = world or World()
        self.reception = OAuthState(
            self.world.gate,
            store=self.world.store,
            keyring=self.world.keyring,
            clock=self.world.clock,
            entropy=self.world.entropy,
        )
        self.owner = self.world.operator(exp=self.world.seconds + 400 * 24 * 3600)
        self.owner_cap = self.owner.token
        self.app = make_app(
            self.world.gate,
            allowed_hosts=None if public_url is None else (),
            trusted=self.owner_cap if trusting else None,
            doors=[SignInDoor(self.reception, public_url)],
        )
        self.origin = origin
        self.browser = self.new_browser()
        self.program = self.new_browser()

    def new_browser(self):
        return TestClient(self.app, base_url=self.origin, client=("127.0.0.1", 50000), follow_redirects=False)
