"""The fourteen holes of the original design, each closed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Barrier

import msgspec
import pytest

from gate.world import KINDS, World, each_kind, on_sqlite
from reference.store import MemoryStore
from security.folder import Folder
from souvenance.adapters.key_files import KeyFiles
from souvenance.domain import merkle, ulid
from souvenance.domain.audit import Checkpoint, verify
from souvenance.domain.seal import key_place, open_sealed
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain, SouvenanceError, StorageUnavailable, Tampered, WrongKey
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.http.routes import ROUTES

DAY = 24 * 3600


def test_hole_1_a_ciphertext_moved_to_another_namespace_does_not_open(home):
    folder = Folder(home)
    with folder.opened() as guest:
        line = guest.put("Allergic to peanuts", "personal")
        guest.put("Trip to Chengdu", "travel")
        travel_only = guest.mint(namespaces_allowed=("travel",))
    folder.edit("UPDATE lines SET namespace = 'travel' WHERE id = ?", line)
    with folder.opened() as guest:
        refused = guest.refusal(o.LINE, m.GetLine(line), travel_only)
        assert isinstance(refused, Tampered)
        assert line in refused.detail


def test_hole_1_a_ciphertext_moved_to_another_line_does_not_open(home):
    folder = Folder(home)
    with folder.opened() as guest:
        one, two = guest.put("Trip to Chengdu"), guest.put("Trip to Porto")
    folder.edit("UPDATE lines SET sealed = (SELECT sealed FROM lines WHERE id = ?) WHERE id = ?", one, two)
    with folder.opened() as guest:
        assert guest.code(o.LINE, m.GetLine(two)) == "tampered"
        assert guest.code(o.LINE, m.GetLine(one)) == "ok"


def test_hole_2_a_captured_request_can_not_be_sent_again_or_changed():
    world = World()
    cap, request = world.issue(), m.Put(text="Pay Mara back", namespace="travel")
    captured = world.prove(cap, o.PUT, request)
    assert world.code(o.PUT, cap.bound, request, **captured) == "ok"
    assert world.code(o.PUT, cap.bound, request, **captured) == "cap_pop_invalid"
    fresh = world.prove(cap, o.PUT, request)
    other = {**fresh, "bound": world.gate.bind(o.PUT, m.Put(text="Pay Mara nothing", namespace="travel"))}
    assert world.code(o.PUT, cap.bound, request, **other) == "cap_pop_invalid"
    assert world.code(o.PUT, cap.bound, request) == "cap_pop_invalid"


def test_hole_3_a_revoked_cap_is_really_dead():
    world = World()
    cap = world.issue()
    world.put(cap, "Trip to Chengdu")
    world.call(o.REVOKE, cap, m.Revoke(jti=cap.jti))
    for operation in o.EVERY:
        assert world.code(operation, cap, operation.request) == "cap_revoked"


def test_hole_4_of_eight_threads_that_put_one_id_exactly_one_wins(tmp_path):
    first = on_sqlite(tmp_path / "book.db")
    others = [
        on_sqlite(tmp_path / "book.db", keyring=first.keyring, clock=first.clock, seed=n) for n in range(2, 9)
    ]
    worlds = [first, *others]
    cap, ids = first.issue(), [first.ulid() for _ in range(10)]
    line_up = Barrier(8)

    def race(runner):
        line_up.wait(timeout=30)
        requests = [m.Put(text=f"said by {runner}", namespace="travel", id=line) for line in ids]
        return [worlds[runner].code(o.PUT, cap, request) for request in requests]

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(race, range(8)))
    winners = [[runner for runner in range(8) if codes[runner][n] == "ok"] for n in range(len(ids))]
    assert {code for told in codes for code in told} == {"ok", "conflict"}
    assert [len(won) for won in winners] == [1] * len(ids)
    told = [first.call(o.LINE, cap, m.GetLine(line)).text for line in ids]
    assert told == [f"said by {won[0]}" for won in winners]
    for world in worlds:
        world.store.close()


def test_hole_4_of_eight_processes_that_put_one_id_exactly_one_wins(home):
    folder = Folder(home)
    with folder.opened() as guest:
        line = guest.put("to know the time")
    line = f"{line[:10]}{'Z' * 16}"
    command = [sys.executable, "-m", "souvenance", "--home", str(home), "put", "-n", "travel", "--id", line]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    racers = [
        subprocess.Popen(
            [*command, f"said by {runner}"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for runner in range(8)
    ]
    ended = [(racer.communicate(timeout=60), racer.returncode) for racer in racers]
    codes = [code for _, code in ended]
    assert sorted(codes) == [0, *[7] * 7], ended
    with folder.opened() as guest:
        assert guest.call(o.LINE, m.GetLine(line)).text == f"said by {codes.index(0)}"


@pytest.mark.parametrize("kind", KINDS)
def test_hole_5_a_line_stays_invalidated_however_much_later_that_was_said(tmp_path, kind):
    with each_kind(kind, tmp_path) as world:
        cap = world.issue(exp=world.seconds + 400 * DAY)
        soon_after = to_datetime(world.clock.ms + 1000)
        corrected, withdrawn = world.put(cap, "Trip to Chengdu"), world.put(cap, "Trip to Porto")
        world.clock.advance(seconds=300 * DAY)
        world.call(o.INVALIDATE, cap, m.Invalidate(corrected, "Trip to Xi'an"))
        world.call(o.INVALIDATE, cap, m.Invalidate(withdrawn))
        assert world.texts(cap, "trip Chengdu Porto", until=soon_after) == []
        assert world.texts(cap, until=soon_after) == []
        assert world.texts(cap, "trip") == ["Trip to Xi'an"]


def test_hole_6_a_refused_compartment_is_in_the_log_whoever_calls_the_gate():
    world = World()
    cap = world.issue(namespaces_allowed=["travel"])
    requests = {
        o.PUT: m.Put(text="x", namespace="personal"),
        o.GET: m.Get(namespaces=("personal",)),
        o.LIST: m.List(namespaces=("personal",)),
        o.SNAPSHOT: m.Snapshot(namespaces=("personal",)),
        o.FORGET: m.Forget(namespace="personal"),
    }
    for operation, request in requests.items():
        assert world.code(operation, cap, request) == "namespace_denied"
    assert world.outcomes() == [(operation.name, "namespace_denied") for operation in requests]
    assert {row.event.namespaces for row in world.rows()} == {("personal",)}


def test_hole_7_no_caller_writes_audit_rows_or_says_when_something_was():
    asked = {operation for operation in o.EVERY if operation.name.startswith("audit.")}
    assert not any(operation.writes for operation in asked)
    assert {route.method for route in ROUTES if route.operation in asked} == {"GET"}
    told = {(operation, name) for operation in o.EVERY for name in operation.request.__struct_fields__}
    spoken_of = {"at", "ts", "ts_unix", "outcome", "detail", "leaf", "row"}
    assert {pair for pair in told if pair[1] in spoken_of} == {(o.GET, "at")}, "a question may be as of then"
    world = World()
    past = world.ulid(world.clock.ms - DAY * 1000)
    world.put(world.issue(), "Trip", id=past, occurred_at=datetime(1999, 1, 1, tzinfo=UTC))
    world.get(world.issue(), "Trip", at=datetime(1999, 1, 1, tzinfo=UTC))
    assert [row.event.at for row in world.rows()] == [world.clock.ms] * 2


def test_hole_7_reading_the_log_needs_a_cap_with_the_right():
    world = World()
    for operation in (o.AUDIT, o.CHECKPOINT, o.PROOF):
        assert world.code(operation, None, operation.request) == "cap_missing"
        assert world.code(operation, world.issue(ops=["get"]), operation.request) == "cap_op_mismatch"


def test_hole_8_the_tree_tells_leaves_from_nodes_order_from_disorder_and_odd_from_doubled():
    a, b, c = (merkle.leaf_hash(bytes([n])) for n in range(3))
    assert merkle.leaf_hash(a + b) != merkle.node_hash(a, b) == merkle.root_of([a, b])
    assert merkle.root_of([a, b]) != merkle.root_of([b, a])
    assert merkle.root_of([a, b, c]) != merkle.root_of([a, b, c, c])


@pytest.mark.parametrize("spoil", ["omit", "swap", "truncate", "edit"])
def test_hole_8_a_row_can_not_vanish_move_or_change_unnoticed(tmp_path, spoil):
    world = on_sqlite(tmp_path / "book.db")
    cap = world.issue()
    for number in range(6):
        world.put(cap, f"note {number}")
    rows = world.rows()
    saved = world.call(o.CHECKPOINT, cap, m.Nothing())
    checkpoint = Checkpoint("default", saved.size, bytes.fromhex(saved.root))
    assert verify("default", world.rows(), checkpoint).size == 7
    edited = msgspec.structs.replace(rows[2].event, outcome="namespace_denied")
    spoiled = {
        "omit": rows[:2] + rows[3:],
        "swap": [rows[1], rows[0], *rows[2:]],
        "truncate": rows[:3],
        "edit": [*rows[:2], msgspec.structs.replace(rows[2], event=edited), *rows[3:]],
    }[spoil]
    with pytest.raises(BrokenAuditChain):
        verify("default", spoiled, checkpoint)
    world.store.close()


def test_hole_9_forgetting_takes_every_line_of_a_large_compartment(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put("note", "travel")
        guest.put("kept", "personal")
    for table in ("lines", "terms"):
        columns = folder.column("SELECT name FROM pragma_table_info(?)", table)
        copied = ", ".join(
            {"id": "printf('01JXT21Q%018d', value)", "seq": "value"}.get(c, c) for c in columns
        )
        folder.edit(
            f"""WITH RECURSIVE n(value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM n WHERE value < 2500)
            INSERT INTO {table} SELECT {copied} FROM {table}, n WHERE namespace = 'travel'"""
        )
    with folder.opened() as guest:
        answer = guest.call(o.FORGET, m.Forget(namespace="travel"))
        assert (answer.lines, answer.scrubbed) == (2500, True)
        assert guest.texts("note", namespaces=("travel",)) == []
        assert guest.texts() == ["kept"]
    for table in ("lines", "terms", "compartment_keys"):
        assert set(folder.column(f"SELECT namespace FROM {table}")) == {"personal"}


class StuckStore(MemoryStore):
    """A book that can delete nothing."""

    @contextmanager
    def write(self, *of, **options):
        with super().write(*of, **options) as tx:
            tx.lines.delete_compartment = tx.lines.delete = self._stuck
            yield tx

    def _stuck(self, *place):
        raise StorageUnavailable("stuck")


def test_hole_9_what_could_not_be_deleted_is_never_called_forgotten():
    world = World(store=StuckStore())
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    for request in (m.Forget(id=line), m.Forget(namespace="travel"), m.Forget(owner="alice")):
        assert world.code(o.FORGET, cap, request) == "storage_unavailable"
    assert world.texts(cap, "Chengdu") == ["Trip to Chengdu"]


def test_hole_10_epochs_go_on_after_256_and_each_opens_with_its_own_key(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put("before", "travel")
    folder.edit("UPDATE counters SET value = 254 WHERE name = 'epoch'")
    with folder.opened() as guest:
        for epoch in (255, 256, 257):
            guest.call(o.ROTATE, m.RotateKeys())
            guest.put(f"in epoch {epoch}", "travel")
        assert folder.column("SELECT epoch FROM lines ORDER BY id") == [1, 255, 256, 257]
        assert guest.texts() == ["in epoch 257", "in epoch 256", "in epoch 255", "before"]
    keys = folder.compartment_keys("owner", "travel")
    with folder.store() as tx:
        line = tx.lines.get(keys.compartment, folder.column("SELECT id FROM lines WHERE epoch = 256")[0])
    assert open_sealed(line, key=keys.seals[256]) == "in epoch 256"
    for epoch in (1, 255, 257):
        with pytest.raises(Tampered):
            open_sealed(line, key=keys.seals[epoch])


def test_hole_10_every_owner_and_namespace_has_keys_of_its_own(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put("x", "travel")
        guest.put("x", "personal")
        guest.put("x", "travel", guest.mint(sub="alice"))
    with folder.store() as tx:
        wrapped = tx.keys.every()
    keyring = KeyFiles(home)
    keys = {
        keyring.unwrap(key.wrapped, key_place(key.compartment, key.purpose, key.epoch)) for key in wrapped
    }
    assert len(keys) == len(wrapped) == 6
    for key in wrapped:
        with pytest.raises(WrongKey):
            keyring.unwrap(
                key.wrapped, key_place(key.compartment._replace(owner="bob"), key.purpose, key.epoch)
            )


@pytest.mark.parametrize("compartments", [[], None])
def test_hole_11_a_cap_that_names_no_namespace_opens_none(compartments):
    world = World()
    world.put(world.issue(), "Trip to Chengdu")
    cap = world.issue(namespaces_allowed=compartments)
    assert world.texts(cap, "Chengdu") == []
    assert world.code(o.GET, cap, m.Get(namespaces=("travel",))) == "namespace_denied"


def test_hole_12_each_refusal_has_its_own_code_and_says_what_to_do():
    world, stranger = World(), World(seed=2)
    revoked, stale, bound = world.issue(), world.issue(exp=world.seconds), world.issue()
    world.revoke("jti", revoked.jti)
    told = {}
    for token in (None, "junk", stranger.issue().token, stale.token, revoked.token, bound.bound):
        with pytest.raises(SouvenanceError) as refused:
            world.call(o.GET, token, m.Get())
        told[refused.value.code] = refused.value.hint
    assert list(told) == [
        "cap_missing",
        "cap_malformed",
        "cap_sig_invalid",
        "cap_expired",
        "cap_revoked",
        "cap_pop_invalid",
    ]
    assert len(set(told.values())) == 6
    assert all(told.values())


@pytest.mark.parametrize("name", ["Travel", "TRAVEL", "travel ", " travel", "trável", "travel\n"])
def test_hole_13_a_namespace_that_looks_like_another_is_refused(name):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"text": "x", "namespace": name}, m.Put)
    assert World().code(o.PUT, World().issue(), m.Put(text="x", namespace=name)) == "invalid_input"


def test_hole_13_owners_whose_names_differ_in_case_are_two():
    world = World()
    world.put(world.issue(sub="alice"), "of alice")
    assert world.texts(world.issue(sub="Alice")) == []


@pytest.mark.parametrize(
    ("ms", "code"),
    [
        (-8 * DAY * 1000, "invalid_input"),
        (-7 * DAY * 1000 - 1, "invalid_input"),
        (-7 * DAY * 1000, "ok"),
        (0, "ok"),
        (60_000, "ok"),
        (60_001, "invalid_input"),
    ],
)
def test_hole_14_an_id_can_not_be_dated_far_back_or_ahead(ms, code):
    world = World()
    line = world.ulid(world.clock.ms + ms)
    assert world.code(o.PUT, world.issue(), m.Put(text="x", namespace="travel", id=line)) == code
    first = world.put(world.issue(), "y")
    correction = m.Invalidate(first, "z", ulid.compose(world.clock.ms + ms, b"\7" * 10))
    assert world.code(o.INVALIDATE, world.issue(), correction) == code
