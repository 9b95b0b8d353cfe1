"""Blocks that are signed here are read by a JOSE library, and the other way round."""

import base64
import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import jws
from souvenance.domain.encoding import b64

KEY = Ed25519PrivateKey.generate()
TYPE = "cap+jwt"
LIBRARY = jwt.PyJWS(algorithms=["EdDSA"])


def spelt(header, payload=b"{}", key=KEY):
    """A block with a header of the test's own."""
    signed = f"{b64(header)}.{b64(payload)}"
    return f"{signed}.{b64(key.sign(signed.encode()))}"


def head(**said):
    return json.dumps({"alg": "EdDSA", "typ": TYPE, **said}).encode()


def test_a_library_reads_what_is_signed_here():
    block = jws.sign(b'{"sub":"ann"}', KEY, typ=TYPE, kid="k1")
    read = LIBRARY.decode_complete(block, KEY.public_key(), algorithms=["EdDSA"])
    assert read["payload"] == b'{"sub":"ann"}'
    assert read["header"] == {"alg": "EdDSA", "typ": TYPE, "kid": "k1"}


def test_what_a_library_signs_is_read_here():
    block = LIBRARY.encode(b'{"sub":"ann"}', KEY, algorithm="EdDSA", headers={"typ": TYPE, "kid": "k1"})
    jws.check(block, KEY.public_key())
    assert jws.payload(block) == b'{"sub":"ann"}'
    assert jws.header(block, jws.Header, typ=TYPE).kid == "k1"


@pytest.mark.parametrize(
    "header",
    [
        head(alg="none"),
        head(alg="HS256"),
        head(alg="eddsa"),
        head(typ="JWT"),
        head(crit=["exp"]),
        head(b64=False, crit=["b64"]),
        head(jku="http://127.0.0.1/keys"),
        head(jwk={"kty": "OKP"}),
        b"[]",
        b"",
        b"[" * 100_000,
    ],
)
def test_a_header_that_chooses_or_demands_is_not_read(header):
    with pytest.raises(ValueError):
        jws.header(spelt(header), jws.Header, typ=TYPE)


def test_a_changed_byte_of_any_part_does_not_hold():
    whole = spelt(head())
    for part in range(3):
        parts = whole.split(".")
        raw = bytearray(base64.urlsafe_b64decode(parts[part] + "=="))
        raw[0] ^= 1
        parts[part] = b64(bytes(raw))
        with pytest.raises(jws.Unsigned):
            jws.check(".".join(parts), KEY.public_key())


def test_another_key_does_not_hold():
    with pytest.raises(jws.Unsigned):
        jws.check(spelt(head(), key=Ed25519PrivateKey.generate()), KEY.public_key())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda block: block.rpartition(".")[0],
        lambda block: block + ".",
        lambda block: block + "=",
        lambda block: block[:-1] + "\n",
        lambda block: block.replace(".", "..", 1),
        lambda block: block.rpartition(".")[0] + "." + "é" * 86,
    ],
)
def test_a_second_spelling_is_not_read(spoil):
    with pytest.raises(ValueError):
        jws.check(spoil(spelt(head())), KEY.public_key())


def test_a_signature_of_another_length_does_not_hold():
    signed = spelt(head()).rpartition(".")[0]
    for raw in (b"", b"\0" * 63, b"\0" * 65):
        with pytest.raises(jws.Unsigned):
            jws.check(f"{signed}.{b64(raw)}", KEY.public_key())
