import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from souvenance.domain import capability as cap
from surfaces.door import environment, serving, souvenance


def edited(home, sql):
    store = sqlite3.connect(home / "souvenance.db")
    with store:
        store.executescript(sql)
    store.close()


def test_init_makes_the_folder_once_and_says_which_it_was(tmp_path):
    home = tmp_path / "home"
    assert souvenance("init", home=home).out == f"made: {home} (owner's cap in owner.cap)\n"
    kept = {path.name: path.read_bytes() for path in home.iterdir() if path.suffix in (".key", ".cap")}
    assert set(kept) == {"root.key", "signing.key", "owner.cap"}
    assert souvenance("init", home=home).out.startswith(f"ready: {home}")
    assert {name: (home / name).read_bytes() for name in kept} == kept
    told = souvenance("--json", "init", home=home).json()
    assert told == {"home": str(home), "made": False, "owner_cap": str(home / "owner.cap")}


def test_init_renews_a_dead_owners_cap(tmp_path):
    home = tmp_path / "home"
    souvenance("init", home=home)
    dead = (home / "owner.cap").read_text().strip()
    souvenance("cap", "revoke", dead, home=home)
    assert souvenance("get", home=home, exit_code=4).err.startswith("cap_revoked: ")
    souvenance("init", home=home)
    assert (home / "owner.cap").read_text().strip() != dead
    souvenance("get", home=home)
    assert souvenance("--cap", dead, "get", home=home, exit_code=4).err.startswith("cap_revoked: ")


def test_a_lost_owners_cap_is_made_anew(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    (home / "owner.cap").unlink()
    assert "hello" in souvenance("get", "hello", home=home).out
    assert (home / "owner.cap").exists()


@pytest.mark.embedded("it is about the file")
def test_the_home_may_come_from_the_option_the_environment_or_the_users_folder(tmp_path):
    souvenance("put", "hello", "--home", str(tmp_path / "option"), home=tmp_path / "environment")
    assert (tmp_path / "option" / "souvenance.db").exists()
    assert not (tmp_path / "environment").exists()
    known = {**environment(), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "souvenance", "init"], env=known, check=True, capture_output=True)
    assert (tmp_path / ".souvenance" / "souvenance.db").exists()


def test_doctor_finds_nothing_wrong_with_a_healthy_folder_and_shows_its_progress_aside(tmp_path):
    home = tmp_path / "home"
    old = souvenance("put", "Trip to Chengdu", "-n", "travel", home=home).out.strip()
    souvenance("correct", old, "Trip to Xi'an", home=home)
    souvenance("forget", souvenance("put", "to be forgotten", home=home).out.strip(), "--yes", home=home)
    told = souvenance("doctor", home=home)
    assert re.fullmatch(r"2 lines readable, \d+ audit rows verified\n", told.out)
    assert souvenance("--json", "doctor", home=home).json()["findings"] == []


def test_doctor_on_an_empty_place_says_that_all_is_well_or_why_not(tmp_path):
    told = souvenance("doctor", home=tmp_path / "nothing-here", exit_code=None)
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
        ("DELETE FROM compartment_keys WHERE purpose = 'seal'", "has lost "),
        ("UPDATE compartment_keys SET wrapped = zeroblob(70)", ""),
        ("DELETE FROM lines", "is in the index but not in the store"),
        ("DELETE FROM audit WHERE seq = 0", "audit row 0 is missing"),
        ("UPDATE audit SET actor = 'x' WHERE seq = 1", "audit row 1 was altered"),
    ],
)
@pytest.mark.embedded("it damages the file")
def test_doctor_finds_the_damage_and_ends_with_10(tmp_path, damage, finding):
    home = tmp_path / "home"
    for number in range(2):
        souvenance("put", f"line {number}", home=home)
    edited(home, damage)
    told = souvenance("doctor", home=home, exit_code=10)
    assert finding in told.out
    assert re.search(r"^integrity_error: \d+ findings?$", told.err, re.MULTILINE)
    assert "Traceback" not in told.err


@pytest.mark.embedded("it is about the file")
def test_doctor_finds_files_that_others_can_read(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    home.chmod(0o755)
    (home / "souvenance.db").chmod(0o640)
    told = souvenance("doctor", home=home, exit_code=10).out
    assert f"chmod 700 {home}\n" in told
    assert f"chmod 600 {home / 'souvenance.db'}\n" in told


def test_a_doctor_that_is_refused_changes_nothing(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    guest = souvenance(
        "cap", "mint", "--sub", "guest", "--ops", "audit", "--namespaces", "*", home=home
    ).out.strip()
    assert souvenance("--cap", guest, "doctor", home=home, exit_code=5).err.startswith("cap_scope_mismatch: ")


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete "), ("zsh", "#compdef souvenance"), ("fish", "complete ")]
)
def test_completion_scripts_are_printed_for_every_shell(tmp_path, shell, sign):
    printed = souvenance("completion", shell, home=tmp_path / "nothing-here").out
    assert sign in printed
    assert "_SOUVENANCE_COMPLETE" in printed
    assert not (tmp_path / "nothing-here").exists()


@pytest.fixture
def bash(tmp_path):
    """A bash that has sourced the completion script and finds `souvenance` in its path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "souvenance"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m souvenance "$@"\n')
    program.chmod(0o700)
    script = tmp_path / "completion.sh"
    script.write_text(souvenance("completion", "bash", home=tmp_path / "home").out)

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
    assert re.search(r"-F (\w+) souvenance", bash("complete -p souvenance"))
    function = re.search(r"-F (\w+) souvenance", bash("complete -p souvenance"))[1]
    offered = bash(
        f'COMP_WORDS=(souvenance au); COMP_CWORD=1; {function} souvenance; echo "${{COMPREPLY[@]}}"'
    )
    assert offered.split() == ["audit"]
    offered = bash(
        f'COMP_WORDS=(souvenance cap re); COMP_CWORD=2; {function} souvenance; echo "${{COMPREPLY[@]}}"'
    )
    assert offered.split() == ["revoke"]


@pytest.mark.embedded("its file is copied with its folder")
def test_a_copied_folder_is_the_same_installation(tmp_path):
    home, copy = tmp_path / "home", tmp_path / "copy"
    souvenance("put", "hello", home=home)
    shutil.copytree(home, copy)
    assert "hello" in souvenance("get", "hello", home=copy).out
    assert cap.key_id((copy / "owner.cap").read_text()) == cap.key_id((home / "owner.cap").read_text())


def test_serve_has_its_settings_from_the_environment_too(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    with serving(Path(home)) as server:
        assert souvenance("get", "hello", home=home, settings={"SOUVENANCE_URL": server.url}).out


def test_status_names_the_server_that_was_asked(tmp_path):
    with serving(tmp_path / "home") as server:
        elsewhere = tmp_path / "elsewhere"
        cap = (tmp_path / "home" / "owner.cap").read_text().strip()
        by_option = souvenance("status", "--url", server.url, "--cap", cap, home=elsewhere)
        by_variable = souvenance(
            "status", "--cap", cap, home=elsewhere, settings={"SOUVENANCE_URL": server.url}
        )
    for told in (by_option, by_variable):
        assert told.out.startswith(f"{server.url}: workspace default")
        assert "elsewhere" not in told.out
