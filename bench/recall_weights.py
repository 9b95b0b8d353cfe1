"""What each recall signal is worth: weights fitted and judged on the development data.

    python bench/recall_weights.py --store DIR (--fit | --ablate) [--locomo FILE] [--longmemeval FILE]
        [--both] [--share 0.5] [--ridge 0.3] [--json FILE]

DIR is what `bench/recall.py --store DIR` keeps. What another version stored there is made anew first;
corpora that are not there are left out, and how many questions there were is told. The product's own finder
is asked for every line that anything speaks for, with its signals. LoCoMo counts with categories 1 to 4;
LongMemEval with the official set, where the user's lines alone are looked through; with `--both`, everyone's.

The weights are those under which the right lines are likeliest, where the odds of a line against another are
the exponential of how much higher its score is; `--ridge` holds them near the product's, in units of each
signal's spread. `--share` is how much LongMemEval counts, of 1. Both datasets are cut in five: a conversation
of LoCoMo and a fifth of LongMemEval's questions at a time are judged by weights that were fitted without them
(`held out`). Beside it stands what the product's weights do, and weights fitted to everything (`fitted`).

`--ablate` leaves out one signal or a group of them at a time and fits the others anew; all it tells is held
out. It takes numpy and no more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from recall_data import Corpus, Question, locomo, longmemeval
from recall_metrics import all_at, by_session, distinct, frac_at
from recall_souvenance import MOST, Filled, opened, peer_name, work_off
from souvenance.core.conversation.compartments import compartments_of
from souvenance.core.search import SearchBounds, find, understand
from souvenance.domain import relevance as r
from souvenance.gate.conversation.messages import SEARCH_WORKSPACE, Messages, SearchWorkspace
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation
from souvenance.ports.index import Hit

SIGNALS = tuple(name for name in r.WEIGHTS if name not in (r.REPLACES_OLDER, r.FADES, r.LINES_SEARCHED))
"""All but what is told only once lines are ranked, and what is the same for all lines."""
FOLDS = 5
METRICS = {
    "locomo": ("turn_frac@10", "turn_frac@10_cat1"),
    "longmemeval": ("session_all@5", "session_all@10", "turn_all@5", "turn_all@10"),
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all of meaning": (r.MEANING, r.MEANING_IN_SESSION, r.MEANING_NEARBY, r.WORDS_AND_MEANING),
    "all of similar words": (r.SIMILAR_WORDS, r.SIMILAR_WORDS_IN_SESSION, r.WORDS_AND_MEANING),
    "all of words": (r.WORDS_AROUND, r.WORDS_IN_SESSION),
    "gives time, gives number": (r.GIVES_TIME, r.GIVES_NUMBER),
    "is question, first person": (r.IS_QUESTION, r.FIRST_PERSON),
    "said then, mentions date": (r.SAID_THEN, r.MENTIONS_DATE),
}

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_EVERYTHING = 1 << 20
_ENOUGH = 1e-10
_NONE = 1e-9
"""A signal that differs less than this says nothing, and weighs nothing."""
SOFT = 0.6
"""The product's scores, as odds: lines are told apart less sharply than by their exponentials."""
_MOST_STEPS = 60
_NAME_WIDTH = 40

Array = NDArray[np.float64]
Weights = Mapping[str, float]


class Sample(NamedTuple):
    """One question, and every line that something speaks for, the newest first."""

    dataset: str
    fold: int
    kind: str
    turns: list[str]
    sessions: list[str]
    signals: Array
    """A row for each line, a column for each of `SIGNALS`."""
    gold_turns: Collection[str]
    gold_sessions: Collection[str]

    @property
    def right(self) -> NDArray[np.int64]:
        """The places of the lines that should come first."""
        return np.array([at for at, turn in enumerate(self.turns) if turn in self.gold_turns], dtype=np.int64)


def samples(dataset: str, corpora: Sequence[Corpus], folder: Path) -> list[Sample]:
    """The headline's questions, asked in the store that is kept in the folder, as far as it is filled. Of the
    corpus's views the widest counts."""
    kept = {
        number: Filled(*json.loads(path.read_text("utf-8")))
        for number, corpus in enumerate(corpora)
        if (path := folder / "turns" / f"{corpus.name}-{corpus.digest}.json").exists()
    }
    found = []
    installation = opened(folder / "house", {})
    try:
        installation.worker.look_round()
        work_off(installation)
        for number, filled in kept.items():
            corpus = corpora[number]
            for question in corpus.questions:
                if "" in question.groups.get(_view(corpus), ()):
                    hits = _hits(installation, corpus, filled, question)
                    found.append(_sample(dataset, number % FOLDS, corpus, filled, question, hits))
    finally:
        installation.close()
    return found


def _view(corpus: Corpus) -> str:
    return max(corpus.views, key=len)


def _hits(installation: Installation, corpus: Corpus, filled: Filled, question: Question) -> list[Hit]:
    """Every line that the product's finder has for the question, asked through its gate."""
    one = corpus.views[_view(corpus)]
    speakers = {turn.speaker for session in corpus.sessions for turn in session.turns}
    owners = sorted(peer_name(speaker) for speaker in speakers if one in (None, speaker))
    found: list[Hit] = []

    def look(case: AuthorisedRequest, request: SearchWorkspace) -> Outcome:
        compartments = [compartment for owner in owners for compartment in compartments_of(case.ctx, owner)]
        known = [case.ctx.services.vault.known(case.ctx.tx, compartment) for compartment in compartments]
        asked = understand(case.ctx, request.query, round(1000 * question.at.timestamp()))
        keys = [one for one in known if one is not None]
        found.extend(find(case.ctx, keys, asked, _EVERYTHING, SearchBounds(said=True)))
        return Outcome(Messages([]))

    request = SearchWorkspace(workspace_id=filled.workspace, query=question.text)
    installation.gate.call(replace(SEARCH_WORKSPACE, work=look), Credentials(installation.owner_cap), request)
    return found


def _sample(
    dataset: str, fold: int, corpus: Corpus, filled: Filled, question: Question, hits: list[Hit]
) -> Sample:
    session_of = corpus.session_of
    hits = sorted(hits, key=lambda hit: hit.id, reverse=True)
    turns = [filled.turns[hit.id] for hit in hits]
    signals = [[hit.signals.get(name, 0.0) for name in SIGNALS] for hit in hits]
    return Sample(
        dataset,
        fold,
        question.kind,
        turns,
        [session_of[turn] for turn in turns],
        np.array(signals, dtype=np.float64).reshape(len(hits), len(SIGNALS)),
        question.gold_turns,
        question.gold_sessions,
    )


class Fit:
    """The weights under which the right lines of some samples are likeliest: a convex problem, by Newton."""

    def __init__(self, known: Sequence[Sample], share: float, ridge: float) -> None:
        known = [one for one in known if len(one.right)]
        sizes = [len(one.turns) for one in known]
        self._lines = np.concatenate([one.signals for one in known])
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._sample = np.repeat(np.arange(len(known)), sizes)
        self._counts = _counting(known, share)
        self._rights = np.zeros(len(self._lines))
        for start, one in zip(self._starts, known, strict=True):
            self._rights[start + one.right] = 1 / len(one.right)
        spread = np.add.reduceat(self._lines**2, self._starts) / np.array(sizes)[:, None]
        spread -= (np.add.reduceat(self._lines, self._starts) / np.array(sizes)[:, None]) ** 2
        self._spread = np.sqrt(np.maximum(spread, 0)).mean(axis=0)
        self._ridge = ridge / len(known)

    def weights(self, names: Sequence[str] = SIGNALS) -> dict[str, float]:
        """The best weights of these signals, without the others."""
        columns = [SIGNALS.index(name) for name in names]
        spread = self._spread[columns]
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > _NONE)
        lines = self._lines[:, columns] * scale
        self._prior = SOFT * np.array([r.WEIGHTS[name] for name in names]) * spread
        weights = self._prior
        for _ in range(_MOST_STEPS):
            slope, curve = self._slope(lines, weights)
            step = np.linalg.solve(curve, slope)
            gain = float(slope @ step)
            weights = self._lower(lines, weights, step, gain)
            if gain < _ENOUGH:
                break
        return dict(zip(names, (weights * scale / SOFT).tolist(), strict=True))

    def _lower(self, lines: Array, weights: Array, step: Array, gain: float) -> Array:
        """The weights after the step, or after as much of it as makes the loss smaller."""
        loss, size = self._loss(lines, weights), 1.0
        while size > _ENOUGH and self._loss(lines, weights - size * step) > loss - 0.1 * size * gain:
            size /= 2
        return weights - size * step

    def _loss(self, lines: Array, weights: Array) -> float:
        scores = lines @ weights
        highest = np.maximum.reduceat(scores, self._starts)
        above = scores - highest[self._sample]
        total = np.log(np.add.reduceat(np.exp(above), self._starts))
        of_right = np.add.reduceat(self._rights * above, self._starts)
        apart = weights - self._prior
        return float(self._counts @ (total - of_right) + self._ridge * (apart @ apart))

    def _slope(self, lines: Array, weights: Array) -> tuple[Array, Array]:
        """The first and second derivatives of the loss."""
        scores = lines @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._sample])
        odds /= np.add.reduceat(odds, self._starts)[self._sample]
        counted = self._counts[self._sample]
        slope = ((odds - self._rights) * counted) @ lines + 2 * self._ridge * (weights - self._prior)
        expected = np.add.reduceat(odds[:, None] * lines, self._starts)
        curve = lines.T @ (lines * (odds * counted)[:, None])
        curve -= expected.T @ (expected * self._counts[:, None])
        return slope, curve + 2 * self._ridge * np.eye(len(weights))


def _counting(known: Sequence[Sample], share: float) -> Array:
    """How much each sample counts, in all 1: LongMemEval's together the share, if the other is there too."""
    of_second = np.array([one.dataset == "longmemeval" for one in known])
    if of_second.all() or not of_second.any():
        return np.full(len(known), 1 / len(known))
    return np.where(of_second, share / of_second.sum(), (1 - share) / (~of_second).sum())


def ranked(sample: Sample, weights: Weights) -> list[str]:
    """The turns, best first, as many as a search returns."""
    scores = sample.signals @ np.array([weights.get(name, 0.0) for name in SIGNALS])
    order = np.argsort(-scores, kind="stable")[:MOST]
    return distinct(sample.turns[at] for at in order)


def judged(sample: Sample, turns: Sequence[str]) -> dict[str, float]:
    """The measures of `METRICS` that this sample counts for, in percent."""
    if sample.dataset == "locomo":
        found = 100 * frac_at(turns, sample.gold_turns, 10)
        return {"turn_frac@10": found} | ({"turn_frac@10_cat1": found} if sample.kind == "cat1" else {})
    sessions = by_session(turns, dict(zip(sample.turns, sample.sessions, strict=True)))
    return {
        f"{what}_all@{k}": 100 * all_at(found, gold, k)
        for what, found, gold in (
            ("session", sessions, sample.gold_sessions),
            ("turn", turns, sample.gold_turns),
        )
        for k in (5, 10)
    }


def means(rows: Sequence[tuple[Sample, dict[str, float]]]) -> dict[str, float]:
    """The mean of every measure, by the names of its dataset and its own."""
    return {
        f"{dataset} {name}": fmean(values)
        for dataset, names in METRICS.items()
        for name in names
        if (values := [row[name] for one, row in rows if one.dataset == dataset and name in row])
    }


def measured(known: Sequence[Sample], weights: Weights) -> dict[str, float]:
    return means([(one, judged(one, ranked(one, weights))) for one in known])


class Folds:
    """The samples cut so that each is judged by weights that were fitted without it.

    Raises: ValueError if all of them are of one fold.
    """

    def __init__(self, known: Sequence[Sample], share: float, ridge: float) -> None:
        folds = sorted({one.fold for one in known})
        if len(folds) < 2:
            raise ValueError("nothing is left to fit to when what is judged is held out")
        self._held = [[one for one in known if one.fold == fold] for fold in folds]
        self._fits = [Fit([one for one in known if one.fold != fold], share, ridge) for fold in folds]

    def weights(self, names: Sequence[str]) -> Iterator[tuple[list[Sample], dict[str, float]]]:
        """What is held out each time, and the weights fitted without it."""
        for held, fit in zip(self._held, self._fits, strict=True):
            yield held, fit.weights(names)

    def measured(self, names: Sequence[str] = SIGNALS) -> dict[str, float]:
        return means(
            [
                (one, judged(one, ranked(one, weights)))
                for held, weights in self.weights(names)
                for one in held
            ]
        )


def ablations() -> Iterator[tuple[str, Sequence[str]]]:
    """The rows of the table, each with the signals that it has."""
    yield "all", SIGNALS
    yield "words alone", (r.SIMILAR_WORDS,)
    yield "meaning alone", (r.MEANING,)
    for name, left_out in {**GROUPS, **{one: (one,) for one in SIGNALS}}.items():
        yield f"without {name}", [one for one in SIGNALS if one not in left_out]


def print_row(name: str, found: Mapping[str, float]) -> None:
    print(f"{name:<{_NAME_WIDTH}}" + "".join(f"{value:>12.1f}" for value in found.values()), flush=True)


def print_head(found: Mapping[str, float]) -> None:
    for place in (0, 1):
        cells = (name.split()[place].replace("turn_frac@10_", "") for name in found)
        print(" " * _NAME_WIDTH + "".join(f"{cell.replace('session', 'sess'):>12}" for cell in cells))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", type=Path, required=True, help="what bench/recall.py --store kept")
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--both", action="store_true", help="of LongMemEval both sides' turns")
    parser.add_argument("--fit", action="store_true", help="fit the weights, and judge them")
    parser.add_argument("--ablate", action="store_true", help="leave signals out, one or some at a time")
    parser.add_argument("--share", type=float, default=0.5, help="how much LongMemEval counts, of 1")
    parser.add_argument(
        "--ridge", type=float, default=1000.0, help="how strongly weights are held near the product's"
    )
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if not (asked.fit or asked.ablate):
        parser.error("one of --fit and --ablate is needed")
    if not 0 < asked.share < 1 or asked.ridge <= 0:
        parser.error("the share must lie between 0 and 1, and the ridge above 0")
    return asked


def collected(asked: argparse.Namespace) -> list[Sample]:
    known: list[Sample] = []
    read = {
        "locomo": lambda: locomo(asked.locomo),
        "longmemeval": lambda: longmemeval(asked.longmemeval, both=asked.both),
    }
    for dataset, corpora in read.items():
        folder = asked.store / dataset
        if (folder / "house").exists():
            known += (found := samples(dataset, corpora(), folder))
            lines = fmean(len(one.turns) for one in found) if found else 0
            print(f"{dataset}: {len(found)} questions with {lines:.0f} lines each that anything speaks for")
    return known


def fitted(known: Sequence[Sample], folds: Folds, asked: argparse.Namespace) -> dict[str, Any]:
    rows = {"the product's": measured(known, r.WEIGHTS), "held out": folds.measured()}
    weights = {
        name: round(value, 2) for name, value in Fit(known, asked.share, asked.ridge).weights().items()
    }
    rows["fitted"] = measured(known, weights)
    print_head(rows["fitted"])
    for name, found in rows.items():
        print_row(name, found)
    for name, value in weights.items():
        print(f"{name:>10} {value:6.2f}   (the product's {r.WEIGHTS[name]:.2f})")
    return {"rows": rows, "weights": weights}


def ablated(folds: Folds) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, names in ablations():
        found[name] = folds.measured(names)
        if len(found) == 1:
            print_head(found[name])
        print_row(name, found[name])
    return found


def main() -> int:
    asked = arguments()
    known = collected(asked)
    if not known:
        print(f"nothing is kept in {asked.store}: run bench/recall.py --store first", file=sys.stderr)
        return 1
    folds = Folds(known, asked.share, asked.ridge)
    told: dict[str, Any] = {}
    if asked.fit:
        told["fit"] = fitted(known, folds, asked)
    if asked.ablate:
        told["ablation"] = ablated(folds)
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
