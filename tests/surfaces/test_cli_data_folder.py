"""A data folder knows which store and bucket it belongs to, and whose it is."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from surfaces.door import souvenance

pytestmark = pytest.mark.embedded("it is about what a data folder remembers")

NOT_REACHED = "postgresql://ann:secret@127.0.0.1:1/memory?password=other&sslpassword=third"
SHOWN = "postgresql://127.0.0.1:1/memory"


@pytest.fixture
def filled(home):
    souvenance("put", "The boat is red.", home=home)
    return home


def remembered(home):
    return json.loads((home / "store.json").read_text())


def remember(home, **changed):
    (home / "store.json").write_text(json.dumps({**remembered(home), **changed}))


def test_a_folder_remembers_its_store_and_its_bucket_in_a_private_file(home, tmp_path):
    url = f"file://{tmp_path}/objects"
    souvenance("put", "hello", home=home, settings={"SOUVENANCE_OBJECTS": url})
    assert remembered(home) == {"store": None, "objects": url, "ready": True}
    assert stat.S_IMODE((home / "store.json").stat().st_mode) == 0o600


def test_without_the_variable_a_folder_of_a_database_is_refused_and_no_file_appears(filled):
    (filled / "souvenance.db").unlink()
    remember(filled, store=SHOWN)
    before = sorted(filled.iterdir())
    for asked in (("backup", str(filled.parent / "b")), ("get",), ("list",), ("put", "x"), ("init",)):
        refused = souvenance(*asked, home=filled, exit_code=11)
        assert refused.out == ""
        assert refused.err.startswith("store_mismatch: ")
        assert SHOWN in refused.err
        assert str(filled / "souvenance.db") in refused.err
        assert f"Set SOUVENANCE_STORE to {SHOWN}" in refused.err
    assert sorted(filled.iterdir()) == before
    assert not (filled.parent / "b").exists()


def test_an_old_copy_of_the_store_in_the_folder_is_not_taken_for_it(filled):
    """After a move to a database the file is still there."""
    remember(filled, store=SHOWN)
    assert souvenance("get", home=filled, exit_code=11).err.startswith("store_mismatch: ")
    refused = souvenance("migrate", str(filled), str(filled.parent / "copy"), home=filled, exit_code=3)
    assert SHOWN in refused.err


def test_init_with_rebind_takes_the_store_that_the_settings_name(filled):
    remember(filled, store=SHOWN)
    souvenance("init", "--rebind", home=filled)
    assert "The boat is red." in souvenance("get", home=filled).out
    assert remembered(filled)["store"] is None


def test_a_set_up_that_never_reached_its_database_remembers_nothing_and_no_password(home):
    souvenance("init", home=home, settings={"SOUVENANCE_STORE": NOT_REACHED}, exit_code=9)
    told = (home / "store.json").read_text()
    assert "secret" not in told + "".join(map(str, home.rglob("*")))
    assert json.loads(told) == {"store": SHOWN, "objects": None, "ready": False}
    assert souvenance("get", home=home, exit_code=11).err.startswith("not_set_up: ")
    souvenance("put", "hello", home=home)
    assert remembered(home) == {"store": None, "objects": None, "ready": True}


def test_a_bucket_that_is_left_out_or_another_one_is_refused_and_names_both(home, tmp_path):
    url, other = f"file://{tmp_path}/objects", f"file://{tmp_path}/other"
    souvenance("put", "with a bucket", home=home, settings={"SOUVENANCE_OBJECTS": url})
    refused = souvenance("put", "x", home=home, exit_code=11).err
    assert refused.startswith("store_mismatch: ")
    assert f"is {url}, and the settings name none" in refused
    assert f"Set SOUVENANCE_OBJECTS to {url}." in refused
    refused = souvenance("get", home=home, settings={"SOUVENANCE_OBJECTS": other}, exit_code=11).err
    assert url in refused
    assert other in refused
    assert not (tmp_path / "other").exists()
    souvenance("init", "--rebind", home=home)
    souvenance("get", home=home)


def test_a_bucket_is_added_to_a_folder_in_use_on_purpose_only(filled, tmp_path):
    named = {"SOUVENANCE_OBJECTS": f"file://{tmp_path}/objects"}
    before = remembered(filled)
    for asked in (("put", "x"), ("get",), ("init",), ("backup", str(tmp_path / "b"))):
        refused = souvenance(*asked, home=filled, settings=named, exit_code=11).err
        assert "is none, and the settings name file://" in refused
        assert "Leave SOUVENANCE_OBJECTS out. " in refused
        assert "'souvenance init --rebind'" in refused
    assert remembered(filled) == before
    assert not (tmp_path / "objects").exists()
    souvenance("init", "--rebind", home=filled, settings=named)
    assert "The boat is red." in souvenance("get", home=filled, settings=named).out
    assert remembered(filled)["objects"] == named["SOUVENANCE_OBJECTS"]


@pytest.mark.parametrize(
    "asked",
    [
        ("get",),
        ("list",),
        ("snapshot",),
        ("status",),
        ("doctor",),
        ("backup", "b"),
        ("export", "e"),
        ("audit", "verify"),
        ("forget", "-n", "travel"),
    ],
    ids=" ".join,
)
def test_what_looks_or_deletes_says_that_a_folder_was_never_set_up_and_makes_nothing(home, asked):
    refused = souvenance(*asked, home=home, exit_code=11)
    assert refused.err.startswith(f"not_set_up: there is no memory in {home} yet\n")
    assert "souvenance init" in refused.err
    assert not home.exists()


def test_keys_that_were_copied_without_a_store_begin_none(filled, tmp_path):
    new = tmp_path / "new"
    new.mkdir(mode=0o700)
    for name in ("root.key", "signing.key"):
        shutil.copy2(filled / name, new / name)
    for asked in (("put", "x"), ("get",)):
        refused = souvenance(*asked, home=new, exit_code=11).err
        assert refused.startswith("not_set_up: ")
        assert "SOUVENANCE_STORE" in refused
    assert sorted(path.name for path in new.iterdir()) == ["root.key", "signing.key"]
    souvenance("init", "--rebind", home=new)
    souvenance("put", "x", home=new)


def test_a_store_that_is_gone_is_not_begun_anew_unasked(filled):
    for path in filled.glob("souvenance.db*"):
        path.unlink()
    refused = souvenance("put", "x", home=filled, exit_code=11).err
    assert refused.startswith(f"misconfigured: {filled / 'souvenance.db'} is missing\n")
    assert not (filled / "souvenance.db").exists()


def test_a_store_of_another_installation_is_refused(filled, tmp_path):
    other = tmp_path / "other"
    souvenance("put", "hello", home=other)
    shutil.copy2(other / "souvenance.db", filled / "souvenance.db")
    refused = souvenance("put", "x", home=filled, exit_code=11).err
    assert "sealed with keys that are not in this data folder" in refused


def test_a_damaged_memory_of_the_store_is_named(filled):
    (filled / "store.json").write_text("{")
    assert "store.json is damaged" in souvenance("get", home=filled, exit_code=11).err


def test_a_restored_folder_belongs_to_its_own_file(filled, tmp_path):
    souvenance("backup", str(tmp_path / "b"), home=filled)
    souvenance("restore", str(tmp_path / "b"), home=tmp_path / "new")
    assert remembered(tmp_path / "new")["ready"]
    assert "boat" in souvenance("get", home=tmp_path / "new").out


def test_a_store_that_was_moved_into_the_folder_is_its_own_from_then_on(filled, tmp_path):
    souvenance("migrate", str(filled), str(tmp_path / "new"), home=filled)
    remember(tmp_path / "new", store=SHOWN, objects="s3://b")
    (tmp_path / "new" / "souvenance.db").unlink()
    souvenance("migrate", str(filled), str(tmp_path / "new"), home=filled)
    assert remembered(tmp_path / "new") == {"store": None, "objects": "s3://b", "ready": True}


def test_a_backup_of_nothing_is_an_error_unless_it_is_allowed(home, tmp_path):
    souvenance("init", home=home)
    refused = souvenance("backup", str(tmp_path / "b"), home=home, exit_code=3)
    assert "--allow-empty" in refused.err
    assert list(tmp_path.iterdir()) == [home]
    souvenance("backup", str(tmp_path / "b"), "--allow-empty", home=home)
    assert (tmp_path / "b").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(filled, mode):
    filled.chmod(mode)
    refused = souvenance("put", "x", home=filled, exit_code=11)
    assert refused.err == f"misconfigured: other users can write to {filled}\n  Run: chmod 700 {filled}\n"
    filled.chmod(0o700)
    souvenance("put", "x", home=filled)


def test_a_folder_that_others_can_replace_is_refused_but_not_below_a_sticky_one(filled):
    above = filled.parent
    above.chmod(0o777)
    assert f"chmod o-w {above}" in souvenance("get", home=filled, exit_code=11).err
    above.chmod(0o1777)
    souvenance("get", home=filled)


def test_a_folder_of_another_user_is_refused(filled):
    theirs = Path("/")
    if os.geteuid() == theirs.stat().st_uid:
        os.chown(filled, 12345, 12345)
        theirs = filled
    assert "belongs to another user" in souvenance("get", home=theirs, exit_code=11).err
