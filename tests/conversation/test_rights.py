"""Who gets in where: every route of the Honcho door against every kind of key."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from conversation.world import staged
from gate.world import World
from souvenance.domain.capability import OPS
from souvenance.surfaces.http.honcho.routes import ADMINS, HONCHO_ROUTES

W = "/v3/workspaces/{workspace_id}"
P = f"{W}/peers/{{peer_id}}"
RENAME = f"{P}/rename"
"""In every namespace, which no key of a workspace opens."""
S = f"{W}/sessions/{{session_id}}"
C = f"{W}/scopes/{{scope_id}}"

ADMIN = {"the admin's", "the owner's"}
WORKSPACE = ADMIN | {"the workspace's"}
PEER = WORKSPACE | {"the peer's own"}
READS = PEER | {"the session's own"}
WRITES = WORKSPACE | {"the session's own"}
ANY_PEER = PEER | {"another peer's"}
ANYONE = READS | {"another peer's", "another session's"}

NOT_PERMITTED = "JWT not permissioned for this resource"
ONLY_ADMINS = "Resource requires admin privileges"
UNADMITTED = {
    "none": ("cap_missing", "No access token provided"),
    "junk": ("cap_malformed", "Invalid JWT"),
    "another installation's": ("cap_sig_invalid", "Invalid JWT"),
    "an expired one": ("cap_expired", "JWT expired"),
    "a revoked one": ("cap_revoked", "JWT revoked"),
}
UNKNOWN = ("none", "junk", "another installation's")
"""Those that are only counted, because anyone can send them."""
UNFIT = {
    "one without the op": "cap_op_mismatch",
    "one without a namespace": "namespace_denied",
    "one of credentials": "cap_data_class_mismatch",
}
FOREIGN = "another workspace's"


@dataclass(frozen=True)
class Row:
    """Who may ask, what is asked, and what the first who may is answered."""

    who: set
    status: int = 200
    body: object = None
    query: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)


def listed(who):
    return Row(who, body={})


MESSAGE = {"messages": [{"peer_id": "alice", "content": "again"}]}
CONCLUSION = {"conclusions": [{"content": "likes rain", "observer_id": "alice", "observed_id": "alice"}]}
FILE = {"files": {"file": ("a.txt", b"text", "text/plain")}, "data": {"peer_id": "alice"}}

TABLE = {
    ("POST", "/v3/workspaces"): Row(ANYONE, body={"id": "w"}),
    ("POST", "/v3/workspaces/list"): listed(ADMIN),
    ("PUT", W): Row(WORKSPACE, body={"metadata": {}}),
    ("DELETE", W): Row(WORKSPACE, 409),
    ("POST", f"{W}/search"): Row(WORKSPACE, body={"query": "tea"}),
    ("POST", f"{W}/chat"): Row(WORKSPACE, body={"query": "tea"}),
    ("GET", f"{W}/queue/status"): Row(READS, query={"session_id": "s"}),
    ("POST", f"{W}/schedule_dream"): Row(WORKSPACE, 204, {"observer": "alice", "dream_type": "omni"}),
    ("POST", f"{W}/peers/list"): listed(WORKSPACE),
    ("POST", f"{W}/peers"): Row(PEER, body={"id": "alice"}),
    ("PUT", P): Row(PEER, body={"metadata": {}}),
    ("DELETE", P): Row(WORKSPACE, 202),
    ("POST", RENAME): Row(ADMIN, body={"name": "alicia"}),
    ("POST", f"{P}/sessions"): listed(PEER),
    ("POST", f"{P}/chat"): Row(PEER, body={"query": "tea"}),
    ("POST", f"{P}/representation"): Row(PEER, body={}),
    ("GET", f"{P}/card"): Row(PEER),
    ("PUT", f"{P}/card"): Row(PEER, body={"peer_card": ["Name: Alice"]}),
    ("GET", f"{P}/context"): Row(PEER),
    ("POST", f"{P}/search"): Row(PEER, body={"query": "tea"}),
    ("POST", f"{W}/sessions/list"): listed(WORKSPACE),
    ("POST", f"{W}/sessions"): Row(READS, body={"id": "s"}),
    ("GET", S): Row(READS),
    ("PUT", S): Row(WRITES, body={"metadata": {}}),
    ("DELETE", S): Row(WRITES, 202),
    ("POST", f"{S}/clone"): Row(WORKSPACE, 201),
    ("POST", f"{S}/peers"): Row(WRITES, body={"alice": {}}),
    ("PUT", f"{S}/peers"): Row(WRITES, body={"alice": {}}),
    ("DELETE", f"{S}/peers"): Row(WRITES, body=["bob"]),
    ("GET", f"{S}/peers"): Row(READS),
    ("GET", f"{S}/peers/{{peer_id}}/config"): Row(READS),
    ("PUT", f"{S}/peers/{{peer_id}}/config"): Row(WRITES, 204, {"observe_others": True}),
    ("GET", f"{S}/context"): Row(READS),
    ("GET", f"{S}/summaries"): Row(READS),
    ("POST", f"{S}/search"): Row(READS, body={"query": "tea"}),
    ("POST", f"{W}/scopes"): Row(WORKSPACE, body={"id": "sc"}),
    ("POST", f"{W}/scopes/list"): listed(WORKSPACE),
    ("GET", C): Row(WORKSPACE),
    ("DELETE", C): Row(WORKSPACE, 204),
    ("POST", f"{C}/sessions"): Row(WORKSPACE, 204, {"session_ids": ["s"]}),
    ("DELETE", f"{C}/sessions/{{session_id}}"): Row(WORKSPACE, 204),
    ("POST", f"{C}/sessions/list"): listed(WORKSPACE),
    ("GET", f"{C}/status"): Row(WORKSPACE),
    ("POST", f"{S}/messages"): Row(WRITES, 201, MESSAGE),
    ("POST", f"{S}/messages/upload"): Row(WRITES, 201, more=FILE),
    ("POST", f"{S}/messages/list"): listed(READS),
    ("GET", f"{S}/messages/{{message_id}}"): Row(READS),
    ("PUT", f"{S}/messages/{{message_id}}"): Row(WRITES, body={"metadata": {}}),
    ("DELETE", f"{S}/messages/{{message_id}}"): Row(WRITES, 204),
    ("POST", f"{W}/conclusions"): Row(PEER, 201, CONCLUSION),
    ("POST", f"{W}/conclusions/list"): listed(ANY_PEER),
    ("POST", f"{W}/conclusions/query"): Row(ANY_PEER, body={"query": "tea"}),
    ("GET", f"{W}/conclusions/{{conclusion_id}}"): Row(ANY_PEER),
    ("DELETE", f"{W}/conclusions/{{conclusion_id}}"): Row(WORKSPACE, 204),
    ("POST", "/v3/keys"): Row(ADMIN, query={"workspace_id": "w"}),
    ("POST", f"{W}/webhooks"): Row(WORKSPACE, 201, {"url": "https://example.org/new"}),
    ("GET", f"{W}/webhooks"): Row(WORKSPACE),
    ("DELETE", f"{W}/webhooks/{{endpoint_id}}"): Row(WORKSPACE, 204),
    ("GET", f"{W}/webhooks/test"): Row(WORKSPACE),
}
ROUTES = {(route.method, route.path): route for route in HONCHO_ROUTES}


def furnished(stage):
    """What the paths' names stand for."""
    owner = stage.owner
    said = owner.say("s", "I like tea", ("bob", "So do I"))
    owner.say("t", "I am elsewhere", peer="zoe")
    stage.speaker(workspace="elsewhere").say("s", "I like coffee")
    owner.open("scopes", "sc")
    owner.told("POST", "/scopes/sc/sessions", {"session_ids": ["s"]})
    return {
        "workspace_id": "w",
        "peer_id": "alice",
        "session_id": "s",
        "scope_id": "sc",
        "message_id": said[0]["id"],
        "conclusion_id": owner.conclude("likes tea")["id"],
        "endpoint_id": owner.told("POST", "/webhooks", {"url": "https://example.org/hook"})["id"],
    }


def keys_of(stage, op):
    """A key of every kind. What is 'another's' exists, and what is 'own' is what the paths name."""
    revoked = stage.key()
    withdrawn = stage.speaker(revoked).told("GET", "/v1/caps/whoami")["jti"]
    stage.owner.told("POST", "/v1/caps/revoke", {"jti": withdrawn})
    others = [one for one in OPS if one != op]
    return {
        "none": None,
        "junk": "eyJhbGciOiJIUzI1NiJ9.junk",
        "another installation's": World(seed=2).operator().token,
        "an expired one": stage.cap(exp=stage.world.seconds - 1, nbf=stage.world.seconds - 60),
        "a revoked one": revoked,
        "one without the op": stage.cap(wid="*", data_class="*", ops=others, namespaces_allowed=["*"]),
        "one without a namespace": stage.cap(namespaces_allowed=[]),
        "one of credentials": stage.cap(data_class="credentials"),
        FOREIGN: stage.key("elsewhere"),
        "another peer's": stage.key(peer_id="zoe"),
        "another session's": stage.key(session_id="t"),
        "the peer's own": stage.key(peer_id="alice"),
        "the session's own": stage.key(session_id="s"),
        "the workspace's": stage.key(),
        "the admin's": stage.key(None),
        "the owner's": stage.owner_cap,
    }


def refusal_of(kind, path, op):
    """The code and the text that a key of this kind is refused with, if its owner may not ask."""
    if kind in UNADMITTED:
        return UNADMITTED[kind]
    code = UNFIT.get(kind, "cap_scope_mismatch")
    if kind in ("another peer's", "the peer's own") and op == "forget":
        code = "cap_op_mismatch"
    if path == RENAME and kind == "the workspace's":
        code = "namespace_denied"
    if path == "/v3/keys":
        granting = ("one without a namespace", "one of credentials")
        code = {"one without a namespace": "cap_scope_mismatch"}.get(kind, code)
        code = code if kind in granting else "cap_op_mismatch"
    return code, ONLY_ADMINS if path in ADMINS else NOT_PERMITTED


def test_every_route_of_the_door_has_its_row():
    assert set(TABLE) == set(ROUTES)
    assert len(HONCHO_ROUTES) == len(ROUTES)


@pytest.mark.parametrize(("method", "path"), TABLE, ids=lambda part: part.replace(W, "…"))
def test_a_route_lets_in_exactly_those_who_may(method, path):
    row, operation = TABLE[method, path], ROUTES[method, path].operation
    op = operation.need.op
    with staged() as stage:
        where = path.format(**furnished(stage))
        keys = keys_of(stage, op)
        before = {one: len(stage.outcomes(one)) for one in ("w", "elsewhere", "default")}
        answers = {}
        for kind in sorted(keys, key=lambda kind: kind in row.who):
            answers[kind] = stage.speaker(keys[kind]).ask(
                method, where, row.body, params=row.query, **row.more
            )
        refused = {kind: answer for kind, answer in answers.items() if kind not in row.who}
        assert {kind: (answer.status_code, told(answer)) for kind, answer in refused.items()} == {
            kind: (401, refusal_of(kind, path, op)) for kind in refused
        }
        admitted = [answers[kind].status_code for kind in answers if kind in row.who]
        assert row.status in admitted, answers
        assert {status // 100 for status in admitted} <= {2, 4}
        assert 401 not in admitted

        refusals = [
            (operation.name, refusal_of(kind, path, op)[0]) for kind in refused if kind not in UNKNOWN
        ]
        codes = {code for _, code in refusals}
        written = {
            one: [row for row in stage.outcomes(one)[before[one] :] if row[1] in codes] for one in before
        }
        assert written["elsewhere"] == [(operation.name, refusal_of(FOREIGN, path, op)[0])]
        assert written["default"] == [(operation.name, "cap_op_mismatch")], "the cap of no one workspace"
        assert sorted(row for rows in written.values() for row in rows) == sorted(refusals)


def test_what_an_admin_is_answered_is_told_in_the_log_of_the_workspace_asked_about():
    with staged() as stage:
        stage.owner.say("s", "I like tea")
        admin = stage.speaker(stage.key(None))
        before = len(stage.outcomes()), len(stage.outcomes("default"))
        admin.texts("s")
        assert admin.code("GET", "/sessions/none/summaries") == (404, "not_found")
        assert stage.outcomes()[before[0] :] == [("messages.list", "ok"), ("sessions.summaries", "not_found")]
        assert stage.outcomes("default")[before[1] :] == []


def told(answer):
    body = answer.json()
    assert set(body) == {"detail", "error", "hint"}
    assert body["hint"]
    return body["error"], body["detail"]


READ_ONLY = ["get", "list"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v3/workspaces", {"id": "new"}),
        ("/peers", {"id": "new"}),
        ("/peers", {"id": "alice", "metadata": {"a": 1}}),
        ("/peers", {"id": "alice", "configuration": {"observe_me": False}}),
        ("/sessions", {"id": "new"}),
        ("/sessions", {"id": "s", "metadata": {"a": 1}}),
        ("/sessions", {"id": "s", "metadata": {}}),
        ("/sessions", {"id": "s", "configuration": {"reasoning": {"enabled": False}}}),
        ("/sessions", {"id": "s", "peers": {"eve": {}}}),
        ("/sessions", {"id": "s", "scopes": ["sc"]}),
        ("/scopes", {"id": "new"}),
        ("/scopes", {"id": "sc", "metadata": {"a": 1}}),
    ],
    ids=str,
)
def test_a_cap_that_only_reads_finds_by_name_and_neither_makes_nor_changes(path, body):
    with staged() as stage:
        furnished(stage)
        wid = "new" if path == "/v3/workspaces" else "w"
        reader = stage.speaker(stage.cap(ops=READ_ONLY, wid=wid))
        assert reader.code("POST", path, body) == (401, "cap_op_mismatch")
        looked_up = {"/v3/workspaces": "w", "/peers": "alice", "/sessions": "s", "/scopes": "sc"}[path]
        assert stage.speaker(stage.cap(ops=READ_ONLY)).code("POST", path, {"id": looked_up}) == 200


@pytest.mark.parametrize(
    "body",
    [{"metadata": {"a": 1}}, {"metadata": {}}, {"peers": {"alice": {}}}, {"scopes": ["sc"]}],
    ids=str,
)
def test_a_peer_s_key_does_not_change_the_session_it_reads_by_opening_it(body):
    with staged() as stage:
        furnished(stage)
        alice = stage.speaker(stage.key(peer_id="alice"))
        assert alice.code("POST", "/sessions", {"id": "s"}) == 200
        assert alice.code("POST", "/sessions", {"id": "s", **body}) == (401, "cap_scope_mismatch")


def test_a_peer_s_key_reads_its_own_settings_in_a_session_and_nobody_else_s():
    with staged() as stage:
        furnished(stage)
        alice = stage.speaker(stage.key(peer_id="alice"))
        assert alice.code("GET", "/sessions/s/peers/alice/config") == 200
        assert alice.code("GET", "/sessions/s/peers/bob/config") == (401, "cap_scope_mismatch")


def test_a_peer_s_key_reads_a_session_only_while_the_peer_is_in_it():
    with staged() as stage:
        furnished(stage)
        alice = stage.speaker(stage.key(peer_id="alice"))
        assert alice.texts("s") == ["I like tea", "So do I"]
        stage.owner.told("DELETE", "/sessions/s/peers", ["alice"])
        assert alice.code("POST", "/sessions/s/messages/list") == (401, "cap_scope_mismatch")
        stage.owner.told("POST", "/sessions/s/peers", {"alice": {}})
        assert alice.code("POST", "/sessions/s/messages/list") == 200


def test_a_key_of_a_peer_in_a_session_writes_there_in_that_peer_s_name_alone():
    with staged() as stage:
        furnished(stage)
        alice = stage.speaker(stage.key(peer_id="alice", session_id="s"))
        alice.say("s", "mine")
        assert stage.owner.texts("s")[-1] == "mine"
        for session, author in (("s", "bob"), ("t", "alice"), ("new", "alice")):
            body = {"messages": [{"peer_id": author, "content": "forged"}]}
            refused = alice.code("POST", f"/sessions/{session}/messages", body)
            assert refused == (401, "cap_scope_mismatch"), (session, author)
        mixed = {"messages": [{"peer_id": who, "content": "forged"} for who in ("alice", "bob")]}
        assert alice.code("POST", "/sessions/s/messages", mixed) == (401, "cap_scope_mismatch")
        assert "forged" not in str([stage.owner.texts(session) for session in ("s", "t")])


ABSENT_AND_PRESENT = [
    ("GET", "/sessions/{}/context", ("t", "none"), None),
    ("GET", "/sessions/{}", ("t", "none"), None),
    ("GET", "/sessions/{}/summaries", ("t", "none"), None),
    ("GET", "/sessions/{}/peers", ("t", "none"), None),
    ("GET", "/sessions/{}/peers/zoe/config", ("t", "none"), None),
    ("POST", "/sessions/{}/messages/list", ("t", "none"), {}),
    ("POST", "/sessions/{}/search", ("t", "none"), {"query": "x"}),
    ("POST", "/sessions", ("t", "none"), {"id": "{}"}),
    ("GET", "/sessions/t/messages/{}", ("message_t", "none"), None),
    ("GET", "/queue/status?session_id={}", ("t", "none"), None),
    ("POST", "/peers", ("zoe", "none"), {"id": "{}"}),
    ("GET", "/peers/{}/card", ("zoe", "none"), None),
    ("GET", "/peers/{}/context", ("zoe", "none"), None),
    ("POST", "/peers/{}/representation", ("zoe", "none"), {}),
    ("POST", "/peers/{}/chat", ("zoe", "none"), {"query": "x"}),
    ("POST", "/peers/{}/sessions", ("zoe", "none"), {}),
    ("POST", "/peers/{}/search", ("zoe", "none"), {"query": "x"}),
    ("GET", "/conclusions/{}", ("conclusion_of_zoe", "01JXT21Q009TQWK74TDK2N8JBN"), None),
    ("DELETE", "/conclusions/{}", ("conclusion_of_zoe", "01JXT21Q009TQWK74TDK2N8JBN"), None),
    ("GET", "/scopes/{}", ("sc", "none"), None),
    ("GET", "/scopes/{}/status", ("sc", "none"), None),
    ("POST", "/peers/alice/representation", ("sc", "none"), {"scope": "{}"}),
    ("POST", "/peers/alice/chat", ("sc", "none"), {"query": "x", "scope": "{}"}),
    ("DELETE", "/webhooks/{}", ("endpoint_id", "none"), None),
]


@pytest.mark.parametrize("narrow", ["peer", "session"])
@pytest.mark.parametrize(
    ("method", "path", "names", "body"), ABSENT_AND_PRESENT, ids=lambda part: str(part)[:40]
)
def test_a_narrow_key_can_not_tell_what_is_not_there_from_what_it_may_not_see(
    method, path, names, body, narrow
):
    with staged() as stage:
        known = furnished(stage)
        known["conclusion_of_zoe"] = stage.owner.conclude("hums", "zoe")["id"]
        known["message_t"] = stage.owner.messages("t")[0]["id"]
        key = stage.key(peer_id="alice") if narrow == "peer" else stage.key(session_id="s")
        seen = []
        for name in names:
            name = known.get(name, name)
            filled = body and {field: name if value == "{}" else value for field, value in body.items()}
            answer = stage.speaker(key).ask(method, path.format(name), filled)
            seen.append((answer.status_code, answer.text))
        assert seen[0] == seen[1]


def test_who_asks_for_summaries_if_there_are_any_is_not_refused_and_can_not_tell_why_there_are_none():
    with staged() as stage:
        furnished(stage)
        for key in (stage.key(peer_id="alice"), stage.key(session_id="s"), stage.key()):
            before, speaker = len(stage.outcomes()), stage.speaker(key)
            seen = {name: speaker.told("GET", f"/sessions/{name}/summaries?if_any=true") for name in "st"}
            seen["none"] = speaker.told("GET", "/sessions/none/summaries?if_any=true")
            for name, answer in seen.items():
                assert answer == {"id": name, "short_summary": None, "long_summary": None}
            assert stage.outcomes()[before:] == [("sessions.summaries", "ok")] * 3
