"""Lives go on: the card after ends told by a pronoun, in part, in other languages, or out of order."""

from __future__ import annotations

from itertools import count, permutations

import msgspec
import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive
from mnemon.gate.conversation import operations as o


@pytest.fixture(scope="module")
def play():
    with staged(reasoner=Extractive()) as stage:
        yield stage
        assert stage.complaints == []


_numbers = count()


@pytest.fixture
def tell(play):
    """Says these texts, one a day, each by alice or by whom it names, and gives the caller who said them."""
    owner = play.speaker(workspace=f"life-{next(_numbers)}")

    def told(*said):
        for day, one in enumerate(said, 1):
            peer, text = ("alice", one) if isinstance(one, str) else one
            owner.say("s", text, peer=peer, created_at=f"2026-01-{day:02}T12:00:00Z")
            play.rest()
        return owner

    return told


@pytest.mark.parametrize(
    "story",
    [
        ("My dog Rex is a beagle.", "I miss Rex. He died in March."),
        ("I have a dog named Rex.", "Rex was so ill. We had to put him down last week."),
        ("I have a dog named Rex.", "My dog was old. He passed away."),
        ("I have a cat named Mia.", ("bot", "How is Mia?"), "She ran away last week."),
        ("My grandma Ruth lives in Ohio.", "Grandma Ruth fell ill in May. She passed away on Sunday."),
        ("My girlfriend Ana is a nurse.", "Ana moved out. She broke up with me."),
        ("My wife Ana is a nurse.", "Ana left me last month."),
        ("I work at Acme.", "Bad news: they laid me off today."),
        ("My husband Mark is a cook.", "Long story but Mark and I split up."),
        ("My girlfriend Ana is a cook.", "Me and Ana broke up last week."),
        ("We have a hamster called Bisou.", "Bisou passed away, the kids are devastated."),
        ("I start at Acme in June.", "The Acme job fell through."),
        ("I start at Acme in June.", "The job at Acme fell through, so I'm still looking."),
    ],
    ids=lambda story: str(story[-1]),
)
def test_an_end_is_of_the_only_one_who_was_named_right_before(tell, story):
    assert tell(*story).card() == []


def test_a_plain_no_ends_what_was_asked_for(tell):
    owner = tell("I live in Berlin. I work at Acme.", ("bot", "Do you still live in Berlin?"), "no")
    assert owner.card() == ["Works at: Acme"]


def test_whom_the_end_means_is_told_with_it(tell):
    owner = tell("I have a dog named Rex.", "I miss Rex. He died in March.")
    assert 'alice said: "He [Rex] died in March"' in owner.held()


@pytest.mark.parametrize(
    "said",
    [
        ("My neighbor's dog got out. He died.",),
        ("We watched Old Yeller. He died and I cried.",),
        ("I loved Bowie. He died in 2016.",),
        ("Tom walked Rex every day. He died in March.",),
        ("Rex bit a man yesterday. He died.",),
        ("I told Tom a joke. He died.",),
        ("Rex ate my plant. It died.",),
        ("Tom flew to Rome. He is gone for two weeks.",),
        ("Ana went to work. She left me a note.",),
        ("Ana drove off. She left me at the station.",),
        ("I was at the fair with Tom. I lost him in the crowd.",),
        ("I was holding Rex. I put him down on the sofa.",),
        (("bot", "Do you like David Bowie?"), "He died."),
        (("bot", "I'm sorry about your grandfather. Was Tom there?"), "She died."),
        ("They let me go home early.",),
        ("They might fire me next month.",),
    ],
    ids=lambda said: str(said[-1]),
)
def test_an_end_of_another_or_of_either_of_two_takes_nobody_away(tell, said):
    life = ["I have a dog named Rex.", "My brother Tom lives in Leeds.", "My wife Ana is a nurse."]
    owner = tell(*life, "I work at Acme.", *said)
    assert sorted(owner.card()) == ["Brother: Tom", "Pet: Rex (dog)", "Wife: Ana", "Works at: Acme"]


@pytest.mark.parametrize(
    ("whole", "denied", "left"),
    [
        (
            "I'm allergic to peanuts and shellfish.",
            "I'm not allergic to shellfish after all.",
            "Allergy: peanuts",
        ),
        (
            "I'm allergic to peanuts, milk and kiwi.",
            "I'm no longer allergic to kiwi.",
            "Allergy: peanuts and milk",
        ),
        ("I'm allergic to cats and pollen.", "I outgrew my pollen allergy.", "Allergy: cats"),
        ("I speak French and German.", "I don't speak German anymore.", "Speaks: French"),
        ("I have two cats named Mia and Leo.", "Leo died yesterday.", "Pet: Mia (cat)"),
    ],
)
def test_what_is_denied_of_one_of_several_still_holds_of_the_others(play, tell, whole, denied, left):
    owner = tell(whole, denied)
    assert owner.card() == [left]
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    play.rest()
    assert owner.card() == [left]
    owner.told("DELETE", f"/sessions/s/messages/{owner.messages('s')[1]['id']}")
    assert owner.card() != [left]


def test_what_is_denied_of_all_of_several_holds_no_longer(tell):
    owner = tell("I'm allergic to peanuts and shellfish.", "I'm not allergic to peanuts or shellfish.")
    assert owner.card() == []


def test_one_of_several_who_came_back_is_there_again(tell):
    owner = tell("I have two cats named Mia and Leo.", "Leo ran away.", "Leo came back!")
    assert owner.card() == ["Pet: Mia and Leo (cats)"]


def test_a_taste_of_a_list_can_be_lost(tell):
    owner = tell("I like tea, jazz and chess.", "I don't like jazz.")
    assert sorted(owner.card()) == ["Dislikes: jazz", "Likes: tea and chess"]


def test_a_dish_is_no_list(tell):
    owner = tell("I love mac and cheese.", "I don't like cheese.")
    assert sorted(owner.card()) == ["Dislikes: cheese", "Likes: mac and cheese"]


ABROAD = [
    ("Ich wohne in Köln.", "Ich bin nach Hamburg gezogen.", ["Lives in: Hamburg"]),
    ("Ich wohne in Köln.", "Wir sind jetzt nach Bonn gezogen, endlich ein Garten!", ["Lives in: Bonn"]),
    ("Ich wohne in Köln.", "Meine Eltern sind nach Bonn gezogen.", ["Lives in: Köln"]),
    ("Ich wohne in Köln.", "Ich wohne nicht mehr in Köln.", []),
    ("Ich wohne in Köln.", "Nicht Köln, Bonn.", ["Lives in: Bonn"]),
    ("Ich wohne in Köln.", "Entschuldigung, ich meinte Bonn.", ["Lives in: Bonn"]),
    ("Ich arbeite bei Siemens.", "Ich habe bei Siemens gekündigt.", []),
    ("Ich bin allergisch gegen Nüsse.", "Ich bin doch nicht allergisch gegen Nüsse.", []),
    ("Mein Hund heißt Bello.", "Bello ist gestorben.", []),
    ("Mein Hund heißt Bello.", "Mein Hund ist gestern gestorben.", []),
    ("Vivo en Sevilla.", "Ya no vivo en Sevilla, me mudé a Bilbao.", ["Lives in: Bilbao"]),
    ("Vivo en Sevilla.", "Perdón, quise decir Granada.", ["Lives in: Granada"]),
    ("Mi perro se llama Toby.", "Toby murió ayer.", []),
    ("Soy alérgico a los cacahuetes.", "Ya no soy alérgico a los cacahuetes.", []),
    ("J'habite à Lyon.", "Je n'habite plus à Lyon.", []),
    ("J'habite à Lyon.", "J'ai déménagé à Nantes.", ["Lives in: Nantes"]),
    ("J'habite à Lyon.", "Pas Lyon, Dijon.", ["Lives in: Dijon"]),
    ("Mon chat s'appelle Félix.", "Mon chat est mort hier.", []),
    ("Je suis végétarienne.", "Je ne suis plus végétarienne.", []),
    ("Je suis végétarienne.", "Je mange de nouveau de la viande.", []),
    ("Abito a Torino.", "Non abito più a Torino.", []),
    ("Moro em Recife.", "Não moro mais em Recife.", []),
    ("Ik woon in Utrecht.", "Ik woon niet meer in Utrecht.", []),
    ("我住在上海。", "我搬到北京了。", ["Lives in: 北京"]),
    ("我住在上海。", "我不住在上海了。", []),
    ("我的妻子叫王芳。", "我们离婚了。", []),
    ("京都に住んでいます。", "もう京都に住んでいません。", []),
]


@pytest.mark.parametrize(("before", "after", "card"), ABROAD, ids=[after for _, after, _ in ABROAD])
def test_what_changes_is_understood_in_other_languages(tell, before, after, card):
    assert tell(before, after).card() == card


@pytest.mark.parametrize(
    "said",
    [
        "Ich wohne nicht mehr lange in Köln.",
        "Meine Schwester wohnt nicht mehr in Köln.",
        "Meine Schwester ist nach Hamburg gezogen.",
        "Ich bin nach Hamburg gefahren.",
        "Wenn ich nach Hamburg gezogen bin, rufe ich an.",
        "Goethe ist tot.",
        "Mein Handy ist tot.",
        "Nicht schlecht, danke",
        "No, gracias",
    ],
)
def test_nor_is_what_only_sounds_like_a_change_taken_for_one_there(tell, said):
    owner = tell("Ich wohne in Köln.", "Mein Hund heißt Bello.", said)
    assert owner.card() == ["Lives in: Köln", "Pet: Bello (dog)"]


@pytest.mark.parametrize(
    ("wrong", "words", "right"),
    [
        ("I have a dog named Rex.", "Not Rex, Max.", "Pet: Max (dog)"),
        ("I live in Porto.", "Sorry, I meant Lisbon.", "Lives in: Lisbon"),
        ("My birthday is on the 12th of June.", "sorry typo, i meant 21st of June", "Birthday: 21st of June"),
        ("I work at Google.", "I said Google but I meant Meta.", "Works at: Meta"),
    ],
)
def test_a_correction_holds_in_whatever_order_it_and_what_it_corrects_come(play, wrong, words, right):
    for order in permutations([(1, wrong), (2, words)]):
        owner = play.speaker(workspace=f"life-{next(_numbers)}")
        for day, text in order:
            owner.say("s", text, created_at=f"2026-01-{day:02}T12:00:00Z")
            play.rest()
        assert owner.card() == [right]


def test_a_correction_is_not_of_what_is_said_after_it_nor_elsewhere(play):
    for session, day in (("s", "03"), ("t", "01")):
        owner = play.speaker(workspace=f"life-{next(_numbers)}")
        for where, text, on in (("s", "Not Rex, Max.", "02"), (session, "I have a dog named Rex.", day)):
            owner.say(where, text, created_at=f"2026-01-{on}T12:00:00Z")
            play.rest()
        assert owner.card() == ["Pet: Rex (dog)"]


def test_a_correction_that_was_forgotten_corrects_nothing_that_comes_later(play):
    owner = play.speaker(workspace=f"life-{next(_numbers)}")
    [said] = owner.say("s", "Not Rex, Max.", created_at="2026-01-02T12:00:00Z")
    play.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said['id']}")
    owner.say("s", "I have a dog named Rex.", created_at="2026-01-01T12:00:00Z")
    play.rest()
    assert owner.card() == ["Pet: Rex (dog)"]


def test_what_is_said_in_play_is_on_no_card_until_the_play_is_over(tell):
    owner = tell(
        "Let's roleplay a fantasy story.",
        ("bot", "You stand before a castle. Who are you?"),
        "My name is Galahad. I live in Camelot.",
        "OK, stop the roleplay. I live in Ghent.",
    )
    assert owner.card() == ["Lives in: Ghent"]


def test_who_starts_somewhere_later_works_where_they_did_until_then(tell):
    life = ["I work at Bosch.", "I start at Siemens on 1 March."]
    owner = tell(*life)
    assert owner.card() == ["Works at: Bosch", "Starts at: Siemens (from 2026-03-01)"]
    assert owner.chat("Where do I work?") == "Bosch: alice works at Bosch (2026-01-01)."
    assert "Siemens" in owner.chat("When do I start at Siemens?")


def test_who_works_where_they_were_to_start_has_started(tell):
    owner = tell("I work at Bosch.", "I start at Siemens on 1 March.", "I work at Siemens now.")
    assert owner.card() == ["Works at: Siemens"]


def test_who_leaves_their_work_still_starts_where_they_said(tell):
    owner = tell("I work at Bosch.", "I accepted the offer from Siemens.", "I quit my job.")
    assert owner.card() == ["Starts at: Siemens"]


def test_a_long_play_is_on_no_card_though_it_has_left_the_last_few_turns(play, tell):
    said = [("bot", "Aye!"), "We need more rum."] * 4
    owner = tell("You are a pirate and I am the captain.")
    for minute, one in enumerate([*said, "I live in Tortuga. My brother Hook is a pirate."]):
        peer, text = ("alice", one) if isinstance(one, str) else one
        owner.say("s", text, peer=peer, created_at=f"2026-01-01T12:{minute + 1:02}:00Z")
    owner.say("s", "Ok, back to reality. My wife Ana is a nurse.", created_at="2026-01-01T13:00:00Z")
    play.rest()
    assert owner.card() == ["Wife: Ana"]


def test_what_is_denied_of_one_of_several_in_another_namespace_still_holds_of_the_others(play):
    workspace = f"life-{next(_numbers)}"
    said = {
        "health": "I'm allergic to peanuts and shellfish.",
        "home": "I'm not allergic to shellfish after all.",
    }
    for day, (namespace, text) in enumerate(said.items(), 1):
        message = {"peer_id": "alice", "content": text, "created_at": f"2026-01-{day:02}T12:00:00Z"}
        told = {
            "workspace_id": workspace,
            "session_id": namespace,
            "namespace": namespace,
            "messages": [message],
        }
        play.world.call(o.ADD_MESSAGES, play.owner_cap, msgspec.convert(told, o.ADD_MESSAGES.request))
        play.rest()
    assert play.speaker(workspace=workspace).card() == ["Allergy: peanuts"]
