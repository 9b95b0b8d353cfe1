"""Who may take what along, and who may bring it in."""

from __future__ import annotations

import pytest

from conversation.world import staged
from gate.world import World
from portable.journeys import DIGEST, given, manager, taken
from souvenance.domain.archive_records import LineRecord, PeerRecord, SessionRecord, WebhookRecord
from souvenance.gate import archive as p

REQUESTS = [
    (p.EXPORT, p.Export()),
    (p.IMPORT, p.Import([])),
    (p.IMPORT_BEGIN, p.ImportBegin(DIGEST, {})),
    (p.IMPORT_FINISH, p.ImportFinish(DIGEST)),
]


@pytest.fixture
def here():
    with staged() as stage:
        stage.owner.say("talk", ("ann", "I like tea."), ("bo", "I like rain."))
        stage.owner.say("alone", ("bo", "Nobody hears this."))
        stage.rest()
        stage.world.put(manager(stage.world, sub="ann"), "Ann's own line.", namespace="travel")
        stage.world.put(manager(stage.world, sub="bo"), "Bo's own line.", namespace="travel")
        yield stage


def texts(records):
    return {one.text for one in records if isinstance(one, LineRecord)}


def names(records, kind):
    return {one.name for one in records if isinstance(one, kind)}


def test_a_peer_takes_along_what_is_its_own_and_nothing_else(here):
    cap = here.world.issue(sub="ann", wid="w", ops=["list", "get"])
    found = given(here.world, cap, owner="ann")
    assert {one.owner for one in found if isinstance(one, LineRecord)} == {"ann"}
    assert {"I like tea.", "Ann's own line."} <= texts(found)
    assert not {"I like rain.", "Bo's own line.", "Nobody hears this."} & texts(found)
    assert names(found, PeerRecord) == {"ann"}
    assert names(found, SessionRecord) == {"talk"}
    stays = [stay.name for one in found if isinstance(one, SessionRecord) for stay in one.members]
    assert stays == ["ann"]


def test_a_peer_takes_along_nothing_of_another(here):
    cap = here.world.issue(sub="ann", wid="w", ops=["list", "get"])
    assert here.world.code(p.EXPORT, cap, p.Export("bo")) == "cap_scope_mismatch"
    assert here.world.code(p.EXPORT, cap, p.Export()) == "cap_scope_mismatch"


def test_a_cap_takes_along_only_the_namespaces_that_it_opens(here):
    cap = manager(here.world, namespaces_allowed=["travel"])
    found = given(here.world, cap)
    assert texts(found) == {"Ann's own line.", "Bo's own line."}
    assert names(found, SessionRecord) == set()


@pytest.mark.parametrize("ops", [["get"], ["list"], ["put", "list", "snapshot"]])
def test_to_take_along_needs_the_rights_to_list_and_to_get(here, ops):
    assert here.world.code(p.EXPORT, manager(here.world, ops=ops), p.Export()) == "cap_op_mismatch"


@pytest.mark.parametrize(("operation", "request_"), REQUESTS, ids=lambda one: getattr(one, "name", ""))
def test_a_cap_of_sessions_or_of_no_namespace_may_none_of_it(here, operation, request_):
    world = here.world
    assert world.code(operation, manager(world, sessions=["talk"]), request_) == "cap_scope_mismatch"
    assert world.code(operation, manager(world, namespaces_allowed=[]), request_) == "namespace_denied"
    assert world.code(operation, manager(world, data_class="config"), request_) == "cap_data_class_mismatch"
    assert world.code(operation, None, request_) == "cap_missing"


@pytest.mark.parametrize(("operation", "request_"), REQUESTS[1:], ids=lambda one: getattr(one, "name", ""))
def test_only_who_may_write_all_of_a_workspace_brings_anything_in(here, operation, request_):
    world = here.world
    assert world.code(operation, world.issue(sub="ann", wid="w"), request_) == "cap_scope_mismatch"
    reading = manager(world, ops=["get", "list", "snapshot"])
    assert world.code(operation, reading, request_) == "cap_op_mismatch"


def test_nothing_comes_into_a_namespace_that_the_cap_does_not_open(here):
    there = World(seed=2)
    cap = manager(there, namespaces_allowed=["default"])
    records = given(here.world)
    outside = [one for one in records if isinstance(one, LineRecord) and one.namespace == "travel"]
    assert there.code(p.IMPORT, cap, p.Import(outside)) == "namespace_denied"
    assert given(there) == []


def test_no_webhook_comes_in_that_would_hear_of_more_than_the_cap_opens(here):
    configuration = {"url": "https://example.org/", "namespaces": ["*"]}
    record = WebhookRecord(name="hook", uid="u", created_at=1, configuration=configuration)
    narrow = manager(here.world, namespaces_allowed=["default"])
    assert here.world.code(p.IMPORT, narrow, p.Import([record])) == "namespace_denied"
    assert here.world.code(p.IMPORT, manager(here.world), p.Import([record])) == "ok"


def test_a_cursor_leads_nowhere_beyond_the_cap(here):
    page = here.world.call(p.EXPORT, manager(here.world), p.Export(limit=1))
    assert page.cursor is not None
    cap = here.world.issue(sub="ann", wid="w")
    found = here.world.call(p.EXPORT, cap, p.Export("ann", page.cursor, 500)).records
    assert {one.owner for one in found if isinstance(one, LineRecord)} <= {"ann"}


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "[]",
        '["line"]',
        '["line",["a"],0]',
        '["nothing",["a","b"],0]',
        '["peer",["a","b"],-1]',
        "\ud800",
    ],
)
def test_a_cursor_that_nobody_gave_is_refused(here, cursor):
    assert here.world.code(p.EXPORT, manager(here.world), p.Export(cursor=cursor)) == "invalid_input"


def test_every_page_is_in_the_log_without_a_word_of_it(here):
    cap = manager(here.world)
    given(here.world, cap, limit=2)
    rows = [row for row in here.world.rows("w") if row.event.operation == "export.page"]
    assert len(rows) > 3
    assert all(row.event.outcome == "ok" and row.event.cap == cap.jti for row in rows)
    assert "tea" not in "".join(row.event.detail for row in rows)
    taken(here.world, given(here.world))
    assert ("import.page", "ok") in here.world.outcomes("w")


def test_only_the_installation_itself_notes_a_backup(here):
    world = here.world
    assert world.code(p.NOTE_BACKUP, manager(world), p.NoteBackup(keys=True)) == "cap_scope_mismatch"
    world.call(p.NOTE_BACKUP, world.operator(), p.NoteBackup(keys=True))
    assert ("keep.backup", "ok") in world.outcomes()
