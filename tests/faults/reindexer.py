"""A process that reindexes step by step: `python reindexer.py HOME`. One for each line that it reads."""

from __future__ import annotations

import sys

from souvenance import open_installation, settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials


def main() -> None:
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, sys.argv[1]))
    left = installation.gate.call(o.REINDEX, Credentials(installation.owner_cap), m.Reindex())
    print(left.lines, flush=True)
    for _ in sys.stdin:
        installation.worker.tidy()
        print("step", flush=True)


if __name__ == "__main__":
    main()
