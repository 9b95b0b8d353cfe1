"""A vector at rest: sealed in its place, and near to what it was."""

from __future__ import annotations

from array import array

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.names import Compartment
from souvenance.domain.seal import open_vector, pack, seal_vector, unpack
from souvenance.errors import Tampered

KEY = AESGCM(bytes(range(32)))
NONCE = bytes(range(12))
EPOCH = 258
COMPARTMENT = Compartment("acme", "ann", "travel")
LINE = "01M7ENKXSQN27K8P92THXMV5N1"
PLACE = (COMPARTMENT, LINE, "minilm")
VECTOR = array("f", [0.5, -0.25, 0.0, 0.8]).tobytes()
SEALED = seal_vector(VECTOR, *PLACE, key=KEY, epoch=EPOCH, nonce=NONCE)
ELSEWHERE = {
    "another workspace": (COMPARTMENT._replace(workspace="other"), *PLACE[1:]),
    "another owner": (COMPARTMENT._replace(owner="bob"), *PLACE[1:]),
    "another namespace": (COMPARTMENT._replace(namespace="work"), *PLACE[1:]),
    "another line": (COMPARTMENT, "01M7ENKY1J9Y5MP7DEWED2ZQFN", "minilm"),
    "another space": (COMPARTMENT, LINE, "gte"),
}


def test_a_sealed_vector_opens_in_its_place():
    assert open_vector(SEALED, *PLACE, keys={EPOCH: KEY}) == pack(VECTOR)


def test_an_envelope_names_its_format_and_epoch_and_tells_only_how_many_components_there_are():
    assert SEALED[:17] == b"\x01\x00\x00\x01\x02" + NONCE
    assert len(SEALED) == 17 + 4 + 4 + 16
    assert pack(VECTOR)[4:] not in SEALED


@pytest.mark.parametrize("place", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_vector_in_another_place_is_tampering(place):
    with pytest.raises(Tampered, match=place[1]):
        open_vector(SEALED, *place, keys={EPOCH: KEY})


@pytest.mark.parametrize("keys", [{}, {EPOCH + 1: KEY}, {EPOCH: AESGCM(bytes(32))}], ids=len)
def test_without_its_key_a_vector_does_not_open(keys):
    with pytest.raises(Tampered, match=LINE):
        open_vector(SEALED, *PLACE, keys=keys)


@given(st.integers(0, len(SEALED) * 8 - 1))
def test_one_flipped_bit_is_tampering(bit):
    altered = bytearray(SEALED)
    altered[bit // 8] ^= 1 << bit % 8
    with pytest.raises(Tampered):
        open_vector(bytes(altered), *PLACE, keys={EPOCH: KEY})


@given(st.binary(max_size=60))
def test_what_is_no_envelope_is_tampering(junk):
    with pytest.raises(Tampered):
        open_vector(junk, *PLACE, keys={EPOCH: KEY, 0: KEY})


@given(st.lists(st.floats(-1, 1, width=32), max_size=400))
def test_a_packed_vector_is_near_to_what_it_was(values):
    found = unpack(pack(array("f", values).tobytes()))
    most = max(map(abs, values), default=0.0)
    assert len(found) == len(values)
    assert all(abs(new - old) <= most / 254 + 1e-6 for new, old in zip(found, values, strict=True))
