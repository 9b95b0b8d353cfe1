"""The systems that the recall benchmark compares, each asked the same questions about the same corpora."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import fmean, median, quantiles
from typing import Any, NamedTuple

from recall_bm25 import Bm25, stems, words
from recall_data import Corpus, Question, Turn
from recall_metrics import by_session
from recall_smalltalk import LINES
from recall_souvenance import MOST, TOP, Ask, Filled, Replies, Reply, Shelf
from souvenance.adapters.word_tables import TokenCounter

Told = Callable[[str], None]


class Ranking(NamedTuple):
    """What one question found, best first; a system that ranks sessions alone has no turns."""

    turns: list[str] | None
    sessions: list[str]


class Found(NamedTuple):
    """What a system found in a dataset, for its questions in their order."""

    views: dict[str, list[Ranking]]
    """By the prefix of their names; without one, what the targets are about."""
    guarded: list[Ranking]
    """What is given to an agent unasked: nothing, where nothing is relevant enough."""
    small_talk: list[bool]
    """Whether anything was given for each line of small talk."""
    costs: dict[str, Any]


def asked(corpora: Sequence[Corpus]) -> list[tuple[Corpus, Question]]:
    return [(corpus, question) for corpus in corpora for question in corpus.questions]


def small_talk(corpora: Sequence[Corpus]) -> list[tuple[Corpus, str]]:
    """Every line of small talk, with the corpus that it is said before."""
    return [(corpora[number % len(corpora)], line) for number, line in enumerate(LINES)]


def timing(rounds: Sequence[Sequence[float]]) -> dict[str, Any]:
    """In milliseconds: the median of the rounds' medians, each of these, and the 95th percentile of all."""
    medians = [1000 * median(seconds) for seconds in rounds]
    everyone = [1000 * one for seconds in rounds for one in seconds]
    return {
        "ms_median": median(medians),
        "ms_median_rounds": medians,
        "ms_p95": quantiles(everyone, n=20, method="inclusive")[-1] if len(everyone) > 1 else everyone[0],
    }


class Souvenance:
    """The product, as it is installed or as the environment says."""

    def __init__(self, shelf: Shelf, environment: Mapping[str, str]) -> None:
        self._shelf = shelf
        self._environment = environment

    def find(self, corpora: Sequence[Corpus], rounds: int, told: Told) -> Found:
        filled: dict[str, Filled] = {}
        for number, one in enumerate(self._shelf.filled(corpora), 1):
            told(f"storing {number} of {len(corpora)}")
            filled[corpora[number - 1].name] = one
        questions = asked(corpora)
        found: dict[str, list[Ranking]] = {}
        costs = self._stored(list(filled.values()))

        def rankings(replies: Sequence[Reply]) -> list[Ranking]:
            return [
                _ranking(corpus, filled[corpus.name], reply)
                for (corpus, _), reply in zip(questions, replies, strict=True)
            ]

        for prefix, peer in corpora[0].views.items():
            told(f"asking {prefix}".rstrip("_"))
            asks = [Ask(filled[corpus.name].workspace, one.text, one.at, peer) for corpus, one in questions]
            replies = self._shelf.ask(asks, rounds, self._environment)
            found[prefix] = rankings(replies.replies)
            costs |= {f"{prefix}{name}": value for name, value in _costs(replies, rounds).items()}
        told("asking guarded")
        peer = corpora[0].views[""]
        guarded = [
            *((corpus, one.text, one.at) for corpus, one in questions),
            *((corpus, line, corpus.questions[0].at) for corpus, line in small_talk(corpora)),
        ]
        asks = [Ask(filled[one.name].workspace, text, at, peer, guarded=True) for one, text, at in guarded]
        given = self._shelf.ask(asks, 0, self._environment).replies
        injected = [bool(one.ids) for one in given[len(questions) :]]
        return Found(found, rankings(given[: len(questions)]), injected, costs)

    def _stored(self, filled: Sequence[Filled]) -> dict[str, Any]:
        messages = sum(len(one.turns) for one in filled)
        return {
            "ingest_ms_per_message": 1000 * sum(one.seconds for one in filled) / messages,
            "behind_ms_per_message": 1000 * sum(one.behind_seconds for one in filled) / messages,
            "bytes_per_message": self._shelf.bytes_per_message(),
            "text_bytes_per_message": sum(one.text_bytes for one in filled) / messages,
        }


def _costs(replies: Replies, rounds: int) -> dict[str, Any]:
    return {
        **timing([[one.seconds[number] for one in replies.replies] for number in range(rounds)]),
        "ms_first": 1000 * median(replies.first_seconds),
        "tokens@10": fmean(one.tokens for one in replies.replies),
        "resident_mb": replies.resident_mb,
        "same_top10": 100 * fmean(one.same for one in replies.replies),
    }


def _ranking(corpus: Corpus, filled: Filled, reply: Reply) -> Ranking:
    turns = [filled.turns[message] for message in reply.ids]
    return Ranking(turns, by_session(turns, corpus.session_of))


class Baseline:
    """BM25 over turns, from which sessions are counted, or over sessions alone."""

    def __init__(self, *, stemming: bool, sessions: bool) -> None:
        self._terms = stems if stemming else words
        self._sessions = sessions

    def find(self, corpora: Sequence[Corpus], rounds: int, told: Told) -> Found:
        found: dict[str, list[Ranking]] = {}
        costs: dict[str, Any] = {}
        injected: list[bool] = []
        talk: dict[str, list[str]] = {}
        for corpus, line in small_talk(corpora):
            talk.setdefault(corpus.name, []).append(line)
        for prefix, peer in corpora[0].views.items():
            told(f"asking {prefix}".rstrip("_"))
            rankings: list[Ranking] = []
            seconds: list[list[float]] = [[] for _ in range(rounds)]
            indexing, messages = 0.0, 0
            for corpus in corpora:
                began = time.perf_counter()
                index = self._index(corpus, peer)
                indexing += time.perf_counter() - began
                messages += len(corpus.session_of)
                rankings += [self._ranking(corpus, index, one.text) for one in corpus.questions]
                for taken in seconds:
                    taken += [_taken(index, one.text) for one in corpus.questions]
                if not prefix:
                    injected += [bool(index.ranked(line, TOP)) for line in talk.get(corpus.name, ())]
            found[prefix] = rankings
            told_costs = {**timing(seconds), "ingest_ms_per_message": 1000 * indexing / messages}
            if not self._sessions:
                told_costs["tokens@10"] = fmean(_tokens(corpora, rankings))
            costs |= {f"{prefix}{name}": value for name, value in told_costs.items()}
        return Found(found, found[""], injected, costs)

    def _index(self, corpus: Corpus, speaker: str | None) -> Bm25:
        documents: dict[str, str] = {}
        for session in corpus.sessions:
            turns = [turn for turn in session.turns if speaker in (None, turn.speaker)]
            if self._sessions:
                documents[session.id] = "\n".join(_document(turn) for turn in turns)
            else:
                documents |= {turn.id: _document(turn) for turn in turns}
        return Bm25(documents, self._terms)

    def _ranking(self, corpus: Corpus, index: Bm25, question: str) -> Ranking:
        found = index.ranked(question, MOST)
        if self._sessions:
            return Ranking(None, found)
        return Ranking(found, by_session(found, corpus.session_of))


def _taken(index: Bm25, question: str) -> float:
    began = time.perf_counter()
    index.ranked(question, TOP)
    return time.perf_counter() - began


def _document(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}"


def _tokens(corpora: Sequence[Corpus], rankings: Sequence[Ranking]) -> list[int]:
    """How many tokens the first ten turns of each ranking have."""
    count = cache(TokenCounter().count)
    found = []
    for (corpus, _), ranking in zip(asked(corpora), rankings, strict=True):
        top = set((ranking.turns or [])[:TOP])
        found.append(
            sum(count(turn.text) for session in corpus.sessions for turn in session.turns if turn.id in top)
        )
    return found
