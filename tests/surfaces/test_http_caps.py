import time
from uuid import uuid4

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import capability, proof
from souvenance.domain.capability import HolderKey
from souvenance.domain.proof import Bound
from surfaces.door import EVERY_OP, souvenance

LINE = {"namespace": "travel", "text": "Trip to Chengdu"}


def refused(answer):
    assert set(answer.json()) == {"error", "detail", "hint"}
    return answer.status_code, answer.json()["error"]


def test_mint_answers_201_with_the_cap_its_id_and_its_end(server, name):
    before = int(time.time())
    asked = {"sub": name, "ops": ["get"], "namespaces_allowed": ["travel"], "ttl_seconds": 90}
    answer = server.owner.post("/v1/caps", json=asked)
    assert answer.status_code == 201
    assert set(answer.json()) == {"cap", "jti", "exp"}
    assert before + 90 <= answer.json()["exp"] <= int(time.time()) + 90
    [claims], bound = capability.read_unverified(answer.json()["cap"])
    assert (claims.jti, claims.sub, claims.ops) == (answer.json()["jti"], name, ("get",))
    assert bound is False


def test_mint_takes_every_claim_and_whoami_tells_them(server, name):
    asked = {
        "sub": name,
        "ops": ["get", "put"],
        "namespaces_allowed": ["travel", "work"],
        "data_class": "memory",
        "ttl_seconds": 600,
        "wid": "acme",
        "peers": ["friend"],
        "via": ["helper"],
        "sessions": ["call-7"],
    }
    made = server.owner.post("/v1/caps", json=asked).json()
    told = server.client(made["cap"]).get("/v1/caps/whoami").json()
    assert told == {
        "sub": name,
        "wid": "acme",
        "ops": ["put", "get"],
        "data_class": "memory",
        "namespaces_allowed": ["travel", "work"],
        "peers": ["friend"],
        "via": ["helper"],
        "sessions": ["call-7"],
        "jti": made["jti"],
        "exp": made["exp"],
        "bound": False,
    }


def test_a_minted_cap_lasts_an_hour_by_default_and_never_longer_than_its_minter(server, name):
    hour = server.owner.post("/v1/caps", json={"sub": name, "ops": [], "namespaces_allowed": []}).json()
    assert 3590 <= hour["exp"] - int(time.time()) <= 3600
    minter = server.client(server.mint(name, ["grant"], ttl_seconds=60))
    child = minter.post(
        "/v1/caps", json={"sub": name, "ops": ["grant"], "namespaces_allowed": [], "ttl_seconds": 3600}
    )
    assert child.json()["exp"] - int(time.time()) <= 60


def test_a_cap_mints_nothing_wider_than_itself(server, name):
    minter = server.actor(name, ["get", "grant"], ["travel"])
    narrow = {"sub": name, "ops": ["get"], "namespaces_allowed": ["travel"]}
    assert minter.post("/v1/caps", json=narrow).status_code == 201
    for wider in (
        {"ops": ["get", "put"]},
        {"namespaces_allowed": ["travel", "personal"]},
        {"namespaces_allowed": ["*"]},
        {"sub": "someone-else"},
        {"peers": ["someone-else"]},
        {"wid": "acme"},
        {"data_class": "credentials"},
    ):
        assert refused(minter.post("/v1/caps", json={**narrow, **wider})) == (403, "cap_scope_mismatch")


def test_minting_needs_the_grant_operation(server, name):
    answer = server.actor(name, ["get"]).post(
        "/v1/caps", json={"sub": name, "ops": ["get"], "namespaces_allowed": ["travel"]}
    )
    assert refused(answer) == (403, "cap_op_mismatch")


def test_a_claim_that_no_cap_may_make_is_bad_input_and_not_a_bad_cap(server, name):
    fine = {"sub": name, "ops": ["get"], "namespaces_allowed": ["travel"]}
    for wrong in (
        {"ops": ["fly"]},
        {"ops": "get"},
        {"data_class": "secrets"},
        {"namespaces_allowed": ["NO"]},
        {"namespaces_allowed": ["no spaces"]},
        {"sub": " padded "},
        {"sub": "*"},
        {"sub": "new\nline"},
        {"wid": "\u0000"},
        {"ttl_seconds": 0},
        {"ttl_seconds": 10**12},
        {"cnf": {"jwk": {"x": "not a key"}}},
        {"cnf": {"jwk": {"x": "AAAA", "kty": "RSA"}}},
        {"sessions": [" "]},
        {"scope": "everything"},
    ):
        answer = server.owner.post("/v1/caps", json={**fine, **wrong})
        assert refused(answer) == (400, "invalid_input"), wrong


def test_an_empty_grant_grants_nothing(server, name):
    nothing = server.client(
        server.owner.post("/v1/caps", json={"sub": name, "ops": [], "namespaces_allowed": []}).json()["cap"]
    )
    assert refused(nothing.post("/v1/memory/get", json={})) == (403, "cap_op_mismatch")
    nowhere = server.client(
        server.owner.post("/v1/caps", json={"sub": name, "ops": EVERY_OP, "namespaces_allowed": []}).json()[
            "cap"
        ]
    )
    assert refused(nowhere.post("/v1/memory/put", json=LINE)) == (403, "namespace_denied")
    assert nowhere.post("/v1/memory/get", json={}).json() == {"lines": []}


def test_a_cap_of_another_data_class_is_refused(server, name):
    credentials = server.client(server.mint(name, ["get"], ["travel"], data_class="credentials"))
    answer = credentials.post("/v1/memory/get", json={"query": "trip"})
    assert refused(answer) == (403, "cap_data_class_mismatch")


def test_attenuate_answers_201_with_a_cap_that_holds_only_what_was_asked(server, actor):
    actor.post("/v1/memory/put", json=LINE)
    actor.post("/v1/memory/put", json={"namespace": "personal", "text": "allergic to peanuts"})
    answer = actor.post("/v1/caps/attenuate", json={"ops": ["get"], "namespaces_allowed": ["travel"]})
    assert answer.status_code == 201
    assert set(answer.json()) == {"cap", "jti", "exp"}
    child = server.client(answer.json()["cap"])
    assert [line["text"] for line in child.post("/v1/memory/get", json={}).json()["lines"]] == [LINE["text"]]
    assert refused(child.post("/v1/memory/get", json={"namespaces": ["personal"]})) == (
        403,
        "namespace_denied",
    )
    assert refused(child.post("/v1/memory/put", json=LINE)) == (403, "cap_op_mismatch")


def test_attenuation_refuses_to_widen(server, name):
    narrow = server.actor(name, ["get"], ["travel"])
    for wider in (
        {"ops": ["get", "put"]},
        {"namespaces_allowed": ["*"]},
        {"sub": "someone-else"},
        {"peers": ["*"]},
        {"wid": "acme"},
        {"data_class": "config"},
    ):
        assert refused(narrow.post("/v1/caps/attenuate", json=wider)) == (403, "cap_scope_mismatch")


def test_revoking_by_jti_kills_the_cap_and_what_was_made_from_it_and_nothing_else(server, name):
    parent = server.mint(name)
    child = server.client(parent).post("/v1/caps/attenuate", json={"ops": ["get"]}).json()["cap"]
    grandchild = server.client(parent).post(
        "/v1/caps", json={"sub": name, "ops": ["get"], "namespaces_allowed": ["*"]}
    )
    bystander = server.actor(name)
    jti = capability.read_unverified(parent)[0][-1].jti
    answer = server.owner.post("/v1/caps/revoke", json={"jti": jti})
    assert (answer.status_code, answer.json()) == (200, {"revoked": jti, "kind": "jti"})
    for dead in (parent, child, grandchild.json()["cap"]):
        assert refused(server.client(dead).get("/v1/caps/whoami")) == (401, "cap_revoked")
    assert bystander.get("/v1/caps/whoami").status_code == 200


def test_revoking_by_actor_kills_the_caps_so_far_and_spares_later_ones(server, name):
    before = server.actor(name)
    answer = server.owner.post("/v1/caps/revoke", json={"sub": name})
    assert answer.json() == {"revoked": name, "kind": "sub"}
    assert refused(before.get("/v1/caps/whoami")) == (401, "cap_revoked")


def test_revoking_by_key_is_for_the_installations_own_cap_and_not_for_the_current_key(server, actor):
    kid = capability.key_id(server.owner_cap)
    assert refused(actor.post("/v1/caps/revoke", json={"kid": kid})) == (403, "cap_scope_mismatch")
    assert refused(server.owner.post("/v1/caps/revoke", json={"kid": kid})) == (409, "conflict")
    gone = server.owner.post("/v1/caps/revoke", json={"kid": "a-key-of-long-ago"})
    assert gone.json() == {"revoked": "a-key-of-long-ago", "kind": "kid"}


def test_revoke_wants_exactly_one_of_jti_sub_and_kid(server):
    for asked in ({}, {"jti": "x", "sub": "y"}, {"sub": "y", "kid": "z"}):
        assert refused(server.owner.post("/v1/caps/revoke", json=asked)) == (400, "invalid_input")


def test_an_expired_cap_is_told_so(server, name):
    parent, _ = capability.read_unverified(server.owner_cap)
    past = capability.attenuate(
        server.owner_cap,
        lambda claims: msgspec.structs.replace(claims, exp=int(time.time()) - 1, jti=parent[0].jti),
        child_secret=None,
    )
    assert refused(server.client(past).get("/v1/caps/whoami")) == (401, "cap_expired")


class Holder:
    """The holder of a bound cap, who proves every request."""

    def __init__(self, server, name):
        self.key = Ed25519PrivateKey.generate()
        public = msgspec.to_builtins(HolderKey.of(self.key.public_key()))
        self.cap = server.mint(name, cnf={"jwk": public})
        self.client = server.client(self.cap)

    def proof(self, method, path, body=b"", jti=None, at=None):
        now = int(time.time()) if at is None else at
        jti = uuid4().hex if jti is None else jti
        return proof.make(self.cap, Bound(method, path, body), key=self.key, jti=jti, now=now)

    def put(self, body, shown):
        return self.client.post("/v1/memory/put", content=body, headers={"dpop": shown})


def test_a_bound_cap_needs_a_proof_of_this_very_request(server, name):
    holder, body = Holder(server, name), msgspec.json.encode(LINE)
    good = ("POST", "/v1/memory/put", body)
    assert refused(holder.client.post("/v1/memory/put", content=body)) == (401, "cap_pop_invalid")
    for wrong in (
        "",
        "junk",
        holder.proof("GET", *good[1:]),
        holder.proof("POST", "/v1/memory/get", body),
        holder.proof("POST", "/v1/memory/put?x=1", body),
        holder.proof("POST", "/v1/memory/put", body + b" "),
        holder.proof(*good, jti=""),
        holder.proof(*good, jti="x" * 1000),
        holder.proof(*good, at=int(time.time()) - 3600),
        holder.proof(*good, at=int(time.time()) + 3600),
        Holder(server, name).proof(*good),
    ):
        assert refused(holder.put(body, wrong)) == (401, "cap_pop_invalid")
    assert holder.put(body, holder.proof(*good)).status_code == 201


def test_a_proof_serves_once(server, name):
    holder, body = Holder(server, name), msgspec.json.encode(LINE)
    shown = holder.proof("POST", "/v1/memory/put", body)
    assert holder.put(body, shown).status_code == 201
    assert refused(holder.put(body, shown)) == (401, "cap_pop_invalid")


def test_one_holders_proofs_use_up_nothing_of_another_holders(server, name):
    body = msgspec.json.encode(LINE)
    for holder in (Holder(server, name), Holder(server, f"{name}-other")):
        shown = holder.proof("POST", "/v1/memory/put", body, jti="request-1")
        assert holder.put(body, shown).status_code == 201


def test_a_proof_of_a_get_covers_its_query(server, name):
    holder = Holder(server, name)
    shown = holder.proof("GET", "/v1/audit?first=0&limit=1")
    answer = holder.client.get("/v1/audit?first=0&limit=2", headers={"dpop": shown})
    assert refused(answer) == (401, "cap_pop_invalid")
    assert holder.client.get("/v1/audit?first=0&limit=1", headers={"dpop": shown}).status_code == 200


def test_the_server_does_not_attenuate_a_bound_cap_for_whoever_asks(server, name):
    holder = Holder(server, name)
    body = b'{"ops":["get"]}'
    shown = holder.proof("POST", "/v1/caps/attenuate", body)
    answer = holder.client.post("/v1/caps/attenuate", content=body, headers={"dpop": shown})
    assert refused(answer) == (400, "invalid_input")


def test_the_command_line_proves_a_bound_cap_to_a_server_with_its_holder_key(server, name, tmp_path):
    key = tmp_path / "holder.key"
    public = souvenance("cap", "holder-key", str(key), home=tmp_path).out.strip()
    bound = souvenance(
        *("cap", "mint", "--sub", name, "--ops", "put,get,list,audit", "--namespaces", "travel"),
        *("--cnf", public),
        home=server.home,
        url=server.url,
    ).out.strip()
    away = {"home": tmp_path / "elsewhere", "url": server.url}
    proved = ("--cap", bound, "--holder-key", str(key))
    souvenance(*proved, "put", "Trip to Chengdu", "-n", "travel", **away)
    assert "Chengdu" in souvenance(*proved, "get", "Chengdu", **away).out
    assert souvenance(*proved, "audit", "list", "--json", **away).out
    unproved = souvenance("--cap", bound, "get", "Chengdu", exit_code=4, **away)
    assert unproved.err.startswith("cap_pop_invalid: ")
    other = tmp_path / "other.key"
    souvenance("cap", "holder-key", str(other), home=tmp_path)
    stolen = souvenance("--cap", bound, "--holder-key", str(other), "get", exit_code=4, **away)
    assert stolen.err.startswith("cap_pop_invalid: ")
