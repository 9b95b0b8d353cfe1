"""Refusals say nothing about what exists."""

from __future__ import annotations

import pytest

from gate.world import World
from souvenance.errors import SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o


def refusal(world, operation, cap, request):
    """Everything that a caller sees of a refusal."""
    with pytest.raises(SouvenanceError) as refused:
        world.call(operation, cap, request)
    return refused.value.code, refused.value.detail, refused.value.hint


ROOM_REQUESTS = {
    "put": (o.PUT, m.Put(text="Where am I?", namespace="personal")),
    "get": (o.GET, m.Get(query="allergic", namespaces=("personal",))),
    "get with an open room": (o.GET, m.Get(query="allergic", namespaces=("travel", "personal"))),
    "list": (o.LIST, m.List(namespaces=("personal",))),
    "snapshot": (o.SNAPSHOT, m.Snapshot(namespaces=("personal",))),
    "forget": (o.FORGET, m.Forget(namespace="personal")),
}


@pytest.mark.parametrize("name", ROOM_REQUESTS)
def test_a_compartment_that_holds_something_is_refused_like_one_that_holds_nothing(name):
    operation, request = ROOM_REQUESTS[name]
    told = []
    for filled in (True, False):
        world = World()
        if filled:
            world.put(world.issue(), "Allergic to peanuts", "personal")
        told.append(refusal(world, operation, world.issue(namespaces_allowed=["travel"]), request))
    assert told[0] == told[1]
    assert told[0][0] == "namespace_denied"


def test_forgetting_another_owner_is_refused_alike_whether_or_not_that_owner_exists():
    world = World()
    world.put(world.issue(sub="bob"), "Bob's own")
    cap = world.issue()
    bob = refusal(world, o.FORGET, cap, m.Forget(owner="bob"))
    assert bob == refusal(world, o.FORGET, cap, m.Forget(owner="nobody"))
    assert bob[0] == "cap_scope_mismatch"


HIDDEN = {
    "of another owner": {"sub": "bob"},
    "of another namespace": {"namespaces_allowed": ["travel"]},
    "of another session": {"sessions": ["s2"]},
    "of another workspace": {"wid": "team"},
}
LINE_REQUESTS = {
    "read": lambda line: (o.LINE, m.GetLine(line)),
    "mark": lambda line: (o.INVALIDATE, m.Invalidate(line)),
    "correct": lambda line: (o.INVALIDATE, m.Invalidate(line, "Not allergic")),
    "forget": lambda line: (o.FORGET, m.Forget(id=line)),
}


@pytest.mark.parametrize("act", LINE_REQUESTS)
@pytest.mark.parametrize("where", HIDDEN)
def test_a_line_out_of_reach_is_answered_like_one_that_never_was(where, act):
    world = World()
    line = world.put(world.issue(), "Allergic to peanuts", "personal", session="s1")
    other = world.issue(**HIDDEN[where])
    hidden = refusal(world, *_asked(act, line, other))
    empty = World()
    assert hidden == refusal(world, *_asked(act, world.ulid(), other))
    assert hidden == refusal(empty, *_asked(act, line, empty.issue(**HIDDEN[where])))
    assert hidden[0] == "not_found"
    assert world.texts(world.issue()) == ["Allergic to peanuts"]


def _asked(act, line, cap):
    operation, request = LINE_REQUESTS[act](line)
    return operation, cap, request


def test_a_compartment_that_is_open_and_empty_answers_like_one_that_never_was():
    world = World()
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu", "travel")
    world.call(o.FORGET, cap, m.Forget(id=line))
    empty = world.call(o.GET, cap, m.Get(query="Chengdu", namespaces=("travel",)))
    assert empty == world.call(o.GET, cap, m.Get(query="Chengdu", namespaces=("never",)))


def test_forgetting_an_open_compartment_does_not_say_whether_there_was_one():
    world = World()
    answer = world.call(o.FORGET, world.issue(), m.Forget(namespace="never"))
    assert (answer.lines, answer.keys, answer.namespaces, answer.scrubbed) == (0, 0, [], True)


def test_revoking_a_cap_that_never_was_is_answered_like_any_other():
    world = World()
    cap, other = world.issue(), world.issue(sub="bob")
    answers = [world.call(o.REVOKE, cap, m.Revoke(jti=jti)) for jti in (other.jti, world.ulid())]
    assert [answer.kind for answer in answers] == ["jti", "jti"]
