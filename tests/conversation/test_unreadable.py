"""What can't be read is refused as such, field by field, on every route: never a failure of the server."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import fields

from conversation.test_rights import ROUTES, TABLE, W, furnished
from conversation.world import staged

BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"a": 1e999}',
    b'{"a": [{"b": 1e999}]}',
    b'{"a": "\\ud800"}',
    b"[" * 5000,
    b'{"a":' * 2000 + b"1" + b"}" * 2000,
]
VALUES = [
    None,
    True,
    0,
    -1,
    2**70,
    1e308,
    "",
    "x" * 70_000,
    "a b",
    "\u202e",
    "*",
    [],
    [None],
    [[]],
    {},
    {"a": None},
    {"a b": {}},
    {"a": {"b": {"c": {"d": {"e": {"f": {}}}}}}},
    {"AND": {"OR": 1}},
    {"created_at": {"gt": "never"}},
    {"summary": {"messages_per_short_summary": "x"}},
]
JSON = {"content-type": "application/json"}


def assert_told(answer, asked):
    """Answered, or refused in the form that clients read."""
    assert answer.status_code < 500, (asked, answer.text)
    if answer.status_code == 422:
        detail = answer.json()["detail"]
        if isinstance(detail, list):
            assert detail, asked
            for problem in detail:
                assert set(problem) >= {"type", "loc", "msg"}, asked
                assert problem["loc"][0] in ("body", "query", "path"), asked
                assert all(isinstance(step, int) or "`" not in step for step in problem["loc"]), asked


@pytest.mark.parametrize(("method", "path"), TABLE, ids=lambda part: part.replace(W, "…"))
def test_no_body_field_or_query_makes_a_route_fail(method, path):
    route, row = ROUTES[method, path], TABLE[method, path]
    with staged() as stage:
        where = path.format(**furnished(stage))
        owner = stage.owner
        if method != "GET":
            for raw in BODIES:
                assert_told(owner.ask(method, where, content=raw, headers=JSON, params=row.query), raw[:40])
        base = row.body if isinstance(row.body, dict) and route.whole is None else {}
        for field in fields(route.operation.request):
            for value in VALUES:
                asked = (field.name, str(value)[:40])
                if route.whole == field.name:
                    assert_told(owner.ask(method, where, value, params=row.query), asked)
                elif field.name in route.in_body:
                    body = {**base, field.name: value}
                    assert_told(owner.ask(method, where, body, params=row.query), asked)
                elif field.name in route.in_query:
                    text = value if isinstance(value, str) else json.dumps(value)
                    query = {**row.query, field.name: text[:3000]}
                    assert_told(owner.ask(method, where, base or None, params=query), asked)
        assert stage.owner.code("POST", "/v3/workspaces", {"id": "w"}) in (200, 201)


def test_a_fault_inside_a_list_or_a_map_is_told_by_its_place(owner):
    batch = {"messages": [{"peer_id": "alice", "content": "x"}, {"peer_id": "alice", "content": 7}]}
    refused = owner.ask("POST", "/sessions/s/messages", batch).json()
    assert refused["detail"][0]["loc"] == ["body", "messages", 1, "content"]
    refused = owner.ask("POST", "/sessions/s/peers", {"bob": None})
    assert refused.status_code == 422
    refused = owner.ask("POST", "/sessions/s/peers", {"a b": {}})
    assert refused.json()["detail"][0]["loc"][:1] == ["body"]
