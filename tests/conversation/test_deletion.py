"""Deletion is real: readers get nothing at once, the bytes are gone, and names begin anew."""

from __future__ import annotations

import sqlite3
from itertools import product

import pytest

RARE = "xylograph"
PEERS = ("alice", "bob")


def furnish(owner, stage):
    """Two sessions, the rare word in one, everything that can be made of it, and much that has it not."""
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}}, metadata={"m": 1})
    said = owner.say("s", f"I have a dog called {RARE}. My name is Ann.", ("bob", "My name is Bob."))
    owner.say("s", *(f"filler {number}" for number in range(19)))
    owner.say("t", "My name is Ann. I live in Oslo.", ("bob", "I live in Rome."))
    stage.rest()
    return said[0]["id"]


def told(stage):
    """What every reader is told that could tell the rare word."""
    owner = stage.owner
    answers = [owner.ask("POST", f"{where}/search", {"query": RARE}) for where in places()]
    answers += [
        *(owner.ask("POST", f"/{kind}/list", {}) for kind in ("conclusions", "peers", "sessions")),
        owner.ask("POST", "/conclusions/query", {"query": RARE}),
        owner.ask("POST", "/chat", {"query": RARE}),
    ]
    for session in ("s", "t"):
        answers.append(owner.ask("POST", f"/sessions/{session}/messages/list"))
        answers.append(owner.ask("GET", f"/sessions/{session}/summaries"))
    for observer, observed in product(PEERS, PEERS):
        path, target = f"/peers/{observer}", {"target": observed}
        views = {"peer_target": observed, "peer_perspective": observer, "search_query": RARE}
        answers += [
            owner.ask("GET", "/sessions/s/context", params=views),
            owner.ask("POST", f"{path}/representation", {"search_query": RARE, **target}),
            owner.ask("GET", f"{path}/card", params=target),
            owner.ask("GET", f"{path}/context", params={"search_query": RARE, **target}),
            owner.ask("POST", f"{path}/chat", {"query": RARE, **target}),
        ]
    for peer in PEERS:
        direct = stage.speaker(stage.cap(sub=peer, namespaces_allowed=["*"]))
        answers.append(direct.ask("POST", "/v1/memory/get", {"query": RARE, "k": 20}))
        answers.append(direct.ask("POST", "/v1/memory/snapshot", {}))
    assert {answer.status_code for answer in answers} <= {200, 404}
    return "\n".join(answer.text for answer in answers)


def places():
    return ("", "/peers/alice", "/peers/bob", "/sessions/s", "/sessions/t")


def traces(folder):
    """What each line left in the book: its envelope, and the tokens of its words."""
    with sqlite3.connect(f"file:{folder / 'book.db'}?mode=ro", uri=True) as store:
        found = {row[:3]: {row[3]} for row in store.execute("SELECT owner, namespace, id, sealed FROM lines")}
        for *place, tokens in store.execute("SELECT owner, namespace, id, tokens FROM terms"):
            if tokens is not None:
                words = {tokens[at : at + 8] for at in range(0, len(tokens), 8)}
                found.setdefault(tuple(place), set()).update(words)
    store.close()
    return found


def left_of(folder, before):
    """How many of the lines are gone, and which of their bytes are in a file all the same."""
    now = traces(folder)
    still = set().union(*now.values()) if now else set()
    gone = {place: marks - still for place, marks in before.items() if place not in now}
    content = b"\xff".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return len(gone), [mark for marks in gone.values() for mark in marks if mark in content]


DELETIONS = {
    "the session": ["/sessions/s"],
    "the peer": ["/peers/alice"],
    "the message": ["/sessions/s/messages/{message}"],
    "the workspace": ["/sessions/s", "/sessions/t", ""],
}


@pytest.mark.parametrize("what", DELETIONS)
@pytest.mark.embedded("it reads the bytes of the file")
def test_of_what_is_deleted_no_reader_is_told_a_word_and_no_file_holds_a_byte(stage, owner, tmp_path, what):
    message = furnish(owner, stage)
    assert told(stage).count(RARE) > 20
    before = traces(tmp_path)
    for path in DELETIONS[what]:
        owner.told("DELETE", path.format(message=message))
    assert RARE not in told(stage)
    gone, left = left_of(tmp_path, before)
    assert left == []
    assert gone >= 5
    stage.rest()
    assert RARE not in told(stage)


@pytest.mark.embedded("it reads the bytes of the file")
def test_a_deleted_conclusion_is_nowhere_and_what_was_said_stays(stage, owner, tmp_path):
    furnish(owner, stage)
    before = traces(tmp_path)
    for one in owner.conclusions():
        if RARE in one["content"]:
            owner.told("DELETE", f"/conclusions/{one['id']}")
            assert owner.code("GET", f"/conclusions/{one['id']}") == (404, "not_found")
    stage.rest()
    assert [one for one in owner.held() if RARE in one] == []
    views = [owner.card(), owner.card("bob", target="alice")]
    assert RARE not in str(views)
    assert "Name: Ann" in str(views)
    assert RARE in owner.representation()
    assert RARE in owner.texts("s")[0]
    assert left_of(tmp_path, before)[1] == []


def test_a_peer_deleted_without_its_messages_leaves_what_it_said_and_nothing_known_of_it(stage, owner):
    message = furnish(owner, stage)
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    stage.rest()
    assert owner.texts("s")[0] == f"I have a dog called {RARE}. My name is Ann."
    assert owner.told("GET", f"/sessions/s/messages/{message}")["peer_id"] == "alice"
    assert owner.search("", RARE) == owner.search("/sessions/s", RARE) == [owner.texts("s")[0]]
    assert [one["observed_id"] for one in owner.conclusions() if "alice" in str(one)] == []
    assert (owner.card(), owner.card("bob", target="alice")) == (None, None)
    assert owner.representation("bob", target="alice") == ""
    assert owner.members("s") == ["bob"]
    assert "alice" not in str(owner.told("POST", "/peers/list"))


@pytest.mark.embedded("it reads the bytes of the file")
def test_the_messages_kept_of_a_deleted_peer_go_with_their_session(stage, owner, tmp_path):
    furnish(owner, stage)
    before = traces(tmp_path)
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    owner.told("DELETE", "/sessions/s")
    assert RARE not in told(stage)
    assert left_of(tmp_path, before)[1] == []
    with sqlite3.connect(tmp_path / "book.db") as store:
        assert store.execute("SELECT count(*) FROM lines WHERE session = 's'").fetchone() == (0,)
    store.close()


def test_the_messages_kept_of_a_deleted_peer_can_still_be_deleted_one_by_one(stage, owner):
    message = furnish(owner, stage)
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    owner.told("DELETE", f"/sessions/s/messages/{message}")
    assert RARE not in told(stage)


def test_nothing_is_concluded_of_a_deleted_peer_from_work_that_waited(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.say("s", "My name is Ann.")
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    stage.rest()
    assert owner.held() == []
    assert owner.queue()["pending_work_units"] == 0


def test_a_session_s_name_begins_anew(stage, owner):
    furnish(owner, stage)
    earlier = owner.open("sessions", "s")
    owner.told("DELETE", "/sessions/s")
    stage.clock.advance(seconds=1)
    answer = owner.ask("POST", "/sessions", {"id": "s"})
    fresh = answer.json()
    assert answer.status_code == 201
    assert (fresh["metadata"], fresh["configuration"]) == ({}, {})
    assert fresh["uid"] != earlier["uid"]
    assert (owner.messages("s"), owner.members("s"), owner.summaries("s")) == ([], [], (None, None))
    assert owner.queue(session_id="s")["total_work_units"] == 0
    owner.say("s", "My name is Eve.")
    stage.rest()
    assert owner.texts("s") == ["My name is Eve."]
    assert owner.held(session_id="s") == ["My name is Eve."]


@pytest.mark.parametrize("keep", ["false", "true"])
def test_a_peer_s_name_begins_anew(stage, owner, keep):
    furnish(owner, stage)
    owner.open("peers", "alice", metadata={"a": 1}, configuration={"observe_me": True})
    owner.told("DELETE", "/peers/alice", params={"keep_messages": keep})
    stage.clock.advance(seconds=1)
    answer = owner.ask("POST", "/peers", {"id": "alice"})
    assert (answer.status_code, answer.json()["metadata"], answer.json()["configuration"]) == (201, {}, {})
    assert owner.told("POST", "/peers/alice/sessions")["items"] == []
    assert (owner.card(), owner.representation(), owner.held(observer_id="alice")) == (None, "", [])
    owner.say("u", "My name is Eve.")
    stage.rest()
    assert (owner.held(observer_id="alice"), owner.card()) == (["My name is Eve."], ["Name: Eve"])


def test_a_new_peer_of_a_deleted_one_s_name_does_not_inherit_the_messages_that_were_kept(stage, owner):
    """They stay in their session as what was said there, and are not the new one's memory."""
    furnish(owner, stage)
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    stage.clock.advance(seconds=1)
    owner.open("peers", "alice")
    assert RARE not in (owner.chat(RARE) or "")
    assert owner.search("/peers/alice", RARE) == []


def test_a_workspace_s_name_begins_anew(stage, owner):
    furnish(owner, stage)
    owner.open("scopes", "sc")
    owner.told("POST", "/webhooks", {"url": "https://example.org/hook"})
    assert owner.code("DELETE", "") == (409, "conflict")
    for session in ("s", "t"):
        owner.told("DELETE", f"/sessions/{session}")
    owner.told("DELETE", "")
    assert owner.code("DELETE", "") == (404, "not_found")
    assert owner.ask("POST", "/v3/workspaces", {"id": "w"}).status_code == 201
    for kind in ("peers", "sessions", "scopes", "conclusions"):
        assert owner.told("POST", f"/{kind}/list")["items"] == [], kind
    assert owner.told("GET", "/webhooks")["items"] == []
    assert owner.queue()["total_work_units"] == 0
    owner.say("s", "My name is Eve.")
    stage.rest()
    assert owner.held() == ["My name is Eve."]


def test_another_workspace_is_not_touched(stage, owner):
    furnish(owner, stage)
    other = stage.speaker(workspace="v")
    other.say("s", f"I have a dog called {RARE}.")
    stage.rest()
    for path in ("/sessions/s", "/sessions/t", "/peers/alice", ""):
        owner.told("DELETE", path)
    assert (other.texts("s"), other.held(), other.card()) == (
        [f"I have a dog called {RARE}."],
        [f"I have a dog called {RARE}."],
        [f"Pets: a dog called {RARE}"],
    )


def test_what_rests_on_another_message_too_stays_and_no_longer_names_the_deleted_one(stage, owner):
    first, second = owner.say("s", "My name is Ann.", "My name is Ann.")
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{first['id']}")
    [one] = owner.conclusions()
    assert (one["content"], one["source_ids"]) == ("My name is Ann.", [second["id"]])
    assert owner.card() == ["Name: Ann"]
    owner.told("DELETE", f"/sessions/s/messages/{second['id']}")
    assert (owner.conclusions(), owner.card()) == ([], [])


@pytest.mark.parametrize("deleted", ["s", "t"])
def test_what_was_also_said_in_another_session_stays_known(stage, owner, deleted):
    owner.say("s", "My name is Ann. I have a dog called Rex.")
    stage.rest()
    stage.clock.advance(seconds=1)
    owner.say("t", "My name is Ann. I live in Oslo.")
    stage.rest()
    owner.told("DELETE", f"/sessions/{deleted}")
    stage.rest()
    said, card = {
        "s": ("I live in Oslo.", "Home: Oslo"),
        "t": ("I have a dog called Rex.", "Pets: a dog called Rex"),
    }[deleted]
    assert owner.held() == [said, "My name is Ann."]
    assert owner.card() == ["Name: Ann", card]


def test_a_hand_stated_conclusion_goes_with_the_session_it_names_whoever_holds_it(stage, owner):
    owner.open("peers", "outsider")
    owner.say("s", "hello")
    owner.conclude(f"knows the {RARE}", "outsider", "alice", session="s")
    owner.conclude("knows more", "outsider", "alice")
    owner.told("DELETE", "/sessions/s")
    assert owner.held() == ["knows more"]


def test_a_hand_written_card_outlives_the_messages(stage, owner):
    owner.say("s", "My name is Ann.")
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["Speaks softly"]})
    stage.rest()
    assert owner.card() == ["Speaks softly", "Name: Ann"]
    owner.told("DELETE", "/sessions/s")
    assert owner.card() == ["Speaks softly"]


def test_a_deleted_message_leaves_no_hole_that_readers_stumble_over(stage, owner):
    said = owner.say("s", *(f"line {number}" for number in range(10)))
    for one in (said[0], said[4], said[9]):
        owner.told("DELETE", f"/sessions/s/messages/{one['id']}")
    left = [f"line {number}" for number in (1, 2, 3, 5, 6, 7, 8)]
    assert owner.texts("s") == left
    page = owner.told("POST", "/sessions/s/messages/list", params={"size": 3, "page": 3})
    assert ([one["content"] for one in page["items"]], page["total"], page["pages"]) == (["line 8"], 7, 3)
    assert [one["content"] for one in owner.context("s")["messages"]] == left
    owner.say("s", "a new end")
    assert owner.texts("s") == [*left, "a new end"]


def test_who_left_hears_nothing_that_is_said_in_the_place_of_a_deleted_message(owner):
    owner.say("s", "one")
    owner.say("s", "two", peer="bob")
    [third] = owner.say("s", "three")
    owner.told("DELETE", "/sessions/s/peers", ["bob"])
    owner.told("DELETE", f"/sessions/s/messages/{third['id']}")
    owner.say("s", "the harbour")
    assert owner.search("/sessions/s", "harbour", filters={"peer_perspective": "bob"}) == []


def test_a_summary_after_a_deletion_of_the_last_messages_still_covers_what_is_said_next(stage, owner):
    said = owner.say("s", *(f"line {number}" for number in range(20)))
    stage.rest()
    for one in said[-3:]:
        owner.told("DELETE", f"/sessions/s/messages/{one['id']}")
    owner.say("s", *(f"more {number}" for number in range(30)))
    stage.rest()
    short, _ = owner.summaries("s")
    assert [f"more {number}\n" in short["content"] for number in (0, 1, 2, 3)] == [True] * 4


def test_a_clone_keeps_its_own_copy_of_what_is_deleted_in_the_original(stage, owner):
    owner.say("s", f"the {RARE}")
    made = owner.told("POST", "/sessions/s/clone")["id"]
    owner.told("DELETE", "/sessions/s")
    assert owner.texts(made) == [f"the {RARE}"]
    assert owner.search("", RARE) == [f"the {RARE}"]


def test_a_deleted_scope_takes_no_session_with_it(owner):
    owner.say("s", "hello")
    owner.open("scopes", "sc")
    owner.told("POST", "/scopes/sc/sessions", {"session_ids": ["s"]})
    owner.told("DELETE", "/scopes/sc")
    assert owner.texts("s") == ["hello"]
    assert owner.ask("POST", "/scopes", {"id": "sc"}).status_code == 201
    assert owner.told("POST", "/scopes/sc/sessions/list")["items"] == []
