"""A backup is the store at one moment, whoever writes meanwhile; a restore is all of it or nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pyrage
import pytest

from conversation.world import speaking
from souvenance.adapters import backup
from souvenance.adapters.archive_file import Archives
from souvenance.domain.archive_records import decode
from souvenance.errors import ArchiveDamaged, InvalidInput, Misconfigured
from souvenance.files import LOCK_FILE
from surfaces.door import serving, souvenance

pytestmark = pytest.mark.embedded("it copies and restores the file")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A data folder with a few lines, one of them corrected."""
    home = tmp_path_factory.mktemp("template") / "home"
    souvenance("put", "The boat is red.", home=home)
    line = souvenance("put", "The harbour is deep.", "--json", home=home).json()["id"]
    souvenance("correct", line, "The harbour is shallow.", home=home)
    return home


@pytest.fixture
def filled(template, home):
    """The same, to be used up."""
    return shutil.copytree(template, home)


def backed_up(home, target, **how):
    return backup.back_up(str(home), home, target, **how)


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)


def texts(home):
    """What the folder holds, in words: what an export of it says."""
    with TemporaryDirectory() as folder:
        souvenance("export", f"{folder}/e", home=home)
        lines = Archives().reading(Path(folder) / "e").lines("lines")
        return [decode(line).text for line in lines]


def test_what_was_backed_up_is_there_after_a_restore(filled, tmp_path):
    before = texts(filled)
    told = souvenance("backup", str(tmp_path / "b"), home=filled)
    assert "holds the root key" in told.err
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600
    shutil.rmtree(filled)
    souvenance("restore", str(tmp_path / "b"), home=filled)
    assert texts(filled) == before
    assert souvenance("doctor", home=filled).exit_code == 0
    assert souvenance("audit", "verify", home=filled).exit_code == 0
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in filled.iterdir())
    assert stat.S_IMODE(filled.stat().st_mode) == 0o700


def test_a_backup_while_others_write_has_all_that_was_acknowledged_before_it(home, tmp_path):
    acknowledged, enough, stop = [], threading.Event(), threading.Event()
    with serving(home) as server, speaking(server, "w") as speaker:

        def write():
            while not stop.is_set():
                acknowledged.append(speaker.say("talk", f"Message {len(acknowledged)}.")[0]["id"])
                if len(acknowledged) == 20:
                    enough.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert enough.wait(30)
            before = list(acknowledged)
            souvenance("backup", str(tmp_path / "b"), home=home)
            at_the_end = len(acknowledged)
        finally:
            stop.set()
            writer.join()
        assert at_the_end >= len(before)
    elsewhere = tmp_path / "elsewhere"
    souvenance("restore", str(tmp_path / "b"), home=elsewhere)
    with sqlite3.connect(elsewhere / "souvenance.db") as database:
        found = {row[0] for row in database.execute("SELECT id FROM lines WHERE kind = 'message'")}
        turns = [row[0] for row in database.execute("SELECT turn FROM lines WHERE turn > 0 ORDER BY turn")]
    database.close()
    assert set(before) <= found
    assert turns == list(range(1, len(turns) + 1))
    told = souvenance("doctor", home=elsewhere, exit_code=None)
    assert (told.exit_code, told.out.splitlines()[:-1]) == (0, []), told.out
    assert souvenance("audit", "verify", home=elsewhere).exit_code == 0
    assert ("keep.backup" in souvenance("audit", "list", "--json", home=elsewhere).out) is True


def test_the_backup_itself_is_in_the_log(filled, tmp_path):
    souvenance("backup", str(tmp_path / "b"), home=filled)
    assert "keep.backup" in souvenance("audit", "list", "--json", home=filled).out


def test_keys_that_are_rotated_meanwhile_still_open_the_backup(filled, tmp_path):
    over = threading.Event()

    def rotate():
        for _ in range(3):
            souvenance("key", "rotate", home=filled)
        over.set()

    rotating = threading.Thread(target=rotate)
    rotating.start()
    made = []
    while not over.is_set() or not made:
        made.append(tmp_path / f"b{len(made)}")
        backed_up(filled, made[-1])
    rotating.join()
    for number in {0, len(made) // 2, len(made) - 1}:
        backup.restore(made[number], tmp_path / f"restored{number}")
        assert souvenance("doctor", home=tmp_path / f"restored{number}").exit_code == 0


def test_without_keys_nothing_of_the_folder_goes_along(filled, tmp_path):
    told = souvenance("backup", str(tmp_path / "b"), "--without-keys", "--json", home=filled)
    assert (told.json()["files"], told.err) == ([], "")
    held = b"".join(b"".join(part) for _, part in Archives().reading(tmp_path / "b").members())
    assert (filled / "root.key").read_bytes() not in held
    elsewhere = tmp_path / "elsewhere"
    said = souvenance("restore", str(tmp_path / "b"), home=elsewhere)
    assert "holds no keys" in said.out
    assert names(elsewhere) == ["souvenance.db", "store.json"]
    assert souvenance("status", home=elsewhere, exit_code=None).exit_code == 11
    for name in ("root.key", "signing.key"):
        shutil.copy2(filled / name, elsewhere / name)
    assert sorted(texts(elsewhere)) == sorted(texts(filled))


def test_a_backup_for_a_recipient_opens_with_the_identity(filled, tmp_path):
    key = pyrage.x25519.Identity.generate()
    identity = tmp_path / "key.txt"
    identity.write_text(str(key))
    identity.chmod(0o600)
    told = souvenance("backup", str(tmp_path / "b"), "--recipient", str(key.to_public()), home=filled)
    assert told.err == ""
    assert (filled / "root.key").read_bytes()[:40] not in (tmp_path / "b").read_bytes()
    refused = souvenance("restore", str(tmp_path / "b"), home=tmp_path / "elsewhere", exit_code=3)
    assert "--identity" in refused.err
    souvenance("restore", str(tmp_path / "b"), "--identity", str(identity), home=tmp_path / "elsewhere")
    assert texts(tmp_path / "elsewhere") == texts(filled)


def test_a_folder_that_holds_anything_is_not_restored_into(filled, tmp_path):
    backed_up(filled, tmp_path / "b")
    before = {path.name: path.read_bytes() for path in filled.iterdir()}
    assert souvenance("restore", str(tmp_path / "b"), home=filled, exit_code=7).out == ""
    assert {path.name: path.read_bytes() for path in filled.iterdir()} == before


def test_an_empty_folder_is_restored_into(filled, tmp_path):
    backed_up(filled, tmp_path / "b")
    (tmp_path / "elsewhere").mkdir()
    place = (tmp_path / "elsewhere").stat().st_ino
    backup.restore(tmp_path / "b", tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere").stat().st_ino == place
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o700
    kept = ["owner.cap", "root.key", "signing.key", "souvenance.db", "store.json"]
    assert names(tmp_path / "elsewhere") == kept
    assert texts(tmp_path / "elsewhere") == texts(filled)


def test_a_backup_is_not_written_over(filled, tmp_path):
    (tmp_path / "b").write_text("mine")
    souvenance("backup", str(tmp_path / "b"), home=filled, exit_code=7)
    assert (tmp_path / "b").read_text() == "mine"
    assert names(tmp_path) == ["b", "home"]


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-200], lambda whole: whole[:2000] + b"x" + whole[2001:]]
)
def test_a_damaged_backup_leaves_nothing(filled, tmp_path, damage):
    backed_up(filled, tmp_path / "b")
    (tmp_path / "b").write_bytes(damage((tmp_path / "b").read_bytes()))
    with pytest.raises(ArchiveDamaged):
        backup.restore(tmp_path / "b", tmp_path / "elsewhere")
    assert names(tmp_path) == ["b", "home"]


def forged(path, members, **about):
    with Archives().writing(path) as archive:
        for name, held in members.items():
            archive.add(name, held)
        archive.close(backup.Manifest(format=1, kind="backup", made_at="now", made_by="a test", about=about))


def test_a_backup_that_holds_something_else_leaves_nothing(filled, tmp_path):
    store = (filled / "souvenance.db").read_bytes()
    forged(tmp_path / "more", {"store.db": store, "authorized-keys": b"x"}, keys=False)
    forged(tmp_path / "less", {"root.key": b"x"}, keys=False)
    forged(tmp_path / "keyless", {"store.db": store}, keys=True)
    for name, kind in (("more", ArchiveDamaged), ("less", ArchiveDamaged), ("keyless", Misconfigured)):
        with pytest.raises(kind):
            backup.restore(tmp_path / name, tmp_path / "elsewhere")
    assert names(tmp_path) == ["home", "keyless", "less", "more"]


def test_a_backup_of_a_newer_version_is_refused(filled, tmp_path):
    with sqlite3.connect(filled / "souvenance.db") as database:
        database.execute("INSERT INTO migrations VALUES (9000, '9000_future.sql', 'x')")
    database.close()
    store = (filled / "souvenance.db").read_bytes()
    forged(tmp_path / "b", {"store.db": store}, keys=False)
    with pytest.raises(Misconfigured, match="9000_future"):
        backup.restore(tmp_path / "b", tmp_path / "elsewhere")
    assert names(tmp_path) == ["b", "home"]


def test_an_export_is_no_backup_and_a_backup_no_export(filled, tmp_path):
    souvenance("export", str(tmp_path / "e"), home=filled)
    backed_up(filled, tmp_path / "b")
    with pytest.raises(InvalidInput, match="not a backup"):
        backup.restore(tmp_path / "e", tmp_path / "elsewhere")
    assert "restore" in souvenance("import", str(tmp_path / "b"), home=filled, exit_code=3).err


def test_a_place_without_a_store_has_no_backup(tmp_path):
    with pytest.raises(InvalidInput, match="no store"):
        backed_up(tmp_path / "nowhere", tmp_path / "b")
    assert names(tmp_path) == []


def test_only_the_owner_of_the_installation_makes_a_backup(filled, tmp_path):
    cap = souvenance(
        "cap", "mint", "--sub", "ann", "--ops", "get,grant", "--namespaces", "*", home=filled
    ).out.strip()
    souvenance("backup", str(tmp_path / "b"), "--cap", cap, home=filled, exit_code=5)
    assert not os.path.lexists(tmp_path / "b")


def test_nothing_that_was_forgotten_is_in_a_backup(filled, tmp_path):
    backed_up(filled, tmp_path / "whole")
    souvenance("forget", "--owner", "owner", "--yes", home=filled)
    backed_up(filled, tmp_path / "b", allow_empty=True)
    backup.restore(tmp_path / "b", tmp_path / "elsewhere")
    with sqlite3.connect(tmp_path / "elsewhere" / "souvenance.db") as database:
        assert database.execute("SELECT COUNT(*) FROM lines").fetchone() == (0,)
        assert database.execute("SELECT COUNT(*) FROM compartment_keys").fetchone() == (0,)
    database.close()
