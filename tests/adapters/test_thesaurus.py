"""The packaged thesaurus: what is close to what, and the file that says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adapters.make_thesaurus import packed
from souvenance.adapters.word_tables import PackagedThesaurus, ThesaurusTable
from souvenance.language import terms as words

PACKAGED = PackagedThesaurus()


def similar(word):
    (term,) = words.asked(word)
    return dict(PACKAGED.similar(term))


def test_a_dog_is_close_to_a_pet_and_a_guitar_to_instruments():
    assert similar("pets").keys() >= set(words.asked("dog cat"))
    assert similar("instruments").keys() >= set(words.asked("guitar"))


def test_the_closest_come_first_and_none_is_the_term_itself():
    for word in ("pet", "book", "travel", "doctor", "eat"):
        (term,) = words.asked(word)
        found = PACKAGED.similar(term)
        closeness = [close for _, close in found]
        assert closeness == sorted(closeness, reverse=True)
        assert 0 < min(closeness) <= max(closeness) < 1
        assert term not in dict(found)


def test_what_it_does_not_know_has_no_similar_terms():
    for term in ("", "chengdu", "\0day\x002026-05-02", "вода"):
        assert PACKAGED.similar(term) == []


terms = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=8)
pairs = st.lists(st.tuples(terms, st.integers(1, 99)), max_size=5)


@given(st.dictionaries(terms, pairs, min_size=1, max_size=8))
def test_what_was_packed_is_read_again(told):
    table = ThesaurusTable(packed(told))
    for term, found in told.items():
        assert table.similar(term) == [(other, close / 100) for other, close in found]
