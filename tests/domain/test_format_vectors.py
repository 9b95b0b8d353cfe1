"""The stored formats, held to vectors in files by code that shares only the ciphers with the package."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from hashlib import blake2b, sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from make_vectors import FOLDER, vectors

from souvenance.adapters import key_files
from souvenance.domain import seal
from souvenance.domain.audit import Checkpoint, Event, Row, verify
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.language import terms

FILES = ("audit.json", "blinded-tokens.json", "cap.json", "seal.json", "wrapped-key.json")


def loaded(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def packed(value):
    """MessagePack in its shortest form, as far as the formats use it."""
    if value is None:
        return b"\xc0"
    if isinstance(value, int):
        return packed_int(value)
    if isinstance(value, str):
        raw = value.encode()
        return headed(len(raw), fix=(0xA0, 32), tags=(0xD9, 0xDA, 0xDB)) + raw
    if isinstance(value, bytes):
        return headed(len(value), fix=None, tags=(0xC4, 0xC5, 0xC6)) + value
    return headed(len(value), fix=(0x90, 16), tags=(None, 0xDC, 0xDD)) + b"".join(map(packed, value))


def packed_int(value):
    if 0 <= value < 128 or -32 <= value < 0:
        return bytes((value & 0xFF,))
    tags = (0xCC, 0xCD, 0xCE, 0xCF) if value >= 0 else (0xD0, 0xD1, 0xD2, 0xD3)
    for tag, size in zip(tags, (1, 2, 4, 8), strict=True):
        try:
            return bytes((tag,)) + value.to_bytes(size, "big", signed=value < 0)
        except OverflowError:
            continue
    raise OverflowError(value)


def headed(size, *, fix, tags):
    if fix is not None and size < fix[1]:
        return bytes((fix[0] | size,))
    for tag, width in zip(tags, (1, 2, 4), strict=True):
        if tag is not None and size < 1 << 8 * width:
            return bytes((tag,)) + size.to_bytes(width, "big")
    raise OverflowError(size)


def unhexed(vector, *names):
    return [bytes.fromhex(vector[name]) for name in names]


def test_there_is_a_file_for_every_format_and_no_other():
    assert tuple(sorted(path.name for path in FOLDER.iterdir())) == FILES == tuple(sorted(vectors()))


@pytest.mark.parametrize("name", FILES)
def test_making_the_vectors_again_changes_nothing(name):
    assert (FOLDER / name).read_bytes() == vectors()[name].encode()


@pytest.mark.parametrize("vector", loaded("seal.json"), ids=lambda vector: vector["name"])
def test_a_sealed_line_is_made_and_opened_as_its_vector_says(vector):
    key, nonce, bound, envelope = unhexed(vector, "key", "nonce", "associated_data", "envelope")
    fields = ["session", "id", "kind", "created_at", "occurred_at", "supersedes", "turn", "about"]
    place = {name: vector[name] for name in fields if vector.get(name) is not None}
    where = [vector[name] for name in ("workspace", "owner", "namespace", "epoch")]
    told = [part for pair in place.items() for part in pair]
    assert bound == packed(["souvenance.seal.v1", "memory", *where, *told])
    body = AESGCM(key).encrypt(nonce, vector["text"].encode(), bound)
    assert envelope == b"\x01" + vector["epoch"].to_bytes(4, "big") + nonce + body
    line = SealedLine(
        compartment=Compartment(vector["workspace"], vector["owner"], vector["namespace"]),
        cap="",
        metadata="{}",
        sealed=envelope,
        epoch=vector["epoch"],
        **place,
    )
    assert seal.open_sealed(line, key=AESGCM(key)) == vector["text"]


@pytest.mark.parametrize("vector", loaded("wrapped-key.json"), ids=lambda vector: vector["purpose"])
def test_a_key_is_wrapped_and_unwrapped_as_its_vector_says(vector):
    root_id, root, nonce, key, bound, wrapped = unhexed(
        vector, "root_id", "root", "nonce", "key", "associated_data", "wrapped"
    )
    place = [vector[name] for name in ("workspace", "owner", "namespace", "purpose", "epoch")]
    assert bound == packed(["souvenance.key.v1", "memory", *place])
    assert wrapped == b"\x01" + root_id + nonce + AESGCM(root).encrypt(nonce, key, bound)
    assert key_files.root_id_of(wrapped) == root_id
    assert key_files.unwrap(wrapped, root=root, context=bound) == key


def test_the_audit_log_is_linked_as_its_vector_says():
    log = loaded("audit.json")
    previous = bytes.fromhex(log["genesis"])
    assert previous == bytes(32)
    fields = ("seq", "at", "actor", "cap", "operation", "outcome", "namespaces", "lines", "detail")
    for row in log["rows"]:
        said = packed(["souvenance.audit.v1", previous, log["workspace"], *(row[name] for name in fields)])
        previous = sha256(b"\x00" + said).digest()
        assert row["leaf"] == previous.hex()


def test_the_audit_log_of_the_vector_verifies():
    log = loaded("audit.json")
    rows = [
        Row(
            log["workspace"],
            row["seq"],
            Event(**{name: row[name] for name in row if name not in ("seq", "leaf")}),
            bytes.fromhex(row["leaf"]),
        )
        for row in log["rows"]
    ]
    for size, root in enumerate(log["roots"]):
        checkpoint = Checkpoint(log["workspace"], size, bytes.fromhex(root))
        assert verify(log["workspace"], rows[:size]) == checkpoint
        assert verify(log["workspace"], rows, checkpoint).size == 5


def test_the_proofs_of_the_vector_lead_to_its_root():
    log = loaded("audit.json")
    leaves = [bytes.fromhex(row["leaf"]) for row in log["rows"]]

    def node(left, right):
        return sha256(b"\x01" + left + right).digest()

    pairs = [node(leaves[0], leaves[1]), node(leaves[2], leaves[3])]
    four = node(*pairs)
    assert log["roots"][1:] == [
        one.hex() for one in (leaves[0], pairs[0], node(pairs[0], leaves[2]), four, node(four, leaves[4]))
    ]
    inclusion = [
        [leaves[1], pairs[1], leaves[4]],
        [leaves[0], pairs[1], leaves[4]],
        [leaves[3], pairs[0], leaves[4]],
        [leaves[2], pairs[0], leaves[4]],
        [four],
    ]
    consistency = [
        [leaves[1], pairs[1], leaves[4]],
        [pairs[1], leaves[4]],
        [leaves[2], leaves[3], pairs[0], leaves[4]],
        [leaves[4]],
        [],
    ]
    assert [proof["path"] for proof in log["inclusion"]] == [
        [step.hex() for step in path] for path in inclusion
    ]
    assert [proof["path"] for proof in log["consistency"]] == [
        [step.hex() for step in path] for path in consistency
    ]


@pytest.mark.parametrize("vector", loaded("blinded-tokens.json"), ids=lambda vector: vector["text"][:12])
def test_terms_are_blinded_as_their_vector_says(vector):
    key, tokens, counts = unhexed(vector, "key", "tokens", "counts")
    assert tokens == b"".join(
        blake2b(term.encode(), key=key, digest_size=8).digest() for term in vector["terms"]
    )
    found = terms.terms(vector["text"])
    assert list(found) == vector["terms"]
    assert bytes(found.values()) == counts
    assert [int.from_bytes(tokens[at : at + 8], "little") for at in range(0, len(tokens), 8)] == list(
        terms.blind(key, found)
    )


def unb64(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def granted(token, issuer):
    """What a chain grants, told from the page alone: each holder signs the next block, which only narrows."""
    *blocks, _ = token.split("~")
    signer = Ed25519PrivateKey.from_private_bytes(issuer).public_key()
    opened, before = "all", None
    for block in blocks:
        signed, signature = block.rsplit(".", 1)
        signer.verify(unb64(signature), signed.encode())
        said = json.loads(unb64(signed.split(".")[1]))
        reach, via = {said["sub"], *said.get("peers", ())}, set(said.get("via", ()))
        if (
            before is not None
            and "*" not in before[0]
            and not (reach <= before[0] and via <= before[0] | before[1])
        ):
            return "cap_sig_invalid"
        sessions = said.get("sessions")
        if opened != "all":
            opened &= set(sessions or ())
        elif sessions is not None or "*" not in reach:
            opened = set(sessions or ())
        before = (reach, via)
        signer = Ed25519PublicKey.from_public_bytes(unb64(said["cnf"]["jwk"]["x"]))
    return {
        "reaches": sorted(reach),
        "looks_through": sorted(via),
        "sessions": sessions,
        "opened": None if opened == "all" else sorted(opened),
    }


@pytest.mark.parametrize("vector", loaded("cap.json")["caps"], ids=lambda vector: vector["name"])
def test_a_chain_of_blocks_grants_what_its_vector_says(vector):
    issuer = bytes.fromhex(loaded("cap.json")["issuer"])
    assert granted(vector["cap"], issuer) == vector["grants"]


def test_a_cap_without_the_claim_says_nothing_of_it():
    first = loaded("cap.json")["caps"][0]["cap"]
    assert "via" not in json.loads(unb64(first.split(".")[1]))
