"""The word 'local' in place of a key: only where the server was told to trust this machine, only from it."""

from __future__ import annotations

import http.client
import json
import os
from urllib.parse import urlsplit

import httpx
import pytest

from conversation.world import HERE, InProcess, staged
from souvenance.surfaces.http.app import make_app
from surfaces.door import serving, souvenance

LOCAL = "Bearer local"


@pytest.fixture(scope="module")
def trusting(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("trusting") / "home", "--trust-loopback") as server:
        yield server


@pytest.fixture(scope="module")
def wary(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("wary") / "home") as server:
        yield server


def asked(server, *, authorization=LOCAL, path="/v3/workspaces/list", method="POST", **headers):
    """The status and, of a refusal, our code; headers are sent exactly as given."""
    place = urlsplit(server.url)
    wire = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        wire.putrequest(method, path, skip_host=True)
        said = {"Host": place.netloc, "Content-Length": "0", "Authorization": authorization, **headers}
        for name, value in said.items():
            if value is not None:
                wire.putheader(name, value)
        wire.endheaders()
        answer = wire.getresponse()
        body = answer.read()
    finally:
        wire.close()
    return answer.status if answer.status < 400 else (answer.status, json.loads(body)["error"])


def test_a_program_on_this_machine_is_the_owner_of_a_server_that_trusts_it(trusting):
    assert asked(trusting) == 200
    assert asked(trusting, path="/v1/caps/whoami", method="GET") == 200


def test_the_server_says_at_its_start_whom_it_trusts(tmp_path):
    with serving(tmp_path / "home", "--trust-loopback") as server:
        assert asked(server) == 200
        told = server.stop()
        assert "Bearer local" in "".join([*server.greeting, told.out])


def test_without_being_told_to_a_server_trusts_nobody(wary):
    assert asked(wary) == (401, "cap_missing")


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "souvenance.local", "0.0.0.0", ""])
def test_a_foreign_host_gets_nothing(trusting, host):
    assert asked(trusting, Host=host) == (403, "host_refused")


@pytest.mark.parametrize(
    "origin",
    ["http://example.org", "null", "http://127.0.0.1", "http://127.0.0.1:1", "file://", "https://{}"],
)
def test_a_page_of_another_origin_gets_nothing(trusting, origin):
    if origin == "https://{}":
        origin = f"http://localhost:{urlsplit(trusting.url).port}"
    assert asked(trusting, Origin=origin) == (403, "host_refused")


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-For", ""),
        ("Forwarded", "for=127.0.0.1"),
        ("X-Real-IP", "127.0.0.1"),
        ("Via", "1.1 proxy"),
        ("X-Forwarded-Host", "127.0.0.1"),
        ("X-Forwarded-Proto", "https"),
    ],
)
def test_a_request_that_came_through_a_proxy_is_nobody_s(trusting, header, value):
    assert asked(trusting, **{header: value}) == (401, "cap_missing")


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("Bearer Local", "cap_malformed"),
        ("Bearer locale", "cap_malformed"),
        ("Bearer local~x", "cap_malformed"),
        ("Bearer ", "cap_missing"),
        ("Basic local", "cap_missing"),
        ("local", "cap_missing"),
        (None, "cap_missing"),
    ],
)
def test_no_other_word_is_trusted(trusting, authorization, code):
    assert asked(trusting, authorization=authorization) == (401, code)


def test_a_cap_is_held_to_what_it_grants_on_a_trusting_server_too(trusting):
    key = trusting.mint("alice", ["get"], ["default"])
    assert asked(trusting, authorization=f"Bearer {key}") == (401, "cap_op_mismatch")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_that_others_can_reach_may_not_trust_this_machine(home, host):
    refused = souvenance(
        "serve",
        "--port",
        "0",
        "--host",
        host,
        "--allow-remote",
        "--trust-loopback",
        home=home,
        exit_code=None,
    )
    assert refused.exit_code != 0
    assert "--trust-loopback" in refused.err
    assert "serves" not in refused.out


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("127.0.0.1", 200),
        ("127.8.8.8", 200),
        ("::1", 200),
        ("192.0.2.7", 401),
        ("10.0.0.5", 401),
        ("fe80::1", 401),
    ],
)
def test_only_an_address_of_this_machine_is_trusted(address, status):
    with staged() as stage:
        wire = InProcess(make_app(stage.world.gate, trusted=stage.owner_cap), address)
        with httpx.Client(transport=wire, base_url=HERE) as client:
            answer = client.post("/v3/workspaces/list", headers={"authorization": LOCAL})
        wire.close()
        assert answer.status_code == status


def test_what_is_done_on_trust_is_told_in_the_log_as_the_owner_s(trusting):
    assert asked(trusting, path="/v3/workspaces/list") == 200
    last = trusting.owner.get("/v1/audit", params={"limit": 1000}).json()["rows"][-1]
    assert (last["operation"], last["actor"]) == ("workspaces.list", "owner")


def test_the_trust_is_not_taken_from_the_environment(tmp_path):
    assert "SOUVENANCE_TRUST_LOOPBACK" not in os.environ
    refused = souvenance("status", home=tmp_path, settings={"SOUVENANCE_TRUST_LOOPBACK": "1"}, exit_code=None)
    assert refused.exit_code != 0
