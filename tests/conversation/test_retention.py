"""What is over in a conversation: no answer has it, and with it goes what rests on it alone."""

from __future__ import annotations

import json

import pytest

from souvenance.core.retention import EVERY_MS
from souvenance.domain.line import CARD, SUMMARY
from souvenance.domain.names import SESSIONS
from souvenance.domain.retention import RetentionRule
from souvenance.ports.store import EVERYTHING, LineQuery, TurnQuery

OLD = "I live in Quxabolinda"
DAYS = 86_400
PEERS = ("alice", "bob", SESSIONS)


def remember(owner, name="chats", then="forget", days=30, **fields):
    rule = {"name": name, "then": then, "days": days, **fields}
    return owner.told("POST", "/v1/retention/set", rule)


@pytest.fixture
def owner(stage):
    """Who may do everything, in the workspace 'w' alone."""
    key = stage.cap(
        ops=["put", "get", "list", "forget", "snapshot"],
        namespaces_allowed=["*"],
        exp=stage.world.seconds + 365 * DAYS,
    )
    return stage.speaker(key)


def talked(stage, owner):
    """A session of which the first half is older than 30 days."""
    owner.say("s", OLD, ("bob", "It rains in Yastrebograd"))
    stage.rest()
    stage.clock.advance(seconds=31 * DAYS)
    owner.say("s", "I like tea")
    stage.rest()


def shown(owner):
    """All that the door tells."""
    return json.dumps(
        [
            owner.texts("s"),
            owner.search("", "Quxabolinda"),
            owner.search("/peers/alice", "Quxabolinda"),
            owner.search("/sessions/s", "Where do I live?"),
            owner.conclusions(),
            owner.card(),
            owner.representation(),
            owner.context("s"),
            owner.chat("Where do I live?"),
            owner.told("POST", "/v1/memory/get", {"query": "Quxabolinda"}),
        ]
    )


def test_no_answer_of_the_door_has_a_message_that_a_rule_lets_go(stage, owner):
    talked(stage, owner)
    assert shown(owner).count("Quxabolinda") >= 6
    remember(owner)
    told = shown(owner)
    assert "Quxabolinda" not in told
    assert "Yastrebograd" not in told
    assert "tea" in told


def test_the_worker_removes_it_with_what_rests_on_it_alone(stage, owner):
    talked(stage, owner)
    assert any("Quxabolinda" in one for one in owner.held())
    remember(owner, kind="message")
    stage.clock.advance(ms=EVERY_MS)
    stage.rest()
    assert not any("Quxabolinda" in one for one in owner.held())
    assert not any("Quxabolinda" in one for one in owner.card() or ())
    [removed] = [row for row in stage.world.rows("w") if row.event.operation == "work.retain"]
    detail = json.loads(removed.event.detail)
    assert detail["rule"] == "chats"
    assert sorted({who for who, *_ in detail["gone"]}) == ["alice", "bob"]


def test_a_turn_that_was_removed_is_not_given_out_again(stage, owner):
    owner.say("s", OLD)
    stage.clock.advance(seconds=31 * DAYS)
    remember(owner)
    owner.say("s", "One more")
    stage.clock.advance(ms=EVERY_MS)
    stage.rest()
    owner.say("s", "And another")
    with stage.world.store.read() as tx:
        assert [line.turn for line in tx.lines.turns(TurnQuery("w", "s"))] == [2, 3]


def test_a_session_is_deleted_with_its_messages_that_are_over(stage, owner):
    talked(stage, owner)
    remember(owner)
    owner.told("DELETE", "/sessions/s")
    with stage.world.store.read() as tx:
        for peer in ("alice", "bob", SESSIONS):
            span = LineQuery("w", peer, ("default",), history=True, limit=EVERYTHING)
            assert {line.kind for line in tx.lines.walk(span)} <= {CARD}
    assert not owner.card()
    owner.say("s", "A new beginning")
    assert owner.texts("s") == ["A new beginning"]


def test_a_peer_is_deleted_with_what_is_over_and_what_others_concluded_from_it(stage, owner):
    talked(stage, owner)
    remember(owner)
    owner.told("DELETE", "/peers/alice")
    with stage.world.store.read() as tx:
        span = LineQuery("w", "alice", ("default",), history=True, limit=EVERYTHING)
        assert tx.lines.walk(span) == []
    stage.rest()
    assert owner.conclusions() == []


def gone(stage):
    """The ids of what the log says that workers removed."""
    rows = [row.event for row in stage.world.rows("w") if row.event.operation == "work.retain"]
    return [line for row in rows for *_, ids in json.loads(row.detail)["gone"] for line in ids]


@pytest.mark.parametrize("fields", [{}, {"kind": "message"}, {"kind": "conclusion"}, {"days": 40}], ids=str)
def test_what_a_rule_would_remove_is_what_the_worker_removes(stage, owner, fields):
    talked(stage, owner)
    for day in range(2):
        owner.say("s", *(f"On day {day} I bake {number} loaves" for number in range(60)))
    owner.conclude("alice bakes bread", session="s")
    stage.rest()
    stage.clock.advance(seconds=31 * DAYS)
    owner.say("s", OLD, "I like tea")
    stage.rest()
    would = remember(owner, dry_run=True, **fields)
    rule = RetentionRule("chats", "forget", would["days"], kind=would["kind"])
    with stage.world.store.read() as tx:
        spans = (LineQuery("w", who, ("default",), history=True, limit=EVERYTHING) for who in PEERS)
        kinds = {line.id: line.kind for span in spans for line in tx.lines.walk(span)}
    assert remember(owner, **fields)["resting"] is None
    before = rule.aged(stage.clock.ms).before
    stage.clock.advance(ms=EVERY_MS)
    stage.rest()
    covered = [line for line in gone(stage) if line < before and rule.covers("default", kinds[line])]
    others = [line for line in gone(stage) if line not in covered and kinds[line] not in (CARD, SUMMARY)]
    assert (len(covered), len(others)) == (would["lines"], would["resting"])
    assert covered and (others or fields != {"kind": "message"})


def test_a_rule_of_conclusions_leaves_the_messages(stage, owner):
    talked(stage, owner)
    remember(owner, kind="conclusion")
    stage.clock.advance(ms=EVERY_MS)
    stage.rest()
    assert OLD in owner.texts("s")
    assert not any("Quxabolinda" in one for one in owner.held())


def test_rules_are_told_over_http_and_removed_there(stage, owner):
    assert remember(owner, dry_run=True)["lines"] == 0
    assert owner.told("GET", "/v1/retention") == {"rules": []}
    remember(owner, kind="message")
    [rule] = owner.told("GET", "/v1/retention")["rules"]
    assert rule == {
        "name": "chats",
        "then": "forget",
        "days": 30,
        "namespace": None,
        "kind": "message",
        "lines": 0,
        "waits_for": "",
    }
    owner.told("POST", "/v1/retention/remove", {"name": "chats"})
    assert owner.told("GET", "/v1/retention") == {"rules": []}
