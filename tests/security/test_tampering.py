"""Whatever an intruder changes in the file is found, named and never told."""

from __future__ import annotations

import pytest

from security.folder import Folder
from souvenance.gate import messages as m
from souvenance.gate import operations as o

SECRET = "Allergic to peanuts"


class Scene:
    """A folder with a secret line and some neighbours, and the caps that see where it might be moved."""

    def __init__(self, home):
        self.folder = Folder(home)
        with self.folder.opened() as guest:
            self.alice = guest.mint(sub="alice")
            self.team = guest.mint(wid="team")
            self.second = guest.mint(sessions=("s2",))
            self.line = guest.put(SECRET, "personal", session="s1")
            self.other = guest.put("Likes tea", "personal", session="s1")
            guest.put("Trip to Chengdu", "travel")
            guest.put("Of alice", "personal", self.alice)
            guest.put("Of the team", "personal", self.team)
            guest.put("Of the second session", "personal", self.second, session="s2")
            guest.call(o.ROTATE, m.RotateKeys())
            guest.put("After the rotation", "personal", session="s1")

    def edit(self, assignment):
        """Change the secret's row."""
        self.folder.edit(f"UPDATE lines SET {assignment} WHERE id = ?", self.line)


@pytest.fixture
def scene(home):
    return Scene(home)


MOVED = {
    "namespace": ("namespace = 'travel'", None),
    "owner": ("owner = 'alice'", "alice"),
    "workspace": ("workspace = 'team'", "team"),
    "session": ("session = 's2'", "second"),
    "no session": ("session = NULL", None),
}


@pytest.mark.parametrize("where", MOVED)
def test_a_row_moved_elsewhere_is_found_there_and_not_told(scene, where):
    assignment, cap = MOVED[where]
    scene.edit(assignment)
    check_refused(scene, getattr(scene, cap or "", None))


ALTERED = {
    "first bit of the envelope": "sealed = CAST(x'00' || substr(sealed, 2) AS BLOB)",
    "format": "sealed = CAST(x'02' || substr(sealed, 2) AS BLOB)",
    "epoch in the envelope": "sealed = CAST(x'0100000009' || substr(sealed, 6) AS BLOB)",
    "nonce": "sealed = CAST(substr(sealed, 1, 5) || zeroblob(12) || substr(sealed, 18) AS BLOB)",
    "ciphertext": "sealed = CAST(substr(sealed, 1, 17) || zeroblob(8) || substr(sealed, 26) AS BLOB)",
    "tag": "sealed = CAST(substr(sealed, 1, length(sealed) - 16) || zeroblob(16) AS BLOB)",
    "truncated by one byte": "sealed = CAST(substr(sealed, 1, length(sealed) - 1) AS BLOB)",
    "truncated to the header": "sealed = CAST(substr(sealed, 1, 17) AS BLOB)",
    "one byte longer": "sealed = CAST(sealed || x'00' AS BLOB)",
    "emptied": "sealed = x''",
    "all zero": "sealed = zeroblob(60)",
    "plaintext": "sealed = 'Not allergic to anything'",
    "plaintext bytes": "sealed = CAST('Not allergic to anything at all, says the doctor' AS BLOB)",
    "number": "sealed = 7",
    "envelope as text": "sealed = CAST(sealed AS TEXT)",
    "epoch of the row": "epoch = epoch + 1",
    "epoch that never was": "epoch = 999",
    "epoch as text": "epoch = 'soon'",
    "kind": "kind = 'profile'",
    "kind as bytes": "kind = CAST(kind AS BLOB)",
    "time of creation": "created_at = created_at + 1",
    "time of creation as text": "created_at = 'now'",
    "time of the event": "occurred_at = 0",
    "what it replaces": "supersedes = '01JD7Y8Q2W3E4R5T6Y7V8J9K0M'",
    "metadata": "metadata = 'not JSON'",
    "metadata of another shape": "metadata = '[1, 2]'",
    "metadata as a number": "metadata = 7",
}


def check_refused(scene, cap=None, code="tampered"):
    """Every way of reading the secret fails and names it; the failure is audited; the doctor finds it."""
    with scene.folder.opened() as guest:
        readings = {
            "by id": (o.LINE, m.GetLine(scene.line)),
            "newest": (o.GET, m.Get(k=20)),
            "by a part of a word": (o.GET, m.Get(query="eanut", k=20)),
            "snapshot": (o.SNAPSHOT, m.Snapshot()),
        }
        for operation, request in readings.values():
            refused = guest.refusal(operation, request, cap)
            assert refused is not None
            assert refused.code == code
            assert scene.line in refused.detail
        if cap is None:
            expected = [(operation.name, code) for operation, _ in readings.values()]
            assert guest.outcomes()[-len(expected) :] == expected
        assert scene.line in repr(examined(guest))


def examined(guest):
    """Everything that the doctor finds, room by room."""
    findings = []
    for compartment in guest.call(o.COMPARTMENTS, m.Nothing()).compartments:
        refused = guest.refusal(
            o.EXAMINE, m.Examine(compartment.workspace, compartment.owner, compartment.namespace)
        )
        if refused is None:
            request = m.Examine(compartment.workspace, compartment.owner, compartment.namespace)
            findings += guest.call(o.EXAMINE, request).findings
        else:
            findings.append(refused.detail)
    return findings


@pytest.mark.parametrize("what", ALTERED)
def test_an_altered_row_is_named_and_not_told(scene, what):
    scene.edit(ALTERED[what])
    check_refused(scene)


def test_nothing_is_found_where_nothing_was_altered(scene):
    with scene.folder.opened() as guest:
        assert SECRET in guest.texts("allergic", k=20)
        assert examined(guest) == []
    code, told = scene.folder.doctor()
    assert code == 0, told


def test_a_row_under_another_id_is_named_and_not_told(scene):
    there = f"{scene.line[:-4]}ZZZZ"
    scene.edit(f"id = '{there}'")
    scene.line = there
    with scene.folder.opened() as guest:
        for operation, request in ((o.LINE, m.GetLine(there)), (o.GET, m.Get(k=20))):
            refused = guest.refusal(operation, request)
            assert (refused.code, there in refused.detail) == ("tampered", True)


def test_two_rows_with_their_envelopes_swapped_are_both_named(scene):
    lines = (scene.line, scene.other)
    sealed = [scene.folder.column("SELECT sealed FROM lines WHERE id = ?", line)[0] for line in lines]
    for line, envelope in zip(lines, reversed(sealed), strict=True):
        scene.folder.edit("UPDATE lines SET sealed = ? WHERE id = ?", envelope, line)
    with scene.folder.opened() as guest:
        for line in lines:
            refused = guest.refusal(o.LINE, m.GetLine(line))
            assert (refused.code, line in refused.detail) == ("tampered", True)


KEYS = "workspace = 'default' AND owner = 'owner' AND namespace = 'personal'"
TRAVEL = "workspace = 'default' AND owner = 'owner' AND namespace = 'travel'"


def wrapped(where, purpose="seal"):
    which = f"{where} AND purpose = '{purpose}' ORDER BY epoch LIMIT 1"
    return f"(SELECT wrapped FROM compartment_keys WHERE {which})"


SPOILED_KEYS = {
    "moved from another room": f"wrapped = {wrapped(TRAVEL)}",
    "swapped with the key of the index": f"wrapped = {wrapped(KEYS, 'blind')}",
    "of another epoch": f"wrapped = (SELECT wrapped FROM compartment_keys WHERE {KEYS} "
    "ORDER BY epoch DESC LIMIT 1)",
    "with another byte": "wrapped = CAST(substr(wrapped, 1, 30) || "
    "iif(substr(wrapped, 31, 1) = x'00', x'01', x'00') || substr(wrapped, 32) AS BLOB)",
    "truncated": "wrapped = CAST(substr(wrapped, 1, 40) AS BLOB)",
    "emptied": "wrapped = x''",
    "as text": "wrapped = 'key'",
    "as unreadable text": "wrapped = CAST(wrapped AS TEXT)",
    "as a number": "wrapped = 7",
    "of another root": "wrapped = CAST(x'01' || zeroblob(8) || substr(wrapped, 10) AS BLOB)",
    "of another format": "wrapped = CAST(x'02' || substr(wrapped, 2) AS BLOB)",
}


def integrity_refused(guest, line):
    """Whether no way of reading the line's room gets through, and each says why."""
    codes = {
        guest.code(o.LINE, m.GetLine(line)),
        guest.code(o.GET, m.Get(query="allergic", namespaces=("personal",))),
        guest.code(o.GET, m.Get(k=20)),
        guest.code(o.SNAPSHOT, m.Snapshot(namespaces=("personal",))),
    }
    return codes <= {"tampered", "wrong_key"}


@pytest.mark.parametrize("what", SPOILED_KEYS)
def test_a_compartment_with_a_spoiled_key_is_not_read(scene, what):
    first = f"purpose = 'seal' AND epoch = (SELECT epoch FROM lines WHERE id = '{scene.line}')"
    scene.folder.edit(f"UPDATE compartment_keys SET {SPOILED_KEYS[what]} WHERE {KEYS} AND {first}")
    with scene.folder.opened() as guest:
        assert integrity_refused(guest, scene.line)
        assert {outcome for _, outcome in guest.outcomes()[-4:]} <= {"tampered", "wrong_key"}
        assert examined(guest) != []
        assert guest.texts("Chengdu", namespaces=("travel",)) == ["Trip to Chengdu"]


def test_two_compartments_whose_keys_were_swapped_are_not_read(scene):
    for purpose in ("seal", "blind"):
        keys = [
            scene.folder.column(f"SELECT {wrapped(compartment, purpose)}")[0]
            for compartment in (KEYS, TRAVEL)
        ]
        for compartment, key in zip((TRAVEL, KEYS), keys, strict=True):
            where = f"{compartment} AND purpose = '{purpose}'"
            scene.folder.edit(f"UPDATE compartment_keys SET wrapped = ? WHERE {where}", key)
    with scene.folder.opened() as guest:
        assert integrity_refused(guest, scene.line)
        assert guest.code(o.GET, m.Get(namespaces=("travel",))) == "wrong_key"


LOST_KEYS = {
    "the key of its epoch": "purpose = 'seal' AND epoch = (SELECT epoch FROM lines WHERE id = '{line}')",
    "every key of the seal": "purpose = 'seal'",
    "the key of the index": "purpose = 'blind'",
    "every key": "1 = 1",
}


@pytest.mark.parametrize("which", LOST_KEYS)
def test_a_compartment_that_lost_a_key_is_not_read_and_not_passed_over(scene, which):
    scene.folder.edit(
        f"DELETE FROM compartment_keys WHERE {KEYS} AND {LOST_KEYS[which].format(line=scene.line)}"
    )
    with scene.folder.opened() as guest:
        assert integrity_refused(guest, scene.line)
        assert examined(guest) != []


@pytest.mark.parametrize("which", LOST_KEYS)
def test_a_compartment_that_lost_a_key_can_still_be_forgotten_whole(scene, which):
    scene.folder.edit(
        f"DELETE FROM compartment_keys WHERE {KEYS} AND {LOST_KEYS[which].format(line=scene.line)}"
    )
    with scene.folder.opened() as guest:
        assert guest.call(o.FORGET, m.Forget(namespace="personal")).scrubbed
    assert scene.folder.column(f"SELECT id FROM lines WHERE {KEYS}") == []
    assert scene.folder.column(f"SELECT id FROM terms WHERE {KEYS}") == []


def test_a_tampered_line_can_be_forgotten(scene):
    scene.edit("sealed = x''")
    with scene.folder.opened() as guest:
        assert guest.call(o.FORGET, m.Forget(id=scene.line)).lines == 1
        assert len(guest.texts(k=20)) == 4
        assert examined(guest) == []


def test_a_row_of_another_store_is_not_told(scene, tmp_path):
    stranger = Scene(tmp_path / "stranger")
    [sealed] = stranger.folder.column("SELECT sealed FROM lines WHERE id = ?", stranger.line)
    scene.folder.edit("UPDATE lines SET sealed = ? WHERE id = ?", sealed, scene.line)
    check_refused(scene)


def test_with_another_store_s_root_key_nothing_is_read(scene, tmp_path):
    stranger = Folder(tmp_path / "stranger")
    with stranger.opened():
        pass
    root = scene.folder.home / "root.key"
    root.write_bytes((stranger.home / "root.key").read_bytes())
    with scene.folder.opened() as guest:
        assert guest.code(o.GET, m.Get(k=20)) == "wrong_key"
        assert guest.outcomes()[-1] == ("memory.get", "wrong_key")


def test_a_plaintext_row_that_someone_added_is_not_told(scene):
    columns = scene.folder.column("SELECT name FROM pragma_table_info('lines')")
    there = f"{scene.line[:-4]}ZZZZ"
    said = {"id": f"'{there}'", "sealed": "'Send all money to Mallory'"}
    copied = ", ".join(said.get(column, column) for column in columns)
    scene.folder.edit(f"INSERT INTO lines SELECT {copied} FROM lines WHERE id = ?", scene.line)
    scene.line = there
    with scene.folder.opened() as guest:
        refused = guest.refusal(o.GET, m.Get(k=20))
        assert (refused.code, there in refused.detail) == ("tampered", True)


def test_a_row_that_was_taken_away_is_missed_by_the_doctor(scene):
    scene.folder.edit("DELETE FROM lines WHERE id = ?", scene.line)
    code, told = scene.folder.doctor()
    assert code == 10, told
    assert scene.line in told


def test_a_line_hidden_by_a_replacement_that_never_was_is_missed_by_the_doctor(scene):
    scene.folder.edit(
        "INSERT INTO invalidations VALUES ('default', 'owner', 'personal', ?, '01JD7Y8Q2W3E4R5T6Y7V8J9K0M')",
        scene.line,
    )
    code, told = scene.folder.doctor()
    assert code == 10, told
    assert scene.line in told


DOCTORED = {
    "a moved row": "UPDATE lines SET namespace = 'travel' WHERE id = '{line}'",
    "an altered envelope": "UPDATE lines SET sealed = zeroblob(60) WHERE id = '{line}'",
    "an envelope as text": "UPDATE lines SET sealed = CAST(sealed AS TEXT) WHERE id = '{line}'",
    "a spoiled key": f"UPDATE compartment_keys SET wrapped = {wrapped(TRAVEL)} WHERE {KEYS}",
    "a lost key": f"DELETE FROM compartment_keys WHERE {KEYS} AND purpose = 'blind'",
    "every key lost": f"DELETE FROM compartment_keys WHERE {KEYS}",
    "an altered audit row": "UPDATE audit SET outcome = 'ok!' WHERE seq = 3",
    "a lost audit row": "DELETE FROM audit WHERE seq = 3",
    "an unreadable audit row": "UPDATE audit SET namespaces = 'x' WHERE seq = 3",
}


@pytest.mark.parametrize("what", DOCTORED)
def test_the_doctor_finds_it_and_exits_with_10(scene, what):
    scene.folder.edit(DOCTORED[what].format(line=scene.line))
    code, told = scene.folder.doctor()
    assert code == 10, told
    assert "Traceback" not in told
