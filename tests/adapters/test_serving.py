"""A server of a data folder is found as long as it lives, and never a moment longer."""

import fcntl
import multiprocessing
import os
import stat
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.adapters.processes import LOCK_FILE, announce, served_at

URL = "http://127.0.0.1:8787"
OTHER = "http://[::1]:8788"
PATIENCE_SECONDS = 60
PROCESSES = multiprocessing.get_context("spawn")


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def announcing(home, url, told):
    """A process that announces itself, says so, and lives until it is killed or told to go."""
    with announce(home, url):
        told.send(None)
        if told.poll(PATIENCE_SECONDS):
            told.recv()


def held(path, content):
    """A file that holds this, and its lock."""
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def test_a_folder_that_nobody_serves_has_no_server_and_stays_as_it_is(home, tmp_path):
    assert served_at(home) is None
    assert served_at(tmp_path / "nothing-here") is None
    assert list(tmp_path.rglob("*")) == [home]


@pytest.mark.parametrize("url", [URL, OTHER, "http://127.8.9.1:1"])
def test_a_server_is_found_while_it_serves(home, url):
    with announce(home, url):
        assert served_at(home) == url
        assert served_at(home) == url
    assert served_at(home) is None
    assert list(home.iterdir()) == []


def test_the_announcement_is_its_owners_alone(home):
    before = os.umask(0)
    try:
        with announce(home, URL):
            assert [path.name for path in home.iterdir()] == [LOCK_FILE]
            assert stat.S_IMODE((home / LOCK_FILE).stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_the_first_server_stays_the_one_that_is_found(home):
    with announce(home, URL):
        with announce(home, OTHER):
            assert served_at(home) == URL
        assert served_at(home) == URL
    with announce(home, OTHER):
        assert served_at(home) == OTHER


def test_a_killed_server_is_not_found_and_does_not_stand_in_the_way(home):
    ours, theirs = PROCESSES.Pipe()
    for url in (URL, OTHER):
        server = PROCESSES.Process(target=announcing, args=(home, url, theirs))
        server.start()
        ours.recv()
        assert served_at(home) == url
        server.kill()
        server.join()
        assert (home / LOCK_FILE).exists()
        assert served_at(home) is None
    with announce(home, URL):
        assert served_at(home) == URL


def test_a_reader_never_sees_anything_but_nothing_or_a_whole_live_url(home):
    """Servers come, are killed and go, while another looks."""
    stop, told = PROCESSES.Event(), PROCESSES.Queue()
    reader = PROCESSES.Process(target=reading, args=(home, stop, told))
    reader.start()
    ours, theirs = PROCESSES.Pipe()
    urls = [f"http://127.0.0.1:{7000 + number}" for number in range(4)]
    for number, url in enumerate(urls):
        server = PROCESSES.Process(target=announcing, args=(home, url, theirs))
        server.start()
        ours.recv()
        assert served_at(home) == url
        if number % 2:
            server.kill()
        else:
            ours.send(None)
        server.join()
    stop.set()
    seen = told.get(timeout=PATIENCE_SECONDS)
    reader.join()
    assert seen == sorted(set(seen))
    assert set(seen) <= set(urls)


def reading(home, stop, told):
    """The different URLs that were seen, in the order they appeared; one that comes back is told twice."""
    order = []
    while not stop.is_set():
        url = served_at(home)
        if url is not None and (not order or order[-1] != url):
            order.append(url)
    told.put(order)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"http://127.0.0.1:87",
        b"http://127.0.0.1:8787\nmore",
        b"https://127.0.0.1:8787\n",
        b"http://memory.example:8787\n",
        b"http://192.0.2.1:8787\n",
        b"http://127.0.0.1@evil.example:80\n",
        b"http://127.0.0.1:8787/../x\n",
        b"\xff\xfe\x00",
        b"x" * 100_000,
    ],
)
def test_a_garbled_announcement_is_none(home, content):
    descriptor = held(home / LOCK_FILE, content)
    os.chmod(home / LOCK_FILE, 0o600)
    assert served_at(home) is None
    os.close(descriptor)


@given(content=st.binary(max_size=300))
def test_whatever_the_file_holds_looking_for_a_server_does_not_fail(tmp_path_factory, content):
    home = tmp_path_factory.mktemp("garbled")
    descriptor = held(home / LOCK_FILE, content)
    os.chmod(home / LOCK_FILE, 0o600)
    assert served_at(home) is None
    os.close(descriptor)


def test_an_announcement_that_others_could_have_written_is_not_believed(home):
    descriptor = held(home / LOCK_FILE, f"{URL}\n".encode())
    for mode, found in ((0o600, URL), (0o640, URL), (0o620, None), (0o602, None)):
        os.chmod(home / LOCK_FILE, mode)
        assert served_at(home) == found
    os.close(descriptor)


def test_a_link_a_folder_and_a_pipe_are_no_announcement(home, tmp_path):
    descriptor = held(tmp_path / "elsewhere", f"{URL}\n".encode())
    os.chmod(tmp_path / "elsewhere", 0o600)
    (home / LOCK_FILE).symlink_to(tmp_path / "elsewhere")
    assert served_at(home) is None
    os.close(descriptor)
    (home / LOCK_FILE).unlink()
    os.mkfifo(home / LOCK_FILE)
    assert served_at(home) is None
    (home / LOCK_FILE).unlink()
    (home / LOCK_FILE).mkdir()
    assert served_at(home) is None
    with announce(home, URL):
        assert served_at(home) is None


def test_a_folder_that_is_not_there_is_served_unannounced(tmp_path):
    with announce(tmp_path / "nothing-here", URL):
        assert served_at(tmp_path / "nothing-here") is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_written_to_is_served_unannounced(home):
    ours, theirs = PROCESSES.Pipe()
    home.chmod(0o555)
    server = PROCESSES.Process(target=announcing_as_nobody, args=(home, URL, theirs))
    server.start()
    ours.recv()
    assert served_at(home) is None
    assert list(home.iterdir()) == []
    ours.send(None)
    server.join()
    assert server.exitcode == 0
    home.chmod(0o700)


def announcing_as_nobody(home, url, told):
    if os.geteuid() == 0:
        os.chdir(home)
        os.setgid(65534)
        os.setuid(65534)
        home = type(home)(".")
    announcing(home, url, told)


def test_a_server_that_goes_takes_no_other_announcement_with_it(home):
    with ExitStack() as later:
        with announce(home, URL):
            (home / LOCK_FILE).unlink()
            later.enter_context(announce(home, OTHER))
        assert served_at(home) == OTHER
    assert list(home.iterdir()) == []
