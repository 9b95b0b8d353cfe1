import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from mnemon.domain import cap
from surfaces.door import environment, mnemon, serving


def edited(home, sql):
    book = sqlite3.connect(home / "mnemon.db")
    with book:
        book.executescript(sql)
    book.close()


def test_init_makes_the_folder_once_and_says_which_it_was(tmp_path):
    home = tmp_path / "home"
    assert mnemon("init", home=home).out == f"made: {home} (owner's cap in owner.cap)\n"
    kept = {path.name: path.read_bytes() for path in home.iterdir() if path.suffix in (".key", ".cap")}
    assert set(kept) == {"root.key", "signing.key", "owner.cap"}
    assert mnemon("init", home=home).out.startswith(f"ready: {home}")
    assert {name: (home / name).read_bytes() for name in kept} == kept
    told = mnemon("--json", "init", home=home).json()
    assert told == {"home": str(home), "made": False, "owner_cap": str(home / "owner.cap")}


def test_init_renews_a_dead_owners_cap(tmp_path):
    home = tmp_path / "home"
    mnemon("init", home=home)
    dead = (home / "owner.cap").read_text().strip()
    mnemon("cap", "revoke", dead, home=home)
    assert mnemon("get", home=home, exit_code=4).err.startswith("cap_revoked: ")
    mnemon("init", home=home)
    assert (home / "owner.cap").read_text().strip() != dead
    mnemon("get", home=home)
    assert mnemon("--cap", dead, "get", home=home, exit_code=4).err.startswith("cap_revoked: ")


def test_a_lost_owners_cap_is_made_anew(tmp_path):
    home = tmp_path / "home"
    mnemon("put", "hello", home=home)
    (home / "owner.cap").unlink()
    assert "hello" in mnemon("get", "hello", home=home).out
    assert (home / "owner.cap").exists()


@pytest.mark.embedded("it is about the file")
def test_the_home_may_come_from_the_option_the_environment_or_the_users_folder(tmp_path):
    mnemon("put", "hello", "--home", str(tmp_path / "option"), home=tmp_path / "environment")
    assert (tmp_path / "option" / "mnemon.db").exists()
    assert not (tmp_path / "environment").exists()
    known = {**environment(), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "mnemon", "init"], env=known, check=True, capture_output=True)
    assert (tmp_path / ".mnemon" / "mnemon.db").exists()


def test_doctor_finds_nothing_wrong_with_a_healthy_folder_and_shows_its_progress_aside(tmp_path):
    home = tmp_path / "home"
    old = mnemon("put", "Trip to Chengdu", "-n", "travel", home=home).out.strip()
    mnemon("correct", old, "Trip to Xi'an", home=home)
    mnemon("forget", mnemon("put", "to be forgotten", home=home).out.strip(), "--yes", home=home)
    told = mnemon("doctor", home=home)
    assert re.fullmatch(r"2 lines open, \d+ audit rows hold\n", told.out)
    assert mnemon("--json", "doctor", home=home).json()["findings"] == []


def test_doctor_on_an_empty_place_says_that_all_is_well_or_why_not(tmp_path):
    told = mnemon("doctor", home=tmp_path / "nothing-here", exit_code=None)
    assert "Traceback" not in told.err
    assert told.exit_code in (0, 11)


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE lines SET sealed = zeroblob(60)", "is not a sealed envelope"),
        ("UPDATE lines SET sealed = substr(sealed, 1, 35)", "does not open"),
        ("UPDATE lines SET sealed = 'plain text'", "is not a sealed envelope"),
        ("UPDATE lines SET owner = 'someone-else'", ""),
        ("UPDATE lines SET created_at = created_at + 1", "does not open"),
        ("DELETE FROM room_keys WHERE purpose = 'seal'", "has lost "),
        ("UPDATE room_keys SET wrapped = zeroblob(70)", ""),
        ("DELETE FROM lines", "is in the index but not in the book"),
        ("DELETE FROM audit WHERE seq = 0", "audit row 0 is missing"),
        ("UPDATE audit SET actor = 'x' WHERE seq = 1", "audit row 1 was altered"),
    ],
)
@pytest.mark.embedded("it damages the file")
def test_doctor_finds_the_damage_and_ends_with_10(tmp_path, damage, finding):
    home = tmp_path / "home"
    for number in range(2):
        mnemon("put", f"line {number}", home=home)
    edited(home, damage)
    told = mnemon("doctor", home=home, exit_code=10)
    assert finding in told.out
    assert re.search(r"^integrity_error: \d+ findings$", told.err, re.MULTILINE)
    assert "Traceback" not in told.err


@pytest.mark.embedded("it is about the file")
def test_doctor_finds_files_that_others_can_read(tmp_path):
    home = tmp_path / "home"
    mnemon("put", "hello", home=home)
    home.chmod(0o755)
    (home / "mnemon.db").chmod(0o640)
    told = mnemon("doctor", home=home, exit_code=10).out
    assert f"chmod 700 {home}\n" in told
    assert f"chmod 600 {home / 'mnemon.db'}\n" in told


def test_a_doctor_that_is_refused_changes_nothing(tmp_path):
    home = tmp_path / "home"
    mnemon("put", "hello", home=home)
    guest = mnemon(
        "cap", "mint", "--sub", "guest", "--ops", "audit", "--namespaces", "*", home=home
    ).out.strip()
    assert mnemon("--cap", guest, "doctor", home=home, exit_code=5).err.startswith("cap_scope_mismatch: ")


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete "), ("zsh", "#compdef mnemon"), ("fish", "complete ")]
)
def test_completion_scripts_are_printed_for_every_shell(tmp_path, shell, sign):
    printed = mnemon("completion", shell, home=tmp_path / "nothing-here").out
    assert sign in printed
    assert "_MNEMON_COMPLETE" in printed
    assert not (tmp_path / "nothing-here").exists()


@pytest.fixture
def bash(tmp_path):
    """A bash that has sourced the completion script and finds `mnemon` in its path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "mnemon"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mnemon "$@"\n')
    program.chmod(0o700)
    script = tmp_path / "completion.sh"
    script.write_text(mnemon("completion", "bash", home=tmp_path / "home").out)

    def run(command):
        known = {**environment(), "PATH": f"{programs}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "--norc", "-c", f"source {script}; {command}"],
            env=known,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return run


def test_the_bash_script_registers_a_completion_that_completes(bash):
    assert re.search(r"-F (\w+) mnemon", bash("complete -p mnemon"))
    function = re.search(r"-F (\w+) mnemon", bash("complete -p mnemon"))[1]
    offered = bash(f'COMP_WORDS=(mnemon au); COMP_CWORD=1; {function} mnemon; echo "${{COMPREPLY[@]}}"')
    assert offered.split() == ["audit"]
    offered = bash(f'COMP_WORDS=(mnemon cap re); COMP_CWORD=2; {function} mnemon; echo "${{COMPREPLY[@]}}"')
    assert offered.split() == ["revoke"]


@pytest.mark.embedded("its file is copied with its folder")
def test_a_copied_folder_is_the_same_installation(tmp_path):
    home, copy = tmp_path / "home", tmp_path / "copy"
    mnemon("put", "hello", home=home)
    shutil.copytree(home, copy)
    assert "hello" in mnemon("get", "hello", home=copy).out
    assert cap.key_id((copy / "owner.cap").read_text()) == cap.key_id((home / "owner.cap").read_text())


def test_serve_has_its_settings_from_the_environment_too(tmp_path):
    home = tmp_path / "home"
    mnemon("put", "hello", home=home)
    with serving(Path(home)) as server:
        assert mnemon("get", "hello", home=home, settings={"MNEMON_URL": server.url}).out


def test_status_names_the_server_that_was_asked(tmp_path):
    with serving(tmp_path / "home") as server:
        elsewhere = tmp_path / "elsewhere"
        cap = (tmp_path / "home" / "owner.cap").read_text().strip()
        by_option = mnemon("status", "--url", server.url, "--cap", cap, home=elsewhere)
        by_variable = mnemon("status", "--cap", cap, home=elsewhere, settings={"MNEMON_URL": server.url})
    for told in (by_option, by_variable):
        assert told.out.startswith(f"{server.url}: workspace default")
        assert "elsewhere" not in told.out
