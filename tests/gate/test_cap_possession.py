"""A bound cap is worth nothing without its holder key, and a proof is good once."""

from __future__ import annotations

import pytest

from gate.world import World, fresh_key, on_sqlite
from souvenance.adapters.data_folder import LateFile
from souvenance.domain import proof
from souvenance.domain.capability import Confirmation, HolderKey, attenuate, read_unverified
from souvenance.domain.proof import Bound
from souvenance.errors import CapMalformed, CapPopInvalid, StorageUnavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials

REQUEST = m.Get(query="Chengdu")


def code(world, cap, options, request=REQUEST, operation=o.GET):
    return world.code(operation, cap.bound, request, **options)


def test_a_bound_cap_with_a_proof_of_this_request_is_admitted():
    world = World()
    cap = world.issue()
    assert code(world, cap, world.prove(cap, o.GET, REQUEST)) == "ok"


def test_a_cap_says_of_itself_whether_it_is_bound():
    cap = World().issue()
    assert read_unverified(cap.bound)[1] is True
    assert read_unverified(cap.token)[1] is False


@pytest.mark.parametrize("sent", [None, "", "junk", "a.b.c", "x" * 5000])
def test_without_a_proof_a_bound_cap_is_refused(sent):
    world = World()
    cap = world.issue()
    assert code(world, cap, {"proof": sent, "bound": world.gate.bind(o.GET, REQUEST)}) == "cap_pop_invalid"


def test_a_proof_by_another_key_is_refused():
    world = World()
    cap = world.issue()
    options = world.prove(cap, o.GET, REQUEST, key=fresh_key(world.entropy))
    assert code(world, cap, options) == "cap_pop_invalid"


def test_a_proof_for_another_cap_of_the_same_holder_is_refused():
    world = World()
    cap = world.issue()
    narrow = world.child(cap, cnf=cap.claims["cnf"])
    options = world.prove(cap, o.GET, REQUEST)
    assert world.code(o.GET, narrow.bound, REQUEST, **options) == "cap_pop_invalid"


@pytest.mark.parametrize("changed", ["method", "path", "query", "body"])
def test_a_proof_of_another_request_is_refused(changed):
    world = World()
    cap = world.issue()
    signed = Bound("POST", "/v1/memory/get", b'{"k":5}')
    sent = {
        "method": Bound("GET", signed.path, signed.body),
        "path": Bound(signed.method, "/v1/memory/list", signed.body),
        "query": Bound(signed.method, signed.path + "?k=20", signed.body),
        "body": Bound(signed.method, signed.path, b'{"k":6}'),
    }[changed]
    options = world.prove(cap, o.GET, REQUEST)
    made = proof.make(cap.bound, signed, key=cap.secret, jti=world.ulid(), now=world.seconds)
    assert code(world, cap, {**options, "proof": made, "bound": sent}) == "cap_pop_invalid"
    assert code(world, cap, {**options, "proof": made, "bound": signed}) == "ok"


@pytest.mark.parametrize(
    ("age", "told"), [(-61, "cap_pop_invalid"), (-60, "ok"), (0, "ok"), (60, "ok"), (61, "cap_pop_invalid")]
)
def test_a_proof_is_fresh_for_a_minute(age, told):
    world = World()
    cap = world.issue()
    assert code(world, cap, world.prove(cap, o.GET, REQUEST, at=world.seconds - age)) == told


def test_a_proof_is_good_once():
    world = World()
    cap = world.issue()
    options = world.prove(cap, o.GET, REQUEST)
    assert [code(world, cap, options) for _ in range(3)] == ["ok", "cap_pop_invalid", "cap_pop_invalid"]


def test_a_proof_s_id_is_good_once_even_in_another_proof():
    world = World()
    cap = world.issue()
    assert code(world, cap, world.prove(cap, o.GET, REQUEST, jti="same")) == "ok"
    world.clock.advance(seconds=1)
    assert code(world, cap, world.prove(cap, o.GET, REQUEST, jti="same")) == "cap_pop_invalid"


@pytest.mark.parametrize("ahead", [-60, 0, 60])
def test_a_proof_is_never_good_a_second_time_however_long_one_waits(ahead):
    world = World()
    cap = world.issue()
    options = world.prove(cap, o.GET, REQUEST, at=world.seconds + ahead)
    assert code(world, cap, options) == "ok"
    told = set()
    for _ in range(260):
        world.clock.advance(ms=500)
        told.add(code(world, cap, options))
    assert told == {"cap_pop_invalid"}


def test_a_proof_that_a_refused_request_carried_is_burned_too():
    world = World()
    cap = world.issue(ops=["list"])
    options = world.prove(cap, o.GET, REQUEST)
    assert [code(world, cap, options) for _ in range(2)] == ["cap_op_mismatch", "cap_pop_invalid"]


def test_a_proof_of_a_revoked_or_expired_cap_is_not_even_looked_at():
    world = World()
    cap, stale = world.issue(), world.issue(exp=world.seconds)
    world.revoke("jti", cap.jti)
    assert code(world, cap, {}) == "cap_revoked"
    assert code(world, stale, {}) == "cap_expired"


@pytest.mark.parametrize("jti", ["", "x" * 129, "a\0b"])
def test_a_proof_without_a_usable_id_is_refused(jti):
    world = World()
    cap = world.issue()
    bound = world.gate.bind(o.GET, REQUEST)
    made = proof.make(cap.bound, bound, key=cap.secret, jti=jti, now=world.seconds)
    assert code(world, cap, {"proof": made, "bound": bound}) == "cap_pop_invalid"


def test_every_use_of_a_bound_cap_leaves_its_row():
    world = World()
    cap = world.issue()
    options = world.prove(cap, o.GET, REQUEST)
    for _ in range(2):
        code(world, cap, options)
    assert world.outcomes() == [("memory.get", "ok"), ("memory.get", "cap_pop_invalid")]


def test_a_captured_request_can_not_be_sent_to_another_gate(tmp_path):
    first = on_sqlite(tmp_path / "book.db")
    second = on_sqlite(tmp_path / "book.db", keyring=first.keyring, clock=first.clock, seed=2)
    cap = first.issue()
    options = first.prove(cap, o.GET, REQUEST)
    assert [code(gate, cap, options) for gate in (first, second, first)] == [
        "ok",
        "cap_pop_invalid",
        "cap_pop_invalid",
    ]
    first.store.close()
    second.store.close()


def test_a_bound_cap_is_minted_for_the_holder_s_own_key():
    world = World()
    holder = world.issue()
    key = Confirmation(HolderKey(**holder.claims["cnf"]["jwk"]))
    made = world.call(
        o.MINT, world.issue(), m.Mint(sub="alice", ops=("get",), namespaces_allowed=("*",), cnf=key)
    ).cap
    assert world.code(o.GET, made, REQUEST) == "cap_pop_invalid"
    assert "~" not in made


def test_a_server_can_not_attenuate_a_bound_cap():
    world = World()
    cap = world.issue()
    request = m.Attenuate(ops=("get",))
    options = world.prove(cap, o.ATTENUATE, request)
    assert code(world, cap, options, request, o.ATTENUATE) == "invalid_input"


def test_a_bound_cap_is_attenuated_with_its_holder_s_key_alone():
    world = World()
    cap = world.issue()
    with pytest.raises(CapMalformed, match="only with its holder key"):
        attenuate(cap.bound, lambda claims: claims, child_secret=None)
    made = attenuate(cap.bound, lambda claims: claims, child_secret=None, holder_secret=cap.secret)
    assert len(read_unverified(made)[0]) == 2


def test_while_the_store_is_away_a_proof_is_good_once_also_when_older_ones_are_forgotten(tmp_path):
    world = World()
    cap, late = world.issue(), LateFile(tmp_path)
    gate = Gate(
        store=world.store, keyring=world.keyring, clock=world.clock, services=world.services, late=late
    )

    def admits(shown):
        away = StorageUnavailable("the store is away")
        credentials = Credentials(cap.bound, shown["proof"], shown["bound"])
        return gate.judge_late(o.GET, credentials, REQUEST, away, grants=True)

    shown = []
    for wait in (0, 2 * proof.MAX_AGE_SECONDS - 20, 30):
        world.clock.advance(seconds=wait)
        shown.append(world.prove(cap, o.GET, REQUEST))
        assert admits(shown[-1])
    with pytest.raises(CapPopInvalid):
        admits(shown[1])


@pytest.mark.parametrize("then", ["it still is", "it is back", "the row is in the log"])
def test_a_proof_that_was_good_while_the_store_was_away_is_good_nowhere_again(tmp_path, then):
    world = World()
    first, second = (
        Gate(
            store=world.store,
            keyring=world.keyring,
            clock=world.clock,
            services=world.services,
            late=LateFile(tmp_path),
        )
        for _ in range(2)
    )
    cap = world.issue()
    shown = world.prove(cap, o.GET, REQUEST)
    credentials = Credentials(cap.bound, shown["proof"], shown["bound"])
    gone = StorageUnavailable("the store is away")
    first.judge_late(o.GET, credentials, REQUEST, gone, grants=True)
    if then == "the row is in the log":
        second.append_late()
    with pytest.raises(CapPopInvalid):
        if then == "it still is":
            second.judge_late(o.GET, credentials, REQUEST, gone, grants=True)
        else:
            second.call(o.GET, credentials, REQUEST)
