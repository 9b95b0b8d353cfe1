"""How well something must match a question for `chat` to quote it, and how that was chosen.

    python bench/chat_threshold.py [--locomo FILE] [--longmemeval FILE] [--store DIR]

Stores of a few sessions, as a memory is that is some weeks old: three sessions of a LoCoMo conversation, and
of LongMemEval the sessions that answer a question with five others of its haystack. Each is asked what its
sessions answer, and what only other sessions do: nothing there answers that. What counts is how well the best
of the first ten messages matches, by `chat.match`. Nothing is fitted to `bench/people`, but its totals were
seen: a threshold chosen on whole conversations was too strict there, so stores of a few sessions were taken.

A threshold is worth, in the mean of both datasets, twice the share of questions that are answered among those
whose answer is in the first three messages or two beside one of these, and once the share that is met with
silence of those that nothing answers: an answer that is missing costs more than a quotation that is idle.
It is chosen on all conversations but one and told of that one, and on each dataset and told of the other.
LoCoMo's adversarial questions, which ask of one what the other said, are only told: what is near is there.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from recall_data import ABSTENTION, Corpus, Question, locomo, longmemeval
from recall_souvenance import Filled, Shelf, opened, peer_name
from souvenance.core.conversation.chat import LEAST_MATCH, match
from souvenance.gate.conversation.messages import SEARCH_PEER, MessageAnswer, SearchPeer
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_LOOKED_AT, _QUOTED, _AROUND = 10, 3, 2
_SESSIONS, _OTHERS, _HAYSTACKS = 3, 5, 45
_ELSEWHERE = {"locomo": 10, "longmemeval": 5}
"""How many questions that nothing answers are asked of each store."""
_ADVERSARIAL = "cat5"
_ANSWERED_COUNTS = 2
_THRESHOLDS = [number / 100 for number in range(20, 100)]


class Case(NamedTuple):
    """One question: of which dataset and conversation, how well something matches, and what is right."""

    dataset: str
    group: str
    match: float
    kind: str
    useful: bool
    """Whether what would be quoted has the answer."""


def conversations(path: Path, rng: random.Random) -> Iterable[tuple[str, Corpus]]:
    for whole in locomo(path):
        for at in range(0, len(whole.sessions), _SESSIONS):
            sessions = whole.sessions[at : at + _SESSIONS]
            ids = {session.id for session in sessions}
            own = [one for one in whole.questions if one.gold_sessions <= ids]
            others = [
                one for one in whole.questions if one.kind != _ADVERSARIAL and not one.gold_sessions & ids
            ]
            asked = own + _unanswered(others, _ELSEWHERE["locomo"], rng)
            yield whole.name, Corpus(f"{whole.name}-{at}", sessions, asked, {"": None})


def haystacks(path: Path, rng: random.Random) -> Iterable[tuple[str, Corpus]]:
    answered = [one for one in longmemeval(path) if one.questions[0].gold_turns]
    for whole in rng.sample(answered, _HAYSTACKS):
        gold = whole.questions[0].gold_sessions
        others = rng.sample([one for one in whole.sessions if one.id not in gold], _OTHERS)
        sessions = [one for one in whole.sessions if one.id in gold or one in others]
        elsewhere = [one.questions[0] for one in answered if one is not whole]
        asked = whole.questions + _unanswered(elsewhere, _ELSEWHERE["longmemeval"], rng)
        yield whole.name, Corpus(f"{whole.name}-few", sessions, asked, {"": "user"})


def _unanswered(questions: Sequence[Question], most: int, rng: random.Random) -> list[Question]:
    some = rng.sample(questions, min(most, len(questions)))
    return [one._replace(kind=ABSTENTION, gold_turns=frozenset()) for one in some]


def asked(
    installation: Installation, dataset: str, group: str, corpus: Corpus, filled: Filled
) -> Iterable[Case]:
    order = {turn.id: (one.id, at) for one in corpus.sessions for at, turn in enumerate(one.turns)}
    speakers = {turn.speaker for session in corpus.sessions for turn in session.turns}
    for question in corpus.questions:
        named = [one for one in speakers if one.split()[0].lower() in question.text.lower()]
        peer = "user" if dataset == "longmemeval" else named[0] if len(named) == 1 else None
        if peer is None:
            continue
        request = SearchPeer(
            workspace_id=filled.workspace,
            peer_id=peer_name(peer),
            query=question.text,
            limit=_LOOKED_AT,
            at=question.at,
            explain=True,
        )
        found = installation.gate.call(SEARCH_PEER, Credentials(installation.owner_cap), request).messages
        quoted = [order[filled.turns[message.id]] for message in found[:_QUOTED]]
        gold = [order[turn] for turn in question.gold_turns if turn in order]
        useful = any(_beside(one, other) for one in gold for other in quoted)
        yield Case(dataset, group, max(map(_match, found), default=0.0), question.kind, useful)


def _beside(one: tuple[str, int], other: tuple[str, int]) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) <= _AROUND


def _match(message: MessageAnswer) -> float:
    told = message.explanation
    return 0.0 if told is None else match({name: one.value for name, one in told.signals.items()})


def worth(cases: Iterable[Case], threshold: float, unanswered: str = ABSTENTION) -> tuple[float, float]:
    """The share of the useful ones that are answered, and that of the unanswerable ones that are not."""
    useful, idle = [], []
    for one in cases:
        if one.kind == unanswered:
            idle.append(one.match < threshold)
        elif one.kind != _ADVERSARIAL and one.useful:
            useful.append(one.match >= threshold)
    return sum(useful) / (len(useful) or 1), sum(idle) / (len(idle) or 1)


def chosen(cases: Sequence[Case]) -> float:
    """The threshold that is worth most on these, in the mean of their datasets."""
    by_set = [
        [one for one in cases if one.dataset == name] for name in sorted({one.dataset for one in cases})
    ]

    def value(threshold: float) -> float:
        shares = [worth(some, threshold) for some in by_set]
        return sum(_ANSWERED_COUNTS * answered + silent for answered, silent in shares)

    return max(_THRESHOLDS, key=value)


def told(name: str, cases: Sequence[Case], threshold: float, unanswered: str = ABSTENTION) -> None:
    answered, silent = worth(cases, threshold, unanswered)
    print(f"{name:44} {threshold:.2f}  answered {answered:6.1%}  silent where nothing answers {silent:6.1%}")


def report(cases: Sequence[Case]) -> None:
    by_set = {name: [one for one in cases if one.dataset == name] for name in ("locomo", "longmemeval")}
    for name, own in by_set.items():
        for at in (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
            told(f"{name}, the curve", own, at)
    for name, own in by_set.items():
        told(f"{name}, chosen on the other", own, chosen([one for one in cases if one.dataset != name]))
    for group in sorted({one.group for one in by_set["locomo"]}):
        at = chosen([one for one in cases if one.group != group])
        told(f"{group}, chosen on the rest", [one for one in cases if one.group == group], at)
    told("both, chosen on both", cases, chosen(cases))
    told("both, as the product has it", cases, LEAST_MATCH)
    told("locomo, the adversarial ones", by_set["locomo"], LEAST_MATCH, _ADVERSARIAL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--store", type=Path, help="keep the stores there, or take them from there")
    options = parser.parse_args()
    rng = random.Random(1)
    corpora = [("locomo", *one) for one in conversations(options.locomo, rng)]
    corpora += [("longmemeval", *one) for one in haystacks(options.longmemeval, rng)]
    with TemporaryDirectory() as scratch:
        shelf = Shelf(options.store or Path(scratch))
        filled = list(shelf.filled([corpus for _, _, corpus in corpora]))
        installation = opened(shelf.folder / "house", {})
        try:
            stores = zip(corpora, filled, strict=True)
            cases = [
                case for (*of, corpus), stored in stores for case in asked(installation, *of, corpus, stored)
            ]
        finally:
            installation.close()
    report(cases)


if __name__ == "__main__":
    main()
