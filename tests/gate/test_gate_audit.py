"""No audit row, no answer; and a row for everything that a signed cap asked."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from gate.world import KINDS, World, each_kind
from reference.store import MemoryStore
from souvenance.domain.audit import verify
from souvenance.domain.limits import Limits
from souvenance.errors import AuditUnavailable, StorageFull, StorageUnavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o

NOWHERE = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"


class MuteAudit:
    def __init__(self, audit):
        self.rows, self.tree = audit.rows, audit.tree

    def append(self, workspace, event):
        raise StorageUnavailable("the log is out of paper")


class MuteStore(MemoryStore):
    """A book whose audit log stops taking rows when told to."""

    mute = False

    @contextmanager
    def write(self, *of, **options):
        with super().write(*of, **options) as tx:
            if self.mute:
                tx.audit = MuteAudit(tx.audit)
            yield tx


class FullStore(MemoryStore):
    """A book that can be read and not written any more when told so."""

    full = False

    @contextmanager
    def write(self, *of, **options):
        if self.full:
            raise StorageFull("the disk is full")
        with super().write(*of, **options) as tx:
            yield tx


def furnished(world, cap):
    """A line that is there, and the receipt of one that was forgotten."""
    line, other = world.put(cap, "Trip to Chengdu"), world.put(cap, "Trip to Oslo")
    return line, world.call(o.FORGET, cap, m.Forget(id=other)).receipt


def requests(line, receipt):
    """One request for every operation, each of which would succeed."""
    return {
        o.PUT: m.Put(text="Allergic to peanuts", namespace="personal"),
        o.GET: m.Get(query="Chengdu"),
        o.LINE: m.GetLine(line),
        o.LIST: m.List(),
        o.SNAPSHOT: m.Snapshot(),
        o.INVALIDATE: m.Invalidate(line, "Trip to Xi'an"),
        o.FORGET: m.Forget(id=line),
        o.STATUS: m.Nothing(),
        o.CHAT: m.Nothing(),
        o.MINT: m.Mint(sub="owner", ops=("get",), namespaces_allowed=("travel",)),
        o.ATTENUATE: m.Attenuate(ops=("get",)),
        o.REVOKE: m.Revoke(jti=NOWHERE),
        o.WHOAMI: m.Nothing(),
        o.AUDIT: m.AuditList(),
        o.CHECKPOINT: m.Nothing(),
        o.PROOF: m.AuditProof(old=0),
        o.VERIFY_RECEIPT: m.VerifyReceipt(receipt),
        o.ROTATE: m.RotateKeys(),
        o.COMPARTMENTS: m.Nothing(),
        o.EXAMINE: m.Examine("default", "owner", "travel"),
        o.RECONCILE: m.Reconcile("default"),
        o.SCRUB: m.Nothing(),
        o.REINDEX: m.Reindex(),
    }


NAMES = {operation.name: operation for operation in o.EVERY}


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_of_any_operation_leaves_without_its_row(name):
    world = World(store=MuteStore())
    cap = world.operator()
    made = furnished(world, cap)
    before, rows = world.store._state, world.rows()
    world.store.mute = True
    operation = NAMES[name]
    with pytest.raises(AuditUnavailable):
        world.call(operation, cap, requests(*made)[operation])
    assert world.store._state == before
    assert world.rows() == rows


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_that_succeeds_leaves_one_row_with_ok(name):
    world = World()
    cap = world.operator()
    made = furnished(world, cap)
    operation = NAMES[name]
    world.call(operation, cap, requests(*made)[operation])
    assert world.outcomes()[3:] == [(name, "ok")]


def test_a_refusal_does_not_leave_without_its_row_either():
    world = World(store=MuteStore())
    travel_only = world.issue(namespaces_allowed=["travel"])
    world.store.mute = True
    assert world.code(o.GET, travel_only, m.Get(namespaces=("personal",))) == "audit_unavailable"


def test_junk_is_refused_without_the_log():
    world = World(store=MuteStore())
    world.store.mute = True
    assert world.code(o.GET, None, m.Get()) == "cap_missing"
    assert world.code(o.GET, "junk", m.Get()) == "cap_malformed"


def test_once_the_log_takes_rows_again_the_put_can_be_repeated():
    world = World(store=MuteStore())
    cap, line_id = world.issue(), world.ulid()
    world.store.mute = True
    with pytest.raises(AuditUnavailable):
        world.put(cap, "Trip to Chengdu", id=line_id)
    world.store.mute = False
    answer = world.call(o.PUT, cap, m.Put(text="Trip to Chengdu", namespace="travel", id=line_id))
    assert not answer.duplicate


def test_a_store_that_can_only_be_read_answers_nothing():
    world = World(store=FullStore())
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    world.store.full = True
    assert world.code(o.LINE, cap, m.GetLine(line)) == "audit_unavailable"
    assert world.code(o.PUT, cap, m.Put(text="Allergic to peanuts")) == "storage_full"


def test_work_that_fails_leaves_a_row_with_its_code():
    world = World(limits=Limits(line_bytes=100))
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    world.code(o.LINE, cap, m.GetLine(NOWHERE))
    world.code(o.PUT, cap, m.Put(text="Trip to Xi'an", namespace="travel", id=line))
    world.code(o.PUT, cap, m.Put(text="x" * 101, namespace="travel"))
    world.code(o.PUT, cap, m.Put(text="a\0b", namespace="travel"))
    world.code(o.MINT, cap, m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",), data_class="config"))
    assert world.outcomes()[1:] == [
        ("memory.line", "not_found"),
        ("memory.put", "conflict"),
        ("memory.put", "line_too_long"),
        ("memory.put", "invalid_input"),
        ("caps.mint", "cap_scope_mismatch"),
    ]


def test_failed_work_stores_nothing_but_its_row():
    world = World(limits=Limits(line_bytes=100))
    cap = world.issue()
    world.code(o.PUT, cap, m.Put(text="x" * 101, namespace="travel"))
    assert world.ids(cap) == []
    assert world.call(o.STATUS, cap, m.Nothing()).namespaces == []


def test_a_refused_request_names_the_compartment_it_reached_for():
    world = World()
    world.code(o.PUT, world.issue(namespaces_allowed=["travel"]), m.Put(text="x", namespace="personal"))
    assert [row.event.namespaces for row in world.rows()] == [("personal",)]


def test_junk_leaves_no_row():
    world = World()
    stranger = World(seed=2).issue()
    for token in (None, "", "junk", stranger.token):
        world.code(o.GET, token, m.Get())
    assert world.rows() == []


def test_the_row_names_who_did_what_where_and_never_what_was_said():
    world = World()
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    world.get(cap, "When do I fly to Chengdu?")
    event = world.rows()[0].event
    assert (event.actor, event.cap, event.operation) == ("alice", cap.jti, "memory.put")
    assert (event.namespaces, event.lines, event.at) == (("travel",), (line,), world.clock.ms)
    assert "Chengdu" not in repr(world.rows())


def test_each_workspace_has_a_log_of_its_own():
    world = World()
    world.put(world.issue(wid="default"), "Trip to Chengdu")
    world.put(world.issue(wid="team"), "Offsite in Porto")
    world.put(world.operator(), "Owner's own")
    assert [row.event.actor for row in world.rows("default")] == ["alice", "owner"]
    assert [row.event.actor for row in world.rows("team")] == ["alice"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_linked_through_successes_refusals_and_failures(tmp_path, kind):
    with each_kind(kind, tmp_path) as world:
        cap = world.issue()
        line = world.put(cap, "Trip to Chengdu")
        for request in (m.Put(text="ok"), m.Put(text="\0"), m.Put(text="x", namespace="travel", id=line)):
            for asking in (cap, world.issue(namespaces_allowed=["travel"]), world.issue(ops=[])):
                world.code(o.PUT, asking, request)
                world.code(o.GET, asking, m.Get(namespaces=("personal",)))
        assert verify("default", world.rows()).size == 19
        assert len({outcome for _, outcome in world.outcomes()}) == 5


def test_a_cap_sees_the_rows_of_what_it_could_do_itself_and_no_others():
    world = World()
    world.put(world.issue(sub="bob"), "Bob's own")
    world.put(world.issue(), "Allergic to peanuts", "personal")
    world.put(world.issue(), "Trip to Chengdu", "travel")
    seen = world.call(o.AUDIT, world.issue(namespaces_allowed=["travel"]), m.AuditList()).rows
    assert [(row.actor, [*row.namespaces]) for row in seen] == [("alice", ["travel"])]


def test_a_cap_of_one_session_sees_only_the_rows_it_left_itself():
    world = World()
    world.put(world.issue(), "Trip to Chengdu")
    limited = world.issue(sessions=["s1"])
    world.put(limited, "Trip to Xi'an", session="s1")
    seen = world.call(o.AUDIT, limited, m.AuditList()).rows
    assert [row.cap for row in seen] == [limited.jti]
