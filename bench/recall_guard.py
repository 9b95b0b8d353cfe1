"""When nothing is shown to who did not ask, what that costs, and how the threshold was chosen.

    python bench/recall_guard.py --store DIR [--locomo FILE] [--longmemeval FILE] [--json FILE]

DIR is what `bench/recall.py --store DIR` keeps; what it lacks is stored. Memories of two sizes are asked:
whole conversations of LoCoMo and haystacks of LongMemEval, and `few`, as a memory is that is some weeks old:
three sessions of a conversation, and the sessions that answer a question with five others of its haystack.

Each is asked what it answers, and what it does not: questions of another conversation or haystack
(`elsewhere`; of LoCoMo with the names of those who speak here), LoCoMo's adversarial questions, which ask of
one what the other said, and LongMemEval's own that nothing answers. What counts is how well the best of the
first ten lines answers, by `relevance.answers`. What a threshold costs is told in points of the gold turns
among the first ten.

The threshold is the highest that loses two points at most in each of the four kinds of memory; so for several
values of `BY_LINES_SEARCHED`. `held out` is chosen on all conversations but a fifth and told of that
fifth, and `chosen on the other` on one dataset and told of the other. Nothing is fitted to `bench/people`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from recall_data import ABSTENTION, Corpus, Question, locomo, longmemeval
from recall_metrics import frac_at
from recall_souvenance import TOP, Filled, Shelf, opened, peer_name
from souvenance.domain import relevance as r
from souvenance.gate.conversation.messages import (
    SEARCH_PEER,
    SEARCH_WORKSPACE,
    MessageAnswer,
    SearchPeer,
    SearchWorkspace,
)
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_SESSIONS, _OTHERS, _HAYSTACKS = 3, 5, 45
_ELSEWHERE = 10
"""How many questions of other sessions are asked of each small memory."""
_EVERY_THIRD = 3
"""Of the next conversation's questions, which are asked elsewhere."""
ANSWERED, ADVERSARIAL, ELSEWHERE = "answered", "cat5", "elsewhere"
MOST_LOST = 2.0
FOLDS = 5
CROWDS = (0.0, 0.5, 0.75, 1.0)
_THRESHOLDS = [number / 10 for number in range(200)]


class Asked(NamedTuple):
    """A question to a memory, and of which kind it is there."""

    question: Question
    text: str
    kind: str


class Memory(NamedTuple):
    size: str
    dataset: str
    fold: int
    corpus: Corpus
    asked: list[Asked]


class Case(NamedTuple):
    """What came of a question: how well the best line answers, among how many, and how much gold came."""

    memory: str
    dataset: str
    fold: int
    kind: str
    answer: float
    crowd: float
    found: float


def memories(paths: argparse.Namespace) -> Iterator[Memory]:
    rng = random.Random(1)
    conversations, haystacks = locomo(paths.locomo), longmemeval(paths.longmemeval)
    for fold, (one, other) in enumerate(
        zip(conversations, [*conversations[1:], conversations[0]], strict=True)
    ):
        asked = [Asked(it, it.text, _kind(it)) for it in one.questions]
        asked += [
            Asked(it, _with_names_of(one, other, it.text), ELSEWHERE)
            for it in [it for it in other.questions if it.kind != ADVERSARIAL][::_EVERY_THIRD]
        ]
        yield Memory("whole", "locomo", fold % FOLDS, one, asked)
        yield from _parts(one, fold % FOLDS, rng)
    answered = [one for one in haystacks if one.questions[0].gold_turns]
    for fold, one in enumerate(haystacks):
        asked = [Asked(one.questions[0], one.questions[0].text, _kind(one.questions[0]))]
        other = answered[fold % len(answered)]
        if other is not one:
            asked.append(Asked(other.questions[0], other.questions[0].text, ELSEWHERE))
        yield Memory("whole", "longmemeval", fold % FOLDS, one, asked)
    for fold, one in enumerate(rng.sample(answered, min(_HAYSTACKS, len(answered)))):
        yield _few_sessions(one, fold % FOLDS, answered, rng)


def _parts(whole: Corpus, fold: int, rng: random.Random) -> Iterator[Memory]:
    for at in range(0, len(whole.sessions), _SESSIONS):
        sessions = whole.sessions[at : at + _SESSIONS]
        ids = {session.id for session in sessions}
        plain = [it for it in whole.questions if it.kind != ADVERSARIAL]
        asked = [Asked(it, it.text, ANSWERED) for it in plain if it.gold_sessions <= ids]
        asked += _elsewhere([it for it in plain if not it.gold_sessions & ids], rng)
        yield Memory("few", "locomo", fold, Corpus(f"{whole.name}-{at}", sessions, [], {"": None}), asked)


def _few_sessions(whole: Corpus, fold: int, answered: Sequence[Corpus], rng: random.Random) -> Memory:
    gold = whole.questions[0].gold_sessions
    others = rng.sample([one for one in whole.sessions if one.id not in gold], _OTHERS)
    sessions = [one for one in whole.sessions if one.id in gold or one in others]
    asked = [Asked(it, it.text, ANSWERED) for it in whole.questions]
    asked += _elsewhere([one.questions[0] for one in answered if one is not whole], rng)
    return Memory("few", "longmemeval", fold, Corpus(f"{whole.name}-few", sessions, [], whole.views), asked)


def _elsewhere(questions: Sequence[Question], rng: random.Random) -> list[Asked]:
    some = rng.sample(questions, min(_ELSEWHERE, len(questions)))
    return [Asked(it, it.text, ELSEWHERE) for it in some]


def _kind(question: Question) -> str:
    return question.kind if question.kind in (ADVERSARIAL, ABSTENTION) else ANSWERED


def _speakers(corpus: Corpus) -> list[str]:
    return sorted({turn.speaker for session in corpus.sessions for turn in session.turns})


def _with_names_of(one: Corpus, other: Corpus, text: str) -> str:
    for name, instead in zip(_speakers(other), _speakers(one), strict=True):
        text = text.replace(name, instead)
    return text


def cases(installation: Installation, memory: Memory, filled: Filled) -> Iterator[Case]:
    peer = memory.corpus.views[""]
    for question, text, kind in memory.asked:
        how = dict(workspace_id=filled.workspace, query=text, limit=TOP, at=question.at, explain=True)
        operation, request = (
            (SEARCH_WORKSPACE, SearchWorkspace(**how))
            if peer is None
            else (SEARCH_PEER, SearchPeer(peer_id=peer_name(peer), **how))
        )
        found = installation.gate.call(operation, Credentials(installation.owner_cap), request).messages
        turns = [filled.turns[message.id] for message in found]
        told = [_signals(message) for message in found]
        crowd = max((signals.get(r.LINES_SEARCHED, 0.0) for signals in told), default=0.0)
        answer = max((r.answers(signals) for signals in told), default=0.0) + r.BY_LINES_SEARCHED * crowd
        gold = 100 * frac_at(turns, question.gold_turns, TOP) if kind == ANSWERED else 0.0
        name = f"{memory.size} {memory.dataset}"
        yield Case(name, memory.dataset, memory.fold, kind, answer, crowd, gold)


def _signals(message: MessageAnswer) -> dict[str, float]:
    told = message.explanation
    return {} if told is None else {name: one.value for name, one in told.signals.items()}


def collected(paths: argparse.Namespace) -> list[Case]:
    found: list[Case] = []
    every = list(memories(paths))
    for folder in ("locomo", "longmemeval", "few"):
        own = [
            one
            for one in every
            if folder in (one.size, one.dataset) and (one.size == "few") == (folder == "few")
        ]
        shelf = Shelf(paths.store / folder)
        filled = list(shelf.filled([one.corpus for one in own]))
        installation = opened(shelf.folder / "house", {})
        try:
            for memory, stored in zip(own, filled, strict=True):
                found += cases(installation, memory, stored)
        finally:
            installation.close()
    return found


def lost(some: Sequence[Case], threshold: float, by_crowd: float) -> dict[str, float]:
    """For each kind of memory, in points of what it finds."""
    answered: dict[str, list[float]] = {}
    for one in some:
        if one.kind == ANSWERED:
            silent = one.answer - by_crowd * one.crowd < threshold
            answered.setdefault(one.memory, []).append(silent * one.found)
    return {name: fmean(values) for name, values in answered.items()}


def shown(some: Sequence[Case], threshold: float, by_crowd: float) -> dict[str, float]:
    """For each kind of question that nothing answers, how often something is shown, in percent."""
    idle: dict[str, list[float]] = {}
    for one in some:
        if one.kind != ANSWERED:
            shows = one.answer - by_crowd * one.crowd >= threshold
            idle.setdefault(f"{one.memory}, {one.kind}", []).append(100.0 * shows)
    return {name: fmean(values) for name, values in idle.items()}


def chosen(some: Sequence[Case], by_crowd: float) -> float:
    """The highest threshold that loses `MOST_LOST` points at most in each kind of memory."""
    fits = (at for at in _THRESHOLDS if max(lost(some, at, by_crowd).values()) <= MOST_LOST)
    return max(fits, default=0.0)


def held_out(some: Sequence[Case], by_crowd: float) -> list[Case]:
    """Every case, its answer counted from the threshold that was chosen without its fold."""
    apart = []
    for fold in range(FOLDS):
        at = chosen([one for one in some if one.fold != fold], by_crowd)
        apart += [one._replace(answer=one.answer - at) for one in some if one.fold == fold]
    return apart


def print_row(name: str, some: Sequence[Case], threshold: float, by_crowd: float) -> dict[str, float]:
    row = {f"lost {key}": value for key, value in lost(some, threshold, by_crowd).items()}
    row |= {f"shown {key}": value for key, value in shown(some, threshold, by_crowd).items()}
    print(f"{name:>40} {threshold:5.1f} " + " ".join(f"{row[key]:6.1f}" for key in sorted(row)), flush=True)
    return row


def report(some: Sequence[Case]) -> dict[str, dict[str, float]]:
    names = sorted({f"lost {one.memory}" for one in some if one.kind == ANSWERED})
    names += sorted({f"shown {one.memory}, {one.kind}" for one in some if one.kind != ANSWERED})
    print("columns, in points and percent:\n  " + "\n  ".join(names))
    rows = {}
    product = r.LEAST_ANSWER
    for step in range(-6, 7):
        rows[f"curve {step}"] = print_row("the curve", some, product + step / 2, r.BY_LINES_SEARCHED)
    for by_crowd in CROWDS:
        name = f"by crowd {by_crowd}"
        rows[name] = print_row(f"{name}, chosen on all", some, chosen(some, by_crowd), by_crowd)
        rows[f"{name}, held out"] = print_row(f"{name}, held out", held_out(some, by_crowd), 0.0, by_crowd)
    for dataset in ("locomo", "longmemeval"):
        at = chosen([one for one in some if one.dataset != dataset], r.BY_LINES_SEARCHED)
        own = [one for one in some if one.dataset == dataset]
        rows[f"{dataset}, chosen on the other"] = print_row(
            f"{dataset}, on the other", own, at, r.BY_LINES_SEARCHED
        )
    rows["product"] = print_row("the product's", some, product, r.BY_LINES_SEARCHED)
    return rows


def arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="keep the memories there")
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(None if given is None else list(given))


def main() -> None:
    options = arguments()
    rows = report(collected(options))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")


if __name__ == "__main__":
    main()
