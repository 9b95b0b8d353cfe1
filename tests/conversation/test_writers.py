"""Many writers on one session of a real server: nothing is lost, doubled or reordered."""

from __future__ import annotations

import socket
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from conversation.world import speaking
from surfaces.door import serving

WRITERS = 16
BATCHES = 6


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("writers") / "home") as server:
        yield server


def at_once(number, job):
    """Run the job that often, all beginning at the same moment."""
    start = threading.Barrier(number)

    def one(which):
        start.wait(60)
        return job(which)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def everything(speaker, session):
    found = speaker.told("POST", f"/sessions/{session}/messages/list", params={"size": 100})
    items = found["items"]
    for page in range(2, found["pages"] + 1):
        asked = {"size": 100, "page": page}
        items += speaker.told("POST", f"/sessions/{session}/messages/list", params=asked)["items"]
    return items


@pytest.mark.parametrize("authors", ["apart", "together"])
def test_sixteen_writers_leave_no_gap_no_duplicate_and_each_its_own_order(server, authors):
    def write(which):
        peer = f"peer-{which}" if authors == "apart" else "everyone"
        with speaking(server, authors) as speaker:
            acknowledged = []
            for batch in range(BATCHES):
                texts = [f"{which}:{batch}:{part}" for part in range(1 + (which + batch) % 3)]
                acknowledged += [one["id"] for one in speaker.say("s", *texts, peer=peer)]
            return acknowledged

    acknowledged = at_once(WRITERS, write)
    with speaking(server, authors) as speaker:
        items = everything(speaker, "s")
    ids = [one["id"] for one in items]
    assert Counter(ids) == Counter(one for ours in acknowledged for one in ours)
    assert max(Counter(ids).values()) == 1
    place = {one: number for number, one in enumerate(ids)}
    for ours in acknowledged:
        assert [place[one] for one in ours] == sorted(place[one] for one in ours)
    _assert_batches_stay_together([one["content"] for one in items])


def _assert_batches_stay_together(texts):
    for text in texts:
        writer, batch, part = text.split(":")
        if part != "0":
            before = texts[texts.index(text) - 1]
            assert before == f"{writer}:{batch}:{int(part) - 1}"


@pytest.mark.embedded("it looks into the file")
def test_the_turns_of_a_session_are_one_to_n_whoever_writes(server):
    with speaking(server, "turns") as speaker:
        at_once(WRITERS, lambda which: _say(server, "turns", [f"{which} a", f"{which} b"], f"p{which}"))
        speaker.told("DELETE", "/sessions/s/peers", ["p0"])
        made = speaker.told("POST", "/sessions/s/clone")["id"]
        assert len(everything(speaker, made)) == 2 * WRITERS
    turns = turns_of(server, "turns", "s")
    assert turns == list(range(1, 2 * WRITERS + 1))
    assert turns_of(server, "turns", made) == turns


def turns_of(server, workspace, session):
    with sqlite3.connect(f"file:{server.home / 'souvenance.db'}?mode=ro", uri=True) as store:
        asked = (
            "SELECT turn FROM lines WHERE workspace = ? AND session = ? AND turn IS NOT NULL ORDER BY turn"
        )
        found = [row[0] for row in store.execute(asked, (workspace, session))]
    store.close()
    return found


def _say(server, workspace, texts, peer):
    with speaking(server, workspace) as speaker:
        return speaker.say("s", *texts, peer=peer)


def test_the_same_batch_from_sixteen_connections_at_once_is_stored_once(server):
    answers = at_once(WRITERS, lambda which: _say(server, "same", ["one", "two"], "alice"))
    assert all(answer == answers[0] for answer in answers)
    with speaking(server, "same") as speaker:
        assert [one["content"] for one in everything(speaker, "s")] == ["one", "two"]


def test_readers_see_whole_batches_while_writers_write(server):
    stop = threading.Event()

    def read():
        seen = []
        with speaking(server, "whole") as speaker:
            while not stop.is_set():
                seen.append([one["content"] for one in speaker.context("s", summary=False)["messages"]])
        return seen

    def write(which):
        for number in range(3):
            _say(server, "whole", [f"{which} {number} a", f"{which} {number} b"], "x")

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            at_once(
                4, lambda which: [_say(server, "whole", [f"{which}{n}a", f"{which}{n}b"], "x") for n in "xyz"]
            )
        finally:
            stop.set()
        views = [view for reader in readers for view in reader.result()]
    assert {len(view) % 2 for view in views} == {0}
    for view in views:
        assert [text[:-1] for text in view[::2]] == [text[:-1] for text in view[1::2]]


class Cutting:
    """A proxy that passes every request on, and drops the connection in place of the first answers."""

    def __init__(self, server, cuts):
        place = urlsplit(server.url)
        self._to = (place.hostname, place.port)
        self._cuts = cuts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *failure):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with near, socket.create_connection(self._to) as far:
                far.sendall(_message(near))
                answer = _message(far)
                self._cuts -= 1
                if self._cuts < 0:
                    near.sendall(answer)


def _message(line):
    """One HTTP message as it came, of which the length is told."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    [length] = [
        int(one.split(b":")[1]) for one in head.split(b"\r\n") if one.lower().startswith(b"content-length")
    ]
    while len(body) < length:
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.mark.parametrize("cuts", [1, 3])
def test_a_client_that_tries_again_after_a_cut_connection_stores_its_batch_once(server, cuts):
    workspace = f"cut-{cuts}"
    with Cutting(server, cuts) as proxy:
        for attempt in range(cuts + 1):
            with speaking(server, workspace, proxy.url) as speaker:
                speaker._wire.headers["connection"] = "close"
                try:
                    answered = speaker.say("s", "one", ("bob", "two"))
                except httpx.RemoteProtocolError:
                    assert attempt < cuts
                else:
                    assert attempt == cuts
    with speaking(server, workspace) as speaker:
        assert everything(speaker, "s") == answered
        assert [one["content"] for one in answered] == ["one", "two"]
