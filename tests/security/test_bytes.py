"""Nothing readable on disk, and nothing left of what was forgotten."""

from __future__ import annotations

import sqlite3
from base64 import b64encode, urlsafe_b64encode

import pytest

from security.folder import Folder
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.language import terms

SENTENCES = {
    "travel": "Trip to Quxabolinda with cousin Vrathnikel, May 25-29",
    "personal": "Allergic to zorblefruit since the Kwyjenstadt incident",
    "family": "Grandmother Ospelwyna hums the Brintlefugue at dawn",
    "work": "Projekt Ümlautstrøm verschiebt den Krümelquotient — 量子饅頭",
}
CORRECTION = "Trip to Yastrebograd instead, with Plimsowick"
QUESTIONS = ["When does Vrathnikel fly to Quxabolinda?", "Is there zorblefruit in Wuzzlebrot?", "ospelwyn"]
RARE = ["Quxabolinda", "Vrathnikel", "zorblefruit", "Kwyjenstadt", "Ospelwyna", "Brintlefugue"]
RARE += ["Ümlautstrøm", "Krümelquotient", "量子饅頭", "Yastrebograd", "Plimsowick", "Wuzzlebrot", "ospelwyn"]


def shapes(text):
    """The bytes by which a text could be recognised."""
    for said in {text, text.lower(), text.upper(), text.casefold()}:
        raw = said.encode()
        yield raw
        yield said.encode("utf-16-le")
        yield said.encode("utf-16-be")
        yield raw.hex().encode()
        for encode in (b64encode, urlsafe_b64encode):
            for shift in range(3):
                # Only the characters that do not depend on what stands before or after.
                encoded = encode(b"\0" * shift + raw)
                yield encoded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]


NEEDLES = sorted(
    {shape for text in (*SENTENCES.values(), CORRECTION, *QUESTIONS, *RARE) for shape in shapes(text)}
)


def readable(folder):
    content = folder.files()
    return [(name, needle) for name, data in content.items() for needle in NEEDLES if needle in data]


def exercise(guest):
    """Every operation that there is, with sentences and questions that must not be found anywhere."""
    lines = {namespace: guest.put(text, namespace) for namespace, text in SENTENCES.items()}
    for text, namespace in (("Vrathnikel called", "travel"), ("no more zorblefruit", "personal")):
        lines[text] = guest.put(text, namespace, session="s1", kind="profile")
    minted = guest.mint(ops=("get",))
    requests = [
        *((o.GET, m.Get(query=question, k=20)) for question in QUESTIONS),
        (o.LINE, m.GetLine(lines["travel"])),
        (o.LIST, m.List(history=True)),
        (o.SNAPSHOT, m.Snapshot()),
        (o.INVALIDATE, m.Invalidate(lines["travel"], CORRECTION)),
        (o.INVALIDATE, m.Invalidate(lines["work"])),
        (o.STATUS, m.Nothing()),
        (o.MINT, m.Mint(sub="owner", ops=("get",), namespaces_allowed=("travel",))),
        (o.ATTENUATE, m.Attenuate(ops=("get",))),
        (o.REVOKE, m.Revoke(jti=lines["travel"])),
        (o.WHOAMI, m.Nothing()),
        (o.CHAT, m.Nothing()),
        (o.CHECKPOINT, m.Nothing()),
        (o.PROOF, m.AuditProof(old=1)),
        (o.ROTATE, m.RotateKeys()),
        (o.ROTATE, m.RotateKeys(signing=True)),
        (o.COMPARTMENTS, m.Nothing()),
        (o.EXAMINE, m.Examine("default", "owner", "travel")),
        (o.RECONCILE, m.Reconcile("default")),
        (o.REINDEX, m.Reindex()),
        (o.FORGET, m.Forget(id=lines["Vrathnikel called"])),
        (o.SCRUB, m.Nothing()),
        (o.AUDIT, m.AuditList()),
        *((o.GET, m.Get(query=question, k=20)) for question in QUESTIONS),
    ]
    for operation, request in requests:
        guest.call(operation, request)
    receipt = guest.call(o.FORGET, m.Forget(id=lines["no more zorblefruit"])).receipt
    guest.call(o.VERIFY_RECEIPT, m.VerifyReceipt(receipt))
    unfit = m.Put(text=f"{SENTENCES['work']} \0")
    taken = m.Put(text=SENTENCES["work"], namespace="family", id=lines["family"])
    assert [guest.code(o.PUT, request) for request in (unfit, taken)] == ["invalid_input", "conflict"]
    assert guest.code(o.PUT, m.Put(text=SENTENCES["work"]), minted) == "cap_op_mismatch"
    guest.put(SENTENCES["work"], "work")
    return {operation.name for operation, _ in requests} | {o.PUT.name, o.VERIFY_RECEIPT.name}


def test_the_search_itself_finds_what_is_there(tmp_path):
    folder = Folder(tmp_path)
    for number, needle in enumerate(NEEDLES):
        (tmp_path / "some.file").write_bytes(b"\x07" * (number % 5) + needle + b"\x07")
        assert ("some.file", needle) in readable(folder)
    (tmp_path / "some.file").write_bytes(b64encode(f"xy{SENTENCES['travel']}z".encode()))
    assert readable(folder) != []


def test_no_sentence_question_or_rare_word_is_in_any_file(home):
    folder = Folder(home)
    with folder.opened() as guest:
        assert exercise(guest) == {operation.name for operation in o.EVERY}
        assert {"souvenance.db", "souvenance.db-wal", "root.key", "signing.key", "owner.cap"} <= set(
            folder.files()
        )
        assert readable(folder) == []
    assert readable(folder) == []
    with folder.opened() as guest:
        assert SENTENCES["personal"] in guest.texts("zorblefruit", k=20)
        assert readable(folder) == []


def test_the_same_word_leaves_other_tokens_in_every_compartment(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put("Quxabolinda", "travel")
        guest.put("Quxabolinda", "personal")
        guest.put("Quxabolinda", "travel", guest.mint(sub="alice"))
    tokens = folder.column("SELECT tokens FROM terms")
    assert len(set(tokens)) == 3
    assert {len(token) for token in tokens} == {8}


def test_a_token_can_not_be_formed_under_another_compartment_s_key(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put("Quxabolinda", "travel")
        guest.put("Quxabolinda", "personal")
    stored = {
        namespace: folder.column("SELECT tokens FROM terms WHERE namespace = ?", namespace)
        for namespace in ("travel", "personal")
    }
    for namespace in stored:
        formed = terms.blind(folder.compartment_keys("owner", namespace).blind, ["quxabolinda"]).tobytes()
        assert {other for other in stored if formed in stored[other]} == {namespace}


def furnish(guest):
    """Two rooms of the owner's and one of alice's; the caps that read them."""
    alice = guest.mint(sub="alice")
    for number in range(40):
        guest.put(f"Quxabolinda {number} {'harbour ' * (number % 7)}", "travel")
        guest.put(f"zorblefruit {number}", "personal")
        guest.put(f"Brintlefugue {number}", "travel", alice)
    guest.call(o.ROTATE, m.RotateKeys())
    guest.put("Vrathnikel waits", "travel")
    guest.put("Wuzzlebrot again", "personal")
    return alice


def traces(folder, where, *values):
    """Every byte string that the rows of some lines or rooms left: envelopes, tokens, wrapped keys."""
    tokens = folder.column(f"SELECT tokens FROM terms WHERE {where} AND tokens IS NOT NULL", *values)
    found = folder.column(f"SELECT sealed FROM lines WHERE {where}", *values)
    found += [token[place : place + 8] for token in tokens for place in range(0, len(token), 8)]
    if " id " not in f" {where} ":
        found += folder.column(f"SELECT wrapped FROM compartment_keys WHERE {where}", *values)
    return set(found)


def still_there(folder, gone):
    content = b"\xff".join(folder.files().values())
    return [trace for trace in gone if trace in content]


COMPARTMENT = "owner = ? AND namespace = ?"
FORGOTTEN = {
    "a line": lambda line: (m.Forget(id=line), "id = ?", (line,)),
    "a namespace": lambda line: (m.Forget(namespace="travel"), COMPARTMENT, ("owner", "travel")),
    "an owner": lambda line: (m.Forget(owner="owner"), "owner = ?", ("owner",)),
}


@pytest.mark.parametrize("what", FORGOTTEN)
def test_of_what_was_forgotten_no_envelope_token_or_key_is_left_in_any_file(home, what):
    folder = Folder(home)
    with folder.opened() as guest:
        alice = furnish(guest)
        line = guest.put("Kwyjenstadt Ospelwyna", "travel")
        request, where, values = FORGOTTEN[what](line)
        gone = traces(folder, where, *values)
        assert len(gone) >= 3
        assert len(still_there(folder, gone)) == len(gone)
        with folder.raw() as reader:
            assert reader.execute("SELECT count(*) FROM lines").fetchone()[0] == 123
            guest.texts("Quxabolinda")
            assert guest.call(o.FORGET, request).scrubbed
            assert still_there(folder, gone) == []
            assert reader.execute(f"SELECT count(*) FROM lines WHERE {where}", values).fetchone()[0] == 0
        assert len(guest.texts("Brintlefugue", alice, k=20)) == 20
        assert len(guest.texts("zorblefruit", k=20)) == (0 if what == "an owner" else 20)
        assert still_there(folder, gone) == []
    assert still_there(folder, gone) == []
    with folder.opened() as guest:
        assert len(guest.texts("Brintlefugue", alice, k=20)) == 20
        assert guest.code(o.LINE, m.GetLine(line)) == "not_found"
        assert still_there(folder, gone) == []
    code, told = folder.doctor()
    assert (code, still_there(folder, gone)) == (0, []), told


def test_a_rotation_leaves_nothing_that_the_old_root_key_wrapped(home):
    folder = Folder(home)
    with folder.opened() as guest:
        guest.put(SENTENCES["travel"], "travel")
        old_keys = set(folder.column("SELECT wrapped FROM compartment_keys"))
        old_root = folder.files()["root.key"]
        guest.call(o.ROTATE, m.RotateKeys())
        assert still_there(folder, old_keys) == []
        assert folder.files()["root.key"] != old_root
        assert guest.texts() == [SENTENCES["travel"]]


def test_while_another_connection_reads_the_bytes_wait_and_the_next_start_removes_them(home):
    folder = Folder(home)
    with folder.opened() as guest:
        furnish(guest)
        gone = traces(folder, COMPARTMENT, "owner", "travel")
        reader = sqlite3.connect(folder.database, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM lines").fetchone()
        answer = guest.call(o.FORGET, m.Forget(namespace="travel"))
        assert (answer.lines, answer.scrubbed) == (41, False)
        assert guest.texts("Quxabolinda", namespaces=("travel",)) == []
        assert still_there(folder, gone) != []
        assert guest.call(o.STATUS, m.Nothing()).scrub_pending
        reader.execute("ROLLBACK")
        reader.close()
    with folder.opened() as guest:
        assert still_there(folder, gone) == []
        assert not guest.call(o.STATUS, m.Nothing()).scrub_pending


def test_the_folder_and_its_files_are_their_owner_s_alone(home):
    folder = Folder(home)
    with folder.opened() as guest:
        exercise(guest)
        modes = {path.name: path.stat().st_mode & 0o077 for path in (home, *home.rglob("*"))}
    assert {name for name, mode in modes.items() if mode} == set()
