"""Reindexing under kill -9: nothing is lost, and whoever comes next goes on where it was."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from souvenance import open_installation, settings_from
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials
from surfaces.door import environment, souvenance

REINDEXER = Path(__file__).with_name("reindexer.py")
LINES = 1500
BATCH = 100


def filled(home):
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    owner = Credentials(installation.owner_cap)
    for first in range(0, LINES, BATCH):
        said = [NewMessage(peer_id="ann", content=f"walk number {first + n}") for n in range(BATCH)]
        request = AddMessages(workspace_id="home", session_id="walks", messages=said)
        installation.gate.call(ADD_MESSAGES, owner, request)
    installation.close()


def indexed(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store:
        return store.execute("SELECT * FROM terms ORDER BY workspace, owner, namespace, seq").fetchall()


def spoil(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store, store:
        store.execute("UPDATE terms SET tokens = zeroblob(8), counts = x'01'")


def killed(home, steps):
    """How many lines were left when it began; it is killed while it does one step more than these."""
    process = subprocess.Popen(
        [sys.executable, str(REINDEXER), str(home)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        left = int(process.stdout.readline())
        for _ in range(steps):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "step\n"
        process.stdin.write("\n")
        process.stdin.flush()
        return left
    finally:
        process.kill()
        process.communicate()


def test_kills_in_the_middle_lose_nothing_and_the_next_run_goes_on(home):
    filled(home)
    before = indexed(home)
    assert len(before) == LINES
    spoil(home)
    left = [killed(home, steps) for steps in (2, 0, 1)]
    assert left[0] == LINES
    assert left[1] <= LINES - 400
    assert left[2] <= left[1]
    rest = souvenance("--json", "reindex", home=home).json()["lines"]
    assert 0 < rest <= left[2] - 200
    assert indexed(home) == before
    assert "lines readable" in souvenance("doctor", home=home).out
