import os
import re
import signal
import socket
import stat
import subprocess
from functools import partial

import httpx
import pytest

from environments import client_program
from processes import PATIENCE_SECONDS
from souvenance.adapters.processes import served_at
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.client import RemoteGate
from surfaces.door import environment, serving, souvenance

beginning = partial(serving, anew=True)
"""A server in an interpreter of its own, where it matters how a user's begins and ends."""

LINE = {"namespace": "travel", "text": "Trip to Chengdu"}


def test_the_first_start_says_in_four_lines_where_it_is_and_how_to_use_it(tmp_path):
    home = tmp_path / "home"
    with beginning(home) as server:
        where, how, with_honcho, in_a_browser = server.greeting
        stopped = server.stop()
    assert server.url in where
    assert str(home) in where
    assert "new" in where
    assert how.startswith(f"Use it: curl {server.url}/v1/memory/get ")
    assert with_honcho.startswith(f'Honcho\'s clients: Honcho(base_url="{server.url}", ')
    assert in_a_browser == "In a browser: souvenance open\n"
    assert stopped.out == ""


def test_the_command_of_the_greeting_works_as_it_stands(tmp_path):
    with serving(tmp_path / "home") as server:
        server.owner.post("/v1/memory/put", json=LINE)
        printed = re.search(
            r'curl (\S+) -H "Authorization: Bearer \$\(cat (.+?)\)" -d \'(.+)\'$', server.greeting[1]
        )
        assert printed
        url, cap_file, body = printed.groups()
        with open(cap_file) as file:
            headers = {"authorization": f"Bearer {file.read().strip()}"}
        answer = httpx.post(url, content=body, headers=headers, timeout=PATIENCE_SECONDS)
        assert answer.json()["lines"][0]["text"] == LINE["text"]


def test_the_client_of_the_greeting_works_as_it_stands(tmp_path):
    with serving(tmp_path / "home") as server:
        made = server.greeting[2].partition(": ")[2]
        told = f"from honcho import Honcho\nprint({made.strip()}.peer('ann').chat('Who am I?'))\n"
        run = [client_program("honcho-2.7.0"), "-c", told]
        assert subprocess.run(run, env=environment(), capture_output=True, text=True).stdout == "None\n"


@pytest.mark.embedded("it is about the file")
def test_the_data_folder_is_its_owners_alone(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        server.owner.post("/v1/memory/put", json=LINE)
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert {"souvenance.db", "souvenance.db-wal", "root.key", "signing.key", "owner.cap"} <= set(found)
        assert set(found.values()) == {0o600}


def test_the_data_folder_is_its_owners_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        with beginning(tmp_path / "home") as server:
            server.owner.post("/v1/memory/put", json=LINE)
            modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").iterdir()}
    finally:
        os.umask(before)
    assert modes == {0o600}


def test_a_second_start_keeps_everything(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        line = server.owner.post("/v1/memory/put", json=LINE).json()["id"]
        cap = server.owner_cap
        actor = server.mint("someone")
    kept = {name: (home / name).read_bytes() for name in ("root.key", "signing.key", "owner.cap")}
    with serving(home) as server:
        assert "new" not in server.greeting[0]
        assert server.client(cap).get(f"/v1/memory/lines/{line}").json()["text"] == LINE["text"]
        assert server.client(actor).get("/v1/caps/whoami").status_code == 200
    assert {name: (home / name).read_bytes() for name in kept} == kept


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_server_stops_cleanly_when_asked(tmp_path, how):
    home = tmp_path / "home"
    with beginning(home) as server:
        server.owner.post("/v1/memory/put", json=LINE)
        stopped = server.stop(how)
    assert stopped.exit_code == 0
    assert stopped.err == "Souvenance stopped.\n"
    assert not (home / "souvenance.db-wal").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM] * 2)
def test_the_server_stops_cleanly_when_asked_the_moment_it_greets(tmp_path, how):
    with beginning(tmp_path / "home") as server:
        stopped = server.stop(how)
    assert (stopped.exit_code, stopped.err) == (0, "Souvenance stopped.\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_idle_connection_does_not_keep_the_server_from_stopping(tmp_path, how):
    with serving(tmp_path / "home") as server:
        assert server.client().get("/health").status_code == 200
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as idle:
            idle.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            assert "Souvenance stopped." in server.stop(how).err


def test_a_taken_port_is_a_clear_error(tmp_path):
    with serving(tmp_path / "home") as server:
        port = server.url.rsplit(":", 1)[1]
        refused = souvenance("serve", "--port", port, home=tmp_path / "other", exit_code=11)
        assert server.owner.get("/health").status_code == 200
    assert refused.out == ""
    assert refused.err.startswith(f"misconfigured: 127.0.0.1:{port} can't be listened on: ")
    assert "Another server" in refused.err and "--port" in refused.err


def test_a_second_server_of_a_folder_is_told_where_the_first_one_is(tmp_path):
    with serving(tmp_path / "home") as server:
        port = server.url.rsplit(":", 1)[1]
        refused = souvenance("serve", "--port", port, home=tmp_path / "home", exit_code=11)
    assert f"This folder is served at {server.url} already" in refused.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.invalid"])
def test_an_address_that_others_can_reach_needs_an_explicit_flag(tmp_path, host):
    refused = souvenance("serve", "--port", "0", "--host", host, home=tmp_path / "home", exit_code=11)
    assert refused.out == ""
    assert refused.err.startswith("misconfigured: ")
    assert "--allow-remote" in refused.err


def test_an_address_that_is_not_this_machines_is_a_clear_error(tmp_path):
    arguments = ("--host", "192.0.2.1", "--allow-remote")
    refused = souvenance("serve", "--port", "0", *arguments, home=tmp_path / "home", exit_code=11)
    assert refused.err.startswith("misconfigured: 192.0.2.1:0 can't be listened on: ")


def test_the_server_answers_on_ipv6_loopback_too(tmp_path):
    with serving(tmp_path / "home", "--host", "::1") as server:
        assert server.url.startswith("http://[::1]:")
        assert server.owner.get("/v1/status").status_code == 200


def reached(home):
    """Whether the server that is announced for the folder takes its owner's cap."""
    gate = RemoteGate(served_at(home))
    try:
        return gate.call(o.WHOAMI, Credentials((home / "owner.cap").read_text().strip()), m.Nothing())
    finally:
        gate.close()


def test_a_program_on_the_same_folder_finds_the_server_while_it_serves(home):
    with serving(home) as server:
        assert served_at(home) == server.url
        assert reached(home).sub == "owner"
    assert served_at(home) is None
    assert not (home / "serve.url").exists()


def test_a_killed_server_is_not_found_and_the_next_one_is(home):
    with serving(home) as killed:
        killed.stop(signal.SIGKILL)
        assert served_at(home) is None
    with serving(home) as server:
        assert served_at(home) == server.url != killed.url
        assert reached(home).sub == "owner"


def test_a_second_server_of_the_folder_serves_and_the_first_stays_the_one_that_is_found(home):
    with serving(home) as first, serving(home) as second:
        assert second.owner.get("/v1/status").status_code == 200
        assert served_at(home) == first.url


@pytest.mark.parametrize(("host", "near"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]")])
def test_a_server_for_other_machines_is_found_on_this_one_by_its_loopback_address(home, host, near):
    with serving(home, "--host", host, "--allow-remote") as server:
        assert served_at(home) == f"http://{near}:{server.url.rsplit(':', 1)[1]}"
        assert reached(home).sub == "owner"


def test_a_server_that_answers_to_other_names_only_is_not_announced(home):
    with serving(home, "--host", "0.0.0.0", "--allow-remote", "--host-name", "memory.example"):
        assert served_at(home) is None
