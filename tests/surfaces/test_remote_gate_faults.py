"""A gate behind a URL that is dead, slow, foreign or hostile: one clear error, in time, and no cap astray."""

import gzip
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.receivers import Authority, receiver
from pace import examples
from ports import vacant_port
from processes import until
from souvenance.errors import InvalidInput, Misconfigured, ServerUnreachable, SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as own
from souvenance.gate.conversation.context import READ_CARD, ReadCard
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.peers import LIST_PEERS, ListPeers
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http import client
from souvenance.surfaces.http.client import MOST_ANSWER_BYTES, RemoteGate
from surfaces.afar import NAMES, asked, raised
from surfaces.declared import OPERATIONS

CAP = Credentials("a.secret.cap")
LISTED = ListPeers(workspace_id="home")
NOTHING = b'{"items":[],"total":0,"page":1,"size":50,"pages":0}'
SHORT = 0.3
LONGEST = 30.0
"""What a call with the short timeout may take on a busy machine."""


def answered(body=NOTHING, status="200 OK", *headers):
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def port(behave):
    """A port where every connection is treated by `behave`, which is given the line and its number."""
    over = threading.Event()
    lines = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept():
            while True:
                line, _ = listening.accept()
                if over.is_set():
                    line.close()
                    return
                lines.append(line)
                threads.append(threading.Thread(target=treat, args=(line, len(lines))))
                threads[-1].start()

        def treat(line, number):
            with line:
                try:
                    behave(line, number)
                    over.wait()
                except OSError:
                    return

        threads = [threading.Thread(target=accept)]
        threads[0].start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield url, lines
        finally:
            over.set()
            socket.create_connection(listening.getsockname()).close()
            for thread in threads:
                thread.join()


def heard(line):
    """One request, whole."""
    told = b""
    while b"\r\n\r\n" not in told:
        if not (more := line.recv(65536)):
            raise ConnectionResetError
        told += more
    head, _, body = told.partition(b"\r\n\r\n")
    size = next((int(one[15:]) for one in head.lower().split(b"\r\n") if one[:15] == b"content-length:"), 0)
    while len(body) < size:
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def reaching(url, **more):
    gate = RemoteGate(url, **more)
    try:
        yield gate
    finally:
        gate.close()


def in_time(gate, **more):
    """The error of a call, which must not take longer than it may."""
    start = time.monotonic()
    with pytest.raises(ServerUnreachable) as refused:
        gate.call(LIST_PEERS, CAP, LISTED, **more)
    assert time.monotonic() - start < LONGEST
    assert "secret" not in refused.value.detail + refused.value.hint
    return refused.value


def test_a_port_where_nobody_listens_is_told_at_once():
    with vacant_port() as port, reaching(f"http://127.0.0.1:{port}") as gate:
        assert in_time(gate).retryable


@pytest.mark.parametrize(
    "begun",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n", answered()[:-1]],
)
@pytest.mark.parametrize("by_call", [True, False])
def test_a_server_that_falls_silent_costs_no_more_than_the_timeout(begun, by_call):
    def behave(line, number):
        heard(line)
        line.sendall(begun)

    with port(behave) as (url, _), reaching(url, **({} if by_call else {"timeout": SHORT})) as gate:
        assert "timed out" in in_time(gate, **({"timeout": SHORT} if by_call else {})).detail


def test_a_server_that_does_not_come_to_an_end_costs_no_more_than_the_timeout():
    def behave(line, number):
        heard(line)
        line.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            line.sendall(b"1\r\n \r\n")

    with port(behave) as (url, _), reaching(url, timeout=SHORT) as gate:
        until(lambda: "does not come to an end" in in_time(gate).detail)  # Or it is late to begin.


@pytest.mark.parametrize(
    "told",
    [
        b"220 mail.example ESMTP ready\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x00\x02\x02\x28",
        b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 999999 what\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        answered(b"junk", "200 OK", "content-encoding: gzip"),
        answered(b"x" * 200_000, "200 OK", "x: " + "y" * 200_000),
        b"",
    ],
)
def test_what_does_not_speak_http_is_a_server_that_is_not_there(told):
    def behave(line, number):
        heard(line)
        line.sendall(told)
        line.shutdown(socket.SHUT_RDWR)

    with port(behave) as (url, _), reaching(url, timeout=SHORT) as gate:
        in_time(gate)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed_so_the_cap_stays_with_the_server_it_was_for(status):
    def elsewhere(line, number):
        heard(line)
        line.sendall(answered())

    with port(elsewhere) as (target, visits):

        def behave(line, number):
            heard(line)
            line.sendall(
                answered(b"", f"{status} Moved", f"location: {target}/v3/workspaces/home/peers/list")
            )

        with port(behave) as (url, _), reaching(url) as gate:
            refused = in_time(gate)
        assert "points elsewhere" in refused.detail
        assert visits == []


def test_an_answer_without_end_is_given_up():
    sent = []

    def behave(line, number):
        heard(line)
        line.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            sent.append(line.send(b"100000\r\n%s\r\n" % (b" " * (1 << 20))))

    with port(behave) as (url, _), reaching(url) as gate:
        assert "more than" in raised(gate, LIST_PEERS, CAP, LISTED).detail
    assert sum(sent) < 2 * MOST_ANSWER_BYTES


def test_an_answer_is_not_unpacked_for_nobody_knows_how_large_it_is():
    def behave(line, number):
        assert b"\r\naccept-encoding: identity\r\n" in heard(line).lower()
        line.sendall(answered(gzip.compress(b" " * (1 << 20)), "200 OK", "content-encoding: gzip"))

    with port(behave) as (url, _), reaching(url) as gate:
        assert "encoding" in in_time(gate).detail


def test_an_answer_nested_without_end_is_not_one():
    def behave(line, number):
        heard(line)
        line.sendall(answered(b"[" * 1_000_000))

    with port(behave) as (url, _), reaching(url) as gate:
        in_time(gate)


class Keeping:
    """A server that answers once on each connection and closes it when it is asked there again."""

    def __init__(self):
        self.requests = []

    def __call__(self, line, number):
        self.requests.append(heard(line))
        line.sendall(answered())
        self.requests.append(heard(line))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()


def test_a_kept_connection_that_closes_as_it_is_used_again_is_no_failure_for_what_only_reads():
    keeping = Keeping()
    with port(keeping) as (url, lines), reaching(url) as gate:
        for _ in range(3):
            assert gate.call(LIST_PEERS, CAP, LISTED).total == 0
        assert len(lines) == 3
    assert len(set(keeping.requests)) == 1


def test_a_write_is_sent_once_for_not_every_server_can_tell_a_repetition():
    keeping = Keeping()
    said = [NewMessage(peer_id="ann", content="I like tea.")]
    request = AddMessages(workspace_id="home", session_id="walk", messages=said, idempotency_key="7")
    with port(keeping) as (url, lines), reaching(url) as gate:
        gate.call(LIST_PEERS, CAP, LISTED)
        assert type(raised(gate, ADD_MESSAGES, CAP, request)) is ServerUnreachable
        assert len(lines) == 1
    assert len([told for told in keeping.requests if b"I like tea." in told]) == 1


def test_a_proof_is_not_sent_twice():
    keeping = Keeping()
    with port(keeping) as (url, lines), reaching(url) as gate:
        gate.call(LIST_PEERS, CAP, LISTED)
        proved = Credentials(CAP.token, "a.proof")
        assert type(raised(gate, LIST_PEERS, proved, LISTED)) is ServerUnreachable
        assert len(lines) == 1


def test_a_server_that_closes_every_connection_is_tried_twice_and_no_more():
    def behave(line, number):
        heard(line)
        line.shutdown(socket.SHUT_RDWR)

    with port(behave) as (url, lines), reaching(url) as gate:
        in_time(gate)
        assert len(lines) == 2


def test_connections_are_kept_and_bounded_whatever_the_number_of_callers():
    def behave(line, number):
        while True:
            heard(line)
            line.sendall(answered())

    with port(behave) as (url, lines), reaching(url) as gate, ThreadPoolExecutor(40) as threads:
        list(threads.map(lambda _: gate.call(LIST_PEERS, CAP, LISTED), range(400)))
        assert len(lines) < 40, "sixteen, and one for each that was closed when a busy machine paused"


def test_as_many_are_asked_at_once_as_there_may_be_connections_and_those_nobody_needs_are_closed(monkeypatch):
    together, gone = threading.Barrier(24), []

    def behave(line, number):
        heard(line)
        together.wait(LONGEST)
        line.sendall(answered())
        try:
            while True:
                heard(line)
                line.sendall(answered())
        finally:
            gone.append(number)

    monkeypatch.setattr(client, "_KEPT_SECONDS", 0.0)
    with (
        port(behave) as (url, lines),
        reaching(url, connections=24) as gate,
        ThreadPoolExecutor(24) as threads,
    ):
        list(threads.map(lambda _: gate.call(LIST_PEERS, CAP, LISTED), range(24)))
        assert len(lines) == 24
        assert until(lambda: len(gone) >= 23)


def test_an_address_that_does_not_answer_at_all_costs_the_timeout():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(8)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        with reaching(f"http://127.0.0.1:{full.getsockname()[1]}", timeout=SHORT) as gate:
            assert "timed out" in in_time(gate).detail
        for one in waiting:
            one.close()


@pytest.mark.parametrize(
    "url", ["http://[", "http://127.0.0.1:port", "http://a..b", "ftp://127.0.0.1", "", "x"]
)
def test_an_address_that_is_none_is_a_server_that_is_not_there(url):
    with pytest.raises(ServerUnreachable), reaching(url) as gate:
        gate.call(own.WHOAMI, CAP, m.Nothing())


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "junk", "socks5://127.0.0.1:1"])
def test_a_server_on_this_machine_is_never_asked_through_a_proxy(monkeypatch, proxy):
    def behave(line, number):
        heard(line)
        line.sendall(answered())

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
    with port(behave) as (url, _), reaching(url) as gate:
        assert gate.call(LIST_PEERS, CAP, LISTED).total == 0


def test_a_proxy_that_can_not_be_used_is_named(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "junk://127.0.0.1")
    with pytest.raises(Misconfigured, match="proxy"):
        RemoteGate("https://memory.example")


@pytest.mark.parametrize(
    "variables, through",
    [
        ({"HTTP_PROXY": "{proxy}"}, True),
        ({"ALL_PROXY": "{proxy}"}, True),
        ({"HTTP_PROXY": "{bare}"}, True),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "elsewhere.example"}, True),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "memory.invalid"}, False),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "other, .invalid"}, False),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "memory.invalid:8787"}, False),
        ({"HTTP_PROXY": "{proxy}", "NO_PROXY": "*"}, False),
        ({"HTTPS_PROXY": "{proxy}"}, False),
    ],
)
def test_a_server_elsewhere_is_asked_through_the_proxy_that_the_environment_names(
    monkeypatch, variables, through
):
    seen = []

    def behave(line, number):
        seen.append(heard(line))
        line.sendall(answered())

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with port(behave) as (url, _):
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(proxy=url, bare=url.removeprefix("http://")))
        with reaching("http://memory.invalid:8787") as gate:
            if through:
                assert gate.call(LIST_PEERS, CAP, LISTED).total == 0
                assert b"http://memory.invalid:8787/v3/workspaces/home/peers/list" in seen[0]
            else:
                with pytest.raises(ServerUnreachable):
                    gate.call(LIST_PEERS, CAP, LISTED)
                assert not seen


def test_a_name_and_password_in_the_address_and_its_path_are_sent():
    seen = []

    def behave(line, number):
        seen.append(heard(line))
        line.sendall(answered())

    with port(behave) as (url, _), reaching(url.replace("://", "://ann:p%40ss@") + "/a%2Fb c/") as gate:
        assert gate.call(LIST_PEERS, Credentials(""), LISTED).total == 0
    assert b"POST /a%2Fb%20c/v3/workspaces/home/peers/list" in seen[0]
    assert b"Basic YW5uOnBAc3M=" in seen[0]


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def do_GET(self):
        self.server.path = self.path
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        if self.server.status not in (204, 304):
            self.wfile.write(self.server.body)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - the base class looks for these names

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def answering():
    """A server that answers with whatever it is given, and a gate that asks it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with reaching(f"http://127.0.0.1:{server.server_port}") as gate:
        yield server, gate
    server.shutdown()
    server.server_close()
    thread.join()


FIELDS = st.sampled_from(["id", "items", "messages", "content", "created_at", "detail", "error", "hint"])
WORDS = st.text(max_size=8) | st.sampled_from(["cap_expired", "rate_limited", "2026-01-01T00:00:00Z"])
TOLD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | WORDS, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=examples(200), deadline=None)
@given(
    operation=st.sampled_from(OPERATIONS),
    status=st.sampled_from([200, 201, 202, 204, 206, 300, 304, 400, 401, 404, 409, 413, 422, 429, 500, 503]),
    body=st.binary(max_size=40) | TOLD.map(lambda told: json.dumps(told).encode()),
)
def test_whatever_is_answered_it_is_an_answer_or_an_error_of_ours(answering, operation, status, body):
    server, gate = answering
    server.status, server.body = status, body
    try:
        answer = gate.call(operation, CAP, asked(operation, NAMES))
    except SouvenanceError as error:
        assert isinstance(error.detail, str)
        assert isinstance(error.hint, str)
    else:
        assert status < 300
        assert isinstance(answer, m.Answer)


@settings(max_examples=examples(200), deadline=None)
@given(name=st.text(min_size=1) | st.sampled_from([".", "..", "%2e%2e", "a/..", "?", "#", "a;b", "ü"]))
def test_a_name_arrives_as_one_segment_of_the_path_or_is_refused(answering, name):
    server, gate = answering
    server.status, server.body, server.path = 200, b'{"peer_card": null}', None
    try:
        gate.call(READ_CARD, CAP, ReadCard(workspace_id="home", peer_id=name))
    except InvalidInput:
        assert server.path is None
        assert name in (".", "..") or "/" in name
    else:
        assert [unquote(part) for part in server.path.split("/")[4:]] == ["peers", name, "card"]


def test_a_server_that_no_authority_vouches_for_is_not_spoken_to(tmp_path):
    with receiver(tls=Authority(tmp_path).context("127.0.0.1")) as server:
        gate = RemoteGate(f"https://127.0.0.1:{server.port}")
        assert "certificate" in in_time(gate).detail
        gate.close()
    assert server.received == []
