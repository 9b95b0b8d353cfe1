"""Two processes on one data folder: each sees at once what the other did."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from processes import PATIENCE_SECONDS
from souvenance import open_installation, settings_from
from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.domain import capability
from souvenance.errors import StorageUnavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from surfaces.door import Running, at_once, serving, souvenance

WRITERS = 4
OPENERS = 6
ROUNDS = 5


def put(client, text, namespace="travel"):
    answer = client.post("/v1/memory/put", json={"text": text, "namespace": namespace})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def recalled(client, query):
    answer = client.post("/v1/memory/get", json={"query": query})
    assert answer.status_code == 200, answer.text
    return [line["text"] for line in answer.json()["lines"] if line["matched"]]


def test_four_processes_that_start_a_new_folder_together_share_one_set_of_keys(tmp_path):
    for attempt in range(ROUNDS):
        home = tmp_path / f"home-{attempt}"
        written = at_once(*(("put", f"from {n}") for n in range(WRITERS)), home=home)
        ids = [one.out.strip() for one in written]
        texts = {souvenance("--json", "line", line, home=home).json()["text"] for line in ids}
        assert texts == {f"from {n}" for n in range(WRITERS)}
        souvenance("doctor", home=home)


def test_four_processes_that_start_a_new_folder_together_issue_caps_that_last(tmp_path):
    mint = ("cap", "mint", "--sub", "guest", "--ops", "get", "--namespaces", "travel")
    for attempt in range(ROUNDS):
        home = tmp_path / f"home-{attempt}"
        for minted in at_once(*[mint] * WRITERS, home=home):
            souvenance("--cap", minted.out.strip(), "cap", "whoami", home=home)


def test_a_server_and_several_commands_write_at_once_and_nothing_is_lost(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        commands = [Running("put", f"command {n}", "-n", "travel", home=home) for n in range(WRITERS)]
        served = {put(server.owner, f"server {n}"): f"server {n}" for n in range(40)}
        printed = {one.finish().out.strip(): f"command {n}" for n, one in enumerate(commands)}
        for line, text in {**served, **printed}.items():
            assert server.owner.get(f"/v1/memory/lines/{line}").json()["text"] == text
        assert souvenance("--json", "status", home=home).json()["namespaces"] == [
            {"namespace": "travel", "lines": 40 + WRITERS}
        ]
    souvenance("doctor", home=home)
    assert souvenance("audit", "verify", home=home).out.startswith("ok: ")


def test_a_line_put_by_a_command_is_recalled_by_the_server_on_its_next_request(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        put(server.owner, "Trip to Chengdu")
        assert recalled(server.owner, "trip") == ["Trip to Chengdu"]
        souvenance("put", "Trip to Oslo", "-n", "travel", home=home)
        assert set(recalled(server.owner, "trip")) == {"Trip to Chengdu", "Trip to Oslo"}
        put(server.owner, "Trip to Xi'an")
        assert "Xi'an" in souvenance("get", "trip", home=home).out


def test_a_revocation_by_a_command_is_seen_by_the_server_on_its_next_request(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        token = server.mint("guest")
        guest = server.client(token)
        assert guest.get("/v1/caps/whoami").status_code == 200
        souvenance("cap", "revoke", token, home=home)
        refused = guest.get("/v1/caps/whoami")
        assert (refused.status_code, refused.json()["error"]) == (401, "cap_revoked")


def test_a_revocation_by_the_server_is_seen_by_the_next_command(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        token = server.mint("guest")
        souvenance("--cap", token, "get", home=home)
        server.owner.post("/v1/caps/revoke", json={"sub": "guest"})
        assert souvenance("--cap", token, "get", home=home, exit_code=4).err.startswith("cap_revoked: ")


def test_keys_rotated_by_a_command_serve_the_running_server_and_the_next_one(tmp_path):
    home = tmp_path / "home"
    texts = {}
    with serving(home) as server:
        for attempt in range(3):
            for namespace in ("travel", f"room-{attempt}"):
                text = f"before rotation {attempt} in {namespace}"
                texts[put(server.owner, text, namespace)] = text
            souvenance("key", "rotate", home=home)
            for namespace in (f"new-room-{attempt}", "travel", f"room-{attempt}"):
                text = f"after rotation {attempt} in {namespace}"
                texts[put(server.owner, text, namespace)] = text
            assert recalled(server.owner, "rotation")
        for line, text in texts.items():
            assert server.owner.get(f"/v1/memory/lines/{line}").json()["text"] == text
    with serving(home) as server:
        for line, text in texts.items():
            assert server.owner.get(f"/v1/memory/lines/{line}").json()["text"] == text
    souvenance("doctor", home=home)


def test_a_signing_key_rotated_by_a_command_signs_the_running_servers_next_cap(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        old = server.mint("guest")
        souvenance("key", "rotate", "--signing", home=home)
        made_from_old = server.mint("guest")
        assert capability.key_id(made_from_old) != capability.key_id(old)
        souvenance("cap", "revoke", "--kid", capability.key_id(old), home=home)
        for ended in (old, made_from_old):
            assert server.client(ended).get("/v1/caps/whoami").json()["error"] == "cap_revoked"
        asked = {"sub": "guest", "ops": ["get"], "namespaces_allowed": ["travel"]}
        new = server.client(server.owner_cap).post("/v1/caps", json=asked)
        assert new.status_code == 201, new.text
        assert server.client(new.json()["cap"]).get("/v1/caps/whoami").status_code == 200


def test_a_rotation_that_overtakes_another_destroys_no_key_that_is_in_use(tmp_path):
    """The first has wrapped its keys and not yet retired the old root when the second adds its own."""
    first = KeyFiles.create(tmp_path)
    first.add_root()
    wrapped = first.wrap(b"k" * 32, b"context")
    KeyFiles(tmp_path).add_root()
    first.retire_old_roots()
    assert KeyFiles(tmp_path).unwrap(wrapped, b"context") == b"k" * 32


def test_rotations_at_once_leave_every_line_readable(tmp_path):
    home = tmp_path / "home"
    lines = [souvenance("put", f"line {n}", home=home).out.strip() for n in range(3)]
    at_once(*[("key", "rotate")] * WRITERS, home=home)
    for number, line in enumerate(lines):
        assert souvenance("--json", "line", line, home=home).json()["text"] == f"line {number}"
    souvenance("doctor", home=home)


def test_what_a_command_forgets_the_server_forgets_at_once_whatever_it_had_in_memory(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        line = put(server.owner, "Trip to Chengdu")
        put(server.owner, "Trip to Oslo")
        assert set(recalled(server.owner, "trip")) == {"Trip to Chengdu", "Trip to Oslo"}
        souvenance("forget", line, "--yes", home=home)
        assert server.owner.get(f"/v1/memory/lines/{line}").status_code == 404
        assert recalled(server.owner, "trip") == ["Trip to Oslo"]
        souvenance("forget", "-n", "travel", "--yes", home=home)
        assert recalled(server.owner, "trip") == []
        assert server.owner.post("/v1/memory/list", json={"history": True}).json()["lines"] == []
        assert "Chengdu" not in server.owner.post("/v1/memory/snapshot", json={}).text
        put(server.owner, "Trip to Lima")
        assert recalled(server.owner, "trip") == ["Trip to Lima"]


def test_what_the_server_forgets_beside_other_processes_is_gone_from_every_file(tmp_path):
    home = tmp_path / "home"
    with serving(home) as server:
        put(server.owner, "Trip to Chengdu")
        before = (home / "souvenance.db").read_bytes() + (home / "souvenance.db-wal").read_bytes()
        souvenance("get", "trip", home=home)
        told = server.owner.post("/v1/memory/forget", json={"namespace": "travel"}).json()
        assert (told["lines"], told["scrubbed"]) == (1, True)
        after = (home / "souvenance.db").read_bytes() + (home / "souvenance.db-wal").read_bytes()
    assert b"travelseal" in before
    assert b"travelseal" not in after


def test_a_folder_that_a_process_opens_a_second_time_loses_nothing_to_another_process(tmp_path):
    home = tmp_path / "home"
    installation = open_installation(settings_from({}, str(home)))
    owner = Credentials(installation.owner_cap)
    installation.gate.call(o.PUT, owner, m.Put("one"))
    open_installation(settings_from({}, str(home))).close()
    souvenance("put", "two", home=home)
    line = installation.gate.call(o.PUT, owner, m.Put("three")).id
    assert souvenance("--json", "line", line, home=home).json()["text"] == "three"
    installation.close()


def test_whoever_opens_a_new_store_at_the_same_moment_waits_for_the_other(tmp_path):
    """SQLite refuses one of them now and then: of so many, before, nearly always some."""
    files = [tmp_path / f"{number}.db" for number in range(60)]
    together, refused = Barrier(OPENERS), []

    def open_each(_):
        for file in files:
            together.wait(PATIENCE_SECONDS)
            try:
                SqliteEngine(file).close()
            except StorageUnavailable as error:
                refused.append(error)

    with ThreadPoolExecutor(OPENERS) as threads:
        list(threads.map(open_each, range(OPENERS)))
    assert refused == []
