from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.language import terms

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
steady = settings(deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Trip to Chengdu, May 25-29", ["trip", "to", "chengdu", "may", "25", "29"]),
        ("bob@corp.io", ["bob", "corp", "io"]),
        ("Call +49 30 1234-567", ["call", "49", "30", "1234", "567"]),
        ("3.14 and 1,000", ["3", "14", "and", "1", "000"]),
        ("snake_case, camelCase, kebab-case", ["snake", "case", "camelcase", "kebab", "case"]),
        ("/etc/passwd C++ x86_64", ["etc", "passwd", "c", "x86", "64"]),
        ("https://example.com/a?b=c", ["https", "example", "com", "a", "b", "c"]),
        ("don't won’t O'Brien's", ["don't", "won't", "o'brien", "s"]),
        ("'quoted' words'", ["quoted", "words"]),
        ("!!! …", []),
        ("yes!🎉", ["yes", "🎉"]),
        ("", []),
    ],
)
def test_text_is_split_into_words(text, found):
    assert terms.words(text) == found


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("naïve café", "NAIVE CAFE"),
        ("Łódź Straße", "łodz STRASSE"),
        ("Ünal", "U\N{COMBINING DIAERESIS}nal"),
        ("ÅNGSTRÖM", "\N{ANGSTROM SIGN}ngstro\N{COMBINING DIAERESIS}m"),
        ("ΟΔΟΣ", "οδος"),
        ("ﬁnance ①", "finance 1"),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER A}\N{FULLWIDTH DIGIT SEVEN}", "a7"),
        ("Привет", "ПРИВЕТ"),
        ("don’t", "DON'T"),
        ("İstanbul", "istanbul"),
    ],
)
def test_case_accents_and_compatibility_forms_do_not_matter(written, asked):
    assert terms.words(written) == terms.words(asked) != []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("成都旅行", ["成都", "都旅", "旅行"]),
        ("成", ["成"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("さくら", ["さく", "くら"]),
        ("한국어", ["한국", "국어"]),
        ("サッカー", ["サッ", "ッカ", "カー"]),
        ("กขค", ["กข", "ขค"]),
        ("เชียงใหม่", ["เชี", "ชีย", "ยง", "งใ", "ให", "หม่"]),
        ("成都，旅行", ["成都", "旅行"]),
    ],
)
def test_scripts_without_spaces_are_split_into_pairs(text, found):
    assert terms.words(text) == found


@pytest.mark.parametrize(("one", "other"), [("ที่", "ทา"), ("หมี", "หมา"), ("हिन्दी", "हनद"), ("கடி", "கடு")])
def test_vowel_signs_tell_words_apart(one, other):
    assert terms.terms(one) != terms.terms(other)


@steady
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_plain_text_is_split_the_same_beside_other_scripts(text):
    assert terms.words(f"{text} é") == [*terms.words(text), "e"]


def test_a_very_long_word_is_cut():
    assert terms.words("a" * 100) == ["a" * 64]
    assert terms.words("é" * 100) == ["e" * 64]


def test_a_token_is_the_same_under_the_same_key_and_differs_under_another():
    found = ["tea", "milk", "茶"]
    tokens = terms.blind(KEY, found)
    assert list(tokens) == list(terms.blind(KEY, found))
    assert len(set(tokens) | set(terms.blind(OTHER_KEY, found))) == 6
    assert list(terms.blind(KEY, reversed(found))) == list(reversed(tokens))
    assert list(terms.blind(KEY, [])) == []


def test_tokens_are_whole_numbers_of_64_bits_and_hold_no_letter_of_the_word():
    tokens = terms.blind(KEY, [f"peanut{n}" for n in range(500)])
    assert all(0 <= token < 1 << 64 for token in tokens)
    assert b"pea" not in tokens.tobytes()
    assert len(tokens.tobytes()) == 8 * 500


def test_words_inside_words_are_counted_in_a_text():
    assert terms.contained(["chen", "bath", "may"], "Trip to Chengdu in May") == 2
    assert terms.contained(["cafe"], "Two CAFÉS") == 1
    assert terms.contained(terms.asked("parties"), "a birthday party") == 1
    assert terms.contained([], "anything") == 0
