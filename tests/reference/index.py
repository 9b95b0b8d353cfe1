"""The reference index: reads everything of the compartments asked about, one line at a time, and caches
nothing."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from math import exp, log1p

from msgspec import Struct
from msgspec.structs import replace

from souvenance.domain import relevance as r
from souvenance.domain.change_feed import Saying
from souvenance.domain.seal import unpack
from souvenance.language import signs
from souvenance.language.times import TimeSpan
from souvenance.ports.index import Hit, IndexQuery, Inquiry, Place
from souvenance.ports.store import Transaction


class _Line(Struct):
    asked: IndexQuery
    id: str
    counts: dict[int, int]
    said: Saying
    matches: list[float]
    nearness: float = 0.0


class ReferenceIndex:
    def search(
        self, tx: Transaction, inquiry: Inquiry, k: int, within: Collection[str] | None = None
    ) -> list[Hit]:
        lines = [line for asked in inquiry.compartments for line in _lines(tx, asked, inquiry, within)]
        terms = max(inquiry.groups, default=-1) + 1
        exact = [at for at, closeness in enumerate(inquiry.closeness) if closeness == 1.0]
        holding = [0] * terms
        for line in lines:
            for at in exact:
                holding[inquiry.groups[at]] += line.asked.tokens[at] in line.counts
        telling = [r.idf(len(lines), count) for count in holding]
        worth = [one / sum(telling) for one in telling]
        beside: dict[tuple[str, str | None, int | None], _Line] = {
            (line.asked.compartment.workspace, line.said.session, line.said.turn): line
            for line in lines
            if line.said.session is not None
        }
        sessions = defaultdict(list)
        for line in lines:
            sessions[line.asked.compartment.workspace, line.said.session].append(line)
        seldom = r.seldom(len(lines), sum(_in_time(line.said.at, inquiry.spans) for line in lines))
        candidates = []
        for line in lines:
            place = (line.asked.compartment.workspace, line.said.session)
            before, before_that, after = (
                None if line.said.turn is None else beside.get((*place, line.said.turn + step))
                for step in (-1, -2, 1)
            )
            around = [line, *map(_if_said, (before, before_that, after))]
            whole = [line] if line.said.session is None else sessions[place]
            measures = r.LineMeasures(
                lines=len(lines),
                wants=inquiry.wants,
                length=sum(line.counts.values()),
                words_around=_covered(worth, around),
                words_in_session=_covered(worth, whole),
                similar_words=_covered(worth, [line], kin=True),
                similar_words_in_session=_covered(worth, whole, kin=True),
                meaning=line.nearness,
                meaning_in_session=max(one.nearness for one in whole),
                meaning_nearby=max((one.nearness for one in (before, after) if one is not None), default=0.0),
                speaker=float(line.asked.compartment.owner in inquiry.speakers),
                is_question=_has(line, signs.ASKS),
                first_person=_has(line, signs.SELF),
                has_number=_has(line, signs.NUMBER),
                has_time=_has(line, signs.TIME),
                mentions_date=_then(line),
                matches_time=_during(line, inquiry),
                in_time=_in_time(line.said.at, inquiry.spans),
                few_in_time=seldom,
            )
            of_then = measures.mentions_date > 0 or measures.matches_time
            if any(line.matches) or line.nearness >= r.LEAST_MEANING or of_then or _asks(before):
                candidates.append((line, measures))
        return _hits(candidates)[:k]

    def alike(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        one: Place,
        others: Collection[Place],
        within: Collection[str] | None = None,
    ) -> dict[Place, float]:
        compartment, line_id = one
        lying = [
            unpack(packed)
            for asked in inquiry.compartments
            if asked.compartment == compartment
            if (packed := _packed(tx, asked, inquiry.space).get(line_id)) is not None
        ]
        if inquiry.vector() is None or not lying:
            return {}
        beside = replace(inquiry, vector=lying[0].tobytes)
        lines = [line for asked in inquiry.compartments for line in _lines(tx, asked, beside, within)]
        near = {(line.asked.compartment, line.id): line.nearness for line in lines if line.nearness}
        usual = r.usual(
            sorted(value for (where, _), value in near.items() if where.owner == compartment.owner)
        )
        return {other: (near[other] - usual) / (1 - usual) for other in others if other in near}

    def forget(self) -> None:
        pass


def _hits(candidates: Sequence[tuple[_Line, r.LineMeasures]]) -> list[Hit]:
    """The candidates, best first."""
    hits: list[Hit] = []
    for line, measures in candidates:
        found = r.signals_of(measures)
        score = sum(r.WEIGHTS[name] * value for name, value in found.items())
        told = {name: value for name, value in found.items() if value}
        hits.append(Hit(line.asked.compartment, line.id, score, told))
    said = {(line.asked.compartment, line.id): line.said.at for line, _ in candidates}
    hits.sort(key=lambda hit: (hit.score, said[hit[:2]], hit.id, hit.compartment), reverse=True)
    return hits


def _long(line: _Line) -> float:
    return log1p(sum(line.counts.values()))


def _if_said(line: _Line | None) -> _Line | None:
    """The line, unless it is a document."""
    return None if line is None or _long(line) > r.DOCUMENT else line


def _asks(line: _Line | None) -> bool:
    """Whether it is a question that holds one of the terms."""
    return line is not None and any(line.matches) and bool(_has(line, signs.ASKS))


def _open(line: _Line, inquiry: Inquiry, within: Collection[str] | None) -> bool:
    """Whether the line is there for this question."""
    said = line.said
    return (
        line.counts.keys() >= set(line.asked.marks)
        and (not inquiry.said or said.turn is not None)
        and (inquiry.sessions is None or said.session in inquiry.sessions)
        and (within is None or line.id in within)
    )


def _lines(
    tx: Transaction, asked: IndexQuery, inquiry: Inquiry, within: Collection[str] | None
) -> list[_Line]:
    found: dict[str, _Line] = {}
    for change in tx.terms.since(asked.compartment, 0):
        if change.tokens is None:
            found.pop(change.id, None)
        else:
            counts = dict(zip(array("Q", change.tokens), change.counts, strict=True))
            found[change.id] = _Line(asked, change.id, counts, change.said, _matches(counts, asked, inquiry))
    found = {line.id: line for line in found.values() if _open(line, inquiry, within)}
    vector = inquiry.vector()
    if vector is not None:
        question = array("f", vector)
        for line_id, packed in _packed(tx, asked, inquiry.space).items():
            if line_id in found:
                found[line_id].nearness = _near(question, unpack(packed))
    return list(found.values())


def _packed(tx: Transaction, asked: IndexQuery, space: str) -> dict[str, bytes]:
    """The packed vectors of the compartment's lines: those of the store, and those made for the question."""
    stored = tx.terms.vectors(asked.compartment, space, 0)
    opened = {placed.id: asked.open(placed.id, placed.sealed) for placed in stored}
    kept = {line_id: packed for line_id, packed in opened.items() if packed is not None}
    return {**asked.freshen(()).made, **kept}


def _near(one: array[float], other: array[float]) -> float:
    nearness = float(sum(here * there for here, there in zip(one, other, strict=True)))
    return round(max(0.0, nearness), r.ROUNDED)


def _matches(counts: dict[int, int], asked: IndexQuery, inquiry: Inquiry) -> list[float]:
    """How near the line comes to each term."""
    found = [0.0] * (max(inquiry.groups, default=-1) + 1)
    for token, group, closeness in zip(asked.tokens, inquiry.groups, inquiry.closeness, strict=True):
        if token in counts:
            found[group] = max(found[group], closeness)
    return found


def _covered(worth: Sequence[float], lines: Sequence[_Line | None], *, kin: bool = False) -> float:
    """How much of the question's terms the lines hold together, or of the terms and their kin."""
    there = [line.matches for line in lines if line is not None]
    held = (max(matches) for matches in zip(*there, strict=True))
    return sum((one * (most if kin else most == 1.0) for one, most in zip(worth, held, strict=True)), 0.0)


def _has(line: _Line, sign: str) -> float:
    """Whether the line has that sign."""
    return float(bool(line.asked.signs) and line.asked.signs[signs.EVERY.index(sign)] in line.counts)


def _then(line: _Line) -> float:
    """Whether the line speaks of a day that the question speaks of, or of one close to it."""
    if any(day in line.counts for day in line.asked.days):
        return 1.0
    return r.NEAR_DAY * any(day in line.counts for day in line.asked.near_days)


def _during(line: _Line, inquiry: Inquiry) -> float:
    """How much the line is of the time that is asked by alone."""
    then, said = _then(line), _in_time(line.said.at, inquiry.spans, r.close)
    if not inquiry.by_time or not (then or said >= r.TIMELY):
        return 0.0
    return 1.0 if 1.0 in (then, said) else r.CLOSE_BY


def _in_time(
    at: int, spans: Sequence[TimeSpan], slack: Callable[[TimeSpan], tuple[float, float]] = r.slack
) -> float:
    return max((_said_in(at, span, *slack(span)) for span in spans), default=0.0)


def _said_in(at: int, span: TimeSpan, early: float, late: float) -> float:
    return exp(-max((span.start_ms - at) / early, (at - span.end_ms) / late, 0.0))
