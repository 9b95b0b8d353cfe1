from __future__ import annotations

import json

import msgspec
import pytest

from gate.world import KINDS, World, each_kind, on_sqlite
from souvenance.domain.encoding import b64, unb64
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.language import terms


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def forget(world, cap, **fields):
    return world.call(o.FORGET, cap, m.Forget(**fields))


def furnish(world):
    """Alice has two rooms, bob one, and alice one in another workspace."""
    cap = world.issue()
    lines = [world.put(cap, f"harbour {n}", "travel") for n in range(3)]
    world.put(cap, "harbour in childhood", "personal")
    world.put(world.issue(sub="bob"), "harbour of bob", "travel")
    world.put(world.issue(wid="team"), "harbour of the team", "travel")
    return cap, lines


def left(world):
    caps = (world.issue(), world.issue(sub="bob"), world.issue(wid="team"))
    return sorted(text for cap in caps for text in world.texts(cap, "harbour", k=20))


OTHERS = ["harbour of bob", "harbour of the team"]


def test_a_forgotten_line_is_gone_for_every_way_of_asking(world):
    cap, [line, *_] = furnish(world)
    answer = forget(world, cap, id=line)
    assert (answer.lines, answer.keys, answer.namespaces, answer.scrubbed) == (1, 0, ["travel"], True)
    assert world.code(o.LINE, cap, m.GetLine(line)) == "not_found"
    assert line not in world.ids(cap, history=True)
    assert left(world) == sorted(["harbour 1", "harbour 2", "harbour in childhood", *OTHERS])
    assert "harbour 0" not in world.call(o.SNAPSHOT, cap, m.Snapshot()).profile


def test_no_analysis_of_a_text_is_kept_in_memory_once_something_was_forgotten(world):
    cap, [line, *_] = furnish(world)
    terms.terms("harbour 0")
    forget(world, cap, id=line)
    assert terms.of_short.cache_info().currsize == 0


def test_a_forgotten_namespace_is_gone_with_its_keys_and_nothing_else_is(world):
    cap, _ = furnish(world)
    answer = forget(world, cap, namespace="travel")
    assert (answer.lines, answer.keys, answer.namespaces) == (3, 2, ["travel"])
    assert left(world) == sorted(["harbour in childhood", *OTHERS])


def test_a_forgotten_owner_is_gone_from_the_cap_s_workspace(world):
    cap, _ = furnish(world)
    answer = forget(world, cap, owner="alice")
    assert (answer.lines, answer.keys, answer.namespaces) == (4, 4, ["personal", "travel"])
    assert left(world) == OTHERS


def test_what_was_forgotten_twice_is_only_gone_once(world):
    cap, [line, *_] = furnish(world)
    forget(world, cap, id=line)
    assert world.code(o.FORGET, cap, m.Forget(id=line)) == "not_found"
    forget(world, cap, namespace="travel")
    assert forget(world, cap, namespace="travel").lines == 0


def test_a_forgotten_compartment_can_be_furnished_anew(world):
    cap, [line, *_] = furnish(world)
    forget(world, cap, namespace="travel")
    assert not world.call(o.PUT, cap, m.Put(text="harbour again", namespace="travel", id=line)).duplicate
    assert world.texts(cap, "harbour", namespaces=("travel",)) == ["harbour again"]


def test_a_forgotten_line_s_id_can_be_used_again(world):
    cap, [line, *_] = furnish(world)
    forget(world, cap, id=line)
    assert not world.call(o.PUT, cap, m.Put(text="harbour again", namespace="travel", id=line)).duplicate


def test_forgetting_gives_a_receipt_that_the_log_confirms(world):
    cap, _ = furnish(world)
    text = forget(world, cap, namespace="travel").receipt
    receipt = world.call(o.VERIFY_RECEIPT, world.issue(), m.VerifyReceipt(text)).receipt
    row = world.rows()[receipt.row]
    assert row.leaf.hex() == receipt.leaf
    assert (row.event.operation, row.event.outcome) == ("memory.forget", "ok")
    assert row.event.namespaces == ("travel",)
    assert (receipt.owner, receipt.namespaces, receipt.line) == ("alice", ["travel"], None)
    assert (receipt.lines, receipt.keys, receipt.also) == (3, 2, 0)
    assert (receipt.actor, receipt.token, receipt.at) == (row.event.actor, row.event.cap, row.event.at)
    assert receipt.verified == ["schema", "lines", "index", "keys", "files"]
    # Where there is a bucket, it is written to after the request.
    assert set(receipt.pending) <= {"bucket"}


def test_a_receipt_that_was_altered_is_refused(world):
    cap, [line, *_] = furnish(world)
    text = forget(world, cap, id=line).receipt
    head, body, signature = text.split(".")
    told = msgspec.json.decode(unb64(body))
    forged = b64(msgspec.json.encode({**told, "lines": 3}))
    stranger = World(seed=7)
    stranger_cap, [other, *_] = furnish(stranger)
    for wrong in (
        f"{head}.{forged}.{signature}",
        f"{head}.{body}.{signature[:-8]}AAAAAAAA",
        cap.token,
        "nonsense",
        forget(stranger, stranger_cap, id=other).receipt,
    ):
        assert world.code(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(wrong)) == "receipt_invalid"


def test_a_dry_run_says_what_would_go_and_deletes_nothing(world):
    cap, lines = furnish(world)
    answer = forget(world, cap, namespace="travel", dry_run=True)
    assert (answer.lines, answer.keys, answer.namespaces) == (3, 2, ["travel"])
    assert (answer.dry_run, answer.scrubbed, answer.receipt) == (True, False, "")
    assert [(line.id, line.text) for line in answer.newest] == [
        (line, f"harbour {lines.index(line)}") for line in sorted(lines, reverse=True)
    ]
    one = forget(world, cap, id=lines[0], dry_run=True)
    assert (one.lines, [line.id for line in one.newest]) == (1, [lines[0]])
    everything = forget(world, cap, owner="alice", dry_run=True)
    assert (everything.lines, everything.keys, len(everything.newest)) == (4, 4, 3)
    assert len(left(world)) == 6
    assert world.call(o.RECONCILE, world.operator(), m.Reconcile("default")).findings == []


def test_a_dry_run_shows_text_only_to_a_token_that_may_read_it(world):
    _, [line, *_] = furnish(world)
    blind = world.issue(ops=["forget"])
    assert [one.text for one in forget(world, blind, id=line, dry_run=True).newest] == [None]
    reader = world.issue(ops=["get", "list"])
    assert world.code(o.FORGET, reader, m.Forget(id=line, dry_run=True)) == "cap_op_mismatch"


def test_a_dry_run_leaves_its_row(world):
    cap, [line, *_] = furnish(world)
    forget(world, cap, id=line, dry_run=True)
    [row] = [row for row in world.rows() if row.event.operation == "memory.forget"]
    assert json.loads(row.event.detail) == {"owner": "alice", "lines": 1, "dry_run": True}


def test_forgetting_a_correction_does_not_bring_back_what_it_corrected(world):
    cap = world.issue()
    old = world.put(cap, "Trip to Chengdu")
    new = world.call(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an")).id
    forget(world, cap, id=new)
    assert world.texts(cap) == []


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"id": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M", "namespace": "travel"},
        {"namespace": "travel", "owner": "alice"},
        {"id": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M", "namespace": "travel", "owner": "alice"},
    ],
)
def test_exactly_one_thing_is_named(world, named):
    cap, _ = furnish(world)
    assert world.code(o.FORGET, cap, m.Forget(**named)) == "invalid_input"
    assert len(left(world)) == 6


def test_a_line_of_another_owner_is_forgotten_by_a_token_that_reaches_them(world):
    bob = world.issue(sub="bob")
    line = world.put(bob, "Bob's trip")
    kept = world.put(world.issue(), "Alice's trip")
    wide = world.issue(peers=["bob"])
    assert world.code(o.FORGET, wide, m.Forget(id=line)) == "not_found"
    answer = forget(world, wide, id=line, owner="bob")
    assert (answer.lines, bool(answer.receipt)) == (1, True)
    assert world.texts(bob) == []
    assert world.call(o.VERIFY_RECEIPT, world.issue(), m.VerifyReceipt(answer.receipt)).receipt.owner == "bob"
    assert world.code(o.FORGET, wide, m.Forget(id=kept, owner="bob")) == "not_found"


def test_a_line_of_another_owner_is_corrected_by_a_token_that_reaches_them(world):
    bob = world.issue(sub="bob")
    line = world.put(bob, "Trip to Chengdu")
    correct = m.Invalidate(line, "Trip to Xi'an", owner="bob")
    assert world.code(o.INVALIDATE, world.issue(), correct) == "cap_scope_mismatch"
    assert world.code(o.INVALIDATE, world.issue(peers=["carol"]), correct) == "cap_scope_mismatch"
    world.call(o.INVALIDATE, world.issue(peers=["bob"]), correct)
    assert world.texts(bob) == ["Trip to Xi'an"]


REFUSED = {
    "a line of another owner": (
        {},
        {"id": "01JD7Y8Q2W3E4R5T6Y7V8J9K0M", "owner": "bob"},
        "cap_scope_mismatch",
    ),
    "another owner": ({}, {"owner": "bob"}, "cap_scope_mismatch"),
    "another owner, with a peer": ({"peers": ["carol"]}, {"owner": "bob"}, "cap_scope_mismatch"),
    "another room": ({"namespaces_allowed": ["travel"]}, {"namespace": "personal"}, "namespace_denied"),
    "an owner, with one room": ({"namespaces_allowed": ["travel"]}, {"owner": "alice"}, "namespace_denied"),
    "a room, with one session": ({"sessions": ["s1"]}, {"namespace": "travel"}, "cap_scope_mismatch"),
    "an owner, with one session": ({"sessions": ["s1"]}, {"owner": "alice"}, "cap_scope_mismatch"),
    "without the right": ({"ops": ["put", "invalidate"]}, {"namespace": "travel"}, "cap_op_mismatch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_more_than_the_cap_reaches_is_not_forgotten(name):
    world = World()
    furnish(world)
    claims, named, code = REFUSED[name]
    assert world.code(o.FORGET, world.issue(**claims), m.Forget(**named)) == code
    assert len(left(world)) == 6


def test_a_peer_can_be_forgotten_with_a_cap_that_opens_all_its_compartments():
    world = World()
    furnish(world)
    assert forget(world, world.issue(peers=["bob"]), owner="bob").lines == 1
    assert "harbour of bob" not in left(world)


def test_a_cap_of_one_session_forgets_lines_of_that_session_only():
    world = World()
    limited = world.issue(sessions=["s1"])
    mine, other = world.put(limited, "mine", session="s1"), world.put(world.issue(), "other", session="s2")
    assert world.code(o.FORGET, limited, m.Forget(id=other)) == "not_found"
    assert forget(world, limited, id=mine).lines == 1


def test_of_an_id_that_two_compartments_share_no_line_is_left_behind():
    world = World()
    cap, line_id = world.issue(), world.ulid()
    for namespace in ("personal", "travel"):
        world.put(cap, f"secret in {namespace}", namespace, id=line_id)
    forget(world, cap, id=line_id)
    assert world.texts(cap) == []


def test_another_process_reads_nothing_of_it_from_then_on(tmp_path):
    world = on_sqlite(tmp_path / "book.db")
    other = on_sqlite(tmp_path / "book.db", keyring=world.keyring, clock=world.clock, seed=2)
    cap, [line, *_] = furnish(world)
    assert len(other.texts(cap, "harbour", k=20)) == 4
    forget(world, cap, id=line)
    assert other.code(o.LINE, cap, m.GetLine(line)) == "not_found"
    assert len(other.texts(cap, "harbour", k=20)) == 3
    forget(world, cap, namespace="travel")
    assert other.texts(cap, "harbour", k=20) == ["harbour in childhood"]
    forget(world, cap, owner="alice")
    assert other.texts(cap, "harbour", k=20) == []
    world.store.close()
    other.store.close()
