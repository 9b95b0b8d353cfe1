"""Random trees of tokens and random revocations: the gate and the oracle never differ on who is revoked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from gate.world import World, on_sqlite
from pace import examples
from security.revocation_oracle import Revoked, Token, ended, refusal
from souvenance.domain.capability import MAX_BLOCKS, OPS
from souvenance.domain.limits import Limits
from souvenance.errors import SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.tokens import attenuated

ACTORS = ("ann", "bob", "cleo")
DEEPEST = 10
HOUR = 3600

places = st.integers(0, 1 << 16)
actors = {"sub": st.sampled_from(ACTORS)}
changes = st.fixed_dictionaries(actors) | st.fixed_dictionaries(
    actors,
    optional={
        "wid": st.sampled_from(["team", "other"]),
        "peers": st.sampled_from([(), ("ann",), ("ann", "bob")]),
        "namespaces_allowed": st.sampled_from([("travel",), ("travel", "work")]),
        "sessions": st.sampled_from([("s1",), ("s1", "s2")]),
        "data_class": st.just("memory"),
        "via": st.sampled_from([(), ("bob",), ("bob", "cleo")]),
    },
)
"""What a token made from another says otherwise; the rest stays as it is."""


class Trees(RuleBasedStateMachine):
    sqlite = False

    @initialize(owners=st.integers(1, 2))
    def begin(self, owners):
        self.folder = tempfile.TemporaryDirectory()
        limits = Limits(requests_per_minute=1_000_000)
        path = Path(self.folder.name, "book.db")
        self.world = on_sqlite(path, limits=limits) if self.sqlite else World(limits=limits)
        self.revocations = []
        self.tokens = []
        self.judged = 0
        self.keys = [self.world.keyring.signer()[0]]
        for _ in range(owners):
            self.issue()

    def issue(self):
        """A token that the installation issues itself, as it does for its owner."""
        issued = self.world.operator()
        every = frozenset("*")
        self.tokens.append(
            Token(
                issued.jti,
                None,
                self.keys[-1],
                self.world.clock.ms,
                "owner",
                "*",
                "*",
                every,
                every,
                None,
                frozenset(),
                issued.token,
            )
        )

    def made(self, parent, said, *, jti, token, minted):
        self.tokens.append(
            Token(
                id=jti,
                parent=parent,
                key=self.keys[-1] if minted else parent.key,
                born=self.world.clock.ms if minted else parent.born,
                actor=said["sub"],
                workspace=said["wid"],
                data_class=said["data_class"],
                actors=frozenset({said["sub"], *said["peers"]}),
                namespaces=frozenset(said["namespaces_allowed"]),
                sessions=None if said["sessions"] is None else frozenset(said["sessions"]),
                eyes=frozenset(said["via"]),
                text=token,
            )
        )

    def chosen(self, place):
        """One of them, from either end."""
        place, late = divmod(place, 2)
        place %= len(self.tokens)
        return self.tokens[-1 - place if late else place]

    def asked(self, parent, said):
        """What a child asks for: as much of it as its parent has."""
        wide = {"peers": parent.actors, "namespaces_allowed": parent.namespaces, "sessions": parent.sessions}
        lists = {}
        for name, has in wide.items():
            asked = said.get(name, has)
            kept = asked if has is None or "*" in has else has & set(asked)
            lists[name] = None if kept is None else tuple(sorted(kept))
        looks, eyes = said.get("via", parent.eyes), parent.eyes | parent.actors
        lists["via"] = tuple(sorted(looks if "*" in eyes else eyes & set(looks)))
        return {
            "sub": said["sub"] if {"*", said["sub"]} & parent.actors else parent.actor,
            "wid": said.get("wid", "*") if parent.workspace == "*" else parent.workspace,
            "data_class": said.get("data_class", "*") if parent.data_class == "*" else "memory",
            **lists,
        }

    @rule(place=places, said=changes)
    def mint(self, place, said):
        parent = self.chosen(place)
        if sum(1 for _ in parent.parents()) > DEEPEST:
            return
        said = self.asked(parent, said)
        try:
            made = self.world.call(o.MINT, parent.text, m.Mint(ops=OPS, ttl_seconds=HOUR, **said))
        except SouvenanceError as error:
            assert error.code == ("cap_revoked" if ended(parent, self.revocations) else "cap_scope_mismatch")
            return
        self.made(parent, said, jti=made.jti, token=made.cap, minted=True)

    @rule(place=places, said=changes, copied=st.none() | places)
    def narrow(self, place, said, copied):
        """Offline, also from a token that is revoked already, with an id of the holder's choice."""
        parent = self.chosen(place)
        if parent.text.count("~") >= MAX_BLOCKS:
            return
        said = self.asked(parent, said)
        jti = self.world.ulid() if copied is None else self.chosen(copied).id
        made = attenuated(
            parent.text,
            m.Attenuate(**said),
            jti=jti,
            now=self.world.seconds,
            secret=Ed25519PrivateKey.from_private_bytes(self.world.entropy.take(32)),
        )
        self.made(parent, said, jti=jti, token=made.cap, minted=False)

    @rule(place=places, which=places, kind=st.sampled_from(["jti", "jti", "sub", "sub", "kid"]))
    def revoke(self, place, which, kind):
        caller, met = self.chosen(place), self.chosen(which)
        value = {"jti": met.id, "sub": met.actor, "kid": met.key}[kind]
        told = refusal(caller, kind, value, signing=self.keys[-1], revocations=self.revocations)
        assert self.world.code(o.REVOKE, caller.text, m.Revoke(**{kind: value})) == told
        if told == "ok":
            self.revocations.append(Revoked(caller, kind, value, self.world.clock.ms))
            self.judged = 0

    @rule()
    def rotate(self):
        self.keys.append(self.world.keyring.rotate_signer())
        self.issue()

    @rule(ms=st.sampled_from([1, 1, 1000, -3, -900]))
    def move_the_clock(self, ms):
        self.world.clock.advance(ms=ms)

    @invariant()
    def the_gate_and_the_oracle_say_the_same_of_every_token(self):
        """After a revocation of all, and else of those that are new."""
        new, self.judged = self.tokens[self.judged :], len(self.tokens)
        told = [self.world.code(o.WHOAMI, token.text, m.Nothing()) for token in new]
        assert told == ["cap_revoked" if ended(token, self.revocations) else "ok" for token in new]

    def teardown(self):
        self.world.store.close()
        self.folder.cleanup()


class TreesInAFile(Trees):
    sqlite = True


@pytest.mark.parametrize(("machine", "examples"), [(Trees, examples(100)), (TreesInAFile, examples(240))])
def test_the_gate_and_the_oracle_never_differ_on_who_is_revoked(machine, examples):
    often = settings(
        max_examples=examples,
        stateful_step_count=30,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
    )
    run_state_machine_as_test(machine, settings=often)
