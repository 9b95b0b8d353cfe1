"""Writes the known-bad caps, lines and wrapped keys, each into a folder named after its code.

Run it to make the files anew; from its fixed seeds every byte comes out the same:

    python tests/security/known_bad/make.py
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from base64 import standard_b64encode, urlsafe_b64encode
from pathlib import Path
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HERE = Path(__file__).parent
INSTANCE = "urn:souvenance:known-bad"
NOW = 1_750_000_000
KID = "key-1"
JTI = "01JXT21Q00GQ4J9GTSE5JC92G0"
ORDER = 2**252 + 27742317777372353535851937790883648493
COMPARTMENT = {"workspace": "default", "owner": "alice", "namespace": "travel"}
TEXT = "Trip to Chengdu, May 25-29"


def key_of(name):
    return Ed25519PrivateKey.from_private_bytes(Random(name).randbytes(32))


ISSUER, HOLDER, CHILD, STRANGER = (key_of(name) for name in ("issuer", "holder", "child", "stranger"))


def b64(raw):
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def public(key):
    return key.public_key().public_bytes_raw()


def jwk(key):
    return {"kty": "OKP", "crv": "Ed25519", "x": b64(public(key))}


def claims(**changed):
    said = {
        "iss": INSTANCE,
        "aud": INSTANCE,
        "sub": "alice",
        "jti": JTI,
        "iat": NOW,
        "nbf": NOW,
        "exp": NOW + 3600,
        "wid": "default",
        "cnf": {"jwk": jwk(HOLDER)},
        "data_class": "memory",
        "ops": ["get"],
        "namespaces_allowed": ["travel"],
        **changed,
    }
    return {name: value for name, value in said.items() if value != "left out"}


def signed(header, payload, key=ISSUER):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    text = f"{b64(head)}.{b64(body)}"
    return f"{text}.{b64(key.sign(text.encode()))}"


def header(**changed):
    said = {"alg": "EdDSA", "typ": "cap+jwt", "kid": KID, **changed}
    return {name: value for name, value in said.items() if value != "left out"}


def block(key=ISSUER, **changed):
    return signed(header(), claims(**changed), key)


def secret(key=HOLDER):
    return b64(key.private_bytes_raw())


def bearer(first, key=HOLDER):
    return f"{first}~{secret(key)}"


def child(**changed):
    said = {"jti": "01JXT21Q01GQ4J9GTSE5JC92G1", "cnf": {"jwk": jwk(CHILD)}, **changed}
    return block(HOLDER, **said)


def unsigned(alg, sign):
    text = f"{b64(json.dumps(header(alg=alg)).encode())}.{b64(json.dumps(claims()).encode())}"
    return f"{text}.{sign(text.encode())}"


def with_signature(change):
    head, payload, signature = block().split(".")
    return f"{head}.{payload}.{change(signature)}"


def raw_signature():
    text = block().rsplit(".", 1)[0]
    return ISSUER.sign(text.encode())


def second_spelling(text):
    """Other characters for the same bytes: the last one has bits that mean nothing."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + letters[letters.index(text[-1]) ^ 1]


def respelled_header():
    """Signed as it stands; a lenient reader would find the usual header in it."""
    raw = json.dumps(header()).encode()
    raw += b" " * ((1 - len(raw)) % 3)
    text = f"{second_spelling(b64(raw))}.{b64(json.dumps(claims()).encode())}"
    return bearer(f"{text}.{b64(ISSUER.sign(text.encode()))}")


def malleable(signature):
    """The same signature with a multiple of the group's order added."""
    number = int.from_bytes(signature[32:], "little") + ORDER
    return b64(signature[:32] + number.to_bytes(32, "little"))


def malformed_tokens():
    good = bearer(block())
    head, payload, signature = block().split(".")
    yield "alg_none", unsigned("none", lambda text: "")
    yield "alg_none_signed", unsigned("none", lambda text: b64(ISSUER.sign(text)))
    yield "alg_hs256_with_the_public_key", unsigned("HS256", hs256)
    yield "alg_in_lower_case", signed(header(alg="eddsa"), claims())
    yield "alg_es256", signed(header(alg="ES256"), claims())
    yield "alg_left_out", signed(header(alg="left out"), claims())
    yield "alg_a_list", signed(header(alg=["EdDSA"]), claims())
    yield "typ_jwt", signed(header(typ="JWT"), claims())
    yield "typ_of_a_proof", signed(header(typ="dpop+jwt"), claims())
    yield "typ_left_out", signed(header(typ="left out"), claims())
    yield "kid_a_number", signed(header(kid=1), claims())
    yield "jwk_of_its_own", signed(header(jwk=jwk(STRANGER)), claims(), STRANGER)
    yield "header_with_more", signed(header(x5u="urn:souvenance:keys"), claims())
    yield "crit_unknown", signed(header(crit=["soon"], soon=1), claims())
    yield "payload_detached", signed(header(b64=False, crit=["b64"]), claims())
    yield "header_not_json", signed(b"alg=EdDSA", claims())
    yield "header_a_list", signed(b"[]", claims())
    yield "header_empty", signed(b"", claims())
    yield "payload_not_json", signed(header(), b"sub=alice")
    yield "payload_a_list", signed(header(), b"[]")
    yield "payload_empty", signed(header(), b"")
    yield "payload_twice", signed(header(), json.dumps(claims()).encode() * 2)
    yield "payload_with_a_bom", signed(header(), b"\xef\xbb\xbf" + json.dumps(claims()).encode())
    yield "payload_not_utf8", signed(header(), json.dumps(claims()).encode().replace(b"alice", b"al\xffce"))
    yield "payload_nested_too_deep", signed(header(), b"[" * 5000)
    yield "two_parts", f"{head}.{payload}"
    yield "four_parts", f"{block()}.{payload}"
    yield "five_parts", f"{head}.{payload}.{payload}.{payload}.{signature}"
    yield "only_dots", ".."
    yield "one_dot", "."
    yield "only_a_tilde", "~"
    yield "tilde_first", f"~{good}"
    yield "tilde_last", f"{good}~"
    yield "tilde_doubled", good.replace("~", "~~")
    yield "tilde_after_a_bound_cap", f"{block()}~"
    yield "secret_twice", f"{good}~{secret()}"
    yield "secret_too_short", f"{block()}~{b64(HOLDER.private_bytes_raw()[:31])}"
    yield "secret_too_long", f"{block()}~{b64(HOLDER.private_bytes_raw() + b'x')}"
    yield "secret_spelled_otherwise", f"{block()}~{second_spelling(secret())}"
    yield "secret_padded", f"{good}="
    yield "only_a_secret", secret()
    yield "header_spelled_otherwise", respelled_header()
    yield "header_padded", f"{head}==.{payload}.{signature}"
    yield "signature_spelled_otherwise", with_signature(second_spelling)
    yield "signature_padded", with_signature(lambda found: f"{found}==")
    yield "signature_in_the_other_alphabet", with_signature(other_alphabet)
    yield "space_inside", f"{head}. {payload}.{signature}"
    yield "line_break_inside", f"{head}.{payload}.{signature[:40]}\n{signature[40:]}"
    yield "of_nine_blocks", "~".join([block()] * 9)
    yield "huge", f"{head}.{b64(b'x' * 20_000)}.{signature}"
    yield "huge_and_signed", bearer(block(peers=["p" * 250] * 80))
    yield "letters_beyond_ascii", f"{head}.{payload}.é"


def hs256(text):
    """What a verifier would accept that takes the public key for a shared secret."""
    return b64(hmac.new(public(ISSUER), text, hashlib.sha256).digest())


def other_alphabet(found):
    raw = raw_signature()
    spelled = standard_b64encode(raw).rstrip(b"=").decode()
    return spelled if spelled != found else f"+{found[1:]}"


def unfit_claims():
    for name in ("iss", "aud", "sub", "jti", "iat", "nbf", "exp", "wid", "cnf"):
        yield f"claim_{name}_left_out", {name: "left out"}
        yield f"claim_{name}_null", {name: None}
    yield "claim_unknown", {"region": "eu"}
    yield "claim_unknown_and_empty", {"limits": {}}
    for name in ("iat", "nbf", "exp"):
        yield f"claim_{name}_a_fraction", {name: NOW + 3600.5}
        yield f"claim_{name}_a_whole_fraction", {name: float(NOW)}
        yield f"claim_{name}_text", {name: str(NOW)}
        yield f"claim_{name}_true", {name: True}
    yield "claim_jti_not_a_ulid", {"jti": "42"}
    yield "claim_jti_in_lower_case", {"jti": JTI.lower()}
    yield "claim_jti_beyond_its_range", {"jti": "8" + JTI[1:]}
    yield "claim_jti_with_a_line_break", {"jti": f"{JTI}\n"}
    yield "claim_sub_with_nul", {"sub": "ali\0ce"}
    yield "claim_sub_with_a_line_break", {"sub": "alice\n"}
    yield "claim_sub_with_a_line_separator", {"sub": "al\u2028ice"}
    yield "claim_sub_empty", {"sub": ""}
    yield "claim_sub_everyone", {"sub": "*"}
    yield "claim_sub_padded", {"sub": " alice"}
    yield "claim_sub_too_long", {"sub": "a" * 513}
    yield "claim_sub_a_lone_surrogate", {"sub": "al\ud800ice"}
    yield "claim_wid_empty", {"wid": ""}
    yield "claim_wid_with_nul", {"wid": "def\0ault"}
    yield "claim_ops_text", {"ops": "get"}
    yield "claim_ops_an_object", {"ops": {"get": True}}
    yield "claim_ops_of_numbers", {"ops": [1]}
    yield "claim_namespaces_text", {"namespaces_allowed": "*"}
    yield "claim_namespaces_null", {"namespaces_allowed": None}
    yield "claim_peers_text", {"peers": "*"}
    yield "claim_sessions_text", {"sessions": "s1"}
    yield "claim_data_class_a_list", {"data_class": ["memory", "config"]}
    yield "claim_par_text", {"par": JTI}
    yield "cnf_without_a_key", {"cnf": {}}
    yield "cnf_with_more", {"cnf": {"jwk": jwk(HOLDER), "jkt": "x"}}
    yield "cnf_of_another_kind", {"cnf": {"jwk": {**jwk(HOLDER), "kty": "EC"}}}
    yield "cnf_of_another_curve", {"cnf": {"jwk": {**jwk(HOLDER), "crv": "X25519"}}}
    yield "cnf_too_short", {"cnf": {"jwk": {**jwk(HOLDER), "x": b64(public(HOLDER)[:31])}}}
    yield "cnf_padded", {"cnf": {"jwk": {**jwk(HOLDER), "x": b64(public(HOLDER)) + "="}}}


def badly_signed_tokens():
    head, _, signature = block().split(".")
    wider = b64(json.dumps(claims(ops=["get", "put"])).encode())
    parent = block()
    yield "by_a_stranger", bearer(block(STRANGER))
    yield "by_its_own_holder", bearer(block(HOLDER))
    yield "kid_left_out", signed(header(kid="left out"), claims())
    yield "kid_empty", signed(header(kid=""), claims())
    yield "kid_unknown", signed(header(kid="key-2"), claims())
    yield "kid_a_path", signed(header(kid="../../root.key"), claims())
    yield "payload_exchanged", bearer(f"{head}.{wider}.{signature}")
    yield "signature_empty", with_signature(lambda found: "")
    yield "signature_too_short", with_signature(lambda found: b64(raw_signature()[:63]))
    yield "signature_too_long", with_signature(lambda found: b64(raw_signature() + b"\0"))
    yield "signature_all_zero", with_signature(lambda found: b64(bytes(64)))
    yield "signature_malleable", with_signature(lambda found: malleable(raw_signature()))
    yield "aud_another", bearer(block(aud="urn:souvenance:other"))
    yield "iss_another", bearer(block(iss="urn:souvenance:other"))
    yield "aud_in_upper_case", bearer(block(aud=INSTANCE.upper()))
    yield "secret_of_another", bearer(block(), STRANGER)
    yield "blocks_duplicated", bearer(f"{parent}~{parent}")
    yield "blocks_swapped", bearer(f"{child()}~{parent}", CHILD)
    yield "child_alone", bearer(child(), CHILD)
    yield "child_by_the_issuer", bearer(f"{parent}~{block(cnf={'jwk': jwk(CHILD)})}", CHILD)
    yield "child_by_a_stranger", bearer(f"{parent}~{block(STRANGER, cnf={'jwk': jwk(CHILD)})}", CHILD)
    yield "child_with_the_parent_s_secret", bearer(f"{parent}~{child()}")
    yield "parent_with_the_child_s_secret", bearer(parent, CHILD)
    for name, value in (
        ("ops", ["get", "put"]),
        ("namespaces_allowed", ["*"]),
        ("peers", ["*"]),
        ("sub", "bob"),
        ("wid", "*"),
        ("data_class", "*"),
        ("exp", NOW + 3601),
        ("nbf", NOW - 1),
        ("aud", "urn:souvenance:other"),
    ):
        yield f"child_wider_in_{name}", bearer(f"{parent}~{child(**{name: value})}", CHILD)


def untimely_tokens():
    yield "exp_now", bearer(block(exp=NOW))
    yield "exp_zero", bearer(block(exp=0))
    yield "exp_negative", bearer(block(exp=-1))
    yield "exp_far_below_zero", bearer(block(exp=-(10**30)))
    yield "nbf_to_come", bearer(block(nbf=NOW + 61))
    yield "iat_to_come", bearer(block(iat=NOW + 61))
    yield "child_of_a_dead_parent", bearer(f"{block(exp=NOW)}~{child(exp=NOW)}", CHILD)
    yield "child_of_a_parent_to_come", bearer(f"{block(iat=NOW + 61)}~{child()}", CHILD)
    yield "dead_child", bearer(f"{block()}~{child(exp=NOW)}", CHILD)


def tokens():
    yield from ((f"cap_malformed/{name}", token) for name, token in malformed_tokens())
    yield from ((f"cap_malformed/{name}", bearer(block(**said))) for name, said in unfit_claims())
    yield from ((f"cap_sig_invalid/{name}", token) for name, token in badly_signed_tokens())
    yield from ((f"cap_expired/{name}", token) for name, token in untimely_tokens())
    yield "cap_missing/empty", ""
    yield "cap_pop_invalid/bound", block()
    yield "ok/issued", bearer(block())
    yield "ok/attenuated", bearer(f"{block()}~{child()}", CHILD)


LINE = {
    **COMPARTMENT,
    "id": "01JXT21Q00B0D25CHDWM274BJ4",
    "kind": "memory",
    "session": "s1",
    "created_at": NOW * 1000,
    "occurred_at": None,
    "supersedes": None,
    "cap": JTI,
    "metadata": "{}",
    "epoch": 3,
}
COMPARTMENT_KEY, ROOT_KEY = (Random(name).randbytes(32) for name in ("room", "root"))
ROOT_ID = Random("root id").randbytes(8)
NONCE = Random("nonce").randbytes(12)


def framed(*fields):
    """The fields as a MessagePack array, in its shortest form."""
    return bytes([0x90 | len(fields)]) + b"".join(map(packed, fields))


def packed(value):
    if value is None:
        return b"\xc0"
    if isinstance(value, str):
        raw = value.encode()
        return (bytes([0xA0 | len(raw)]) if len(raw) < 32 else bytes([0xD9, len(raw)])) + raw
    if value < 128:
        return bytes([value])
    return b"\xcf" + value.to_bytes(8, "big")


def place(line):
    where = [line[name] for name in ("workspace", "owner", "namespace", "epoch")]
    fields = ("session", "id", "kind", "created_at", "occurred_at", "supersedes")
    told = [part for name in fields if line[name] is not None for part in (name, line[name])]
    return framed("souvenance.seal.v1", "memory", *where, *told)


def envelope(line=LINE, text=TEXT):
    sealed = AESGCM(COMPARTMENT_KEY).encrypt(NONCE, text.encode(), place(line))
    return b"\x01" + line["epoch"].to_bytes(4, "big") + NONCE + sealed


def flipped(raw, at):
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def envelopes():
    good = envelope()
    for name, at in (("format", 0), ("epoch", 4), ("nonce", 5), ("ciphertext", 17), ("tag", -1)):
        yield f"bit_of_{name}_flipped", flipped(good, at % len(good))
    yield "empty", b""
    yield "only_a_header", good[:17]
    yield "without_its_tag", good[:-16]
    yield "one_byte_shorter", good[:-1]
    yield "one_byte_longer", good + b"\0"
    yield "all_zero", bytes(len(good))
    yield "plaintext", TEXT.encode()
    yield "plaintext_behind_a_header", good[:17] + TEXT.encode()
    yield "of_an_older_format", b"\x00" + good[1:]
    yield "not_text", good[:17] + AESGCM(COMPARTMENT_KEY).encrypt(NONCE, b"\xff\xfe", place(LINE))
    yield "without_a_place", good[:17] + AESGCM(COMPARTMENT_KEY).encrypt(NONCE, TEXT.encode(), None)
    yield "under_another_key", good[:17] + AESGCM(ROOT_KEY).encrypt(NONCE, TEXT.encode(), place(LINE))


def lines():
    yield "ok/sealed", {**LINE, "sealed": envelope().hex()}
    for name, sealed in envelopes():
        yield f"tampered/envelope_{name}", {**LINE, "sealed": sealed.hex()}
    elsewhere = {
        "workspace": "team",
        "owner": "bob",
        "namespace": "personal",
        "id": "01JXT21Q00B0D25CHDWM274BJ5",
        "kind": "profile",
        "session": None,
        "created_at": NOW * 1000 + 1,
        "occurred_at": 0,
        "supersedes": "01JXT21Q00B0D25CHDWM274BJ5",
        "epoch": 4,
    }
    for name, value in elsewhere.items():
        yield f"tampered/moved_to_another_{name}", {**LINE, name: value, "sealed": envelope().hex()}


def wrapped(context=None, root=ROOT_KEY, root_id=ROOT_ID):
    said = (
        framed("souvenance.key.v1", "memory", *COMPARTMENT.values(), "seal", 3)
        if context is None
        else context
    )
    return b"\x01" + root_id + NONCE + AESGCM(root).encrypt(NONCE, COMPARTMENT_KEY, said)


def keys():
    good = wrapped()
    yield "ok/wrapped", good
    yield "tampered/empty", b""
    yield "tampered/only_a_header", good[:21]
    yield "tampered/of_another_format", b"\x02" + good[1:]
    yield "wrong_key/one_byte_shorter", good[:-1]
    yield "wrong_key/one_byte_longer", good + b"\0"
    yield "wrong_key/bit_flipped", flipped(good, 30)
    yield "wrong_key/under_another_root", wrapped(root=COMPARTMENT_KEY)
    yield "wrong_key/unknown_root", wrapped(root_id=bytes(8))
    for name, fields in (
        ("workspace", ("team", "alice", "travel", "seal", 3)),
        ("owner", ("default", "bob", "travel", "seal", 3)),
        ("namespace", ("default", "alice", "personal", "seal", 3)),
        ("purpose", ("default", "alice", "travel", "blind", 3)),
        ("epoch", ("default", "alice", "travel", "seal", 4)),
    ):
        yield f"wrong_key/of_another_{name}", wrapped(framed("souvenance.key.v1", "memory", *fields))


def write(folder):
    """Every file, under that folder."""
    for kind, made in (("caps", tokens()), ("lines", lines()), ("keys", keys())):
        for name, content in made:
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content.hex() if isinstance(content, bytes) else content
            path.write_text(text if isinstance(text, str) else json.dumps(text, indent=1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
