"""What Honcho's own server gets wrong, as section 6 of the facts tells it, and this one must not."""

from __future__ import annotations

import json

import pytest

from conversation.world import Counting, staged
from processes import until
from souvenance.errors import CapScopeMismatch, NotFound
from souvenance.gate import inspect_work as jobs
from souvenance.gate.token_verifier import Credentials
from surfaces.door import serving


def found_by(speaker, peer, query, where=""):
    """What the search finds that Hermes' honcho_search asks for."""
    return speaker.search(where, query, filters={"peer_perspective": peer})


def test_a_clone_of_an_empty_session_holds_nothing_of_another_workspace_s_session_of_that_name(stage, owner):
    other = stage.speaker(workspace="v")
    other.say("s", "the secret of v")
    owner.open("sessions", "s")
    made = owner.told("POST", "/sessions/s/clone")
    assert (owner.texts(made["id"]), owner.members(made["id"])) == ([], [])
    assert owner.search("", "secret") == []


def test_a_clone_holds_exactly_its_session_whatever_other_workspaces_call_theirs(stage, owner):
    other = stage.speaker(workspace="v")
    other.say("s", "one of v", ("carol", "two of v"), "three of v")
    owner.say("s", "one of w", ("bob", "two of w"), metadata={"k": 1})
    made = owner.told("POST", "/sessions/s/clone")
    original, copies = owner.messages("s"), owner.messages(made["id"])
    assert [one["content"] for one in copies] == ["one of w", "two of w"]
    assert owner.members(made["id"]) == ["alice", "bob"]
    same = ("content", "peer_id", "metadata", "created_at", "token_count", "workspace_id")
    assert [[one[name] for name in same] for one in copies] == [
        [one[name] for name in same] for one in original
    ]
    assert not {one["id"] for one in copies} & {one["id"] for one in original}
    assert other.texts("s") == ["one of v", "two of v", "three of v"]
    assert len(other.told("POST", "/sessions/list")["items"]) == 1


def test_a_clone_is_not_cut_at_a_message_of_another_workspace_or_session(stage, owner):
    [elsewhere] = stage.speaker(workspace="v").say("s", "one of v")
    [beside] = owner.say("t", "one of t")
    owner.say("s", "one of w")
    for foreign in (elsewhere["id"], beside["id"], "none"):
        answer = owner.code("POST", "/sessions/s/clone", params={"message_id": foreign})
        assert answer == (404, "not_found")
    assert {one["id"] for one in owner.told("POST", "/sessions/list")["items"]} == {"s", "t"}


def test_a_clone_ends_with_the_message_it_was_asked_to_end_with(owner):
    said = owner.say("s", "one", "two", "three")
    made = owner.told("POST", "/sessions/s/clone", params={"message_id": said[1]["id"]})
    assert owner.texts(made["id"]) == ["one", "two"]
    owner.say(made["id"], "another end")
    assert owner.texts(made["id"]) == ["one", "two", "another end"]
    assert owner.texts("s") == ["one", "two", "three"]


def test_a_clone_s_messages_are_found_and_counted_like_any_others(owner):
    owner.say("s", "the armadillo sleeps")
    made = owner.told("POST", "/sessions/s/clone")["id"]
    assert owner.search(f"/sessions/{made}", "armadillo") == ["the armadillo sleeps"]
    assert [one["token_count"] > 0 for one in owner.messages(made)] == [True]


def test_nothing_is_concluded_twice_from_a_clone(stage, owner):
    owner.say("s", "My name is Ann.")
    owner.told("POST", "/sessions/s/clone")
    stage.rest()
    assert [(one["content"], one["times_derived"]) for one in owner.conclusions()] == [("My name is Ann.", 1)]


@pytest.mark.parametrize("where", ["", "/peers/alice", "/sessions/s"])
def test_a_peer_s_perspective_finds_the_first_turn_after_later_ones(stage, owner, where):
    owner.say("s", "the harbour opens at nine")
    for number in range(5):
        stage.clock.advance(seconds=60)
        owner.say("s", f"later words {number}")
    assert found_by(owner, "alice", "harbour", where) == ["the harbour opens at nine"]


@pytest.mark.parametrize("where", ["", "/peers/alice", "/sessions/s"])
def test_a_peer_s_perspective_finds_imported_history(owner, where):
    owner.say("s", "the harbour opens at nine", created_at="2019-05-01T10:00:00Z")
    owner.say("s", "later words")
    assert found_by(owner, "alice", "harbour", where) == ["the harbour opens at nine"]


def test_a_peer_s_perspective_is_what_was_said_while_it_was_there(owner):
    owner.say("s", "harbour before she came", peer="bob")
    owner.told("POST", "/sessions/s/peers", {"alice": {}})
    owner.say("s", "harbour while she is there", peer="bob")
    owner.told("DELETE", "/sessions/s/peers", ["alice"])
    owner.say("s", "harbour while she is away", peer="bob")
    owner.told("POST", "/sessions/s/peers", {"alice": {}})
    owner.say("s", "harbour after her return", peer="bob")
    heard = ["harbour while she is there", "harbour after her return"]
    assert sorted(found_by(owner, "alice", "harbour")) == sorted(heard)
    assert len(found_by(owner, "bob", "harbour")) == 4
    assert found_by(owner, "carol", "harbour") == []


def test_a_peer_s_perspective_reaches_every_session_it_is_or_was_in_and_no_other(owner):
    owner.say("s", "harbour one", peer="bob")
    owner.say("s", "hello")
    owner.say("t", ("alice", "hello"), "harbour two", peer="bob")
    owner.told("DELETE", "/sessions/t/peers", ["alice"])
    owner.say("u", "harbour three", peer="bob")
    assert found_by(owner, "alice", "harbour") == ["harbour two"]
    owner.say("s", "harbour four", peer="bob")
    assert sorted(found_by(owner, "alice", "harbour")) == ["harbour four", "harbour two"]


@pytest.fixture
def fragile(tmp_path):
    """A stage on which a defect can be had."""
    with staged(tmp_path, tokenizer=Counting()) as stage:
        yield stage


def test_a_defect_is_told_and_given_up_after_some_tries_and_the_rest_goes_on(fragile):
    def fails(text):
        raise ZeroDivisionError

    owner = fragile.owner
    owner.say("s", "I run every day.")
    fragile.tokenizer.on_count = fails
    for _ in range(20):
        fragile.rest()
        fragile.clock.advance(seconds=600)
    assert ("work.derive", "internal_error") in fragile.outcomes()
    assert any("ZeroDivisionError" in told for told in fragile.complaints)
    fragile.tokenizer.on_count = lambda text: None
    owner.say("s", "I swim every day.")
    fragile.rest()
    assert owner.held() == ["I swim every day."]


def test_a_job_that_was_given_up_says_why_and_is_done_when_it_is_tried_again(fragile):
    def fails(text):
        raise ZeroDivisionError

    def ask(operation, request, token=None):
        return fragile.world.gate.call(operation, Credentials(token or fragile.owner_cap), request)

    owner = fragile.owner
    owner.say("s", "I run every day.")
    fragile.tokenizer.on_count = fails
    for _ in range(20):
        fragile.rest()
        fragile.clock.advance(seconds=600)
    fragile.tokenizer.on_count = lambda text: None
    failed = ask(jobs.JOBS, jobs.Asked(workspace_id="w")).failed
    (given_up,) = [one for one in failed if one.kind == "derive"]
    assert (given_up.reason, given_up.attempts) == ("internal_error: ZeroDivisionError", 8)
    narrow = fragile.cap(sub="alice", peers=[], ops=["list", "put"])
    for operation, request in (
        (jobs.JOBS, jobs.Asked(workspace_id="w")),
        (jobs.RETRY_JOB, jobs.RetryJob(workspace_id="w", seq=given_up.seq)),
    ):
        with pytest.raises(CapScopeMismatch):
            ask(operation, request, narrow)
    with pytest.raises(NotFound):
        ask(jobs.RETRY_JOB, jobs.RetryJob(workspace_id="w", seq=given_up.seq + 1000))
    ask(jobs.RETRY_JOB, jobs.RetryJob(workspace_id="w", seq=given_up.seq))
    fragile.rest()
    assert owner.held() == ["I run every day."]
    assert not [one for one in ask(jobs.JOBS, jobs.Asked(workspace_id="w")).failed if one.kind == "derive"]


def test_what_one_message_breaks_is_given_up_alone(fragile):
    def breaks(text):
        if "poison" in text:
            raise ZeroDivisionError

    owner = fragile.owner
    for text in ("I run every day.", "I drink poison now.", "I swim every day."):
        owner.say("s", text)
    fragile.tokenizer.on_count = breaks
    for _ in range(20):
        fragile.rest()
        fragile.clock.advance(seconds=600)
    assert owner.held() == ["I run every day.", "I swim every day."]
    assert fragile.outcomes().count(("work.derive", "internal_error")) == 1


@pytest.fixture(scope="module")
def keyless(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("keyless") / "home") as server:
        yield server


def asked(server, method, path, body=None, **more):
    answer = server.owner.request(method, f"/v3/workspaces/w{path}", json=body, **more)
    assert answer.is_success, answer.text
    return answer


def test_without_any_model_key_every_way_in_and_out_works(keyless):
    said = {"messages": [{"peer_id": "ann", "content": "My name is Ann and I live in Bergen."}]}
    assert asked(keyless, "POST", "/sessions/s/messages", said).status_code == 201
    for where in ("", "/peers/ann", "/sessions/s"):
        found = asked(keyless, "POST", f"{where}/search", {"query": "Bergen"}).json()
        assert [one["content"] for one in found] == [said["messages"][0]["content"]]
    until(lambda: asked(keyless, "POST", "/peers/ann/representation", {}).json()["representation"])
    assert asked(keyless, "GET", "/sessions/s/context", params={"peer_target": "ann"}).json()["messages"]
    stated = [{"content": "likes tea", "observer_id": "ann", "observed_id": "ann"}]
    assert asked(keyless, "POST", "/conclusions", {"conclusions": stated}).status_code == 201
    assert asked(keyless, "POST", "/conclusions/query", {"query": "tea"}).json()
    answer = asked(keyless, "POST", "/peers/ann/chat", {"query": "Where does Ann live?"})
    assert "Bergen" in answer.json()["content"]
    assert answer.headers["x-souvenance-reasoner"] == "quotes"


def test_a_streamed_answer_without_a_model_is_the_same_answer_in_pieces(keyless):
    said = {"messages": [{"peer_id": "eve", "content": "I live in Tromsø. I play the violin."}]}
    asked(keyless, "POST", "/sessions/v/messages", said)
    until(lambda: asked(keyless, "POST", "/peers/eve/representation", {}).json()["representation"])
    question = {"query": "Where does Eve live?"}
    whole = asked(keyless, "POST", "/peers/eve/chat", question).json()["content"]
    streamed = asked(keyless, "POST", "/peers/eve/chat", {**question, "stream": True})
    assert streamed.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in streamed.text.split("\n\n") if line]
    told = [json.loads(event) for event in events]
    assert [event["done"] for event in told] == [False] * (len(told) - 1) + [True]
    assert "".join(event["delta"]["content"] for event in told[:-1]) == whole


def test_a_short_chat_is_remembered_at_once_and_not_after_so_many_tokens_or_minutes(stage, owner):
    owner.say("s", "My name is Ann.")
    assert stage.worker.work_once()
    assert (owner.card(), owner.held()) == (["Name: Ann"], ["My name is Ann."])


def test_a_server_works_off_a_short_chat_without_being_asked_again(keyless):
    said = {"messages": [{"peer_id": "kim", "content": "Hi, I'm Kim."}]}
    asked(keyless, "POST", "/sessions/k/messages", said)
    assert until(lambda: asked(keyless, "GET", "/peers/kim/card").json()["peer_card"])


OPERANDS = [{"gt": 2}, {"gte": 2}, {"lt": 2}, {"lte": 2}, {"ne": 2}, {"in": [1, 2]}, 2, {"gt": 2.5}]
VALUES = [1, 3, "many", "", None, True, [1], {"a": 1}, "3"]


@pytest.mark.parametrize("operand", OPERANDS, ids=str)
def test_a_number_compared_with_metadata_that_is_none_is_no_failure(owner, operand):
    for number, value in enumerate(VALUES):
        owner.say("s", f"note {number}", metadata={"count": value})
        owner.open("sessions", f"session-{number}", metadata={"count": value})
        owner.open("peers", f"peer-{number}", metadata={"count": value})
    filters = {"filters": {"metadata": {"count": operand}}}
    lists = ("/sessions/s/messages/list", "/sessions/list", "/peers/list")
    assert [owner.code("POST", path, filters) for path in lists] == [200, 200, 200]
    search = {"query": "note", **filters}
    assert [owner.code("POST", f"{where}/search", search) for where in ("", "/sessions/s")] == [200, 200]


def test_a_number_compared_with_metadata_finds_the_numbers_that_fit(owner):
    for value in VALUES:
        owner.say("s", f"note {value}", metadata={"count": value})
    more = {"filters": {"metadata": {"count": {"gt": 2}}}}
    found = owner.told("POST", "/sessions/s/messages/list", more)["items"]
    assert "note 3" in [one["content"] for one in found]
    assert not {"note 1", "note many", "note None"} & {one["content"] for one in found}


def test_a_retried_batch_is_stored_once(owner):
    batch = {
        "messages": [{"peer_id": "alice", "content": "My name is Ann."}, {"peer_id": "bob", "content": "hi"}]
    }
    first = owner.ask("POST", "/sessions/s/messages", batch)
    second = owner.ask("POST", "/sessions/s/messages", batch)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert owner.texts("s") == ["My name is Ann.", "hi"]


def test_a_message_can_be_deleted(stage, owner):
    said = owner.say("s", "one", "two", "three")
    assert owner.code("DELETE", f"/sessions/s/messages/{said[1]['id']}") == 204
    assert owner.texts("s") == ["one", "three"]
    assert owner.code("GET", f"/sessions/s/messages/{said[1]['id']}") == (404, "not_found")
    assert owner.code("DELETE", f"/sessions/s/messages/{said[1]['id']}") == (404, "not_found")


@pytest.mark.parametrize("keep", [False, True])
def test_a_peer_can_be_deleted_with_its_messages_or_without(owner, keep):
    owner.say("s", "mine", ("bob", "his"))
    query = {"keep_messages": str(keep).lower()}
    assert owner.code("DELETE", "/peers/alice", params=query) == 202
    assert [one["id"] for one in owner.told("POST", "/peers/list")["items"]] == ["bob"]
    assert owner.texts("s") == (["mine", "his"] if keep else ["his"])
    assert owner.code("DELETE", "/peers/alice") == (404, "not_found")


def test_a_deletion_needs_no_worker(owner):
    owner.say("s", "the aardvark")
    owner.told("DELETE", "/sessions/s")
    assert owner.search("", "aardvark") == []
    assert owner.code("POST", "/sessions/s/messages/list") == (404, "not_found")
    owner.say("s", "a clean slate")
    assert owner.texts("s") == ["a clean slate"]


def test_in_a_clone_a_peer_hears_nothing_that_was_said_after_it_left(owner):
    said = owner.say("s", "one")
    said += owner.say("s", "two", peer="bob")
    owner.say("s", "three")
    owner.say("s", "four")
    owner.told("DELETE", "/sessions/s/peers", ["bob"])
    made = owner.told("POST", "/sessions/s/clone", params={"message_id": said[1]["id"]})["id"]
    owner.told("DELETE", f"/sessions/{made}/peers", ["bob"])
    owner.say(made, "the harbour at last")
    assert found_by(owner, "bob", "harbour", f"/sessions/{made}") == []
    assert found_by(owner, "alice", "harbour", f"/sessions/{made}") == ["the harbour at last"]


def test_a_clone_keeps_the_words_of_a_deleted_peer_that_were_kept(owner):
    owner.say("s", "mine", ("bob", "his"))
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    made = owner.told("POST", "/sessions/s/clone")["id"]
    assert (owner.texts(made), owner.members(made)) == (["mine", "his"], ["bob"])
    first = owner.messages(made)[0]
    assert owner.told("GET", f"/sessions/{made}/messages/{first['id']}") == first
    assert "alice" not in str(owner.told("POST", "/peers/list"))
