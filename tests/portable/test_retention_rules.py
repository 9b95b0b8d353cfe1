"""Retention rules go along with an export, and hold where it is imported if they remove nothing there."""

from __future__ import annotations

import json

import pytest

from conversation.world import staged
from gate.world import World
from portable.journeys import given, manager, taken
from souvenance.domain import ulid
from souvenance.domain.archive_records import LineRecord, RuleRecord
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import retention as t
from souvenance.gate.conversation import messages as said

DAY_MS = 86_400_000


@pytest.fixture
def here():
    with staged() as stage:
        yield stage.world


@pytest.fixture
def there():
    with staged(seed=2) as stage:
        yield stage.world


def keep(world, name="chats", then="forget", days=30, **fields):
    return world.call(t.SET, manager(world), t.SetRule(name, then, days, **fields))


def rules(world):
    return {one.name: one.days for one in world.call(t.SHOW, manager(world), m.Nothing()).rules}


def among(records):
    return [one.name for one in records if isinstance(one, RuleRecord)]


def test_a_rule_holds_where_its_export_is_imported(here, there):
    here.put(manager(here, sub="ann"), "The code is 4711.")
    keep(here)
    taken(there, given(here))
    assert rules(there) == {"chats": 30}
    ann = manager(there, sub="ann", exp=there.seconds + 10**8)
    assert there.texts(ann) == ["The code is 4711."]
    there.clock.advance(ms=31 * DAY_MS)
    assert there.texts(ann) == []


def test_the_log_says_which_rules_an_import_set(here, there):
    keep(here)
    taken(there, given(here))
    rows = [row.event for row in there.rows("w") if row.event.operation == "import.page"]
    assert json.loads(rows[-1].detail)["rules"] == ["chats"]


def test_a_rule_that_is_here_already_is_passed_over_and_another_of_its_name_stays(here, there):
    keep(here)
    records = given(here)
    taken(there, records)
    assert taken(there, records).same == len(records)
    keep(there, days=60)
    assert taken(there, records).conflicts == ["rule chats"]
    assert rules(there) == {"chats": 60}


@pytest.mark.parametrize("then", ["forget", "summarise"])
def test_a_rule_that_would_remove_what_is_here_is_refused_before_anything_comes_in(here, there, then):
    record = RuleRecord(name="chats", then=then, days=30)
    old = said.AddMessages(
        workspace_id="w", session_id="s", messages=[said.NewMessage(content="An old line.", peer_id="ann")]
    )
    there.call(said.ADD_MESSAGES, manager(there), old)
    there.clock.advance(ms=31 * DAY_MS)
    cap = manager(there, exp=there.seconds + 10**4)
    assert there.code(p.IMPORT, cap, p.Import([record], look=True)) == "conflict"
    assert there.texts(manager(there, sub="ann", exp=there.seconds + 10**4)) == ["An old line."]


def test_lines_of_an_export_that_is_older_than_its_rule_stay(here, there):
    here.put(manager(here, sub="ann"), "The code is 4711.")
    keep(here)
    records = given(here)
    there.clock.advance(ms=31 * DAY_MS)
    cap = manager(there, exp=there.seconds + 10**4)
    lines = [one for one in records if not isinstance(one, RuleRecord)]
    taken(there, lines, cap)
    assert there.code(p.IMPORT, cap, p.Import(records[len(lines) :])) == "conflict"
    assert there.texts(manager(there, sub="ann", exp=there.seconds + 10**4)) == ["The code is 4711."]


def test_a_rule_that_fades_or_waits_for_summaries_comes_with_old_lines(here, there):
    here.put(manager(here, sub="ann"), "The code is 4711.")
    records = [one for one in given(here) if isinstance(one, LineRecord)]
    there.clock.advance(ms=400 * DAY_MS)
    cap = manager(there, exp=there.seconds + 10**4)
    faded = RuleRecord(name="news", then="fade", days=30)
    waiting = RuleRecord(name="gist", then="summarise", days=30)
    assert taken(there, [*records, faded, waiting], cap).new == len(records) + 2
    answer = there.call(t.SHOW, cap, m.Nothing())
    assert {one.name: one.waits_for for one in answer.rules} == {
        "gist": "no model writes summaries",
        "news": "",
    }


def test_of_a_page_that_is_refused_no_rule_holds_then_or_later(there):
    good = [RuleRecord(name=name, then="forget", days=30) for name in ("chats", "notes")]
    bad = LineRecord(
        owner="ann", namespace="default", id=ulid.compose(1, bytes(ulid.ENTROPY_BYTES)), kind="memory",
        text=" ", created_at=1, cap="c",
    )  # fmt: skip
    assert there.code(p.IMPORT, manager(there), p.Import([*good, bad])) == "invalid_input"
    ann = manager(there, sub="ann", exp=there.seconds + 10**8)
    there.put(ann, "The code is 4711.", namespace="fresh")
    assert rules(there) == {}
    there.clock.advance(ms=31 * DAY_MS)
    assert there.texts(ann) == ["The code is 4711."]


def test_only_a_cap_that_may_forget_all_that_a_rule_covers_brings_it_in(there):
    of_all = p.Import([RuleRecord(name="chats", then="forget", days=30)])
    of_work = p.Import([RuleRecord(name="work", then="forget", days=30, namespace="work")])
    assert there.code(p.IMPORT, manager(there, ops=["put"]), of_all) == "cap_op_mismatch"
    narrow = manager(there, namespaces_allowed=["work"])
    assert there.code(p.IMPORT, narrow, of_all) == "namespace_denied"
    assert there.code(p.IMPORT, narrow, of_work) == "ok"


def test_rules_of_what_the_cap_does_not_open_and_of_others_stay_behind(here):
    keep(here)
    keep(here, "work", namespace="work")
    keep(here, "travel", namespace="travel")
    assert set(among(given(here))) == {"chats", "work", "travel"}
    assert among(given(here, manager(here, namespaces_allowed=["work"]))) == ["work"]
    assert among(given(here, owner="ann")) == []


def test_no_import_brings_more_rules_than_a_workspace_may_have():
    world = World()
    records = [RuleRecord(name=f"r{number}", then="fade", days=1) for number in range(t.MOST_RULES + 1)]
    assert world.code(p.IMPORT, manager(world), p.Import(records)) == "conflict"
    assert rules(world) == {}
    assert world.code(p.IMPORT, manager(world), p.Import([*records[:2], records[0]])) == "ok"
    assert world.call(o.STATUS, manager(world), m.Nothing())
    assert rules(world) == {"r0": 1, "r1": 1}
