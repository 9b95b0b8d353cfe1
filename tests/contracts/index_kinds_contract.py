"""What an index promises of the kind of a question: what it wants, whom it names, of when it speaks."""

from __future__ import annotations

from math import exp

import pytest
from msgspec.structs import replace

from contracts.index_scenes import (
    BOB,
    IDS,
    MILK,
    TEA,
    TRAVEL,
    WORK,
    about,
    add,
    hits,
    index_lines,
    search,
    signal,
)
from souvenance.domain import relevance as r
from souvenance.domain.change_feed import Saying
from souvenance.language import signs
from souvenance.language.questions import Wants
from souvenance.language.times import TimeSpan
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_DAY = 86_400_000
_SIGNS = tuple(range(100, 100 + len(signs.EVERY)))
_KINDS = {r.IS_QUESTION, r.FIRST_PERSON, r.GIVES_TIME, r.GIVES_NUMBER}


def _signed(wants: Wants = Wants()) -> Inquiry:  # noqa: B008
    return Inquiry([IndexQuery(WORK, [TEA], (), _SIGNS)], [0], [1.0], wants=wants)


def _spoken(store: Store, *days: float) -> None:
    """Lines of one term, each said on that day."""
    with store.write() as tx:
        for line_id, day in zip(IDS, days, strict=False):
            add(tx, WORK, line_id, {TEA: 1}, Saying(at=round(day * _DAY)))


class KindsContract:
    @pytest.mark.parametrize(
        ("sign", "told"),
        [
            (signs.ASKS, {r.IS_QUESTION}),
            (signs.SELF, {r.FIRST_PERSON}),
            (signs.NUMBER, {r.GIVES_NUMBER}),
            (signs.TIME, {r.GIVES_TIME}),
        ],
    )
    def test_a_sign_counts_by_itself_or_because_the_question_wants_it(
        self, store: Store, index: Index, sign: str, told: set[str]
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1, _SIGNS[signs.EVERY.index(sign)]: 0})

        def found(wants: Wants) -> set[str]:
            plain, signed = sorted(hits(store, index, _signed(wants)), key=lambda hit: hit.id)
            assert not _KINDS & plain.signals.keys()
            assert {signed.signals[name] for name in _KINDS & signed.signals.keys()} <= {1.0}
            return _KINDS & signed.signals.keys()

        assert found(Wants(moment=True, count=True)) == told
        assert found(Wants()) == told - {r.GIVES_NUMBER, r.GIVES_TIME}

    @pytest.mark.parametrize(
        ("wants", "name"),
        [(Wants(moment=True), r.GIVES_TIME), (Wants(count=True), r.GIVES_NUMBER)],
    )
    def test_a_question_wants_one_thing_and_not_another(
        self, store: Store, index: Index, wants: Wants, name: str
    ) -> None:
        index_lines(store, WORK, {TEA: 1, **dict.fromkeys(_SIGNS, 0)})
        (hit,) = hits(store, index, _signed(wants))
        assert _KINDS & hit.signals.keys() == {r.IS_QUESTION, r.FIRST_PERSON, name}

    def test_a_line_that_asks_comes_behind_one_that_tells(self, store: Store, index: Index) -> None:
        asks, tells = (_SIGNS[signs.EVERY.index(sign)] for sign in (signs.ASKS, signs.SELF))
        index_lines(store, WORK, {TEA: 1, tells: 0}, {TEA: 1}, {TEA: 1, asks: 0})
        assert search(store, index, _signed()) == IDS[:3]

    def test_signs_and_wishes_find_nothing_by_themselves(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {5: 1, **dict.fromkeys(_SIGNS, 0)})
        assert search(store, index, _signed(Wants(moment=True, count=True))) == []
        assert search(store, index, about(TEA, speakers=("ann",), spans=(TimeSpan(0, _DAY),))) == []

    def test_each_compartment_has_its_own_signs(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1, 100: 0})
        index_lines(store, TRAVEL, {TEA: 1, 100: 0})
        asked = [IndexQuery(WORK, [TEA], (), _SIGNS), IndexQuery(TRAVEL, [TEA], (), _SIGNS[::-1])]
        found = {
            hit.compartment: hit.signals.keys() & _KINDS
            for hit in hits(store, index, Inquiry(asked, [0], [1.0]))
        }
        assert found == {WORK: {r.IS_QUESTION}, TRAVEL: set()}

    def test_a_line_that_speaks_of_a_day_that_is_asked_about_is_found_by_it(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {5: 1, 7: 0}, {5: 1, 7: 0, 8: 0}, {TEA: 1}, {5: 1, 9: 0})
        index_lines(store, BOB, {5: 1, 7: 0}, {5: 1, 8: 0})
        asked = [IndexQuery(WORK, [TEA], days=[7, 8]), IndexQuery(BOB, [TEA], days=[8, 9])]
        found = {
            hit[:2]: hit.signals.get(r.MENTIONS_DATE, 0.0)
            for hit in hits(store, index, Inquiry(asked, [0], [1.0]))
        }
        assert found == {(WORK, IDS[0]): 1.0, (WORK, IDS[1]): 1.0, (WORK, IDS[2]): 0.0, (BOB, IDS[1]): 1.0}
        of_no_terms = Inquiry([IndexQuery(WORK, [], days=[9])], [], [])
        assert search(store, index, of_no_terms) == [IDS[3]]

    def test_a_line_counts_the_less_the_more_else_it_says_but_not_while_it_is_short(
        self, store: Store, index: Index
    ) -> None:
        beside = [0, 1, r.SAID_AT_ONCE - 1, r.SAID_AT_ONCE, 2 * r.SAID_AT_ONCE, 10_000]
        index_lines(store, WORK, *({TEA: 1} | {1_000 + n: 1 for n in range(others)} for others in beside))
        told = [signal(store, index, about(TEA), r.LONG)[IDS[at]] for at in range(len(beside))]
        assert told[:3] == [0.0, 0.0, 0.0] < told[3:]
        assert sorted(told) == told
        assert told[-1] < 1
        assert search(store, index, about(TEA)) == [IDS[at] for at in (2, 1, 0, 3, 4, 5)]

    def test_the_lines_of_one_who_is_named_come_first(self, store: Store, index: Index) -> None:
        for compartment in (WORK, TRAVEL, BOB):
            index_lines(store, compartment, {TEA: 1})
        compartments = (WORK, BOB, TRAVEL)
        named = {
            hit.compartment: hit.signals.get(r.SPEAKER)
            for hit in hits(store, index, about(TEA, compartments=compartments, speakers=("ann",)))
        }
        assert named == {WORK: 1.0, TRAVEL: 1.0, BOB: None}
        found = hits(store, index, about(TEA, compartments=compartments, speakers={"bob": {"b"}}))
        assert [hit.compartment for hit in found] == [BOB, WORK, TRAVEL]
        assert all(
            r.SPEAKER not in hit.signals for hit in hits(store, index, about(TEA, compartments=compartments))
        )

    def test_a_line_said_in_the_time_that_is_asked_about_comes_first(
        self, store: Store, index: Index
    ) -> None:
        span = TimeSpan(10 * _DAY, 12 * _DAY)
        _spoken(store, 10, 11, 12, 9, 13, 0, 100)
        told = signal(store, index, about(TEA, spans=(span,)), r.SAID_THEN)
        early, late = (_DAY / side for side in r.slack(span))
        when = [1.0, 1.0, 1.0, exp(-early), exp(-late), exp(-10 * early), exp(-88 * late)]
        few = r.seldom(len(when), sum(when))
        assert told == pytest.approx({IDS[at]: few * one for at, one in enumerate(when)})
        assert search(store, index, about(TEA, spans=(span,)))[:5] == [IDS[2], IDS[1], IDS[0], IDS[4], IDS[3]]

    def test_where_a_time_is_all_that_is_asked_by_what_was_said_then_is_found(
        self, store: Store, index: Index
    ) -> None:
        span = TimeSpan(10 * _DAY, 11 * _DAY)
        _spoken(store, 10, 9, 12, 100)
        untold = Inquiry([IndexQuery(WORK, [MILK])], [0], [1.0], spans=(span,))
        assert search(store, index, untold) == []
        by_time = replace(untold, by_time=True)
        assert search(store, index, by_time) == [IDS[0], IDS[2]]
        assert signal(store, index, by_time, r.MATCHES_TIME) == {IDS[0]: 1.0, IDS[2]: r.CLOSE_BY}
        with_words = replace(about(TEA, spans=(span,)), by_time=True)
        assert search(store, index, with_words)[:2] == [IDS[0], IDS[2]]
        assert len(search(store, index, with_words)) == 4

    def test_a_time_says_the_less_the_more_lines_are_of_it(self, store: Store, index: Index) -> None:
        _spoken(store, 0, 10, 10, 100)
        few, all_of_them = (about(TEA, spans=(TimeSpan(0, days * _DAY),)) for days in (1, 101))
        assert 0 < signal(store, index, few, r.SAID_THEN)[IDS[0]] < 1
        assert set(signal(store, index, all_of_them, r.SAID_THEN).values()) == {0.0}

    def test_only_lines_that_may_be_found_make_a_time_common(self, store: Store, index: Index) -> None:
        _spoken(store, 0, 10, 10, 100)
        with store.read() as tx:
            found = index.search(tx, about(TEA, spans=(TimeSpan(0, _DAY),)), 10, within=(IDS[0], IDS[3]))
        told = {hit.id: hit.signals.get(r.SAID_THEN, 0.0) for hit in found}
        assert told == pytest.approx({IDS[0]: r.seldom(2, 1.0), IDS[3]: 0.0}, abs=1e-9)

    def test_of_several_times_the_best_counts(self, store: Store, index: Index) -> None:
        _spoken(store, 10, 50, 90)
        spans = (TimeSpan(10 * _DAY, 11 * _DAY), TimeSpan(90 * _DAY, 91 * _DAY))
        told = signal(store, index, about(TEA, spans=spans), r.SAID_THEN)
        assert told[IDS[0]] == told[IDS[2]] > told[IDS[1]]
        assert set(signal(store, index, about(TEA), r.SAID_THEN).values()) == {0.0}

    def test_times_may_lie_before_all_reckoning(self, store: Store, index: Index) -> None:
        _spoken(store, -719_162, 0)
        span = TimeSpan(-719_162 * _DAY, -719_161 * _DAY)
        assert search(store, index, about(TEA, spans=(span,))) == [IDS[0], IDS[1]]
