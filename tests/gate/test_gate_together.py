"""What is asked together is answered as of one moment, and judged and recorded as if each had come alone."""

from __future__ import annotations

from operator import attrgetter
from threading import Event

import pytest
from msgspec.structs import replace

from gate.test_gate_audit import FullStore, MuteStore
from gate.world import KINDS, World, each_kind
from processes import PATIENCE_SECONDS
from reference.embedder import ReferenceEmbedder
from reference.index import ReferenceIndex
from souvenance.domain.limits import Limits
from souvenance.domain.proof import Bound
from souvenance.errors import AuditUnavailable, SouvenanceError, StorageFull
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.context import PEER_CONTEXT, PeerContext
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    SEARCH_PEER,
    AddMessages,
    NewMessage,
    SearchPeer,
)
from souvenance.gate.token_verifier import Credentials

NOWHERE = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as found:
        yield found


def together(world, cap, *calls):
    token = cap if isinstance(cap, str) else cap.token
    return world.gate.call_all(Credentials(token, None, Bound("", "")), calls)


def refused(world, cap, *calls):
    with pytest.raises(SouvenanceError) as raised:
        together(world, cap, *calls)
    return raised.value.code


def test_each_answer_is_what_it_would_be_alone(world):
    cap = world.issue()
    line = world.put(cap, "The trip to Chengdu is in May")
    world.put(cap, "Allergic to peanuts", namespace="personal")
    calls = [(o.GET, m.Get(query="Chengdu")), (o.LINE, m.GetLine(line)), (o.LIST, m.List())]
    assert together(world, cap, *calls) == [world.call(operation, cap, asked) for operation, asked in calls]


def test_nothing_asked_is_nothing_answered_and_no_row(world):
    cap = world.issue()
    before = len(world.rows())
    assert together(world, cap) == []
    assert len(world.rows()) == before


def test_what_is_refused_is_an_error_in_its_place_and_the_rest_is_answered(world):
    cap = world.issue(namespaces_allowed=["travel"])
    world.put(cap, "The trip to Chengdu is in May")
    found = together(
        world,
        cap,
        (o.LINE, m.GetLine(NOWHERE)),
        (o.GET, m.Get(query="Chengdu")),
        (o.LIST, m.List(namespaces=["personal"])),
    )
    assert [getattr(one, "code", "ok") for one in found] == ["not_found", "ok", "namespace_denied"]
    assert [line.text for line in found[1].lines] == ["The trip to Chengdu is in May"]


def test_every_one_has_its_row_in_order(world):
    cap = world.issue(ops=["get", "put"])
    line = world.put(cap, "The trip to Chengdu is in May")
    before = len(world.rows())
    together(world, cap, (o.GET, m.Get(query="Chengdu")), (o.LIST, m.List()), (o.LINE, m.GetLine(line)))
    rows = [row.event for row in world.rows()[before:]]
    assert [(row.operation, row.outcome) for row in rows] == [
        (o.GET.name, "ok"),
        (o.LIST.name, "cap_op_mismatch"),
        (o.LINE.name, "ok"),
    ]
    assert [tuple(row.lines) for row in rows] == [(line,), (), (line,)]


def test_every_one_counts_against_the_rate():
    world = World(limits=Limits(requests_per_minute=3))
    cap = world.issue()
    found = together(world, cap, *[(o.LIST, m.List())] * 4)
    assert [getattr(one, "code", "ok") for one in found] == ["ok", "ok", "ok", "rate_limited"]


def test_a_cap_that_is_withdrawn_is_answered_nothing(world):
    cap = world.issue()
    world.put(cap, "The trip to Chengdu is in May")
    world.revoke("jti", cap.jti)
    found = together(world, cap, (o.GET, m.Get(query="Chengdu")), (o.LIST, m.List()))
    assert [one.code for one in found] == ["cap_revoked", "cap_revoked"]


def test_junk_is_refused_and_leaves_no_row(world):
    before = len(world.rows())
    assert refused(world, "junk", (o.LIST, m.List())) == "cap_malformed"
    assert len(world.rows()) == before


def test_a_bound_cap_asks_one_by_one(world):
    cap = world.issue()
    assert refused(world, cap.bound, (o.LIST, m.List())) == "cap_pop_invalid"


def test_what_writes_is_asked_alone(world):
    cap = world.issue()
    assert refused(world, cap, (o.PUT, m.Put(text="The trip", namespace="travel"))) == "unsupported"
    assert world.ids(cap) == []


@pytest.mark.parametrize(("store", "trouble"), [(MuteStore, "mute"), (FullStore, "full")])
def test_without_rows_there_are_no_answers(store, trouble):
    world = World(store=store())
    cap = world.issue()
    setattr(world.store, trouble, True)
    with pytest.raises((AuditUnavailable, StorageFull)):
        together(world, cap, (o.LIST, m.List()))


class Noting(ReferenceEmbedder):
    """Says when it was asked something."""

    def __init__(self):
        super().__init__()
        self.asked = Event()

    def question(self, text):
        if text:
            self.asked.set()
        return super().question(text)


def test_the_rest_is_looked_up_while_the_embedder_is_at_work_on_the_questions():
    embedder, looked_up = Noting(), []
    world = World(embedder=embedder)
    cap = world.issue()
    world.put(cap, "The trip to Chengdu is in May")
    world.services.meaning.vector("")  # From here on it is loaded.

    def get(case, request):
        looked_up.append("question")
        return o.GET.work(case, request)

    def wait(case, request):
        looked_up.append("rest")
        assert embedder.asked.wait(PATIENCE_SECONDS)
        return o.LIST.work(case, request)

    asking = replace(o.GET, work=get, question=attrgetter("query"))
    before = len(world.rows())
    found = together(world, cap, (asking, m.Get(query="Chengdu")), (replace(o.LIST, work=wait), m.List()))
    assert looked_up == ["rest", "question"]
    assert [line.text for line in found[0].lines] == ["The trip to Chengdu is in May"]
    assert len(found[1].lines) == 1
    assert [row.event.operation for row in world.rows()[before:]] == [o.GET.name, o.LIST.name]


class CountedIndex(ReferenceIndex):
    searches = 0

    def search(self, *asked):
        self.searches += 1
        return super().search(*asked)


@pytest.fixture
def talk():
    """A world in which somebody told of herons, and the cap of everybody."""
    world = World(index=CountedIndex())
    cap = world.operator()
    said = [
        NewMessage(content=f"I saw {count} herons at the {place}.", peer_id="ann")
        for count, place in enumerate(("lake", "pond", "weir", "pier", "marsh", "dam", "brook"), 2)
    ]
    world.call(ADD_MESSAGES, cap, AddMessages(workspace_id="w", session_id="s", messages=said))
    return world, cap


def searching(**more):
    asked = {"workspace_id": "w", "peer_id": "ann", "query": "Where were the herons?", **more}
    return SEARCH_PEER, SearchPeer(**asked)


def picturing(**more):
    asked = {"workspace_id": "w", "peer_id": "ann", "search_query": "Where were the herons?", **more}
    return PEER_CONTEXT, PeerContext(**asked)


@pytest.mark.parametrize(
    "calls",
    [
        [picturing(floor=True, search_top_k=3), searching(limit=5, floor=True)],
        [searching(limit=2, floor=True), searching(limit=7, floor=True), searching(limit=3, floor=True)],
        [searching(limit=5), searching(limit=5, floor=True), searching(limit=5, explain=True)],
        [searching(limit=5), searching(limit=5, filters={"session_id": "t"})],
    ],
)
def test_searches_for_the_same_answer_as_each_would_alone(talk, calls):
    world, cap = talk
    assert together(world, cap, *calls) == [world.call(*call[:1], cap, *call[1:]) for call in calls]


def test_the_same_messages_are_searched_for_once(talk):
    world, cap = talk

    def searches(*calls):
        before = world.services.index.searches
        together(world, cap, *calls)
        return world.services.index.searches - before

    picture, fewer = picturing(floor=True, search_top_k=3), searching(limit=5, floor=True)
    assert searches(picture, fewer) == searches(picture)
    assert searches(searching(limit=7), fewer) == searches(fewer), "one search, with the floor and without"
    assert searches(fewer, searching(limit=5, query="And the swans?", floor=True)) == 2 * searches(fewer)
