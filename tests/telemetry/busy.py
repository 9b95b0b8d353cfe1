"""A busy session at every door of a server: what is said, who says it, and which keys open it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import anyio
import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from model.stand_in import StandIn
from oauth.browser import Flow, fetching
from surfaces.door import PATIENCE_SECONDS, Server

OWNER_LINE = "The spare key lies under the third flowerpot"
SAID = "My sister Marguerite was born in Trondheim"
ASKED = "where-was-marguerite-born"
CHATTED = "Please remember that I am allergic to hazelnuts"
ANSWERED = "I shall keep hazelnuts away from you"
TOLD = "Octavia prefers the window seat"
WORKSPACE, PEER, SESSION, NAMESPACE = "w-zanzibar", "peer-octavia", "session-labyrinth", "ns-cinnamon"
MODEL_KEY = "sk-upstream-very-secret"
TITLE = "title-of-a-conversation"


class _Visitor(Flow):
    def __init__(self, server: Server, stack: ExitStack) -> None:
        self.owner_cap = server.owner_cap
        self.browser, self.program = (
            stack.enter_context(
                httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS, trust_env=False, verify=False)
            )
            for _ in range(2)
        )


def secrets_of(server: Server, model: StandIn) -> list[str]:
    """Live a session at every door; everything that may never be seen of it from outside."""
    with ExitStack() as stack:
        owner = stack.enter_context(
            httpx.Client(
                base_url=server.url,
                headers={"authorization": f"Bearer {server.owner_cap}"},
                timeout=PATIENCE_SECONDS,
                trust_env=False,
                verify=False,
            )
        )
        narrow = server.mint("actor-beatrix", ["put", "get"], [NAMESPACE])
        _remember(owner, narrow, server.url)
        _converse(owner)
        model.plays(ANSWERED)
        _chat(owner)
        tokens = _sign_in(_Visitor(server, stack))
        anyio.run(_speak_mcp, server.url, narrow)
        for path in (f"/v1/{ASKED}", f"/v3/workspaces/{WORKSPACE}/{PEER}/nothing", f"/metrics?who={PEER}"):
            owner.get(path)
        owner.post("/v1/memory/put", content=f"{{{SAID}".encode())
        owner.get("/v1/status", headers={"authorization": f"Bearer {SAID}"})
    caps = [server.owner_cap, narrow, *tokens]
    names = [WORKSPACE, PEER, SESSION, NAMESPACE, "actor-beatrix", TITLE]
    texts = [OWNER_LINE, SAID, ASKED, CHATTED, ANSWERED, TOLD]
    words = ["flowerpot", "Marguerite", "Trondheim", "hazelnut", "Octavia", "octavia"]
    return [*names, *texts, *words, *caps, *(one.rpartition("~")[2] for one in caps), MODEL_KEY]


def _remember(owner: httpx.Client, narrow: str, url: str) -> None:
    assert owner.post("/v1/memory/put", json={"text": OWNER_LINE}).status_code == 201
    assert owner.post("/v1/memory/get", json={"query": OWNER_LINE}).json()["lines"]
    given = {"authorization": f"Bearer {narrow}"}
    put = {"text": TOLD, "namespace": NAMESPACE, "session": SESSION}
    assert (
        httpx.post(f"{url}/v1/memory/put", json=put, headers=given, timeout=PATIENCE_SECONDS).status_code
        == 201
    )
    refused = httpx.post(
        f"{url}/v1/memory/put", json={**put, "namespace": "other"}, headers=given, timeout=PATIENCE_SECONDS
    )
    assert refused.status_code == 403
    assert httpx.get(f"{url}/v1/audit", headers=given, timeout=PATIENCE_SECONDS).status_code == 403


def _converse(owner: httpx.Client) -> None:
    place = f"/v3/workspaces/{WORKSPACE}"
    owner.post(f"{place}/sessions", json={"id": SESSION, "peers": {PEER: {}}}).raise_for_status()
    said = {"messages": [{"peer_id": PEER, "content": SAID}]}
    owner.post(f"{place}/sessions/{SESSION}/messages", json=said).raise_for_status()
    owner.get(f"{place}/sessions/{SESSION}/context", params={"search_query": ASKED}).raise_for_status()
    owner.post(f"{place}/peers/{PEER}/chat", json={"query": f"{ASKED}?"}).raise_for_status()
    with owner.stream("POST", f"{place}/peers/{PEER}/chat", json={"query": ASKED, "stream": True}) as told:
        assert told.status_code == 200
        told.read()
    owner.get(f"{place}/sessions/{SESSION}-none/context")


def _chat(owner: httpx.Client) -> None:
    for stream in (False, True):
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": CHATTED}]}
        headers = {"x-hermes-user-id": PEER, "x-hermes-session-id": TITLE}
        answer = owner.post("/v1/chat/completions", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    assert owner.get("/v1/models").status_code == 200


def _sign_in(visitor: _Visitor) -> list[str]:
    visitor.sign_in()
    code = visitor.code()
    token: dict[str, Any] = visitor.fetch(fetching(code)).json()
    visitor.fetch(fetching(code))
    device = visitor.program.post("/oauth/device", data={"client_id": "hermes-agent"}).json()
    cookies = list(visitor.browser.cookies.values())
    return [code, token["access_token"], token["refresh_token"], device["device_code"], *cookies]


async def _speak_mcp(url: str, cap: str) -> None:
    headers = {"authorization": f"Bearer {cap}"}
    with anyio.fail_after(PATIENCE_SECONDS):
        async with (
            httpx2.AsyncClient(
                headers=headers, timeout=PATIENCE_SECONDS, trust_env=False, verify=False
            ) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            await client.list_tools()
            await client.call_tool("recall", {"query": TOLD})
            await client.call_tool("remember", {"text": TOLD})
            await client.call_tool("recall", {PEER: TOLD})
