"""Exporting and importing from the command line, as their users do it."""

from __future__ import annotations

import shutil
import sqlite3

import pyrage
import pytest

from conversation.test_doctor import Life, settled
from conversation.world import speaking
from souvenance.adapters.archive_file import Archives
from souvenance.domain.archive_records import FORMAT, Manifest
from surfaces.door import serving, souvenance


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A data folder whose workspace 'w' has seen everything, and whose owner has lines of its own."""
    home = tmp_path_factory.mktemp("lived") / "home"
    with serving(home) as server, speaking(server, "w") as speaker:
        Life(speaker, 31).live(50)
        settled(speaker)
    line = souvenance("put", "The harbour is deep.", "--json", "--workspace", "w", home=home).json()["id"]
    souvenance("correct", line, "The harbour is shallow.", "--workspace", "w", home=home)
    return home


@pytest.fixture
def archive(lived, tmp_path):
    path = tmp_path / "w.souvenance"
    souvenance("export", str(path), "--workspace", "w", home=lived)
    return path


def members(path, identity=None):
    return {name: b"".join(held) for name, held in Archives().reading(path, identity).members()}


def rewritten(path, target, change):
    """The archive with other members, as someone who knows the format could make it."""
    read = Archives().reading(path)
    with Archives().writing(target) as made:
        for name, held in members(path).items():
            made.add(name, change(held))
        made.close(read.manifest)
    return target


def test_an_export_imported_elsewhere_is_exported_the_same(lived, archive, home, tmp_path):
    told = souvenance("import", str(archive), "--json", home=home).json()
    assert (told["complete"], told["same"], told["conflicts"]) == (True, 0, [])
    assert told["new"] == sum(Archives().reading(archive).manifest.counts.values())
    souvenance("export", str(tmp_path / "again"), "--workspace", "w", home=home)
    assert members(tmp_path / "again") == members(archive)
    one, other = (Archives().reading(path).manifest for path in (archive, tmp_path / "again"))
    assert (one.counts, one.about, one.members) == (other.counts, other.about, other.members)


def test_the_doctor_is_content_with_what_was_imported(archive, home):
    souvenance("import", str(archive), home=home)
    told = souvenance("doctor", home=home, exit_code=None)
    assert (told.exit_code, told.out.splitlines()[:-1]) == (0, []), told.out
    assert souvenance("audit", "verify", "--workspace", "w", home=home).exit_code == 0
    assert "shallow" in souvenance("get", "how deep is the harbour?", "--workspace", "w", home=home).out


def test_nothing_is_imported_twice(archive, home):
    first = souvenance("import", str(archive), "--json", home=home).json()
    again = souvenance("import", str(archive), "--json", home=home).json()
    assert (again["new"], again["same"], again["complete"]) == (0, first["new"], True)


def test_a_workspace_may_take_another_name(archive, home, tmp_path):
    told = souvenance("import", str(archive), "--workspace", "other", "--json", home=home).json()
    assert told["workspace"] == "other"
    souvenance("export", str(tmp_path / "again"), "--workspace", "other", home=home)
    here, there = members(archive), members(tmp_path / "again")
    assert there["lines-00001.jsonl"] == here["lines-00001.jsonl"]
    assert souvenance("doctor", home=home).exit_code == 0


@pytest.mark.embedded("its file is copied with its folder")
def test_what_differs_here_stays_and_is_named(lived, archive, tmp_path):
    home = shutil.copytree(lived, tmp_path / "home")
    other = rewritten(archive, tmp_path / "other", lambda held: held.replace(b"shallow", b"very deep"))
    told = souvenance("import", str(other), home=home, exit_code=7)
    assert "line 01" in told.err
    assert "0 records imported" in told.out
    assert "1 differ" in told.out
    assert "shallow" in souvenance("get", "harbour", "--workspace", "w", home=home).out


def test_a_clash_of_names_changes_nothing(archive, home, tmp_path):
    with serving(home) as server, speaking(server, "w") as speaker:
        for session in ("s0", "s1", "s2"):
            speaker.say(session, "Another conversation.")
    souvenance("export", str(tmp_path / "before"), "--workspace", "w", home=home)
    told = souvenance("import", str(archive), home=home, exit_code=7)
    assert "session s" in told.err
    assert "--workspace" in told.err
    souvenance("export", str(tmp_path / "after"), "--workspace", "w", home=home)
    assert members(tmp_path / "after") == members(tmp_path / "before")


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held + b"{}\n",
        lambda held: held.replace(b'"record":"line"', b'"record":"cap"'),
        lambda held: held[:-1],
    ],
)
def test_an_archive_with_a_record_that_is_none_is_refused(archive, home, tmp_path, change):
    bad = rewritten(archive, tmp_path / "bad", change)
    assert (
        souvenance("import", str(bad), "--json", home=home, exit_code=10).complaint()["error"]
        == "archive_damaged"
    )


def test_a_damaged_archive_makes_nothing(archive, home, tmp_path):
    (tmp_path / "bad").write_bytes(archive.read_bytes()[:-300])
    assert "archive_damaged" in souvenance("import", str(tmp_path / "bad"), home=home, exit_code=10).err
    if (home / "souvenance.db").exists():
        with sqlite3.connect(home / "souvenance.db") as database:
            assert database.execute("SELECT COUNT(*) FROM lines").fetchone() == (0,)
        database.close()


def test_an_archive_of_a_newer_version_is_refused_by_name(home, tmp_path):
    with Archives().writing(tmp_path / "new") as made:
        made.close(Manifest(format=FORMAT + 1, kind="memory", made_at="later", made_by="souvenance 99"))
    told = souvenance("import", str(tmp_path / "new"), home=home, exit_code=3)
    assert "format 2" in told.err
    assert "Upgrade" in told.err


def test_an_archive_for_a_recipient_comes_in_with_the_identity(lived, home, tmp_path):
    key = pyrage.x25519.Identity.generate()
    identity = tmp_path / "key.txt"
    identity.write_text(str(key))
    identity.chmod(0o600)
    path = tmp_path / "sealed"
    told = souvenance(
        "export", str(path), "--recipient", str(key.to_public()), "--workspace", "w", home=lived
    )
    assert "in the open" not in told.out
    assert "--identity" in souvenance("import", str(path), home=home, exit_code=3).err
    assert souvenance("import", str(path), "--identity", str(identity), "--json", home=home).json()[
        "complete"
    ]


def test_a_peer_exports_its_own(lived, tmp_path):
    cap = souvenance(
        *("cap", "mint", "--sub", "ann", "--ops", "get,list", "--namespaces", "*", "--workspace", "w"),
        home=lived,
    ).out.strip()
    souvenance("export", str(tmp_path / "all"), "--cap", cap, home=lived, exit_code=5)
    souvenance("export", str(tmp_path / "own"), "--owner", "ann", "--cap", cap, home=lived)
    read = Archives().reading(tmp_path / "own")
    assert read.manifest.about == {"workspace": "w", "owner": "ann"}
    assert b'"owner":"bo"' not in b"".join(members(tmp_path / "own").values())
    assert not (tmp_path / "all").exists()


def test_an_export_of_a_name_that_nobody_has_says_so(lived, tmp_path):
    for owner, warned in (("anne", True), ("ann", False)):
        file = str(tmp_path / f"{owner}.json")
        told = souvenance("export", file, "--owner", owner, "--workspace", "w", home=lived).out
        assert (f"nothing is stored of {owner}: check the name" in told) == warned


def test_an_export_is_not_written_over(archive, lived):
    before = archive.read_bytes()
    told = souvenance("export", str(archive), "--workspace", "w", home=lived, exit_code=7)
    assert "exists" in told.err
    assert archive.read_bytes() == before


def test_no_secret_and_no_right_goes_along(lived, archive):
    held = b"".join(members(archive).values())
    for name in ("root.key", "signing.key", "owner.cap", "webhook.secret"):
        if (lived / name).exists():
            for word in (lived / name).read_bytes().split(b'"'):
                assert len(word) < 20 or word not in held
    assert b"cap+jwt" not in held
    assert b"wrapped" not in held
