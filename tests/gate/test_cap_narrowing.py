"""No cap makes a wider one: not by minting, not by attenuating, not by hand."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gate import oracle
from gate.world import World, fresh_key
from pace import examples
from souvenance.domain import capability as caps
from souvenance.domain.capability import MAX_BLOCKS, OPS, b64
from souvenance.errors import SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o

ACTORS = ("alice", "bob", "carol")
COMPARTMENTS = ("travel", "work", "personal")
SESSIONS = ("s1", "s2")
WORKSPACES = ("default", "team")
CLASSES = ("memory", "config", "credentials")

PROPERTY = settings(max_examples=examples(300), deadline=None, derandomize=True, database=None)


def some(names, *, all_of_them=True):
    chosen = st.lists(st.sampled_from(names), unique=True)
    return st.one_of(chosen, st.just(["*"])) if all_of_them else chosen


def claims(**fixed):
    return st.fixed_dictionaries({**CLAIMS, **fixed})


CLAIMS = {
    "sub": st.sampled_from(ACTORS),
    "wid": st.sampled_from((*WORKSPACES, "*")),
    "data_class": st.sampled_from((*CLASSES, "*")),
    "ops": some(OPS, all_of_them=False),
    "namespaces_allowed": some(COMPARTMENTS),
    "peers": some(ACTORS),
    "via": some(ACTORS, all_of_them=False),
    "sessions": st.none() | some(SESSIONS, all_of_them=False),
    "exp": st.sampled_from((1_750_003_600, 1_750_003_601)),
    "nbf": st.sampled_from((1_749_999_999, 1_750_000_000)),
}
CHANGES = st.fixed_dictionaries({}, optional=CLAIMS)
ASKED = {name: CLAIMS[name] for name in ("data_class", "wid", "peers", "via")}
ASKED |= {"sessions": some(SESSIONS, all_of_them=False), "ttl_seconds": st.integers(1, 10_000_000)}
REQUIRED = {name: CLAIMS[name] for name in ("sub", "ops", "namespaces_allowed")}
MINTS = st.fixed_dictionaries(REQUIRED, optional=ASKED)
ATTENUATIONS = st.fixed_dictionaries({}, optional={**REQUIRED, **ASKED})


def powers(said):
    """All that a cap's claims allow, spelled out over every name there is."""

    def spelled(granted, names):
        return set(names) if "*" in granted else set(granted) & set(names)

    sessions = said.get("sessions")
    actors = spelled([said["sub"], *said.get("peers", ())], (*ACTORS, "any other"))
    eyes = actors.union(said.get("via", ()))
    return {
        "actors": actors,
        "eyes": eyes,
        "views": {*product(actors, (*ACTORS, "any other")), *product(eyes, actors)},
        "workspaces": spelled([said["wid"]], (*WORKSPACES, "any other")),
        "classes": spelled([said.get("data_class", "")], CLASSES),
        "ops": set(said.get("ops", ())),
        "rooms": spelled(said.get("namespaces_allowed", ()), (*COMPARTMENTS, "any other")),
        "sessions": {*SESSIONS, "none", "any other"} if sessions is None else set(sessions),
    }


def within(child, parent):
    narrow, wide = powers(child), powers(parent)
    in_time = child["exp"] <= parent["exp"] and child["nbf"] >= parent["nbf"]
    return in_time and all(narrow[kind] <= wide[kind] for kind in narrow)


def said_by(token):
    """The last block's claims."""
    blocks = [part for part in token.split("~") if "." in part]
    payload = blocks[-1].split(".")[1]
    return json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def check_made(operation, parent, request):
    """Whatever is made narrows, and only what would not is refused."""
    world = World()
    cap = world.issue(**parent)
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in request.items()}
    try:
        made = world.call(operation, cap, operation.request(**fields)).cap
    except SouvenanceError as refused:
        assert refused.code == "cap_scope_mismatch"
        asked = oracle.asked_for(cap.claims, request, mint=operation is o.MINT)
        opens = operation is o.MINT and oracle.opens_more(asked, [cap.claims])
        assert opens or oracle.wider(asked, cap.claims)
        return
    assert within(said_by(made), cap.claims)
    assert world.code(o.WHOAMI, made, m.Nothing()) in ("ok", "cap_data_class_mismatch")


@PROPERTY
@given(claims(ops=st.just(list(OPS)), data_class=st.sampled_from(("memory", "*"))), MINTS)
def test_a_minted_cap_never_grants_more_than_the_one_that_minted_it(parent, request):
    check_made(o.MINT, parent, request)


@PROPERTY
@given(claims(data_class=st.sampled_from(("memory", "*"))), ATTENUATIONS)
def test_an_attenuated_cap_never_grants_more_than_the_one_it_was_made_from(parent, request):
    check_made(o.ATTENUATE, parent, request)


@PROPERTY
@given(claims(), CHANGES)
def test_a_block_forged_with_the_right_key_is_believed_only_if_it_narrows(parent, changes):
    world = World()
    cap = world.issue(**parent)
    forged = world.child(cap, **changes)
    believed = world.code(o.WHOAMI, forged, m.Nothing()) != "cap_sig_invalid"
    assert believed is within(forged.claims, cap.claims)


@PROPERTY
@given(claims(), st.lists(CHANGES, min_size=2, max_size=3))
def test_no_link_of_a_chain_widens_what_any_link_before_it_allowed(parent, chain):
    world = World()
    cap = world.issue(**parent)
    links = [cap.claims]
    for changes in chain:
        cap = world.child(cap, **changes)
        links.append(cap.claims)
    if world.code(o.WHOAMI, cap, m.Nothing()) != "cap_sig_invalid":
        assert all(within(later, earlier) for earlier, later in combinations(links, 2))


WIDER = {
    "an operation": {"ops": ["get", "put"]},
    "a room": {"namespaces_allowed": ["travel", "personal"]},
    "every room": {"namespaces_allowed": ["*"]},
    "another actor": {"sub": "bob"},
    "a peer": {"peers": ["bob"]},
    "every peer": {"peers": ["*"]},
    "someone's eyes": {"via": ["bob"]},
    "everyone's eyes": {"via": ["*"]},
    "another workspace": {"wid": "team"},
    "every workspace": {"wid": "*"},
    "another class": {"data_class": "config"},
    "every class": {"data_class": "*"},
    "no class": {"data_class": None},
    "another session": {"sessions": ["s1", "s2"]},
    "every session": {"sessions": None},
    "a session called all": {"sessions": ["*"]},
    "a longer life": {"exp": 1_750_003_601},
    "an earlier start": {"nbf": 1_749_999_999},
    "another issuer": {"iss": "urn:souvenance:other"},
    "another audience": {"aud": "urn:souvenance:other"},
}


@pytest.mark.parametrize("wish", WIDER)
def test_a_holder_can_not_help_itself_to(wish):
    world = World()
    parent = world.issue(ops=["get"], namespaces_allowed=["travel"], sessions=["s1"])
    assert world.code(o.WHOAMI, world.child(parent), m.Nothing()) == "ok"
    assert world.code(o.WHOAMI, world.child(parent, **WIDER[wish]), m.Nothing()) == "cap_sig_invalid"


def test_who_looks_through_someone_can_not_make_a_cap_that_acts_for_them():
    world = World()
    parent = world.issue(via=["bob"])
    for wish in ({"peers": ["bob"], "via": []}, {"sub": "bob"}, {"via": ["bob", "carol"]}):
        assert world.code(o.WHOAMI, world.child(parent, **wish), m.Nothing()) == "cap_sig_invalid"
    assert world.call(o.WHOAMI, world.child(parent, sub="alice"), m.Nothing()).via == ["bob"]


def test_a_cap_made_for_another_actor_inherits_nobody_s_eyes():
    world = World()
    parent = world.issue(peers=["bob"], via=["carol"])
    for asked, via in (({}, ["carol"]), ({"sub": "bob"}, []), ({"sub": "bob", "via": ("carol",)}, ["carol"])):
        made = world.call(o.ATTENUATE, parent, m.Attenuate(**asked)).cap
        assert world.call(o.WHOAMI, made, m.Nothing()).via == via


@pytest.mark.parametrize("name", ["*", "@sessions", ""])
def test_nobody_can_mint_eyes_that_are_no_peer_s(name):
    world = World()
    request = m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",), via=(name,))
    assert world.code(o.MINT, world.operator(), request) == "invalid_input"


def test_what_a_child_gave_up_its_own_child_does_not_get_back():
    world = World()
    first = world.issue(ops=["get", "put"])
    second = world.child(first, ops=["get"])
    assert world.code(o.WHOAMI, world.child(second, ops=["get", "put"]), m.Nothing()) == "cap_sig_invalid"


def test_a_cap_of_the_session_called_all_is_not_a_cap_of_all_sessions():
    world = World()
    world.put(world.issue(), "of session two", session="s2")
    parent = world.issue(sessions=["*"])
    assert world.texts(parent) == []
    child = world.child(parent, sessions=["s2"])
    assert world.code(o.GET, child, m.Get()) == "cap_sig_invalid"


def test_attenuating_offline_needs_no_server_and_makes_a_cap_that_the_server_believes():
    world = World()
    parent = world.issue()
    secret = fresh_key(world.entropy)

    def narrow(said):
        confirmed = caps.Confirmation(caps.HolderKey.of(secret.public_key()))
        return replace(said, jti=world.ulid(), ops=("get",), namespaces_allowed=("travel",), cnf=confirmed)

    made = caps.attenuate(parent.token, narrow, child_secret=secret)
    assert world.code(o.GET, made, m.Get(namespaces=("travel",))) == "ok"
    assert world.code(o.GET, made, m.Get(namespaces=("personal",))) == "namespace_denied"
    assert world.code(o.PUT, made, m.Put(text="x", namespace="travel")) == "cap_op_mismatch"


def every_cut(child):
    """Every token that can be put together from what the holder of a child was given."""
    secret = b64(child.secret.private_bytes_raw())
    for size in range(1, len(child.blocks) + 1):
        for kept in combinations(child.blocks, size):
            for token in ("~".join(kept), "~".join([*kept, secret]), "~".join([*reversed(kept), secret])):
                if token != child.token:
                    yield token


def test_the_wider_cap_can_not_be_cut_out_of_the_narrower_one():
    world = World()
    parent = world.issue()
    child = world.child(world.child(parent, ops=["get", "list"]), ops=["get"], namespaces_allowed=["travel"])
    codes = {token: world.code(o.LIST, token, m.List()) for token in every_cut(child)}
    assert len(codes) >= 15
    assert set(codes.values()) <= {"cap_pop_invalid", "cap_sig_invalid", "cap_malformed", "cap_op_mismatch"}
    assert [token for token, code in codes.items() if code == "cap_op_mismatch"] == []


def test_the_child_s_key_does_not_prove_the_parent():
    world = World()
    parent = world.issue()
    child = world.child(parent, ops=["get"])
    proved = world.prove(parent, o.LIST, m.List(), key=child.secret)
    assert world.code(o.LIST, parent.bound, m.List(), **proved) == "cap_pop_invalid"


def test_a_block_signed_by_anyone_but_the_holder_is_refused():
    world = World()
    parent, other = world.issue(), world.issue()
    stolen = world.child(other)
    mixed = "~".join([parent.blocks[0], stolen.blocks[1], b64(stolen.secret.private_bytes_raw())])
    assert world.code(o.WHOAMI, mixed, m.Nothing()) == "cap_sig_invalid"


def test_a_chain_has_an_end():
    world = World()
    cap = world.issue()
    for _ in range(MAX_BLOCKS - 1):
        cap = world.child(cap)
    assert world.code(o.WHOAMI, cap, m.Nothing()) == "ok"
    assert world.code(o.WHOAMI, world.child(cap), m.Nothing()) == "cap_malformed"
    assert world.code(o.ATTENUATE, cap, m.Attenuate(ops=())) != "ok"


def test_minting_from_a_mint_has_an_end():
    world = World()
    cap, codes = world.issue(), []
    for _ in range(40):
        try:
            cap = world.call(o.MINT, cap, m.Mint(sub="alice", ops=("grant",), namespaces_allowed=("*",))).cap
        except SouvenanceError as refused:
            codes.append(refused.code)
            break
    assert codes == ["cap_scope_mismatch"]


def test_a_cap_whose_clock_is_a_little_ahead_can_still_mint_a_narrower_one():
    world = World()
    cap = world.issue(iat=world.seconds + 30, nbf=world.seconds + 30)
    request = m.Mint(sub="alice", ops=("get",), namespaces_allowed=("travel",))
    assert world.code(o.MINT, cap, request) == "ok"


def test_a_minted_cap_dies_with_its_parent_s_time():
    world = World()
    parent = world.issue(exp=world.seconds + 100)
    answer = world.call(
        o.MINT, parent, m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",), ttl_seconds=9999)
    )
    assert answer.exp == parent.claims["exp"]
