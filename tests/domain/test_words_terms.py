"""The search terms of lines and questions: what finds what."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.language import terms

KEY = bytes(range(32))
steady = settings(deadline=None, derandomize=True)
alphabets = st.one_of(
    st.text(max_size=60),
    st.text("abAB01279.,:;/\\@_-+#&'\"$%()\n éß’ʼ", max_size=60),
    st.text("ab 猫のカ한국ก็ำပုំ\u200d\u0301\ufe0f👍١ال", max_size=60),
    st.text("ab 15.,kv-/()+ÜüØ🍕👍🏽🇩🇪\ufe0f\u200dوالاتيםהמב", max_size=60),
    st.characters(codec=None).map(lambda char: f"a{char}b {char}"),
)


def finds(question, line):
    """Whether every term of the question is one of the line."""
    asked = terms.asked(question)
    return bool(asked) and set(asked) <= set(terms.terms(line))


def shares(question, line):
    return bool(set(terms.asked(question)) & set(terms.terms(line)))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("hiking", "We hiked up there and hike again"),
        ("running", "he runs"),
        ("parties", "the party"),
        ("movie", "two movies"),
        ("studying", "I studied, she studies"),
        ("Melanie", "Melanie's pottery"),
        ("the dogs' bowls", "a dog and its bowl"),
        ("книга Москве", "купила книгу: Москва"),
        ("Wie heißen meine Hunde?", "Der Hund heißt Rex, ich mag Hunde; sie heißen alle so"),
        ("¿Dónde trabajo?", "Mi hermana y yo trabajamos en el hotel"),
        ("Où sont mes sœurs ?", "ma sœur habite dans le nord"),
        ("Waar werken mijn broers?", "mijn broer werkt en ik werk ook"),
        ("Gdzie są moje książki?", "moja książka jest w domu i to nie jest żart"),
        ("قهوة", "شربت القَهْـوة"),
    ],
)
def test_the_forms_of_a_word_find_each_other(question, line):
    assert finds(question, line)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("car", "care"),
        ("plan", "plane"),
        ("even", "evening"),
        ("new", "news"),
        ("win", "wine"),
        ("king", "k"),
        ("bus", "bu"),
        ("need", "ne"),
        ("universe", "university"),
        ("C", "C++"),
        ("C#", "C++"),
        ("3.5", "35"),
    ],
)
def test_other_words_do_not(one, other):
    assert not shares(one, other)
    assert not shares(other, one)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("1200", "it cost 1,200 euros"),
        ("1,234,567", "1234567"),
        ("75 dollars", "paid $75.00 in dollars"),
        ("2", "the 2nd, or two"),
        ("1990", "in the 1990s"),
        ("3.5", "3.5% more"),
        ("version 1.2.3", "upgraded to version v1.2.3"),
        ("5 km", "a 5km run"),
        ("7 pm", "at 7pm"),
        ("7:30 pm", "at 07:30pm"),
        ("10 am", "10:00am"),
        ("May 7th", "on 7 May"),
        ("7th of May", "2023-05-07"),
        ("2023-05-07", "May 7, 2023"),
        ("2023/5/7", "at 2023-05-07T10:30:00Z"),
        ("٢٠٢٣", "in 2023"),
    ],
)
def test_a_number_a_time_and_a_date_are_found_however_they_are_written(question, line):
    assert finds(question, line)


def test_a_day_is_told_from_the_same_numbers_elsewhere():
    asked = set(terms.asked("May 7"))
    assert len(asked & set(terms.terms("7 May"))) > len(asked & set(terms.terms("7 cats in May")))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("bob@corp.io", "write to Bob@Corp.io."),
        ("corp.io", "bob@corp.io"),
        ("bob", "<bob.smith@corp.io>"),
        ("bob.smith", "bob.smith@corp.io"),
        ("example.com", "see https://www.example.com/a?b=c"),
        ("https://example.com/docs", "example.com/docs/"),
        ("user name", "userName"),
        ("username", "user_name"),
        ("user_name", "userName, user-name"),
        ("getUser", "call getUser()"),
        ("HTTP server", "class HTTPServer"),
        ("words.py", "src/package/words.py:12"),
        ("/etc/passwd", "cat /etc/passwd"),
        ("dry-run", "with --dry-run"),
        ("std::vector", "a std::vector<int>"),
        ("C++", "C++, not Rust"),
        ("C#", "(C#)"),
        (".NET", "runs on .NET"),
        ("dotnet", "ASP and .NET"),
        ("node.js", "NodeJS"),
        ("GoVegan", "#GoVegan"),
        ("vegan", "#GoVegan"),
        ("ann", "@ann: hello"),
        ("wellbeing", "well-being"),
        ("well-being", "wellbeing and being well"),
        ("email", "by e-mail"),
        ("coworker", "my co-workers"),
        ("O'Brien", "Mrs OBrien"),
        ("Brien", "O'Brien's"),
        ("amour", "l’amour"),
        ("dont", "don't"),
        ("AT&T", "at&t"),
        ("U.S.", "moved to the US"),
        ("5550199", "call 555-0199"),
    ],
)
def test_a_compound_is_found_whole_and_by_its_parts(question, line):
    assert shares(question, line)
    assert set(terms.asked(question)) & set(terms.terms(line)) >= {terms.asked(question)[-1]}


def test_a_compound_adds_one_term_to_those_of_its_words():
    assert (
        terms.terms("well-being") == {"well": 1, "be": 1, "wellbe": 1} or len(terms.terms("well-being")) <= 3
    )
    assert len(terms.terms("a_long_snake_of_many_words")) == 5
    assert sum(terms.terms("src/souvenance/domain/recall").values()) == 5


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("成都", "五月去成都旅行"),
        ("猫", "私の猫の名前はタマです"),
        ("私の猫", "私の猫は白い"),
        ("한국어", "나는 한국어를 배운다"),
        ("집", "집에 갔다"),
        ("เชียงใหม่", "ฉันไปเชียงใหม่พรุ่งนี้"),
        ("ភ្នំពេញ", "ខ្ញុំទៅភ្នំពេញថ្ងៃស្អែក"),
        ("ရန်ကုန်", "မနက်ဖြန်ရန်ကုန်သွားမယ်"),
        ("ວຽງຈັນ", "ຂ້ອຍໄປວຽງຈັນ"),
        ("東京タワー", "来週は東京タワーへ行く"),
        ("ガイド", "観光ｶﾞｲﾄﾞの本"),
        ("हिन्दी", "मैं हिन्दी सीखता हूँ"),
        ("iPhone", "用iPhone拍照"),
        ("2024", "我在2024年搬家"),
        ("ps5", "買了PS5遊戲機"),
        ("bob", "email是bob@corp.io吗"),
        ("Lodz", "Łódź"),
        ("strasse", "Hauptstraße, Straße"),
        ("שלום", "שָׁלוֹם"),
        ("ελλαδα", "Ελλάδα"),
    ],
)
def test_a_word_of_any_script_is_found_in_its_sentence(question, line):
    assert finds(question, line)


def test_single_characters_are_asked_for_only_where_they_stand_alone():
    assert terms.asked("成都") == ["成都"]
    assert terms.asked("猫") == ["猫"]
    assert "猫" in terms.asked("私の猫の名前")


def test_stop_words_are_left_out_where_there_is_anything_else():
    assert terms.terms("Where am I going this weekend?") == {"go": 1, "weekend": 1}
    assert terms.terms("It's what I'm about") == {"it's": 1, "what": 1, "i'm": 1, "about": 1}
    assert terms.terms("the who") == {"the": 1, "who": 1}


def test_words_that_only_ask_are_left_out_of_questions_where_there_is_anything_else():
    assert terms.asked("Can you tell me how many kinds of tea Ann mentioned?") == ["tea", "ann"]
    assert terms.asked("please tell me more") == ["pleas", "tell", "more"]
    assert terms.asked("who is it") == ["who", "is", "it"]
    assert "tell" in terms.terms("I will tell you")


def test_terms_are_counted_in_the_order_they_first_occur():
    assert list(terms.terms("tea milk tea bread tea milk").items()) == [("tea", 3), ("milk", 2), ("bread", 1)]
    assert terms.asked("tea milk tea") == ["tea", "milk"]


def test_a_count_never_outgrows_a_byte():
    assert terms.terms("tea " * 1000 + "milk") == {"tea": 255, "milk": 1}
    assert terms.terms("tea " * 255) == {"tea": 255}
    assert terms.terms("tea " * 256) == {"tea": 255}


def test_signs_are_no_terms():
    assert terms.terms("… -- '' .. € © ✓ ✔ ★ → • 1️⃣ tea") == {"1": 1, "tea": 1}


@pytest.mark.parametrize(
    "text",
    [
        "on 2023-05-07 at 10:30", "2023/05/07 12", "07.05.2023 18", "5/7/2023 1234", "17-05-23 12",
        "1,234,567.5", "12 34", "5 00", "05 000", "555-019",
    ],
)  # fmt: skip
def test_a_date_and_a_few_digits_are_no_long_number(text):
    assert not [term for term in terms.terms(text) if term.isdecimal() and len(term) >= 7]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.142", "3"),
        ("0.125", "125"),
        ("99.12.2000", "december"),
        ("7.13.2000", "7"),
        ("a4", "4"),
        ("u2", "2"),
        ("user1234567", "user"),
        ("ولد", "لد"),
        ("وردة", "رد"),
        ("والد", "الد"),
        ("حسين", "حس"),
        ("زوجتي", "زوجي"),
    ],
)
def test_what_only_looks_alike_is_told_apart(one, other):
    assert not shares(other, one)


def test_marks_are_terms_of_no_text():
    mark = terms.mark("session", "s1")
    assert mark not in terms.terms(f"{mark} {mark}é")
    assert mark not in terms.words(mark)


@steady
@given(alphabets)
def test_every_term_of_any_text_can_be_blinded(text):
    for found in (terms.terms(text), terms.asked(text), terms.words(text)):
        assert len(terms.blind(KEY, found)) == len(found)
        assert all(0 < len(term) <= 64 for term in found)
    assert all(1 <= count <= 255 for count in terms.terms(text).values())


@steady
@given(alphabets)
def test_a_line_is_found_by_its_own_text(text):
    stopped = terms.terms(text).keys() <= terms.STOP_WORDS
    assert stopped or set(terms.asked(text)) <= set(terms.terms(text))


@steady
@given(alphabets)
def test_the_terms_are_the_same_every_time_and_in_short_and_long_texts(text):
    found = terms.terms(text)
    assert terms.terms(text) == found
    if not terms.STOP_WORDS & set(found):
        assert set(found) <= set(terms.terms(text + "\n" + "tea " * 20))


@steady
@given(
    st.lists(
        st.sampled_from(["tea", "user_name", "7", "May", "O'Brien", "成都", "a.b@c.de", "don't"]), max_size=6
    )
)
def test_the_terms_of_a_part_are_terms_of_the_whole(parts):
    whole = terms.terms(" and ".join(parts))
    assert all(set(terms.terms(part)) <= set(whole) for part in parts)


def test_the_version_stands_for_these_terms():
    """Whoever changes these changes `VERSION` as well, so that stored tokens are made again."""
    line = (
        "Ann's co-workers went hiking on 2023-05-07 near 成都; she paid bob@corp.io $1,200.50 via user_name"
    )
    assert (terms.VERSION, " | ".join(terms.terms(line))) == (
        "4.3.1.0",
        "ann | co | worker | cowork | went | hike | 2023 | may | 7 | near | 成都 | 成 | 都 | paid"
        " | bob | corp | io | corpio | bobcorpio | 1200.50 | via | user | name | usernam | may 7",
    )
