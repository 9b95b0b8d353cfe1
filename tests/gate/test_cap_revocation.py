"""A revoked cap is dead at once, with everything made from it."""

from __future__ import annotations

import pytest

from gate.world import World, on_sqlite
from souvenance.gate import messages as m
from souvenance.gate import operations as o


def whoami(world, cap):
    return world.code(o.WHOAMI, cap, m.Nothing())


def revoke(world, cap, **named):
    return world.call(o.REVOKE, cap, m.Revoke(**named))


def minted(world, cap, **fields):
    request = {"sub": "alice", "ops": ("get", "grant"), "namespaces_allowed": ("*",), **fields}
    return world.call(o.MINT, cap, m.Mint(**request)).cap


def test_a_revoked_cap_is_refused_at_once():
    world = World()
    cap = world.issue()
    assert whoami(world, cap) == "ok"
    revoke(world, world.operator(), jti=cap.jti)
    assert whoami(world, cap) == "cap_revoked"
    assert world.outcomes()[-1] == ("caps.whoami", "cap_revoked")


def test_a_cap_can_revoke_itself():
    world = World()
    cap = world.issue()
    revoke(world, cap, jti=cap.jti)
    assert whoami(world, cap) == "cap_revoked"


def test_revoking_a_cap_kills_what_was_minted_from_it_and_from_that():
    world = World()
    first = world.issue(exp=world.seconds + 7200)
    second = minted(world, first)
    third = minted(world, second)
    sibling = minted(world, world.operator())
    revoke(world, world.operator(), jti=first.jti)
    assert [whoami(world, cap) for cap in (first, second, third)] == ["cap_revoked"] * 3
    assert whoami(world, sibling) == "ok"


def test_revoking_a_cap_kills_what_was_attenuated_from_it_and_not_what_it_came_from():
    world = World()
    first = world.issue()
    second = world.child(first, ops=["get"])
    third = world.child(second, namespaces_allowed=["travel"])
    revoke(world, world.operator(), jti=second.jti)
    assert [whoami(world, cap) for cap in (first, second, third)] == ["ok", "cap_revoked", "cap_revoked"]


def test_revoking_a_cap_kills_what_was_minted_from_an_attenuated_child_of_it():
    world = World()
    first = world.issue()
    grandchild = minted(world, world.child(first))
    revoke(world, world.operator(), jti=first.jti)
    assert whoami(world, grandchild) == "cap_revoked"


def test_a_holder_who_revokes_a_cap_also_kills_what_it_was_handed_on_as():
    world = World()
    parent = world.issue(peers=["bob"])
    for_bob = world.child(parent, sub="bob", peers=None)
    revoke(world, world.issue(peers=["bob"]), jti=parent.jti)
    assert whoami(world, parent) == "cap_revoked"
    assert whoami(world, for_bob) == "cap_revoked"


def test_a_holder_who_revokes_a_cap_also_kills_what_was_minted_from_it_for_another():
    world = World()
    parent = world.issue(peers=["bob"])
    for_bob, bystander = minted(world, parent, sub="bob"), minted(world, world.issue(sub="bob"), sub="bob")
    revoke(world, world.issue(peers=["bob"]), jti=parent.jti)
    assert [whoami(world, cap) for cap in (for_bob, bystander)] == ["cap_revoked", "ok"]


def test_revoking_an_actor_kills_that_actor_s_caps_so_far_and_not_later_ones():
    world = World()
    old, other = world.issue(), world.issue(sub="bob")
    handed_on = world.child(world.issue(peers=["bob"]), sub="bob", peers=None)
    world.clock.advance(ms=1)
    revoke(world, world.operator(), sub="alice")
    assert [whoami(world, cap) for cap in (old, handed_on, other)] == ["cap_revoked", "cap_revoked", "ok"]
    world.clock.advance(ms=1)
    assert whoami(world, world.issue()) == "ok"


def test_a_cap_made_in_the_very_millisecond_of_the_revocation_is_dead():
    world = World()
    revoke(world, world.operator(), sub="alice")
    assert whoami(world, world.issue()) == "cap_revoked"


def test_a_new_child_of_an_old_cap_is_as_old_as_its_parent():
    world = World()
    old = world.issue()
    world.clock.advance(seconds=1)
    revoke(world, world.operator(), sub="alice")
    world.clock.advance(seconds=1)
    assert whoami(world, world.child(old)) == "cap_revoked"


def test_revoking_an_actor_again_reaches_further():
    world = World()
    operator = world.operator(jti=world.ulid(world.clock.ms - 1))
    for _ in range(2):
        cap = world.issue()
        revoke(world, operator, sub="alice")
        assert whoami(world, cap) == "cap_revoked"
        world.clock.advance(seconds=1)


def test_after_a_rotation_the_old_key_can_be_revoked_and_with_it_all_its_caps():
    world = World()
    old_kid = world.keyring.signer()[0]
    old, old_operator = world.issue(), world.operator()
    world.call(o.ROTATE, old_operator, m.RotateKeys(signing=True))
    new, operator = world.issue(), world.operator()
    revoke(world, operator, kid=old_kid)
    assert [whoami(world, cap) for cap in (old, old_operator, new)] == ["cap_revoked", "cap_revoked", "ok"]


def test_the_key_that_signs_now_can_not_be_revoked():
    world = World()
    kid = world.keyring.signer()[0]
    operator = world.operator()
    assert world.code(o.REVOKE, operator, m.Revoke(kid=kid)) == "conflict"
    assert whoami(world, operator) == "ok"


def test_a_signing_key_is_revoked_by_the_installation_s_own_cap_alone():
    world = World()
    for cap in (world.issue(), world.issue(peers=["*"]), world.operator(wid="default")):
        assert world.code(o.REVOKE, cap, m.Revoke(kid="key-0")) == "cap_scope_mismatch"


def test_naming_the_id_of_another_s_cap_does_not_revoke_it():
    world = World()
    cap, other = world.issue(), world.issue(sub="bob")
    revoke(world, cap, jti=other.jti)
    assert whoami(world, other) == "ok"


def test_naming_what_a_token_was_made_from_is_refused_and_ends_nothing():
    world = World()
    owner = world.operator()
    mine, other = minted(world, owner, ops=("get", "revoke")), minted(world, owner, sub="bob")
    for named in ({"jti": owner.jti}, {"sub": "owner"}):
        assert world.code(o.REVOKE, mine, m.Revoke(**named)) == "cap_scope_mismatch"
    revoke(world, world.issue(), jti=owner.jti)
    assert [whoami(world, cap) for cap in (mine, other, owner)] == ["ok", "ok", "ok"]


def test_an_actor_out_of_reach_can_not_be_revoked():
    world = World()
    assert world.code(o.REVOKE, world.issue(), m.Revoke(sub="bob")) == "cap_scope_mismatch"
    assert world.code(o.REVOKE, world.issue(peers=["bob"]), m.Revoke(sub="bob")) == "ok"


def test_a_workspace_s_revocation_does_not_reach_another_workspace():
    world = World()
    here, there = world.issue(wid="team"), world.issue(wid="default")
    world.clock.advance(ms=1)
    revoke(world, world.issue(wid="team", peers=["*"], sub="admin"), sub="alice")
    assert [whoami(world, cap) for cap in (here, there)] == ["cap_revoked", "ok"]


@pytest.mark.parametrize("named", ["jti", "sub"])
def test_a_workspace_s_cap_can_not_revoke_the_installation_s_own(named):
    world = World()
    owner = world.operator()
    admin = world.issue(sub="admin", peers=["*"])
    world.clock.advance(ms=1)
    revoke(world, admin, **{named: owner.jti if named == "jti" else "owner"})
    assert whoami(world, owner) == "ok"


@pytest.mark.parametrize("named", [{}, {"jti": "x", "sub": "alice"}, {"jti": "x", "sub": "y", "kid": "z"}])
def test_exactly_one_thing_is_revoked(named):
    world = World()
    assert world.code(o.REVOKE, world.operator(), m.Revoke(**named)) == "invalid_input"


def test_a_revocation_needs_the_right_to_revoke():
    world = World()
    cap = world.issue(ops=["get", "grant", "audit"])
    assert world.code(o.REVOKE, cap, m.Revoke(jti=cap.jti)) == "cap_op_mismatch"


@pytest.fixture
def two_gates(tmp_path):
    first = on_sqlite(tmp_path / "book.db")
    second = on_sqlite(tmp_path / "book.db", keyring=first.keyring, clock=first.clock, seed=2)
    yield first, second
    first.store.close()
    second.store.close()


@pytest.mark.parametrize("kind", ["jti", "sub", "kid"])
def test_a_revocation_at_one_gate_is_seen_at_once_by_another_that_knows_the_cap(two_gates, kind):
    first, second = two_gates
    old_kid = first.keyring.signer()[0]
    cap = first.issue()
    assert [whoami(first, cap) for _ in range(3)] == ["ok"] * 3
    second.keyring.rotate_signer()
    revoke(second, second.operator(), **{kind: {"jti": cap.jti, "sub": "alice", "kid": old_kid}[kind]})
    assert whoami(first, cap) == "cap_revoked"
    assert whoami(second, cap) == "cap_revoked"


def test_a_revocation_outlives_the_gate_that_made_it(two_gates, tmp_path):
    first, _ = two_gates
    cap = first.issue()
    revoke(first, first.operator(), jti=cap.jti)
    third = on_sqlite(tmp_path / "book.db", keyring=first.keyring, clock=first.clock, seed=3)
    assert whoami(third, cap) == "cap_revoked"
    third.store.close()
