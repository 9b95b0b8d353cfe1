"""The whole OpenAPI description against the application: requests as it describes them, and wrong ones.

The application is the real one, in this process, on a data folder of its own. Of the names in right requests
most are replaced by those of things that exist, so that the fuzzing reaches what lies behind the look-up.
"""

from functools import cache, partial

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from msgspec.structs import replace
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pace import examples
from souvenance import settings_from
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from surfaces.inhabited import EVERY_ROUTE, OTHER_PEER, PEER, SESSION, inhabited

pytestmark = pytest.mark.long

LABELS = {name: f"{route.method} {route.path}" for name, route in EVERY_ROUTE.items()}
CHANGING = {LABELS[name] for name, route in EVERY_ROUTE.items() if route.operation.writes}
OPERATIONS = ["GET /health", "GET /ready", *LABELS.values()]
TAKES_NOTHING = {"GET /health", "GET /ready"}
NEEDS_WHAT_CHANCE_DOES_NOT_FIND = {
    LABELS[name]
    for name in (
        "memory.line",
        "memory.invalidate",
        "memory.forget",
        "caps.mint",
        "caps.attenuate",
        "caps.revoke",
        "signin.withdraw",
        "audit.proof",
        "receipt.verify",
        "keys.new",
        "messages.upload",
        "sessions.clone",
        "scopes.delete",
        "workspaces.delete",
        "webhooks.add",
        "conclusions.add",
    )
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
HOST = "127.0.0.1"
WORKSPACE = "fuzzed"
EXISTING = {"observer": PEER, "observed": OTHER_PEER, "target": PEER, "session_ids": [SESSION]}
"""What stands in place of a generated name inside a body or a query."""


def bounded(most):
    return settings(
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


class NoWebhookSender:
    """A courier that stays at home: what chance makes of URLs is nobody's to be called."""

    def __init__(self, webhook_sender):
        self.check = webhook_sender.check

    def deliver(self, parcel):
        pass


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A house that does not mind being asked often, whose workshop must cope with all that was said."""
    known = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000"}
    installation = open_installation(settings_from(known, str(tmp_path_factory.mktemp("fuzzed") / "home")))
    complaints = []
    installation.worker._report = complaints.append
    installation.worker._services = replace(
        installation.worker._services,
        webhook_sender=NoWebhookSender(installation.worker._services.webhook_sender),
    )
    yield installation
    while installation.worker.work_once():
        pass
    installation.worker._senders.shutdown()
    assert complaints == []
    installation.close()


@pytest.fixture(scope="module")
def app(installation):
    return make_app(installation.gate)


@pytest.fixture(scope="module")
def owner(app, installation):
    with asgi.ASGIClient(app, f"http://{HOST}") as client:
        client.headers["authorization"] = f"Bearer {installation.owner_cap}"
        yield client
        assert client.get("/v1/caps/whoami").status_code == 200, "the owner's cap was fuzzed away"


@pytest.fixture(scope="module")
def client(app):
    with asgi.ASGIClient(app) as client:
        yield client


@pytest.fixture(scope="module")
def schema(app):
    found = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"host": HOST})
    refusals = found.config.checks.negative_data_rejection
    refusals.expected_statuses = [*refusals.expected_statuses, "413"]
    errors = found.config.checks.not_a_server_error
    errors.expected_statuses = [*errors.expected_statuses, "501"]  # Nothing broke: no model is there.
    return found


@pytest.fixture(scope="module")
def names():
    """The names of what exists, as the newest world has them; none once somebody may have changed it."""
    return {}


@pytest.fixture
def populated(owner, names, caller, label):
    """A workspace in which every kind of thing exists, made anew after each who may have changed it."""
    if not names:
        names.update(inhabited(owner, WORKSPACE))
    yield
    if caller[0] == "owner" and label in CHANGING:
        names.clear()


class Drawn:
    """Requests of one operation that chance made; who asks less often asks the first of them.

    Half as many are wrong ones: each takes several times as long to make as a right one.
    """

    def __init__(self, schema, label, mode):
        self._cases = []

        @bounded(max(CALLERS.values()) // (2 if mode is GenerationMode.NEGATIVE else 1))
        @given(schema.find_operation_by_label(label).as_strategy(mode))
        def draw(case):
            self._cases.append((case, case.path_parameters, case.query, case.body))

        draw()

    def first(self, most, names):
        """The first ones. Given names of what exists, every other path has only these, the rest mostly."""
        for number, (case, path, query, body) in enumerate(self._cases[:most]):
            if names is not None:
                case.path_parameters = {
                    name: value if number % 2 and strange(value) else names.get(name, value)
                    for name, value in path.items()
                }
                case.query = {name: EXISTING.get(name, value) for name, value in query.items()}
                if isinstance(body, dict):
                    case.body = {name: EXISTING.get(name, it) if it else it for name, it in body.items()}
            yield case


def strange(value):
    """Whether to leave the name as chance made it."""
    return isinstance(value, str) and len(value) % 4 == 3


@pytest.fixture(scope="module")
def drawn(schema):
    """Of each operation the right requests and the wrong ones: to make them takes longer than to answer."""
    return cache(partial(Drawn, schema))


CALLERS = {"owner": examples(16), "narrow": examples(8), "nobody": examples(4)}
"""Who asks, and how often each operation: who is refused at the door gets the same refusal every time."""


@pytest.fixture(scope="module", params=CALLERS)
def caller(request, owner, installation, names):
    """Who asks, and the headers they ask with."""
    names.clear()
    cap = {"owner": installation.owner_cap, "nobody": None}.get(request.param)
    if request.param == "narrow":
        asked = {"sub": PEER, "ops": ["get", "list"], "namespaces_allowed": ["default"], "wid": WORKSPACE}
        cap = owner.post("/v1/caps", json=asked).json()["cap"]
    return request.param, {} if cap is None else {"authorization": f"Bearer {cap}"}


def fuzzed(requests, client, caller, checks, names=None):
    """The statuses that the operation answered, each held against its description."""
    who, headers = caller
    statuses = set()
    for case in requests.first(CALLERS[who], names):
        answer = case.call_and_validate(f"http://{HOST}", client, headers=dict(headers), checks=checks)
        statuses.add(answer.status_code)
    return statuses


def test_the_operations_fuzzed_are_all_there_are(schema):
    assert sorted(found.ok().label for found in schema.get_all_operations()) == sorted(OPERATIONS)


@pytest.mark.parametrize("label", OPERATIONS)
def test_right_requests_get_the_answers_that_openapi_promises(drawn, client, populated, names, caller, label):
    statuses = fuzzed(drawn(label, GenerationMode.POSITIVE), client, caller, CHECKS, names)
    if caller[0] == "owner" and label not in NEEDS_WHAT_CHANCE_DOES_NOT_FIND:
        assert statuses & {200, 201, 202, 204}
    if caller[0] == "nobody" and label not in TAKES_NOTHING:
        assert statuses == {401}


def test_what_only_a_model_can_do_is_refused_as_openapi_promises(schema, client, installation):
    rule = schema.find_operation_by_label("POST /v1/retention/set")
    case = rule.Case(body={"name": "old", "days": 500, "then": "summarise"}, media_type="application/json")
    headers = {"authorization": f"Bearer {installation.owner_cap}"}
    answer = case.call_and_validate(f"http://{HOST}", client, headers=headers, checks=CHECKS)
    assert answer.status_code == 501


def test_an_answer_that_is_streamed_is_one_that_openapi_promises(schema, client, installation):
    chat = schema.find_operation_by_label("POST /v3/workspaces/{workspace_id}/chat")
    case = chat.Case(
        path_parameters={"workspace_id": WORKSPACE},
        body={"query": "What is known of anybody?", "stream": True},
        media_type="application/json",
    )
    headers = {"authorization": f"Bearer {installation.owner_cap}"}
    answer = case.call_and_validate(f"http://{HOST}", client, headers=headers, checks=CHECKS)
    assert answer.headers["content-type"] == ["text/event-stream; charset=utf-8"]


@pytest.mark.parametrize("label", [label for label in OPERATIONS if label not in TAKES_NOTHING])
def test_wrong_requests_are_refused_as_openapi_promises(drawn, client, caller, label):
    """The Honcho door is as lenient as Honcho: what it does not know it ignores, so not all is refused."""
    checks = CHECKS if " /v3/" in label else [*CHECKS, negative_data_rejection]
    statuses = fuzzed(drawn(label, GenerationMode.NEGATIVE), client, caller, checks)
    if caller[0] == "nobody":
        assert statuses <= {401, 404, 405}
