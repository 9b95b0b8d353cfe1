import re

import httpx
import pytest
from starlette.routing import Route

from mnemon import settings_from
from mnemon.bootstrap import open_house
from mnemon.surfaces.http.app import make_app
from surfaces.door import mnemon

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
BEYOND_THE_ISSUE = {("get", "/v1/status")}
ITSELF = {("get", "/openapi.json")}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Every (method, path) that the application routes, HEAD aside."""
    house = open_house(settings_from({}, str(tmp_path_factory.mktemp("app") / "home")))
    try:
        routes = make_app(house.gate)._app.routes
        assert all(isinstance(route, Route) for route in routes)
        return {(method.lower(), route.path) for route in routes for method in route.methods - {"HEAD"}}
    finally:
        house.close()


def listed(document):
    return {(method, path) for path, methods in document["paths"].items() for method in methods}


def test_openapi_lists_exactly_the_routes_served(server, served):
    assert listed(server.openapi) == served - ITSELF


def test_the_routes_are_those_of_the_issue(server):
    assert listed(server.openapi) == OF_THE_ISSUE | BEYOND_THE_ISSUE


def test_every_reference_in_openapi_leads_somewhere(server):
    text = httpx.get(f"{server.url}/openapi.json").text
    references = set(re.findall(r'"\$ref":"#/components/schemas/(\w+)"', text))
    assert references
    assert references <= set(server.openapi["components"]["schemas"])


def test_every_route_but_health_asks_for_a_cap_and_documents_its_absence(server):
    assert server.openapi["security"] == [{"cap": []}]
    for path, methods in server.openapi["paths"].items():
        for operation in methods.values():
            if path == "/health":
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
    printed = mnemon("--version", home=tmp_path).out.split()[-1]
    assert server.openapi["info"]["version"] == printed == server.client().get("/health").json()["version"]


def test_a_damaged_line_answers_the_500_that_openapi_lists(server, actor, name):
    """The one 5xx that is an answer and not a defect: it names the line and serves nothing."""
    import sqlite3

    line = actor.post("/v1/memory/put", json={"text": "Trip to Chengdu"}).json()["id"]
    with sqlite3.connect(server.home / "mnemon.db") as book:
        book.execute("UPDATE lines SET sealed = zeroblob(60) WHERE id = ?", (line,))
    book.close()
    answer = actor.get(f"/v1/memory/lines/{line}")
    assert (answer.status_code, answer.json()["error"]) == (500, "tampered")
    assert line in answer.json()["detail"]
