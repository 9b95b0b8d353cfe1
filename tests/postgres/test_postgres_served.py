"""The real command line and the real server on PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from postgres.server import OWNER, PATIENCE_SECONDS, packaged
from surfaces.door import serving, souvenance


@pytest.fixture
def store(url):
    return {"SOUVENANCE_STORE": url}


def test_what_is_put_by_one_process_is_got_by_another_and_nothing_is_in_the_folder(home, store, url):
    def run(*arguments, **more):
        return souvenance(*arguments, home=home, settings=store, **more)

    run("init")
    put = json.loads(run("put", "Trip to Chengdu in May", "--json").out)
    assert "Chengdu" in run("get", "Where does the trip go?").out
    assert sorted(path.name for path in home.iterdir() if path.suffix == ".db") == []
    assert "1 line" in run("doctor").out
    run("key", "rotate")
    run("forget", put["id"], "--yes")
    assert "Chengdu" not in run("get", "Where does the trip go?").out
    run("audit", "verify")


def test_a_data_folder_with_other_keys_is_refused(tmp_path, store):
    first, second = tmp_path / "first", tmp_path / "second"
    souvenance("put", "Trip to Chengdu", home=first, settings=store)
    refused = souvenance("put", "Trip to Rome", home=second, settings=store, exit_code=None)
    assert refused.exit_code != 0
    assert "root.key" in refused.err
    assert not (second / "root.key").exists()
    shutil.rmtree(second)
    second.mkdir(mode=0o700)
    for name in ("root.key", "signing.key"):
        shutil.copy(first / name, second / name)
    assert "Chengdu" in souvenance("get", "trip", home=second, settings=store).out


def test_an_address_can_be_kept_in_a_file_and_no_password_is_shown(tmp_path, home, url):
    kept = tmp_path / "store.url"
    kept.write_text(f"{url}\n")
    kept.chmod(0o600)
    souvenance("put", "Trip to Chengdu", home=home, settings={"SOUVENANCE_STORE": f"@{kept}"})
    unreachable = {"SOUVENANCE_STORE": "postgresql://ann:hunter2@127.0.0.1:1/book"}
    refused = souvenance("init", home=tmp_path / "other", settings=unreachable, exit_code=None)
    assert refused.exit_code != 0
    assert "can't be reached" in refused.err
    assert "hunter2" not in refused.out + refused.err


def test_what_is_no_address_of_a_database_is_refused(home):
    refused = souvenance("status", home=home, settings={"SOUVENANCE_STORE": "mysql://h/b"}, exit_code=None)
    assert refused.exit_code != 0
    assert "SOUVENANCE_STORE" in refused.err


def test_two_servers_serve_one_memory(tmp_path, store):
    first, second = tmp_path / "first", tmp_path / "second"
    with serving(first, **store) as one:
        second.mkdir(mode=0o700)
        for name in ("root.key", "signing.key"):
            shutil.copy(first / name, second / name)
        with serving(second, **store) as other:
            cap = one.mint("ann")
            ann = other.client(cap)
            assert one.client(cap).post("/v1/memory/put", json={"text": "Trip to Chengdu"}).is_success
            assert "Chengdu" in ann.post("/v1/memory/get", json={"query": "Chengdu"}).text
            assert one.owner.post("/v1/caps/revoke", json={"sub": "ann"}).is_success
            assert ann.post("/v1/memory/get", json={"query": "Chengdu"}).status_code == 401


def test_the_commands_of_the_page_make_a_memory_in_a_database_of_its_own(server, tmp_path):
    """The package is installed here. In place of a server, which would stay, the store is checked."""
    page = (Path(__file__).parents[2] / "docs/howto/postgresql.md").read_text("utf-8")
    install, *commands, serve = re.search(r"^```sh\n(.*?)^```$", page, re.M | re.S)[1].splitlines()
    assert (install[:4], serve) == ("pip ", "souvenance serve")
    told = "\n".join(commands).replace(
        "postgresql://USER:PASSWORD@HOST:5432/memory", f"'{server.url('memory')}'"
    )
    programs = (str(Path(sys.executable).parent), str(packaged() / "bin"), os.environ["PATH"])
    connected = {"PGHOST": str(server.folder), "PGUSER": OWNER, "PGDATABASE": "postgres"}
    try:
        ran = subprocess.run(
            ["bash", "-ec", f"{told}\nsouvenance doctor"],
            env={"HOME": str(tmp_path), "PATH": os.pathsep.join(programs), **connected},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert ran.returncode == 0, ran.stderr
        with server.connected("memory") as connection:
            assert "lines" in server.tables(connection)
    finally:
        server.drop("memory")
