"""A server of a data folder is found as long as it lives, and never a moment longer."""

import multiprocessing
import os
import stat
from contextlib import ExitStack, contextmanager

import filelock  # noqa: F401 - loaded here, for a process that gives up its rights may not read it any more
import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.adapters.processes import LOCK_FILE, URL_FILE, announce, served_at
from souvenance.files import locked

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


@contextmanager
def announced(home, content, mode=0o600):
    """A folder that somebody serves and says this about."""
    with locked(home, name=LOCK_FILE):
        (home / URL_FILE).write_bytes(content)
        (home / URL_FILE).chmod(mode)
        yield


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
    assert not (home / URL_FILE).exists()


def test_the_announcement_is_its_owners_alone(home):
    before = os.umask(0)
    try:
        with announce(home, URL):
            assert {path.name for path in home.iterdir()} == {".lock", LOCK_FILE, URL_FILE}
            assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}
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
        assert (home / URL_FILE).exists()
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
    while not stop.wait(0.002):
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
    with announced(home, content):
        assert served_at(home) is None


@given(content=st.binary(max_size=300))
def test_whatever_the_file_holds_looking_for_a_server_does_not_fail(tmp_path_factory, content):
    home = tmp_path_factory.mktemp("garbled")
    with announced(home, content):
        assert served_at(home) is None


def test_an_announcement_that_others_could_have_written_is_not_believed(home):
    for mode, found in ((0o600, URL), (0o640, URL), (0o620, None), (0o602, None)):
        with announced(home, f"{URL}\n".encode(), mode):
            assert served_at(home) == found


def test_a_link_a_folder_and_a_pipe_are_no_announcement(home, tmp_path):
    (tmp_path / "elsewhere").write_text(f"{URL}\n")
    (tmp_path / "elsewhere").chmod(0o600)
    with locked(home, name=LOCK_FILE):
        (home / URL_FILE).symlink_to(tmp_path / "elsewhere")
        assert served_at(home) is None
        (home / URL_FILE).unlink()
        os.mkfifo(home / URL_FILE)
        assert served_at(home) is None
        (home / URL_FILE).unlink()
        (home / URL_FILE).mkdir()
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
    assert not (home / URL_FILE).exists()
