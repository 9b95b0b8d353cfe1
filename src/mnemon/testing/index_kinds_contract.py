"""What an index promises of the kind of a question: what it wants, whom it names, of when it speaks."""

from __future__ import annotations

from math import exp

import pytest
from msgspec.structs import replace

from mnemon.domain import relevance as r
from mnemon.domain import signs
from mnemon.domain.feed import Saying
from mnemon.domain.relevance import Wants
from mnemon.domain.when import Span
from mnemon.ports.book import Book
from mnemon.ports.index import Asked, Index, Inquiry
from mnemon.testing.index_scenes import (
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

_DAY = 86_400_000
_SIGNS = tuple(range(100, 100 + len(signs.EVERY)))
_KINDS = {r.ASKS, r.SELF, r.NUMBER, r.TIME, r.MOMENT, r.COUNT, r.WHO}


def _signed(wants: Wants = Wants()) -> Inquiry:  # noqa: B008
    return Inquiry([Asked(WORK, [TEA], (), _SIGNS)], [0], [1.0], wants=wants)


def _spoken(book: Book, *days: float) -> None:
    """Lines of one term, each said on that day."""
    with book.write() as tx:
        for line_id, day in zip(IDS, days, strict=False):
            add(tx, WORK, line_id, {TEA: 1}, Saying(at=round(day * _DAY)))


class KindsContract:
    @pytest.mark.parametrize(
        ("sign", "told"),
        [
            (signs.ASKS, {r.ASKS}),
            (signs.SELF, {r.SELF}),
            (signs.NUMBER, {r.NUMBER, r.COUNT}),
            (signs.TIME, {r.TIME, r.MOMENT}),
            (signs.NAME, {r.WHO}),
        ],
    )
    def test_a_sign_counts_by_itself_or_because_the_question_wants_it(
        self, book: Book, index: Index, sign: str, told: set[str]
    ) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 1, _SIGNS[signs.EVERY.index(sign)]: 0})

        def found(wants: Wants) -> set[str]:
            plain, signed = sorted(hits(book, index, _signed(wants)), key=lambda hit: hit.id)
            assert not _KINDS & plain.signals.keys()
            assert {signed.signals[name] for name in _KINDS & signed.signals.keys()} <= {1.0}
            return _KINDS & signed.signals.keys()

        assert found(Wants(moment=True, count=True, name=True)) == told
        assert found(Wants()) == told - {r.COUNT, r.MOMENT, r.WHO}

    @pytest.mark.parametrize(
        ("wants", "name"),
        [(Wants(moment=True), r.MOMENT), (Wants(count=True), r.COUNT), (Wants(name=True), r.WHO)],
    )
    def test_a_question_wants_one_thing_and_not_another(
        self, book: Book, index: Index, wants: Wants, name: str
    ) -> None:
        index_lines(book, WORK, {TEA: 1, **dict.fromkeys(_SIGNS, 0)})
        (hit,) = hits(book, index, _signed(wants))
        assert _KINDS & hit.signals.keys() == {r.ASKS, r.SELF, r.NUMBER, r.TIME, name}

    def test_a_line_that_asks_comes_behind_one_that_tells(self, book: Book, index: Index) -> None:
        asks, tells = (_SIGNS[signs.EVERY.index(sign)] for sign in (signs.ASKS, signs.SELF))
        index_lines(book, WORK, {TEA: 1, tells: 0}, {TEA: 1}, {TEA: 1, asks: 0})
        assert search(book, index, _signed()) == IDS[:3]

    def test_signs_and_wishes_find_nothing_by_themselves(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {5: 1, **dict.fromkeys(_SIGNS, 0)})
        assert search(book, index, _signed(Wants(moment=True, count=True, name=True))) == []
        assert search(book, index, about(TEA, speakers=("ann",), spans=(Span(0, _DAY),))) == []

    def test_each_room_has_its_own_signs(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1, 100: 0})
        index_lines(book, TRAVEL, {TEA: 1, 100: 0})
        asked = [Asked(WORK, [TEA], (), _SIGNS), Asked(TRAVEL, [TEA], (), _SIGNS[::-1])]
        found = {
            hit.room: hit.signals.keys() & _KINDS for hit in hits(book, index, Inquiry(asked, [0], [1.0]))
        }
        assert found == {WORK: {r.ASKS}, TRAVEL: set()}

    def test_a_line_that_speaks_of_a_day_that_is_asked_about_is_found_by_it(
        self, book: Book, index: Index
    ) -> None:
        index_lines(book, WORK, {5: 1, 7: 0}, {5: 1, 7: 0, 8: 0}, {TEA: 1}, {5: 1, 9: 0})
        index_lines(book, BOB, {5: 1, 7: 0}, {5: 1, 8: 0})
        asked = [Asked(WORK, [TEA], days=[7, 8]), Asked(BOB, [TEA], days=[8, 9])]
        found = {
            hit[:2]: hit.signals.get(r.THEN, 0.0) for hit in hits(book, index, Inquiry(asked, [0], [1.0]))
        }
        assert found == {(WORK, IDS[0]): 1.0, (WORK, IDS[1]): 1.0, (WORK, IDS[2]): 0.0, (BOB, IDS[1]): 1.0}
        of_no_terms = Inquiry([Asked(WORK, [], days=[9])], [], [])
        assert search(book, index, of_no_terms) == [IDS[3]]

    def test_the_lines_of_one_who_is_named_come_first(self, book: Book, index: Index) -> None:
        for room in (WORK, TRAVEL, BOB):
            index_lines(book, room, {TEA: 1})
        rooms = (WORK, BOB, TRAVEL)
        named = {
            hit.room: hit.signals.get(r.SPEAKER)
            for hit in hits(book, index, about(TEA, rooms=rooms, speakers=("ann",)))
        }
        assert named == {WORK: 1.0, TRAVEL: 1.0, BOB: None}
        found = hits(book, index, about(TEA, rooms=rooms, speakers={"bob": {"b"}}))
        assert [hit.room for hit in found] == [BOB, WORK, TRAVEL]
        assert all(r.SPEAKER not in hit.signals for hit in hits(book, index, about(TEA, rooms=rooms)))

    def test_a_line_said_in_the_time_that_is_asked_about_comes_first(self, book: Book, index: Index) -> None:
        span = Span(10 * _DAY, 12 * _DAY)
        _spoken(book, 10, 11, 12, 9, 13, 0, 100)
        told = signal(book, index, about(TEA, spans=(span,)), r.WHEN)
        early, late = (_DAY / side for side in r.slack(span))
        assert told == pytest.approx(
            {
                IDS[0]: 1.0,
                IDS[1]: 1.0,
                IDS[2]: 1.0,
                IDS[3]: exp(-early),
                IDS[4]: exp(-late),
                IDS[5]: exp(-10 * early),
                IDS[6]: exp(-88 * late),
            }
        )
        assert search(book, index, about(TEA, spans=(span,)))[:5] == [IDS[2], IDS[1], IDS[0], IDS[4], IDS[3]]

    def test_where_a_time_is_all_that_is_asked_by_what_was_said_then_is_found(
        self, book: Book, index: Index
    ) -> None:
        span = Span(10 * _DAY, 11 * _DAY)
        _spoken(book, 10, 9, 12, 100)
        untold = Inquiry([Asked(WORK, [MILK])], [0], [1.0], spans=(span,))
        assert search(book, index, untold) == []
        by_time = replace(untold, by_time=True)
        assert search(book, index, by_time) == [IDS[0], IDS[2]]
        assert signal(book, index, by_time, r.DURING) == {IDS[0]: 1.0, IDS[2]: r.CLOSE_BY}
        with_words = replace(about(TEA, spans=(span,)), by_time=True)
        assert search(book, index, with_words)[:2] == [IDS[0], IDS[2]]
        assert len(search(book, index, with_words)) == 4

    def test_a_time_says_the_less_the_more_lines_are_of_it(self, book: Book, index: Index) -> None:
        _spoken(book, 0, 10, 10, 100)
        few, all_of_them = (about(TEA, spans=(Span(0, days * _DAY),)) for days in (1, 101))
        when = signal(book, index, few, r.WHEN)
        told = signal(book, index, few, r.SELDOM)
        telling = r.seldom(len(when), sum(when.values()))
        assert told == pytest.approx({line_id: telling * near for line_id, near in when.items()})
        assert set(signal(book, index, all_of_them, r.WHEN).values()) == {1.0}
        assert set(signal(book, index, all_of_them, r.SELDOM).values()) == {0.0}

    def test_only_lines_that_may_be_found_make_a_time_common(self, book: Book, index: Index) -> None:
        _spoken(book, 0, 10, 10, 100)
        with book.read() as tx:
            found = index.search(tx, about(TEA, spans=(Span(0, _DAY),)), 10, within=(IDS[0], IDS[3]))
        told = {hit.id: hit.signals.get(r.SELDOM, 0.0) for hit in found}
        assert told == pytest.approx({IDS[0]: r.seldom(2, 1.0), IDS[3]: 0.0}, abs=1e-9)

    def test_the_time_says_less_of_a_session_that_has_little_of_what_is_asked(
        self, book: Book, index: Index
    ) -> None:
        span = Span(10 * _DAY, 11 * _DAY)
        with book.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying("monday", 1, at=0))
            add(tx, WORK, IDS[1], {TEA: 1, 9: 1}, Saying("friday", 1, at=10 * _DAY))
            add(tx, WORK, IDS[2], {9: 1}, Saying("sunday", 1, at=10 * _DAY))
            add(tx, WORK, IDS[3], {9: 1}, Saying("winter", 1, at=900 * _DAY))
        rooms = [Asked(WORK, [TEA], days=[9])]
        inquiry = Inquiry(rooms, [0], [1.0], spans=(span,))
        told = signal(book, index, inquiry, r.ASTRAY)
        seldom = signal(book, index, inquiry, r.SELDOM)[IDS[2]]
        assert told == pytest.approx({IDS[0]: 0.0, IDS[1]: 0.0, IDS[2]: seldom, IDS[3]: 0.0}, abs=1e-9)
        of_the_time_alone = Inquiry([Asked(WORK, [], days=[9])], [], [], spans=(span,))
        assert set(signal(book, index, of_the_time_alone, r.ASTRAY).values()) == {0.0}

    def test_a_session_that_has_one_of_the_names_has_it_for_all_its_lines(
        self, book: Book, index: Index
    ) -> None:
        with book.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying("monday", 1))
            add(tx, WORK, IDS[1], {TEA: 1, 8: 1}, Saying("monday", 2))
            add(tx, WORK, IDS[2], {TEA: 1}, Saying("friday", 1))
            add(tx, WORK, IDS[3], {TEA: 1, 9: 1})
            add(tx, WORK, IDS[4], {TEA: 1})
        inquiry = Inquiry([Asked(WORK, [TEA], names=[7, 8, 9])], [0], [1.0])
        told = signal(book, index, inquiry, r.NAMED)
        assert told == {IDS[0]: 1.0, IDS[1]: 1.0, IDS[2]: 0.0, IDS[3]: 1.0, IDS[4]: 0.0}
        with book.read() as tx:
            unseen = index.search(tx, inquiry, 5, {IDS[0], IDS[2]})
        assert [hit.signals.get(r.NAMED) for hit in unseen] == [None, None]

    def test_of_several_times_the_best_counts(self, book: Book, index: Index) -> None:
        _spoken(book, 10, 50, 90)
        spans = (Span(10 * _DAY, 11 * _DAY), Span(90 * _DAY, 91 * _DAY))
        told = signal(book, index, about(TEA, spans=spans), r.WHEN)
        assert (told[IDS[0]], told[IDS[2]]) == (1.0, 1.0)
        assert told[IDS[1]] == pytest.approx(max(exp(-39 * _DAY / r.slack(spans[0])[1]), 0.0))
        assert set(signal(book, index, about(TEA), r.WHEN).values()) == {0.0}

    def test_a_hit_tells_its_rank_under_each_of_its_signals_if_it_is_asked(
        self, book: Book, index: Index
    ) -> None:
        _spoken(book, 5, 20, 11, 10)
        inquiry = about(TEA, spans=(Span(10 * _DAY, 11 * _DAY),), ranks=True)
        found = {hit.id: hit for hit in hits(book, index, inquiry, 4)}
        assert [found[one].ranks[r.WHEN] for one in (IDS[3], IDS[2], IDS[0], IDS[1])] == [1, 1, 3, 4]
        assert all(hit.ranks.keys() == hit.signals.keys() for hit in found.values())
        assert {hit.ranks[r.WORDS] for hit in found.values()} == {1}
        assert all(hit.ranks == {} for hit in hits(book, index, about(TEA)))

    def test_times_may_lie_before_all_reckoning(self, book: Book, index: Index) -> None:
        _spoken(book, -719_162, 0)
        span = Span(-719_162 * _DAY, -719_161 * _DAY)
        assert search(book, index, about(TEA, spans=(span,))) == [IDS[0], IDS[1]]

    @pytest.mark.parametrize(
        ("latest", "expected"), [(1.0, [0.0, 0.5, 1.0]), (-1.0, [1.0, 0.5, 0.0]), (0.0, [0.0, 0.0, 0.0])]
    )
    def test_a_question_for_the_latest_or_the_first_prefers_what_was_said_late_or_early(
        self, book: Book, index: Index, latest: float, expected: list[float]
    ) -> None:
        _spoken(book, 1, 400, 401)
        inquiry = Inquiry([Asked(WORK, [TEA])], [0], [1.0], wants=Wants(latest=latest))
        told = signal(book, index, inquiry, r.ORDER)
        assert [told[line_id] for line_id in IDS[:3]] == expected

    def test_order_counts_by_how_much_of_the_question_a_line_holds(self, book: Book, index: Index) -> None:
        with book.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying(at=0))
            add(tx, WORK, IDS[1], {5: 1}, Saying(at=_DAY))
        inquiry = Inquiry([Asked(WORK, [TEA, 5])], [0, 0], [1.0, 0.5], wants=Wants(latest=1.0))
        assert signal(book, index, inquiry, r.ORDER) == {IDS[0]: 0.0, IDS[1]: 0.5}

    def test_lines_out_of_bounds_have_no_place_in_the_order(self, book: Book, index: Index) -> None:
        _spoken(book, 1, 2, 3)
        inquiry = Inquiry([Asked(WORK, [TEA])], [0], [1.0], wants=Wants(latest=1.0))
        with book.read() as tx:
            found = index.search(tx, inquiry, 9, within=IDS[:2])
        assert [hit.signals.get(r.ORDER, 0.0) for hit in found] == [1.0, 0.0]
