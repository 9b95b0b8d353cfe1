import pytest

from surfaces.door import serving

LINE = {"namespace": "travel", "text": "Trip to Chengdu"}
BODY_BYTES = 1024 * 1024
LINE_BYTES = 64 * 1024


def refused(answer):
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error", "detail", "hint"}
    assert all(isinstance(part, str) for part in answer.json().values())
    assert answer.json()["hint"], answer.text
    return answer.status_code, answer.json()["error"]


def test_a_request_without_a_cap_is_told_how_to_bring_one(server):
    answer = server.client().post("/v1/memory/get", json={})
    assert refused(answer) == (401, "cap_missing")
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert 'error_description="cap_missing"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    "credentials",
    ["", "Bearer", "Basic b3duZXI6b3duZXI=", "Token abc", "bearer", "ey.ey.ey"],
)
def test_what_is_not_a_bearer_cap_is_a_missing_cap(server, credentials):
    answer = server.client(authorization=credentials).get("/v1/status")
    assert refused(answer) == (401, "cap_missing")


@pytest.mark.parametrize("token", ["junk", "a.b.c", "~", "....", "a~b~c", "Bearer x", "x" * 20_000])
def test_what_can_not_be_read_is_a_malformed_cap(server, token):
    answer = server.client(token).get("/v1/status")
    assert refused(answer) == (401, "cap_malformed")
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_the_cap_is_judged_before_the_body_is(server, name):
    """A request without a right learns nothing about what a right request would be."""
    narrow = server.actor(name, ["get"])
    for body in (b"", b"not json", b"\xff\xfe", b"[]", b'{"unknown": 1}', b"x" * (BODY_BYTES + 1)):
        assert refused(server.client().post("/v1/memory/put", content=body)) == (401, "cap_missing")
        assert refused(server.client("junk").post("/v1/memory/put", content=body)) == (401, "cap_malformed")
        assert refused(narrow.post("/v1/memory/put", content=body)) == (403, "cap_op_mismatch")
    assert refused(server.client().get("/v1/memory/lines/not-an-id")) == (401, "cap_missing")
    assert refused(server.client().get("/v1/audit?first=x")) == (401, "cap_missing")


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"text": 1}',
        b'{"text": null}',
        b'{"text": ""}',
        b'{"text": "  \\n "}',
        b'{"text": "nul \\u0000 inside"}',
        b'{"text": "lone \\ud800 surrogate"}',
        b'{"text": "lone \xed\xa0\x80 surrogate"}',
        b'{"text": "x", "namespace": "NO"}',
        b'{"text": "x", "namespace": ""}',
        b'{"text": "x", "namespace": "travel\\n"}',
        b'{"text": "x", "namespace": "../travel"}',
        b'{"text": "x", "id": "01jd7y8q2w3e4r5t6y7v8j9k0m"}',
        b'{"text": "x", "id": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M\\n"}',
        b'{"text": "x", "kind": "Kind"}',
        b'{"text": "x", "session": ""}',
        b'{"text": "x", "session": "\\u0000"}',
        b'{"text": "x", "metadata": []}',
        b'{"text": "x", "metadata": {"n": 123456789012345678901234567890}}',
        b'{"text": "x", "metadata": {"n": "\\u0000"}}',
        b'{"text": "x", "metadata": ' + b'{"a":' * 9 + b"1" + b"}" * 9 + b"}",
        b'{"text": "x", "metadata": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
        b'{"text": "x", "occurred_at": "yesterday"}',
        b'{"text": "x", "occurred_at": "2026-05-25T09:00:00"}',
        b'{"text": "x", "occurred_at": "0001-01-01T00:00:00+23:59"}',
        b'{"text": "x", "occurred_at": 5}',
        b'{"text": "x", "owner": "someone-else"}',
    ],
)
def test_a_body_that_is_not_a_right_request_is_bad_input_and_stores_nothing(actor, body):
    assert refused(actor.post("/v1/memory/put", content=body)) == (400, "invalid_input")
    assert actor.post("/v1/memory/list", json={}).json()["lines"] == []


@pytest.mark.parametrize(
    "target",
    [
        "/v1/memory/lines/not-an-id",
        "/v1/memory/lines/01JD7Y8Q2W3E4R5T6Y7V8J9K0M?id=01JD7Y8Q2W3E4R5T6Y7V8J9K0M",
        "/v1/memory/lines/%00",
        "/v1/memory/lines/%F0%9F%90%BC",
        "/v1/audit?first=x",
        "/v1/audit?first=-1",
        "/v1/audit?first=1.5",
        "/v1/audit?first=99999999999999999999",
        "/v1/audit?first=1&first=2",
        "/v1/audit?limit=0",
        "/v1/audit?limit=1001",
        "/v1/audit?unknown=1",
        "/v1/status?owner=someone-else",
    ],
)
def test_a_query_that_is_not_a_right_request_is_bad_input(actor, target):
    assert refused(actor.get(target)) == (400, "invalid_input")


@pytest.mark.parametrize("size", [BODY_BYTES + 1, 4 * BODY_BYTES, 24 * BODY_BYTES])
def test_a_body_beyond_the_limit_is_refused_by_name(actor, size):
    assert refused(actor.post("/v1/memory/put", content=b" " * size)) == (413, "body_too_large")


def test_a_body_in_chunks_is_counted_as_it_comes(actor):
    chunks = (b" " * 65_536 for _ in range(17))
    assert refused(actor.post("/v1/memory/put", content=chunks)) == (413, "body_too_large")


def test_a_body_on_a_get_is_refused_as_documented_or_passed_over(actor):
    answer = actor.request("GET", "/v1/status", content=b" " * (BODY_BYTES + 1))
    assert answer.status_code in (200, 413)


def test_a_line_beyond_the_limit_is_refused_by_name_and_one_at_the_limit_is_not(actor):
    assert actor.post("/v1/memory/put", json={"text": "ä" * (LINE_BYTES // 2)}).status_code == 201
    answer = actor.post("/v1/memory/put", json={"text": "ä" * (LINE_BYTES // 2) + "x"})
    assert refused(answer) == (413, "line_too_long")


def test_metadata_beyond_the_limit_is_refused(actor):
    assert actor.post("/v1/memory/put", json={"text": "x", "metadata": {"long": "x" * 60_000}}).is_success
    answer = actor.post("/v1/memory/put", json={"text": "x", "metadata": {"long": "x" * 70_000}})
    assert answer.status_code == 413


def test_names_have_up_to_512_characters_and_an_actors_name_does_not_begin_with_an_at_sign(server, name):
    asked = {"ops": ["get"], "namespaces_allowed": ["travel"]}
    for sub, status in (("x" * 512, 201), ("x" * 513, 400), ("a@b", 201), ("@sessions", 400), ("@x", 400)):
        answer = server.owner.post("/v1/caps", json={"sub": sub, **asked})
        assert answer.status_code == status, sub


def test_a_namespace_that_holds_nothing_is_refused_like_one_that_does(server, actor, name):
    actor.post("/v1/memory/put", json={"namespace": "personal", "text": "allergic to peanuts"})
    narrow = server.actor(name, namespaces=["travel"])
    for path, asked in (
        ("/v1/memory/get", lambda compartment: {"namespaces": [compartment]}),
        ("/v1/memory/list", lambda compartment: {"namespaces": [compartment]}),
        ("/v1/memory/snapshot", lambda compartment: {"namespaces": [compartment]}),
        ("/v1/memory/put", lambda compartment: {"namespace": compartment, "text": "x"}),
        ("/v1/memory/forget", lambda compartment: {"namespace": compartment}),
    ):
        there, not_there = (
            narrow.post(path, json=asked(compartment)) for compartment in ("personal", "no-such-room")
        )
        assert refused(there) == (403, "namespace_denied")
        assert there.json() == not_there.json()


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/memory", "/v1/memory/lines/", "/nowhere", "/v1/memory/put/", "/health/"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found_in_json(server, path, method):
    assert refused(server.owner.request(method, path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/memory/put"),
        ("PUT", "/v1/memory/put"),
        ("DELETE", "/v1/memory/lines/01JD7Y8Q2W3E4R5T6Y7V8J9K0M"),
        ("POST", "/health"),
        ("PATCH", "/v1/audit"),
        ("OPTIONS", "/v1/memory/get"),
        ("TRACE", "/v1/status"),
    ],
)
def test_a_method_that_a_path_has_not_is_refused_in_json_with_those_it_has(server, method, path):
    answer = server.client().request(method, path)
    assert refused(answer) == (405, "method_not_allowed")
    assert method not in answer.headers["allow"]


def test_a_cap_that_asks_too_often_is_told_how_long_to_wait(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_REQUESTS_PER_MINUTE="3") as server:
        answers = [server.owner.get("/v1/caps/whoami") for _ in range(9)]
        [first, *_] = [answer for answer in answers if answer.status_code != 200]
        assert refused(first) == (429, "rate_limited")
        assert 1 <= int(first.headers["retry-after"]) <= 60
        assert [answer.status_code for answer in answers[:3]] == [200, 200, 200] or answers[
            8
        ].status_code == 200


def test_one_cap_that_asks_too_often_does_not_stop_another(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_REQUESTS_PER_MINUTE="6") as server:
        other = server.actor("someone-else")
        hasty = server.actor("hasty")
        assert 429 in [hasty.get("/v1/caps/whoami").status_code for _ in range(20)]
        assert other.get("/v1/caps/whoami").status_code == 200


def test_the_limits_of_the_environment_hold(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_BODY_BYTES="2000", SOUVENANCE_LINE_BYTES="100") as server:
        assert server.owner.post("/v1/memory/put", json={"text": "x" * 100}).status_code == 201
        assert refused(server.owner.post("/v1/memory/put", json={"text": "x" * 101})) == (
            413,
            "line_too_long",
        )
        assert refused(server.owner.post("/v1/memory/put", json={"text": "x" * 2000})) == (
            413,
            "body_too_large",
        )
