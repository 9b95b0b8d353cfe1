from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from contracts.keyring_contract import CONTEXT, KEY, KeyringContract
from souvenance.adapters.key_files import ROOT_FILE, SIGNING_FILE, KeyFiles
from souvenance.errors import Misconfigured
from souvenance.files import LOCK_FILE, UNFINISHED, locked

FILES = (ROOT_FILE, SIGNING_FILE)


class TestKeyFiles(KeyringContract):
    @pytest.fixture
    def open_keyring(self, tmp_path):
        return lambda: KeyFiles.create(tmp_path)


@pytest.fixture
def folder(tmp_path):
    KeyFiles.create(tmp_path)
    return tmp_path


def without(name, content):
    return {key: value for key, value in content.items() if key != name}


def short_of_a_byte(content):
    return {**content, "keys": {name: key[:-2] for name, key in content["keys"].items()}}


def with_a_damaged_old_key(content):
    return {**content, "keys": {"00" * 8: "c2hvcnQ", **content["keys"]}}


DAMAGE = {
    "no JSON": lambda content: "{",
    "another JSON": lambda content: [],
    "no keys": lambda content: without("keys", content),
    "no current": lambda content: without("current", content),
    "keys that are a list": lambda content: {**content, "keys": list(content["keys"])},
    "keys that are numbers": lambda content: {**content, "keys": dict.fromkeys(content["keys"], 7)},
    "keys that are no base64": lambda content: {**content, "keys": dict.fromkeys(content["keys"], "%%")},
    "keys short of a byte": short_of_a_byte,
    "no key at all": lambda content: {**content, "keys": {}},
    "a current key that is not there": lambda content: {**content, "current": "00" * 8},
    "a current key that is a number": lambda content: {**content, "current": 7},
    "an old key that is too short": with_a_damaged_old_key,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_and_named(folder, name, damage):
    path = folder / name
    damaged = DAMAGE[damage](json.loads(path.read_text()))
    path.write_text(damaged if isinstance(damaged, str) else json.dumps(damaged))
    with pytest.raises(Misconfigured, match=name):
        KeyFiles(folder)


@pytest.mark.parametrize("name", ["", "00", "00" * 7, "00" * 9])
def test_a_root_key_whose_id_does_not_fit_its_place_is_refused(folder, name):
    content = json.loads((folder / ROOT_FILE).read_text())
    (secret,) = content["keys"].values()
    (folder / ROOT_FILE).write_text(json.dumps({"current": name, "keys": {name: secret}}))
    with pytest.raises(Misconfigured, match=ROOT_FILE):
        KeyFiles(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\0" * 100])
def test_a_file_that_is_no_text_is_refused_and_named(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(Misconfigured, match=name):
        KeyFiles(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused_and_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(Misconfigured, match=name):
        KeyFiles(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_refused_and_named(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir(mode=0o700)
    with pytest.raises(Misconfigured, match=name):
        KeyFiles(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_link_in_place_of_a_file_is_refused_and_named(folder, name):
    (folder / name).rename(folder / "elsewhere")
    (folder / name).symlink_to(folder / "elsewhere")
    with pytest.raises(Misconfigured, match=name):
        KeyFiles(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o610])
def test_a_file_open_to_others_is_refused_and_named(folder, name, mode):
    (folder / name).chmod(mode)
    with pytest.raises(Misconfigured, match=name) as refused:
        KeyFiles(folder)
    assert "chmod 600" in refused.value.hint


def test_the_files_are_their_owners_alone_from_the_first_and_after_every_rotation(folder):
    keyring = KeyFiles(folder)
    for change in (lambda: None, keyring.add_root, keyring.retire_old_roots, keyring.rotate_signer):
        change()
        assert {(folder / name).stat().st_mode & 0o777 for name in FILES} == {0o600}
        assert sorted(path.name for path in folder.iterdir()) == sorted((LOCK_FILE, *FILES))


def test_making_a_keyring_where_one_is_keeps_it(folder):
    before = [(folder / name).read_bytes() for name in FILES]
    KeyFiles.create(folder)
    assert [(folder / name).read_bytes() for name in FILES] == before


def test_a_keyring_that_is_made_is_opened_while_another_process_holds_the_folder(folder):
    with ThreadPoolExecutor(1) as other, locked(folder):
        assert other.submit(KeyFiles.create, folder).result(timeout=30)


def test_what_a_killed_process_left_unfinished_is_cleared_away(folder):
    (folder / f".{ROOT_FILE}.0{UNFINISHED}").write_text("half a key")
    KeyFiles.create(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted((LOCK_FILE, *FILES))


def test_retired_roots_are_gone_from_the_file(folder):
    keyring = KeyFiles(folder)
    old = json.loads((folder / ROOT_FILE).read_text())["keys"]
    keyring.add_root()
    assert all(secret in (folder / ROOT_FILE).read_text() for secret in old.values())
    keyring.retire_old_roots()
    assert not any(secret in (folder / ROOT_FILE).read_text() for secret in old.values())


def test_a_file_that_went_missing_later_is_an_error_and_not_a_new_key(folder):
    keyring = KeyFiles(folder)
    (folder / ROOT_FILE).unlink()
    with pytest.raises(Misconfigured):
        keyring.wrap(KEY, CONTEXT)
    assert not (folder / ROOT_FILE).exists()
