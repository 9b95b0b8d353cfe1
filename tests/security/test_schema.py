"""Nothing is deleted while something in the store could keep a copy of it; the doctor names what could."""

from __future__ import annotations

import pytest

from security.folder import Folder
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.peers import DELETE_PEER, DeletePeer
from souvenance.gate.conversation.sessions import DELETE_SESSION, OPEN_SESSION, OfSession, OpenSession

SECRET = "Allergic to peanuts"
COPY = "CREATE TABLE copies AS SELECT sealed FROM lines"
PLANTED = {
    "a trigger": (
        "CREATE TRIGGER keeper AFTER DELETE ON lines"
        " BEGIN UPDATE counters SET name = hex(old.sealed) WHERE name = 'caps'; END",
        "trigger 'keeper'",
    ),
    "a table": (COPY, "table 'copies'"),
    "a view": ("CREATE VIEW mirror AS SELECT * FROM lines", "view 'mirror'"),
    "an index": ("CREATE INDEX lines_sealed ON lines (sealed)", "index 'lines_sealed'"),
    "a column": ("ALTER TABLE audit ADD COLUMN kept BLOB", "table 'audit' was altered"),
    "a check": (
        "PRAGMA writable_schema = 1; UPDATE sqlite_master"
        " SET sql = replace(sql, 'detail TEXT NOT NULL', 'detail TEXT NOT NULL CHECK (detail <> 1)')"
        " WHERE name = 'audit'",
        "table 'audit' was altered",
    ),
    "another index in the place of ours": (
        "DROP INDEX lines_held; CREATE INDEX lines_held ON lines (sealed)",
        "index 'lines_held' was altered",
    ),
    "a name that would fool a terminal": (
        'CREATE TABLE "ok\x1b[2K" (kept BLOB)',
        r"table 'ok\x1b[2K'",
    ),
}


@pytest.fixture
def folder(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put(SECRET, "personal")
        guest.put("Trip to Chengdu")
    return folder


def plant(folder, script):
    with folder.raw() as connection:
        connection.executescript(script)


@pytest.mark.parametrize("what", PLANTED)
def test_while_something_unknown_could_keep_it_nothing_is_deleted(folder, what):
    script, named = PLANTED[what]
    plant(folder, script)
    with folder.opened() as guest:
        [line] = guest.call(o.LIST, m.List(namespaces=("personal",))).lines
        for request in (m.Forget(id=line.id), m.Forget(namespace="personal"), m.Forget(owner="owner")):
            refused = guest.refusal(o.FORGET, request)
            assert refused is not None
            assert (refused.code, named in refused.detail) == ("schema_unknown", True), refused.detail
        assert guest.code(o.ROTATE, m.RotateKeys()) == "schema_unknown"
        assert guest.texts("allergic", k=1) == [SECRET]
        assert guest.outcomes()[-5:-1] == [("memory.forget", "schema_unknown")] * 3 + [
            ("keys.rotate", "schema_unknown")
        ]
    code, told = folder.doctor()
    assert (code, named in told) == (10, True), told


def test_a_conversation_is_not_deleted_either(folder):
    with folder.opened() as guest:
        place = {"workspace_id": "default"}
        said = [NewMessage(peer_id="ann", content=SECRET)]
        guest.call(OPEN_SESSION, OpenSession(**place, id="s1"))
        guest.call(ADD_MESSAGES, AddMessages(**place, session_id="s1", messages=said))
        plant(folder, COPY)
        assert guest.code(DELETE_SESSION, OfSession(**place, session_id="s1")) == "schema_unknown"
        assert guest.code(DELETE_PEER, DeletePeer(**place, peer_id="ann")) == "schema_unknown"


def test_once_it_is_removed_as_the_hint_says_the_deletion_leaves_no_byte(folder):
    plant(folder, PLANTED["a trigger"][0])
    [sealed] = folder.column("SELECT sealed FROM lines WHERE namespace = 'personal'")
    with folder.opened() as guest:
        refused = guest.refusal(o.FORGET, m.Forget(namespace="personal"))
        statement = refused.hint.rpartition("remove it: ")[2]
        assert statement == 'DROP TRIGGER "keeper"'
        plant(folder, statement)
        answer = guest.call(o.FORGET, m.Forget(namespace="personal"))
        assert answer.scrubbed
        receipt = guest.call(o.VERIFY_RECEIPT, m.VerifyReceipt(answer.receipt)).receipt
        assert "schema" in receipt.verified
    assert folder.holding(sealed) == []
    assert folder.holding(sealed.hex().upper().encode()) == []


def test_what_is_missing_is_told_and_keeps_nobody_from_forgetting(folder):
    plant(folder, "DROP INDEX lines_held")
    with folder.opened() as guest:
        assert guest.call(o.FORGET, m.Forget(namespace="personal")).scrubbed
    code, told = folder.doctor()
    assert (code, "index 'lines_held' is missing" in told) == (10, True), told


def test_statistics_of_the_database_are_no_finding(folder):
    plant(folder, "ANALYZE")
    code, told = folder.doctor()
    assert code == 0, told
