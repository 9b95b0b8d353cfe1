import asyncio
import re

import httpx
import jsonschema_rs
import pytest
from starlette.routing import Route

from processes import PATIENCE_SECONDS
from souvenance import settings_from
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import RouteTable, make_app
from surfaces.door import souvenance
from surfaces.inhabited import EVERY_ROUTE, RIGHT, inhabited, right

OF_THE_ISSUE = {
    ("get", "/health"),
    ("post", "/v1/memory/put"),
    ("post", "/v1/memory/get"),
    ("get", "/v1/memory/lines/{id}"),
    ("post", "/v1/memory/list"),
    ("post", "/v1/memory/snapshot"),
    ("post", "/v1/memory/invalidate"),
    ("post", "/v1/memory/forget"),
    ("post", "/v1/caps"),
    ("post", "/v1/caps/attenuate"),
    ("post", "/v1/caps/revoke"),
    ("get", "/v1/caps/whoami"),
    ("get", "/v1/audit"),
    ("get", "/v1/audit/checkpoint"),
    ("get", "/v1/audit/proof"),
}
BEYOND_THE_ISSUE = {
    ("get", "/ready"),
    ("get", "/v1/status"),
    ("post", "/v1/reindex"),
    ("get", "/v1/retention"),
    ("post", "/v1/retention/set"),
    ("post", "/v1/retention/remove"),
    ("post", "/v1/receipts/verify"),
    ("get", "/v1/signins"),
    ("post", "/v1/signins/end"),
    ("post", "/v1/import"),
    ("post", "/v1/import/begin"),
    ("post", "/v1/import/finish"),
}
ITSELF = {("get", path) for path in ("/openapi.json", "/docs", "/docs/page.css", "/docs/page.js")}
OF_DOORS = ("/oauth/", "/.well-known/", "/mcp")
"""Held against OpenAPI in a file of their own."""

OF_HONCHO = """
    post /v3/keys
    post /v3/workspaces
    post /v3/workspaces/list
    put … | delete …
    post …/search
    get …/queue/status
    post …/schedule_dream
    post …/peers | post …/peers/list
    put …/peers/{peer_id}
    post …/peers/{peer_id}/sessions
    post …/peers/{peer_id}/chat
    post …/peers/{peer_id}/representation
    get …/peers/{peer_id}/card | put …/peers/{peer_id}/card
    get …/peers/{peer_id}/context
    post …/peers/{peer_id}/search
    post …/sessions | post …/sessions/list
    put …/sessions/{session_id} | delete …/sessions/{session_id}
    post …/sessions/{session_id}/clone
    post …/sessions/{session_id}/peers | put …/sessions/{session_id}/peers
    get …/sessions/{session_id}/peers | delete …/sessions/{session_id}/peers
    get …/sessions/{session_id}/peers/{peer_id}/config | put …/sessions/{session_id}/peers/{peer_id}/config
    get …/sessions/{session_id}/context
    get …/sessions/{session_id}/summaries
    post …/sessions/{session_id}/search
    post …/scopes | post …/scopes/list
    get …/scopes/{scope_id}
    get …/scopes/{scope_id}/status
    post …/scopes/{scope_id}/sessions
    post …/scopes/{scope_id}/sessions/list
    delete …/scopes/{scope_id}/sessions/{session_id}
    post …/sessions/{session_id}/messages
    post …/sessions/{session_id}/messages/upload
    post …/sessions/{session_id}/messages/list
    get …/sessions/{session_id}/messages/{message_id} | put …/sessions/{session_id}/messages/{message_id}
    post …/conclusions | post …/conclusions/list
    post …/conclusions/query
    delete …/conclusions/{conclusion_id}
    post …/webhooks | get …/webhooks
    delete …/webhooks/{endpoint_id}
    get …/webhooks/test
"""
OF_NEWER_CLIENTS = "post …/chat | get …/conclusions/{conclusion_id}"
BEYOND_HONCHO = """
    delete …/peers/{peer_id}
    delete …/scopes/{scope_id}
    get …/sessions/{session_id}
    delete …/sessions/{session_id}/messages/{message_id}
    post …/peers/{peer_id}/rename
"""
ALIASES = "post …/sessions/{session_id}/messages/"


def routes(text):
    """The (method, path) pairs of a text in which … stands for a workspace."""
    told = text.replace("…", "/v3/workspaces/{workspace_id}").replace("|", "\n").split("\n")
    return {tuple(line.split()) for line in told if line.strip()}


async def routed(app):
    """The routes of an application: it writes itself into every scope."""
    scope, messages = {"type": "lifespan"}, iter(("lifespan.startup", "lifespan.shutdown"))

    async def receive():
        return {"type": next(messages)}

    async def send(message):
        assert message["type"].endswith(".complete")

    await app(scope, receive, send)
    return scope["app"].routes


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Every (method, path) that the application routes, HEAD aside."""
    installation = open_installation(settings_from({}, str(tmp_path_factory.mktemp("app") / "home")))
    try:
        found = []
        for route in asyncio.run(routed(make_app(installation.gate))):
            found += route.routes if isinstance(route, RouteTable) else [route]
        assert all(isinstance(route, Route) for route in found)
        return {(method.lower(), route.path) for route in found for method in route.methods - {"HEAD"}}
    finally:
        installation.close()


def listed(document):
    """What is listed, but for the doors that describe themselves."""
    return {
        (method, path)
        for path, methods in document["paths"].items()
        for method in methods
        if not path.startswith(OF_DOORS)
    }


def test_openapi_lists_exactly_the_routes_served(server, served):
    assert listed(server.openapi) == served - ITSELF - routes(ALIASES)


def test_the_routes_of_the_memory_are_those_of_its_issue(server):
    own = {(method, path) for method, path in listed(server.openapi) if not path.startswith("/v3/")}
    assert own == OF_THE_ISSUE | BEYOND_THE_ISSUE


def test_the_routes_of_the_honcho_door_are_honchos_and_those_that_delete_rename_and_read(server):
    theirs = {(method, path) for method, path in listed(server.openapi) if path.startswith("/v3/")}
    assert theirs == routes(OF_HONCHO) | routes(OF_NEWER_CLIENTS) | routes(BEYOND_HONCHO)
    assert len(routes(OF_HONCHO)) == 52


@pytest.fixture(scope="module")
def unchanged(server):
    """What those share who only read."""
    return inhabited(server.owner)


@pytest.mark.parametrize("operation", RIGHT)
def test_the_owner_s_right_request_is_granted_and_answered_in_the_shape_that_openapi_promises(
    server, unchanged, operation
):
    route = EVERY_ROUTE[operation]
    names = inhabited(server.owner) if route.operation.writes else unchanged
    if operation == "workspaces.delete":
        server.owner.delete(f"/v3/workspaces/{names['workspace_id']}/sessions/{names['session_id']}")
    answer = right(operation, names).sent(server.owner, route, names)
    assert answer.status_code in (route.status, route.existing), answer.text
    described = server.openapi["paths"][route.path][route.method.lower()]["responses"]
    content = described[str(answer.status_code)].get("content")
    if content is None:
        assert answer.content == b""
    else:
        schema = content["application/json"]["schema"]
        validator = jsonschema_rs.validator_for({**schema, "components": server.openapi["components"]})
        validator.validate(answer.json())


@pytest.mark.parametrize("operation", ["workspaces.chat", "peers.chat"])
def test_an_answer_in_pieces_is_of_a_kind_that_openapi_lists(server, operation):
    names, route = inhabited(server.owner), EVERY_ROUTE[operation]
    asked = {"query": "Where does ann live?", "stream": True}
    answer = server.owner.post(route.path.format_map(names), json=asked)
    described = server.openapi["paths"][route.path]["post"]["responses"]["200"]["content"]
    assert answer.headers["content-type"].partition(";")[0] in described


def test_every_field_that_is_always_answered_is_required(server):
    schemas = server.openapi["components"]["schemas"]
    assert set(schemas["PeerAnswer"]["required"]) == set(schemas["PeerAnswer"]["properties"])
    assert schemas["ListAnswer"]["required"] == ["lines", "cursor"]
    assert "explanation" not in schemas["MessageAnswer"]["required"]


def test_an_idempotency_key_is_a_header(server):
    described = server.openapi["paths"]["/v3/workspaces/{workspace_id}/sessions/{session_id}/messages"][
        "post"
    ]
    assert {"idempotency-key"} == {one["name"] for one in described["parameters"] if one["in"] == "header"}
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert "idempotency_key" not in body["properties"]


def test_every_reference_in_openapi_leads_somewhere(server):
    text = httpx.get(f"{server.url}/openapi.json", timeout=PATIENCE_SECONDS).text
    references = set(re.findall(r'"\$ref":"#/components/schemas/(\w+)"', text))
    assert references
    assert references <= set(server.openapi["components"]["schemas"])


def test_every_route_but_those_that_tell_how_the_server_is_asks_for_a_cap_and_documents_its_absence(server):
    assert server.openapi["security"] == [{"cap": []}]
    for path, methods in server.openapi["paths"].items():
        for operation in methods.values():
            if path.startswith(OF_DOORS):
                continue
            if path in ("/health", "/ready"):
                assert operation["security"] == []
            else:
                assert "security" not in operation
                assert "cap_missing" in operation["responses"]["401"]["description"]


def test_every_operation_has_a_name_of_its_own_and_a_summary(server):
    operations = [operation for methods in server.openapi["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(operation["summary"] for operation in operations)


def test_openapi_says_the_version_that_runs(server, tmp_path):
    printed = souvenance("--version", home=tmp_path).out.split()[-1]
    assert server.openapi["info"]["version"] == printed == server.client().get("/health").json()["version"]


@pytest.mark.embedded("it damages the file")
def test_a_damaged_line_answers_the_500_that_openapi_lists(server, actor, name):
    """The one 5xx that is an answer and not a defect: it names the line and serves nothing."""
    import sqlite3

    line = actor.post("/v1/memory/put", json={"text": "Trip to Chengdu"}).json()["id"]
    with sqlite3.connect(server.home / "souvenance.db") as store:
        store.execute("UPDATE lines SET sealed = zeroblob(60) WHERE id = ?", (line,))
    store.close()
    answer = actor.get(f"/v1/memory/lines/{line}")
    assert (answer.status_code, answer.json()["error"]) == (500, "tampered")
    assert line in answer.json()["detail"]
