"""The Honcho door takes the names that Honcho's server takes, and answers with its statuses."""

from __future__ import annotations

import pytest

from souvenance.domain.reasoning_settings import MOST_OBSERVERS


def refused(answer):
    return answer.status_code, answer.json()["error"]


@pytest.mark.parametrize("field", ["id", "name"])
def test_what_is_made_may_be_named_by_id_or_name(stage, owner, field):
    made = owner.ask("POST", "/v3/workspaces", json={field: "other"})
    assert (made.status_code, made.json()["id"]) == (201, "other")
    made = owner.ask("POST", "/peers", json={field: "ann"})
    assert (made.status_code, made.json()["id"]) == (201, "ann")
    made = owner.ask("POST", "/sessions", json={field: "talk"})
    assert (made.status_code, made.json()["id"]) == (201, "talk")


def test_an_id_beside_a_name_wins(owner):
    assert owner.ask("POST", "/peers", json={"id": "ann", "name": "bob"}).json()["id"] == "ann"


def test_a_session_s_peers_may_be_called_peer_names(owner):
    owner.ask("POST", "/sessions", json={"name": "talk", "peer_names": {"ann": {}, "bob": {}}})
    assert sorted(owner.members("talk")) == ["ann", "bob"]


def test_a_rename_s_new_name_stays_a_name(owner):
    owner.ask("POST", "/peers", json={"id": "ann"})
    assert owner.ask("POST", "/peers/ann/rename", json={"name": "anna"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/sessions/nowhere/messages/list", {}),
        ("GET", "/sessions/nowhere/messages/01M7ENKXSQN27K8P92THXMV5N1", None),
        ("GET", "/sessions/nowhere/summaries", None),
        ("POST", "/sessions/nowhere/search", {"query": "boats"}),
        ("DELETE", "/webhooks/nowhere", None),
        ("DELETE", "/conclusions/nowhere", None),
        ("GET", "/conclusions/nowhere", None),
    ],
)
def test_what_does_not_exist_is_not_found(owner, method, path, body):
    owner.ask("POST", "/v3/workspaces", json={"id": "w"})
    assert refused(owner.ask(method, path, **({} if body is None else {"json": body}))) == (404, "not_found")


def test_a_session_can_be_looked_at_without_making_it(owner):
    assert refused(owner.ask("GET", "/sessions/talk")) == (404, "not_found")
    assert owner.ask("POST", "/sessions/list", json={}).json()["total"] == 0
    made = owner.ask("POST", "/sessions", json={"id": "talk", "metadata": {"topic": "boats"}}).json()
    assert owner.ask("GET", "/sessions/talk").json() == made


def test_a_workspace_with_sessions_is_not_deleted(owner):
    owner.ask("POST", "/sessions", json={"id": "talk"})
    assert refused(owner.ask("DELETE", "")) == (409, "conflict")
    owner.ask("DELETE", "/sessions/talk")
    assert owner.ask("DELETE", "").status_code == 202


@pytest.mark.parametrize("content", [b"", b" \n\t"])
def test_an_empty_upload_is_refused(owner, content):
    files = {"file": ("notes.txt", content, "text/plain")}
    answer = owner.ask("POST", "/sessions/s/messages/upload", files=files, data={"peer_id": "ann"})
    assert refused(answer) == (422, "invalid_input")


def test_too_many_observers_are_refused(owner):
    peers = {f"p{number}": {"observe_others": True} for number in range(MOST_OBSERVERS + 1)}
    assert refused(owner.ask("POST", "/sessions/s/peers", json=peers)) == (422, "invalid_input")
    assert refused(owner.ask("POST", "/sessions", json={"id": "t", "peers": peers}))[0] == 422


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/peers", {"id": "scope.team"}),
        ("PUT", "/peers/scope.team", {"metadata": {}}),
        ("DELETE", "/peers/scope.team", None),
        ("POST", "/peers/scope.team/rename", {"name": "ann"}),
        ("POST", "/peers/ann/rename", {"name": "scope.team"}),
        ("POST", "/peers/scope.team/sessions", {}),
        ("POST", "/peers/scope.team/chat", {"query": "boats?"}),
        ("POST", "/peers/ann/chat", {"query": "boats?", "target": "scope.team"}),
        ("POST", "/peers/scope.team/representation", {}),
        ("POST", "/peers/ann/representation", {"target": "scope.team"}),
        ("GET", "/peers/scope.team/card", None),
        ("GET", "/peers/ann/card?target=scope.team", None),
        ("PUT", "/peers/scope.team/card", {"peer_card": []}),
        ("GET", "/peers/scope.team/context", None),
        ("GET", "/peers/ann/context?target=scope.team", None),
        ("POST", "/peers/scope.team/search", {"query": "boats"}),
        ("POST", "/sessions", {"id": "s", "peers": {"scope.team": {}}}),
        ("POST", "/sessions/s/peers", {"scope.team": {}}),
        ("PUT", "/sessions/s/peers", {"scope.team": {}}),
        ("DELETE", "/sessions/s/peers", ["scope.team"]),
        ("GET", "/sessions/s/peers/scope.team/config", None),
        ("PUT", "/sessions/s/peers/scope.team/config", {}),
        ("GET", "/sessions/s/context?peer_target=scope.team", None),
        ("GET", "/sessions/s/context?peer_target=ann&peer_perspective=scope.team", None),
        ("POST", "/sessions/s/messages", {"messages": [{"peer_id": "scope.team", "content": "x"}]}),
        (
            "POST",
            "/conclusions",
            {"conclusions": [{"content": "x", "observer_id": "scope.team", "observed_id": "ann"}]},
        ),
        (
            "POST",
            "/conclusions",
            {"conclusions": [{"content": "x", "observer_id": "ann", "observed_id": "scope.team"}]},
        ),
        ("POST", "/schedule_dream", {"observer": "scope.team", "dream_type": "omni"}),
        ("POST", "/scopes", {"id": "scope.team"}),
    ],
)
def test_a_scope_s_peer_is_refused_by_name_wherever_it_stands(owner, method, path, body):
    owner.ask("POST", "/scopes", json={"id": "team"})
    owner.ask("POST", "/sessions", json={"id": "s", "peers": {"ann": {}}})
    answer = owner.ask(method, path, **({} if body is None else {"json": body}))
    assert refused(answer) == (422, "invalid_input")
    assert "scope." in answer.text
