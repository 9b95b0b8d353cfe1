"""While memory is out of reach every cap chats that proves itself, without memory, and is told so."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chat.stage import CREDENTIALS, a_stage, asked
from mnemon.domain import proof
from mnemon.domain.cap import Confirmation, HolderKey, Revocation
from mnemon.domain.proof import Bound
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.gate.admission import Credentials
from processes import until

TOLD = "x-mnemon-memory"
OUT_OF_REACH = "out-of-reach"


@pytest.fixture
def stage(home):
    with a_stage(home, wait_ms=200) as found:
        yield found


class Holder:
    """Somebody whose cap is bound to a key."""

    def __init__(self, stage, sub="ann"):
        self.key = Ed25519PrivateKey.generate()
        self.cap = stage.mint(sub, cnf=Confirmation(HolderKey.of(self.key.public_key())))
        self.client = stage.client(self.cap)
        self.body = json.dumps(asked("I like tea.")).encode()

    def proof(self, jti, age=0):
        bound = Bound("POST", "/v1/chat/completions", self.body)
        return proof.make(self.cap, bound, key=self.key, jti=jti, now=int(time.time()) - age)

    def post(self, shown=None):
        headers = {} if shown is None else {"dpop": shown}
        return self.client.post("/chat/completions", content=self.body, headers=headers)


def code(answer):
    return answer.status_code, answer.json()["error"]["code"]


@contextmanager
def held(stage):
    """Meanwhile this transaction has the store, and whoever comes to it waits."""
    with stage.house._book.write() as tx:
        yield tx


def test_a_cap_that_was_never_seen_chats_without_memory(stage):
    caps = {name: show(stage) for name, show in CREDENTIALS.items() if name not in ("nothing", "local")}
    refused = {name: caps.pop(name) for name in ("junk", "ann's own cap, altered")}
    stage.house.close()
    for cap in caps.values():
        for streamed in (False, True):
            answer = stage.client(cap).post("/chat/completions", json=asked("I am Ann.", stream=streamed))
            assert (answer.status_code, answer.headers[TOLD]) == (200, OUT_OF_REACH)
            assert stage.heard() == "I am Ann."
        assert stage.client(cap).get("/models").status_code == 200
    for cap in refused.values():
        assert stage.say(cap, "hi").status_code == 401
        assert stage.say(cap, "hi", user="ann").status_code == 403


def test_what_a_cap_does_not_grant_it_does_not_grant_now(stage):
    ann, brief = stage.mint("ann"), stage.mint("ann", ttl_seconds=1)
    other, limited = stage.mint("ann", data_class="config"), stage.mint("ann", sessions=("s",))
    stage.house.close()
    assert code(stage.say(ann, "hi", user="bob")) == (403, "cap_scope_mismatch")
    assert code(stage.say(other, "hi")) == (403, "cap_data_class_mismatch")
    assert code(stage.say(limited, "hi")) == (403, "cap_scope_mismatch")
    until(lambda: stage.say(brief, "hi").status_code != 200)
    assert code(stage.say(brief, "hi")) == (401, "cap_expired")


def test_a_bound_cap_chats_with_a_proof_that_is_taken_once(stage):
    ann = Holder(stage)
    before, after = ann.proof("before"), ann.proof("after")
    assert ann.post(before).status_code == 200
    stage.texts(2)
    stage.house.close()
    answer = ann.post(after)
    assert (answer.status_code, answer.headers[TOLD]) == (200, OUT_OF_REACH)
    for shown in (None, before, after, ann.proof("stale", age=120), ann.proof("cut")[:-4]):
        assert code(ann.post(shown)) == (401, "cap_pop_invalid")


def test_a_proof_that_was_taken_meanwhile_is_not_taken_again_afterwards(stage):
    ann = Holder(stage)
    shown = ann.proof("once")
    with held(stage):
        assert ann.post(shown).headers[TOLD] == OUT_OF_REACH
    assert code(ann.post(shown)) == (401, "cap_pop_invalid")


@pytest.mark.parametrize("named", ["jti", "sub"])
def test_a_withdrawal_that_was_seen_holds(stage, named):
    ann, bob = stage.mint("ann"), stage.mint("bob")
    known = stage.house.gate.call(o.WHOAMI, Credentials(ann), m.WhoAmI())
    revoked = m.Revoke(**{named: getattr(known, named)})
    stage.house.gate.call(o.REVOKE, Credentials(stage.house.owner_cap), revoked)
    until(lambda: TOLD not in stage.say(bob, "hi").headers)
    stage.house.close()
    assert code(stage.say(ann, "hi")) == (401, "cap_revoked")
    assert stage.say(bob, "hi").status_code == 200


def test_a_turn_is_kept_once_memory_is_back_and_the_cap_is_still_good(stage):
    ann, bob = stage.mint("ann"), stage.mint("bob")
    jti = stage.house.gate.call(o.WHOAMI, Credentials(bob), m.WhoAmI()).jti
    with held(stage) as tx:
        for cap in (bob, ann):
            assert stage.say(cap, "I like tea.").headers[TOLD] == OUT_OF_REACH
        tx.caps.revoke(Revocation("default", "jti", jti, 0))
        tx.touch("default", caps=True)
    assert stage.texts(2) == [("ann", "I like tea."), ("assistant", "Noted.")]


def test_nothing_is_told_of_a_memory_that_works(home):
    with a_stage(home) as stage:
        assert TOLD not in stage.say(stage.mint("ann"), "I like tea.").headers
