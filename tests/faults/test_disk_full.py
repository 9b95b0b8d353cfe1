"""A full disk: a clear code, nothing acknowledged lost, and everything well again once there is room."""

import os

import pytest

from souvenance import open_installation, settings_from
from souvenance.errors import AuditUnavailable, StorageFull, StorageUnavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from surfaces.door import serving, souvenance

MOST_LINES = 2000
TEXT = "walk number {number}: " + "and on and on " * 250


def filled(gate, credentials):
    """Put lines until the disk is full; the ids of those acknowledged, and the error that came."""
    acknowledged = []
    for number in range(MOST_LINES):
        try:
            line = gate.call(o.PUT, credentials, m.Put(TEXT.format(number=number)))
        except StorageUnavailable as error:
            return acknowledged, error
        acknowledged.append(line.id)
    raise AssertionError("the disk never filled")


def full_disk(disk):
    """The scenario of every kind of full disk."""
    credentials = Credentials((disk.home / "owner.cap").read_text().strip())
    gate, close = disk.open()
    acknowledged, error = filled(gate, credentials)
    assert len(acknowledged) > 3
    assert type(error) is StorageFull
    assert error.hint
    with pytest.raises((StorageFull, AuditUnavailable)):
        for _ in range(200):
            gate.call(o.GET, credentials, m.Get("walk"))
    with pytest.raises((StorageFull, AuditUnavailable)):
        for _ in range(200):
            gate.call(o.PUT, credentials, m.Put("a small line"))
    disk.free()
    for number, line_id in enumerate(acknowledged):
        assert gate.call(o.LINE, credentials, m.GetLine(line_id)).text == TEXT.format(number=number)
    assert gate.call(o.PUT, credentials, m.Put("there is room again")).id
    close()
    stored = len(acknowledged) + 1
    told = souvenance("--json", "doctor", home=disk.home).json()
    assert told["findings"] == []
    assert told["lines"] >= stored
    assert souvenance("audit", "verify", home=disk.home).out.startswith("ok: ")
    return told["lines"] - stored


def test_a_full_disk_refuses_by_name_and_loses_nothing(small_disk):
    assert full_disk(small_disk) <= 200


def test_a_store_that_may_not_grow_refuses_by_name_and_loses_nothing(capped_store):
    assert full_disk(capped_store) <= 200


def stuffed(folder):
    """Leave no byte free."""
    file = folder / "stuffing"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    for size in (65536, 4096, 1):
        try:
            while True:
                os.write(descriptor, bytes(size))
        except OSError:
            continue
    os.close(descriptor)
    return file


@pytest.mark.parametrize(
    "asked",
    [
        ("put", "hello"),
        ("get",),
        ("key", "rotate"),
        ("key", "rotate", "--signing"),
        ("forget", "-n", "travel", "--yes"),
    ],
)
def test_a_command_that_starts_on_a_full_disk_says_so(small_disk, asked):
    disk = small_disk.home.parent
    souvenance("put", "hello", home=small_disk.home)
    kept = {path.name: path.read_bytes() for path in small_disk.home.glob("*.key")}
    stuffing = stuffed(disk) if hasattr(small_disk, "filler") else None
    refused = souvenance(*asked, home=small_disk.home, exit_code=9 if stuffing else None)
    if stuffing:
        assert refused.out == ""
        assert refused.err.startswith(("storage_full: ", "audit_unavailable: "))
        stuffing.unlink()
    assert "hello" in souvenance("get", "hello", home=small_disk.home).out
    souvenance("doctor", home=small_disk.home)
    if stuffing:
        assert {path.name: path.read_bytes() for path in small_disk.home.glob("*.key")} == kept


def test_a_first_start_on_a_full_disk_says_so_and_works_once_there_is_compartment(small_disk):
    disk = small_disk.home.parent
    stuffing = stuffed(disk) if hasattr(small_disk, "filler") else None
    refused = souvenance("put", "hello", home=disk / "new", exit_code=9 if stuffing else 0)
    if stuffing:
        assert refused.err.startswith("storage_full: ")
        stuffing.unlink()
    souvenance("put", "hello", home=disk / "new")
    assert "hello" in souvenance("get", "hello", home=disk / "new").out


def test_a_server_on_a_full_disk_answers_503_and_recovers_without_a_restart(small_disk):
    with serving(small_disk.home) as server:
        line = server.owner.post("/v1/memory/put", json={"text": "hello"}).json()["id"]
        stuffing = stuffed(small_disk.home.parent) if hasattr(small_disk, "filler") else None
        answers = [server.owner.post("/v1/memory/put", json={"text": "x" * 60_000}) for _ in range(40)]
        if stuffing:
            last = answers[-1]
            assert (last.status_code, last.json()["error"]) == (503, "storage_full")
            assert last.headers["retry-after"]
            assert server.client().get("/health").status_code == 200
            stuffing.unlink()
        assert server.owner.get(f"/v1/memory/lines/{line}").json()["text"] == "hello"
        assert server.owner.post("/v1/memory/put", json={"text": "there is room again"}).status_code == 201
    installation = open_installation(settings_from({}, str(small_disk.home)))
    installation.close()
    souvenance("doctor", home=small_disk.home)
