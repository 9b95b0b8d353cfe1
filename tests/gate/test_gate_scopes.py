"""Caps that are limited to sessions, and caps that reach other peers."""

from __future__ import annotations

import pytest

from frames import inside
from gate.world import KINDS, World, each_kind
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def furnish(world):
    cap = world.issue()
    for session in ("s1", "s2", None):
        world.put(cap, f"harbour of {session}", session=session)
    return cap


def test_a_cap_of_one_session_reads_that_session_alone(world):
    furnish(world)
    limited = world.issue(sessions=["s1"])
    for query in ("harbour", "arbou", "nothing shared", None):
        assert world.texts(limited, query, k=20) == ["harbour of s1"]
    assert len(world.ids(limited, history=True)) == 1
    assert inside(world.call(o.SNAPSHOT, limited, m.Snapshot()).profile).endswith("harbour of s1")


def test_a_cap_of_several_sessions_reads_those(world):
    furnish(world)
    limited = world.issue(sessions=["s1", "s2"])
    assert sorted(world.texts(limited, "harbour", k=20)) == ["harbour of s1", "harbour of s2"]


def test_a_cap_of_no_session_reads_nothing(world):
    furnish(world)
    limited = world.issue(sessions=[])
    assert world.texts(limited, "harbour", k=20) == []
    assert world.ids(limited) == []
    assert world.call(o.SNAPSHOT, limited, m.Snapshot()).profile == ""


def test_a_cap_of_one_session_writes_into_that_session_alone(world):
    limited = world.issue(sessions=["s1"])
    codes = {
        session: world.code(o.PUT, limited, m.Put(text="x", namespace="travel", session=session))
        for session in ("s1", "s2", None)
    }
    assert codes == {"s1": "ok", "s2": "cap_scope_mismatch", None: "cap_scope_mismatch"}


def test_a_cap_of_one_session_does_not_see_another_session_through_a_shared_id(world):
    cap, line_id = world.issue(), world.ulid()
    world.put(cap, "harbour walk", "travel", id=line_id, session="s1")
    world.put(cap, "harbour secret", "personal", id=line_id, session="s2")
    limited = world.issue(sessions=["s1"])
    for query in ("harbour", "secret", "ecre", None):
        assert world.texts(limited, query, k=20) == ["harbour walk"]


def test_a_cap_of_one_session_corrects_within_it(world):
    limited = world.issue(sessions=["s1"])
    line = world.put(limited, "Trip to Chengdu", session="s1")
    world.call(o.INVALIDATE, limited, m.Invalidate(line, "Trip to Xi'an"))
    assert world.texts(limited) == ["Trip to Xi'an"]


def test_a_cap_of_one_session_learns_nothing_of_how_much_there_is(world):
    furnish(world)
    limited = world.issue(sessions=["s1"])
    assert world.code(o.STATUS, limited, m.Nothing()) == "cap_scope_mismatch"


def test_a_cap_s_workspace_is_a_wall(world):
    world.put(world.issue(wid="team"), "harbour of the team")
    world.put(world.issue(wid="default"), "harbour of alice")
    assert world.texts(world.issue(wid="team"), "harbour") == ["harbour of the team"]
    assert world.texts(world.issue(wid="default"), "harbour") == ["harbour of alice"]
    assert world.call(o.AUDIT, world.issue(wid="nowhere"), m.AuditList()).rows == []


def mint_for(world, cap, **fields):
    request = {"sub": "alice", "ops": ("get",), "namespaces_allowed": ("travel",), **fields}
    return world.code(o.MINT, cap, m.Mint(**request))


def test_a_cap_mints_for_its_own_actor_and_its_peers_alone():
    world = World()
    cap = world.issue(peers=["bob"])
    codes = {actor: mint_for(world, cap, sub=actor) for actor in ("alice", "bob", "carol")}
    assert codes == {"alice": "ok", "bob": "ok", "carol": "cap_scope_mismatch"}
    assert mint_for(world, world.issue(peers=["*"]), sub="carol") == "ok"


def test_a_cap_mints_within_its_own_workspace_alone():
    world = World()
    cap = world.issue(wid="team")
    codes = {wid: mint_for(world, cap, wid=wid) for wid in (None, "team", "default", "*")}
    assert codes == {None: "ok", "team": "ok", "default": "cap_scope_mismatch", "*": "cap_scope_mismatch"}
    assert mint_for(world, world.operator(), sub="alice", wid="team") == "ok"


def test_a_peer_s_cap_reads_the_memory_of_its_own_actor_alone(world):
    world.put(world.issue(sub="bob"), "harbour of bob")
    cap = world.issue(peers=["bob"])
    assert world.texts(cap, "harbour") == []
    for_bob = world.call(o.MINT, cap, m.Mint(sub="bob", ops=("get",), namespaces_allowed=("*",))).cap
    assert world.texts(for_bob, "harbour") == ["harbour of bob"]


@pytest.mark.parametrize("operation", [o.ROTATE, o.COMPARTMENTS, o.EXAMINE, o.RECONCILE, o.SCRUB])
@pytest.mark.parametrize(
    "limit", [{"wid": "default"}, {"peers": ["alice", "bob"]}, {"namespaces_allowed": ["travel", "personal"]}]
)
def test_upkeep_is_for_the_installation_s_own_cap_alone(operation, limit):
    world = World()
    assert world.code(operation, world.operator(**limit), operation.request) == "cap_scope_mismatch"


def test_upkeep_needs_its_right_even_of_the_installation_s_own_cap():
    world = World()
    reader = world.operator(ops=["get"])
    for operation in (o.ROTATE, o.COMPARTMENTS, o.EXAMINE, o.RECONCILE, o.SCRUB):
        assert world.code(operation, reader, operation.request) == "cap_op_mismatch"
