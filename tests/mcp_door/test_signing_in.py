"""The SDK's own OAuth client, as it comes, lets itself in at /mcp knowing nothing but the address."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError, oauth2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared import auth_utils
from mcp.shared.auth import OAuthClientMetadata

from mcp_door.served import PATIENCE_SECONDS, run
from oauth.browser import Flow, answered, refreshing
from souvenance.domain.capability import SIGNED_IN
from souvenance.domain.sign_ins import ACCESS_SECONDS
from souvenance.gate import messages as m
from souvenance.gate import operations as o

CALLBACK = "http://127.0.0.1:49152/callback"
METADATA = "/.well-known/oauth-protected-resource/mcp"
DISCOVERY = [METADATA, "/.well-known/oauth-authorization-server", "/oauth/register"]
TOKEN = "/oauth/token"


class Pocket:
    """Where the client keeps what it got, as the SDK asks for it."""

    def __init__(self):
        self.tokens = None
        self.client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class Owner(Flow):
    """The person at the browser, who lets the program in by the forms of the pages, for one name."""

    def __init__(self, server, name):
        self.owner_cap = server.installation.owner_cap
        self.name = name
        self.choice = {}
        self.asked = []
        self.browser = self.program = httpx.Client(
            base_url=server.url, timeout=PATIENCE_SECONDS, trust_env=False, verify=False
        )

    async def visit(self, url):
        """What the client has a browser do."""
        self.asked.append({name: value for name, (value,) in parse_qs(urlsplit(url).query).items()})
        page = self.browser.get(url)
        if 'name="cap"' in page.text:
            self.sign_in(at=url)
            page = self.browser.get(url)
        self.told = answered(self.decide(page, workspace="default", peer=self.name, **self.choice))

    async def back(self):
        """What comes to the client's own address afterwards."""
        told = self.told
        return AuthorizationCodeResult(code=told.get("code", ""), state=told["state"], iss=told["iss"])


class Newcomer:
    """A client that has signed in nowhere, and how it goes about that."""

    def __init__(self, server, name, **metadata):
        self.server = server
        self.pocket = Pocket()
        self.owner = Owner(server, name)
        self.sent = []
        self.provider = OAuthClientProvider(
            server.mcp,
            OAuthClientMetadata(client_name="A newcomer", redirect_uris=[CALLBACK], **metadata),
            self.pocket,
            redirect_handler=self.owner.visit,
            callback_handler=self.owner.back,
        )

    @asynccontextmanager
    async def client(self):
        async def note(response):
            self.sent.append((response.request.url.path, response.status_code))

        hooks = {"response": [note]}
        with self.owner.browser:
            async with (
                httpx2.AsyncClient(
                    auth=self.provider, timeout=PATIENCE_SECONDS, trust_env=False, event_hooks=hooks
                ) as http,
                Client(streamable_http_client(self.server.mcp, http_client=http)) as client,
            ):
                yield client

    def calls(self, *steps):
        """What each step answers, which is a call of a tool or something that happens in between."""

        async def work():
            answers = []
            async with self.client() as client:
                for step in steps:
                    answers.append(step() if callable(step) else await client.call_tool(*step))
            return answers

        return run(work)

    def count(self, path):
        return sum(sent == path for sent, _ in self.sent)


REMEMBER = ("remember", {"statements": ["Plays the oboe."]})
RECALL = ("recall", {"question": "Which instrument do I play, the oboe?"})


@pytest.mark.parametrize("auth", ["none", "client_secret_post", "client_secret_basic"])
def test_from_nothing_to_a_call_of_a_tool(server, name, auth):
    newcomer = Newcomer(server, name, token_endpoint_auth_method=auth)
    kept, recalled = newcomer.calls(REMEMBER, RECALL)
    assert not kept.is_error
    assert "oboe" in recalled.content[0].text
    paths = [path for path, _ in newcomer.sent]
    assert newcomer.sent[0] == ("/mcp", 401)
    assert paths[1:5] == [*DISCOVERY, TOKEN]
    assert set(paths[5:]) == {"/mcp"}
    token = newcomer.pocket.tokens
    assert token.access_token.startswith(SIGNED_IN)
    who = server.call(o.WHOAMI, m.Nothing(), token.access_token)
    assert (who.sub, who.wid, who.peers) == (name, "default", [])
    [asked] = newcomer.owner.asked
    assert asked["resource"] == server.mcp
    assert (asked["code_challenge_method"], asked["scope"]) == ("S256", "read write")


def test_an_access_token_that_is_over_is_refreshed_and_no_one_is_asked_again(server, name, monkeypatch):
    newcomer = Newcomer(server, name, token_endpoint_auth_method="none")

    def let_it_end():
        first = newcomer.pocket.tokens
        for module in (oauth2, auth_utils):
            monkeypatch.setattr(module, "time", Later(ACCESS_SECONDS + 1))
        return first

    kept, first, recalled = newcomer.calls(REMEMBER, let_it_end, RECALL)
    second = newcomer.pocket.tokens
    assert not kept.is_error
    assert not recalled.is_error
    assert first.access_token != second.access_token
    assert first.refresh_token != second.refresh_token
    assert newcomer.count(TOKEN) == 2
    assert newcomer.count("/oauth/register") == len(newcomer.owner.asked) == 1
    assert newcomer.sent[0] == ("/mcp", 401)
    assert all(status < 400 for _, status in newcomer.sent[1:])


def test_what_was_withdrawn_is_asked_for_again_by_the_same_client(server, name):
    newcomer = Newcomer(server, name, token_endpoint_auth_method="none")

    def withdraw():
        info, tokens = newcomer.pocket.client_info, newcomer.pocket.tokens
        given = {"client_id": info.client_id, "token": tokens.refresh_token}
        assert newcomer.owner.program.post("/oauth/revoke", data=given).status_code == 200

    kept, _, recalled = newcomer.calls(REMEMBER, withdraw, RECALL)
    assert not kept.is_error
    assert not recalled.is_error
    assert len(newcomer.owner.asked) == 2
    assert newcomer.count("/oauth/register") == 1


def test_who_is_allowed_to_read_alone_is_given_no_tool_that_writes(server, name):
    newcomer = Newcomer(server, name, token_endpoint_auth_method="none")
    newcomer.owner.choice = {"access": "read"}

    async def work():
        async with newcomer.client() as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    tools = run(work)
    assert "recall" in tools
    assert not tools & {"remember", "conclude", "forget"}
    assert newcomer.pocket.tokens.scope == "read"


def test_who_is_denied_gets_nothing(server, name):
    newcomer = Newcomer(server, name, token_endpoint_auth_method="none")
    newcomer.owner.choice = {"decision": "deny"}
    with pytest.RaisesGroup(OAuthFlowError, flatten_subgroups=True, allow_unwrapped=True):
        newcomer.calls(RECALL)
    assert newcomer.pocket.tokens is None


def test_a_token_for_another_server_is_not_given(server, name):
    newcomer = Newcomer(server, name, token_endpoint_auth_method="none")
    newcomer.calls(RECALL)
    owner = Owner(server, name)
    token = newcomer.pocket.tokens.refresh_token
    asked = refreshing(token, client_id=newcomer.pocket.client_info.client_id)
    with owner.browser:
        refused = owner.fetch({**asked, "resource": "https://elsewhere.example/mcp"})
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_target")
        assert owner.fetch({**asked, "resource": server.mcp}).status_code == 200


class Later:
    """The client's clock, that much ahead."""

    def __init__(self, seconds):
        self._seconds = seconds

    def time(self):
        return time.time() + self._seconds
