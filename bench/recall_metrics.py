"""How good a ranking is: the measures of retrieval, the same code for every system.

A ranking is a list of ids, the best first; an id that comes again counts once, where it came first.
`any@k` is 1 if at least one gold id is among the first k, `all@k` if every one is, `frac@k` is the share
of the gold that is. `mrr` is one by the rank of the first gold id, `ndcg@k` has its ideal over the whole
corpus: all the gold there is comes first, whether it was found or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2
from statistics import fmean

Scores = dict[str, float]


def distinct(ids: Iterable[str]) -> list[str]:
    """The ids in their order, each once."""
    return list(dict.fromkeys(ids))


def by_session(turns: Iterable[str], session_of: Mapping[str, str]) -> list[str]:
    """The sessions in the order in which the ranking of turns comes to them."""
    return distinct(session_of[turn] for turn in turns)


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    return float(any(one in gold for one in ranked[:k]))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    return float(set(gold) <= set(ranked[:k]))


def frac_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    return len(set(gold) & set(ranked[:k])) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """One by the rank of the first gold id; 0 if none was found."""
    return next((1 / rank for rank, one in enumerate(ranked, 1) if one in gold), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    gained = sum(1 / log2(rank + 1) for rank, one in enumerate(ranked[:k], 1) if one in gold)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
    return gained / ideal


def scores(
    what: str, ranking: Iterable[str], gold: Collection[str], cuts: Sequence[int], corpus: int
) -> Scores:
    """Every measure of one ranking, as `turn_frac@10`; recall from 0 to 100, `mrr` and `ndcg` from 0 to 1.

    Raises: ValueError if there is no gold, or a cut that takes in the whole corpus and so measures nothing.
    """
    if not gold:
        raise ValueError("nothing to find")
    if max(cuts) >= corpus:
        raise ValueError(f"the first {max(cuts)} of {corpus} are all there is")
    ranked = distinct(ranking)
    found: Scores = {}
    for k in cuts:
        found[f"{what}_any@{k}"] = 100 * any_at(ranked, gold, k)
        found[f"{what}_all@{k}"] = 100 * all_at(ranked, gold, k)
        found[f"{what}_frac@{k}"] = 100 * frac_at(ranked, gold, k)
    found[f"{what}_mrr"] = reciprocal_rank(ranked, gold)
    found[f"{what}_ndcg@10"] = ndcg_at(ranked, gold, 10)
    return found


def means(rows: Sequence[Mapping[str, float]], suffix: str = "") -> Scores:
    """The mean of every measure over the questions, under its name and the suffix; of none, nothing."""
    return {name + suffix: fmean(row[name] for row in rows) for name in (rows[0] if rows else ())}
