"""What makes a cap a cap, and what an empty one grants."""

from __future__ import annotations

import pytest

from gate.world import INSTANCE, NOTHING_REVOKED, World, block, fresh_key, jwk, verified
from souvenance.domain import capability as caps
from souvenance.domain.capability import Confirmation, HolderKey, Revocation, Revocations
from souvenance.errors import CapExpired, CapMalformed, CapMissing, CapRevoked, CapSigInvalid, SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import token_verifier


def keys(world):
    return world.keyring.issuers("any")


def verdict(world, token, *, now=None, revoked=NOTHING_REVOKED):
    try:
        return verified(token, keys=keys(world), audience=INSTANCE, now=now or world.seconds, revoked=revoked)
    except SouvenanceError as error:
        return type(error)


def test_the_same_cap_with_the_same_keys_and_moment_has_the_same_verdict():
    world = World()
    cap, stale = world.issue(), world.issue(exp=world.seconds - 1)
    gone = Revocations.of([Revocation("*", "jti", cap.jti, 0)])
    for token, revoked, expected in (
        (cap.token, NOTHING_REVOKED, "alice"),
        (stale.token, NOTHING_REVOKED, CapExpired),
        (cap.token, gone, CapRevoked),
        ("junk", NOTHING_REVOKED, CapMalformed),
        (None, NOTHING_REVOKED, CapMissing),
    ):
        verdicts = [verdict(world, token, revoked=revoked) for _ in range(3)]
        assert verdicts[0] == verdicts[1] == verdicts[2]
        assert getattr(verdicts[0], "actor", verdicts[0]) == expected


def test_the_moment_is_an_argument_and_no_clock_is_read():
    world = World()
    cap = world.issue(iat=1000, nbf=1000, exp=2000)
    assert verdict(world, cap.token, now=1999).actor == "alice"
    assert verdict(world, cap.token, now=2000) is CapExpired
    assert verdict(world, cap.token, now=939) is CapExpired
    assert verdict(world, cap.token, now=940).actor == "alice"


def test_the_keys_are_an_argument():
    world, stranger = World(), World(seed=2)
    cap = world.issue()
    assert verdict(stranger, cap.token) is CapSigInvalid
    assert verified(cap.token, keys=keys(world), audience=INSTANCE, now=world.seconds).jti == cap.jti
    with pytest.raises(CapSigInvalid):
        verified(cap.token, keys={}, audience=INSTANCE, now=world.seconds)


def test_as_many_caps_as_have_a_place_are_verified_once_and_the_oldest_makes_room(monkeypatch):
    world = World()
    monkeypatch.setattr(token_verifier, "_MOST_CACHED", 2)
    looked_up, keys_of = [], world.keyring.issuers
    monkeypatch.setattr(world.keyring, "issuers", lambda kid: looked_up.append(kid) or keys_of(kid))
    verifier = token_verifier.TokenVerifier(world.keyring)
    first, second, third = (world.issue().token for _ in range(3))
    for token in (first, second, first, second):
        verifier.authenticate(token)
    assert len(looked_up) == 2
    for token in (third, second, third):
        verifier.authenticate(token)
    assert len(looked_up) == 3
    verifier.authenticate(first)
    assert len(looked_up) == 4


def test_no_cap_is_minted_that_is_too_long_to_be_read():
    world = World()
    names = tuple(f"{number:03}".ljust(100, "x") for number in range(150))
    request = m.Mint(sub="alice", ops=("get",), namespaces_allowed=("travel",), peers=names)
    assert world.code(o.MINT, world.operator(), request) == "cap_scope_mismatch"
    fewer = m.Mint(sub="alice", ops=("get",), namespaces_allowed=("travel",), peers=names[:20])
    assert world.call(o.WHOAMI, world.call(o.MINT, world.operator(), fewer).cap, m.Nothing())


@pytest.mark.parametrize("before", ["", "~", caps.SIGNED_IN])
def test_a_holder_s_secret_without_its_cap_is_malformed(before):
    world = World()
    _, _, secret = world.issue().token.rpartition("~")
    assert verdict(world, before + secret) is CapMalformed


def test_a_cap_of_another_installation_is_not_ours():
    world = World()
    for claim in ("iss", "aud"):
        assert verdict(world, world.issue(**{claim: "urn:souvenance:other"}).token) is CapSigInvalid


@pytest.mark.parametrize("claim", ["nonce", "scope", "azp", "ops_denied"])
def test_a_claim_that_is_not_known_makes_the_cap_malformed(claim):
    world = World()
    cap = world.issue(**{claim: []})
    assert verdict(world, cap.token) is CapMalformed
    assert verdict(world, world.child(world.issue(), **{claim: []}).token) is CapMalformed


@pytest.mark.parametrize("claim", ["iss", "aud", "sub", "jti", "iat", "nbf", "exp", "wid", "cnf"])
def test_a_claim_that_is_missing_makes_the_cap_malformed(claim):
    world = World()
    said = world.issue().claims
    del said[claim]
    kid, key = world.keyring.signer()
    assert verdict(world, block(said, key, kid)) is CapMalformed


@pytest.mark.parametrize("ops", [[], None])
def test_without_operations_nothing_may_be_done(ops):
    world = World()
    cap = world.issue(ops=ops)
    codes = {
        operation.name: world.code(operation, cap, operation.request)
        for operation in o.EVERY
        if operation.need.op is not None
    }
    assert set(codes.values()) == {"cap_op_mismatch"}
    assert len(codes) >= 17


@pytest.mark.parametrize("compartments", [[], None])
def test_without_namespaces_no_compartment_is_open(compartments):
    world = World()
    line = world.put(world.issue(), "Trip to Chengdu")
    cap = world.issue(namespaces_allowed=compartments)
    assert world.texts(cap, "Chengdu") == []
    assert world.ids(cap) == []
    assert world.call(o.SNAPSHOT, cap, m.Snapshot()).profile == ""
    assert world.call(o.STATUS, cap, m.Nothing()).namespaces == []
    for operation, request in (
        (o.PUT, m.Put(text="x", namespace="travel")),
        (o.GET, m.Get(namespaces=("travel",))),
        (o.FORGET, m.Forget(namespace="travel")),
        (o.FORGET, m.Forget(owner="alice")),
    ):
        assert world.code(operation, cap, request) == "namespace_denied"
    for operation, request in (
        (o.LINE, m.GetLine(line)),
        (o.INVALIDATE, m.Invalidate(line)),
        (o.FORGET, m.Forget(id=line)),
    ):
        assert world.code(operation, cap, request) == "not_found"


@pytest.mark.parametrize("data_class", [None, "", "credentials", "config", "Memory", "memory "])
def test_a_cap_of_no_class_or_another_opens_no_memory(data_class):
    world = World()
    cap = world.issue(data_class=data_class)
    for operation in o.EVERY:
        assert world.code(operation, cap, operation.request) == "cap_data_class_mismatch"


@pytest.mark.parametrize("name", ["Travel", "travel ", "TRAVEL", "trav", "travels", "", "."])
def test_a_compartment_s_name_is_compared_byte_for_byte(name):
    world = World()
    cap = world.issue(namespaces_allowed=[name])
    assert world.code(o.GET, cap, m.Get(namespaces=("travel",))) == "namespace_denied"


def test_a_cap_signed_before_a_rotation_stays_good_and_new_ones_carry_the_new_key():
    world = World()
    old = world.issue()
    operator = world.operator()
    kid = world.call(o.ROTATE, operator, m.RotateKeys(signing=True)).kid
    minted = world.call(o.MINT, operator, m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",))).cap
    assert caps.key_id(old.token) != kid == caps.key_id(minted)
    assert world.code(o.GET, old, m.Get()) == world.code(o.GET, minted, m.Get()) == "ok"


def test_a_cap_under_the_id_of_another_key_is_not_ours():
    world = World()
    first = world.keyring.signer()
    world.keyring.rotate_signer()
    second = world.keyring.signer()
    claims = world.issue().claims
    for kid, key in ((first[0], second[1]), (second[0], first[1]), ("key-9", first[1]), ("", first[1])):
        assert verdict(world, block(claims, key, kid)) is CapSigInvalid


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_cap_of_which_any_character_was_changed_is_refused(part):
    world = World()
    token = world.issue().bound
    pieces = token.split(".")
    for place in range(0, len(pieces[part]), 7):
        letter = pieces[part][place]
        changed = pieces.copy()
        changed[part] = f"{pieces[part][:place]}{'B' if letter == 'A' else 'A'}{pieces[part][place + 1 :]}"
        assert verdict(world, ".".join(changed)) in (CapMalformed, CapSigInvalid)


def test_the_secret_must_be_that_of_the_holder_key():
    world = World()
    cap, other = world.issue(), fresh_key(world.entropy)
    assert verdict(world, caps.bearer(cap.bound, other)) is CapSigInvalid
    assert verdict(world, world.issue(cnf={"jwk": jwk(other)}).token) is CapSigInvalid


@pytest.mark.parametrize("field", ["x", "kty", "crv"])
def test_minting_for_a_holder_key_that_is_none_is_the_request_s_fault(field):
    world = World()
    unfit = Confirmation(HolderKey(**{**jwk(fresh_key(world.entropy)), field: "AAAA"}))
    request = m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",), cnf=unfit)
    assert world.code(o.MINT, world.issue(), request) == "invalid_input"
    assert world.code(o.ATTENUATE, world.issue(), m.Attenuate(cnf=unfit)) == "invalid_input"


def test_whoami_tells_what_the_cap_grants_and_needs_no_right():
    world = World()
    cap = world.issue(ops=[], namespaces_allowed=["work", "travel"], peers=["bob"], sessions=["s1"])
    told = world.call(o.WHOAMI, cap, m.Nothing())
    assert (told.sub, told.wid, told.ops, told.data_class) == ("alice", "default", [], "memory")
    assert (told.namespaces_allowed, told.peers, told.sessions) == (["travel", "work"], ["bob"], ["s1"])
    assert (told.jti, told.exp, told.bound) == (cap.jti, cap.claims["exp"], False)
