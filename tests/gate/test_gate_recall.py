"""Recall v0, on the reference parts and on those that a house has."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import msgspec
import pytest

from gate.world import KINDS, World, each_kind, on_sqlite
from souvenance.adapters.word_tables import PackagedSpelling, PackagedThesaurus, TokenCounter
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def told(world, cap, *texts, namespace="travel"):
    """Put the texts one second apart; their ids."""
    ids = []
    for text in texts:
        ids.append(world.put(cap, text, namespace))
        world.clock.advance(seconds=1)
    return ids


def test_the_line_that_shares_more_of_the_question_comes_first(world):
    cap = world.issue()
    told(world, cap, "hotel in Chengdu near the river", "hotel in Porto", "lunch with Mara")
    found = world.get(cap, "which hotel in Chengdu?", k=2)
    assert [line.text for line in found] == ["hotel in Chengdu near the river", "hotel in Porto"]
    assert found[0].score > found[1].score > 0
    assert all(line.matched for line in found)


def test_a_rare_word_tells_more_than_a_common_one(world):
    cap = world.issue()
    told(world, cap, "visa for Bhutan", "hotel one", "hotel two", "hotel three")
    assert world.texts(cap, "hotel Bhutan", k=1) == ["visa for Bhutan"]


def test_lines_that_match_equally_come_newest_first(world):
    cap = world.issue()
    told(world, cap, "coffee at noon", "coffee at noon", "coffee at noon")
    found = world.get(cap, "coffee")
    assert [line.id for line in found] == sorted((line.id for line in found), reverse=True)
    assert len({line.score for line in found}) == 1


def test_after_the_words_come_the_lines_that_hold_a_term_inside_a_word(world):
    cap = world.issue()
    told(world, cap, "sunflowers in the garden", "a flower for Mara", "lunch")
    found = world.get(cap, "flower")
    assert [(line.text, line.matched) for line in found] == [
        ("a flower for Mara", True),
        ("sunflowers in the garden", True),
        ("lunch", False),
    ]
    assert found[0].score > 0
    assert found[1].score == 0
    assert found[2].score is None


def test_a_question_that_shares_no_word_with_its_answer_gets_the_newest_lines_unmatched(world):
    cap = world.issue()
    told(world, cap, *(f"note {number}" for number in range(7)), "Trip to Chengdu, May 25-29")
    found = world.get(cap, "where am I going this weekend?")
    assert [line.text for line in found] == [
        "Trip to Chengdu, May 25-29",
        "note 6",
        "note 5",
        "note 4",
        "note 3",
    ]
    assert not any(line.matched for line in found)


def test_without_a_question_the_newest_lines_are_told_unmatched(world):
    cap = world.issue()
    told(world, cap, "first", "second", "third")
    assert [(line.text, line.matched) for line in world.get(cap, k=2)] == [
        ("third", False),
        ("second", False),
    ]


def test_no_line_is_told_twice(world):
    cap = world.issue()
    told(world, cap, "flower", "sunflower", "flowers and flower")
    found = world.texts(cap, "flower", k=20)
    assert sorted(found) == ["flower", "flowers and flower", "sunflower"]


def test_five_lines_are_told_unless_more_are_asked_for(world):
    cap = world.issue()
    told(world, cap, *(f"note {number}" for number in range(30)))
    assert len(world.get(cap, "note")) == 5
    assert len(world.get(cap, "note", k=20)) == 20
    assert len(world.get(cap)) == 5


@pytest.mark.parametrize("k", [0, 21, -1, 1000])
def test_more_than_twenty_can_not_be_asked_for(k):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"k": k}, m.Get)


@pytest.mark.parametrize("k", [-1, 0, 21, 1000])
def test_the_gate_itself_never_tells_more_than_twenty_lines(k):
    world = World()
    cap = world.issue()
    told(world, cap, *(f"note {number}" for number in range(30)))
    assert max(lines_told(world, cap, query, k) for query in ("note", "ote", None)) <= 20


def lines_told(world, cap, query, k):
    try:
        return len(world.get(cap, query, k=k))
    except InvalidInput:
        return 0


def spoil_all_but(path, kept):
    with sqlite3.connect(path) as raw:
        marks = ", ".join("?" * len(kept))
        raw.execute(f"UPDATE lines SET sealed = zeroblob(60) WHERE id NOT IN ({marks})", kept)
    raw.close()


@pytest.mark.parametrize(("query", "k"), [("harbour", 20), ("harbour", 5), (None, 20), ("???", 20)])
@pytest.mark.embedded("it damages the file")
def test_only_the_lines_that_are_told_are_opened(tmp_path, query, k):
    world = on_sqlite(tmp_path / "book.db")
    cap = world.issue()
    told(world, cap, *(f"note {number}" for number in range(40)))
    told(world, cap, *(f"harbour {number}" for number in range(20)))
    expected = [line.id for line in world.get(cap, query, k=k)]
    assert len(expected) == k
    spoil_all_but(tmp_path / "book.db", expected)
    assert [line.id for line in world.get(cap, query, k=k)] == expected
    world.store.close()


def test_an_invalidated_line_is_not_told(world):
    cap = world.issue()
    old, _ = told(world, cap, "Trip to Chengdu", "lunch")
    world.call(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an"))
    for query in ("Chengdu", "chengd", None):
        assert "Trip to Chengdu" not in world.texts(cap, query)


def test_an_invalidated_line_takes_no_place_from_one_that_matches(world):
    cap = world.issue()
    told(world, cap, "dinner with Mara on the harbour terrace")
    [old] = told(world, cap, "harbour harbour")
    world.get(cap, "harbour")
    world.call(o.INVALIDATE, cap, m.Invalidate(old))
    [found] = world.get(cap, "harbour", k=1)
    assert found.text == "dinner with Mara on the harbour terrace"
    assert found.score > 0


def test_a_forgotten_line_takes_no_place_in_another_process_either(tmp_path):
    world = on_sqlite(tmp_path / "book.db")
    other = on_sqlite(tmp_path / "book.db", keyring=world.keyring, clock=world.clock, seed=2)
    cap = world.issue()
    told(world, cap, "dinner with Mara on the harbour terrace")
    [newest] = told(world, cap, "harbour harbour")
    other.get(cap, "harbour")
    world.call(o.FORGET, cap, m.Forget(id=newest))
    [found] = other.get(cap, "harbour", k=1)
    assert found.text == "dinner with Mara on the harbour terrace"
    assert found.score > 0
    world.store.close()
    other.store.close()


def test_history_stays_visible_to_its_owner(world):
    cap = world.issue()
    [old] = told(world, cap, "Trip to Chengdu")
    new = world.call(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an")).id
    gone = world.call(o.LINE, cap, m.GetLine(old))
    assert (gone.text, gone.invalidated_by) == ("Trip to Chengdu", new)
    assert world.call(o.LINE, cap, m.GetLine(new)).supersedes == old
    assert world.ids(cap) == [new]
    assert world.ids(cap, history=True) == sorted([old, new])


def test_only_the_compartments_that_were_asked_for_are_searched(world):
    cap = world.issue()
    told(world, cap, "Trip to Chengdu", namespace="travel")
    told(world, cap, "Chengdu is where Mara was born", namespace="family")
    assert world.texts(cap, "Chengdu", namespaces=("travel",)) == ["Trip to Chengdu"]
    assert len(world.texts(cap, "Chengdu", namespaces=("travel", "family"))) == 2
    assert world.texts(cap, "Chengdu", namespaces=()) == []
    travel_only = world.issue(namespaces_allowed=["travel"])
    assert world.texts(travel_only, "Chengdu") == ["Trip to Chengdu"]


def test_nothing_of_another_owner_or_workspace_is_found(world):
    told(world, world.issue(sub="bob"), "Bob goes to Chengdu")
    told(world, world.issue(wid="team"), "The team goes to Chengdu")
    told(world, world.issue(), "Trip to Chengdu")
    assert world.texts(world.issue(), "Chengdu", k=20) == ["Trip to Chengdu"]


def test_a_span_of_time_includes_its_beginning_and_not_its_end(world):
    cap = world.issue()
    start = world.clock.ms
    told(world, cap, "note one", "note two", "note three")
    since, until = to_datetime(start + 1000), to_datetime(start + 2000)
    assert sorted(world.texts(cap, "note", since=since)) == ["note three", "note two"]
    assert world.texts(cap, "note", since=since, until=until) == ["note two"]
    assert world.texts(cap, until=until) == ["note two", "note one"]
    assert world.texts(cap, "note", since=until, until=since) == []


def test_the_same_question_gets_the_same_answer(world):
    cap = world.issue()
    told(world, cap, *(f"harbour {number % 3} note {number}" for number in range(25)))
    assert world.get(cap, "harbour 2 note", k=20) == world.get(cap, "harbour 2 note", k=20)


def test_both_kinds_of_parts_tell_the_same_lines_with_the_same_scores(tmp_path):
    answers = []
    for kind in KINDS:
        with each_kind(kind, tmp_path) as world:
            cap = world.issue()
            told(world, cap, *(f"harbour {n % 5} {'note ' * (n % 4)}walk" for n in range(40)))
            told(world, cap, *(f"walk {n}" for n in range(5)), namespace="family")
            found = [world.get(cap, query, k=20) for query in ("harbour 3", "walk note", "arbou", "nothing")]
            answers.append([[(line.text, line.score, line.matched) for line in lines] for lines in found])
    assert answers[0] == answers[1]


def test_a_misspelt_word_finds_what_was_meant_where_there_is_spelling(tmp_path):
    plain = on_sqlite(tmp_path / "a.db")
    knowing = on_sqlite(tmp_path / "b.db", spelling=PackagedSpelling(TokenCounter()))
    for world in (plain, knowing):
        cap = world.issue()
        told(world, cap, "my business began in May", "lunch with Mara")
        (found, *_) = world.get(cap, "how is the buisiness?", k=1)
        assert (found.text == "my business began in May" and found.matched) == (world is knowing)
        world.store.close()


def test_a_word_that_a_line_holds_is_no_slip(tmp_path):
    world = on_sqlite(tmp_path / "a.db", spelling=PackagedSpelling(TokenCounter()))
    cap = world.issue()
    told(world, cap, "the buisiness is a band", "my business began in May")
    (found, *others) = world.get(cap, "how is the buisiness?", k=2)
    assert found.text == "the buisiness is a band"
    assert not any(other.matched for other in others)
    world.store.close()


def test_what_somebody_else_wrote_changes_no_spelling(tmp_path):
    world = on_sqlite(tmp_path / "a.db", spelling=PackagedSpelling(TokenCounter()))
    told(world, world.issue(sub="bo"), "the buisiness is a band")
    cap = world.issue(sub="ann")
    told(world, cap, "my business began in May")
    (found, *_) = world.get(cap, "how is the buisiness?", k=1)
    assert found.matched
    world.store.close()


def test_a_word_finds_what_is_close_to_it_where_there_is_a_thesaurus(tmp_path):
    plain, knowing = on_sqlite(tmp_path / "a.db"), on_sqlite(tmp_path / "b.db", thesaurus=PackagedThesaurus())
    for world in (plain, knowing):
        cap = world.issue()
        told(world, cap, "the dog needs a walk", "lunch with Mara")
        (found, *_) = world.get(cap, "any pets?", k=1)
        assert (found.text == "the dog needs a walk" and found.matched) == (world is knowing)
        world.store.close()


DENTISTS = ("My dentist in Graz is Dr Lee", "My dentist is Dr Patel")


@pytest.mark.embedded("it damages the file")
@pytest.mark.parametrize("question", ["when did my hobby start before the move?", "what is my hobby?"])
def test_a_line_that_does_not_open_spoils_no_question_that_is_only_ranked_by_it(tmp_path, question):
    world = on_sqlite(tmp_path / "book.db")
    cap = world.issue()
    *_, best = told(world, cap, "my hobby is old", "I moved", "my hobby did start in May, what a hobby")
    (line,) = world.get(cap, question, k=1)
    assert line.id == best
    spoil_all_but(tmp_path / "book.db", [best])
    assert [line.id for line in world.get(cap, question, k=1)] == [best]
    world.store.close()


DIARY = (
    ((2026, 2, 14), "Dinner with Jonas at the Thai place"),
    ((2026, 5, 4), "Next month I fly to Oslo for the conference"),
    ((2026, 10, 2), "Visited the Bauhaus museum with Mia"),
    ((2026, 11, 8), "I quit swimming, back to climbing twice a week"),
)
NOVEMBER = datetime(2026, 11, 16, 18, tzinfo=UTC)


def noted(world, cap, *lines):
    for day, text in lines:
        world.put(cap, text, occurred_at=datetime(*day, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("what did I do on 2026-02-14?", 0),
        ("what happened on October 2nd?", 2),
        ("what did I do in October?", 2),
        ("what did I do last month?", 2),
        ("what did I do the week before last?", 3),
    ],
)
def test_who_asks_by_a_time_alone_gets_what_was_said_then(world, asked, number):
    cap = world.issue()
    noted(world, cap, *DIARY)
    first, *_ = world.get(cap, asked, at=NOVEMBER)
    assert (first.text, first.matched) == (DIARY[number][1], True)
    assert world.texts(cap, asked, at=NOVEMBER, floor=True) == [DIARY[number][1]]


@pytest.mark.parametrize(
    "asked", ["what did I do in April 2024?", "which film did I see on February 14?", "have a nice October!"]
)
def test_who_did_not_ask_gets_nothing_of_a_time_that_has_nothing_or_is_not_all_that_is_asked(world, asked):
    cap = world.issue()
    noted(world, cap, *DIARY)
    assert world.texts(cap, asked, at=NOVEMBER, floor=True) == []


def test_another_weekend_does_not_come_before_the_one_that_is_asked_about(world):
    cap = world.issue()
    trip = "trip to Chengdu, May 29-31"
    noted(
        world,
        cap,
        ((2027, 5, 3), trip),
        ((2027, 5, 12), "I stayed home last weekend"),
        ((2027, 5, 13), "I am going to the bakery"),
        ((2027, 5, 17), "my cousin moved the meeting to Sunday"),
    )
    asked = datetime(2027, 5, 26, 9, tzinfo=UTC)
    assert world.texts(cap, "where am I going this weekend?", at=asked, k=1) == [trip]


IN_FORCE = (
    ("I drive a Skoda", "I sold the bike now", "what car do I drive?"),
    (
        "The meeting with Anna is on Tuesday",
        "The meeting with Ben has moved",
        "when is the meeting with Anna?",
    ),
    ("My cat is called Momo", "Momo is at the vet now", "what's my cat called?"),
    ("The server runs Debian", "The old server was sold", "what does the server run?"),
    ("My brother lives in Oslo", "I moved to Bergen", "where does my brother live?"),
)


@pytest.mark.parametrize(("older", "newer", "asked"), IN_FORCE)
def test_a_change_of_something_else_does_not_come_before_what_is_asked(world, older, newer, asked):
    cap = world.issue()
    noted(world, cap, ((2026, 1, 10), older), ((2026, 2, 1), "I bought bread"), ((2026, 6, 10), newer))
    assert world.texts(cap, asked, k=1) == [older]


def test_what_lies_far_below_the_best_is_not_shown_unasked(world):
    cap = world.issue()
    answer = "the blue harbour hotel in Porto has a garden"
    near = "a harbour hotel in Porto"
    told(world, cap, answer, near, "lunch with Mara", *(f"a garden, {number}" for number in range(9)))
    asked = "which blue harbour hotel in Porto has a garden?"
    assert len([line for line in world.get(cap, asked, k=20) if line.matched]) > 2
    assert world.texts(cap, asked, k=20, floor=True) == [answer, near]
