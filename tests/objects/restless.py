"""A worker that is killed again and again while it writes and carries: `python restless.py HOME KILLS SEED`.

As `faults/writer.py`: one process loads what a worker loads and forks a child for every life. The child
opens the data folder anew, with a carrier at work, and reports what was acknowledged; the parent kills it
with SIGKILL at a random moment.
What was acknowledged is printed: "put ID TEXT" or "forgot ID", one a line.
"""

from __future__ import annotations

import importlib
import os
import random
import select
import signal
import sys
from itertools import count

from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials

PATIENCE_SECONDS = 20
LOADED = (
    "numpy",
    "obstore.store",
    "onnxruntime",
    "tokenizers",
    "souvenance.adapters.index.ranked",
    "souvenance.adapters.object_stores",
    "souvenance.gate.replication",
    "souvenance.gate.worker",
)
"""What a worker loads when it first needs it, which takes longer than most lives last."""


def live(home: str, life: str, report: int) -> None:
    installation = open_installation(settings_from(os.environ, home))
    credentials = Credentials(installation.owner_cap)

    def call(operation, request):
        return installation.gate.call(operation, credentials, request)

    with installation.working():
        for number in count():
            text = f"life-{life}-line-{number}"
            line = call(o.PUT, m.Put(text, namespace=f"room-{number % 3}"))
            os.write(report, f"put {line.id} {text}\n".encode())
            if number % 3 == 0:
                made = call(o.INVALIDATE, m.Invalidate(line.id, f"{text}-corrected"))
                os.write(report, f"put {made.id} {text}-corrected\n".encode())
            if number % 4 == 0:
                os.write(report, f"forgetting {line.id}\n".encode())
                call(o.FORGET, m.Forget(id=line.id))
                os.write(report, f"forgot {line.id}\n".encode())


def killed(home: str, life: str, chance: random.Random) -> bytes:
    """Everything that one life acknowledged."""
    reading, report = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        live(home, life, report)
        os._exit(0)
    os.close(report)
    told, wanted = b"", chance.randrange(1, 40)
    while told.count(b"\n") < wanted and select.select([reading], [], [], PATIENCE_SECONDS)[0]:
        more = os.read(reading, 65536)
        if not more:
            break
        told += more
    select.select([], [], [], chance.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WTERMSIG(status) != signal.SIGKILL:
        sys.exit(f"the worker ended by itself: {status}")
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    return told


def main() -> None:
    home, kills, seed = sys.argv[1:]
    chance = random.Random(int(seed))
    for module in LOADED:
        importlib.import_module(module)
    for life in range(int(kills)):
        sys.stdout.write(killed(home, f"{seed}-{life}", chance).decode())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
