"""The whole OpenAPI description against the running server: requests as it describes them, and wrong ones."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mnemon.surfaces.http.routes import ROUTES
from surfaces.door import PATIENCE_SECONDS, serving

OPERATIONS = ["GET /health", *(f"{route.method} {route.path}" for route in ROUTES)]
TAKES_NOTHING = {"GET /health"}
NEEDS_WHAT_CHANCE_DOES_NOT_FIND = {
    "GET /v1/memory/lines/{id}",
    "POST /v1/memory/invalidate",
    "POST /v1/memory/forget",
    "POST /v1/caps",
    "POST /v1/caps/attenuate",
    "POST /v1/caps/revoke",
    "GET /v1/audit/proof",
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
bounded = settings(
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that does not mind being asked often."""
    home = tmp_path_factory.mktemp("fuzzed") / "home"
    with serving(home, MNEMON_REQUESTS_PER_MINUTE="1000000") as server:
        yield server
        assert server.owner.get("/v1/caps/whoami").status_code == 200, "the owner's cap was fuzzed away"


@pytest.fixture(scope="module")
def schema(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


@pytest.fixture(scope="module")
def session():
    with requests.Session() as session:
        yield session


@pytest.fixture(scope="module", params=["owner", "narrow", "nobody"])
def caller(request, server):
    """Who asks, and the headers they ask with."""
    match request.param:
        case "owner":
            return request.param, {"authorization": f"Bearer {server.owner_cap}"}
        case "narrow":
            cap = server.mint("fuzzed", ["get", "list"], ["travel"])
            return request.param, {"authorization": f"Bearer {cap}"}
        case _:
            return request.param, {}


def fuzzed(server, schema, session, label, mode, headers, checks):
    """The statuses that the operation answered, each held against its description."""
    statuses = set()

    @bounded
    @given(schema.find_operation_by_label(label).as_strategy(mode))
    def fuzz(case):
        answer = case.call_and_validate(
            server.url, session, headers=dict(headers), checks=checks, timeout=PATIENCE_SECONDS
        )
        statuses.add(answer.status_code)

    fuzz()
    return statuses


def test_the_operations_fuzzed_are_all_there_are(schema):
    assert [found.ok().label for found in schema.get_all_operations()] == OPERATIONS


@pytest.mark.parametrize("label", OPERATIONS)
def test_right_requests_get_the_answers_that_openapi_promises(server, schema, session, caller, label):
    who, headers = caller
    statuses = fuzzed(server, schema, session, label, GenerationMode.POSITIVE, headers, CHECKS)
    if who == "owner" and label not in NEEDS_WHAT_CHANCE_DOES_NOT_FIND:
        assert statuses & {200, 201}
    if who == "nobody" and label not in TAKES_NOTHING:
        assert statuses == {401}


@pytest.mark.parametrize("label", [label for label in OPERATIONS if label not in TAKES_NOTHING])
def test_wrong_requests_are_refused_as_openapi_promises(server, schema, session, caller, label):
    who, headers = caller
    checks = [*CHECKS, negative_data_rejection]
    statuses = fuzzed(server, schema, session, label, GenerationMode.NEGATIVE, headers, checks)
    if who == "nobody":
        assert statuses <= {401, 404}
