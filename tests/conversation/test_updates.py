"""Of some facts there is one value at a time: the newest said holds, and the older ones stay known."""

from __future__ import annotations

from itertools import count, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversation.world import staged
from souvenance.domain.current_facts import Stand, holding, label_of, one_at_a_time
from souvenance.domain.current_facts import outdated as what_is_outdated


@pytest.fixture
def stage():
    with staged() as stage:
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
    assert owner.card() == ["Home: Lisbon"]
    assert owner.held() == ["I live in Berlin.", "I moved to Lisbon."]
    assert outdated(owner) == {"I live in Berlin.": "I moved to Lisbon."}


def test_the_newest_word_wins_in_whatever_order_it_comes(stage):
    for number, order in enumerate(permutations((BERLIN, LISBON, PORTO))):
        owner = stage.speaker(workspace=f"w{number}")
        for day, text in order:
            owner.say("s", text, **on(day))
            stage.rest()
        assert owner.card() == ["Home: Porto"]
        assert set(outdated(owner).values()) == {"I live in Porto."}
        assert len(outdated(owner)) == 2


def test_an_older_message_that_is_imported_later_does_not_win_in_another_session_either(stage, owner):
    tell(stage, LISBON)
    tell(stage, BERLIN, session="imported")
    assert owner.card() == ["Home: Lisbon"]
    assert list(outdated(owner)) == ["I live in Berlin."]


def test_what_is_said_again_holds_again(stage, owner):
    tell(stage, BERLIN, LISBON, ("06-01", "I live in Berlin."))
    assert owner.card() == ["Home: Berlin"]
    assert list(outdated(owner)) == ["I moved to Lisbon."]


def test_when_the_newest_word_is_forgotten_the_one_before_holds_again(stage, owner):
    tell(stage, BERLIN)
    [said] = owner.say("s", LISBON[1], **on(LISBON[0]))
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said['id']}")
    assert (owner.card(), outdated(owner)) == (["Home: Berlin"], {})


def test_when_the_saying_again_is_forgotten_it_no_longer_counts(stage, owner):
    tell(stage, BERLIN, LISBON)
    [said] = owner.say("s", BERLIN[1], **on("06-01"))
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said['id']}")
    assert owner.card() == ["Home: Lisbon"]
    assert list(outdated(owner)) == ["I live in Berlin."]


def test_of_some_things_there_may_be_many(stage, owner):
    tell(stage, ("01-01", "I have a dog named Rex."), ("02-01", "I have a cat named Tom."))
    assert outdated(owner) == {}
    assert owner.card() == ["Pets: a dog named Rex", "Pets: a cat named Tom"]


def test_what_says_less_of_the_same_is_no_line_of_its_own(stage, owner):
    tell(stage, ("01-01", "I live in Lisbon, Portugal."), ("02-01", "I live in Lisbon."))
    tell(stage, ("03-01", "I have a dog named Rex."), ("04-01", "I have a dog."))
    assert owner.card() == ["Home: Lisbon, Portugal", "Pets: a dog named Rex"]
    assert outdated(owner) == {}


def test_a_role_play_gives_no_facts_until_long_after_it(stage, owner):
    tell(stage, ("01-01", "Let's role play, I'm a pirate."), ("01-02", "I live in Tortuga."))
    tell(stage, ("01-03", "I live in Oslo."), session="t")
    assert owner.card() == ["Home: Oslo"]
    assert owner.held() == ["I live in Oslo."]


@pytest.mark.parametrize("again", ["i live in berlin", "I live in Berlin!!", "I  LIVE in  Berlin."])
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
    assert owner.card() == ["Home: Lisbon"]
    assert owner.card("bob", target="alice") == ["Home: Berlin"]
    assert "no longer" not in owner.representation("bob", target="alice")


def test_what_was_said_elsewhere_is_not_told_to_who_sees_one_session(stage, owner):
    tell(stage, BERLIN)
    tell(stage, LISBON, session="t")
    alone = owner.context("s", peer_target="alice", limit_to_session=True)["peer_representation"]
    assert "Berlin" in alone
    assert "no longer" not in alone


def test_what_is_written_by_hand_stays_whatever_is_said(stage, owner):
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["Home: Rome"]})
    tell(stage, BERLIN, LISBON)
    assert owner.card() == ["Home: Rome"]
    owner.told("PUT", "/peers/alice/card", {"peer_card": []})
    tell(stage, ("04-01", "I have a dog named Rex."))
    assert owner.card() == ["Pets: a dog named Rex"]


def test_where_no_card_is_made_none_is_there_and_a_dream_makes_it_of_the_latest(stage, owner):
    owner.open("sessions", "s", configuration={"peer_card": {"create": False}})
    tell(stage, BERLIN, LISBON)
    assert owner.card() is None
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    stage.rest()
    assert owner.card() == ["Home: Lisbon"]


FACTS = ["Home: Berlin", "Home: Lisbon", "Home: Lisbon, Portugal", "Work: at Acme", "Pets: a dog", "tea"]
STANDS = st.lists(st.tuples(st.sampled_from(FACTS), st.integers(0, 9), st.integers(0, 5)), max_size=9).map(
    lambda told: [
        Stand(text, f"c{source}-{text}", f"m{number}", "s", number, at)
        for number, (text, at, source) in enumerate(told)
    ]
)


@given(stands=STANDS, random=st.randoms(use_true_random=False))
def test_what_holds_depends_on_when_things_were_said_and_not_on_their_order(stands, random):
    shuffled = random.sample(stands, len(stands))
    assert what_is_outdated(shuffled) == what_is_outdated(stands)
    assert holding(shuffled, 40) == holding(stands, 40)


@given(stands=STANDS)
def test_what_was_said_last_of_a_thing_always_holds_and_nothing_outdates_itself(stands):
    old = what_is_outdated(stands)
    assert all(source != by for source, by in old.items())
    for label in filter(one_at_a_time, {label_of(stand.text) for stand in stands}):
        latest = max((one for one in stands if label_of(one.text) == label), key=lambda one: one.when)
        assert latest.source not in old
        [shown] = [one for one in holding(stands, 40) if label_of(one.text) == label]
        assert shown.source not in old


@given(stands=STANDS, most=st.integers(0, 9))
def test_a_card_has_no_more_lines_than_it_may_and_none_twice(stands, most):
    texts = [one.text for one in holding(stands, most)]
    assert len(texts) == len(set(texts)) <= most


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
            owner.say("s", f"I live in {home}.", **on(f"01-{day:02}"))
            parrots.rest()
        cards.append(owner.card())
    assert cards[0] == cards[1] == [f"Home: {told[-1][1]}"]
