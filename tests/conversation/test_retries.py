"""A batch of messages that is sent again is the same batch; the same words said again are not."""

from __future__ import annotations

import pytest

MINUTE = 60


def sent(speaker, *said, session="s", key=None, **more):
    """The ids answered, and whether the server says that it knew them."""
    pairs = [("alice", one) if isinstance(one, str) else one for one in said]
    batch = [{"peer_id": who, "content": text, **more} for who, text in pairs]
    headers = {} if key is None else {"idempotency-key": key}
    answer = speaker.ask("POST", f"/sessions/{session}/messages", {"messages": batch}, headers=headers)
    assert answer.status_code == 201, answer.text
    return [one["id"] for one in answer.json()], answer.headers.get("idempotency-replayed") == "true"


def test_a_batch_sent_again_at_once_is_known(owner):
    first, _ = sent(owner, "yes")
    assert sent(owner, "yes") == (first, True)
    assert owner.texts("s") == ["yes"]


def test_a_batch_sent_again_after_a_client_s_longest_patience_is_known(stage, owner):
    first, _ = sent(owner, "yes", ("bob", "no"))
    stage.clock.advance(seconds=2 * MINUTE)
    assert sent(owner, "yes", ("bob", "no")) == (first, True)


def test_the_same_words_some_minutes_later_are_said_again(stage, owner):
    sent(owner, "yes")
    stage.clock.advance(seconds=5 * MINUTE)
    assert not sent(owner, "yes")[1]
    assert owner.texts("s") == ["yes", "yes"]


def test_the_same_words_with_others_of_the_same_peer_in_between_are_said_again(owner):
    for text in ("yes", "no", "yes"):
        assert not sent(owner, text)[1]
    assert owner.texts("s") == ["yes", "no", "yes"]


def test_the_same_words_with_an_answer_in_between_are_said_again(owner):
    for who, text in (("alice", "next"), ("bob", "Here is one"), ("alice", "next"), ("bob", "And another")):
        assert not sent(owner, (who, text))[1]
    assert owner.texts("s") == ["next", "Here is one", "next", "And another"]


def test_the_same_words_twice_in_one_batch_are_two_messages(owner):
    sent(owner, "yes", "yes")
    assert owner.texts("s") == ["yes", "yes"]


def test_a_longer_batch_that_begins_alike_is_another(owner):
    sent(owner, "yes")
    assert not sent(owner, "yes", "no")[1]
    assert owner.texts("s") == ["yes", "yes", "no"]


@pytest.mark.parametrize(
    "other",
    [
        {"session": "t"},
        {"metadata": {"turn": 2}},
        {"created_at": "2024-01-01T00:00:00Z"},
    ],
    ids=str,
)
def test_what_differs_in_anything_is_another_batch(owner, other):
    first, _ = sent(owner, "yes")
    second, known = sent(owner, "yes", **other)
    assert not known
    assert not set(first) & set(second)


def test_the_same_words_of_another_peer_or_workspace_are_another_batch(stage, owner):
    sent(owner, "yes")
    assert not sent(owner, ("bob", "yes"))[1]
    assert not sent(stage.speaker(workspace="v"), "yes")[1]
    assert owner.texts("s") == ["yes", "yes"]


def test_a_key_makes_any_later_batch_under_it_the_first_one(stage, owner):
    first, _ = sent(owner, "yes", key="k1")
    sent(owner, "something else", key="k2")
    stage.clock.advance(seconds=23 * 60 * MINUTE)
    assert sent(owner, "yes", key="k1") == (first, True)
    assert owner.texts("s") == ["yes", "something else"]


def test_a_new_key_is_never_a_retry(owner):
    assert not sent(owner, "yes", key="k1")[1]
    assert not sent(owner, "yes", key="k2")[1]
    assert not sent(owner, "yes")[1]
    assert owner.texts("s") == ["yes", "yes", "yes"]


def test_a_key_is_forgotten_after_a_day(stage, owner):
    sent(owner, "yes", key="k1")
    stage.clock.advance(seconds=25 * 60 * MINUTE)
    assert not sent(owner, "yes", key="k1")[1]


def test_a_key_counts_within_its_session_and_workspace(stage, owner):
    sent(owner, "yes", key="k1")
    assert not sent(owner, "yes", key="k1", session="t")[1]
    assert not sent(stage.speaker(workspace="v"), "yes", key="k1")[1]


def test_the_same_key_with_other_words_does_not_store_them_unnoticed(owner):
    sent(owner, "yes", key="k1")
    batch = {"messages": [{"peer_id": "alice", "content": "quite another thing"}]}
    answer = owner.ask("POST", "/sessions/s/messages", batch, headers={"idempotency-key": "k1"})
    assert answer.status_code in (201, 409, 422)
    replayed = answer.headers.get("idempotency-replayed") == "true"
    assert answer.status_code != 201 or replayed
    assert owner.texts("s") == ["yes"]


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_none_is_refused(owner, key):
    batch = {"messages": [{"peer_id": "alice", "content": "yes"}]}
    answer = owner.code("POST", "/sessions/s/messages", batch, headers={"idempotency-key": key})
    assert answer == (422, "invalid_input")


def test_a_retry_is_not_thought_about_again(stage, owner):
    sent(owner, "My name is Ann.")
    sent(owner, "My name is Ann.")
    stage.rest()
    sent(owner, "My name is Ann.")
    stage.rest()
    assert [one["times_derived"] for one in owner.conclusions()] == [1]
    assert owner.queue()["total_work_units"] == 1


def test_a_message_that_was_deleted_can_be_said_again(owner):
    [first], _ = sent(owner, "yes")
    owner.told("DELETE", f"/sessions/s/messages/{first}")
    again, known = sent(owner, "yes")
    assert (again != [first], known) == (True, False)
    assert owner.texts("s") == ["yes"]


def test_a_message_in_the_place_of_a_deleted_one_is_not_taken_for_it(owner):
    sent(owner, "one")
    [second], _ = sent(owner, "two")
    owner.told("DELETE", f"/sessions/s/messages/{second}")
    [third], _ = sent(owner, "three")
    [again], _ = sent(owner, "two")
    assert again != third
    assert owner.texts("s") == ["one", "three", "two"]


def test_a_key_never_answers_with_messages_that_came_after_its_own_were_deleted(owner):
    [first], _ = sent(owner, "one", key="k1")
    owner.told("DELETE", f"/sessions/s/messages/{first}")
    [other], _ = sent(owner, "other", key="k2")
    [again], _ = sent(owner, "one", key="k1")
    assert again != other


def test_a_retry_of_a_batch_of_which_part_was_deleted_brings_nothing_back_and_tells_no_half(owner):
    ids, _ = sent(owner, "yes", "no")
    owner.told("DELETE", f"/sessions/s/messages/{ids[0]}")
    again, _ = sent(owner, "yes", "no")
    assert len(again) == 2 or again == ids[1:]
    assert owner.texts("s").count("no") == 1 or len(again) == 2


def test_a_retry_tells_the_metadata_as_it_is_now(owner):
    [said], _ = sent(owner, "yes", metadata={"a": 1})
    owner.told("PUT", f"/sessions/s/messages/{said}", {"metadata": {"b": 2}})
    batch = {"messages": [{"peer_id": "alice", "content": "yes", "metadata": {"a": 1}}]}
    assert owner.told("POST", "/sessions/s/messages", batch)[0]["id"] == said


def test_the_trailing_slash_of_older_clients_is_the_same_door(owner):
    batch = {"messages": [{"peer_id": "alice", "content": "yes"}]}
    first = owner.told("POST", "/sessions/s/messages", batch)
    assert owner.told("POST", "/sessions/s/messages/", batch) == first


def test_a_file_sent_again_is_stored_once(owner):
    upload = {"files": {"file": ("a.txt", b"the same page", "text/plain")}, "data": {"peer_id": "alice"}}
    first = owner.told("POST", "/sessions/s/messages/upload", **upload)
    assert owner.told("POST", "/sessions/s/messages/upload", **upload) == first
    assert owner.texts("s") == ["the same page"]


def test_a_retry_brings_nobody_back_into_the_session(owner):
    owner.say("s", "yes")
    owner.told("DELETE", "/sessions/s/peers", ["alice"])
    owner.say("s", "yes")
    assert owner.told("GET", "/sessions/s/peers")["items"] == []
    assert len(owner.messages("s")) == 1
