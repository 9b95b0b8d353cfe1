"""What is revoked ends with everything made from it, and nothing that stands above the caller ends."""

from __future__ import annotations

import pytest

from gate.world import KINDS, World, each_kind
from security.folder import Folder
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_tree import LIST_TOKENS, ListTokens

ADMIN = {"sub": "admin", "peers": ("*",), "ops": ("put", "get", "grant", "revoke"), "wid": "team"}


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def minted(world, cap, **fields):
    asked = {"ops": ("put", "get", "grant", "revoke"), "namespaces_allowed": ("*",), **fields}
    return world.call(o.MINT, cap, m.Mint(**asked))


def lives(world, cap):
    said = world.code(o.WHOAMI, cap, m.Nothing())
    assert said in ("ok", "cap_revoked")
    return said == "ok"


def revoked(world, cap, **named):
    world.clock.advance(ms=1)
    return world.code(o.REVOKE, cap, m.Revoke(**named))


def test_what_a_revoked_actor_minted_for_others_writes_no_more(world):
    owner = world.operator()
    mallory = minted(world, owner, sub="mallory", peers=("*",)).cap
    puppet = minted(world, mallory, sub="puppet", peers=("*",)).cap
    of_puppet = minted(world, puppet, sub="doll").cap
    assert revoked(world, owner, sub="mallory") == "ok"
    for cap in (mallory, puppet, of_puppet):
        assert world.code(o.PUT, cap, m.Put(text="I am still here")) == "cap_revoked"
    world.clock.advance(ms=1)
    assert lives(world, minted(world, owner, sub="mallory").cap)


def test_the_command_line_ends_what_a_revoked_actor_minted(home):
    with Folder(home).opened() as guest:
        mallory = guest.mint(sub="mallory", peers=("*",), ops=("grant", "put"))
        puppet = guest.call(o.MINT, m.Mint("puppet", ("put",), ("*",)), mallory).cap
        guest.call(o.REVOKE, m.Revoke(sub="mallory"))
        assert guest.refusal(o.PUT, m.Put(text="I am still here"), puppet).code == "cap_revoked"


def test_an_admin_of_a_workspace_can_not_end_what_the_owner_minted_there(world):
    owner = world.operator()
    admin, bob = minted(world, owner, **ADMIN).cap, minted(world, owner, sub="bob", wid="team").cap
    for named in ({"jti": owner.jti}, {"sub": "owner"}):
        assert revoked(world, admin, **named) == "cap_scope_mismatch"
    later = minted(world, owner, sub="carol", wid="team").cap
    assert all(lives(world, cap) for cap in (owner, admin, bob, later))


def test_an_admin_who_is_not_the_owner_s_child_can_not_end_it_either(world):
    first, second = world.operator(), world.operator()
    admin, bob = minted(world, second, **ADMIN).cap, minted(world, first, sub="bob", wid="team").cap
    assert revoked(world, admin, jti=first.jti) == "ok"
    assert all(lives(world, cap) for cap in (first, second, admin, bob))


def test_a_deputy_as_wide_as_the_owner_ends_no_token_of_the_owner(world):
    owner, another = world.operator(), world.operator()
    wide = {"peers": ("*",), "wid": "*", "data_class": "*"}
    deputy, other = minted(world, owner, sub="deputy", **wide), minted(world, owner, sub="other", **wide)
    assert revoked(world, deputy.cap, jti=owner.jti) == "cap_scope_mismatch"
    assert revoked(world, deputy.cap, jti=another.jti) == "ok"
    assert revoked(world, deputy.cap, kid="key-0") == "cap_scope_mismatch"
    assert lives(world, another)
    assert revoked(world, deputy.cap, jti=other.jti) == "ok"
    assert not lives(world, other.cap)


def test_a_token_narrowed_from_another_can_not_end_it(world):
    admin = minted(world, world.operator(), **ADMIN)
    narrowed = world.call(o.ATTENUATE, admin.cap, m.Attenuate(ops=("revoke",)))
    for named in ({"jti": admin.jti}, {"sub": "admin"}):
        assert revoked(world, narrowed.cap, **named) == "cap_scope_mismatch"
    assert revoked(world, narrowed.cap, jti=narrowed.jti) == "ok"
    assert [lives(world, cap) for cap in (admin.cap, narrowed.cap)] == [True, False]


@pytest.mark.parametrize(
    ("more", "told"), [({}, False), ({"via": ("agent",)}, True), ({"peers": ("agent",)}, True)]
)
def test_a_token_is_told_of_another_only_if_it_looks_through_the_same_eyes(world, more, told):
    admin = minted(world, world.operator(), **ADMIN).cap
    of_bob = {"sub": "bob", "wid": "team"}
    asking = minted(world, admin, **of_bob, **more).cap
    through = minted(world, admin, **of_bob, ops=("get",), via=("agent",)).jti
    beside = minted(world, admin, **of_bob, ops=("get",), via=("bob",)).jti
    listed = {one.id for one in world.call(LIST_TOKENS, asking, ListTokens("team")).tokens}
    assert (through in listed, beside in listed) == (told, True)


@pytest.mark.parametrize(
    "limit", [{"sessions": ("s",)}, {"namespaces_allowed": ("travel",)}, {"peers": ("bob",)}]
)
def test_a_limited_token_ends_nothing_that_opens_more(world, limit):
    owner = world.operator()
    limited = minted(world, owner, **{**ADMIN, **limit}).cap
    wide = minted(world, owner, sub="bob", peers=("carol",), wid="team")
    child = world.call(o.ATTENUATE, wide.cap, m.Attenuate(**{"peers": (), **limit, "sub": "bob"}))
    for named in ({"jti": wide.jti}, {"sub": "bob"}):
        assert revoked(world, limited, **named) == "ok"
    assert [lives(world, cap) for cap in (wide.cap, child.cap)] == [True, False]


def test_a_token_ends_none_that_looks_through_eyes_it_does_not(world):
    owner = world.operator()
    bob = minted(world, owner, sub="bob", wid="team").cap
    through = minted(world, owner, sub="bob", wid="team", via=("agent",))
    assert revoked(world, bob, jti=through.jti) == "ok"
    assert lives(world, through.cap)
    as_wide = minted(world, owner, sub="bob", wid="team", via=("agent", "another")).cap
    assert revoked(world, as_wide, jti=through.jti) == "ok"
    assert not lives(world, through.cap)


def test_what_was_minted_after_a_rotation_ends_with_the_key_of_what_it_came_from(world):
    old_kid, old = world.keyring.signer()[0], world.operator()
    alice = minted(world, old, sub="alice").cap
    world.call(o.ROTATE, old, m.RotateKeys(signing=True))
    child = minted(world, alice, sub="alice").cap
    new = world.operator()
    assert revoked(world, new, kid=old_kid) == "ok"
    assert [lives(world, cap) for cap in (old, alice, child, new)] == [False, False, False, True]


def test_a_narrowed_token_ends_with_its_actor_whatever_id_its_holder_gave_it():
    world = World()
    owner = world.operator()
    admin = minted(world, owner, **ADMIN).cap
    front = world.issue(sub="front", peers=["bob"], wid="team")
    later = [world.child(front, sub="bob", peers=None, jti=jti) for jti in (owner.jti, world.ulid(1 << 47))]
    assert revoked(world, admin, sub="bob") == "ok"
    assert not any(lives(world, cap) for cap in later)
