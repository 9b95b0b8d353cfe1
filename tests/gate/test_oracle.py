"""The gate against its oracle: 24 000 generated pairs of cap and request, and no difference.

Of 240 oracles that each decide one thing otherwise, all whom these requests tell apart differ within them.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import msgspec

from gate import oracle
from gate.world import INSTANCE, START, FakeClock, World, fresh_key
from souvenance.domain import proof
from souvenance.domain.capability import OPS
from souvenance.domain.limits import Limits
from souvenance.domain.proof import Bound
from souvenance.errors import BodyTooLarge, InvalidInput, SouvenanceError
from souvenance.gate.operations import CHAT
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.routes import ROUTES

PAIRS = 24_000

REACHABLE = [*(route.operation for route in ROUTES), CHAT]
DECODERS = {operation.name: msgspec.json.Decoder(operation.request) for operation in REACHABLE}
NOWHERE = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"
ACTORS = ["alice", "bob", "carol"]
COMPARTMENTS = ["travel", "work", "personal"]
PER_MINUTE = [6000, 6000, 6000, 25]
JUNK = {"cap_missing", "cap_malformed", "cap_sig_invalid"}
UNPROVED = JUNK | {"cap_expired", "cap_revoked", "cap_pop_invalid"}
REFUSED = {"cap_op_mismatch", "cap_data_class_mismatch", "invalid_input", "cap_scope_mismatch"}
LIMITED = {"namespace_denied", "body_too_large", "rate_limited", "line_too_long"}
EVERY_CODE = {*UNPROVED, *REFUSED, *LIMITED, "not_found", "receipt_invalid", "conflict", "ok"}


def some(rng, names):
    return rng.sample(names, rng.randint(0, len(names)))


def claims_of_chance(rng, world, made):
    now = world.seconds
    ops = rng.choice([list(OPS)] * 6 + [some(rng, list(OPS))] * 2 + [[], None])
    starts = rng.choice([now - 9] * 36 + [now + 50, now + 60, now + 61, now + 99])
    return {
        "sub": rng.choice(ACTORS),
        "jti": world.ulid(made),
        "iat": starts,
        "nbf": rng.choice([starts, now - 9]),
        "exp": now + rng.choice([3600] * 36 + [-10, 0, 1, 9]),
        "wid": rng.choice(["default"] * 6 + ["team", "*"]),
        "data_class": rng.choice(["memory"] * 12 + ["*", "*", "credentials", "config", None]),
        "ops": ops,
        "namespaces_allowed": rng.choice([["*"]] * 3 + [some(rng, COMPARTMENTS)] * 5 + [[], None]),
        "peers": rng.choice([None] * 3 + [some(rng, ACTORS)] + [["*"]]),
        "sessions": rng.choice([None] * 6 + [["s1"], ["s1", "s2"], []]),
        "via": rng.choice([None] * 4 + [some(rng, ACTORS)]),
        "par": rng.choice(
            [None, [ancestor(world, "owner", 9999, "*"), ancestor(world, "bob", 9998, "team")]]
        ),
    }


def ancestor(world, sub, age, wid):
    """One that a cap may say it came from."""
    return [world.ulid(START - age), sub, "key-0", START - age, [wid, "*", ["*", sub], ["*"], None]]


def operator_claims(rng, world, made):
    said = {**claims_of_chance(rng, world, made), "sub": "owner", "wid": "*", "data_class": "*"}
    return {**said, "peers": ["*"], "namespaces_allowed": ["*"], "sessions": None}


def child_of_chance(rng, parent):
    """Mostly narrower; now and then wider in one claim or another."""
    changed = {
        "ops": rng.choice([some(rng, parent.get("ops", [])), parent.get("ops", [])]),
        "namespaces_allowed": some(rng, parent.get("namespaces_allowed", [])),
        "exp": parent["exp"] - rng.choice([0, 0, 5]),
        "wid": "default" if parent["wid"] == "*" else parent["wid"],
        "par": None,
    }
    if "sessions" in parent:
        changed["sessions"] = some(rng, parent["sessions"])
    if "via" in parent:
        changed["via"] = some(rng, [*parent["via"], parent["sub"]])
    wider = {
        "ops": list(OPS),
        "namespaces_allowed": ["*"],
        "exp": parent["exp"] + 1,
        "nbf": parent["nbf"] - 1,
        "wid": rng.choice(["*", "team", "elsewhere"]),
        "data_class": rng.choice(["*", "config", None]),
        "sub": "mallory",
        "peers": ["*"],
        "via": rng.choice([["mallory"], [*ACTORS]]),
        "sessions": rng.choice([None, ["s1", "s2", "s3"]]),
        "iss": "urn:souvenance:other",
    }
    kept = rng.sample(sorted(changed), rng.randint(1, len(changed)))
    changed = {name: changed[name] for name in kept} | {"par": None}
    if rng.random() < 0.2:
        name = rng.choice(sorted(wider))
        changed[name] = wider[name]
    return changed


def cap_of_chance(rng, world):
    """A token, the cap behind it if there is one, and what the oracle may know of both."""
    kind = rng.choices(
        ["missing", "junk", "foreign", "altered", "elsewhere", "old key", "chain", "operator", "plain"],
        [4, 4, 2, 2, 2, 6, 24, 14, 42],
    )[0]
    if kind == "missing":
        return rng.choice([None, ""]), None, None
    if kind == "junk":
        junk = ["junk", "a.b.c", "~", "a.b.c~d", "\x00.\ud800.é", "x" * 20_000, f"{'a.b.c~' * 9}d"]
        return rng.choice(junk), None, {"readable": False}
    facts = {"readable": True, "signed": kind not in ("foreign", "altered"), "bearer": rng.random() > 0.12}
    made = START - rng.randint(0, 9000)
    said = (operator_claims if kind == "operator" else claims_of_chance)(rng, world, made)
    if kind == "elsewhere":
        said |= {rng.choice(["iss", "aud"]): "urn:souvenance:other"}
    cap = (World(seed=rng.random()) if kind == "foreign" else world).issue(**said)
    facts |= {"kid": "key-1", "blocks": [cap.claims], "issued": made}
    if kind == "old key":
        world.keyring.rotate_signer()
    for _ in range(rng.randint(1, 3) if kind == "chain" else 0):
        cap = world.child(cap, **child_of_chance(rng, cap.claims))
        facts["blocks"] = [*facts["blocks"], cap.claims]
    token = cap.token if facts["bearer"] else cap.bound
    if kind == "altered":
        head, payload, signature = token.split("~")[0].split(".")
        flipped = ("B" if signature[0] == "A" else "A") + signature[1:]
        token = token.replace(f"{head}.{payload}.{signature}", f"{head}.{payload}.{flipped}")
    return token, cap, facts


def revocations_of_chance(rng, world, cap, facts):
    """Some that meet the cap, and some that just miss it."""
    if rng.random() > 0.25:
        return []
    last, line = facts["blocks"][-1], oracle.lineage(facts)
    met = rng.choice(line)
    chosen = {
        "jti": (rng.choice([met["jti"]] * 3 + [world.ulid()]), 0),
        "sub": (rng.choice([met["sub"]] * 3 + ["nobody"]), met["at"] + rng.choice([-1, 0])),
        "kid": (rng.choice([met["kid"], "key-2"]), 0),
    }
    kind = rng.choice(list(chosen))
    value, at = chosen[kind]
    where = rng.choice(["*", "*", last["wid"], "default", "elsewhere"])
    one = {"workspace": where, "kind": kind, "value": value, "at": at, **revoker_of_chance(rng, line)}
    world.revoke(**one)
    return [one]


def revoker_of_chance(rng, line):
    """The installation, or one about as wide as any of the line."""
    if rng.random() < 0.4:
        return {"by": None, "first": True}
    wide = {**rng.choice(line)}
    wide |= rng.choice([{}, {}, {"wid": "*"}, {"wid": "team"}, {"data_class": "config"}, {"sub": "dave"}])
    wide |= rng.choice([{}, {}, {"peers": ["*"]}, {"peers": []}, {"sessions": ["s1"]}, {"sessions": None}])
    wide |= rng.choice([{}, {}, {"namespaces_allowed": ["*"]}, {"namespaces_allowed": ["travel"]}])
    return {"by": wide, "first": rng.random() < 0.5}


BODIES = {
    "memory.put": lambda r: (
        {"text": r.choice(["a trip"] * 6 + [" ", "y" * 300, "y" * 301, "é" * 151])}
        | r.choice(
            [
                {},
                {"namespace": r.choice([*COMPARTMENTS, "secrets"])},
                {"namespace": "travel", "session": "s1"},
            ]
        )
    ),
    "memory.get": lambda r: r.choice([{}, {"query": "a trip"}, compartments_of_chance(r), {"k": 20}]),
    "memory.line": lambda r: {"id": NOWHERE},
    "memory.list": lambda r: r.choice([{}, {"limit": 5}, compartments_of_chance(r)]),
    "memory.snapshot": lambda r: r.choice([{}, compartments_of_chance(r)]),
    "memory.invalidate": lambda r: (
        {"id": NOWHERE} | r.choice([{}, {"text": "no trip"}]) | r.choice([{}, {"owner": r.choice(ACTORS)}])
    ),
    "memory.forget": lambda r: r.choice(
        [
            {"id": NOWHERE},
            {"namespace": r.choice(COMPARTMENTS)},
            {"owner": r.choice([*ACTORS, "owner"])},
            {},
            {"id": NOWHERE, "owner": r.choice(ACTORS)},
            {"id": NOWHERE, "namespace": r.choice(COMPARTMENTS)},
            {"namespace": r.choice(COMPARTMENTS), "dry_run": True},
            {"owner": r.choice(ACTORS), "dry_run": True},
        ]
    ),
    "status": lambda r: {},
    "chat": lambda r: {},
    "caps.mint": lambda r: (
        {
            "sub": r.choice([*ACTORS, "owner"]),
            "ops": r.choice([["get"], some(r, list(OPS)), list(OPS), ["get", "fly"]]),
            "namespaces_allowed": r.choice([["*"], some(r, COMPARTMENTS), ["secrets"]]),
        }
        | r.choice([{}, {}, {"data_class": r.choice(["memory", "config", "*"])}])
        | r.choice([{}, {}, {"wid": r.choice(["default", "team"])}])
        | r.choice([{}, {"peers": some(r, ACTORS)}])
        | r.choice([{}, {}, {"via": some(r, [*ACTORS, "hermes"])}])
        | r.choice([{}, {"sessions": some(r, ["s1", "s2"])}])
    ),
    "caps.attenuate": lambda r: (
        r.choice([{}, {"ops": r.choice([["get"], [], list(OPS), ["fly"]])}])
        | r.choice([{}, {"namespaces_allowed": r.choice([["*"], some(r, COMPARTMENTS)])}])
        | r.choice(
            [{}, {}, {"wid": r.choice(["default", "team"])}, {"data_class": r.choice(["memory", "config"])}]
        )
        | r.choice([{}, {}, {"sub": r.choice(ACTORS)}, {"peers": some(r, ACTORS)}])
        | r.choice([{}, {}, {"via": some(r, [*ACTORS, "hermes"])}])
        | r.choice([{}, {"sessions": some(r, ["s1", "s2"])}])
    ),
    "caps.revoke": lambda r: r.choice(
        [
            {"jti": NOWHERE},
            {"sub": r.choice(["dave"] * 8 + ACTORS)},
            {"kid": r.choice(["key-1", "key-1", "key-9"])},
            {"kid": "key-1"},
            {},
            {"jti": NOWHERE, "kid": "key-9"},
        ]
    ),
    "caps.whoami": lambda r: {},
    "audit.list": lambda r: r.choice([{}, {"first": 3, "limit": 2}]),
    "audit.checkpoint": lambda r: {},
    "audit.proof": lambda r: {"old": 0},
    "receipt.verify": lambda r: {"receipt": r.choice(["junk", "a.b.c"])},
    "reindex": lambda r: r.choice([{}, {"begin": False}, {"workspace": "default"}]),
    "signin.list": lambda r: {},
    "signin.withdraw": lambda r: {"id": NOWHERE},
    "import.begin": lambda r: {"digest": "0" * 64, "counts": {}},
    "import.page": lambda r: {"records": []},
    "import.finish": lambda r: {"digest": "f" * 64},
    "retention.list": lambda r: {},
    "retention.set": lambda r: (
        {"name": "rule", "then": "forget", "days": 9, "dry_run": True}
        | r.choice([{}, {"namespace": r.choice([*COMPARTMENTS, "secrets"])}])
    ),
    "retention.remove": lambda r: {"name": "nowhere"},
}
UNREADABLE = [b"", b"{", b"[]", b'{"colour": 1}', b'{"namespaces": 7}', b'{"text": 7}', b"\xff", b'{"k": 21}']


def compartments_of_chance(rng):
    return {"namespaces": some(rng, [*COMPARTMENTS, "secrets"])}


def request_of_chance(rng, lineage):
    """The operation, the body's bytes and what they say, or None where they say nothing."""
    operation = rng.choice(REACHABLE)
    if rng.random() < 0.06:
        return operation, rng.choice(UNREADABLE), None
    body = BODIES[operation.name](rng)
    if body == {"jti": NOWHERE} and rng.random() < 0.1:
        body = {"jti": rng.choice([*lineage, NOWHERE])}
    raw = json.dumps(body).encode()
    return operation, raw + b" " * (1501 if rng.random() < 0.02 else 0), body


PROOFS = {"good": 70, "none": 5, "junk": 5, "replayed": 5, "another's": 5, "of another": 5, "off": 5}


def proof_of_chance(rng, world, cap, token, bound, used):
    """A proof of this request or of another, and what the oracle may know of it."""
    kind = rng.choices(list(PROOFS), list(PROOFS.values()))[0]
    if kind == "none" or cap is None:
        return None, None
    if kind == "replayed" and used:
        return rng.choice(used)
    facts = {
        "by_holder": kind not in ("junk", "another's"),
        "of_this_request": kind != "of another",
        "burned": False,
        "at": world.seconds + (rng.choice([-61, -60, 60, 61]) if kind == "off" else 0),
    }
    if kind == "of another":
        token, bound = another(rng, token, bound)
    key = fresh_key(world.entropy) if kind == "another's" else cap.secret
    made = proof.make(token, bound, key=key, jti=world.ulid(), now=facts["at"])
    return ("junk" if kind == "junk" else made), facts


def another(rng, token, bound):
    return rng.choice(
        [
            (token, Bound("GET", bound.path, bound.body)),
            (token, Bound(bound.method, "/", bound.body)),
            (token, Bound(bound.method, bound.path, bound.body + b" ")),
            (token + "~", bound),
        ]
    )


def reader(operation, raw, most):
    def read():
        if len(raw) > most:
            raise BodyTooLarge("too large")
        try:
            return DECODERS[operation.name].decode(raw)
        except ValueError as error:
            raise InvalidInput(str(error)) from None

    return read


def withdrawn_by(cap, body, now):
    """The revocation that an admitted request to revoke leaves behind."""
    said = cap["blocks"][-1]
    [(kind, value)] = body.items()
    first = len(oracle.lineage(cap)) == 1
    return {"workspace": said["wid"], "kind": kind, "value": value, "at": now, "by": said, "first": first}


class Conversation:
    """One cap, at a gate of its own, asking many things."""

    def __init__(self, seed):
        self.rng = rng = Random(seed)
        self.limits = Limits(body_bytes=1500, line_bytes=300, requests_per_minute=rng.choice(PER_MINUTE))
        self.world = World(clock=FakeClock(), limits=self.limits, seed=rng.random())
        self.token, self.cap, self.facts = cap_of_chance(rng, self.world)
        self.revocations = (
            revocations_of_chance(rng, self.world, self.cap, self.facts) if self.cap is not None else []
        )
        blocks = [] if self.cap is None else self.facts["blocks"]
        self.lineage = [block["jti"] for block in blocks]
        self.used = []
        self.asked = Counter()
        self.expected_rows = []

    def state(self):
        now = self.world.clock.ms
        return {
            "now": now,
            "installation": INSTANCE,
            "revocations": self.revocations,
            "kid": self.world.keyring.signer()[0],
            "asked": self.asked[now // 60_000],
            "per_minute": self.limits.requests_per_minute,
            "line_bytes": self.limits.line_bytes,
            "body_bytes": self.limits.body_bytes,
        }

    def ask(self):
        """One request at the gate and at the oracle; the code of both."""
        rng, world = self.rng, self.world
        world.clock.advance(ms=rng.choice([0, 0, 0, 7, 250, 1000]))
        operation, raw, body = request_of_chance(rng, self.lineage)
        bound = Bound("POST", f"/{operation.name}", raw)
        made, known = None, None
        if self.facts is not None and not self.facts.get("bearer", True):
            made, known = proof_of_chance(rng, world, self.cap, self.token, bound, self.used)
        request = {"operation": operation.name, "body": body, "size": len(raw), "proof": known}
        told = oracle.decide(self.facts, request, self.state())
        found = self.gate_says(operation, Credentials(self.token, made, bound), raw)
        assert found == told, (self.facts, request, self.state())
        self.remember(operation, request, told, (made, known))
        return told

    def gate_says(self, operation, credentials, raw):
        try:
            self.world.gate.call(operation, credentials, reader(operation, raw, self.limits.body_bytes))
        except SouvenanceError as error:
            return error.code
        return "ok"

    def remember(self, operation, request, told, proved):
        now = self.world.clock.ms
        if told not in JUNK:
            self.expected_rows.append((operation.name, told))
        if told not in UNPROVED and proved[1] is not None:
            self.used.append((proved[0], {**proved[1], "of_this_request": False, "burned": True}))
        if told not in UNPROVED and reaches_limits(self.facts, request, self.state()):
            self.asked[now // 60_000] += 1
        if (operation.name, told) == ("caps.revoke", "ok"):
            self.revocations = [*self.revocations, withdrawn_by(self.facts, request["body"], now)]

    def check_audit(self):
        home = self.facts["blocks"][-1]["wid"].replace("*", "default") if self.expected_rows else "default"
        assert self.world.outcomes(home) == self.expected_rows
        with self.world.store.read() as tx:
            assert list(tx.workspaces()) == ([home] if self.expected_rows else [])


def reaches_limits(facts, request, state):
    checks = (oracle.rights, oracle.reading, oracle.scope)
    return not any(check(facts, request, state) for check in checks)


def test_the_gate_and_its_oracle_never_differ_and_every_signed_cap_leaves_one_row():
    seen, seed = Counter(), 0
    while seen.total() < PAIRS:
        conversation = Conversation(seed)
        told = [conversation.ask()]
        # A cap that is not ours is checked anew each time, which is slow, and never told anything else.
        told += [conversation.ask() for _ in range(10 if told[0] in JUNK else 120)]
        conversation.check_audit()
        seen.update(told)
        seed += 1
    assert seed > 200
    assert {code: seen[code] for code in EVERY_CODE if seen[code] < 5} == {}


def test_the_oracle_is_asked_about_every_operation_that_http_reaches():
    assert {operation.name for operation in REACHABLE} == set(BODIES)
    assert set(oracle.RIGHTS) | {"caps.whoami", "caps.attenuate"} == set(BODIES)
