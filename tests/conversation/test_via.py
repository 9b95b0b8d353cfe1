"""One agent, many people: with `via` a person's cap looks through the agent's eyes, at that person alone."""

from __future__ import annotations

import msgspec
import pytest

from conversation.twins import CHANGES, COMMON, READS, WORDS, theirs_in, theirs_to_read, two_worlds
from souvenance.gate.conversation.chat import ASK_PEER
from souvenance.gate.conversation.conclusions import (
    ADD_CONCLUSIONS,
    DELETE_CONCLUSION,
    LIST_CONCLUSIONS,
    QUERY_CONCLUSIONS,
    READ_CONCLUSION,
)
from souvenance.gate.conversation.context import CONTEXT, PEER_CONTEXT, READ_CARD, REPRESENT, WRITE_CARD
from souvenance.gate.conversation.messages import ADD_MESSAGES, SEARCH_PEER
from souvenance.gate.conversation.peers import CHANGE_PEER, OPEN_PEER
from souvenance.gate.conversation.queue import SCHEDULE_DREAM
from souvenance.gate.conversation.sessions import READ_MEMBER, REMOVE_MEMBERS, SESSIONS_OF_PEER

CAPS = {
    "via": {"via": ["hermes"]},
    "via, with more names than there are": {"via": ["hermes", "nobody", "alice"]},
    "via, limited to sessions": {"via": ["hermes"], "sessions": ["trip"]},
    "via, limited to a session of another": {"via": ["hermes"], "sessions": ["none"]},
}


def cap_of(twin, **changed):
    """Alice's, in every namespace there is: what keeps bob's from her is `via` alone."""
    said = {"sub": "alice", "peers": ["alice"], "namespaces_allowed": ["travel", "work"], **changed}
    return twin.stage.cap(**said)


@pytest.fixture(scope="module", params=["work", "travel"])
def twins(request):
    """Bob is in a namespace of his own, or in alice's."""
    return two_worlds(request.param)


@pytest.mark.parametrize("whose", CAPS)
@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.name)
def test_no_answer_tells_whether_the_agent_knows_anybody_else(twins, operation, whose):
    for theirs in theirs_to_read(twins[1], operation):
        told = [list(twin.every_answer(cap_of(twin, **CAPS[whose]), operation, theirs)) for twin in twins]
        assert told[0] == told[1]


@pytest.mark.parametrize("operation", CHANGES, ids=lambda operation: operation.name)
def test_no_change_through_the_agent_s_eyes_is_felt_by_anybody_else(operation):
    twins = two_worlds("travel")
    theirs = theirs_in(twins[1])[-1]
    before = twins[1].bobs(bobs_cap(twins[1]))
    told = []
    for twin in twins:
        answers = list(twin.every_answer(cap_of(twin, **CAPS["via"]), operation, theirs))
        twin.stage.rest()
        told.append(answers)
    assert told[0] == told[1]
    assert twins[1].bobs(bobs_cap(twins[1])) == before


def bobs_cap(twin):
    return twin.stage.cap(sub="bob", peers=["bob"], via=["hermes"], namespaces_allowed=["travel", "work"])


def test_everything_that_alice_and_the_agent_have_together_is_seen(twins):
    twin = twins[1]
    cap, theirs = cap_of(twin, via=["hermes"]), theirs_in(twin)[0]
    told = "".join(answer for operation in READS for answer in twin.every_answer(cap, operation, theirs))
    said, by_agent, concluded, card, agents_card, *_ = WORDS["alice"]
    assert [word for word in (said, by_agent, concluded, card, agents_card) if word not in told] == []
    asked_for = ("salary",)
    assert [word for word in WORDS["bob"] if word in told and word not in asked_for] == []


def test_without_via_the_agent_s_view_stays_shut(twins):
    twin = twins[1]
    cap, theirs = cap_of(twin), theirs_in(twin)[0]
    told = "".join(answer for operation in READS for answer in twin.every_answer(cap, operation, theirs))
    _, _, concluded, _, agents_card, *_ = WORDS["alice"]
    assert concluded not in told
    assert agents_card not in told


@pytest.fixture
def twin():
    return two_worlds("travel")[1]


@pytest.fixture
def do(twin):
    return twin.do


@pytest.fixture
def code(twin):
    def ask(operation, cap, **fields):
        place = {"workspace_id": "w"} if "workspace_id" in operation.request.__struct_fields__ else {}
        request = msgspec.convert({**place, **fields}, operation.request)
        return twin.stage.world.code(operation, cap, request)

    return ask


def test_what_the_agent_knows_of_alice_is_read_whole(twin, do):
    cap = cap_of(twin, via=["hermes"])
    at_alice = {"peer_id": "hermes", "target": "alice"}
    shown = do(REPRESENT, cap, **at_alice).representation
    assert "wombat" in shown
    assert "badger" in shown, "also what came from no session"
    context = do(PEER_CONTEXT, cap, **at_alice)
    assert "wombat" in context.representation
    assert context.peer_card == do(READ_CARD, cap, **at_alice).peer_card
    assert "The gecko" in context.peer_card
    assert "wombat" in do(ASK_PEER, cap, **at_alice, query=COMMON).content
    seen = do(CONTEXT, cap, session_id="trip", peer_target="alice", peer_perspective="hermes")
    assert "badger" in seen.peer_representation
    assert "The gecko" in seen.peer_card


def test_what_the_agent_knows_of_itself_is_read_as_far_as_alice_was_there(twin, do, code):
    cap = cap_of(twin, via=["hermes"])
    own = [
        do(REPRESENT, cap, peer_id="hermes").representation,
        do(REPRESENT, cap, peer_id="hermes", session_id="trip").representation,
        do(REPRESENT, cap, peer_id="hermes", filters={"session_id": ["trip", "salary"]}).representation,
        do(PEER_CONTEXT, cap, peer_id="hermes").representation,
        do(ASK_PEER, cap, peer_id="hermes", query=COMMON).content,
        do(CONTEXT, cap, session_id="trip", peer_target="hermes").peer_representation,
    ]
    assert [("bison" in text, "quoll" in text, "jerboa" in text) for text in own] == [
        (True, False, False)
    ] * 6
    assert do(PEER_CONTEXT, cap, peer_id="hermes").peer_card is None
    assert do(CONTEXT, cap, session_id="trip", peer_target="hermes").peer_card is None
    assert do(REPRESENT, cap, peer_id="hermes", session_id="salary").representation == ""
    assert code(ASK_PEER, cap, peer_id="hermes", query="x", session_id="salary") == "cap_scope_mismatch"
    assert code(READ_CARD, cap, peer_id="hermes") == "cap_scope_mismatch"
    assert code(REPRESENT, cap, peer_id="hermes", target="bob") == "cap_scope_mismatch"


def test_when_alice_leaves_what_the_agent_says_there_is_shut(twin, do):
    cap = cap_of(twin, via=["hermes"])
    assert do(SEARCH_PEER, cap, peer_id="hermes", query="bison").messages
    do(REMOVE_MEMBERS, session_id="trip", peers=["alice"])
    assert do(SEARCH_PEER, cap, peer_id="hermes", query="bison").messages == []
    assert do(REPRESENT, cap, peer_id="hermes").representation == ""
    assert "wombat" in do(REPRESENT, cap, peer_id="hermes", target="alice").representation


def test_what_the_agent_said_is_found_where_alice_was(twin, do):
    cap = cap_of(twin, via=["hermes"])
    assert [one.session_id for one in do(SEARCH_PEER, cap, peer_id="hermes", query=COMMON).messages] == [
        "trip"
    ]
    assert do(SEARCH_PEER, cap, peer_id="hermes", query="quoll").messages == []
    assert do(SEARCH_PEER, cap, peer_id="hermes", query="uol").messages == [], "nor by a part of it"


def test_however_much_the_agent_says_elsewhere_what_it_said_to_alice_is_found(twin, do):
    cap = cap_of(twin, via=["hermes"])
    for _ in range(4):
        twin.stage.clock.advance(seconds=1)
        batch = [{"peer_id": "hermes", "content": f"chatter {number}"} for number in range(100)]
        do(ADD_MESSAGES, session_id="salary", messages=batch)
    assert [one.session_id for one in do(SEARCH_PEER, cap, peer_id="hermes", query="iso").messages] == [
        "trip"
    ]


def test_conclusions_are_listed_found_and_read_as_the_views_are(twin, do, code):
    cap = cap_of(twin, via=["hermes"])
    listed = do(LIST_CONCLUSIONS, cap, size=100).items
    through = [(one.observed_id, one.session_id) for one in listed if one.observer_id == "hermes"]
    assert set(through) == {("alice", "trip"), ("alice", None), ("hermes", "trip")}
    assert {one.observer_id for one in listed} == {"alice", "hermes"}
    assert [one.id for one in listed] == sorted((one.id for one in listed), reverse=True)
    pages = [do(LIST_CONCLUSIONS, cap, size=7, page=page, reverse=True) for page in range(1, 9)]
    assert [one.id for page in pages for one in page.items] == [one.id for one in listed][::-1]
    for filters in ({"observed_id": "bob"}, {"observer_id": "bob"}, {"session_id": "salary"}):
        assert do(LIST_CONCLUSIONS, cap, filters=filters).items == []
        assert do(QUERY_CONCLUSIONS, cap, query=COMMON, filters=filters).conclusions == []
    pair = {"observer_id": "hermes", "observed_id": "alice"}
    found = do(QUERY_CONCLUSIONS, cap, query=COMMON, top_k=100, filters=pair).conclusions
    assert {one.content for one in found} == {"I know the wombat is mine.", "The badger is tame"}
    everything = do(LIST_CONCLUSIONS, size=100).items
    readable = {one.id for one in everything if code(READ_CONCLUSION, cap, conclusion_id=one.id) == "ok"}
    assert readable == {one.id for one in listed}


def test_a_cap_states_writes_and_deletes_through_the_agent_s_eyes_what_is_of_alice(twin, do, code):
    cap = cap_of(twin, via=["hermes"])

    def claim(observer, observed, **more):
        one = {"content": "a claim", "observer_id": observer, "observed_id": observed, **more}
        return code(ADD_CONCLUSIONS, cap, conclusions=[one], namespace="travel")

    assert claim("hermes", "alice") == claim("hermes", "alice", session_id="trip") == "ok"
    for observer, observed in (("hermes", "hermes"), ("hermes", "bob"), ("bob", "alice")):
        assert claim(observer, observed) == "cap_scope_mismatch"
    assert claim("hermes", "alice", session_id="salary") == "cap_scope_mismatch"
    card = {"peer_id": "hermes", "peer_card": ["By hand"], "namespace": "travel"}
    assert code(WRITE_CARD, cap, **card, target="alice") == "ok"
    assert do(READ_CARD, cap, peer_id="hermes", target="alice").peer_card == ["By hand"]
    for target in ("hermes", "bob", None):
        fields = {**card, "target": target} if target else card
        assert code(WRITE_CARD, cap, **fields) == "cap_scope_mismatch"
    for one in do(LIST_CONCLUSIONS, size=100).items:
        expected = "not_found"
        if one.observer_id == "alice" or (one.observer_id, one.observed_id) == ("hermes", "alice"):
            expected = "ok"
        elif (one.observer_id, one.session_id) == ("hermes", "trip"):
            expected = "cap_scope_mismatch"
        assert code(DELETE_CONCLUSION, cap, conclusion_id=one.id) == expected, one


def test_the_agent_itself_stays_out_of_reach(twin, code):
    cap = cap_of(twin, via=["hermes"])
    refused = [
        (OPEN_PEER, {"id": "hermes"}),
        (CHANGE_PEER, {"peer_id": "hermes", "metadata": {}}),
        (SESSIONS_OF_PEER, {"peer_id": "hermes"}),
        (READ_MEMBER, {"session_id": "trip", "peer_id": "hermes"}),
        (ADD_MESSAGES, {"session_id": "trip", "messages": [{"peer_id": "hermes", "content": "x"}]}),
        (SCHEDULE_DREAM, {"observer": "hermes", "observed": "alice", "dream_type": "omni"}),
    ]
    assert {code(operation, cap, **fields) for operation, fields in refused} == {"cap_scope_mismatch"}


def test_a_cap_that_only_reads_writes_nothing_through_anyone_s_eyes(twin, code):
    cap = cap_of(twin, via=["hermes"], ops=["get", "list", "snapshot"])
    one = {"content": "a claim", "observer_id": "hermes", "observed_id": "alice"}
    card = {"peer_id": "hermes", "target": "alice", "peer_card": []}
    listed = twin.do(LIST_CONCLUSIONS, cap).items
    assert code(ADD_CONCLUSIONS, cap, conclusions=[one]) == "cap_op_mismatch"
    assert code(WRITE_CARD, cap, **card) == "cap_op_mismatch"
    assert code(DELETE_CONCLUSION, cap, conclusion_id=listed[0].id) == "cap_op_mismatch"
