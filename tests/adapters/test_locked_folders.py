"""A lock on a folder: for one at a time, among processes and threads, and only while its holder lives."""

import multiprocessing
import os
import stat
import threading
from contextlib import ExitStack

import pytest

from souvenance import files
from souvenance.errors import StorageBusy, StorageReadOnly
from souvenance.files import LOCK_FILE, locked, replace_file

PATIENCE_SECONDS = 60
PROCESSES = multiprocessing.get_context("spawn")


def holding(folder, told):
    with locked(folder):
        told.send(None)
        told.poll(PATIENCE_SECONDS)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the folder."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=holding, args=(tmp_path, theirs))
    process.start()
    ours.recv()
    yield process
    process.kill()
    process.join()


def test_a_folder_that_another_process_holds_is_waited_for_no_longer_than_one_is_patient(tmp_path, holder):
    with pytest.raises(StorageBusy), locked(tmp_path, 0):
        pytest.fail("two have it")
    with pytest.raises(StorageBusy), locked(tmp_path, 0.05):
        pytest.fail("two have it")


def test_the_lock_of_a_process_that_was_killed_is_gone_with_it(tmp_path, holder):
    holder.kill()
    holder.join()
    with locked(tmp_path, PATIENCE_SECONDS):
        assert (tmp_path / LOCK_FILE).exists()


def test_a_lock_file_that_is_there_stands_in_nobodys_way(tmp_path):
    for _ in range(3):
        with locked(tmp_path, 0):
            assert stat.S_IMODE((tmp_path / LOCK_FILE).stat().st_mode) == 0o600
        assert (tmp_path / LOCK_FILE).exists()


def test_threads_of_a_process_keep_each_other_out_too(tmp_path):
    counted = [0]

    def count():
        for _ in range(20):
            with locked(tmp_path):
                before = counted[0]
                os.stat(tmp_path)
                counted[0] = before + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert counted == [80]


def test_two_names_in_a_folder_are_two_locks(tmp_path):
    with locked(tmp_path, 0), locked(tmp_path, 0, "other.lock"):
        assert sorted(os.listdir(tmp_path)) == [LOCK_FILE, "other.lock"]


def test_a_folder_that_is_missing_is_not_made(tmp_path):
    with pytest.raises(StorageReadOnly), locked(tmp_path / "missing"):
        pytest.fail("there is nothing to lock")
    assert os.listdir(tmp_path) == []


def test_a_child_of_a_fork_keeps_no_lock_of_its_parents(tmp_path):
    with ExitStack() as held:
        held.enter_context(locked(tmp_path))
        ours, theirs = os.pipe()
        if (child := os.fork()) == 0:
            os.close(theirs)
            os.read(ours, 1)
            os._exit(0)
        held.close()
        with locked(tmp_path, 0):
            pass
        os.close(theirs)
        os.close(ours)
        os.waitpid(child, 0)


def test_a_file_that_is_being_read_is_replaced_when_windows_allows_it(tmp_path, monkeypatch):
    """Windows refuses while another program has the file open."""
    refusals = [PermissionError(13, "Permission denied")] * 3
    replace = os.replace

    def as_on_windows(fresh, path):
        if refusals:
            raise refusals.pop()
        replace(fresh, path)

    monkeypatch.setattr(files, "_HAS_MODES", False)
    monkeypatch.setattr(os, "replace", as_on_windows)
    replace_file(tmp_path / "file", b"new", 0o600)
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]
