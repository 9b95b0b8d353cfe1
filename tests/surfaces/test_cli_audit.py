import json
import re
import shutil
import sqlite3

import pytest

from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from surfaces.door import souvenance

COLUMNS = {
    "at": "at + 1",
    "actor": "'someone-else'",
    "cap": "'01JD7Y8Q2W3E4R5T6Y7V8J9K0M'",
    "operation": "'memory.get'",
    "outcome": "'denied'",
    "namespaces": "'[\"elsewhere\"]'",
    "lines": "'[]'",
    "detail": "'edited'",
    "leaf": "zeroblob(32)",
}
DAMAGES = {
    **{
        f"an edited {column}": f"UPDATE audit SET {column} = {value} WHERE seq = 3"
        for column, value in COLUMNS.items()
    },
    "a removed row": "DELETE FROM audit WHERE seq = 3",
    "a removed first row": "DELETE FROM audit WHERE seq = 0",
    "two rows in the other order": """
        UPDATE audit SET seq = -1 WHERE seq = 3;
        UPDATE audit SET seq = 3 WHERE seq = 4;
        UPDATE audit SET seq = 4 WHERE seq = -1""",
    "a truncated end": "DELETE FROM audit WHERE seq >= 6",
    "a log begun anew": "DELETE FROM audit",
    "a row that is not JSON": "UPDATE audit SET namespaces = 'not json' WHERE seq = 3",
    "a row whose lists are not lists": "UPDATE audit SET lines = '5' WHERE seq = 3",
    "a row whose leaf is text": "UPDATE audit SET leaf = 'text' WHERE seq = 3",
    "a row whose time is text": "UPDATE audit SET at = 'text' WHERE seq = 3",
    "a row whose actor is a blob": "UPDATE audit SET actor = x'ff' WHERE seq = 3",
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A data folder, and a checkpoint and rows of its log that were kept elsewhere."""
    folder = tmp_path_factory.mktemp("audited")
    home = folder / "home"
    for number in range(5):
        souvenance("put", f"line {number}", home=home)
    souvenance("get", "line", home=home)
    souvenance("forget", "-n", "travel", "--yes", home=home)
    (folder / "checkpoint").write_text(souvenance("audit", "checkpoint", home=home).out)
    (folder / "rows").write_text(souvenance("audit", "list", "--json", home=home).out)
    return folder


@pytest.fixture
def copy(saved, tmp_path):
    shutil.copytree(saved / "home", tmp_path / "home")
    return tmp_path / "home"


def edited(home, sql):
    store = sqlite3.connect(home / "souvenance.db")
    with store:
        store.executescript(sql)
    store.close()


def verify(home, *more, exit_code=0):
    return souvenance("audit", "verify", *more, home=home, exit_code=exit_code)


def test_list_prints_who_did_what_where_and_how_it_ended(command, compartment):
    command("put", "hello", "-n", compartment)
    command("get", "hello", "-n", compartment)
    rows = command("audit", "list").out.splitlines()
    assert re.fullmatch(
        rf" +\d+  \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d  owner  memory.put  \[{compartment}\]  ok", rows[-2]
    )
    assert " memory.get " in rows[-1]
    assert "hello" not in "".join(rows)


def test_list_takes_a_first_row_and_a_limit(command):
    for _ in range(3):
        command("status")
    rows = command("audit", "list", "--json", "--first", "1", "--limit", "2").rows()
    assert [row["seq"] for row in rows] == [1, 2]


def test_a_whole_log_verifies_and_its_checkpoint_holds(command, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    checkpoint.write_text(command("audit", "checkpoint").out)
    command("put", "hello")
    told = command("audit", "verify", "--checkpoint", str(checkpoint)).out
    assert re.fullmatch(r"ok: \d+ rows linked and the checkpoint holds; root [0-9a-f]{64}\n", told)
    told = command("--json", "audit", "verify").json()
    assert (told["ok"], told["workspace"]) == (True, "default")
    assert set(told) == {"ok", "workspace", "rows", "root"}


def test_a_proof_is_printed_only_if_it_holds(command):
    for _ in range(3):
        command("status")
    inclusion = command("audit", "proof", "1").json()
    assert set(inclusion) == {"workspace", "size", "root", "path", "leaf", "old_root"}
    consistency = command("audit", "proof", "--old", "2", "--size", "3").json()
    assert (consistency["size"], consistency["leaf"]) == (3, None)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.embedded("it damages the file")
def test_verify_finds_the_damage_in_the_data_folder(saved, copy, damage):
    edited(copy, DAMAGES[damage])
    broken = verify(copy, "--checkpoint", str(saved / "checkpoint"), exit_code=10)
    assert broken.out == ""
    assert re.match(r"(broken_audit_chain|tampered|integrity_error): ", broken.err)


@pytest.mark.embedded("it damages the file")
def test_a_truncation_is_found_wherever_the_log_is_cut(tmp_path):
    """Also just before the 256 rows after which the log keeps the root of a tile."""
    home = tmp_path / "home"
    installation = open_installation(settings_from({}, str(home)))
    for _ in range(260):
        installation.gate.call(o.WHOAMI, Credentials(installation.owner_cap), m.Nothing())
    installation.close()
    checkpoint = tmp_path / "checkpoint"
    checkpoint.write_text(souvenance("audit", "checkpoint", home=home).out)
    for left in (254, 255, 256, 257):
        copy = tmp_path / f"cut-at-{left}"
        shutil.copytree(home, copy)
        edited(copy, f"DELETE FROM audit WHERE seq >= {left}")
        broken = verify(copy, "--checkpoint", str(checkpoint), exit_code=10)
        assert broken.err.startswith("broken_audit_chain: ")


@pytest.mark.embedded("it damages the file")
def test_a_log_cut_short_still_links_so_only_the_checkpoint_shows_it(saved, copy):
    edited(copy, "DELETE FROM audit WHERE seq >= 6")
    verify(copy)
    verify(copy, "--checkpoint", str(saved / "checkpoint"), exit_code=10)


def test_saved_rows_verify_offline_with_nothing_else_there(saved, tmp_path):
    nowhere = tmp_path / "nothing-here"
    told = verify(nowhere, "--rows", str(saved / "rows"), "--checkpoint", str(saved / "checkpoint"))
    assert "and the checkpoint holds" in told.out
    verify(nowhere, "--rows", str(saved / "rows"))
    assert not nowhere.exists()


def rewritten(rows, change):
    rows = [json.loads(row) for row in rows.read_text().splitlines()]
    changed = change(rows)
    return "".join(json.dumps(row) + "\n" for row in (rows if changed is None else changed))


def without(rows, number, field):
    return [{k: v for k, v in row.items() if (at, k) != (number, field)} for at, row in enumerate(rows)]


ROW_DAMAGES = {
    "an edited actor": lambda rows: rows[2].update(actor="someone-else"),
    "an edited time": lambda rows: rows[2].update(at=rows[2]["at"] + 1),
    "a time beyond all numbers": lambda rows: rows[2].update(at=10**30),
    "an edited leaf": lambda rows: rows[2].update(leaf="00" * 32),
    "a leaf that is no number": lambda rows: rows[2].update(leaf="zz"),
    "a leaf that is cut": lambda rows: rows[2].update(leaf=rows[2]["leaf"][:-1]),
    "a negative place": lambda rows: rows[2].update(seq=-1),
    "a removed row": lambda rows: rows[:2] + rows[3:],
    "a repeated row": lambda rows: rows[:2] + rows[1:],
    "reordered rows": lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]],
    "a truncated end": lambda rows: rows[:-2],
    "no rows at all": lambda rows: [],
    "a missing field": lambda rows: without(rows, 2, "outcome"),
    "another shape": lambda rows: rows[2].update(namespaces="travel"),
}


@pytest.mark.parametrize("damage", ROW_DAMAGES)
def test_verify_finds_the_damage_in_saved_rows_offline(saved, tmp_path, damage):
    rows = tmp_path / "rows"
    rows.write_text(rewritten(saved / "rows", ROW_DAMAGES[damage]))
    broken = verify(
        tmp_path / "nothing-here",
        "--rows",
        str(rows),
        "--checkpoint",
        str(saved / "checkpoint"),
        exit_code=10,
    )
    assert broken.out == ""
    assert broken.err.startswith("broken_audit_chain: ")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"not json", b"{}\n", b"\n", b"[]\n"])
def test_a_file_that_holds_no_rows_is_a_broken_log(saved, tmp_path, content):
    rows = tmp_path / "rows"
    rows.write_bytes(content)
    broken = verify(tmp_path, "--rows", str(rows), "--checkpoint", str(saved / "checkpoint"), exit_code=10)
    assert broken.err.startswith("broken_audit_chain: ")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"not json",
        b"{}",
        b"[]",
        b'{"workspace":"default","size":1,"root":"zz","at":"2026-01-01T00:00:00Z"}',
    ],
)
def test_a_file_that_holds_no_checkpoint_is_bad_input(saved, tmp_path, content):
    checkpoint = tmp_path / "checkpoint"
    checkpoint.write_bytes(content)
    refused = verify(tmp_path, "--rows", str(saved / "rows"), "--checkpoint", str(checkpoint), exit_code=3)
    assert refused.err.startswith("invalid_input: ")


def test_a_checkpoint_of_another_workspace_does_not_hold(saved, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    told = json.loads((saved / "checkpoint").read_text())
    checkpoint.write_text(json.dumps({**told, "workspace": "elsewhere"}))
    broken = verify(saved / "home", "--checkpoint", str(checkpoint), exit_code=10)
    assert broken.err.startswith("broken_audit_chain: ")


def test_a_workspace_has_a_log_of_its_own(command):
    token = command(
        "cap", "mint", "--sub", "guest", "--ops", "put,get,audit", "--namespaces", "*", "--wid", "acme"
    ).out
    command("--cap", token.strip(), "put", "hello")
    rows = command("--workspace", "acme", "audit", "list", "--json").rows()
    assert rows[0]["operation"] == "memory.put"
    assert command("--json", "--workspace", "acme", "audit", "verify").json()["workspace"] == "acme"
