from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from pace import examples
from souvenance.adapters import key_files
from souvenance.domain import seal, ulid
from souvenance.domain.line import OpenLine, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import IntegrityError, Tampered

KEY = AESGCM(bytes(range(32)))
NONCE = bytes(range(12))
EPOCH = 258
LINE = OpenLine(
    compartment=Compartment("acme", "ann", "travel"),
    id=ulid.compose(1_700_000_000_000, bytes(range(10))),
    kind="memory",
    text="Trip to Chengdu, May 25–29",
    session="Tuesday",
    created_at=1_700_000_000_000,
    occurred_at=1_600_000_000_000,
    supersedes=ulid.compose(1_600_000_000_000, bytes(range(10))),
    cap="cap",
    metadata={},
)
SAID = replace(LINE, turn=7, about="bob")


def sealed(line=LINE, *, key=KEY, epoch=EPOCH, nonce=NONCE):
    place = {name: value for name, value in asdict(line).items() if name not in ("text", "metadata")}
    envelope = seal.seal(line, key=key, epoch=epoch, nonce=nonce)
    return SealedLine(**place, metadata="{}", epoch=epoch, sealed=envelope)


SEALED = sealed()
SEALED_SAID = sealed(SAID)


def expect_tampered(line, key=KEY):
    with pytest.raises(Tampered, match=line.id):
        seal.open_sealed(line, key=key)


@pytest.mark.parametrize("text", ["x", "Trip", "日本語 🗂", "", "\n", "a" * 70_000])
@pytest.mark.parametrize("epoch", [0, 1, 255, 256, (1 << 32) - 1])
def test_a_sealed_line_opens_in_its_place(text, epoch):
    line = replace(LINE, text=text)
    assert seal.open_sealed(sealed(line, epoch=epoch), key=KEY) == text


def test_an_envelope_names_its_format_and_epoch_and_shows_nothing_else():
    assert SEALED.sealed[:5] == b"\x01\x00\x00\x01\x02"
    assert SEALED.sealed[5:17] == NONCE
    assert len(SEALED.sealed) == 17 + len(LINE.text.encode()) + 16
    assert b"Chengdu" not in SEALED.sealed


def test_every_flipped_bit_of_an_envelope_is_tampering():
    for bit in range(len(SEALED.sealed) * 8):
        envelope = bytearray(SEALED.sealed)
        envelope[bit // 8] ^= 1 << bit % 8
        expect_tampered(replace(SEALED, sealed=bytes(envelope)))


def test_every_truncation_of_an_envelope_is_tampering():
    for size in range(len(SEALED.sealed)):
        expect_tampered(replace(SEALED, sealed=SEALED.sealed[:size]))
        expect_tampered(replace(SEALED, sealed=SEALED.sealed[len(SEALED.sealed) - size :]))


@pytest.mark.parametrize("more", [b"\0", b"x" * 16, b"\x01" * 100])
def test_a_lengthened_envelope_is_tampering(more):
    expect_tampered(replace(SEALED, sealed=SEALED.sealed + more))
    expect_tampered(replace(SEALED, sealed=more + SEALED.sealed))


RELOCATED = {
    "workspace": {"compartment": LINE.compartment._replace(workspace="acme2")},
    "owner": {"compartment": LINE.compartment._replace(owner="bob")},
    "owner in another case": {"compartment": LINE.compartment._replace(owner="Ann")},
    "namespace": {"compartment": LINE.compartment._replace(namespace="personal")},
    "owner and namespace exchanged": {"compartment": Compartment("acme", "travel", "ann")},
    "a letter moved from owner to namespace": {"compartment": Compartment("acme", "an", "ntravel")},
    "kind": {"kind": "card"},
    "session": {"session": "Wednesday"},
    "no session": {"session": None},
    "an empty session": {"session": ""},
    "id": {"id": ulid.compose(1_700_000_000_000, bytes(10))},
    "created_at": {"created_at": LINE.created_at + 1},
    "occurred_at": {"occurred_at": LINE.occurred_at - 1},
    "no occurred_at": {"occurred_at": None},
    "supersedes": {"supersedes": ulid.compose(1, bytes(10))},
    "no supersedes": {"supersedes": None},
    "epoch": {"epoch": EPOCH + 1},
    "kind and session exchanged": {"kind": "Tuesday", "session": "memory"},
    "id and supersedes exchanged": {"id": LINE.supersedes, "supersedes": LINE.id},
    "created_at and occurred_at exchanged": {"created_at": LINE.occurred_at, "occurred_at": LINE.created_at},
    "a time as text": {"created_at": str(LINE.created_at)},
    "a name as bytes": {"kind": b"memory"},
    "a turn": {"turn": 1},
    "turn 0": {"turn": 0},
    "a subject": {"about": "ann"},
    "an empty subject": {"about": ""},
}
RELOCATED_SAID = {
    "turn": {"turn": 8},
    "no turn": {"turn": None},
    "about": {"about": "Bob"},
    "about nobody": {"about": None},
    "neither": {"turn": None, "about": None},
    "exchanged": {"turn": "bob", "about": 7},
    "a turn as text": {"turn": "7"},
}


@pytest.mark.parametrize("moved", RELOCATED)
def test_an_envelope_in_another_place_is_tampering(moved):
    expect_tampered(replace(SEALED, **RELOCATED[moved]))


@pytest.mark.parametrize("moved", [*RELOCATED, *RELOCATED_SAID])
def test_an_envelope_of_a_turn_in_another_place_is_tampering(moved):
    changes = {**RELOCATED, **RELOCATED_SAID}[moved]
    expect_tampered(replace(SEALED_SAID, **changes))


@pytest.mark.parametrize(
    "said", [{"turn": 0}, {"turn": 1 << 40}, {"about": "Ünal 会"}, {"turn": 1, "about": "a"}]
)
def test_a_line_with_a_turn_or_a_subject_opens_in_its_place(said):
    line = replace(LINE, **said)
    assert seal.open_sealed(sealed(line), key=KEY) == LINE.text
    expect_tampered(replace(sealed(line), turn=None, about=None))


def test_a_line_is_bound_by_the_fields_that_it_has_so_that_a_later_version_may_add_some():
    bound = seal.place(LINE, EPOCH)
    assert b"occurred_at" in bound
    assert b"turn" not in bound
    assert b"about" not in bound


def test_what_may_change_about_a_line_is_not_bound():
    changed = replace(SEALED_SAID, metadata='{"a":1}', tokens=9, likeness=b"x", times=4, invalidated_by="x")
    assert seal.open_sealed(changed, key=KEY) == LINE.text


def test_an_envelope_relabelled_with_another_epoch_is_tampering():
    other = (EPOCH + 1).to_bytes(4, "big")
    expect_tampered(replace(SEALED, epoch=EPOCH + 1, sealed=b"\x01" + other + SEALED.sealed[5:]))


def test_the_envelopes_of_two_lines_can_not_be_exchanged():
    other = sealed(replace(LINE, id=ulid.compose(5, bytes(10)), text="Allergic"), nonce=bytes(12))
    expect_tampered(replace(SEALED, sealed=other.sealed))
    expect_tampered(replace(other, sealed=SEALED.sealed))


def test_absent_fields_are_bound_as_absent():
    bare = sealed(replace(LINE, session=None, occurred_at=None, supersedes=None))
    assert seal.open_sealed(bare, key=KEY) == LINE.text
    for changes in ({"session": ""}, {"session": "Tuesday"}, {"occurred_at": 0}, {"supersedes": ""}):
        expect_tampered(replace(bare, **changes))


def test_another_key_opens_nothing():
    expect_tampered(SEALED, key=AESGCM(bytes(32)))


@pytest.mark.parametrize(
    "plain",
    [b"", b"Trip to Chengdu", b"\x01", b"\x01\x00\x00\x01\x02 and then plain text, long enough to be one"],
)
def test_plain_text_in_place_of_an_envelope_is_tampering(plain):
    expect_tampered(replace(SEALED, sealed=plain))


def test_an_envelope_that_holds_no_text_is_tampering():
    body = KEY.encrypt(NONCE, b"\xff\xfe", seal.place(SEALED, EPOCH))
    expect_tampered(replace(SEALED, sealed=SEALED.sealed[:5] + NONCE + body))


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(st.binary(max_size=80))
def test_no_junk_opens(junk):
    expect_tampered(replace(SEALED, sealed=junk))


@pytest.mark.parametrize(
    ("compartment", "purpose", "epoch"),
    [
        (LINE.compartment._replace(workspace="other"), "seal", 1),
        (LINE.compartment._replace(owner="bob"), "seal", 1),
        (LINE.compartment._replace(namespace="personal"), "seal", 1),
        (Compartment("acme", "travel", "ann"), "seal", 1),
        (LINE.compartment, "blind", 1),
        (LINE.compartment, "seal", 2),
    ],
)
def test_a_wrapped_key_in_another_place_does_not_open(compartment, purpose, epoch):
    root = bytes(32)
    context = seal.key_place(LINE.compartment, "seal", 1)
    wrapped = key_files.wrap(bytes(range(32)), root_id=bytes(8), root=root, context=context, nonce=NONCE)
    assert key_files.unwrap(wrapped, root=root, context=context) == bytes(range(32))
    with pytest.raises(IntegrityError):
        key_files.unwrap(wrapped, root=root, context=seal.key_place(compartment, purpose, epoch))


def test_a_line_and_a_key_are_never_bound_alike():
    assert seal.place(LINE, 1) != seal.key_place(LINE.compartment, "seal", 1)
