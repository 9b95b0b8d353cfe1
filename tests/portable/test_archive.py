"""An archive is whole or refused, before anything of it is used."""

from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys
import tarfile

import msgspec
import pyrage
import pytest
from hypothesis import given as whatever
from hypothesis import settings
from hypothesis import strategies as st

from souvenance.adapters import archive_file as a
from souvenance.adapters.archive_file import Archives
from souvenance.domain.archive_records import FORMAT, Manifest
from souvenance.errors import ArchiveDamaged, Conflict, FileTooLarge, InvalidInput, SouvenanceError

MANIFEST = Manifest(format=FORMAT, kind="memory", made_at="2026-01-01T00:00:00+00:00", made_by="a test")


def written(path, members, recipients=(), manifest=MANIFEST):
    with Archives().writing(path, recipients) as archive:
        for name, content in members.items():
            archive.add(name, content)
        archive.close(manifest)
    return path


def read(path, identity=None):
    archive = Archives().reading(path, identity)
    return {name: b"".join(content) for name, content in archive.members()}


@pytest.fixture
def good(tmp_path):
    return written(tmp_path / "good", {"lines-00001.jsonl": b'{"a":1}\n' * 200, "b.jsonl": b""})


@pytest.fixture
def identity(tmp_path):
    key = pyrage.x25519.Identity.generate()
    path = tmp_path / "key.txt"
    path.write_text(f"# a key\n{key}\n")
    path.chmod(0o600)
    return path, str(key.to_public())


@settings(max_examples=20, deadline=None)
@whatever(st.dictionaries(st.from_regex(r"[a-z0-9]{1,8}\.jsonl", fullmatch=True), st.binary(max_size=2000)))
def test_what_goes_in_comes_out(tmp_path_factory, members):
    path = tmp_path_factory.mktemp("archive") / "file"
    assert read(written(path, members)) == members


def test_the_same_content_makes_the_same_file(tmp_path):
    members = {"a.jsonl": b"1\n", "b.jsonl": b"2\n"}
    one, other = written(tmp_path / "one", members), written(tmp_path / "other", members)
    assert one.read_bytes() == other.read_bytes()


def test_an_archive_is_its_owners_alone(good):
    assert stat.S_IMODE(good.stat().st_mode) == 0o600


def test_any_tar_reads_it(good):
    with tarfile.open(good) as tar:
        assert tar.getnames() == ["lines-00001.jsonl", "b.jsonl", "manifest.json"]


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("mine"), lambda path: path.symlink_to("/nowhere")]
)
def test_nothing_is_written_over(tmp_path, make):
    path = tmp_path / "file"
    make(path)
    with pytest.raises(Conflict):
        written(path, {})
    assert os.path.lexists(path)
    assert len(list(tmp_path.iterdir())) == 1


def test_one_that_comes_into_being_meanwhile_is_not_written_over(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(Conflict), Archives().writing(path) as archive:
        path.write_text("mine")
        archive.close(MANIFEST)
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_what_fails_in_the_middle_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), Archives().writing(tmp_path / "file") as archive:
        archive.add("a.jsonl", b"x" * 10_000)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_every_cut_and_every_changed_byte_is_noticed(tmp_path, good):
    whole = good.read_bytes()
    path = tmp_path / "bad"
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at])
        with pytest.raises(ArchiveDamaged):
            read(path)
    for at in range(10, len(whole), 5):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        with pytest.raises(SouvenanceError):
            read(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(ArchiveDamaged):
        read(path)


def packed(*members, end=b"\0" * 1024):
    """A compressed tar of these names, contents and sorts, whatever they are."""
    raw = io.BytesIO()
    for name, content, kind in members:
        info = tarfile.TarInfo(name)
        info.size, info.type = len(content), kind
        raw.write(info.tobuf(tarfile.GNU_FORMAT))
        raw.write(content + b"\0" * (-len(content) % 512))
    return gzip.compress(raw.getvalue() + end)


def told(**changed):
    whole = {**msgspec.to_builtins(MANIFEST), **changed}
    return "manifest.json", msgspec.json.encode(whole), tarfile.REGTYPE


def member(name, content=b"x"):
    return {"name": name, "size": len(content), "sha256": a.sha256(content).hexdigest()}


REGULAR = tarfile.REGTYPE
BAD = {
    "nothing": b"",
    "no archive": b"hello, world",
    "no tar": gzip.compress(b"hello"),
    "an empty tar": packed(),
    "no manifest": packed(("a.jsonl", b"x", REGULAR)),
    "a path upward": packed(("../a", b"x", REGULAR), told(members=[member("../a")])),
    "a path from the root": packed(("/etc/passwd", b"x", REGULAR), told(members=[member("/etc/passwd")])),
    "a path with a folder": packed(("a/b", b"x", REGULAR), told(members=[member("a/b")])),
    "a hidden name": packed((".a", b"x", REGULAR), told(members=[member(".a")])),
    "a link": packed(("a.jsonl", b"", tarfile.SYMTYPE), told(members=[member("a.jsonl", b"")])),
    "a hard link": packed(("a.jsonl", b"", tarfile.LNKTYPE), told(members=[member("a.jsonl", b"")])),
    "a folder": packed(("a", b"", tarfile.DIRTYPE), told(members=[member("a", b"")])),
    "a device": packed(("a", b"", tarfile.CHRTYPE), told(members=[member("a", b"")])),
    "a header of its own": packed(("a", b"30 path=b\n", tarfile.XHDTYPE), told()),
    "a sparse file": packed(("a", b"x", tarfile.GNUTYPE_SPARSE), told(members=[member("a")])),
    "a name twice": packed(
        ("a", b"x", REGULAR), ("a", b"x", REGULAR), told(members=[member("a"), member("a")])
    ),
    "a member that is not told": packed(("a", b"x", REGULAR), told()),
    "a member that is missing": packed(told(members=[member("a")])),
    "other content": packed(("a", b"y", REGULAR), told(members=[member("a")])),
    "another size": packed(("a", b"x", REGULAR), told(members=[{**member("a"), "size": 2}])),
    "another order": packed(
        ("b", b"x", REGULAR), ("a", b"x", REGULAR), told(members=[member("a"), member("b")])
    ),
    "two manifests": packed(told(), told()),
    "something behind the manifest": packed(told(), ("a", b"x", REGULAR)),
    "something behind the end": packed(told(), end=b"\0" * 1024 + b"x" * 512),
    "half an end": packed(told(), end=b"\0" * 512),
    "no end": packed(told(), end=b""),
    "a manifest that is none": packed(("manifest.json", b"[]", REGULAR)),
    "a field that nobody knows": packed(told(surprise=1)),
    "a newer version": packed(told(format=FORMAT + 1)),
    "another file behind it": packed(told()) + packed(told()),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_file_that_is_no_archive_of_ours_is_refused(tmp_path, content):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises((ArchiveDamaged, InvalidInput)):
        Archives().reading(path)


def test_one_that_says_it_is_larger_than_anything_is_refused_at_once(tmp_path):
    info = tarfile.TarInfo("lines-00001.jsonl")
    info.size = 1 << 50
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096))
    with pytest.raises(FileTooLarge):
        Archives().reading(path)


def test_no_more_is_unpacked_than_is_allowed(tmp_path):
    path = written(tmp_path / "bomb", {"a.jsonl": b"\0" * 3_000_000})
    assert path.stat().st_size < 10_000
    with pytest.raises(FileTooLarge):
        a.ArchiveReader(path, None, most_bytes=1_000_000)


def test_a_manifest_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(packed(("manifest.json", b" " * (a.MOST_MANIFEST_BYTES + 1), REGULAR)))
    with pytest.raises(FileTooLarge):
        Archives().reading(path)


def test_a_file_that_is_exchanged_after_it_was_verified_is_noticed(tmp_path, good):
    archive = Archives().reading(good)
    other = written(tmp_path / "other", {"lines-00001.jsonl": b'{"a":2}\n' * 200, "b.jsonl": b""})
    good.write_bytes(other.read_bytes())
    with pytest.raises(ArchiveDamaged):
        list(archive.lines("lines"))


def test_lines_come_out_whole(tmp_path):
    lines = [b"%d" % number * 50_000 for number in range(60)]
    path = written(tmp_path / "file", {"lines-00001.jsonl": b"\n".join(lines) + b"\n", "other.jsonl": b"x\n"})
    assert list(Archives().reading(path).lines("lines")) == lines


def test_a_recipient_and_nobody_else_opens_it(tmp_path, identity):
    key, recipient = identity
    members = {"lines-00001.jsonl": b"a secret of some length\n" * 10_000}
    path = written(tmp_path / "file", members, [recipient])
    assert b"secret" not in gzip.compress(path.read_bytes())
    assert path.read_bytes().startswith(b"age-encryption.org/v1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read(path, key) == members
    with pytest.raises(InvalidInput, match="encrypted"):
        read(path)
    stranger = tmp_path / "stranger.txt"
    stranger.write_text(str(pyrage.x25519.Identity.generate()))
    stranger.chmod(0o600)
    with pytest.raises(InvalidInput, match="does not open"):
        read(path, stranger)


def test_an_encrypted_archive_that_was_cut_or_altered_is_noticed(tmp_path, identity):
    key, recipient = identity
    whole = written(tmp_path / "file", {"a.jsonl": os.urandom(200_000)}, [recipient]).read_bytes()
    path = tmp_path / "bad"
    for content in (whole[:-1], whole[:100_000], whole[:50], whole[:-9] + b"x" + whole[-8:], whole + b"x"):
        path.write_bytes(content)
        with pytest.raises((ArchiveDamaged, InvalidInput)):
            read(path, key)


def test_an_identity_that_others_can_read_is_refused(tmp_path, identity):
    key, recipient = identity
    path = written(tmp_path / "file", {}, [recipient])
    key.chmod(0o644)
    with pytest.raises(SouvenanceError, match="open to other users"):
        read(path, key)


@pytest.mark.parametrize("recipient", ["", "age1nobody", "ssh-ed25519 nonsense"])
def test_a_recipient_that_is_none_is_refused_before_anything_is_written(tmp_path, recipient):
    with pytest.raises(InvalidInput):
        written(tmp_path / "file", {}, [recipient])
    assert list(tmp_path.iterdir()) == []


def test_archives_are_told_from_other_files(tmp_path, good, identity):
    assert Archives().is_archive(good)
    assert Archives().is_archive(written(tmp_path / "sealed", {}, [identity[1]]))
    for content in (b"", b"hello", gzip.compress(b"hello"), b'{"a":1}\n', gzip.compress(b"x" * 600)):
        other = tmp_path / "other"
        other.write_bytes(content)
        assert not Archives().is_archive(other)
    assert not Archives().is_archive(tmp_path / "nowhere")
    assert not Archives().is_archive(tmp_path)


FULL = """
import os, resource, signal, sys
from pathlib import Path
from souvenance.adapters.archive_file import Archives
from souvenance.errors import StorageUnavailable

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with Archives().writing(Path(sys.argv[1]), sys.argv[2:]) as archive:
        for number in range(20):
            archive.add(f"a{number}", os.urandom(100_000))
except StorageUnavailable as error:
    print(error.detail)
"""


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_disk_that_takes_no_more_is_told_of_and_nothing_stays(tmp_path, identity, encrypted):
    to = [identity[1]] if encrypted else []
    command = [sys.executable, "-W", "error", "-c", FULL, str(tmp_path / "file"), *to]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (finished.stderr, "can't be written: File too large" in finished.stdout) == ("", True), finished
    assert [path.name for path in tmp_path.iterdir()] == ["key.txt"]
