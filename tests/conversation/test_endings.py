"""What ends, and what was said wrong, leaves the card at once and stays reachable; nothing else does."""

from __future__ import annotations

from itertools import count, permutations

import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive


@pytest.fixture(scope="module")
def play():
    with staged(reasoner=Extractive()) as stage:
        yield stage


_numbers = count()


@pytest.fixture
def tell(play):
    """Says these texts, one a day, and gives the caller who said them."""
    owner = play.speaker(workspace=f"life-{next(_numbers)}")

    def told(*texts):
        for day, text in enumerate(texts, 1):
            owner.say("s", text, created_at=f"2026-01-{day:02}T12:00:00Z")
            play.rest()
        return owner

    return told


def outdated(owner):
    """What is no longer so, with what is so instead."""
    texts = {one["id"]: one["content"] for one in owner.conclusions()}
    return {
        one["content"]: texts[by] for by in texts for one in owner.conclusions(metadata={"outdated_by": by})
    }


ENDS = [
    ("My brother Tom lives in Leeds.", "Tom passed away."),
    ("I'm married to Tom.", "Tom passed away last week. We are devastated."),
    ("I'm married to Tom.", "My husband passed away in May."),
    ("My husband Tom is a cook.", "I lost my husband last month."),
    ("My mom Ruth lives in Ohio.", "I lost my mom in March."),
    ("My grandma Ruth taught me to sew.", "Grandma died yesterday."),
    ("My girlfriend Ana is a nurse.", "We broke up."),
    ("I'm engaged to Tom.", "Tom and I split up."),
    ("I have a dog named Rex.", "Rex died"),
    ("i have a dog named rex", "rex passed away"),
    ("I have a dog named Rex.", "We had to put Rex down last week."),
    ("I have a dog named Rex.", "My dog died."),
    ("I have a dog.", "I had to give my dog away."),
    ("I have a cat named Mia.", "Mia ran away."),
    ("I drive a Volvo.", "I sold the Volvo."),
    ("I drive an old red Volvo V70.", "I sold my car."),
    ("I work at Google.", "I got laid off yesterday."),
    ("I'm a nurse at Kaiser.", "I retired last month."),
    ("I live in Oslo.", "I left Oslo for good."),
    ("I'm vegetarian.", "I eat meat again."),
    ("I'm allergic to peanuts.", "I outgrew my peanut allergy."),
    ("My boyfriend Tom is great.", "I broke up with my boyfriend."),
    ("My boyfriend Tom is great.", "My boyfriend Tom dumped me."),
    ("My girlfriend Ana is a nurse.", "Ana and I called it quits in August."),
    ("My girlfriend Ana is a nurse.", "Ana and I aren't together anymore."),
    ("I have a dog named Rex.", "We lost our dog Rex last week."),
    ("I have a dog named Rex.", "We had to say goodbye to Rex yesterday."),
    ("I work at a bubble tea place in the city.", "quit the bubble tea job!!"),
    ("I'm vegetarian.", "I've started eating fish."),
]


@pytest.mark.parametrize(("before", "end"), ENDS, ids=[end for _, end in ENDS])
def test_what_came_to_an_end_leaves_the_card_and_stays_as_history(tell, before, end):
    owner = tell(before, end)
    assert owner.card() == []
    [(old, by)] = outdated(owner).items()
    assert f"{old}\n    - (no longer so)" in owner.representation()
    [ending] = [one for one in owner.conclusions() if one["content"] == by]
    assert ending["source_ids"] == [owner.messages("s")[1]["id"]]


LIFE = (
    "My brother Tom lives in Leeds. I have a dog named Rex. My wife Ana is a nurse. I live in Oslo. "
    "I work at Google. I'm allergic to peanuts. I like coffee. I speak Danish. I'm vegetarian. "
    "My favourite band is Aurora. I drive a Volvo."
)


@pytest.mark.parametrize(
    "said",
    [
        "I haven't seen Tom in years.",
        "I'm not going with Tom.",
        "I don't have time to walk Rex.",
        "I don't want to give Rex away.",
        "I didn't put Rex down all day.",
        "Rex almost died last year.",
        "We lost Rex's lead at the park.",
        "Ana and I called it a night around ten.",
        "I quit the gym.",
        "I've started eating more fibre.",
        "If Rex died I would cry.",
        "Rex ran away from the vacuum.",
        "In the game, Rex died.",
        "Rex Tillerson died.",
        "My friend's dog Rex died.",
        "Our neighbor's dog died.",
        "I don't have a picture of Ana.",
        "I left Ana a note.",
        "I lost my wife in the crowd.",
        "My parents got divorced.",
        "We split up into two groups.",
        "I didn't live in Oslo as a kid.",
        "I don't work at Google on Fridays.",
        "I left Google at five.",
        "My dad retired last month.",
        "I don't have peanuts at home.",
        "I don't like coffee after dinner.",
        "I don't speak Danish at work.",
        "I'm not vegetarian when I travel.",
        "I haven't listened to Aurora lately.",
        "I want to sell my car.",
        "Not Tom, he is busy.",
        "Not peanuts, cashews",
        "not coffee, tea please",
        "Sorry, it's late.",
        "Oops, I meant to send that to Ana.",
        "*sighs*",
    ],
)
def test_what_only_sounds_like_an_end_takes_nothing_away(tell, said):
    owner = tell(LIFE, said)
    assert len(owner.card()) == 11
    assert outdated(owner) == {}


@pytest.mark.parametrize(
    ("wrong", "words", "right"),
    [
        ("I have a dog named Rex.", "Not Rex, Max.", "Pet: Max (dog)"),
        ("I have a dog named Rex.", "No, his name is Max, not Rex.", "Pet: Max (dog)"),
        ("I have a dog named Rex.", "Sorry, his name is Max.", "Pet: Max (dog)"),
        ("I have a dog named Rex.", "Correction: my dog's name is Max.", "Pet: Max (dog)"),
        ("I live in Porto.", "Oops, I meant Lisbon.", "Lives in: Lisbon"),
        ("I work at Google.", "I said Google but I meant Meta.", "Works at: Meta"),
        ("I work at Google.", "Actually it's Meta, not Google. Sorry!", "Works at: Meta"),
        ("My birthday is 15 May.", "Sorry, it's 14 May, not 15", "Birthday: 14 May"),
        ("My birthday is on May 15.", "Correction: May 14.", "Birthday: May 14"),
        ("My sister Anna lives in Rome.", "*Hanna", "Sister: Hanna"),
        ("My wife's name is Sara.", "Her name is Sarah, not Sara.", "Wife: Sarah"),
        ("My name is Jon.", "It's spelled John, not Jon.", "Name: John"),
        ("I'm 34.", "35, not 34.", "Age: 35"),
        ("I have two kids.", "Three kids, not two.", "Children: three kids"),
        ("I'm allergic to peanuts.", "Sorry, I meant cashews, not peanuts.", "Allergy: cashews"),
    ],
)
def test_a_correction_outdates_what_was_wrong_and_nothing_of_it_stays_on_the_card(tell, wrong, words, right):
    owner = tell(wrong, words)
    assert owner.card() == [right]
    assert len(outdated(owner)) == 1


def test_what_is_on_no_card_is_corrected_too(tell):
    owner = tell("My flight is on 15 May.", "Sorry, it's 14 May, not 15 May")
    assert outdated(owner) == {"alice's flight is on 15 May": "alice's flight is on 14 May"}


def test_a_corrected_weekday_does_not_keep_the_date_of_the_wrong_one(tell):
    owner = tell("My dentist appointment is on Tuesday.", "I meant Wednesday, not Tuesday.")
    assert "alice's dentist appointment is on Wednesday" in owner.held()


def test_when_a_correction_is_forgotten_what_was_said_first_holds_again(tell):
    owner = tell("I have a dog named Rex.", "Not Rex, Max.")
    owner.told("DELETE", f"/sessions/s/messages/{owner.messages('s')[1]['id']}")
    assert (owner.card(), outdated(owner)) == (["Pet: Rex (dog)"], {})


def test_a_correction_outlives_a_dream(play, tell):
    owner = tell("I have a dog named Rex.", "I really have a dog named Rex.", "Not Rex, Max.")
    assert (owner.card(), len(outdated(owner))) == (["Pet: Max (dog)"], 2)
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    play.rest()
    assert (owner.card(), len(outdated(owner))) == (["Pet: Max (dog)"], 1)


def test_who_died_stays_dead_though_named_again(tell):
    owner = tell("I'm married to Tom.", "Tom passed away.", "My husband Tom loved fishing.")
    assert owner.card() == []


@pytest.mark.parametrize(
    ("before", "end", "after", "card"),
    [
        ("I have a dog named Rex.", "My dog died.", "I have a dog named Max.", "Pet: Max (dog)"),
        ("My husband is called Tom.", "My husband passed away.", "My husband is called Jim.", "Husband: Jim"),
        ("My husband is called Tom.", "I got divorced.", "My husband is called Jim.", "Husband: Jim"),
        ("I work at Acme.", "I got fired.", "I work at Meta.", "Works at: Meta"),
    ],
)
def test_the_end_of_one_is_not_that_of_the_next_and_stays_true(tell, before, end, after, card):
    owner = tell(before, end, after)
    assert owner.card() == [card]
    assert len(outdated(owner)) == 1


def test_what_is_told_with_its_end_has_ended(tell):
    assert not tell("My husband Tom was a cook. Tom passed away in 2019.").card()


def test_where_it_may_be_either_neither_goes(tell):
    owner = tell("I have a dog named Rex.", "I have a dog named Bo.", "My dog died.")
    assert owner.card() == ["Pet: Rex (dog)", "Pet: Bo (dog)"]


def test_an_end_that_concerns_nobody_known_concludes_nothing(tell):
    owner = tell("I live in Oslo.", "Bowie died.", "We broke up.")
    assert owner.held() == ["alice lives in Oslo"]


def test_somebody_has_one_partner_however_called(tell):
    owner = tell("My boyfriend Tom is a chef.", "My husband Tom is a chef.", "My partner Tom cooks.")
    assert owner.card() == ["Husband: Tom"]


@pytest.mark.parametrize(
    ("before", "after", "card"),
    [
        ("My wife Ana is great.", "I'm divorced now.", "Relationship: divorced"),
        ("My boyfriend Tom is great.", "I'm single again.", "Relationship: single"),
        ("I'm single.", "My girlfriend Eva is a nurse.", "Girlfriend: Eva"),
        ("I'm engaged.", "I got married!", "Relationship: married"),
        ("I'm single.", "I got married to Tom in May.", "Partner: Tom"),
    ],
)
def test_nobody_is_single_and_has_a_partner(tell, before, after, card):
    assert tell(before, after).card() == [card]


def test_of_the_same_kind_the_number_counts_that_was_told_last(tell):
    assert tell("I have a cat.", "I have two cats.", "I have a cat.").card() == ["Pet: two cats"]


def test_a_further_child_takes_the_place_of_none(tell):
    owner = tell("I have two kids.", "I have a baby.", "We have four grandchildren.", "I have a son.")
    assert owner.card() == [
        "Children: two kids",
        "Child: a baby",
        "Grandchildren: four grandchildren",
        "Son: a son",
    ]


@pytest.mark.parametrize(
    ("before", "end", "again", "card"),
    [
        (
            "My girlfriend Ana is a nurse.",
            "We broke up.",
            "Actually we got back together.",
            "Girlfriend: Ana",
        ),
        ("My girlfriend Ana is a nurse.", "We broke up.", "Ana and I got back together.", "Girlfriend: Ana"),
        ("I have a cat named Mia.", "Mia ran away.", "Good news: Mia came back!", "Pet: Mia (cat)"),
        ("My boyfriend Tom is great.", "Tom and I broke up.", "I'm back with Tom.", "Boyfriend: Tom"),
        ("My boyfriend Tom is great.", "I broke up with Tom.", "We're back together!", "Boyfriend: Tom"),
        ("I have a cat named Mia.", "Mia ran away.", "Mia is back home!", "Pet: Mia (cat)"),
        ("I have a cat named Mia.", "Mia ran away.", "We found Mia!", "Pet: Mia (cat)"),
        ("I drive a Volvo.", "I sold the Volvo.", "I bought the Volvo back.", "Vehicle: Volvo"),
        ("I work at Google.", "I got laid off.", "I got rehired at Google.", "Works at: Google"),
        ("I'm vegetarian.", "I eat meat again.", "I went back to being vegetarian.", "Diet: vegetarian"),
        ("I live in Oslo.", "I no longer live in Oslo.", "I moved back to Oslo.", "Lives in: Oslo"),
    ],
)
def test_what_begins_again_holds_again(tell, before, end, again, card):
    owner = tell(before, end, again)
    assert owner.card() == [card]
    said_first = owner.messages("s")[0]["id"]
    [first] = [one["content"] for one in owner.conclusions() if one["source_ids"] == [said_first]]
    assert first not in outdated(owner)


def test_what_began_again_ends_again_and_holds_until_then(tell):
    story = ["My girlfriend Ana is a nurse.", "We broke up.", "We got back together.", "We broke up."]
    owner = tell(*story)
    assert owner.card() == []
    owner.told("DELETE", f"/sessions/s/messages/{owner.messages('s')[3]['id']}")
    assert owner.card() == ["Girlfriend: Ana"]
    owner.told("DELETE", f"/sessions/s/messages/{owner.messages('s')[2]['id']}")
    assert owner.card() == []


@pytest.mark.parametrize(
    ("before", "end", "after"),
    [
        ("My girlfriend Ana is a nurse.", "We broke up.", "We are not back together."),
        ("My girlfriend Ana is a nurse.", "We broke up.", "My parents got back together."),
        ("My girlfriend Ana is a nurse.", "We broke up.", "Ana came back from Spain."),
        ("My girlfriend Ana is a nurse.", "We broke up.", "I found Ana's keys."),
        ("My husband Tom is a cook.", "Tom passed away.", "We got back together."),
        ("I work at Google.", "I quit my job.", "I went back to Google to fetch my things."),
    ],
)
def test_what_only_sounds_like_a_beginning_brings_nothing_back(tell, before, end, after):
    assert tell(before, end, after).card() == []


def test_one_without_a_name_who_died_is_not_the_next_one(tell):
    assert tell("I have a dog.", "My dog died.", "I have a dog.").card() == ["Pet: a dog"]


def test_the_death_of_a_husband_does_not_keep_anybody_from_marrying_again(tell):
    owner = tell("I'm married.", "My husband passed away.", "I'm married again.")
    assert owner.card() == ["Relationship: married"]


@pytest.mark.parametrize(
    ("before", "then", "end"),
    [
        ("I have a dog.", "My dog's name is Rex.", "Rex died."),
        ("I'm married.", "My husband's name is Tom.", "Tom passed away."),
        ("I have a dog named Rex.", "I have a cat named Mia.", "I don't have any pets anymore."),
    ],
)
def test_nothing_stays_on_the_card_of_what_ended_by_another_name(play, tell, before, then, end):
    owner = tell(before, then, end)
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    play.rest()
    assert owner.card() == []


@pytest.mark.parametrize(
    ("before", "then", "denied", "card"),
    [
        ("I have a dog.", "My dog's name is Rex.", "My dog isn't called Rex.", "Pet: a dog"),
        ("I'm married.", "My wife is called Ana.", "My wife is not called Ana.", "Relationship: married"),
    ],
)
def test_who_is_called_otherwise_is_still_there(tell, before, then, denied, card):
    assert tell(before, then, denied).card() == [card]


@pytest.mark.parametrize("end", ["Ana is my ex-wife now.", "My ex-wife Ana called.", "Sadly, we split up."])
def test_an_ex_is_no_partner(tell, end):
    assert tell("My wife Ana is a nurse.", end).card() == []


def test_not_to_have_something_somewhere_is_not_to_have_lost_it(tell):
    assert tell("I have a dog named Rex.", "I don't have a dog at work.").card() == ["Pet: Rex (dog)"]


@pytest.mark.parametrize("sessions", [("s", "s"), ("old", "new")], ids=["one session", "two sessions"])
@pytest.mark.parametrize(
    ("before", "end"),
    [
        ("I have a dog named Rex.", "Rex died."),
        ("My girlfriend Ana is a nurse.", "We broke up."),
        ("I'm allergic to peanuts.", "I outgrew my peanut allergy."),
    ],
)
def test_an_end_holds_though_what_ended_is_imported_after_it(play, before, end, sessions):
    owner = play.speaker(workspace=f"life-{next(_numbers)}")
    for session, text, day in ((sessions[1], end, "02-01"), (sessions[0], before, "01-01")):
        owner.say(session, text, created_at=f"2026-{day}T12:00:00Z")
        play.rest()
    assert not owner.card()
    [by] = outdated(owner).values()
    [ending] = [one for one in owner.conclusions() if one["content"] == by]
    said = {one["content"]: one["id"] for one in owner.messages(sessions[1])}
    assert (ending["session_id"], ending["source_ids"]) == (sessions[1], [said[end]])


def test_an_end_that_was_forgotten_ends_nothing_that_is_imported_later(play):
    owner = play.speaker(workspace=f"life-{next(_numbers)}")
    owner.say("new", "Rex died.", created_at="2026-02-01T12:00:00Z")
    play.rest()
    owner.told("DELETE", f"/sessions/new/messages/{owner.messages('new')[0]['id']}")
    owner.say("old", "I have a dog named Rex.", created_at="2026-01-01T12:00:00Z")
    play.rest()
    assert owner.card() == ["Pet: Rex (dog)"]


def test_a_namesake_of_somebody_who_died_is_not_dead(play):
    owner = play.speaker(workspace=f"life-{next(_numbers)}")
    for session, text, day in (("a", "Bowie died.", "01-10"), ("b", "I have a dog named Bowie.", "03-10")):
        owner.say(session, text, created_at=f"2026-{day}T12:00:00Z")
        play.rest()
    assert owner.card() == ["Pet: Bowie (dog)"]


def test_the_card_has_what_holds_in_whatever_order_its_messages_came(play):
    story = ["I have a dog named Rex.", "I have a dog named Bo.", "My dog died."]
    for order in permutations(enumerate(story, 1)):
        owner = play.speaker(workspace=f"life-{next(_numbers)}")
        for day, text in order:
            owner.say("s", text, created_at=f"2026-01-{day:02}T12:00:00Z")
            play.rest()
        assert sorted(owner.card()) == ["Pet: Bo (dog)", "Pet: Rex (dog)"]


def test_whoever_is_told_of_in_one_sentence_has_an_end_of_their_own(tell):
    owner = tell("I have a dog named Rex, a cat named Mia and a parrot named Coco.", "Rex died.")
    assert owner.card() == ["Pet: Mia (cat)", "Pet: Coco (parrot)"]


@pytest.mark.parametrize(
    ("now", "card"),
    [
        ("I'm a cashier at the garden centre now.", ["Works as: cashier at the garden centre"]),
        ("I'm a cashier at Acme.", ["Works at: Acme", "Works as: cashier at Acme"]),
        ("I'm a cashier at a big shop.", ["Works at: Acme", "Works as: cashier at a big shop"]),
    ],
)
def test_who_works_as_something_elsewhere_has_left_where_they_worked(tell, now, card):
    assert tell("I work at Acme.", now).card() == card
