"""What memory costs a Hermes host, and what each turn gets for it, beside the bundled Honcho plugin.

    python bench/hermes.py [--only warm,cold,peer,leak] [--rounds 3] [--lines 10000] [--calls 300]
        [--samples 5] [--latency 0.15] [--model-seconds 0.1,3] [--requests 1000] [--peer-requests 100]
        [--environment .environments/hermes-0.19.0] [--store FOLDER] [--json FILE]

Method. All begin with the same memory: so many lines of which four fifths are one person's, told in a
hundred sessions, with the work behind them done (`hermes_store`). Each measurement has a copy of it.

warm: a process makes a new provider for every message, as the host's API server does: `initialize`,
`on_turn_start`, `prefetch`, and then nothing for a tenth of a second, as while a host waits for its model.
Messages and turn numbers differ. Every round is a process of its own, in Souvenance's environment and in
Hermes', which has no embedder, in turns. The first calls are not counted. Then `sync_turn`, which returns
when the turn is on the disk.

cold: a process makes one provider and recalls once. The clock starts with the first line of its script,
so imports, keys, store and index are in it. Beside it the same within a process that has imported the
host's agent, as every host has, and what the host's own start takes.

peer: an unmodified Hermes as API server, a conversation of four turns over it, once with the bundled
Honcho plugin and once with Souvenance, both with the same `honcho.json`: a `souvenance serve` behind a proxy
that adds the latency to every call; and with Souvenance's embedded store, without a model and with the host's
own in the background. Each turn asks for something that was told once, long ago: whether the captured request
to the model holds it is what counts. A turn is saved if its message is in the store ten seconds after the
last one. Once with a quick model and once with a slow one.

leak: a thousand requests to one API server, one after the other, in conversations of five turns of twenty
people; beside it the same host without a provider, and with the bundled plugin. The first half is the
warm-up; threads and files that are left at the end of the second count, and must be none.

A figure is the median of the rounds' medians, with the least and the largest of these.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hermes_alone import Alone, print_cold, print_warm
from hermes_figures import Verdict
from hermes_hosts import Hosts, print_leaks, print_peers
from hermes_store import fill, settle, told
from machine import Machine

PARTS = ("warm", "cold", "peer", "leak")
_ENVIRONMENT = Path(__file__).resolve().parents[1] / ".environments" / "hermes-0.19.0"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default=",".join(PARTS), help="some of the parts, by name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300, help="counted calls of a warm round")
    parser.add_argument("--samples", type=int, default=5, help="processes of a cold round")
    parser.add_argument("--latency", type=float, default=0.15, help="what a far server adds to a call")
    parser.add_argument("--model-seconds", default="0.1,3", help="how long the model takes to answer")
    parser.add_argument("--requests", type=int, default=1000, help="for the leak")
    parser.add_argument("--peer-requests", type=int, default=100, help="the same for the bundled plugin")
    parser.add_argument("--environment", type=Path, default=_ENVIRONMENT, help="where Hermes is installed")
    parser.add_argument("--store", type=Path, help="keep the memory there, or take it from there")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if unknown := set(asked.only.split(",")) - set(PARTS):
        parser.error(f"{unknown.pop()} is none of {', '.join(PARTS)}")
    return asked


def measure(asked: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], list[Verdict]]:
    store = asked.store or folder / "store"
    if not store.exists():
        fill(store, asked.lines)
    settle(store)
    only = asked.only.split(",")
    alone = Alone(folder, store, asked.environment, asked.lines)
    hosts = Hosts(folder, store, asked.environment, asked.latency)
    found: dict[str, Any] = {}
    verdicts: list[Verdict] = []
    if "warm" in only:
        found["warm"] = warm = alone.warm(asked.rounds, asked.calls)
        verdicts += print_warm(warm, asked.lines, alone.places)
    if "cold" in only:
        found["cold"] = cold = alone.cold(asked.rounds, asked.samples)
        verdicts += print_cold(cold, asked.lines)
    if "peer" in only:
        peers = hosts.peers(asked.rounds, [float(one) for one in asked.model_seconds.split(",")])
        found["peer"] = {f"{side.name}, {seconds:g} s": talks for (side, seconds), talks in peers.items()}
        verdicts += print_peers(peers, asked.latency)
    if "leak" in only:
        leaks = hosts.leaks(asked.requests, asked.peer_requests)
        found["leak"] = {side.name: samples for side, samples in leaks.items()}
        verdicts += print_leaks(leaks)
    return found, verdicts


def main() -> int:
    asked = arguments()
    machine = Machine()
    with TemporaryDirectory(prefix="hermes-bench-") as folder:
        found, verdicts = measure(asked, Path(folder))
    told("")
    print(f"\n{machine}")
    for verdict in verdicts:
        print(verdict)
    if asked.json:
        found["verdicts"] = [{**one._asdict(), "met": one.met} for one in verdicts]
        asked.json.write_text(json.dumps(found, indent=1), "utf-8")
    return 0 if all(verdict.met for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
