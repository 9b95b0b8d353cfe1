"""A data folder that can be read but not written: nothing is answered unaudited, and nothing changes."""

import os
import shutil

import pytest

from surfaces.door import souvenance


@pytest.fixture
def folder(reader):
    """The folder of a user who may read all of it and write none of it."""
    user, home = reader
    souvenance("put", "hello", home=home, user=user)
    for path in (*home.iterdir(), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    return user, home


def content(home):
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in home.iterdir()}


@pytest.mark.parametrize(
    "asked",
    [
        ("put", "more"),
        ("get", "hello"),
        ("list",),
        ("status",),
        ("forget", "-n", "personal", "--yes"),
        ("cap", "mint", "--sub", "a", "--ops", "get", "--namespaces", "b"),
        ("key", "rotate"),
        ("key", "rotate", "--signing"),
        ("audit", "verify"),
        ("doctor",),
        ("serve", "--port", "0"),
        ("init",),
    ],
    ids=" ".join,
)
def test_a_folder_that_can_not_be_written_is_a_clear_error_and_stays_as_it_is(folder, asked):
    user, home = folder
    before = content(home)
    refused = souvenance(*asked, home=home, user=user, exit_code=9)
    assert refused.out == ""
    assert refused.err.startswith("storage_read_only: ")
    assert "writable" in refused.err
    assert content(home) == before


def test_it_works_again_once_it_can_be_written(folder):
    user, home = folder
    souvenance("put", "more", home=home, user=user, exit_code=9)
    for path in (home, *home.iterdir()):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert "hello" in souvenance("get", "hello", home=home, user=user).out
    souvenance("doctor", home=home, user=user)


def test_a_place_where_no_folder_can_be_made_is_a_clear_error(reader):
    user, home = reader
    home.mkdir(0o700)
    if user is not None:
        os.chown(home, user, user)
    home.chmod(0o500)
    refused = souvenance("put", "hello", home=home / "deeper", user=user, exit_code=9)
    assert refused.err.startswith("storage_read_only: ")
    assert str(home / "deeper") in refused.err


def test_a_file_where_the_folder_should_be_is_a_clear_error(tmp_path):
    (tmp_path / "home").write_text("not a folder")
    refused = souvenance("put", "hello", home=tmp_path / "home", exit_code=9)
    assert refused.err.startswith("storage_read_only: ")


def test_a_folder_of_another_user_is_a_clear_error(reader):
    user, home = reader
    souvenance("put", "hello", home=home)
    if user is None:
        home.chmod(0o000)
    refused = souvenance("get", home=home, user=user, exit_code=None)
    home.chmod(0o700)
    assert refused.exit_code in (9, 11)
    assert refused.err.startswith(("storage_read_only: ", "misconfigured: "))
    assert "hello" in souvenance("get", "hello", home=home).out
    shutil.rmtree(home)
    home.mkdir()
