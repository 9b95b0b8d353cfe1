"""A line that is over is shown by nothing from its second on, and a worker removes it; rules do it by age."""

from __future__ import annotations

import json

import pytest

from gate.world import KINDS, World, each_kind
from souvenance.core.retention import AT_ONCE, EVERY_MS, Retention
from souvenance.domain.audit import verify
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import StorageUnavailable
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import retention as t

DAY_MS = 86_400_000
SOON_MS = 5_000


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as found:
        yield found


@pytest.fixture
def cap(world):
    """Whoever may do everything in the workspace."""
    return world.issue(peers=["*"], exp=world.seconds + 10**8)


def brief(world, cap, text="The code is 4711", ms=SOON_MS, **fields):
    return world.put(cap, text, expires_at=to_datetime(world.clock.ms + ms), **fields)


def swept(world):
    """Let a new worker remove what is over; how many steps that took."""
    retention, steps = Retention(world.store, world.services, world.clock), 0
    while retention.remove_some():
        steps += 1
    retention.scrub()
    return steps


def every_door(world, cap):
    """All the text that any reading shows."""
    answers = [
        *world.texts(cap, "code"),
        *world.texts(cap),
        *world.texts(cap, "4711"),
        *(line.text for line in world.call(o.LIST, cap, m.List(history=True, texts=True)).lines),
        world.call(o.SNAPSHOT, cap, m.Snapshot()).profile,
        *(getattr(one, "text", "") for one in world.call(p.EXPORT, cap, p.Export()).records),
        *(
            str(one.text)
            for one in world.call(o.FORGET, cap, m.Forget(namespace="travel", dry_run=True)).newest
        ),
    ]
    return "\n".join(answers)


def counts(world, cap):
    return [one.lines for one in world.call(o.STATUS, cap, m.Nothing()).namespaces]


def rules(world, cap):
    return {one.name: one.lines for one in world.call(t.SHOW, cap, m.Nothing()).rules}


def keep(world, cap, name="short", then="forget", days=30, **fields):
    return world.call(t.SET, cap, t.SetRule(name, then, days, **fields))


def retained(world):
    """What the log says that workers removed: the rule and the ids, row by row."""
    rows = [row.event for row in world.rows() if row.event.operation == "work.retain"]
    details = [json.loads(row.detail) for row in rows]
    return [(one["rule"], [line for *_, ids in one["gone"] for line in ids]) for one in details]


def test_an_expired_line_is_in_no_answer_from_its_very_millisecond_on(world, cap):
    line = brief(world, cap)
    world.clock.advance(ms=SOON_MS - 1)
    assert every_door(world, cap).count("4711") >= 5
    assert world.call(o.LINE, cap, m.GetLine(line)).expires_at == to_datetime(world.clock.ms + 1)
    world.clock.advance(ms=1)
    assert "4711" not in every_door(world, cap)
    assert world.code(o.LINE, cap, m.GetLine(line)) == "not_found"
    assert world.code(o.INVALIDATE, cap, m.Invalidate(line, "changed")) == "not_found"
    assert counts(world, cap) == [0]


def test_the_worker_removes_it_and_says_so(world, cap):
    kept, line = world.put(cap, "The code is long"), brief(world, cap)
    assert swept(world) == 0
    world.clock.advance(ms=SOON_MS)
    assert swept(world) == 1
    assert retained(world) == [("expires_at", [line])]
    with world.store.read() as tx:
        assert tx.lines.expiring(1 << 60) is None
    assert not world.store.scrub_pending()
    assert world.ids(cap) == [kept]
    assert swept(world) == 0
    assert len(retained(world)) == 1
    assert world.call(o.RECONCILE, world.operator(), m.Reconcile("default")).findings == []
    verify("default", world.rows())


def test_an_expired_line_that_is_still_there_is_no_finding(world, cap):
    brief(world, cap)
    world.clock.advance(ms=SOON_MS)
    assert world.call(o.RECONCILE, world.operator(), m.Reconcile("default")).findings == []
    examined = world.call(o.EXAMINE, world.operator(), m.Examine("default", "alice", "travel"))
    assert (examined.lines, examined.findings) == (1, [])


def test_an_expired_line_can_be_forgotten_before_the_worker_comes(world, cap):
    line = brief(world, cap)
    world.clock.advance(ms=SOON_MS)
    assert world.call(o.FORGET, cap, m.Forget(id=line)).lines == 1
    assert swept(world) == 0


def test_many_lines_go_in_batches(world, cap):
    ids = [brief(world, cap, f"code {number}") for number in range(AT_ONCE + 3)]
    world.clock.advance(ms=SOON_MS)
    assert swept(world) == 2
    assert [len(gone) for _, gone in retained(world)] == [AT_ONCE, 3]
    assert sorted(line for _, gone in retained(world) for line in gone) == sorted(ids)


def test_a_correction_ends_when_the_line_it_replaces_would_have(world, cap):
    line = brief(world, cap)
    corrected = world.call(o.INVALIDATE, cap, m.Invalidate(line, "The code is 4712")).id
    world.clock.advance(ms=SOON_MS)
    assert world.texts(cap, "code") == []
    swept(world)
    assert sorted(retained(world)[0][1]) == sorted([line, corrected])


def test_expired_lines_take_no_place_among_the_best(world, cap):
    for number in range(30):
        brief(world, cap, f"The code of door {number} is code")
    world.put(cap, "A code for the bicycle, among other things of last year")
    world.clock.advance(ms=SOON_MS)
    [line] = world.get(cap, "code", k=3)
    assert (line.matched, "bicycle" in line.text) == (True, True)


def test_an_export_and_its_import_keep_the_end(world, cap):
    line = brief(world, cap)
    records = world.call(p.EXPORT, cap, p.Export()).records
    other = world.issue(wid="elsewhere", peers=["*"], exp=world.seconds + 10**8)
    assert world.call(p.IMPORT, other, p.Import(records)).conflicts == []
    end = to_datetime(world.clock.ms + SOON_MS)
    assert world.call(o.LINE, other, m.GetLine(line)).expires_at == end
    world.clock.advance(ms=SOON_MS)
    assert world.texts(other) == []
    assert world.call(p.IMPORT, other, p.Import(records)).same == len(records)
    swept(world)
    assert world.call(p.IMPORT, other, p.Import(records)).new == 1
    assert world.texts(other) == []


@pytest.mark.parametrize("ms", [0, -1, -DAY_MS])
def test_a_line_is_not_put_that_is_over_already(world, cap, ms):
    moment = to_datetime(world.clock.ms + ms)
    assert world.code(o.PUT, cap, m.Put("late", expires_at=moment)) == "invalid_input"


def test_a_retry_with_another_end_is_another_line(world, cap):
    chosen = world.ulid()
    end = to_datetime(world.clock.ms + DAY_MS)
    first = world.call(o.PUT, cap, m.Put("x", id=chosen, expires_at=end))
    assert world.call(o.PUT, cap, m.Put("x", id=chosen, expires_at=end)).duplicate
    assert not first.duplicate
    assert world.code(o.PUT, cap, m.Put("x", id=chosen)) == "conflict"


def test_a_rule_is_simulated_before_it_holds(world, cap):
    world.put(cap, "old")
    world.clock.advance(seconds=31 * 86_400)
    world.put(cap, "new")
    would = keep(world, cap, dry_run=True)
    assert (would.lines, would.days, would.then) == (1, 30, "forget")
    assert rules(world, cap) == {}
    assert sorted(world.texts(cap)) == ["new", "old"]
    assert swept(world) == 0


def test_a_rule_holds_from_the_moment_it_is_set(world, cap):
    old = world.put(cap, "old")
    world.clock.advance(seconds=31 * 86_400)
    world.put(cap, "new")
    assert keep(world, cap).lines == 1
    assert world.texts(cap) == ["new"]
    assert rules(world, cap) == {"short": 1}
    assert swept(world) == 1
    assert retained(world) == [("short", [old])]
    assert rules(world, cap) == {"short": 0}
    assert world.call(o.RECONCILE, world.operator(), m.Reconcile("default")).findings == []


def test_a_rule_that_is_removed_before_the_worker_comes_removes_nothing(world, cap):
    world.put(cap, "old")
    world.clock.advance(seconds=31 * 86_400)
    keep(world, cap)
    assert world.texts(cap) == []
    world.call(t.REMOVE, cap, t.RemoveRule("short"))
    assert swept(world) == 0
    assert world.texts(cap) == ["old"]
    assert world.code(t.REMOVE, cap, t.RemoveRule("short")) == "not_found"


def test_a_rule_of_a_namespace_and_kind_leaves_all_else(world, cap):
    for namespace in ("travel", "work"):
        for kind in ("note", "memory"):
            world.put(cap, f"{namespace} {kind}", namespace, kind=kind)
    world.clock.advance(seconds=31 * 86_400)
    keep(world, cap, namespace="work", kind="note")
    assert sorted(world.texts(cap)) == ["travel memory", "travel note", "work memory"]
    swept(world)
    assert sorted(world.texts(cap)) == ["travel memory", "travel note", "work memory"]


def test_of_several_rules_the_shortest_wins(world, cap):
    world.put(cap, "old")
    keep(world, cap, "long", days=90)
    keep(world, cap, "shorter", days=10, namespace="travel")
    world.clock.advance(seconds=10 * 86_400)
    assert world.texts(cap) == ["old"]
    world.clock.advance(ms=1)
    assert world.texts(cap) == []
    swept(world)
    assert [rule for rule, _ in retained(world)] == ["shorter"]


def test_a_rule_replaces_an_earlier_one_of_its_name(world, cap):
    world.put(cap, "old")
    keep(world, cap, days=1)
    keep(world, cap, days=90)
    world.clock.advance(seconds=31 * 86_400)
    assert world.texts(cap) == ["old"]
    assert rules(world, cap) == {"short": 0}


def test_a_rule_is_of_its_workspace_alone(world, cap):
    other = world.issue(wid="elsewhere", peers=["*"], exp=world.seconds + 10**8)
    for one in (cap, other):
        world.put(one, "old")
    world.clock.advance(seconds=31 * 86_400)
    keep(world, cap)
    swept(world)
    assert (world.texts(cap), world.texts(other)) == ([], ["old"])
    assert rules(world, other) == {}


def test_rules_are_looked_at_once_in_a_while(world, cap):
    retention = Retention(world.store, world.services, world.clock)
    assert not retention.remove_some()
    world.put(cap, "old")
    world.clock.advance(seconds=31 * 86_400)
    assert not retention.remove_some()
    keep(world, cap)
    world.clock.advance(ms=EVERY_MS - 1)
    assert not retention.remove_some()
    world.clock.advance(ms=1)
    assert retention.remove_some()
    assert not retention.remove_some()


def test_lines_fade_with_age_only_where_a_rule_says_so(world, cap):
    world.put(cap, "The ferry to Oslo leaves at nine, says the ferry office")
    world.clock.advance(seconds=60 * 86_400)
    world.put(cap, "A ferry was late")
    first, _ = world.get(cap, "ferry Oslo", k=2)
    assert "nine" in first.text
    assert keep(world, cap, "fresh", "fade", days=5).lines == 1
    assert swept(world) == 0
    newer, older = world.get(cap, "ferry Oslo", k=2, explain=True)
    assert ("late" in newer.text, "nine" in older.text) == (True, True)
    assert older.explanation.signals["fades_with_age"].added < 0
    assert sum(one.added for one in older.explanation.signals.values()) == pytest.approx(
        older.score, abs=1e-4
    )
    keep(world, cap, "fresh", "fade", days=5, namespace="work")
    assert "nine" in world.get(cap, "ferry Oslo", k=2)[0].text


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"peers": ["*"], "ops": ["forget"]}, "ok"),
        ({"peers": ["*"], "namespaces_allowed": ["travel"]}, "namespace_denied"),
        ({"peers": ["*"], "ops": ["put", "get", "list"]}, "cap_op_mismatch"),
        ({}, "cap_scope_mismatch"),
        ({"peers": ["bob"]}, "cap_scope_mismatch"),
        ({"peers": ["*"], "sessions": ["s"]}, "cap_scope_mismatch"),
        ({"peers": ["*"], "wid": "elsewhere"}, "ok"),
    ],
)
def test_only_who_may_forget_in_the_whole_workspace_sets_a_rule_for_it(claims, code):
    world = World()
    cap = world.issue(**claims)
    for dry_run in (True, False):
        request = t.SetRule("short", "forget", 30, dry_run=dry_run)
        assert world.code(t.SET, cap, request) == code
    world.code(t.SET, world.issue(peers=["*"]), t.SetRule("short", "forget", 30))
    assert world.code(t.REMOVE, cap, t.RemoveRule("short")) == code


def test_a_token_of_a_namespace_sets_rules_for_it_and_is_told_of_no_others():
    world = World()
    whole = world.issue(peers=["*"], exp=world.seconds + 10**8)
    narrow = world.issue(peers=["*"], namespaces_allowed=["travel"], exp=world.seconds + 10**8)
    world.put(whole, "old", "work")
    world.put(whole, "old", "travel")
    world.clock.advance(seconds=31 * 86_400)
    keep(world, narrow, "mine", namespace="travel")
    keep(world, whole, "closed", days=90, namespace="work")
    keep(world, whole, "all", days=20)
    assert rules(world, narrow) == {"mine": 1, "all": None}
    assert world.code(t.SET, narrow, t.SetRule("x", "forget", 1, namespace="work")) == "namespace_denied"
    for name in ("closed", "all"):
        taken = t.SetRule(name, "forget", 1, namespace="travel")
        assert world.code(t.SET, narrow, taken) == "namespace_denied"
        assert world.code(t.REMOVE, narrow, t.RemoveRule(name)) == "namespace_denied"


@pytest.mark.parametrize(
    "fields",
    [
        {"days": 0},
        {"days": 36_501},
        {"then": "burn"},
        {"namespace": "Not one"},
        {"kind": "Not one"},
        {"name": " "},
    ],
)
def test_a_rule_that_says_nothing_sensible_is_refused(fields):
    world = World()
    cap = world.issue(peers=["*"])
    request = {"name": "short", "then": "forget", "days": 30, **fields}
    assert world.code(t.SET, cap, lambda: m.checked(t.SetRule(**request))) == "invalid_input"


def test_there_is_a_most_of_rules():
    world = World()
    cap = world.issue(peers=["*"])
    for number in range(t.MOST_RULES):
        keep(world, cap, f"rule {number}")
    assert world.code(t.SET, cap, t.SetRule("one more", "forget", 30)) == "conflict"
    assert keep(world, cap, "rule 7", days=3).days == 3


def test_a_rule_that_summarises_is_refused_by_name_where_no_model_does(world, cap):
    request = t.SetRule("gist", "summarise", 30)
    assert world.code(t.SET, cap, request) == "unsupported"
    assert rules(world, cap) == {}


def test_a_step_that_fails_changes_nothing_and_is_done_the_next_time(tmp_path):
    with each_kind("sqlite", tmp_path) as world:
        cap = world.issue(peers=["*"])
        line = brief(world, cap)
        world.clock.advance(ms=SOON_MS)
        with pytest.raises(StorageUnavailable), world.store.write() as tx:
            ctx_lines = tx.lines.over("default", world.clock.ms, 9)
            tx.lines.delete(ctx_lines[0].compartment, [line])
            raise StorageUnavailable("the power went")
        assert swept(world) == 1
        assert retained(world) == [("expires_at", [line])]


def test_two_workers_remove_each_line_once(tmp_path):
    with each_kind("sqlite", tmp_path) as world:
        cap = world.issue(peers=["*"])
        ids = [brief(world, cap, f"code {number}") for number in range(5)]
        world.clock.advance(ms=SOON_MS)
        both = [Retention(world.store, world.services, world.clock) for _ in range(2)]
        assert [one.remove_some() for one in both] == [True, False]
        assert [sorted(gone) for _, gone in retained(world)] == [sorted(ids)]
