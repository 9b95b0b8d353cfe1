"""The stores of objects under their contract, and S3 when it fails."""

from __future__ import annotations

import threading

import pytest

from contracts.object_store_contract import ObjectsContract
from objects.proxy import CUT, HANG, LATE_CUT, FaultProxy
from objects.seaweed import BUCKET, ROOT
from souvenance.adapters.object_stores import TRIES, FolderObjects, S3Objects, open_objects
from souvenance.errors import Misconfigured, StorageUnavailable


class TestFolder(ObjectsContract):
    @pytest.fixture
    def objects(self, tmp_path):
        return FolderObjects(tmp_path / "objects")


class TestBucket(ObjectsContract):
    @pytest.fixture
    def objects(self, seaweed, credentials):
        return open_objects(f"s3://{BUCKET}/under/a-prefix?endpoint={seaweed.url}")


@pytest.fixture
def proxy(seaweed):
    proxy = FaultProxy(seaweed.port)
    yield proxy
    proxy.stop()


@pytest.fixture
def behind(proxy):
    """The bucket behind the proxy, with little patience."""
    return S3Objects(BUCKET, "faults", endpoint=proxy.url, credentials=ROOT, timeout=1.0)


PASSING = [500, 503, 429, CUT, HANG]


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_tried_again(proxy, behind, fault):
    for step in (
        lambda: behind.put_if_absent(f"passing/{fault}".replace(" ", "-"), b"1") is True,
        lambda: behind.get(f"passing/{fault}".replace(" ", "-")) == b"1",
        lambda: len(behind.keys("passing/")) >= 1,
        lambda: behind.delete(["passing/never"]) is None,
    ):
        proxy.faults.append(fault)
        assert step()


@pytest.mark.parametrize("fault", [500, CUT])
def test_what_does_not_pass_is_unavailable_after_a_few_tries(proxy, behind, fault):
    proxy.faults.extend([fault] * 50)
    with pytest.raises(StorageUnavailable) as told:
        behind.get("a")
    assert len(proxy.seen) == TRIES
    assert "waits in the store" in told.value.hint


def test_a_conflict_is_no_answer_and_is_tried_again(proxy, behind):
    """409: another conditional write was under way. The look that follows finds nothing yet."""
    proxy.faults.extend([409])
    assert behind.put_if_absent("conflict", b"mine") is True
    assert behind.get("conflict") == b"mine"


def test_a_conflict_with_what_is_there_is_a_lost_race(proxy, behind):
    behind.replace("taken", b"theirs")
    proxy.faults.extend([409])
    assert behind.put_if_absent("taken", b"mine") is False
    assert behind.get("taken") == b"theirs"


def test_a_conflict_without_end_is_unavailable(proxy, behind):
    for _ in range(TRIES):
        proxy.faults.extend([409, 404])
    with pytest.raises(StorageUnavailable, match="409"):
        behind.put_if_absent("never", b"mine")


def test_a_put_whose_answer_was_lost_is_told_as_there(proxy, behind):
    proxy.faults.append(LATE_CUT)
    assert behind.put_if_absent("late", b"mine") is False
    assert behind.get("late") == b"mine"


def test_wrong_credentials_are_told_at_once(seaweed, proxy):
    stranger = S3Objects(BUCKET, "x", endpoint=proxy.url, credentials=(ROOT[0], "wrong"))
    with pytest.raises(StorageUnavailable, match="refuses") as told:
        stranger.get("a")
    assert "credentials" in told.value.hint
    assert len(proxy.seen) == 1


@pytest.mark.parametrize("step", ["get", "keys", "put_if_absent"])
def test_a_bucket_that_is_not_there_is_not_taken_for_an_empty_one(seaweed, step):
    nowhere = S3Objects("nowhere", endpoint=seaweed.url, credentials=ROOT, tries=1)
    with pytest.raises(StorageUnavailable):
        {
            "get": lambda: nowhere.get("a"),
            "keys": lambda: nowhere.keys(),
            "put_if_absent": lambda: nowhere.put_if_absent("a", b"1"),
        }[step]()


def test_a_folder_that_loses_its_emptied_folders_still_takes_what_comes(tmp_path):
    """Three delete the last object of a folder while a fourth puts one there, again and again."""
    objects, over = FolderObjects(tmp_path / "objects"), threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            objects.put_if_absent("a/b/gone", b"1")
            objects.delete(["a/b/gone"])

    others = [threading.Thread(target=come_and_go) for _ in range(3)]
    for other in others:
        other.start()
    try:
        for number in range(200):
            assert objects.put_if_absent(f"a/b/{number}", b"1")
            objects.delete([f"a/b/{number}"])
    finally:
        over.set()
        for other in others:
            other.join()
    assert objects.keys() == []
    assert [path.name for path in (tmp_path / "objects").iterdir()] == [".unfinished"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "bucket",
        "http://bucket/prefix",
        "s3://",
        "s3:///prefix",
        "s3://key:secret@bucket",
        "s3://bucket/a b",
        "s3://bucket/../b",
        "s3://bucket?colour=red",
        "s3://bucket?endpoint=http://a&endpoint=http://b",
        "file://host/path",
        "file:///",
        "file://",
    ],
)
def test_what_names_no_store_is_refused(url):
    with pytest.raises(Misconfigured) as told:
        open_objects(url)
    assert "s3://bucket/prefix" in told.value.hint
