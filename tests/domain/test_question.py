"""What a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.language import questions
from souvenance.language import terms as words
from souvenance.language.questions import Wants

NOW = 1_779_000_000_000
"""A Sunday in May 2026."""
DAY = 86_400_000
steady = settings(deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("When did I move?", Wants(moment=True)),
        ("What date is the wedding?", Wants(moment=True)),
        ("Which came first, the cat or the dog?", Wants(moment=True)),
        ("How long did the repair take?", Wants(moment=True, count=True)),
        ("How many cats do I have?", Wants(count=True)),
        ("how much was the boat", Wants(count=True)),
        ("And how often do I swim?", Wants(count=True)),
        ("What is the total of my bills?", Wants(count=True)),
        ("What's the number of my room?", Wants(count=True)),
        ("How tall is she?", Wants(count=True)),
        ("What am I reading now?", Wants()),
        ("What was the most recent film?", Wants()),
        ("What was my first film?", Wants()),
        ("What did I cook?", Wants()),
        ("Why did it rain, and how?", Wants()),
        ("The film which I saw", Wants()),
        ("I saw somewhere that renamed places have showhow", Wants()),
        ("", Wants()),
    ],
)
def test_a_question_wants_a_moment_or_a_number(text, wants):
    assert questions.read(text, NOW).wants == wants
    assert questions.read(text.upper(), NOW).wants == wants


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("What is my favourite band?", True),
        ("Wo wohne ich?", True),
        ("我住在哪里？", True),
        ("What was my favourite band?", False),
        ("Where did I live?", False),
        ("What have I learned?", False),
        ("What do I have on Friday?", False),
    ],
)
def test_of_what_is_asked_for_as_it_is_now_the_newest_holds(text, present):
    assert questions.read(text, NOW).present is present


def test_of_a_long_text_the_first_words_are_looked_up_as_plain_ones_each_once():
    many = [f"{first}{second}word" for first in "abcdefghij" for second in "abcdefghij"]
    found = questions.plain(" ".join(many * 2))
    assert found == many[: len(found)]
    assert 50 < len(found) < 70


def test_the_terms_of_a_question_are_those_that_lines_are_found_by():
    found = questions.read("How many boats did Bob's sister buy in Oslo?", NOW)
    assert found.terms == words.asked("How many boats did Bob's sister buy in Oslo?")
    assert {"bob", "oslo"} <= set(found.terms)
    assert "how" not in found.terms
    assert found.text == "How many boats did Bob's sister buy in Oslo?"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("How many different boats do I own in total?", ["boat", "own"]),
        ("What did I order two days ago?", ["order", "two", "day"]),
        ("What was the total?", ["total"]),
        ("What is my most recent boat?", ["boat"]),
        ("Which boat did I buy most recently?", ["boat", "buy"]),
        ("Which boat did I buy recently?", ["boat", "buy", "recent"]),
    ],
)
def test_no_line_is_found_by_how_the_answer_is_to_be_reckoned(text, terms):
    assert questions.read(text, NOW).terms == terms


def test_a_question_has_only_so_many_terms():
    first = " ".join(f"boat{n}x" for n in range(10))
    found = questions.read(f"{first} {first} " + " ".join(f"town{n}y" for n in range(5000)), NOW)
    assert len(found.terms) == len(set(found.terms)) == 64
    assert "town4999y" not in found.terms


def test_a_question_speaks_of_times_as_of_when_it_is_asked():
    (span,) = questions.read("What did I cook yesterday?", NOW).spans
    (later,) = questions.read("What did I cook yesterday?", NOW + 7 * DAY).spans
    assert span.start_ms <= NOW - DAY < span.end_ms <= NOW
    assert later.start_ms - span.start_ms == 7 * DAY
    assert questions.read("What did I cook?", NOW).spans == ()


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("What did I cook yesterday?", True),
        ("What shall I cook tonight?", False),
        ("What am I doing next week?", False),
        ("Is it warmer tomorrow than it was yesterday?", False),
        ("What did I cook?", False),
    ],
)
def test_a_question_is_about_the_past_if_every_time_in_it_is_over(text, past):
    assert questions.read(text, NOW).past is past


@pytest.mark.parametrize(
    ("text", "owners", "named"),
    [
        ("What does Bob like?", ["bob", "ann"], {"bob": {"bob"}}),
        ("What does bob like?", ["Bob"], {"Bob": {"bob"}}),
        ("What did Bob's sister tell BOB?", ["bob"], {"bob": {"bob"}}),
        ("What did Ann and Bob cook?", ["bob", "ann"], {"bob": {"bob"}, "ann": {"ann"}}),
        ("What did José cook?", ["jose"], {"jose": {"jose"}}),
        ("What did Jürgen cook?", ["jürgen"], {"jürgen": {"jurgen"}}),
        ("What did Jurgen cook?", ["jürgen"], {"jürgen": {"jurgen"}}),
        ("What does Ann Lee like?", ["Ann Lee"], {"Ann Lee": {"ann", "lee"}}),
        ("What does Ann like?", ["Ann Lee"], {}),
        ("What does bobby like?", ["bob"], {}),
        ("What do I like?", ["bob", "ann"], {}),
        ("What is it?", ["bob", "?!", "日"], {}),
        ("What does Bob like?", [], {}),
        ("", ["bob"], {}),
    ],
)
def test_a_question_names_those_whose_whole_name_is_in_it(text, owners, named):
    assert questions.speakers(questions.read(text, NOW), owners) == named


def test_the_terms_that_name_someone_are_among_those_of_the_question():
    asked = questions.read("What does Ann Lee think of boats?", NOW)
    (name,) = questions.speakers(asked, ["Ann Lee", "bob"]).values()
    assert name < set(asked.terms)
    assert [term for term in asked.terms if term not in name] == questions.read("think of boats", NOW).terms


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What does Ann like?", "ann"),
        ("What did Ann give to Bob?", "ann"),
        ("Did Bob's sister see Ann's boat?", "Bob"),
        ("What did Ann Lee tell Ann?", "Ann Lee"),
        ("What do Ann and Bob like?", None),
        ("What are Ann's and Bob's plans?", None),
        ("Who is older, Ann or Bob?", None),
        ("Have Ann, Bob & Ann Lee met?", None),
        ("What do I like?", None),
    ],
)
def test_who_is_named_first_is_asked_about_unless_two_are_asked_about_as_one(text, subject):
    asked = questions.read(text, NOW)
    assert questions.subject(asked, questions.speakers(asked, ["ann", "Bob", "Ann Lee"])) == subject


@steady
@given(st.text(), st.integers(0, 4_000_000_000_000), st.lists(st.text(max_size=20), max_size=4))
def test_every_text_is_understood_somehow(text, at, owners):
    asked = questions.read(text, at)
    assert len(asked.terms) == len(set(asked.terms)) <= 64
    for owner, name in questions.speakers(asked, owners).items():
        assert owner in owners
        assert set() < name <= set(asked.terms)
    assert questions.subject(asked, questions.speakers(asked, owners)) in {None, *owners}


@pytest.mark.parametrize(
    ("text", "speaker", "told"),
    [
        ("When did Caroline move?", "Caroline", "I move"),
        ("What is caroline's dog called?", "Caroline", "my dog called"),
        ("Where does Ann Smith work?", "ann-smith", "I work"),
        ("Tell me Ann Smith’s job", "ann_smith", "Tell me my job"),
        ("How many musical instruments do I own?", None, "musical instruments do I own"),
        ("Who is Anna?", "ann", "Anna"),
        ("Who?", None, "Who?"),
        ("Is C++ hers?", "c++", "I++ hers"),
        ("", None, ""),
    ],
)
def test_a_question_is_compared_as_its_answer_may_be_put(text, speaker, told):
    assert questions.as_told(text, speaker) == told


@given(st.text(), st.text(max_size=40))
def test_any_question_can_be_put_so(text, speaker):
    assert isinstance(questions.as_told(text, speaker), str)


def test_the_plain_words_of_a_question_are_those_that_name_nobody():
    found = questions.plain("How is Ann's check-in at the iPhone shop, isn't it?")
    assert found == ["is", "at", "the", "shop", "it"]


def test_a_question_is_respelt_in_its_words_and_in_its_terms():
    asked = questions.read("how did the buisiness go?", 0)
    meant = questions.respelt(asked, {"buisiness": "business"})
    assert meant.text == "how did the business go?"
    assert meant.terms == questions.read("how did the business go?", 0).terms


@pytest.mark.parametrize(
    "text",
    [
        "What did I do on 2026-02-14?",
        "what happened on October 2nd?",
        "tell me about 19 September 2025",
        "Where am I going this weekend?",
        "what are my plans for tomorrow?",
        "What did we talk about last week?",
        "Was habe ich im Juli gemacht?",
        "Was ist letzte Woche passiert?",
        "¿Qué hice la semana pasada?",
        "Qu'est-ce que j'ai fait hier ?",
        "先週何をしましたか。",
        "昨日は何がありましたか？",
        "qu'ai-je fait en juillet ?",
        "qué hice en julio?",
    ],
)
def test_a_question_may_ask_by_a_time_alone(text):
    assert questions.by_time(questions.read(text, NOW))


@pytest.mark.parametrize(
    "text",
    [
        "Which museum did I visit in October?",
        "8月に何を買いましたか。",
        "Qu'est-ce que j'ai acheté hier ?",
        "what happened in the war in 1944?",
        "What did I do?",
        "what did I do recently?",
        "What day is it today?",
        "How many days until May 27?",
        "Have a nice weekend!",
        "see you tomorrow",
        "remind me tomorrow",
        "how was your weekend?",
        "What are you doing tonight?",
    ],
)
def test_who_asks_about_something_or_the_listener_or_does_not_ask_asks_by_no_time_alone(text):
    assert not questions.by_time(questions.read(text, NOW))


def test_who_speaks_is_nothing_that_is_asked_about():
    asked = questions.read("What did Mara do last week?", NOW)
    assert not questions.by_time(asked)
    assert questions.by_time(asked, ["mara"])


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("what did I do today?", True),
        ("what happened this week?", True),
        ("what is on today?", False),
        ("where am I going this weekend?", False),
    ],
)
def test_a_question_by_a_time_looks_back_or_ahead(text, back):
    assert questions.looks_back(questions.read(text, NOW)) is back
