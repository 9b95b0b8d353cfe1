"""What an index promises of tokens that are not quite a question's term, but its kin."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from contracts.index_scenes import IDS, MILK, TEA, WORK, expect_same, index_lines, signal, talk
from souvenance.domain import relevance as r
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_DAY = 100


def _kin(tokens: Mapping[int, tuple[int, float]]) -> Inquiry:
    """A question of tokens, each with its term's number and how close it is to that, and of a day."""
    groups, closeness = zip(*tokens.values(), strict=True)
    return Inquiry([IndexQuery(WORK, list(tokens), days=[_DAY])], groups, closeness)


class KinContract:
    @pytest.mark.parametrize("tokens", [{TEA: (0, 1.0), 2: (0, 0.5)}, {2: (0, 0.5), TEA: (0, 1.0)}])
    def test_the_kin_of_a_term_counts_for_less_than_the_term_and_the_term_counts_once(
        self, store: Store, index: Index, tokens: Mapping[int, tuple[int, float]]
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {2: 1}, {TEA: 1, 2: 1})
        assert signal(store, index, _kin(tokens), r.SIMILAR_WORDS) == {IDS[0]: 1.0, IDS[1]: 0.5, IDS[2]: 1.0}

    def test_the_words_of_a_question_are_its_terms_without_their_kin(
        self, store: Store, index: Index
    ) -> None:
        talk(store, *((WORK, {token: 1, _DAY: 0}) for token in (TEA, 2, 9, 2)))
        inquiry = _kin({TEA: (0, 1.0), 2: (0, 0.5)})
        found = signal(store, index, inquiry, r.WORDS_AROUND)
        assert [found[line_id] for line_id in IDS[:4]] == [1.0, 1.0, 1.0, 0.0]
        assert set(signal(store, index, inquiry, r.WORDS_IN_SESSION).values()) == {1.0}

    def test_of_several_kin_the_nearest_counts(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {2: 1, 3: 1}, {3: 1, 4: 1}, {4: 1})
        tokens = {2: (0, 0.75), TEA: (0, 1.0), 4: (0, 0.25), 3: (0, 0.5)}
        assert signal(store, index, _kin(tokens), r.SIMILAR_WORDS) == {
            IDS[0]: 0.75,
            IDS[1]: 0.5,
            IDS[2]: 0.25,
        }

    def test_kin_does_not_make_a_term_common(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {MILK: 1}, {2: 1}, {2: 1}, {2: 1})
        told = signal(store, index, _kin({TEA: (0, 1.0), 2: (0, 0.5), MILK: (1, 1.0)}), r.SIMILAR_WORDS)
        assert told == pytest.approx(dict(zip(IDS, (0.5, 0.5, 0.25, 0.25, 0.25), strict=False)))

    def test_in_a_session_the_nearest_kin_counts(self, store: Store, index: Index) -> None:
        talk(store, *((WORK, {token: 1, _DAY: 0}) for token in (TEA, 2, 9, 9, 2)))
        inquiry = _kin({TEA: (0, 1.0), 2: (0, 0.5)})
        assert set(signal(store, index, inquiry, r.SIMILAR_WORDS_IN_SESSION).values()) == {1.0}

    def test_a_token_may_stand_for_two_terms(self, store: Store, index: Index, reference: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {MILK: 1}, {TEA: 1, MILK: 1})
        inquiry = Inquiry([IndexQuery(WORK, [TEA, MILK, MILK, TEA])], [0, 0, 1, 1], [1.0, 0.5, 1.0, 0.5])
        assert signal(store, index, inquiry, r.SIMILAR_WORDS) == pytest.approx(
            {IDS[0]: 0.75, IDS[1]: 0.75, IDS[2]: 1.0}
        )
        with store.read() as tx:
            expect_same(index, reference, tx, inquiry)
