"""One call about a stretch: what the model is shown, and what is kept of its reply."""

from __future__ import annotations

import struct

import pytest

from gate.world import TOKENS
from model.stand_in import Says
from model.world import Thinker, fact, facts
from souvenance.errors import ModelUnusable

SAID = "Evenings mean sewing, quilts mostly."
QUILTS = fact("ann sews quilts", "t1")


def test_a_statement_that_its_source_says_is_kept_with_it(thinker, endpoint):
    endpoint.plays(facts(QUILTS))
    [found] = thinker.revisions(SAID)
    assert (found.kind, found.about, found.text, found.sources) == ("add", "ann", "ann sews quilts", ("id1",))


def test_the_model_is_shown_lines_with_their_day_and_speaker_and_a_little_before(thinker, endpoint):
    endpoint.plays(facts())
    thinker.noted(SAID, ("bot", "Nice!"), before=["Hi.", ("bot", "Good evening.")])
    before, lines = endpoint.asked[0].quoted
    assert [row["text"] for row in before] == ["Hi.", "Good evening."]
    assert lines[0] == {"id": "t3", "by": "ann", "on": "2026-11-15 (Sunday)", "text": SAID}


@pytest.mark.parametrize("sources", [(), ("t9",), ("t1", "t9"), ("k1",), ("t2",)], ids=str)
def test_a_statement_without_a_line_of_the_person_that_was_shown_is_dropped(thinker, endpoint, sources):
    endpoint.plays(facts(fact("ann sews quilts", *sources)))
    assert thinker.noted(SAID, ("bot", "So ann sews quilts.")) == []


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("We moved to Porto.", "ann moved to Lisbon"),
        ("I have two cats.", "ann has three cats"),
        ("The party is on the 3rd.", "ann's party is on 2026-11-09"),
        ("I don't eat meat.", "ann eats meat"),
        ("If I were rich I'd buy a boat.", "ann bought a boat"),
        ("My mail is ann@example.org", "ann's mail is eve@example.net"),
        ("I like the sea.", "ann is a retired airline pilot"),
    ],
)
def test_a_statement_that_its_source_does_not_say_is_dropped(thinker, endpoint, said, stated):
    endpoint.plays(facts(fact(stated, "t1")))
    assert thinker.noted(said) == []


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("we moved to porto yesterday", "ann moved to Porto on 2026-11-14"),
        ("i have two cats", "ann has 2 cats"),
        ("party's on the 23rd", "ann's party is on 2026-11-23"),
        ("Ich wohne seit drei Jahren in Köln", "ann wohnt seit 3 Jahren in Köln"),
        ("mein kater heißt mogli", "anns Kater heißt Mogli"),
        ("我有两只猫，叫小黑和小白", "ann有两只猫"),
    ],
)
def test_a_statement_may_write_it_in_another_way(thinker, endpoint, said, stated):
    endpoint.plays(facts(fact(stated, "t1")))
    assert thinker.noted(said) == [stated]


@pytest.mark.parametrize("called", ["The user sews quilts", "In the evenings Anna sews quilts"])
def test_a_person_may_be_called_the_user_or_by_the_name_on_the_card(thinker, endpoint, called):
    endpoint.plays(facts(fact(called, "t1")))
    assert thinker.noted(SAID, about="ann", card=["Name: Anna"]) == [called]


@pytest.mark.parametrize(("vector", "kept"), [((1.0, 0.0), True), ((0.0, 1.0), False)])
def test_other_words_are_enough_where_the_meaning_is_near(endpoint, tmp_path, vector, kept):
    stated = "ann's girlfriend broke things off on 2026-11-14"

    def embed(texts):
        return [struct.pack("<2f", *((1.0, 0.0) if one == stated else vector)) for one in texts]

    endpoint.plays(facts(fact(stated, "t1")))
    thinker = Thinker(endpoint, tmp_path, embed=embed)
    assert (thinker.noted("gf dumped me last night lol") == [stated]) is kept


def test_a_short_reply_says_what_was_asked(thinker, endpoint):
    endpoint.plays(facts(fact("ann keeps bees", "t1", "t2")))
    asked = ("bot", "Do you keep bees?")
    [found] = thinker.revisions(asked, "Yes.")
    assert (found.text, found.sources) == ("ann keeps bees", ("id2",))
    assert thinker.noted(asked, "No.") == []


def test_a_statement_that_needs_two_lines_rests_on_both_together(thinker, endpoint):
    endpoint.plays(facts(fact("ann's sister Mia has twins", "t1", "t2")))
    [found] = thinker.revisions("my sister is called mia", "she has twins")
    assert (found.sources, found.together) == (("id1", "id2"), True)


def test_a_card_has_labels_that_are_known_and_values_that_were_said(thinker, endpoint):
    said = "I take 20 mg of ramipril for my blood pressure."
    cards = [
        "Medication: ramipril 20 mg",
        "medication: RAMIPRIL",
        "Medication: aspirin",
        "Mood: ramipril",
        "x",
    ]
    endpoint.plays(facts(*(fact("ann takes 20 mg of ramipril", "t1", card=card) for card in cards)))
    assert [found.card for found in thinker.revisions(said)] == [
        "Medication: ramipril 20 mg",
        "Medication: RAMIPRIL",
        None,
        None,
        None,
    ]


def test_what_is_known_is_shown_as_far_as_there_is_compartment(endpoint, tmp_path):
    endpoint.plays(facts())
    thinker = Thinker(endpoint, tmp_path, window=4096)
    thinker.noted(SAID, known=[f"ann has read book number {number}" for number in range(200)])
    [asked] = endpoint.asked
    shown = [row for rows in asked.quoted for row in rows if "since" in row]
    assert 5 < len(shown) < 40
    assert TOKENS.count(asked.text) < 3000


def test_a_long_stretch_takes_as_many_calls_as_the_window_needs(endpoint, tmp_path):
    endpoint.plays(facts())
    thinker = Thinker(endpoint, tmp_path, window=2048)
    thinker.noted(*(f"On day {day} we went to the sea, and it was cold and grey." for day in range(80)))
    assert 2 < len(endpoint.asked) < 10
    lines = [row["text"] for asked in endpoint.asked for row in asked.quoted[-1]]
    assert len(lines) == len(set(lines)) == 80


def test_a_reply_that_was_cut_off_is_asked_for_in_halves(thinker, endpoint):
    endpoint.plays(Says('{"add": [', finish="length"), facts(QUILTS), facts())
    assert thinker.noted(SAID, "I also knit.") == ["ann sews quilts"]
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("reply", ["", "not json", "[]", '{"facts": []}', '{"add": 7}'])
def test_a_reply_that_can_not_be_used_is_asked_for_once_more_and_then_told(thinker, endpoint, reply):
    endpoint.plays(reply)
    with pytest.raises(ModelUnusable):
        thinker.noted(SAID)
    assert len(endpoint.asked) == 2


def test_a_second_try_can_succeed(thinker, endpoint):
    endpoint.plays("not json", facts(QUILTS))
    assert thinker.noted(SAID) == ["ann sews quilts"]


@pytest.mark.parametrize("around", ["<think>{}</think>%s", "```json\n%s\n```", "Here you are: %s Done."])
def test_json_is_found_whatever_stands_around_it(thinker, endpoint, around):
    whole = '{"add": [{"text": "ann sews quilts", "sources": ["t1"], "card": null}]}'
    endpoint.plays(around % whole)
    assert thinker.noted(SAID) == ["ann sews quilts"]


def test_characters_that_nobody_sees_are_left_out(thinker, endpoint):
    endpoint.plays(facts(fact("ann sews\u202e quilts\x00", "t1", card="Likes: quilts\u2066")))
    [found] = thinker.revisions(SAID)
    assert (found.text, found.card) == ("ann sews quilts", "Likes: quilts")


def test_who_said_nothing_new_is_not_asked_about(thinker, endpoint):
    assert thinker.noted(("bot", "Hello?")) == []
    assert endpoint.asked == []
