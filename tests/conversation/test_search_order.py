"""A question for the latest or the first of something finds that first, and the others behind it.

Between the lines about it there are many about other things, older and newer than all of them.
"""

from __future__ import annotations

from itertools import product

import pytest

from conversation.world import staged
from mnemon.adapters.embed.packaged import packaged
from mnemon.adapters.thesaurus import PackagedThesaurus
from mnemon.core.embedding import embed_some

WHO = ("The plumber", "My sister", "Our neighbour", "The new manager", "Aunt Rosa", "The landlord")
WHAT = (
    "the leaking tap",
    "the quarterly report",
    "the old piano",
    "the tax form",
    "a recipe for soup",
    "our roof",
)
DID = ("called about", "complained about", "finally fixed")
OTHERS = [f"{who} {did} {what}." for did, what, who in product(DID, WHAT, WHO)][::3]

DENTIST = [
    ("2025-06-03", "I went to the dentist this morning and had a filling."),
    ("2025-09-18", "Dentist again today, just a cleaning."),
    ("2026-01-22", "Saw the dentist about the wisdom tooth, it has to come out."),
    ("2026-03-05", "The dentist pulled my wisdom tooth, ouch."),
]
RUNS = [
    ("2025-05-10", "Ran 5 km in 31 minutes today."),
    ("2025-08-02", "Ran 5 km in 28 minutes, so happy!"),
    ("2025-11-15", "My 5 km run took 27 minutes."),
    ("2026-04-11", "5 km run in 26:40!"),
]
BOOKS = [
    ("2025-07-01", "I finished reading Dune, what a book."),
    ("2025-10-11", "Just finished Middlemarch, a long book but lovely."),
    ("2026-01-05", "I have finished the book Piranesi."),
    ("2026-04-02", "Finished a book about mushrooms, Entangled Life."),
]
CONCERTS = [
    ("2025-06-30", "Saw Aurora live in concert, magical."),
    ("2025-09-21", "The Radiohead concert was incredible."),
    ("2026-01-16", "Went to a small jazz concert at the Blue Note."),
    ("2026-04-25", "The Beethoven concert at the Philharmonie moved me to tears."),
]
WEIGHTS = [
    ("2025-05-30", "I weigh 92 kilos, time to do something."),
    ("2025-12-02", "I weigh 86 kilos."),
    ("2026-03-15", "This morning I weighed 84 kilos."),
]
TILES = [
    ("2025-06-15", "For the kitchen I plan to use green tiles."),
    ("2025-09-15", "We think of white tiles for the kitchen now."),
    ("2026-02-15", "The kitchen will get terracotta tiles."),
]
CALLS = [
    ("2025-07-07", "Called mum, she is fine."),
    ("2025-11-11", "Had a long call with mum about the garden."),
    ("2026-03-03", "Mum called, she is going to sell the house."),
]
POTTERY = [
    ("2026-01-10", "In March 2024 I took a pottery class in Ghent."),
    ("2026-02-10", "I took a pottery class last weekend, with Ana."),
    ("2026-04-10", "Ten years ago I took a pottery class, I was terrible."),
]
HAIRCUTS = [
    ("2025-07-01", "Got a haircut, far too short."),
    ("2025-11-01", "New haircut, love it."),
    ("2026-02-01", "I should get a haircut soon."),
    ("2026-03-01", "Do you know a good place for a haircut?"),
]
OPERAS = [
    ("2025-06-03", "Saw Anna at the opera, Tosca was great."),
    ("2025-09-18", "Anna and I were at the opera again, Carmen this time."),
    ("2026-01-22", "Met Anna for lunch, she has a new job."),
    ("2026-03-05", "Went to the opera with my boss."),
]
COFFEES = [(f"2025-{month:02}-04", f"Had coffee with Omar at place {month}.") for month in range(1, 13)]
ZAHNARZT = [
    ("2025-06-11", "Ich war heute beim Zahnarzt, alles gut."),
    ("2026-03-28", "War beim Zahnarzt, Füllung ist drin."),
]
YAYI = [
    ("2025-06-03", "我今天去看牙医了。"),
    ("2025-10-03", "今天又去看牙医，洗牙。"),
    ("2026-04-03", "去看牙医，拔了一颗牙。"),
]


@pytest.fixture(scope="module", params=["words", "meaning"])
def embedder(request):
    if request.param == "words":
        return None
    request.getfixturevalue("vectors")
    return packaged()


@pytest.fixture
def stage(tmp_path, embedder):
    with staged(tmp_path, embedder=embedder, thesaurus=PackagedThesaurus()) as stage:
        yield stage


def tell(stage, lines, others=OTHERS):
    """Say each line on its day, and something else every ten days."""
    days = [
        (f"2025-{1 + at * 10 // 28:02}-{1 + at * 10 % 28:02}", text) for at, text in enumerate(others[:33])
    ]
    days += [
        (f"2026-{1 + at * 10 // 28:02}-{1 + at * 10 % 28:02}", text) for at, text in enumerate(others[33:])
    ]
    for day, text in sorted([*lines, *days]):
        stage.owner.say(day, text, created_at=f"{day}T12:00:00Z")
    embed_some(stage.world.book, stage.world.tools)


@pytest.mark.parametrize(
    ("lines", "questions", "best"),
    [
        (
            DENTIST,
            [
                "When did I last see the dentist?",
                "When was the last time I went to the dentist?",
                "my most recent dentist visit",
                "What happened at my latest dentist appointment?",
            ],
            3,
        ),
        (DENTIST, ["When did I first see the dentist?", "the earliest dentist appointment I mentioned"], 0),
        (RUNS, ["How fast was my last 5 km run?", "What was my most recent 5 km time?"], 3),
        (RUNS, ["How long did my first 5 km run take?", "What was my earliest 5 km time?"], 0),
        (BOOKS, ["What was the last book I finished?", "What is the newest book I finished?"], 3),
        (BOOKS, ["Which book did I finish first?"], 0),
        (CONCERTS, ["Which concert did I last go to?", "Which concert did I attend most recently?"], 3),
        (CONCERTS, ["What was the first concert I went to?"], 0),
        (WEIGHTS, ["What did I originally weigh?", "How much did I weigh at first?"], 0),
        (
            TILES,
            ["What is the latest plan for the kitchen tiles?", "What did we last decide about the tiles?"],
            2,
        ),
        (TILES, ["What tiles did we originally want for the kitchen?"], 0),
        (CALLS, ["When did I last talk to mum?", "when was the last time mum called"], 2),
        (ZAHNARZT, ["Wann war ich zuletzt beim Zahnarzt?", "Wann war ich das letzte Mal beim Zahnarzt?"], 1),
        (ZAHNARZT, ["Wann war ich das erste Mal beim Zahnarzt?"], 0),
        (YAYI, ["我最近一次看牙医是什么时候？", "我上次看牙医是什么时候？"], 2),
        (YAYI, ["我第一次看牙医是什么时候？"], 0),
    ],
)
def test_the_end_of_time_that_is_asked_for_comes_first(stage, lines, questions, best):
    tell(stage, lines)
    for question in questions:
        assert stage.owner.search("", question, limit=1) == [lines[best][1]], question


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("When did I last take a pottery class?", 1),
        ("When was the first time I took a pottery class?", 2),
    ],
)
def test_what_a_line_tells_of_has_the_time_that_the_line_names(stage, question, best):
    tell(stage, POTTERY)
    assert stage.owner.search("", question, limit=1) == [POTTERY[best][1]]


def test_what_is_only_planned_or_asked_about_has_not_happened(stage):
    tell(stage, HAIRCUTS)
    assert stage.owner.search("", "When did I last get a haircut?", limit=1) == [HAIRCUTS[1][1]]
    assert stage.owner.search("", "When was my first haircut?", limit=1) == [HAIRCUTS[0][1]]


def test_what_is_about_less_of_the_question_does_not_come_first_for_being_new_or_old(stage):
    tell(stage, OPERAS)
    assert stage.owner.search("", "When did I last see Anna at the opera?", limit=1) == [OPERAS[1][1]]
    assert stage.owner.search("", "When did I first see Anna at the opera?", limit=1) == [OPERAS[0][1]]


def test_of_many_the_newest_come_one_after_the_other(stage):
    tell(stage, COFFEES)
    newest = [text for _, text in reversed(COFFEES)]
    assert stage.owner.search("", "Where did I last have coffee with Omar?", limit=5) == newest[:5]
    assert stage.owner.search("", "Where did I first have coffee with Omar?", limit=5) == newest[:-6:-1]


@pytest.mark.parametrize(
    ("asked", "text", "beside"),
    [
        ("What is my first name?", "My first name is Johanna.", "The dog's name is Rex."),
        ("What is my last name?", "My last name is Castellanos.", "The cat's name is Mimi."),
        (
            "Where did I do the first aid course?",
            "I did a first aid course downtown.",
            "I did a sailing course.",
        ),
        (
            "Where did we fly first class?",
            "We flew first class to Tokyo.",
            "We flew to Malta in economy class.",
        ),
        (
            "Did I watch The Last of Us?",
            "I am watching The Last of Us.",
            "I am watching a show about us all.",
        ),
        ("How long did my laptop battery last?", "My laptop's battery lasts 3 hours.", "The laptop fell."),
        ("Who lives on First Avenue?", "Tom lives on First Avenue.", "Tom lives above a bakery."),
        ("When was my last violin lesson?", "I had a violin lesson today.", "I had a driving lesson today."),
        ("my most recent violin lesson", "I had a violin lesson today.", "I had a driving lesson today."),
    ],
)
def test_the_topic_wins_whatever_is_newer_or_older(stage, asked, text, beside):
    tell(stage, [("2025-01-01", beside), ("2025-06-01", text), ("2026-04-01", beside + " Again.")])
    assert stage.owner.search("", asked, limit=1) == [text]


def test_the_agent_that_speaks_of_it_later_is_not_taken_for_who_did_it(stage):
    tell(stage, DENTIST)
    stage.owner.say(
        "agent",
        "A visit to the dentist now and then is wise.",
        peer="helper",
        created_at="2026-04-01T12:00:00Z",
    )
    embed_some(stage.world.book, stage.world.tools)
    assert stage.owner.search("", "When did I last see the dentist?", limit=1) == [DENTIST[3][1]]


LAST_WEEK = [
    ("2026-05-04", "The brakes of the van squeak."),
    ("2026-05-06", "Pub quiz with Dora, we came third."),
    ("2026-05-08", "I'm seeing the physio on Thursday about my knee."),
    ("2026-05-11", "On Saturday we painted the fence blue."),
    ("2026-05-11", "I will do the couch to 5k course."),
    ("2026-05-12", "Handed in the reports."),
]
ASKED_AT = "2026-05-12T18:00:00Z"


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What did I do last week?", {0, 1, 3}),
        ("Was habe ich letzte Woche gemacht?", {0, 1, 3}),
        ("What happened on Saturday?", {3}),
        ("What did I do today?", {5}),
        ("What did we talk about last week?", {0, 1, 2, 3}),
    ],
)
def test_what_tells_of_the_time_that_is_asked_for_comes_before_what_was_said_after_it(stage, question, best):
    tell(stage, LAST_WEEK)
    found = stage.owner.search("", question, at=ASKED_AT, limit=len(best))
    assert set(found) == {LAST_WEEK[at][1] for at in best}


@pytest.mark.parametrize("question", ["When did I last see the dentist?", "What did I do last week?"])
def test_what_the_order_added_is_told(stage, question):
    tell(stage, [*DENTIST, *LAST_WEEK])
    body = {"query": question, "explain": True, "at": ASKED_AT}
    for one in stage.owner.told("POST", "/search", body):
        why = one["explanation"]
        assert sum(signal["added"] for signal in why["signals"].values()) == pytest.approx(
            why["score"], abs=1e-4
        )
