"""The door over HTTP: an OAuth resource server whose tokens are caps."""

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from frames import inside
from mcp_door.served import hosted, run
from processes import PATIENCE_SECONDS
from souvenance.gate import messages as m
from souvenance.gate import operations as o

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def post(server, cap=None, body=None, **headers):
    given = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    if cap is not None:
        given["authorization"] = f"Bearer {cap}"
    content = json.dumps(INITIALIZE) if body is None else body
    return httpx.post(server.mcp, content=content, headers=given, trust_env=False, verify=False, timeout=60)


def test_many_may_be_the_first_to_ask_and_a_server_that_nobody_asked_stops(tmp_path):
    with hosted(tmp_path / "asked") as server, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(post, server, server.installation.owner_cap) for _ in range(8)]
        assert [one.result().status_code for one in asked] == [200] * 8
    with hosted(tmp_path / "unasked") as server:
        assert post(server).status_code == 401


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_clients_of_every_age_of_the_protocol_are_served(server, name, mode):
    async def work():
        async with server.client(server.wide(name), mode=mode) as client:
            tools = (await client.list_tools()).tools
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            prompts = (await client.list_prompts()).prompts
            result = await client.call_tool("remember", {"statements": ["Plays the oboe."]})
            return tools, resources, templates, prompts, result

    tools, resources, templates, prompts, result = run(work)
    assert len(tools) == 8
    assert [one.uri for one in resources] == ["souvenance://profile", "souvenance://sessions"]
    assert [one.uri_template for one in templates] == ["souvenance://sessions/{id}"]
    assert [one.name for one in prompts] == ["recall-first", "end-of-session"]
    assert not result.is_error


def test_resources_tell_the_profile_and_the_sessions(server, name):
    async def work():
        async with server.client(server.wide(name)) as client:
            await client.call_tool("remember", {"statements": ["Plays the oboe."]})
            uris = ("souvenance://profile", "souvenance://sessions", f"souvenance://sessions/mcp-{name}")
            return [(await client.read_resource(uri)).contents[0] for uri in uris]

    profile, sessions, session = run(work)
    assert "Plays the oboe." in inside(profile.text)
    assert f"souvenance://sessions/mcp-{name}" in sessions.text
    assert "Plays the oboe." in inside(session.text)


@pytest.mark.parametrize(
    "uri",
    ["souvenance://nothing", "souvenance://sessions/none", "souvenance://sessions/", "file:///etc/passwd"],
)
def test_a_resource_that_is_not_there_is_refused_with_our_code(server, name, uri):
    error = server.protocol_error(server.wide(name), lambda client: client.read_resource(uri))
    assert error.code == -32602
    assert error.data["error"] == "not_found" and error.data["hint"]


def test_prompts_are_given_with_their_arguments(server, name):
    async def work():
        async with server.client(server.wide(name)) as client:
            first = await client.get_prompt("recall-first", {"task": "plan the {weekend}"})
            last = await client.get_prompt("end-of-session", {})
            return first.messages[0].content.text, last.messages[0].content.text

    first, last = run(work)
    assert first.endswith("plan the {weekend}")
    assert "remember" in last


@pytest.mark.parametrize(
    ("prompt", "arguments", "code"),
    [
        ("nothing", {}, "not_found"),
        ("recall-first", {}, "invalid_input"),
        ("recall-first", {"task": "x" * 8001}, "invalid_input"),
    ],
)
def test_a_prompt_that_is_not_there_or_lacks_its_task_is_refused(server, name, prompt, arguments, code):
    error = server.protocol_error(server.wide(name), lambda client: client.get_prompt(prompt, arguments))
    assert error.data["error"] == code


def test_an_unknown_tool_is_an_error_of_the_protocol(server, name):
    error = server.protocol_error(server.wide(name), lambda client: client.call_tool("drop_it", {}))
    assert error.code == -32602
    assert error.message.startswith("Unknown tool: drop_it. There are: recall, remember, ")


def test_without_a_cap_a_client_learns_where_to_get_one(server):
    answer = post(server)
    assert (answer.status_code, answer.json()["error"]) == (401, "cap_missing")
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{server.url}/.well-known/oauth-protected-resource/mcp"' in challenge


def test_every_method_needs_a_cap_before_it_is_refused(server, name):
    for method in ("GET", "DELETE", "PUT"):
        assert httpx.request(method, server.mcp, trust_env=False, timeout=PATIENCE_SECONDS).status_code == 401
        headers = {"authorization": f"Bearer {server.wide(name)}"}
        answer = httpx.request(method, server.mcp, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS)
        assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")


def test_the_cap_of_another_installation_is_refused(server, name, tmp_path):
    with hosted(tmp_path / "elsewhere") as elsewhere:
        answer = post(server, elsewhere.wide(name))
    assert (answer.status_code, answer.json()["error"]) == (401, "cap_sig_invalid")
    assert "resource_metadata=" in answer.headers["www-authenticate"]


@pytest.mark.parametrize("cap", ["nonsense", "eyJ.eyJ.x", "local"])
def test_what_is_no_cap_is_refused(server, cap):
    assert post(server, cap).status_code == 401


def test_a_revoked_cap_is_refused_from_then_on(server, name):
    cap = server.wide(name)
    assert post(server, cap).status_code == 200
    server.call(o.REVOKE, m.Revoke(sub=name))
    answer = post(server, cap)
    assert (answer.status_code, answer.json()["error"]) == (401, "cap_revoked")


def test_a_cap_of_another_data_class_is_denied(server, name):
    answer = post(server, server.mint(name, data_class="credentials"))
    assert (answer.status_code, answer.json()["error"]) == (403, "cap_data_class_mismatch")


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_pages_of_other_sites_are_refused_before_anything_else(server, name, header):
    answer = post(server, server.wide(name), **header)
    assert (answer.status_code, answer.json()["error"]) == (403, "host_refused")


def test_a_body_that_is_too_large_is_refused(server, name):
    most = server.installation.gate.limits.body_bytes
    answer = post(server, server.wide(name), b"x" * (most + 1))
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"[" * 100_000])
def test_a_body_that_is_no_message_is_refused(server, name, body):
    answer = post(server, server.wide(name), body)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text


def test_no_session_is_kept_between_two_requests(server, name):
    assert "mcp-session-id" not in post(server, server.wide(name)).headers


def test_a_bound_cap_is_told_that_it_can_not_be_used_here(server, name):
    answer = post(server, server.wide(name), dpop="proof")
    assert (answer.status_code, answer.json()["error"]) == (401, "cap_pop_invalid")
