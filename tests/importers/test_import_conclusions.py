"""Statements through the gate: with a time, metadata and a key of their own, and as somebody else's word."""

from datetime import UTC, datetime

import pytest

from conversation.world import staged

HELD = {"observer_id": "alice", "observed_id": "alice"}


@pytest.fixture
def stage():
    with staged() as found:
        found.owner.open("peers", "alice")
        found.owner.open("peers", "bob")
        yield found


def state(caller, *stated):
    answer = caller.ask("POST", "/conclusions", {"conclusions": [{**HELD, **one} for one in stated]})
    assert answer.is_success, answer.text
    return answer.json(), answer.headers.get("idempotency-replayed")


def test_with_the_same_key_a_statement_is_kept_once(stage):
    (first,), repeated = state(stage.owner, {"content": "likes tea", "key": "k1"})
    assert repeated is None
    both, repeated = state(
        stage.owner, {"content": "likes tea", "key": "k1"}, {"content": "likes jazz", "key": "k2"}
    )
    assert repeated == "1" and both[0]["id"] == first["id"]
    assert stage.owner.held() == ["likes jazz", "likes tea"]


def test_the_same_key_twice_in_one_request_is_new_once_and_in_the_log(stage):
    one = {"content": "likes tea", "key": "k"}
    (first, second), repeated = state(stage.owner, one, one)
    assert (second["id"], repeated) == (first["id"], "1")
    with stage.world.store.read("w") as tx:
        events = [row.event for row in tx.audit.rows("w", 0, 1000)]
    assert [[*event.lines] for event in events if event.operation == "conclusions.add"] == [[first["id"]]]


def test_without_a_key_each_is_kept(stage):
    state(stage.owner, {"content": "likes tea"}, {"content": "likes tea"})
    assert stage.owner.held() == ["likes tea", "likes tea"]


def test_a_key_belongs_to_whoever_holds_it_of_whom(stage):
    _, repeated = state(
        stage.owner,
        {"content": "likes tea", "key": "k"},
        {"content": "likes tea", "key": "k", "observed_id": "bob"},
        {"content": "likes tea", "key": "k", "observer_id": "bob"},
        {"content": "likes tea", "key": "k", "observer_id": "bob", "observed_id": "bob"},
    )
    assert repeated is None and len(stage.owner.held()) == 4


def test_a_statement_that_was_deleted_can_be_made_again(stage):
    (made,), _ = state(stage.owner, {"content": "likes tea", "key": "k"})
    stage.owner.told("DELETE", f"/conclusions/{made['id']}")
    _, repeated = state(stage.owner, {"content": "likes tea", "key": "k"})
    assert repeated is None and stage.owner.held() == ["likes tea"]


def test_it_has_the_time_and_the_metadata_that_it_came_with(stage):
    at = datetime(2020, 2, 2, tzinfo=UTC).isoformat()
    state(stage.owner, {"content": "likes tea", "created_at": at, "metadata": {"from": "mem0"}})
    assert stage.owner.held(metadata={"from": "mem0"}) == ["likes tea"]
    assert "[2020-02-02 00:00:00] likes tea" in stage.owner.representation()


def test_what_is_somebody_elses_word_is_told_as_that(stage):
    state(stage.owner, {"content": "likes tea", "quoted": True})
    assert stage.owner.held(metadata={"trust": "quoted"}) == ["Quoted: “likes tea”"]


@pytest.mark.parametrize(
    "bad", [{"created_at": "0001-01-01T00:00:00Z"}, {"metadata": {"a": [[[[[[1]]]]]]}}, {"key": ""}]
)
def test_what_cannot_be_kept_is_refused_whole(stage, bad):
    asked = {"conclusions": [{**HELD, "content": "fine"}, {**HELD, "content": "x", **bad}]}
    assert stage.owner.ask("POST", "/conclusions", asked).status_code == 422
    assert stage.owner.held() == []


def test_no_metadata_makes_a_dream_take_a_statement_for_its_own(stage):
    state(stage.owner, {"content": "likes tea", "metadata": {"dreamt": True}})
    stage.owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    stage.rest()
    assert stage.owner.held() == ["likes tea"]
