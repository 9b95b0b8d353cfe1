"""An Idempotency-Key that comes again never loses what is sent with it."""

from __future__ import annotations

import pytest

from conversation.world import staged


@pytest.fixture
def owner(tmp_path):
    with staged(tmp_path) as stage:
        yield stage.owner


def sent(owner, *texts, key="k", peer="alice"):
    body = {"messages": [{"peer_id": peer, "content": text} for text in texts]}
    return owner.ask("POST", "/sessions/s/messages", body, headers={"idempotency-key": key})


def deleted(owner, answer, *which):
    for place in which:
        owner.told("DELETE", f"/sessions/s/messages/{answer.json()[place]['id']}")


def test_once_all_that_it_stored_is_deleted_it_is_free(owner):
    deleted(owner, sent(owner, "one", "two"), 0, 1)
    assert sent(owner, "one", "two").status_code == 201
    assert owner.texts("s") == ["one", "two"]


@pytest.mark.parametrize("again", [("one", "two"), ("two",), ("three",)], ids=str)
def test_once_part_of_it_is_deleted_it_is_refused_and_says_so(owner, again):
    deleted(owner, sent(owner, "one", "two"), 0)
    refused = sent(owner, *again)
    if again == ("two",):
        assert (refused.status_code, owner.texts("s")) == (201, ["two"])
        return
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
    assert "Idempotency-Key" in refused.json()["detail"]
    assert owner.texts("s") == ["two"]
    assert sent(owner, *again, key="another").status_code == 201
    assert owner.texts("s") == ["two", *again]


@pytest.mark.parametrize("other", [("two",), ("one", "two"), ("one ",)], ids=str)
def test_with_other_messages_it_is_refused_and_says_so(owner, other):
    sent(owner, "one")
    assert sent(owner, *other).status_code == 409
    assert owner.texts("s") == ["one"]


def test_a_batch_without_a_key_of_which_part_was_deleted_is_stored_whole(owner):
    body = {"messages": [{"peer_id": "alice", "content": text} for text in ("one", "two")]}
    first = owner.ask("POST", "/sessions/s/messages", body)
    deleted(owner, first, 0)
    assert len(owner.told("POST", "/sessions/s/messages", body)) == 2
    assert owner.texts("s") == ["two", "one", "two"]
