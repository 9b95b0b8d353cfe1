"""How often the right line is found, on LoCoMo and LongMemEval_S, with no model called; and what it costs.

    python bench/recall.py [--locomo FILE] [--longmemeval FILE] [--only locomo,longmemeval,speed]
        [--systems souvenance,souvenance-words,bm25,...] [--limit QUESTIONS] [--both] [--rounds 3]
        [--embedder SETTING] [--store DIR] [--json FILE] [--misses FILE]

Without files, the development halves in `../shared/data` beside the project are taken; a file that is
judged by is not tuned on. The measures are defined in `recall_metrics`, which questions count for which
mean in `recall_judge`, what is stored and what is gold in `recall_data`.

`souvenance` is the product as it is installed, through its own write and read path (`recall_souvenance`);
`souvenance-words` is the same without an embedder. `--embedder` names another one than the packaged; a kept
store goes with one of them. `bm25` is plain BM25 over turns, `bm25-stem` with stemming; `-sessions` is over
whole sessions. A query is the question's text alone. Turns that a ranking holds are mapped to their sessions,
counted once each. Recall is in percent; MRR and NDCG from 0 to 1.
Of LongMemEval the user's turns are looked through, as its protocol says; with `--both` the assistant's are
stored too, and asked for beside it (`both_`), which takes about five times as long.

Costs. `ms_median` is the median of the rounds' medians of a search for ten, in a process whose index is
loaded; `ms_first` the first search in a store. `ingest_ms_per_message` is the request, in batches of up to
a hundred; `behind_ms_per_message` what is done afterwards. `bytes_per_message` is the whole data folder.
With `--store` the stores are kept, and a second run only asks. `--misses` writes down which questions
`souvenance` missed, with the rank of each gold turn.

speed: ten thousand made lines of one owner, on one core (`recall_speed`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hermes_figures import Verdict
from machine import Machine
from recall_data import Corpus, limited, locomo, longmemeval
from recall_judge import judged, misses, sizes
from recall_souvenance import EMBEDDER, Shelf, has_embedder_setting
from recall_speed import measure_speed, print_speed
from recall_systems import Baseline, Souvenance
from recall_tables import COSTS, INJECTION, LOCOMO, LONGMEMEVAL, print_table, verdicts

PARTS = ("locomo", "longmemeval", "speed")
SYSTEMS = ("souvenance", "souvenance-words", "bm25", "bm25-stem", "bm25-sessions", "bm25-stem-sessions")
_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_NAMES = {"locomo": LOCOMO, "longmemeval": LONGMEMEVAL}
_STORED = {
    "locomo": "a message is the text with the image's caption in brackets; the speaker is its peer, the "
    "session's date its created_at",
    "longmemeval": "a turn is a message, the session's date its created_at; the user's are looked "
    "through, as the official protocol says, and in `both_` everyone's",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--only", default=",".join(PARTS), help="some of the parts, by name")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="some of the systems, by name")
    parser.add_argument("--limit", type=int, help="only the first questions of each dataset")
    parser.add_argument("--both", action="store_true", help="of LongMemEval both sides' turns too")
    parser.add_argument("--rounds", type=int, default=3, help="of timing")
    parser.add_argument("--lines", type=int, default=10_000, help="of one owner, for the speed")
    parser.add_argument("--embedder", help="instead of the packaged one, as in the setting")
    parser.add_argument("--store", type=Path, help="keep the stores there, or take them from there")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--misses", type=Path, help="write down what souvenance missed, for who tunes it")
    asked = parser.parse_args()
    for given, known in ((asked.only, PARTS), (asked.systems, SYSTEMS)):
        if unknown := set(given.split(",")) - set(known):
            parser.error(f"{unknown.pop()} is none of {', '.join(known)}")
    if asked.rounds < 1 or (asked.limit is not None and asked.limit < 1):
        parser.error("at least one round and one question are needed")
    return asked


def corpora_of(dataset: str, asked: argparse.Namespace) -> list[Corpus]:
    read = locomo(asked.locomo) if dataset == "locomo" else longmemeval(asked.longmemeval, both=asked.both)
    return limited(read, asked.limit)


def told(progress: str) -> None:
    """Say how far it is, in the one line of a terminal that is kept for that."""
    if sys.stderr.isatty():
        print(f"\r{progress:<70}", end="\r", file=sys.stderr, flush=True)


def system(name: str, shelf: Shelf) -> Souvenance | Baseline | None:
    """The system of that name; None if this Souvenance has no such variant."""
    if name == "souvenance":
        return Souvenance(shelf, {})
    if name == "souvenance-words":
        return Souvenance(shelf, {EMBEDDER: "none"}) if has_embedder_setting() else None
    return Baseline(stemming="stem" in name, sessions="sessions" in name)


def measure(dataset: str, corpora: list[Corpus], asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    shelf = Shelf(folder / dataset, {EMBEDDER: asked.embedder} if asked.embedder else {})
    found: dict[str, Any] = {}
    for name in asked.systems.split(","):
        one = system(name, shelf)
        if one is None:
            print(f"{name} is left out: this Souvenance has no embedder to do without", file=sys.stderr)
            continue

        def progress(text: str, name: str = name) -> None:
            told(f"{dataset}, {name}: {text}")

        rankings = one.find(corpora, asked.rounds, progress)
        found[name] = judged(corpora, rankings)
        if name == "souvenance" and asked.misses:
            with asked.misses.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(missed) + "\n" for missed in misses(corpora, rankings))
    told("")
    return found


def print_dataset(dataset: str, about: dict[str, float], found: dict[str, Any]) -> None:
    print(
        f"\n{dataset}: {about['questions']} questions, {about['judged']} in the headline, "
        f"{about['unanswerable']} that nothing answers; {about['turns']} turns in {about['corpora']} stores "
        f"of {about['sessions_per_corpus']:.0f} sessions and {about['turns_per_corpus']:.0f} turns on average"
    )
    print(_STORED[dataset])
    print_table("quality", _NAMES[dataset], found)
    print_table("what comes back where nothing should, and what the guard costs", INJECTION, found)
    print_table("cost", COSTS, found)


def main() -> int:
    asked = arguments()
    only = asked.only.split(",")
    machine = Machine()
    found: dict[str, Any] = {"machine": {"cores": os.cpu_count(), "architecture": platform.machine()}}
    reached: list[Verdict] = []
    with TemporaryDirectory(prefix="recall-bench-") as temporary:
        folder = asked.store or Path(temporary)
        for dataset in _NAMES:
            if dataset in only:
                corpora = corpora_of(dataset, asked)
                found[dataset] = measure(dataset, corpora, asked, folder)
                found.setdefault("sizes", {})[dataset] = about = sizes(corpora)
                print_dataset(dataset, about, found[dataset])
        if "speed" in only:
            found["speed"] = measure_speed(asked.lines, asked.rounds, told)
            reached += print_speed(found["speed"])
    print(f"\n{machine}")
    reached = verdicts("souvenance", found) + reached
    for verdict in reached:
        print(verdict)
    if asked.json:
        found["verdicts"] = [{**one._asdict(), "met": one.met} for one in reached]
        asked.json.write_text(json.dumps(found, indent=1), "utf-8")
    return 0 if all(verdict.met for verdict in reached) else 1


if __name__ == "__main__":
    sys.exit(main())
