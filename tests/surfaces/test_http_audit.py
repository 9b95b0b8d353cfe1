import pytest

from souvenance.domain import merkle
from souvenance.domain.audit import Checkpoint, Event, Row, verify


@pytest.fixture
def log(server, actor):
    """The log with something in it."""
    for number in range(3):
        actor.post("/v1/memory/put", json={"text": f"line {number}"})
    return server.owner


def rows_of(log):
    found = []
    while True:
        page = log.get("/v1/audit", params={"first": len(found), "limit": 1000}).json()
        found += page["rows"]
        if page["next"] is None:
            return page["workspace"], found


def as_row(workspace, row):
    row = dict(row)
    seq, leaf = row.pop("seq"), bytes.fromhex(row.pop("leaf"))
    return Row(workspace, seq, Event(**row), leaf)


def test_the_log_answers_rows_that_can_be_verified_against_its_checkpoint(log):
    saved = log.get("/v1/audit/checkpoint").json()
    assert set(saved) == {"workspace", "size", "root", "at"}
    workspace, rows = rows_of(log)
    assert set(rows[0]) == {
        "seq",
        "at",
        "actor",
        "cap",
        "operation",
        "outcome",
        "namespaces",
        "lines",
        "detail",
        "leaf",
    }
    checkpoint = Checkpoint(saved["workspace"], saved["size"], bytes.fromhex(saved["root"]))
    assert verify(workspace, (as_row(workspace, row) for row in rows), checkpoint).size == len(rows)


def test_pages_of_the_log_say_where_the_next_begins(log):
    page = log.get("/v1/audit", params={"first": 1, "limit": 2}).json()
    assert [row["seq"] for row in page["rows"]] == [1, 2]
    assert page["next"] == 3


def test_an_inclusion_proof_holds_and_a_changed_one_does_not(log):
    told = log.get("/v1/audit/proof", params={"seq": 1}).json()
    path = [bytes.fromhex(step) for step in told["path"]]
    leaf, root = bytes.fromhex(told["leaf"]), bytes.fromhex(told["root"])
    assert merkle.verify_inclusion(leaf, 1, told["size"], path, root)
    assert not merkle.verify_inclusion(leaf, 2, told["size"], path, root)


def test_a_consistency_proof_holds_and_a_changed_one_does_not(log):
    told = log.get("/v1/audit/proof", params={"old": 2}).json()
    path = [bytes.fromhex(step) for step in told["path"]]
    old_root, root = bytes.fromhex(told["old_root"]), bytes.fromhex(told["root"])
    assert merkle.verify_consistency(2, old_root, told["size"], root, path)
    assert not merkle.verify_consistency(2, root, told["size"], root, path)


def test_a_proof_that_can_not_be_made_is_bad_input(log):
    for asked in (
        {},
        {"seq": 1, "old": 1},
        {"seq": 10**9},
        {"old": 10**9},
        {"size": 10**9, "seq": 0},
        {"seq": -1},
    ):
        answer = log.get("/v1/audit/proof", params=asked)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_every_refusal_of_a_genuine_cap_is_in_the_log_and_junk_is_not(server, name):
    narrow = server.actor(name, ["get", "audit"], ["travel"])
    narrow.post("/v1/memory/get", json={"namespaces": ["personal"]})
    narrow.post("/v1/memory/put", json={"text": "no"})
    size = server.owner.get("/v1/audit/checkpoint").json()["size"]
    server.client("junk").get("/v1/status")
    server.client().get("/v1/status")
    assert server.owner.get("/v1/audit/checkpoint").json()["size"] == size + 1
    _, rows = rows_of(server.owner)
    assert [row["outcome"] for row in rows if row["actor"] == name] == ["namespace_denied", "cap_op_mismatch"]


def test_a_cap_reads_the_rows_of_its_own_actor_only(server, name, log):
    narrow = server.actor(name, ["get", "audit"])
    narrow.post("/v1/memory/get", json={})
    _, rows = rows_of(narrow)
    assert {row["actor"] for row in rows} == {name}


def test_the_log_holds_no_text_and_no_question(server, actor):
    actor.post("/v1/memory/put", json={"text": "zanzibar marzipan"})
    actor.post("/v1/memory/get", json={"query": "zanzibar marzipan"})
    told = server.owner.get("/v1/audit", params={"limit": 1000}).text
    assert "zanzibar" not in told
    assert "marzipan" not in told


def test_reading_the_log_needs_the_audit_operation(server, name):
    narrow = server.actor(name, ["get"])
    for path in ("/v1/audit", "/v1/audit/checkpoint", "/v1/audit/proof?seq=0"):
        answer = narrow.get(path)
        assert (answer.status_code, answer.json()["error"]) == (403, "cap_op_mismatch")
