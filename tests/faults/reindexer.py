"""A process that reindexes step by step: `python reindexer.py HOME`. One for each line that it reads."""

from __future__ import annotations

import sys

from mnemon import open_house, settings_from
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.gate.admission import Credentials


def main() -> None:
    house = open_house(settings_from({"MNEMON_EMBEDDER": "none"}, sys.argv[1]))
    left = house.gate.call(o.REINDEX, Credentials(house.owner_cap), m.Reindex())
    print(left.lines, flush=True)
    for _ in sys.stdin:
        house.tidy()
        print("step", flush=True)


if __name__ == "__main__":
    main()
