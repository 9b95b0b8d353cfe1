"""A receipt of forgetting, held against the log later: on the spot, afar, and against a copy of the log."""

import json
import sqlite3

import pytest

from souvenance.domain.encoding import b64, unb64
from surfaces.door import souvenance


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder, the receipt of a namespace that was forgotten in it, and rows of its log."""
    folder = tmp_path_factory.mktemp("forgetful")
    home = folder / "home"
    souvenance("put", "trip to Chengdu", "-n", "travel", home=home)
    souvenance("put", "likes tea", "-n", "personal", home=home)
    answer = souvenance("forget", "-n", "travel", "--yes", "--json", home=home).json()
    souvenance("put", "likes coffee", "-n", "personal", home=home)
    (folder / "receipt").write_text(answer["receipt"])
    (folder / "rows").write_text(souvenance("audit", "list", "--json", home=home).out)
    return folder


def verify(folder, receipt="receipt", *options, exit_code=0):
    asked = ("audit", "verify", "--receipt", str(folder / receipt), *options)
    return souvenance(*asked, home=folder / "home", exit_code=exit_code)


def test_the_log_confirms_a_receipt(folder):
    told = verify(folder).out
    assert "the log confirms the receipt: namespaces travel of owner" in told
    assert "checked then: schema, lines, index, keys, files" in told
    answer = verify(folder, "receipt", "--json").json()
    assert (answer["receipt"]["lines"], answer["signature_checked"]) == (1, True)


def test_a_copy_of_the_log_confirms_it_with_nothing_else(folder, tmp_path):
    asked = ("audit", "verify", "--rows", str(folder / "rows"), "--receipt", str(folder / "receipt"))
    told = souvenance(*asked, home=tmp_path / "nowhere").out
    assert "the log confirms the receipt" in told
    assert "the signature was not checked" in told
    assert not (tmp_path / "nowhere").exists()


def test_a_receipt_that_says_more_than_the_log_is_refused(folder):
    head, body, signature = (folder / "receipt").read_text().split(".")
    for field, value in {"lines": 7, "owner": "alice", "namespaces": ["personal"], "row": 0, "at": 1}.items():
        forged = b64(json.dumps({**json.loads(unb64(body)), field: value}).encode())
        (folder / "forged").write_text(f"{head}.{forged}.{signature}")
        assert "broken_audit_chain" in verify(folder, "forged", exit_code=10).err
    forged = b64(json.dumps({**json.loads(unb64(body)), "verified": ["everything"]}).encode())
    (folder / "forged").write_text(f"{head}.{forged}.{signature}")
    assert "receipt_invalid" in verify(folder, "forged", exit_code=3).err


@pytest.mark.parametrize("text", ["", "nonsense", "a.b.c", "\0"])
def test_what_is_no_receipt_is_refused(folder, text):
    (folder / "forged").write_text(text)
    assert "receipt_invalid" in verify(folder, "forged", exit_code=3).err


def test_a_log_without_the_row_is_found_out(folder, tmp_path):
    rows = (folder / "rows").read_text().splitlines(keepends=True)
    (tmp_path / "rows").write_text("".join(rows[:2]))
    told = verify(folder, "receipt", "--rows", str(tmp_path / "rows"), exit_code=10).err
    assert "the log was truncated" in told


@pytest.mark.embedded("it edits the file")
def test_an_edited_row_is_found_out(folder):
    with sqlite3.connect(folder / "home" / "souvenance.db") as connection:
        connection.execute("UPDATE audit SET actor = 'mallory' WHERE operation = 'memory.forget'")
    assert "broken_audit_chain" in verify(folder, exit_code=10).err
