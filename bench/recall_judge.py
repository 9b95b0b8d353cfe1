"""What the rankings of a system are worth: the measures of `recall_metrics` over a dataset's questions.

The name of a mean says over which questions it is. LoCoMo: without a suffix categories 1 to 4, `_cat1` to
`_cat5` one of them, `_all` all five. LongMemEval: without a suffix the official set, else one type of it;
only the user's turns are looked through, as its protocol says. `both_` is where both sides' turns are: there
`_wide` also has the questions that only an assistant's turn answers, and so have the types.

`false_injection` is how often anything comes back from the guarded search where nothing should: the mean of
the shares of the questions that nothing answers (`_abstention`, where a dataset has such) and of the lines of
small talk (`_smalltalk`). `recall_lost` is what the guard costs, in points of `turn_frac@10`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from recall_data import Corpus
from recall_metrics import Scores, all_at, distinct, means, scores
from recall_systems import Found, Ranking, asked

TURN_CUTS = (1, 5, 10, 20, 50)
SESSION_CUTS = (1, 5, 10)


def judged(corpora: Sequence[Corpus], found: Found) -> dict[str, Any]:
    """Every measure by its name, and the costs."""
    told: dict[str, Any] = {}
    for prefix, rankings in found.views.items():
        told |= {f"{prefix}{name}": value for name, value in quality(corpora, rankings, prefix).items()}
    told |= _injections(corpora, found)
    if "turn_frac@10" in told:
        guarded = quality(corpora, found.guarded)["turn_frac@10"]
        told["turn_frac@10_guarded"] = guarded
        told["recall_lost"] = told["turn_frac@10"] - guarded
    return {**told, **found.costs}


def misses(corpora: Sequence[Corpus], found: Found) -> list[dict[str, Any]]:
    """The headline's questions that lack a gold turn among the first ten, with the rank of each."""
    missed = []
    for (corpus, question), ranking in zip(asked(corpora), found.views[""], strict=True):
        turns = distinct(ranking.turns or ())
        ranks = {gold: turns.index(gold) + 1 if gold in turns else None for gold in question.gold_turns}
        if "" in question.groups.get("", ()) and not all_at(turns, question.gold_turns, 10):
            row = {"corpus": corpus.name, "kind": question.kind, "question": question.text}
            missed.append({**row, "ranks": ranks, "first": turns[:10]})
    return missed


def quality(corpora: Sequence[Corpus], rankings: Sequence[Ranking], prefix: str = "") -> Scores:
    """Every measure of a view by its name."""
    rows: dict[str, list[Scores]] = {}
    for (corpus, question), ranking in zip(asked(corpora), rankings, strict=True):
        groups = question.groups.get(prefix, ())
        if not groups:
            continue
        sessions, turns = len(corpus.sessions), len(corpus.session_of)
        row = scores("session", ranking.sessions, question.gold_sessions, SESSION_CUTS, sessions)
        if ranking.turns is not None:
            row |= scores("turn", ranking.turns, question.gold_turns, TURN_CUTS, turns)
        for group in groups:
            rows.setdefault(group, []).append(row)
    return {name: value for group in sorted(rows) for name, value in means(rows[group], group).items()}


def _injections(corpora: Sequence[Corpus], found: Found) -> Scores:
    unanswerable = [
        bool(ranking.sessions)
        for (_, question), ranking in zip(asked(corpora), found.guarded, strict=True)
        if question.unanswerable
    ]
    told = {"false_injection_smalltalk": 100 * fmean(found.small_talk)}
    if unanswerable:
        told["false_injection_abstention"] = 100 * fmean(unanswerable)
    return {"false_injection": fmean(told.values()), **told}


def sizes(corpora: Sequence[Corpus]) -> dict[str, float]:
    """How many there are of what, in all and in a corpus, so that a cut can be held against it."""
    questions = asked(corpora)
    return {
        "corpora": len(corpora),
        "questions": len(questions),
        "judged": sum("" in question.groups.get("", ()) for _, question in questions),
        "unanswerable": sum(question.unanswerable for _, question in questions),
        "turns": sum(len(session.turns) for corpus in corpora for session in corpus.sessions),
        "sessions_per_corpus": fmean(len(corpus.sessions) for corpus in corpora),
        "turns_per_corpus": fmean(len(corpus.session_of) for corpus in corpora),
    }
