"""How well something must match a question for `chat` to quote it, and how that was chosen.

    python bench/chat_threshold.py [--locomo FILE] [--longmemeval FILE] [--haystacks 40] [--store DIR]

Every question of LoCoMo's development half is asked of the peer that it names; its adversarial questions have
no answer, as they ask of one what the other said. Some of LongMemEval's are asked of the user, those without
an answer among them. What counts is how well the best of the first ten messages matches: `chat.match`.

A threshold is worth the mean, over both datasets, of two shares: of the questions that nothing answers, those
that are met with silence; of those whose answer is among the first three messages or two beside one of these,
those that are answered. It is chosen on all conversations but one and told of that one, and chosen on each
dataset and told of the other. The people of `bench/people` have no part in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mnemon.bootstrap import House
from mnemon.core.conversation.chat import LEAST_MATCH, match
from mnemon.gate.admission import Credentials
from mnemon.gate.conversation import asks as q
from mnemon.gate.conversation import operations as o
from recall_data import Corpus, Question, locomo, longmemeval
from recall_mnemon import Filled, Shelf, opened, peer_name

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_LOOKED_AT, _QUOTED, _AROUND = 10, 3, 2
_THRESHOLDS = [number / 100 for number in range(30, 100)]


class Case(NamedTuple):
    """One question: of which dataset and conversation, how well something matches, and what is right."""

    dataset: str
    group: str
    match: float
    answerable: bool
    useful: bool
    """Whether what would be quoted has the answer."""


def asked(house: House, dataset: str, corpus: Corpus, filled: Filled) -> Iterable[Case]:
    order = {
        turn.id: (session.id, at) for session in corpus.sessions for at, turn in enumerate(session.turns)
    }
    speakers = {turn.speaker for session in corpus.sessions for turn in session.turns}
    for question in corpus.questions:
        named = [one for one in speakers if one.split()[0].lower() in question.text.lower()]
        peer = "user" if dataset == "longmemeval" else named[0] if len(named) == 1 else None
        if peer is None:
            continue
        request = q.SearchPeer(
            workspace_id=filled.workspace,
            peer_id=peer_name(peer),
            query=question.text,
            limit=_LOOKED_AT,
            at=question.at,
            explain=True,
        )
        found = house.gate.call(o.SEARCH_PEER, Credentials(house.owner_cap), request).messages
        best = max((_match(message) for message in found), default=0.0)
        quoted = [order[filled.turns[message.id]] for message in found[:_QUOTED]]
        gold = [order[turn] for turn in question.gold_turns if turn in order]
        useful = any(
            one[0] == other[0] and abs(one[1] - other[1]) <= _AROUND for one in gold for other in quoted
        )
        yield Case(dataset, corpus.name, best, _answerable(question), useful)


def _match(message: object) -> float:
    told = getattr(message, "explanation", None)
    return match({name: one.value for name, one in told.signals.items()}) if told else 0.0


def _answerable(question: Question) -> bool:
    return not question.unanswerable and question.kind != "cat5"


def worth(cases: Sequence[Case], threshold: float) -> tuple[float, float]:
    """The share of the useful ones that are answered, and that of the unanswerable ones that are not."""
    useful = [one.match >= threshold for one in cases if one.answerable and one.useful]
    idle = [one.match < threshold for one in cases if not one.answerable]
    return sum(useful) / (len(useful) or 1), sum(idle) / (len(idle) or 1)


def chosen(cases: Sequence[Case]) -> float:
    """The threshold that is worth most on these, in the mean of their datasets."""
    by_set = [[one for one in cases if one.dataset == name] for name in {one.dataset for one in cases}]
    return max(_THRESHOLDS, key=lambda at: sum(sum(worth(some, at)) for some in by_set))


def told(name: str, cases: Sequence[Case], threshold: float) -> None:
    answered, silent = worth(cases, threshold)
    everyone = sum(one.match >= threshold for one in cases if one.answerable)
    answerable = sum(one.answerable for one in cases)
    print(
        f"{name:44} {threshold:.2f}  useful answered {answered:6.1%}  unanswerable silent {silent:6.1%}"
        f"  ({everyone} of {answerable} answerable told, {len(cases) - answerable} unanswerable)"
    )


def report(cases: Sequence[Case]) -> None:
    sets = sorted({one.dataset for one in cases})
    for name in sets:
        own = [one for one in cases if one.dataset == name]
        for at in (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8):
            told(f"{name}, the curve", own, at)
    for name in sets:
        others = [one for one in cases if one.dataset != name]
        if others:
            told(f"{name}, chosen on the rest", [one for one in cases if one.dataset == name], chosen(others))
    for group in sorted({one.group for one in cases if one.dataset == "locomo"}):
        at = chosen([one for one in cases if one.group != group])
        told(f"{group}, chosen on the rest", [one for one in cases if one.group == group], at)
    told("all, chosen on all", cases, chosen(cases))
    told("all, as the product has it", cases, LEAST_MATCH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--haystacks", type=int, default=40, help="of LongMemEval; unanswerable ones first")
    parser.add_argument("--store", type=Path, help="keep the stores there, or take them from there")
    options = parser.parse_args()
    haystacks = sorted(longmemeval(options.longmemeval), key=lambda one: not one.questions[0].unanswerable)
    corpora = [("locomo", one) for one in locomo(options.locomo)]
    corpora += [("longmemeval", one) for one in haystacks[: options.haystacks]]
    with TemporaryDirectory() as scratch:
        shelf = Shelf(options.store or Path(scratch))
        filled = list(shelf.filled([corpus for _, corpus in corpora]))
        house = opened(shelf.folder / "house", {})
        try:
            cases = [
                case
                for (dataset, corpus), stored in zip(corpora, filled, strict=True)
                for case in asked(house, dataset, corpus, stored)
            ]
        finally:
            house.close()
    report(cases)


if __name__ == "__main__":
    main()
