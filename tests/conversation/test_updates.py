"""What was said last about a thing is what holds; what was said before stays reachable as history."""

from __future__ import annotations

from itertools import count, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive
from mnemon.domain.standing import Stand, history, label_of, one_at_a_time
from mnemon.domain.standing import outdated as what_is_outdated


@pytest.fixture
def stage():
    """A stage whose reasoner reads English."""
    with staged(reasoner=Extractive()) as stage:
        yield stage


@pytest.fixture
def owner(stage):
    return stage.owner


def on(day):
    return {"created_at": f"2026-{day}T12:00:00Z"}


def tell(stage, *dated, session="s"):
    """Say what was said on each of these days, in this order, and let it be thought about."""
    for day, text in dated:
        stage.owner.say(session, text, **on(day))
        stage.rest()


def outdated(owner):
    """What is no longer so, with what is so instead."""
    texts = {one["id"]: one["content"] for one in owner.conclusions()}
    return {
        one["content"]: texts[by] for by in texts for one in owner.conclusions(metadata={"outdated_by": by})
    }


BERLIN, LISBON, PORTO = (
    ("01-10", "I live in Berlin."),
    ("03-10", "I moved to Lisbon."),
    ("05-10", "I live in Porto."),
)


def test_a_move_outdates_the_home_before_and_keeps_it_as_history(stage, owner):
    tell(stage, BERLIN, LISBON)
    assert owner.card() == ["Lives in: Lisbon"]
    assert owner.held() == ["alice lives in Berlin", "alice moved to Lisbon"]
    assert outdated(owner) == {"alice lives in Berlin": "alice moved to Lisbon"}


def test_the_newest_word_wins_in_whatever_order_it_comes(stage):
    for number, order in enumerate(permutations((BERLIN, LISBON, PORTO))):
        owner = stage.speaker(workspace=f"w{number}")
        for day, text in order:
            owner.say("s", text, **on(day))
            stage.rest()
        assert owner.card() == ["Lives in: Porto"]
        assert set(outdated(owner).values()) == {"alice lives in Porto"}
        assert len(outdated(owner)) == 2


def test_an_older_message_that_is_imported_later_does_not_win_in_another_session_either(stage, owner):
    tell(stage, LISBON)
    tell(stage, BERLIN, session="imported")
    assert owner.card() == ["Lives in: Lisbon"]
    assert list(outdated(owner)) == ["alice lives in Berlin"]


def test_what_is_said_again_holds_again(stage, owner):
    tell(stage, BERLIN, LISBON, ("06-01", "I live in Berlin."))
    assert owner.card() == ["Lives in: Berlin"]
    assert list(outdated(owner)) == ["alice moved to Lisbon"]


def test_when_the_newest_word_is_forgotten_the_one_before_holds_again(stage, owner):
    tell(stage, BERLIN)
    [said] = owner.say("s", LISBON[1], **on(LISBON[0]))
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said['id']}")
    assert (owner.card(), outdated(owner)) == (["Lives in: Berlin"], {})


def test_when_the_saying_again_is_forgotten_it_no_longer_counts(stage, owner):
    tell(stage, BERLIN, LISBON)
    [said] = owner.say("s", BERLIN[1], **on("06-01"))
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said['id']}")
    assert owner.card() == ["Lives in: Lisbon"]
    assert list(outdated(owner)) == ["alice lives in Berlin"]


def test_of_some_things_there_may_be_many(stage, owner):
    tell(
        stage,
        ("01-01", "I have a dog named Rex."),
        ("02-01", "I have a cat named Tom."),
        ("03-01", "I like tea."),
    )
    tell(stage, ("04-01", "I like jazz."))
    assert outdated(owner) == {}
    assert owner.card() == ["Pet: Rex (dog)", "Pet: Tom (cat)", "Likes: tea", "Likes: jazz"]


def test_a_change_of_taste_is_an_update(stage, owner):
    tell(stage, ("01-01", "I love coffee."), ("02-01", "I hate coffee."))
    assert owner.card() == ["Dislikes: coffee"]
    assert outdated(owner) == {"alice loves coffee": "alice hates coffee"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Berlin.", "I no longer live in Berlin."),
        ("I live in Berlin.", "I don't live in Berlin anymore."),
        ("I live in Berlin.", "I used to live in Berlin."),
        ("I work at Acme.", "I quit my job at Acme."),
        ("I am vegan.", "I am no longer vegan."),
        ("I'm allergic to peanuts.", "Turns out I'm not allergic to peanuts after all."),
        ("I have a dog named Rex.", "I don't have a dog anymore."),
        ("I have a dog named Rex.", "My dog Rex died last week."),
        ("My boyfriend is called Jonas.", "Jonas and I broke up."),
        ("My boyfriend is called Jonas.", "My boyfriend and I broke up."),
        ("My husband is called Tom.", "I got divorced."),
        ("My husband is called Tom.", "My husband passed away."),
    ],
)
@pytest.mark.parametrize("imported_late", [False, True])
def test_what_is_denied_leaves_the_card(stage, owner, before, after, imported_late):
    told = [("01-01", before), ("02-01", after)]
    tell(stage, *(reversed(told) if imported_late else told))
    assert owner.card() in ([], None)
    assert len(outdated(owner)) == 1


def test_a_denial_of_one_thing_says_nothing_of_another(stage, owner):
    tell(stage, BERLIN, ("02-01", "I don't like Berlin."))
    assert "Lives in: Berlin" in owner.card()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Berlin.", "My sister doesn't live in Berlin anymore."),
        ("I have a dog named Rex.", "My friend doesn't have a dog anymore."),
        ("I have a dog named Rex.", "I don't have a dog sitter."),
        ("My husband is called Tom.", "My parents got divorced."),
    ],
)
def test_what_is_no_longer_so_of_others_stays_so_of_oneself(stage, owner, before, after):
    tell(stage, ("01-01", before), ("02-01", after))
    assert len(owner.card()) == 1
    assert outdated(owner) == {}


@pytest.mark.parametrize(
    ("before", "after", "card"),
    [
        ("My dog's name is Pepper.", "Correction: my dog's name is Pippin, not Pepper", "Pet: Pippin (dog)"),
        ("I'm allergic to peanuts.", "I'm allergic to hazelnuts, not peanuts.", "Allergy: hazelnuts"),
        ("I have two cats.", "I have three cats now.", "Pet: three cats"),
    ],
)
def test_what_is_right_takes_the_place_of_what_was_wrong(stage, owner, before, after, card):
    tell(stage, ("01-01", before), ("02-01", after))
    assert owner.card() == [card]
    assert len(outdated(owner)) == 1


@pytest.mark.parametrize(
    ("named", "denied"),
    [
        ("My name is Alice.", "I haven't been to Rome."),
        ("I'm Alice.", "I'm not on WhatsApp."),
        ("Call me Alice.", "I don't have a car."),
        ("I'm Alice.", "We don't have a car."),
    ],
)
def test_a_denial_says_nothing_of_the_name_of_whoever_says_it(stage, owner, named, denied):
    tell(stage, ("01-01", named), ("02-01", denied))
    assert [line.partition(": ")[2] for line in owner.card()] == ["Alice"]
    assert outdated(owner) == {}


@pytest.mark.parametrize("denied", ["My name is not Alice.", "I'm not Alice anymore."])
def test_a_name_can_be_denied(stage, owner, denied):
    tell(stage, ("01-01", "My name is Alice."), ("02-01", denied))
    assert owner.card() == []


@pytest.mark.parametrize(
    "words", ["Not Berlin, Lisbon.", "Actually it's Lisbon, not Berlin", "Sorry, I meant Lisbon, not Berlin."]
)
def test_a_correction_says_the_same_of_what_is_right(stage, owner, words):
    [said] = owner.say("s", "I live in Berlin.", words)[1:]
    stage.rest()
    assert owner.card() == ["Lives in: Lisbon"]
    [right] = [one for one in owner.conclusions() if one["content"] == "alice lives in Lisbon"]
    assert right["source_ids"] == [said["id"]]
    assert list(outdated(owner)) == ["alice lives in Berlin"]


def test_a_correction_of_nothing_that_was_said_concludes_nothing(stage, owner):
    owner.say("s", "I have a dog named Rex.", "Not Berlin, Lisbon.")
    stage.rest()
    assert owner.held() == ["alice has a dog named Rex"]


@pytest.mark.parametrize(
    "again", ["i live in berlin", "I live in Berlin!!", "I  LIVE in  Berlin .", "I live in the Berlin"]
)
def test_the_same_in_near_equal_wording_is_one_conclusion_with_all_its_sources(stage, owner, again):
    said = owner.say("s", "I live in Berlin.", again)
    stage.rest()
    [found] = owner.conclusions()
    assert found["source_ids"] == [one["id"] for one in said]


def test_what_was_concluded_twice_stands_while_one_of_its_sources_does(stage, owner):
    [first] = owner.say("s", "I live in Berlin.")
    stage.rest()
    [second] = owner.say("s", "I live in Berlin!")
    stage.rest()
    [known] = owner.conclusions()
    assert (known["times_derived"], known["source_ids"]) == (2, [first["id"], second["id"]])
    owner.told("DELETE", f"/sessions/s/messages/{first['id']}")
    assert [one["source_ids"] for one in owner.conclusions()] == [[second["id"]]]
    owner.told("DELETE", f"/sessions/s/messages/{second['id']}")
    assert (owner.conclusions(), owner.card()) == ([], [])


def test_a_question_finds_what_holds_before_what_does_not(stage, owner):
    tell(stage, BERLIN, ("03-10", "I live in Lisbon now, far from Berlin."))
    asked = {"query": "lives in Berlin", "filters": {"observer_id": "alice", "observed_id": "alice"}}
    found = [one["content"] for one in owner.told("POST", "/conclusions/query", asked)]
    assert ["Lisbon" in text for text in found] == [True, False]


def test_each_observer_has_its_own_latest(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    tell(stage, BERLIN)
    tell(stage, LISBON, session="without-bob")
    assert owner.card() == ["Lives in: Lisbon"]
    assert owner.card("bob", target="alice") == ["Lives in: Berlin"]
    assert "no longer" not in owner.representation("bob", target="alice")


def test_what_was_said_elsewhere_is_not_told_to_who_sees_one_session(stage, owner):
    tell(stage, BERLIN)
    tell(stage, LISBON, session="t")
    alone = owner.context("s", peer_target="alice", limit_to_session=True)["peer_representation"]
    assert "Berlin" in alone
    assert "no longer" not in alone


def test_what_is_written_by_hand_stays_whatever_is_said(stage, owner):
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["Lives in: Rome"]})
    tell(stage, BERLIN, LISBON)
    assert owner.card() == ["Lives in: Rome"]
    owner.told("PUT", "/peers/alice/card", {"peer_card": []})
    tell(stage, ("04-01", "I have a dog named Rex."))
    assert owner.card() == ["Pet: Rex (dog)"]


def test_where_no_card_is_made_none_is_there_and_a_dream_makes_it_of_the_latest(stage, owner):
    owner.open("sessions", "s", configuration={"peer_card": {"create": False}})
    tell(stage, BERLIN, LISBON)
    assert owner.card() is None
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    stage.rest()
    assert owner.card() == ["Lives in: Lisbon"]


WORDS = st.sampled_from(
    [
        *("Lives in: Berlin", "Lives in: Lisbon", "Lives in: Lisbon, Portugal", "Works at: Acme", "Pet: Rex"),
        *(
            "Likes: tea",
            "Dislikes: tea",
            "Likes: jazz",
            "al no longer lives in Berlin",
            "al quit the job at Acme",
        ),
    ]
)
STANDS = st.lists(st.tuples(WORDS, st.integers(0, 9), st.integers(0, 5)), max_size=9).map(
    lambda told: [
        Stand(text, f"c{source}-{text}", f"m{number}", "s", number, at, ": " not in text)
        for number, (text, at, source) in enumerate(told)
    ]
)


@given(stands=STANDS, random=st.randoms(use_true_random=False))
def test_what_holds_depends_on_when_things_were_said_and_not_on_their_order(stands, random):
    shuffled = random.sample(stands, len(stands))
    assert what_is_outdated(shuffled) == what_is_outdated(stands)
    assert history(shuffled) == history(stands)


@given(stands=STANDS)
def test_what_was_said_last_of_a_thing_always_holds_and_nothing_outdates_itself(stands):
    old = what_is_outdated(stands)
    assert all(source != by for source, by in old.items())
    assert set(old.values()) <= {stand.source for stand in stands}
    for label in {label_of(stand.text) for stand in stands if not stand.denies}:
        if one_at_a_time(label):
            latest = max((one for one in stands if label_of(one.text) == label), key=lambda one: one.when)
            by = old.get(latest.source)
            assert by is None or next(one for one in stands if one.source == by).denies


_numbers = count()


@pytest.fixture(scope="module")
def parrots():
    with staged() as stage:
        yield stage


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    homes=st.lists(
        st.tuples(st.sampled_from(["Oslo", "Rome", "Bern"]), st.integers(1, 28)), min_size=1, max_size=6
    ),
    random=st.randoms(use_true_random=False),
)
def test_a_card_is_the_same_in_whatever_order_its_messages_came(parrots, homes, random):
    told = sorted({day: home for home, day in homes}.items())
    cards = []
    for order in (told, random.sample(told, len(told))):
        owner = parrots.speaker(workspace=f"order-{next(_numbers)}")
        for day, home in order:
            owner.say("s", f"City: {home}", **on(f"01-{day:02}"))
            parrots.rest()
        cards.append(owner.card())
    assert cards[0] == cards[1] == [f"City: {told[-1][1]}"]
