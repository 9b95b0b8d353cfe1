"""A session lies in one namespace, and so does all that comes of it; who opens several sees them as one."""

from __future__ import annotations

import msgspec
import pytest

from souvenance.domain.names import SESSIONS
from souvenance.gate import messages as m
from souvenance.gate import operations as memory
from souvenance.gate.conversation.chat import ASK_PEER
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, LIST_CONCLUSIONS
from souvenance.gate.conversation.context import READ_CARD, REPRESENT, SUMMARIES, WRITE_CARD
from souvenance.gate.conversation.messages import ADD_FILE, ADD_MESSAGES, LIST_MESSAGES, SEARCH_PEER
from souvenance.gate.conversation.peers import CHANGE_PEER, DELETE_PEER, LIST_PEERS
from souvenance.gate.conversation.queue import QUEUE_STATUS, SCHEDULE_DREAM
from souvenance.gate.conversation.sessions import (
    ADD_MEMBERS,
    CLONE_SESSION,
    CONFIGURE_MEMBER,
    DELETE_SESSION,
    LIST_MEMBERS,
    LIST_SESSIONS,
    OPEN_SESSION,
    READ_MEMBER,
    REMOVE_MEMBERS,
    SESSIONS_OF_PEER,
    SET_MEMBERS,
)
from souvenance.gate.conversation.workspaces import ADD_WEBHOOK, CHANGE_WORKSPACE, DELETE_WORKSPACE

OBSERVING = {"alice": {}, "hermes": {"observe_others": True}}


@pytest.fixture
def do(stage):
    """Ask the gate itself, as the owner unless told otherwise."""

    def ask(operation, cap=None, **fields):
        request = msgspec.convert({"workspace_id": "w", **fields}, operation.request)
        return stage.world.call(operation, cap or stage.owner_cap, request)

    return ask


@pytest.fixture
def refused(stage):
    """The code of a refusal."""

    def ask(operation, cap=None, **fields):
        request = msgspec.convert({"workspace_id": "w", **fields}, operation.request)
        return stage.world.code(operation, cap or stage.owner_cap, request)

    return ask


def say(do, session, *texts, cap=None, peer="alice", **more):
    batch = [{"peer_id": peer, "content": text} for text in texts]
    return do(ADD_MESSAGES, cap, session_id=session, messages=batch, **more).messages


def compartments(stage):
    with stage.world.store.read() as tx:
        return {(compartment.owner, compartment.namespace) for compartment in tx.lines.compartments()}


def doctor(stage):
    return stage.world.call(memory.RECONCILE, stage.owner_cap, m.Reconcile("w")).findings


def test_all_that_comes_of_a_session_lies_in_its_namespace(stage, do):
    say(
        do,
        "s",
        *(f"I have a cat called Tom{number}." for number in range(20)),
        namespace="travel",
        members=OBSERVING,
    )
    stage.rest()
    assert compartments(stage) == {("alice", "travel"), ("hermes", "travel"), (SESSIONS, "travel")}
    with stage.world.store.read() as tx:
        kinds = {line.kind for owner in ("alice", "hermes") for line in tx.lines.of_session("w", owner, "s")}
    assert kinds == {"message", "statement"}
    assert do(SUMMARIES, session_id="s").short_summary is not None
    assert do(READ_CARD, peer_id="hermes", target="alice").peer_card is not None


def test_a_session_that_names_no_namespace_lies_where_conversations_always_did(stage, do):
    say(do, "s", "hello")
    assert compartments(stage) == {("alice", "default")}


def test_what_is_stated_without_a_session_lies_where_the_request_says(stage, do):
    say(do, "s", "I run every day.", namespace="travel", members=OBSERVING)
    stage.rest()
    before = compartments(stage)
    claim = {"content": "a claim", "observer_id": "hermes", "observed_id": "alice"}
    do(ADD_CONCLUSIONS, conclusions=[claim], namespace="work")
    do(WRITE_CARD, peer_id="alice", peer_card=["By hand"], namespace="family")
    do(ADD_CONCLUSIONS, conclusions=[claim])
    assert compartments(stage) - before == {("hermes", "work"), ("alice", "family"), ("hermes", "default")}


def test_a_conclusion_of_a_session_lies_where_that_does_and_nowhere_else(stage, do, refused):
    say(do, "s", "I run every day.", namespace="travel", members=OBSERVING)
    stage.rest()
    before = compartments(stage)
    claim = {"content": "a claim", "observer_id": "hermes", "observed_id": "alice", "session_id": "s"}
    do(ADD_CONCLUSIONS, conclusions=[claim])
    do(ADD_CONCLUSIONS, conclusions=[claim], namespace="travel")
    assert refused(ADD_CONCLUSIONS, conclusions=[claim], namespace="work") == "conflict"
    assert compartments(stage) == before


WRITES = {
    OPEN_SESSION: {"id": "s"},
    ADD_MEMBERS: {"session_id": "s", "peers": {"bob": {}}},
    SET_MEMBERS: {"session_id": "s", "peers": {"bob": {}}},
    ADD_MESSAGES: {"session_id": "s", "messages": [{"peer_id": "bob", "content": "hi"}]},
    ADD_FILE: {"session_id": "s", "peer_id": "bob", "file": b"hi", "media_type": "text/plain"},
}


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
def test_a_write_names_the_namespace_of_its_session_or_none(stage, do, refused, operation):
    say(do, "s", "hello", namespace="travel")
    fields = WRITES[operation]
    both = stage.cap(namespaces_allowed=["travel", "work"])
    one = stage.cap(namespaces_allowed=["work"])
    other = stage.cap(namespaces_allowed=["travel"])
    for cap in (both, other, stage.owner_cap):
        assert refused(operation, cap, **fields) == "ok"
        assert refused(operation, cap, **fields, namespace="travel") == "ok"
    assert refused(operation, both, **fields, namespace="work") == "conflict"
    assert refused(operation, other, **fields, namespace="work") == "namespace_denied"
    assert refused(operation, one, **fields, namespace="work") == "namespace_denied"
    assert refused(operation, one, **fields) == "namespace_denied"
    assert refused(operation, one, **fields, namespace="travel") == "namespace_denied"
    with stage.world.store.read() as tx:
        assert {namespace for _, namespace in compartments(stage)} == {"travel"}
        assert [entry.namespace for entry in tx.directory.entries("w", "session")] == ["travel"]


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
def test_a_session_is_made_only_where_the_cap_opens(stage, do, refused, operation):
    fields = WRITES[operation]
    travel = stage.cap(namespaces_allowed=["travel"])
    assert refused(operation, travel, **fields) == "namespace_denied", "the common one is not open"
    assert refused(operation, travel, **fields, namespace="work") == "namespace_denied"
    assert do(LIST_SESSIONS).items == []
    assert refused(operation, travel, **fields, namespace="travel") == "ok"
    assert [one.id for one in do(LIST_SESSIONS, travel).items] == ["s"]


@pytest.mark.parametrize("name", ["Travel", "a b", "*", "", "x" * 65, "tra\nvel"])
def test_a_namespace_is_named_as_everywhere(owner, name):
    body = {"messages": [{"peer_id": "alice", "content": "hi"}], "namespace": name}
    assert owner.code("POST", "/sessions/s/messages", body) == (422, "invalid_input")


def test_honcho_s_clients_speak_to_a_session_of_any_namespace_that_their_cap_opens(stage, owner):
    body = {"messages": [{"peer_id": "alice", "content": "hi"}], "namespace": "travel"}
    owner.told("POST", "/sessions/s/messages", body)
    owner.say("s", "again")
    assert owner.texts("s") == ["hi", "again"]
    assert compartments(stage) == {("alice", "travel")}
    key = stage.speaker(stage.key())
    assert key.told("POST", "/sessions/list")["items"] == []
    assert key.code("POST", "/sessions/s/messages/list") == (404, "not_found")


@pytest.fixture
def two(stage, do):
    """One peer, an agent that observes it, and a session in each of two namespaces."""
    for namespace, text in (
        ("work", "I have a dog. I live in Oslo."),
        ("travel", "I have a dog. I have two kids."),
    ):
        say(do, f"s-{namespace}", text, namespace=namespace, members=OBSERVING)
        stage.rest()
        stage.clock.advance(seconds=1)
    return stage


def test_who_opens_several_namespaces_sees_what_is_known_as_one(two, do):
    both = two.cap(namespaces_allowed=["travel", "work"])
    for cap in (both, two.owner_cap):
        shown = do(REPRESENT, cap, peer_id="hermes", target="alice").representation
        assert all(text in shown for text in ("I have a dog.", "I live in Oslo.", "I have two kids."))
        card = do(READ_CARD, cap, peer_id="hermes", target="alice").peer_card
        assert card == ["Home: Oslo", "Family: two kids", "Pets: a dog"], "nothing twice"
        found = do(SEARCH_PEER, cap, peer_id="alice", query="dog").messages
        assert {one.session_id for one in found} == {"s-work", "s-travel"}
        assert "Oslo" in do(ASK_PEER, cap, peer_id="hermes", target="alice", query="oslo").content
        assert [one.id for one in do(LIST_SESSIONS, cap).items] == ["s-work", "s-travel"]
        listed = do(LIST_CONCLUSIONS, cap, size=100).items
        assert {one.session_id for one in listed} == {"s-work", "s-travel"}


def test_who_opens_one_sees_that_one(two, do):
    travel = two.cap(namespaces_allowed=["travel"])
    assert do(READ_CARD, travel, peer_id="hermes", target="alice").peer_card == [
        "Family: two kids",
        "Pets: a dog",
    ]
    shown = do(REPRESENT, travel, peer_id="hermes", target="alice").representation
    assert "Oslo" not in shown
    assert "I have two kids." in shown
    assert [one.id for one in do(LIST_SESSIONS, travel).items] == ["s-travel"]
    assert [one.id for one in do(SESSIONS_OF_PEER, travel, peer_id="alice").items] == ["s-travel"]


def test_pages_of_several_namespaces_come_in_one_order(stage, do):
    for number in range(9):
        do(OPEN_SESSION, id=f"s{number}", namespace=("travel", "work", "family")[number % 3])
        stage.clock.advance(ms=5)
    cap = stage.cap(namespaces_allowed=["travel", "work"])
    every = [f"s{number}" for number in range(9) if number % 3 < 2]
    for reverse in (False, True):
        pages = [do(LIST_SESSIONS, cap, page=page, size=2, reverse=reverse) for page in (1, 2, 3, 4)]
        found = [one.id for page in pages for one in page.items]
        assert found == (every[::-1] if reverse else every)
        assert {page.total for page in pages} == {6}


def test_a_clone_lies_where_its_session_does(two, do):
    made = do(CLONE_SESSION, two.cap(namespaces_allowed=["work"]), session_id="s-work")
    seen = do(LIST_SESSIONS, two.cap(namespaces_allowed=["work"])).items
    assert {one.id for one in seen} == {"s-work", made.id}
    assert [one.id for one in do(LIST_SESSIONS, two.cap(namespaces_allowed=["travel"])).items] == ["s-travel"]
    assert doctor(two) == []


def test_a_dream_makes_each_card_of_what_is_known_in_its_namespace(two, do):
    do(SCHEDULE_DREAM, observer="hermes", observed="alice", dream_type="omni")
    two.rest()
    cards = {
        namespace: do(
            READ_CARD, two.cap(namespaces_allowed=[namespace]), peer_id="hermes", target="alice"
        ).peer_card
        for namespace in ("travel", "work")
    }
    assert cards == {"travel": ["Family: two kids", "Pets: a dog"], "work": ["Home: Oslo", "Pets: a dog"]}
    assert doctor(two) == []


def test_what_is_unsaid_in_one_namespace_is_still_known_in_the_other(two, do):
    do(DELETE_SESSION, session_id="s-work")
    two.rest()
    assert do(READ_CARD, peer_id="hermes", target="alice").peer_card == ["Family: two kids", "Pets: a dog"]
    assert {one.session_id for one in do(LIST_CONCLUSIONS, size=100).items} == {"s-travel"}
    assert doctor(two) == []


def test_forgetting_a_namespace_leaves_the_summaries_of_the_others(stage, do):
    for namespace in ("work", "travel"):
        say(do, f"s-{namespace}", *(f"line {number}" for number in range(20)), namespace=namespace)
    stage.rest()
    alice = stage.cap(sub="alice", peers=[], namespaces_allowed=["*"])
    stage.world.call(memory.FORGET, alice, m.Forget(namespace="work"))
    assert do(SUMMARIES, session_id="s-work").short_summary is None
    assert do(SUMMARIES, session_id="s-travel").short_summary is not None
    assert doctor(stage) == []


def test_a_corrected_conclusion_is_thought_over_where_it_lies(two, do):
    alice = two.cap(sub="hermes", peers=[], namespaces_allowed=["work"])
    [one] = [one for one in do(LIST_CONCLUSIONS, alice).items if one.content == "I live in Oslo."]
    two.world.call(memory.INVALIDATE, alice, m.Invalidate(one.id))
    with two.world.store.read() as tx:
        assert [tally.pending for tally in tx.work.tallies("w", ("dream",), 0, ("work",))] == [1]
        assert tx.work.tallies("w", ("dream",), 0, ("travel",)) == []
    two.rest()
    assert do(READ_CARD, alice, peer_id="hermes", target="alice").peer_card == ["Pets: a dog"]


def test_a_peer_deleted_in_one_namespace_lives_on_in_the_other(two, do, refused):
    travel, work = (two.cap(namespaces_allowed=[name]) for name in ("travel", "work"))
    do(DELETE_PEER, travel, peer_id="alice")
    two.rest()
    assert [one.id for one in do(LIST_PEERS, travel).items] == ["hermes"]
    assert do(LIST_MESSAGES, travel, session_id="s-travel").items == []
    assert [one.id for one in do(LIST_MEMBERS, travel, session_id="s-travel").items] == ["hermes"]
    assert refused(DELETE_PEER, travel, peer_id="alice") == "not_found"
    assert {one.id for one in do(LIST_PEERS, work).items} == {"alice", "hermes"}
    assert do(READ_CARD, work, peer_id="hermes", target="alice").peer_card == ["Home: Oslo", "Pets: a dog"]
    assert len(do(LIST_MESSAGES, work, session_id="s-work").items) == 1
    assert doctor(two) == []
    do(DELETE_PEER, work, peer_id="alice")
    assert [one.id for one in do(LIST_PEERS).items] == ["hermes"]
    assert doctor(two) == []


def test_a_workspace_deleted_in_one_namespace_lives_on_in_the_other(two, do, refused):
    travel, work = (two.cap(namespaces_allowed=[name]) for name in ("travel", "work"))
    assert refused(DELETE_WORKSPACE, travel) == "conflict"
    do(DELETE_SESSION, travel, session_id="s-travel")
    do(DELETE_WORKSPACE, travel)
    assert (do(LIST_CONCLUSIONS, travel).items, do(LIST_SESSIONS, travel).items) == ([], [])
    assert do(QUEUE_STATUS, travel).total_work_units == 0
    assert {one.id for one in do(LIST_PEERS, work).items} == {"alice", "hermes"}
    assert do(READ_CARD, work, peer_id="hermes", target="alice").peer_card == ["Home: Oslo", "Pets: a dog"]
    assert doctor(two) == []
    do(DELETE_SESSION, work, session_id="s-work")
    do(DELETE_WORKSPACE, work)
    assert refused(DELETE_WORKSPACE) == "not_found"
    assert compartments(two) == set()
    assert doctor(two) == []


def test_an_owner_deletes_a_peer_in_every_namespace(two, do):
    do(DELETE_PEER, peer_id="alice")
    assert {owner for owner, _ in compartments(two)} <= {"hermes"}
    assert doctor(two) == []


def test_lines_put_by_hand_go_with_their_session_or_peer_and_the_doctor_knows(stage, do):
    say(do, "s", "hello", namespace="travel")
    alice = stage.cap(sub="alice", peers=[], namespaces_allowed=["travel"])
    put = m.Put(text="by hand", namespace="travel", session="s")
    stage.world.call(memory.PUT, alice, put)
    do(DELETE_SESSION, session_id="s")
    assert doctor(stage) == []
    stage.world.call(memory.PUT, alice, m.Put(text="by hand again", namespace="travel"))
    do(DELETE_PEER, peer_id="alice")
    assert doctor(stage) == []


def test_the_log_names_the_namespaces_that_were_touched(two, do):
    two.clock.advance(seconds=1)
    before = len(two.world.rows("w"))
    both = two.cap(namespaces_allowed=["travel", "work", "family"])
    do(LIST_MESSAGES, both, session_id="s-work")
    do(SUMMARIES, both, session_id="s-travel")
    do(REPRESENT, both, peer_id="alice")
    say(do, "s-work", "more", cap=both)
    two.rest()
    do(DELETE_SESSION, both, session_id="s-work")
    do(REPRESENT, peer_id="alice")
    told = [(row.event.operation, list(row.event.namespaces)) for row in two.world.rows("w")[before:]]
    assert told == [
        ("messages.list", ["work"]),
        ("sessions.summaries", ["travel"]),
        ("peers.representation", ["family", "travel", "work"]),
        ("messages.add", ["work"]),
        ("work.derive", ["work"]),
        ("sessions.delete", ["work"]),
        ("peers.representation", ["*"]),
    ]


def test_the_log_shows_who_opens_one_namespace_nothing_of_another(two, do):
    for namespace in ("travel", "work"):
        cap = two.cap(namespaces_allowed=[namespace])
        say(do, f"s-{namespace}", "more", cap=cap)
        do(REPRESENT, cap, peer_id="alice")
        do(DELETE_PEER, cap, peer_id="alice")
        do(DELETE_SESSION, cap, session_id=f"s-{namespace}")
    two.rest()
    cap = two.cap(namespaces_allowed=["travel"], ops=["audit"])
    shown = two.world.call(memory.AUDIT, cap, m.AuditList(limit=1000))
    told = msgspec.json.encode(shown).decode()
    assert "s-travel" in told
    assert [word for word in ("s-work", '"work"', '\\"work\\"') if word in told] == []


def test_a_webhook_hears_of_the_namespaces_that_its_maker_opens(stage, do):
    travel = stage.cap(namespaces_allowed=["travel"])
    do(ADD_WEBHOOK, travel, url="https://travel.example.org/")
    do(ADD_WEBHOOK, url="https://owner.example.org/")
    for namespace in ("travel", "work"):
        say(do, f"s-{namespace}", "hello", namespace=namespace)
        stage.deliver()
    heard = [(parcel.url, b"s-work" in parcel.body) for parcel in stage.webhook_sender.carried]
    assert sorted(heard) == [
        ("https://owner.example.org/", False),
        ("https://owner.example.org/", True),
        ("https://travel.example.org/", False),
    ]


def narrow(stage, **changed):
    """The cap of one person's conversation with an agent: it writes to that session and nothing else."""
    said = {"sub": "alice", "peers": ["alice", "hermes"], "sessions": ["s"], "ops": ["put"]}
    return stage.cap(**{**said, "namespaces_allowed": ["travel"], **changed})


def test_a_first_message_brings_workspace_session_and_members_into_being_with_one_cap(stage, do):
    cap = narrow(stage)
    habits = {"alice": {"observe_me": True}, "hermes": {"observe_me": False, "observe_others": True}}
    say(do, "s", "I have a dog.", cap=cap, namespace="travel", members=habits)
    shown = {peer: do(READ_MEMBER, session_id="s", peer_id=peer) for peer in ("alice", "hermes")}
    told = {peer: (one.observe_me, one.observe_others) for peer, one in shown.items()}
    assert told == {"alice": (True, None), "hermes": (False, True)}
    stage.rest()
    assert do(READ_CARD, peer_id="hermes", target="alice").peer_card == ["Pets: a dog"]
    assert compartments(stage) == {("alice", "travel"), ("hermes", "travel")}
    assert stage.outcomes()[0] == ("messages.add", "ok")


def test_members_may_also_come_first(stage, do):
    cap = narrow(stage)
    do(ADD_MEMBERS, cap, session_id="s", peers=OBSERVING, namespace="travel")
    say(do, "s", "I have a dog.", cap=cap)
    stage.rest()
    assert do(READ_CARD, peer_id="hermes", target="alice").peer_card == ["Pets: a dog"]


def test_such_a_cap_makes_nothing_else(stage, do, refused):
    cap = narrow(stage)
    batch = [{"peer_id": "alice", "content": "hi"}]
    attempts = [
        (ADD_MESSAGES, {"session_id": "t", "messages": batch, "namespace": "travel"}),
        (ADD_MESSAGES, {"session_id": "s", "messages": batch, "namespace": "work"}),
        (ADD_MESSAGES, {"session_id": "s", "messages": batch}),
        (
            ADD_MESSAGES,
            {"session_id": "s", "messages": batch, "namespace": "travel", "members": {"bob": {}}},
        ),
        (
            ADD_MESSAGES,
            {
                "session_id": "s",
                "messages": [*batch, {"peer_id": "bob", "content": "x"}],
                "namespace": "travel",
            },
        ),
        (ADD_MEMBERS, {"session_id": "s", "peers": {"bob": {}}, "namespace": "travel"}),
        (ADD_MEMBERS, {"session_id": "t", "peers": {"alice": {}}, "namespace": "travel"}),
        (CHANGE_WORKSPACE, {"metadata": {}}),
        (CHANGE_PEER, {"peer_id": "alice"}),
        (WRITE_CARD, {"peer_id": "alice", "peer_card": [], "namespace": "travel"}),
        (
            ADD_CONCLUSIONS,
            {
                "conclusions": [{"content": "x", "observer_id": "alice", "observed_id": "alice"}],
                "namespace": "travel",
            },
        ),
    ]
    codes = {refused(operation, cap, **fields) for operation, fields in attempts}
    assert codes <= {"cap_scope_mismatch", "namespace_denied"}
    with stage.world.store.read() as tx:
        assert tx.directory.entries(None, "workspace") == []
        assert tx.lines.compartments() == []


def test_members_that_come_with_messages_are_let_in_once_and_keep_their_habits(stage, do):
    say(do, "s", "one", members={"hermes": {"observe_others": True}})
    do(CONFIGURE_MEMBER, session_id="s", peer_id="hermes", observe_others=False)
    say(do, "s", "two", members={"hermes": {"observe_others": True}, "bob": {"observe_me": False}})
    assert do(READ_MEMBER, session_id="s", peer_id="hermes").observe_others is False
    assert do(READ_MEMBER, session_id="s", peer_id="bob").observe_me is False
    do(REMOVE_MEMBERS, session_id="s", peers=["hermes"])
    say(do, "s", "three", members={"hermes": {"observe_others": True}})
    assert {one.id for one in do(LIST_MEMBERS, session_id="s").items} == {"alice", "bob"}


def test_a_retry_lets_nobody_in(stage, do):
    say(do, "s", "one")
    say(do, "s", "one", members={"hermes": {}})
    assert [one.id for one in do(LIST_MEMBERS, session_id="s").items] == ["alice"]
    assert len(do(LIST_MESSAGES, session_id="s").items) == 1
