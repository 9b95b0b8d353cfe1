"""What an index promises of conversations: lines beside a line, answers to questions, and whole sessions."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import pytest

from contracts.index_scenes import (
    BOB,
    CITY,
    IDS,
    MILK,
    TEA,
    TRAVEL,
    WORK,
    Tokens,
    about,
    add,
    expect_same,
    hits,
    index_lines,
    search,
    signal,
    talk,
)
from souvenance.domain import relevance as r
from souvenance.domain.change_feed import Saying
from souvenance.domain.names import Compartment
from souvenance.language import signs
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_DAY = 100
_SIGNS = tuple(range(101, 101 + len(signs.EVERY)))
_ASKS = _SIGNS[signs.EVERY.index(signs.ASKS)]
_BOTH = (WORK, BOB)


def _of_that_day(*tokens: int) -> Tokens:
    return {_DAY: 0, **dict.fromkeys(tokens, 1)}


def _on_that_day(*tokens: int, compartments: Sequence[Compartment] = (WORK,)) -> Inquiry:
    """A question that finds all lines of a day, so that it can be seen what each is told."""
    asked = [IndexQuery(compartment, tokens, days=[_DAY]) for compartment in compartments]
    return Inquiry(asked, range(len(tokens)), [1.0] * len(tokens))


def _signed(
    *tokens: int, compartments: Sequence[Compartment] = (WORK,), marks: Sequence[int] = ()
) -> Inquiry:
    asked = [IndexQuery(compartment, tokens, marks, _SIGNS) for compartment in compartments]
    return Inquiry(asked, range(len(tokens)), [1.0] * len(tokens))


class _BesideContract:
    def test_two_lines_before_a_line_and_one_after_it_stand_beside_it(
        self, store: Store, index: Index
    ) -> None:
        talk(store, *[(WORK, _of_that_day(*[TEA] * (turn == 4))) for turn in range(1, 9)])
        told = {
            hit.id: {name for name in (r.SIMILAR_WORDS, r.WORDS_AROUND) if name in hit.signals}
            for hit in hits(store, index, _on_that_day(TEA))
        }
        assert told == {
            **dict.fromkeys(IDS, frozenset()),
            IDS[2]: {r.WORDS_AROUND},
            IDS[3]: {r.SIMILAR_WORDS, r.WORDS_AROUND},
            IDS[4]: {r.WORDS_AROUND},
            IDS[5]: {r.WORDS_AROUND},
        }
        assert search(store, index, _on_that_day(TEA))[0] == IDS[3]

    def test_a_document_says_nothing_of_the_lines_beside_it(self, store: Store, index: Index) -> None:
        document = {1_000 + number: 1 for number in range(int(exp(r.DOCUMENT)))}
        talk(store, (WORK, _of_that_day()), (WORK, {**document, **_of_that_day(TEA)}), (WORK, _of_that_day()))
        told = {hit.id: r.WORDS_AROUND in hit.signals for hit in hits(store, index, _on_that_day(TEA))}
        assert told == {IDS[0]: False, IDS[1]: True, IDS[2]: False}

    @pytest.mark.parametrize(
        "elsewhere",
        [
            Saying("other", 2),
            Saying(None, 2),
            Saying("talk", None),
            Saying("talk", 4),
            Saying("talk", 1 << 40),
            Saying(None, None),
        ],
    )
    def test_only_the_very_next_turns_of_the_same_session_are_beside_a_line(
        self, store: Store, index: Index, elsewhere: Saying
    ) -> None:
        with store.write() as tx:
            add(tx, WORK, IDS[0], _of_that_day(TEA), Saying("talk", 1))
            add(tx, WORK, IDS[1], _of_that_day(), elsewhere)
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == {IDS[0]: 1.0, IDS[1]: 0.0}

    @pytest.mark.parametrize("turn", [0, 1, 2])
    def test_a_line_without_a_turn_stands_beside_none(self, store: Store, index: Index, turn: int) -> None:
        with store.write() as tx:
            add(tx, WORK, IDS[0], _of_that_day(TEA), Saying("talk"))
            add(tx, WORK, IDS[1], _of_that_day(), Saying("talk", turn))
            add(tx, WORK, IDS[2], _of_that_day(), Saying("talk"))
        told = signal(store, index, _on_that_day(TEA), r.WORDS_AROUND)
        assert told == {IDS[0]: 1.0, IDS[1]: 0.0, IDS[2]: 0.0}

    def test_lines_of_no_session_stand_beside_none(self, store: Store, index: Index) -> None:
        talk(store, (WORK, _of_that_day(TEA)), (WORK, _of_that_day()), session=None)
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == {IDS[0]: 1.0, IDS[1]: 0.0}

    def test_a_line_that_takes_the_turn_of_a_removed_one_stands_in_its_place(
        self, store: Store, index: Index
    ) -> None:
        talk(store, (WORK, _of_that_day()), (WORK, _of_that_day()), (WORK, _of_that_day()))
        assert set(signal(store, index, _on_that_day(TEA), r.WORDS_AROUND).values()) == {0.0}
        for taking in (IDS[1], IDS[5], IDS[6]):
            with store.write() as tx:
                tx.terms.remove(WORK, IDS[1:2] + IDS[5:7])
                add(tx, WORK, taking, _of_that_day(TEA), Saying("talk", 2))
            told = signal(store, index, _on_that_day(TEA), r.WORDS_AROUND)
            assert told == dict.fromkeys((IDS[0], taking, IDS[2]), 1.0)

    def test_turns_that_are_missing_are_not_closed_up(self, store: Store, index: Index) -> None:
        talk(store, *[(WORK, _of_that_day(*[TEA] * (turn == 3))) for turn in range(1, 7)])
        told = signal(store, index, _on_that_day(TEA), r.WORDS_AROUND)
        assert [told[line_id] for line_id in IDS[:6]] == [0, 1, 1, 1, 1, 0]
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[1], IDS[3]))
        told = signal(store, index, _on_that_day(TEA), r.WORDS_AROUND)
        assert told == {IDS[0]: 0.0, IDS[2]: 1.0, IDS[4]: 1.0, IDS[5]: 0.0}

    def test_a_removed_line_speaks_for_none_beside_it(self, store: Store, index: Index) -> None:
        talk(store, (WORK, _of_that_day(TEA)), (WORK, _of_that_day()), (WORK, _of_that_day(TEA)))
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == dict.fromkeys(IDS[:3], 1.0)
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == {IDS[1]: 1.0, IDS[2]: 1.0}
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[2],))
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == {IDS[1]: 0.0}

    def test_lines_of_two_speakers_stand_beside_each_other(self, store: Store, index: Index) -> None:
        talk(
            store,
            (WORK, _of_that_day(TEA)),
            *[(compartment, _of_that_day()) for compartment in (BOB, WORK, BOB)],
        )
        told = signal(store, index, _on_that_day(TEA, compartments=_BOTH), r.WORDS_AROUND)
        assert [told[line_id] for line_id in IDS[:4]] == [1, 1, 1, 0]
        assert signal(store, index, _on_that_day(TEA), r.WORDS_AROUND) == {IDS[0]: 1.0, IDS[2]: 1.0}
        assert signal(store, index, _on_that_day(TEA, compartments=(BOB,)), r.WORDS_AROUND) == {
            IDS[1]: 0.0,
            IDS[3]: 0.0,
        }

    def test_lines_together_hold_what_none_holds_alone_and_each_term_once(
        self, store: Store, index: Index
    ) -> None:
        talk(store, (WORK, {TEA: 1}), (WORK, {MILK: 1}), (WORK, {TEA: 1}), (WORK, {CITY: 1}))
        found = {hit.id: hit.signals for hit in hits(store, index, about(TEA, MILK, CITY))}
        tea, milk, city = r.idf(4, 2), r.idf(4, 1), r.idf(4, 1)
        whole = tea + milk + city
        assert found[IDS[2]][r.SIMILAR_WORDS] == pytest.approx(tea / whole)
        assert found[IDS[2]][r.WORDS_AROUND] == pytest.approx(1.0)
        assert found[IDS[0]][r.WORDS_AROUND] == pytest.approx((tea + milk) / whole)
        assert [signals[r.WORDS_IN_SESSION] for signals in found.values()] == pytest.approx([1.0] * 4)


class _AnswersContract:
    def test_what_answers_a_question_that_holds_a_term_is_found(self, store: Store, index: Index) -> None:
        talk(store, (WORK, {5: 1}), (WORK, {TEA: 1, _ASKS: 0}), (BOB, {6: 1}), (WORK, {7: 1}))
        found = hits(store, index, _signed(TEA, compartments=_BOTH))
        assert [hit[:2] for hit in found] == [(WORK, IDS[1]), (BOB, IDS[2])]
        assert r.SIMILAR_WORDS not in found[1].signals
        assert found[1].signals[r.WORDS_AROUND] == 1.0

    def test_beside_a_line_that_only_tells_none_is_found(self, store: Store, index: Index) -> None:
        talk(store, *[(WORK, {TEA if turn == 3 else turn: 1, _SIGNS[1]: 0}) for turn in range(2, 6)])
        assert search(store, index, _signed(TEA)) == [IDS[1]]
        assert search(store, index, about(TEA)) == [IDS[1]]

    def test_an_answer_follows_its_question_at_once(self, store: Store, index: Index) -> None:
        talk(store, (WORK, {TEA: 1, _ASKS: 0}), (WORK, {5: 1, _ASKS: 0}), (WORK, {6: 1}))
        assert search(store, index, _signed(TEA)) == [IDS[0], IDS[1]]
        assert search(store, index, about(TEA)) == [IDS[0]], "who does not know the signs sees no question"
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[1],))
        assert search(store, index, _signed(TEA)) == [IDS[0]]

    def test_what_follows_a_removed_question_answers_nothing(self, store: Store, index: Index) -> None:
        talk(store, (WORK, {TEA: 1, _ASKS: 0}), (WORK, {5: 1}))
        assert search(store, index, _signed(TEA)) == [IDS[0], IDS[1]]
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
        assert search(store, index, _signed(TEA)) == []

    def test_a_question_beyond_the_bounds_is_answered_by_none(self, store: Store, index: Index) -> None:
        talk(
            store,
            (WORK, {TEA: 1, _ASKS: 0}),
            (WORK, {5: 0}),
            (WORK, {TEA: 1, 5: 0, _ASKS: 0}),
            (WORK, {5: 0}),
        )
        assert search(store, index, _signed(TEA, marks=[5])) == [IDS[2], IDS[3]]
        assert search(store, index, _signed(TEA), within=IDS[1:3]) == [IDS[2]]
        assert set(search(store, index, _signed(TEA), within=IDS[:2])) == {IDS[0], IDS[1]}


class TalkContract(_BesideContract, _AnswersContract):
    def test_sessions_of_the_same_name_in_two_workspaces_are_two(self, store: Store, index: Index) -> None:
        other = WORK._replace(workspace="other")
        talk(store, (WORK, {TEA: 1}), (other, {5: 1}), (other, {TEA: 1, MILK: 1}))
        found = {
            hit[:2]: hit.signals for hit in hits(store, index, about(TEA, MILK, compartments=(WORK, other)))
        }
        assert found.keys() == {(WORK, IDS[0]), (other, IDS[2])}
        own = found[WORK, IDS[0]]
        assert own[r.SIMILAR_WORDS] == own[r.WORDS_AROUND] == own[r.WORDS_IN_SESSION] < 1

    def test_a_whole_session_counts_but_finds_none_of_its_lines(self, store: Store, index: Index) -> None:
        with store.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying("talk", 1))
            add(tx, TRAVEL, IDS[1], {MILK: 1}, Saying("talk", 50))
            add(tx, WORK, IDS[2], {CITY: 1}, Saying("talk", 100))
            add(tx, WORK, IDS[3], {TEA: 1}, Saying("chat", 1))
        inquiry = about(TEA, MILK, compartments=(WORK, TRAVEL))
        told = signal(store, index, inquiry, r.WORDS_IN_SESSION)
        assert told.keys() == {IDS[0], IDS[1], IDS[3]}
        assert told[IDS[0]] == told[IDS[1]] == pytest.approx(1.0)
        assert told[IDS[3]] < 1
        assert search(store, index, inquiry)[-1] == IDS[3]

    def test_a_line_without_a_turn_counts_in_its_session(self, store: Store, index: Index) -> None:
        with store.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying("talk", 3))
            add(tx, WORK, IDS[1], {MILK: 1}, Saying("talk"))
        told = signal(store, index, about(TEA, MILK), r.WORDS_IN_SESSION)
        assert told == pytest.approx({IDS[0]: 1.0, IDS[1]: 1.0})

    def test_a_line_of_no_session_is_a_session_of_its_own(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {MILK: 1}, {TEA: 1, MILK: 1})
        for hit in hits(store, index, about(TEA, MILK)):
            assert (
                hit.signals[r.SIMILAR_WORDS] == hit.signals[r.WORDS_AROUND] == hit.signals[r.WORDS_IN_SESSION]
            )

    def test_what_is_said_later_reaches_lines_that_were_searched_before(
        self, store: Store, index: Index, reference: Index
    ) -> None:
        turns = [(turn, WORK if turn % 2 else BOB) for turn in (5, 2, 8, 3, 1, 7, 4, 6)]
        for n, (turn, compartment) in enumerate(turns):
            with store.write() as tx:
                add(
                    tx,
                    compartment,
                    IDS[n],
                    _of_that_day(TEA if turn in (2, 6) else MILK),
                    Saying("talk", turn),
                )
            with store.read() as tx:
                expect_same(index, reference, tx, _on_that_day(TEA, compartments=_BOTH))
                expect_same(index, reference, tx, _on_that_day(TEA, compartments=(BOB,)))
