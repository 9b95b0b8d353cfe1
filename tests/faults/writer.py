"""A writer that is killed again and again: `python writer.py HOME KILLS SEED JOB`.

One process loads the package once and forks a child for every life. The child opens the data folder anew,
as a fresh process would, and reports each acknowledged line through a pipe; the parent kills it with
SIGKILL at a random moment. What was acknowledged is printed: one "id hash" a line.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
from hashlib import sha256
from itertools import count

from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials

PATIENCE_SECONDS = 60


def live(home: str, job: str, life: int, report: int) -> None:
    installation = open_installation(settings_from({}, home))
    credentials = Credentials(installation.owner_cap)
    for number in count():
        text = f"life {life}, line {number}: {os.urandom(8).hex()} " + "padding " * (number % 50)
        line = installation.gate.call(o.PUT, credentials, m.Put(text, namespace=f"room-{life % 3}"))
        os.write(report, f"{line.id} {sha256(text.encode()).hexdigest()}\n".encode())
        if job == "rotate":
            installation.gate.call(o.ROTATE, credentials, m.RotateKeys())
        if job == "correct":
            made = installation.gate.call(
                o.INVALIDATE, credentials, m.Invalidate(line.id, f"{text}, corrected")
            )
            installation.gate.call(o.FORGET, credentials, m.Forget(id=made.id))


def watched(reading: int, chance: random.Random) -> bytes:
    """What the child reported before the random moment came."""
    told = b""
    wanted = chance.randrange(6)
    while told.count(b"\n") < wanted and select.select([reading], [], [], PATIENCE_SECONDS)[0]:
        more = os.read(reading, 65536)
        if not more:
            break
        told += more
    select.select([], [], [], chance.uniform(0, 0.006 if wanted else 0.03))
    return told


def killed(home: str, job: str, life: int, chance: random.Random) -> bytes:
    """Everything that one life acknowledged."""
    reading, report = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        live(home, job, life, report)
        os._exit(0)
    os.close(report)
    told = watched(reading, chance)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WTERMSIG(status) != signal.SIGKILL:
        sys.exit(f"the writer ended by itself: {status}")
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    return told


def main() -> None:
    home, kills, seed, job = sys.argv[1:]
    chance = random.Random(int(seed))
    for life in range(int(kills)):
        sys.stdout.write(killed(home, job, life, chance).decode())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
