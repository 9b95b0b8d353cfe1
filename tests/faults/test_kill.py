"""A writer under kill -9: what was acknowledged stays, and nothing half-written is left."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from pace import examples
from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from surfaces.door import environment, souvenance

WRITER = Path(__file__).with_name("writer.py")


def killed_again_and_again(home, kills, job):
    """What the writer acknowledged in all its lives: the hash of each line's text by id."""
    told = subprocess.run(
        [sys.executable, str(WRITER), str(home), str(kills), "2026", job],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""
    return dict(line.split() for line in told.stdout.splitlines())


def every_line(installation):
    """The id of every line there is, replaced ones too."""
    cursor = None
    while True:
        request = m.List(cursor=cursor, limit=1000, history=True)
        page = installation.gate.call(o.LIST, Credentials(installation.owner_cap), request)
        yield from page.lines
        if (cursor := page.cursor) is None:
            return


def read(installation, line_id):
    return installation.gate.call(o.LINE, Credentials(installation.owner_cap), m.GetLine(line_id)).text


def test_many_kills_lose_nothing_that_was_acknowledged(home):
    kills = examples(200)
    acknowledged = killed_again_and_again(home, kills, "put")
    assert len(acknowledged) > kills, "the writer hardly lived"
    assert "lines readable" in souvenance("doctor", home=home).out
    assert souvenance("audit", "verify", home=home).out.startswith("ok: ")
    installation = open_installation(settings_from({}, str(home)))
    found = {
        line.id: sha256(read(installation, line.id).encode()).hexdigest() for line in every_line(installation)
    }
    installation.close()
    assert {line_id: found.get(line_id) for line_id in acknowledged} == acknowledged
    assert len(found) <= len(acknowledged) + kills


def test_kills_during_key_rotation_leave_every_line_readable(home):
    acknowledged = killed_again_and_again(home, examples(100), "rotate")
    assert acknowledged
    souvenance("doctor", home=home)
    souvenance("key", "rotate", home=home)
    installation = open_installation(settings_from({}, str(home)))
    for line_id, said in acknowledged.items():
        assert sha256(read(installation, line_id).encode()).hexdigest() == said
    installation.close()
    assert (home / "root.key").read_text().count(":") == 3, "old root keys are left behind"


def test_kills_during_correction_and_forgetting_leave_no_half_done_work(home):
    acknowledged = killed_again_and_again(home, examples(100), "correct")
    assert acknowledged
    souvenance("doctor", home=home)
    assert souvenance("audit", "verify", home=home).out.startswith("ok: ")
    assert souvenance("--json", "status", home=home).json()["scrub_pending"] is False
    installation = open_installation(settings_from({}, str(home)))
    for line_id, said in acknowledged.items():
        assert sha256(read(installation, line_id).encode()).hexdigest() == said
    installation.close()


def test_a_key_that_a_killed_process_left_half_written_does_not_stay(home):
    """A process that dies between writing a key file and giving it its name leaves the key behind."""
    souvenance("put", "hello", home=home)
    left = home / ".root.key.0123456789abcdef.tmp"
    left.write_text((home / "root.key").read_text())
    left.chmod(0o600)
    long_ago = (home / "root.key").stat().st_mtime - 7 * 24 * 3600
    os.utime(left, (long_ago, long_ago))
    souvenance("key", "rotate", home=home)
    souvenance("status", home=home)
    assert not left.exists()
