"""Who calls a server can be asked meanwhile whether it is the server that is waited for."""

import http.server
import threading
import time

import pytest

from processes import PATIENCE_SECONDS, until
from souvenance.agents.awaited_answers import Awaited
from souvenance.errors import ServerUnreachable
from souvenance.gate.conversation.context import READ_CARD, ReadCard
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.client import RemoteGate

CARD = b'{"peer_card": null}'
ASKED = ReadCard(workspace_id="home", peer_id="ann")


class Thinking(http.server.BaseHTTPRequestHandler):
    """Says that it was asked, and answers when it may: its head first, and the rest when it may again."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.release()
        self.server.may_begin.acquire()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(CARD)))
        self.end_headers()
        self.wfile.flush()
        self.server.may_end.acquire()
        self.wfile.write(CARD)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thinking)
    made.asked, made.may_begin, made.may_end = (threading.Semaphore(0) for _ in range(3))
    serving = threading.Thread(target=made.serve_forever, args=(0.01,))
    serving.start()
    yield made
    made.may_begin.release(10)
    made.may_end.release(10)
    made.shutdown()
    made.server_close()
    serving.join()


@pytest.fixture
def gate(server):
    made = RemoteGate(f"http://127.0.0.1:{server.server_port}")
    yield made
    made.close()


def is_awaited_from_the_request_to_the_end_of_the_answer(server, gate):
    awaited, answers = Awaited(), []

    def silence():
        return awaited.silence(time.monotonic())

    def call():
        answers.append(gate.call(READ_CARD, Credentials("k"), ASKED, awaited=awaited))

    assert silence() == 0.0
    calling = threading.Thread(target=call)
    calling.start()
    assert server.asked.acquire(timeout=PATIENCE_SECONDS)
    first = until(silence)
    assert until(lambda: silence() > first)
    server.may_begin.release()
    assert until(silence)
    server.may_end.release()
    calling.join(PATIENCE_SECONDS)
    assert [answer.peer_card for answer in answers] == [None]
    return silence() == 0.0


def test_a_server_is_awaited_from_the_request_to_the_answer_on_a_new_and_a_kept_connection(server, gate):
    assert is_awaited_from_the_request_to_the_end_of_the_answer(server, gate)
    assert is_awaited_from_the_request_to_the_end_of_the_answer(server, gate)


def test_a_server_that_is_gone_is_awaited_no_more(server, gate):
    server.may_begin.release()
    server.may_end.release()
    gate.call(READ_CARD, Credentials("k"), ASKED)
    server.shutdown()
    server.server_close()
    nowhere, awaited = RemoteGate(f"http://127.0.0.1:{server.server_port}"), Awaited()
    with pytest.raises(ServerUnreachable):
        nowhere.call(READ_CARD, Credentials("k"), ASKED, awaited=awaited)
    nowhere.close()
    assert awaited.silence(time.monotonic()) == 0.0
