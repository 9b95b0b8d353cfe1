"""What someone puts into the database past the gate, the doctor names."""

from __future__ import annotations

import pytest

from gate.world import on_sqlite
from reference.embedder import ReferenceEmbedder
from security.folder import Folder
from souvenance.core.embedding import embed_some
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.sessions import DELETE_SESSION, OPEN_SESSION, OfSession, OpenSession
from souvenance.gate.conversation.workspaces import OPEN_WORKSPACE, OpenWorkspace

TABLES = ("lines", "terms", "vectors", "compartment_keys")


@pytest.fixture
def folder(home):
    return Folder(home)


def rows_of(folder):
    """Every row of lines, index and keys, as an intruder who copied the file has them."""
    with folder.raw() as connection:
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}


def put_back(folder, rows):
    with folder.raw() as connection:
        for table, some in rows.items():
            for row in some:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)


def test_a_forgotten_line_that_is_put_back_is_named_until_it_is_forgotten_again(folder):
    with folder.opened() as guest:
        kept, gone = guest.put("Likes tea"), guest.put("Allergic to peanuts")
        before = rows_of(folder)
        guest.call(o.FORGET, m.Forget(id=gone))
    assert folder.doctor()[0] == 0
    put_back(folder, before)
    code, told = folder.doctor()
    assert (code, f"line {gone} was forgotten, and is there again" in told) == (10, True), told
    assert kept not in told
    with folder.opened() as guest:
        guest.call(o.FORGET, m.Forget(id=gone))
    assert folder.doctor()[0] == 0


@pytest.mark.parametrize("request_", [m.Forget(namespace="travel"), m.Forget(owner="owner")])
def test_a_forgotten_compartment_that_is_put_back_is_named_with_its_keys(folder, request_):
    with folder.opened() as guest:
        line = guest.put("Allergic to peanuts")
        before = rows_of(folder)
        guest.call(o.FORGET, request_)
    put_back(folder, before)
    code, told = folder.doctor()
    assert (code, f"line {line} was forgotten, and is there again" in told) == (10, True), told
    assert "of namespace 'travel' of 'owner' was destroyed, and is there again" in told


def test_a_key_that_is_put_back_beside_the_compartment_s_new_ones_is_named(folder):
    with folder.opened() as guest:
        guest.put("Allergic to peanuts")
        before = rows_of(folder)
        guest.call(o.FORGET, m.Forget(namespace="travel"))
        guest.put("Likes tea")
    assert folder.doctor()[0] == 0
    put_back(folder, {"compartment_keys": before["compartment_keys"]})
    code, told = folder.doctor()
    assert (code, "key 1 of namespace 'travel' of 'owner' was destroyed" in told) == (10, True), told


def test_a_message_of_a_deleted_session_that_is_put_back_is_named(folder):
    place = {"workspace_id": "w", "session_id": "s"}
    with folder.opened() as guest:
        guest.call(OPEN_WORKSPACE, OpenWorkspace(id="w"))
        guest.call(OPEN_SESSION, OpenSession(workspace_id="w", id="s"))
        said = [NewMessage(peer_id="ann", content="I have a horse.")]
        [message] = guest.call(ADD_MESSAGES, AddMessages(**place, messages=said)).messages
        before = rows_of(folder)
        guest.call(DELETE_SESSION, OfSession(**place))
    assert folder.doctor()[0] == 0
    put_back(folder, before)
    code, told = folder.doctor()
    assert (code, f"line {message.id} was forgotten, and is there again" in told) == (10, True), told


def test_a_line_that_nobody_put_is_named(folder):
    with folder.opened() as guest:
        line = guest.put("Allergic to peanuts")
    other = f"{line[:-4]}ZZZZ"
    rows = rows_of(folder)["lines"]
    put_back(folder, {"lines": [tuple(other if value == line else value for value in row) for row in rows]})
    code, told = folder.doctor()
    assert (code, f"line {other} is there, and the log does not say who put it" in told) == (10, True), told


def test_a_line_under_the_id_of_a_forgotten_one_of_somebody_else_is_no_finding(folder):
    with folder.opened() as guest:
        alice = guest.mint(sub="alice")
        line = guest.put("Allergic to peanuts")
        guest.put("Of alice", cap=alice, id=line)
        guest.call(o.FORGET, m.Forget(id=line))
        assert guest.texts(cap=alice) == ["Of alice"]
    code, told = folder.doctor()
    assert code == 0, told


def test_a_line_that_was_put_again_under_its_id_is_no_finding(folder):
    with folder.opened() as guest:
        line = guest.put("Allergic to peanuts")
        guest.call(o.FORGET, m.Forget(id=line))
        guest.put("Likes tea", id=line)
    code, told = folder.doctor()
    assert code == 0, told


@pytest.fixture
def world(tmp_path):
    world = on_sqlite(tmp_path / "souvenance.db", embedder=ReferenceEmbedder())
    yield world
    world.store.close()


def embed(world):
    while embed_some(world.store, world.services):
        pass


def examined(world):
    return world.call(o.EXAMINE, world.operator(), m.Examine("default", "alice", "travel")).findings


@pytest.mark.embedded("it damages the file")
def test_a_vector_that_does_not_open_is_named_by_the_doctor_and_by_the_log_before_it_is_replaced(
    world, tmp_path
):
    cap = world.issue()
    line = world.put(cap, "hotel in Chengdu")
    embed(world)
    world.clock.advance(seconds=10)
    embed(world)
    assert examined(world) == []
    Folder(tmp_path).edit("UPDATE vectors SET sealed = zeroblob(60) WHERE id = ?", line)
    assert [line in finding for finding in examined(world)] == [True]
    world.services.index.forget()
    assert world.texts(cap, "a hotel") == ["hotel in Chengdu"]
    embed(world)
    assert examined(world) == []
    [row] = [row.event for row in world.rows() if row.event.operation == "index.vector_replaced"]
    assert (row.outcome, row.lines, row.namespaces) == ("tampered", (line,), ("travel",))


@pytest.mark.embedded("it damages the file")
def test_what_the_index_has_of_lines_that_are_not_there_is_named(world, tmp_path):
    cap = world.issue()
    line, other = world.put(cap, "hotel in Chengdu"), world.put(cap, "lunch with Mara")
    embed(world)
    for table, gone in (("vectors", line), ("terms", other)):
        stranger = f"{gone[:-4]}ZZZZ"
        Folder(tmp_path).edit(f"UPDATE {table} SET id = ? WHERE id = ?", stranger, gone)
        assert any(f"line {stranger} is in the index" in finding for finding in examined(world))
