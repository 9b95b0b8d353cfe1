"""Whether an owner feels how many others there are: ten, a hundred and a thousand owners of one size.

    python bench/scale.py [--store FOLDER] [--owners 10,100,1000] [--kinds sqlite,postgres]
        [--processes 1,2] [--apart] [--sessions 9] [--others 10000000] [--rounds 3] [--calls 300]
        [--firsts 30] [--newcomers 2] [--embedder none] [--only read,write] [--json FILE]
    python bench/scale.py --base-url URL [--base-url URL] [--api-key KEY] [--pids 12,13] [--get]

Method. Every owner has a thousand lines: nine sessions of a hundred messages of about 40 tokens, half of
them said by the owner and half by one assistant whom all share, and a hundred stated conclusions. All owners
are in one workspace; with --apart each has one. They are stored through `souvenance serve` on SQLite, by
Honcho's API, a hundred messages in a request, and moved to PostgreSQL by `souvenance migrate`. Nothing is
concluded from what is said (`reasoning`, `summary` and `dream` are off), so that the lines are as many as it
says. With --others the rows of the largest crowd are copied in PostgreSQL, under other names, until the store
holds that many lines more; their owners are never asked. Lines are found by words; `--embedder` adds what
comparing meanings takes. Stores are kept in the folder, and each run works on copies. PostgreSQL is the
packaged one as it comes, reached by a socket of this machine.

A round starts new servers and warms each with questions of one owner. Then every other owner is asked about
once, half of them first by `get` (with a cap of that owner, right `get`) and half first by Honcho's `context`
(a session, 6000 tokens, with `peer_target` and `search_query`): "first". With few owners the servers are
started as often as needed for so many first questions. Then owners are asked about at random: the repeated
questions. The pages of the store are in the machine's memory. Last, new owners are stored in batches, and
lines put one by one. Every server has a client, a process with one open connection; two servers share one
store. The totals take turns within every round, so that whatever else the machine does hits all of them.

A figure is the median of the rounds' medians, with the least and the largest of these; p99 is over all calls
of all rounds. "right" is the share of answers that hold the line that was asked for, or the newest message.
CPU is what servers and database used for one repeated question. Resident memory is that of the larger server
when all owners were asked about. The bound is on the largest total against the smallest, round by round.

On servers given by --base-url, all on one store, the crowd is stored in a workspace `scale-...` that grows
and stays. They are not restarted, so that only the first round has first questions, and the key given is used
for every owner. `get` is Souvenance's own, and asked only with --get.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

from hermes_figures import Verdict, figure, ms, p99
from machine import Machine
from scale_crowd import CONTEXT, GET, SESSIONS, Crowd
from scale_load import CALLS, PUT
from scale_scenes import Cell, Elsewhere, Given, Own, Round, Scene, write
from scale_stores import PostgresStores, SqliteStores

MOST_RATIO = 1.5
MOST_RESIDENT_MB = 300.0
KINDS = {"sqlite": SqliteStores, "postgres": PostgresStores}
PARTS = ("read", "write")

Cells = dict[tuple[str, int, int], Cell]
"""By kind of store, number of servers, and number of lines."""


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", type=Path, help="keep the stores there, or take them from there")
    parser.add_argument("--owners", type=_numbers, default=[10, 100, 1000])
    parser.add_argument("--kinds", type=lambda told: told.split(","), default=list(KINDS))
    parser.add_argument("--processes", type=_numbers, default=[1, 2], help="how many servers")
    parser.add_argument("--apart", action="store_true", help="a workspace for every owner")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="of each owner")
    parser.add_argument("--others", type=int, default=0, help="the largest crowd also among so many lines")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=300, help="repeated questions of a round, in each call")
    parser.add_argument("--firsts", type=int, default=30, help="the least first questions of a round")
    parser.add_argument("--newcomers", type=int, default=2, help="owners that a server stores in a round")
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--only", type=lambda told: told.split(","), default=list(PARTS))
    parser.add_argument("--base-url", action="append", default=[], help="a server that runs already")
    parser.add_argument("--api-key")
    parser.add_argument("--pids", type=_numbers, default=[], help="the processes of these servers")
    parser.add_argument("--get", action="store_true", help="ask these servers by `get` too")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(given)
    if unknown := {*asked.kinds, *asked.only} - {*KINDS, *PARTS}:
        parser.error(f"{unknown.pop()} is none of {', '.join((*KINDS, *PARTS))}")
    if asked.others and asked.kinds != ["postgres"]:
        parser.error("--others needs --kinds postgres")
    if min(asked.owners) < 2:
        parser.error("there must be two owners: one of them warms the servers")
    return asked


def _numbers(told: str) -> list[int]:
    return [int(one) for one in told.split(",")]


def measure(asked: argparse.Namespace) -> Cells:
    cells: Cells = {}
    if asked.base_url:
        for scene in _elsewhere(asked):
            _rounds(asked, [scene], [len(asked.base_url)], cells)
        return cells
    with ExitStack() as kept:
        folder = asked.store or Path(kept.enter_context(TemporaryDirectory(prefix="scale-")))
        crowds = [Crowd(owners, asked.apart, sessions=asked.sessions) for owners in sorted(asked.owners)]
        if asked.others:
            crowds.append(replace(crowds[-1], others=asked.others))
        for kind in asked.kinds:
            with ExitStack() as used:
                stores = KINDS[kind](folder)
                used.callback(stores.close)
                names = [stores.build(crowd, asked.embedder) for crowd in crowds]
                scenes = []
                for name, crowd in zip(names, crowds, strict=True):
                    scenes.append(Own(stores, name, crowd, asked.embedder))
                    used.callback(scenes[-1].close)
                _rounds(asked, scenes, asked.processes, cells)
    return cells


def _elsewhere(asked: argparse.Namespace) -> Iterator[Elsewhere]:
    pids = [*asked.pids, *[None] * len(asked.base_url)]
    servers = [Given(url, asked.api_key, pid) for url, pid in zip(asked.base_url, pids, strict=False)]
    name, before = f"scale-{int(time.time())}", 0
    for owners in sorted(asked.owners):
        yield Elsewhere(servers, Crowd(owners, asked.apart, name, asked.sessions), before)
        before = owners


def _rounds(asked: argparse.Namespace, scenes: Sequence[Scene], counts: Sequence[int], cells: Cells) -> None:
    """All scenes in turns, round by round; what is read comes before anything is added."""
    own = not asked.base_url
    calls = CALLS if own or asked.get else (CONTEXT,)
    places = [(processes, scene) for processes in counts for scene in scenes]
    for part in asked.only:
        for number in range(asked.rounds):
            for at, (processes, scene) in enumerate(places):
                cell = cells.setdefault((scene.kind, processes, scene.crowd.total), Cell())
                if part == "read":
                    firsts = asked.firsts * len(calls) if own or number == 0 else 0
                    asking = Round(scene, processes, calls, seed=number + 1)
                    asking.read(cell, most=asked.calls, firsts=firsts)
                else:
                    first = (number * len(places) + at) * asked.newcomers * processes
                    write(scene, processes, cell, owners=asked.newcomers, first=first, puts=own)
                _tell(f"{scene.kind}: {part}, round {number + 1}, {at + 1} of {len(places)}")


def _tell(progress: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{progress:<70}", end="\r", file=sys.stderr, flush=True)


def show(cells: Cells) -> list[Verdict]:
    """Print every figure, and judge what has a bound."""
    verdicts: list[Verdict] = []
    for kind, processes in dict.fromkeys((kind, processes) for kind, processes, _ in cells):
        row = {lines: cell for (*place, lines), cell in cells.items() if place == [kind, processes]}
        label = f"{kind}, {processes} serve"
        print(f"\n{label}{'' if processes == 1 else ' processes'}: milliseconds")
        print(f"{'':>16}{'lines':>9}  {'median':>10} {'':<20}{'p99':>8}  {'right':>6}")
        for name in ("first get", "first context", GET, CONTEXT, "batch", PUT):
            _show_call(name, row)
        _show_rest(row)
        verdicts += _judged(label, row)
    return verdicts


def _show_call(name: str, row: dict[int, Cell]) -> None:
    for lines, cell in row.items():
        if name in cell.taken:
            medians = [median(ms(one)) for one in cell.taken[name]]
            every = ms([one for some in cell.taken[name] for one in some])
            worst = p99(every) if len(every) > 1 else every[0]
            right = f"{mean(cell.right[name]):6.0%}" if name not in ("batch", PUT) else ""
            print(f"{name:>16}{lines:>9}  {figure(medians, 10)}{worst:>8.1f}  {right}")


def _show_rest(row: dict[int, Cell]) -> None:
    for lines, cell in row.items():
        told = []
        if cell.rates:
            told.append(f"{median(cell.rates):.0f} questions a second")
            told.append(f"{1000 * median(cell.cpu):.1f} ms CPU each")
        if cell.resident:
            told.append(f"{median(cell.resident):.0f} MB resident")
        if cell.stored:
            told.append(f"stores {median(cell.stored):.0f} lines a second in batches")
        if cell.put:
            told.append(f"{median(cell.put):.0f} one by one")
        print(f"{'':>16}{lines:>9}  {', '.join(told)}")


def _judged(label: str, row: dict[int, Cell]) -> Iterator[Verdict]:
    least, most = row[min(row)], row[max(row)]
    for name in ("first get", "first context", GET, CONTEXT):
        if len(row) > 1 and name in most.taken and name in least.taken:
            pairs = zip(most.taken[name], least.taken[name], strict=False)
            ratios = [median(many) / median(few) for many, few in pairs]
            claim = f"{label}: {name} of {max(row)} lines against {min(row)}"
            yield Verdict(claim, ratios, MOST_RATIO)
    if most.resident:
        claim = f"{label}: MB resident, all of {max(row)} lines asked about"
        yield Verdict(claim, most.resident, MOST_RESIDENT_MB)


def main() -> int:
    asked = arguments()
    machine = Machine()
    cells = measure(asked)
    _tell("")
    print(machine)
    verdicts = show(cells)
    print()
    for verdict in verdicts:
        print(verdict)
    if asked.json:
        found = [
            {"kind": kind, "processes": processes, "lines": lines, **asdict(cell)}
            for (kind, processes, lines), cell in cells.items()
        ]
        report = {"cells": found, "verdicts": [{**one._asdict(), "met": one.met} for one in verdicts]}
        asked.json.write_text(json.dumps(report, indent=1), "utf-8")
    return 0 if all(verdict.met for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
