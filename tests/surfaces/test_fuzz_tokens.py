"""Every field of a cap and of a proof replaced by what it must not be, signed with the right key and not.

The answer is a refusal, or a grant that is no wider; never a failure, and never a hint of who exists.
"""

import json
import time
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from conversation.world import Wire
from souvenance import settings_from
from souvenance.domain import ulid
from souvenance.domain.capability import HolderKey
from souvenance.domain.encoding import b64, unb64
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from surfaces.door import serving

KNOWN, UNKNOWN = "alice", "zelda"
"""An owner who has lines, and one who does not exist; names of one length, so that caps are alike."""

OFTEN = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000"}
WRONG = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "1.5",
    "1e3",
    "1e400",
    "-1e400",
    "NaN",
    str(10**30),
    str(-(10**30)),
    "9" * 5000,
    '""',
    '" "',
    '"x"',
    '"*"',
    '"ALICE"',
    '"alice "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\u202eecila"',
    '"ａlice"',
    '"' + "a" * 3000 + '"',
    '"01JD7Y8Q2W3E4R5T6Y7V8J9K0M\\n"',
    "[]",
    "[null]",
    "[1]",
    '["*"]',
    '["x"]',
    '["travel","personal"]',
    '["get","put","grant","forget","audit"]',
    '[["travel"]]',
    "[" * 40 + "]" * 40,
    "[" * 2000 + "]" * 2000,
    "{}",
    '{"*":true}',
    '{"jwk":{}}',
    '{"jwk":{"x":"AAAA"}}',
    '{"jwk":null}',
    '{"a":' * 2000 + "1" + "}" * 2000,
]
NOT_SIGNED_AGAIN = [None, *WRONG[::6]]
HEADER = ["alg", "typ", "kid", "crit", "b64", "jwk"]
CLAIMS = [
    *("iss", "aud", "sub", "jti", "iat", "nbf", "exp", "wid", "cnf", "data_class", "ops"),
    *("namespaces_allowed", "peers", "sessions", "par", "scope"),
]


@dataclass(frozen=True)
class Block:
    """One block of a cap: its header and claims as JSON text by name, and the key that signs it."""

    header: dict
    claims: dict
    key: Ed25519PrivateKey

    @cached_property
    def text(self):
        signed = f"{b64(rendered(self.header))}.{b64(rendered(self.claims))}"
        return f"{signed}.{b64(self.key.sign(signed.encode()))}"

    def __str__(self):
        return self.text


def rendered(fields):
    return ("{" + ",".join(f"{json.dumps(name)}:{raw}" for name, raw in fields.items() if raw) + "}").encode(
        "utf-8", "surrogatepass"
    )


def jwk(key):
    return json.dumps({"jwk": {"kty": "OKP", "crv": "Ed25519", "x": HolderKey.of(key.public_key()).x}})


def fresh_jti():
    return json.dumps(ulid.compose(int(time.time() * 1000), b"0123456789"))


class Forge:
    """Whoever holds the installation's signing key and every holder key: the strongest attacker there is."""

    def __init__(self, home, sub):
        keys = json.loads((home / "signing.key").read_text())
        self.issuer = Ed25519PrivateKey.from_private_bytes(unb64(keys["keys"][keys["current"]]))
        self.parent_holder = Ed25519PrivateKey.generate()
        self.child_holder = Ed25519PrivateKey.generate()
        now = int(time.time())
        header = {"alg": '"EdDSA"', "typ": '"cap+jwt"', "kid": json.dumps(keys["current"])}
        claims = {
            "iss": json.dumps(keys["instance"]),
            "aud": json.dumps(keys["instance"]),
            "sub": json.dumps(sub),
            "jti": fresh_jti(),
            "iat": str(now),
            "nbf": str(now - 10),
            "exp": str(now + 3600),
            "wid": '"default"',
            "cnf": jwk(self.parent_holder),
            "data_class": '"memory"',
            "ops": '["get","put"]',
            "namespaces_allowed": '["travel","work"]',
        }
        self.first = Block(header, claims, self.issuer)
        narrower = {"ops": '["get"]', "namespaces_allowed": '["travel"]', "cnf": jwk(self.child_holder)}
        self.second = Block(header, {**claims, **narrower, "jti": fresh_jti()}, self.parent_holder)
        self.secret = b64(self.child_holder.private_bytes_raw())

    def token(self, first=None, second=None, secret=None):
        return "~".join([str(first or self.first), str(second or self.second), secret or self.secret])

    def variants(self, part, field, raw):
        """The cap with one field of one block changed: signed with the right key, and of some values also not
        signed again, where the signature is wrong whatever stands there.
        """
        for place in ("first", "second"):
            block = getattr(self, place)
            changed = replace(block, **{part: {**getattr(block, part), field: raw}})
            yield place, True, self.token(**{place: changed})
            if raw not in NOT_SIGNED_AGAIN:
                continue
            signature = str(block).rsplit(".", 1)[1]
            unsigned = f"{str(changed).rsplit('.', 1)[0]}.{signature}"
            yield place, False, self.token(**{place: unsigned})


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("forged") / "home"
    with serving(home, **OFTEN) as server:
        owner = server.actor(KNOWN)
        for namespace in ("travel", "personal"):
            owner.post("/v1/memory/put", json={"namespace": namespace, "text": f"of {namespace}"})
        yield server


@pytest.fixture(scope="module")
def forges(server):
    return Forge(server.home, KNOWN), Forge(server.home, UNKNOWN)


@pytest.fixture(scope="module")
def ask(server):
    """Asks the application of that data folder in this process: over the network thousands take long."""
    installation = open_installation(
        settings_from({**OFTEN, "SOUVENANCE_EMBEDDER": "none"}, str(server.home))
    )
    with Wire(make_app(installation.gate)) as client:

        def ask(token, path="/v1/memory/get", method="POST"):
            answer = client.request(method, path, headers={"authorization": f"Bearer {token}"})
            assert answer.status_code in (200, 401, 403), answer.text
            return answer

        yield ask
    installation.close()


def refusal(answer):
    """All of a refusal that its receiver can see, but for what every answer has for itself."""
    return answer.status_code, answer.content, {**answer.headers, "date": "", "x-request-id": ""}


def assert_no_wider(ask, token):
    grant = ask(token, "/v1/caps/whoami", "GET").json()
    assert (grant["sub"], grant["wid"]) in ((KNOWN, "default"), (UNKNOWN, "default"))
    assert grant["data_class"] == "memory"
    assert set(grant["ops"]) <= {"get", "put"}
    assert set(grant["namespaces_allowed"]) <= {"travel", "work"}
    assert grant["peers"] == []
    assert grant["exp"] <= int(time.time()) + 3600


def test_the_cap_that_is_fuzzed_opens_its_one_namespace(ask, forges):
    known, unknown = (ask(forge.token()) for forge in forges)
    assert [line["text"] for line in known.json()["lines"]] == ["of travel"]
    assert unknown.json() == {"lines": []}


@pytest.mark.parametrize(
    ("part", "field"), [*(("header", field) for field in HEADER), *(("claims", field) for field in CLAIMS)]
)
def test_a_changed_field_is_refused_or_grants_no_more(ask, forges, part, field):
    for raw in [None, *WRONG]:
        known, unknown = (list(forge.variants(part, field, raw)) for forge in forges)
        for (place, signed, token), (_, _, other) in zip(known, unknown, strict=True):
            answer = ask(token)
            if answer.status_code == 200:
                untouched = raw is None and field not in getattr(forges[0].first, part)
                assert signed or untouched, (place, field, raw)
                assert_no_wider(ask, token)
            elif signed:
                assert refusal(answer) == refusal(ask(other)), (place, field, raw)


def test_a_field_said_twice_grants_no_more_than_once(ask, forges):
    forge = forges[0]
    for field, wider in (
        ("ops", '["get","put","grant"]'),
        ("namespaces_allowed", '["*"]'),
        ("sub", '"owner"'),
        ("exp", str(10**12)),
        ("peers", '["*"]'),
    ):
        for order in (
            (forge.second.claims.get(field, "[]"), wider),
            (wider, forge.second.claims.get(field, "[]")),
        ):
            claims = {**forge.second.claims, field: f'{order[0]},"{field}":{order[1]}'}
            token = forge.token(second=replace(forge.second, claims=claims))
            if ask(token).status_code == 200:
                assert_no_wider(ask, token)


def shapes(forge):
    first, second, secret = str(forge.first), str(forge.second), forge.secret
    whole, blocks = forge.token(), f"{first}~{second}"
    header, payload, signature = first.split(".")
    yield from ("~", "~~", ".", "..", "...", "a", "a.b", "a.b.c", "a.b.c~d", "null", "{}", "%00", "=" * 40)
    yield from (first, second, secret, blocks, f"{first}~{secret}", f"{second}~{secret}")
    yield from (f"{second}~{first}~{secret}", f"{first}~{first}~{secret}", f"{first}~~{second}~{secret}")
    yield from (f"~{whole}", f"{whole}~", f"{whole}~{secret}", f"{whole}~{whole}", f"{blocks}~")
    yield from (
        f"{first}.{second}~{secret}",
        f"{whole}=",
        whole[:-1],
        f"{whole}A",
        whole.lower(),
        whole[::-1],
    )
    yield f"{blocks}~{b64(forge.parent_holder.private_bytes_raw())}"
    for block in (
        f"{header}.{payload}.",
        f".{payload}.{signature}",
        f"{header}=.{payload}.{signature}",
        f"{header}.{payload}=.{signature}",
        f"{header}.{payload}.{signature}=",
    ):
        yield f"{block}~{second}~{secret}"
    yield "~".join([first, *[second] * 20, secret])
    yield "~".join(["a.b.c"] * 4000)
    yield whole + "A" * 20_000
    for cut in range(1, len(whole), 37):
        yield whole[:cut]
        yield whole[:cut] + ("A" if whole[cut] != "A" else "B") + whole[cut + 1 :]


def test_no_other_shape_of_the_token_opens_anything(ask, forges):
    for known, unknown in zip(*(shapes(forge) for forge in forges), strict=False):
        answer = ask(known)
        assert answer.status_code == 401, known
        assert refusal(answer)[0] == refusal(ask(unknown))[0]


def test_bytes_that_are_no_ascii_are_refused(server, forges):
    client = server.client()
    for raw in (b"\xff\xfe", "é".encode(), "日本語".encode(), b"\x80" * 200):
        answer = client.get("/v1/status", headers=[(b"authorization", b"Bearer " + raw)])
        assert answer.status_code == 401
        answer = client.get(
            "/v1/status", headers=[(b"authorization", f"Bearer {forges[0].token()}".encode()), (b"dpop", raw)]
        )
        assert answer.status_code == 403


def test_two_caps_in_one_request_are_not_the_sum_of_both(server, forges):
    two = [(b"authorization", f"Bearer {token}".encode()) for token in (forges[1].token(), server.owner_cap)]
    answer = server.client().post("/v1/memory/get", headers=two, json={"namespaces": ["personal"]})
    assert answer.status_code in (401, 403)


def hashed(data):
    return b64(sha256(data).digest())


PROOF = ["jti", "htm", "htu", "bh", "ath", "iat", "extra"]


@pytest.mark.parametrize("field", ["typ", "alg", "crit", *PROOF])
def test_a_changed_field_of_a_proof_is_refused_or_proves_the_same(server, forges, field):
    forge = forges[0]
    token = "~".join(forge.token().split("~")[:2])
    client = server.client(token)
    header = {"typ": '"dpop+jwt"', "alg": '"EdDSA"'}
    for number, raw in enumerate([None, *WRONG]):
        claims = {
            "jti": json.dumps(f"{field}-{number}"),
            "htm": '"GET"',
            "htu": '"/v1/caps/whoami"',
            "bh": json.dumps(hashed(b"")),
            "ath": json.dumps(hashed(token.encode())),
            "iat": str(int(time.time())),
        }
        changed = Block(header, claims, forge.child_holder)
        part = "claims" if field in PROOF else "header"
        changed = replace(changed, **{part: {**getattr(changed, part), field: raw}})
        answer = client.get("/v1/caps/whoami", headers={"dpop": str(changed)})
        expected = (200, 401) if field in ("jti", "extra", "crit") else (401,)
        assert answer.status_code in expected, (field, raw)
