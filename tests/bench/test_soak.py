"""The soak counts what it is to judge: refusals that have a row, and doors that do not answer."""

from __future__ import annotations

import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from soak_doors import SHARES, Client, Ledger, Lost, Pace
from souvenance import open_installation, settings_from


class Unavailable(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(503)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def port():
    with HTTPServer(("127.0.0.1", 0), Unavailable) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_port
        server.shutdown()
        serving.join()


@pytest.fixture
def owner_cap(tmp_path):
    with closing(open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(tmp_path)))) as made:
        return made.owner_cap


@pytest.mark.parametrize(("door", "recorded"), [("chat", 1), ("memory", 0)])
def test_a_refused_chat_has_to_have_a_row_and_no_other_refusal(port, owner_cap, door, recorded):
    ledger = Ledger()
    client = Client(door, [port], {"ann": owner_cap}, ledger, 0, Pace(1000))
    with closing(client), pytest.raises(Lost):
        client.call("ann", "POST", "/v1/chat/completions", {})
    assert ledger.calls[door, "503"] == 1
    assert list(ledger.answered.values()) == [door] * recorded


def test_the_door_that_answers_least_of_its_share_is_named():
    ledger, offered = Ledger(), 1000
    assert sum(SHARES.values()) == pytest.approx(1)
    for door, share in SHARES.items():
        for _ in range(round(offered * share)):
            ledger.note(door, "answered" if door != "mcp" else "no answer")
    assert ledger.least_answered(offered) == ("mcp", 0)


def test_a_refusal_is_a_problem_unless_it_met_an_outage(port, owner_cap):
    ledger = Ledger()
    client = Client("memory", [port], {"ann": owner_cap}, ledger, 0, Pace(1000))

    def refused():
        with pytest.raises(Lost):
            client.call("ann", "POST", "/v1/memory/put", {})
        return len(ledger.problems)

    with closing(client):
        assert refused() == 1
        with ledger.outage():
            assert refused() == 1
        assert refused() == 1
