"""A question how something is finds the newest statement first, and what was so before right behind it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from cProfile import Profile
from pstats import Stats

import msgspec
import pytest

from conversation.world import staged
from mnemon.adapters.embed.packaged import packaged
from mnemon.core.embedding import embed_some
from mnemon.gate.conversation import operations as o

WHERE = ("", "/peers/alice")
BAND = ("My favourite band is Radiohead", "I think Aurora has become my favourite band")
HOME = ("I live in Oslo, near the harbour", "Actually I moved to Bergen last weekend!")
DENTIST = ("My dentist is Dr Lee, she is great", "I switched to a new dentist, Dr Patel")
PHONE = ("My phone number is 555 1234", "I got a new phone number: 555 9876")
CAR = ("I drive a Skoda", "I sold the Skoda and drive a Kia now")
MEETING = ("The meeting with Anna is on Tuesday", "The meeting with Anna has been moved to Friday at 11")
DAY = ("We deploy on Fridays", "We no longer deploy on Fridays, Tuesdays only")
EDITOR = ("I use Vim for everything", "I gave up Vim, I use Emacs instead these days")
WORK = ("I work at Google as an engineer", "I quit Google and started at Acme")


BESIDE = (
    "The weather was awful all weekend",
    "Tried a curry recipe with lentils",
    "I lost my umbrella on the bus",
    "The neighbours are building a fence",
    "We watched the football match at the pub",
    "I planted tomatoes on the balcony",
)
MANY = tuple(
    f"My {thing} is in the {room}"
    for thing in ("atlas", "kite", "drum")
    for room in ("hall", "attic", "shed", "loft")
)


@pytest.fixture(scope="module")
def embedder(vectors):
    return packaged()


@pytest.fixture(params=["words", "meaning"])
def stage(request, tmp_path):
    """A stage without an embedder, and with one."""
    embedder = request.getfixturevalue("embedder") if request.param == "meaning" else None
    with staged(tmp_path, embedder=embedder) as stage:
        yield stage


def tell(stage, *texts, thought=True, peer="alice"):
    """Say each text a month after the one before it, in a session of its own."""
    for month, text in enumerate(texts, 1):
        stage.owner.say(f"s{month}", text, peer=peer, created_at=f"2026-{month:02}-10T12:00:00Z")
        if thought:
            stage.rest()
    embed_some(stage.world.book, stage.world.tools)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is my favourite band?", BAND),
        ("Where do I live?", HOME),
        ("Who is my dentist?", DENTIST),
        ("What's my phone number?", PHONE),
        ("Where do I work?", WORK),
    ],
)
def test_what_is_so_now_comes_before_what_was_so_and_both_are_found(stage, where, asked, told):
    tell(stage, *told)
    assert stage.owner.search(where, asked)[:2] == [*reversed(told)]
    assert stage.owner.search(where, asked, limit=1) == [told[1]]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is my favourite band?", BAND),
        ("Who is my dentist?", DENTIST),
        ("What car do I drive?", CAR),
        ("When is the meeting with Anna?", MEETING),
        ("On which day do we deploy?", DAY),
        ("Which editor do I use?", EDITOR),
    ],
)
def test_before_anything_is_concluded_the_wording_tells(stage, asked, told):
    tell(stage, *told, thought=False)
    assert stage.owner.search("", asked)[:2] == [*reversed(told)]


@pytest.fixture
def near(embedder, tmp_path):
    """A stage with an embedder, where somebody has said a few other things."""
    with staged(tmp_path, embedder=embedder) as stage:
        for day, text in enumerate(BESIDE, 1):
            stage.owner.say(f"b{day}", text, created_at=f"2026-01-{day:02}T09:00:00Z")
        yield stage


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "How much do I pay for the gym?",
            ("The gym costs 25 pounds a month", "The gym put its fee up to 32 pounds"),
        ),
        (
            "When is my dentist appointment?",
            ("My dentist appointment is on Tuesday", "The dentist moved me to Friday"),
        ),
        (
            "How much aspirin do I take?",
            ("I take 20 mg of aspirin", "The doctor lowered my aspirin to 10 mg"),
        ),
        ("Am I in a relationship?", ("I'm dating a guy called Marcus", "Marcus and I split up on Sunday")),
        (
            "Where do I work?",
            ("I work as a nurse at St James hospital", "I handed in my notice at the hospital"),
        ),
        ("¿Tengo novia?", ("Tengo una novia que se llama Marta", "Marta y yo rompimos la semana pasada")),
        ("我住在哪里？", ("我住在上海。", "我上个月搬到了杭州。")),
        ("会議はいつですか？", ("会議は月曜日の10時です。", "会議は水曜日の14時に変更になりました。")),
    ],
)
def test_what_lies_near_and_says_that_it_has_changed_comes_first_whatever_its_words(near, asked, told):
    tell(near, *told, thought=False)
    assert near.owner.search("", asked)[:2] == [*reversed(told)]


@pytest.mark.parametrize(
    ("asked", "mine", "other"),
    [
        ("How much is my rent?", "My rent is 900 pounds", "My sister's rent was raised to 1,200 pounds"),
        ("When does my flight leave?", "My flight leaves at 7", "Anna's flight was pushed back to 9"),
        (
            "How much is my car insurance?",
            "My car insurance is 400 a year",
            "The house insurance went up to 650",
        ),
        (
            "Which port does the staging server use?",
            "The staging server is on port 80",
            "I moved the build server to 90",
        ),
        (
            "When does our train to Wales leave?",
            "Our train to Wales leaves at 8",
            "The train to Hull was delayed to 9",
        ),
        ("Where does my mother live?", "My mother lives in Dublin", "I moved to Cork in March"),
        ("Do I eat meat?", "I eat meat twice a week", "Priya has stopped eating meat altogether"),
        ("我住在哪里？", "我住在上海。", "我妹妹搬到了北京。"),
    ],
)
def test_a_change_in_what_is_another_s_or_another_thing_outdates_nothing(near, asked, mine, other):
    tell(near, mine, other, thought=False)
    assert near.owner.search("", asked)[0] == mine


@pytest.fixture
def crowded(stage):
    """A stage where so much was said that what is far from a question is not among its best ten."""
    for day, text in enumerate(MANY, 1):
        stage.owner.say(f"b{day}", text, created_at=f"2026-01-{day:02}T09:00:00Z")
    return stage


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "Who is my dentist?",
            ("My dentist is Dr. Keller", "Keller retired. A woman called Amsel has my teeth"),
        ),
        ("Who do I report to?", ("I report to Moira", "Moira handed in her notice, Tess starts on Monday")),
        (
            "Who supplies our tea?",
            ("Our tea comes from Fenwick", "Fenwick got too dear, so it's Marlowe now"),
        ),
        ("What car do I drive?", ("I drive a Fiesta", "the Fiesta's gone to scrap, got a bicycle")),
        (
            "Wer ist mein Hausarzt?",
            ("Mein Hausarzt ist Dr. Keller", "Keller ist in Rente, ich gehe nun zu Amsel"),
        ),
        ("Where do I live?", ("I live in Oslo", "We got the keys to the flat in Bergen")),
        ("Wo wohne ich?", ("Ich wohne in Köln", "Wir sind nach Kiel gezogen")),
        ("¿Dónde vivo?", ("Vivo en Vigo", "Me he mudado a Lugo")),
        ("Où est-ce que j'habite ?", ("J'habite à Lille", "On a déménagé à Lens")),
        ("どこに住んでいますか。", ("奈良に住んでいます。", "先月、神戸に引っ越しました。")),
    ],
)
def test_what_names_the_old_and_ends_it_comes_first_however_far_it_is_from_the_question(crowded, asked, told):
    tell(crowded, *told, thought=False)
    assert crowded.owner.search("", asked)[:2] == [*reversed(told)]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Who is my dentist?", ("My dentist is Dr. Keller", "Keller left a note on the door")),
        ("Who is my dentist?", ("My dentist is Dr. Keller", "Keller's brother retired")),
        ("What car do I drive?", ("I drive a Fiesta", "My sister sold the Fiesta")),
        ("When do I play squash?", ("I play squash on Mondays, with Moira", "Moira retired in June")),
        ("Where do I live?", ("I live in Oslo", "My sister moved in with Tess")),
    ],
)
def test_what_names_the_old_and_does_not_end_it_comes_behind(crowded, asked, told):
    tell(crowded, *told, thought=False)
    assert crowded.owner.search("", asked)[0] == told[0]


def test_whenever_they_came_to_be_known_what_was_said_last_comes_first(stage):
    for month, text in (("06", BAND[1]), ("01", BAND[0])):
        stage.owner.say(f"s{month}", text, created_at=f"2026-{month}-10T12:00:00Z")
        stage.rest()
    assert stage.owner.search("", "What is my favourite band?")[:2] == [*reversed(BAND)]


@pytest.mark.parametrize(
    "asked",
    [
        "What did I say my favourite band was?",
        "What was my favourite band originally?",
        "my favourite band before",
    ],
)
def test_a_question_about_how_it_was_is_not_told_how_it_is(stage, asked):
    tell(stage, *BAND)
    for one in stage.owner.told("POST", "/search", {"query": asked, "explain": True}):
        assert "update" not in one["explanation"]["signals"]


def test_the_newer_line_says_that_it_takes_the_place_of_the_older(stage):
    tell(stage, *HOME)
    now, before = stage.owner.told("POST", "/search", {"query": "Where do I live?", "explain": True})
    assert (now["content"], now["explanation"]["rank"]) == (HOME[1], 1)
    assert now["explanation"]["score"] > before["explanation"]["score"] - 1e-9
    assert now["explanation"]["signals"]["update"]["rank"] is None
    assert "update" not in before["explanation"]["signals"]
    added = sum(signal["added"] for signal in now["explanation"]["signals"].values())
    assert added == pytest.approx(now["explanation"]["score"], abs=1e-4)


def test_a_message_that_outdates_several_says_what_it_lacked_for_the_best_of_them(stage):
    older = ("I live in Oslo, where I live near the harbour", "I live in Lima, where I live alone")
    tell(stage, *older, HOME[1])
    now, *before = stage.owner.told("POST", "/search", {"query": "Where do I live?", "explain": True})
    assert (now["content"], {one["content"] for one in before}) == (HOME[1], {*older})
    added = sum(signal["added"] for signal in now["explanation"]["signals"].values())
    assert added == pytest.approx(now["explanation"]["score"], abs=1e-4)


def test_what_was_said_in_another_namespace_outdates_it_too_where_both_may_be_looked_at(stage):
    for month, (namespace, text) in enumerate(zip(("home", "travel"), HOME, strict=True), 1):
        message = {"peer_id": "alice", "content": text, "created_at": f"2026-{month:02}-10T12:00:00Z"}
        said = {"workspace_id": "w", "session_id": namespace, "namespace": namespace, "messages": [message]}
        stage.world.call(o.ADD_MESSAGES, stage.owner_cap, msgspec.convert(said, o.ADD_MESSAGES.request))
        stage.rest()
    assert stage.owner.search("", "Where do I live?", limit=1) == [HOME[1]]
    narrow = stage.speaker(stage.cap(namespaces_allowed=["home"]))
    assert narrow.search("", "Where do I live?") == [HOME[0]]


def test_a_newer_line_that_tells_something_else_of_the_same_person_stays_where_it_is(stage):
    tell(stage, "My sister is a nurse", "My sister is in Paris this week", thought=False)
    asked = {"query": "What is my sister's job?", "explain": True}
    for one in stage.owner.told("POST", "/search", asked):
        assert "update" not in one["explanation"]["signals"]


def calls_of_a_search(folder, likings):
    """How many calls a search takes that was made before, where a peer likes so many things."""
    folder.mkdir()
    with staged(folder) as stage:
        stage.owner.say("s", *(f"Likes: tea {number}" for number in range(likings)))
        stage.rest()
        asked = {"workspace_id": "w", "peer_id": "alice", "query": "Which tea do I like?", "limit": 10}
        request = msgspec.convert(asked, o.SEARCH_PEER.request)
        stage.world.call(o.SEARCH_PEER, stage.owner_cap, request)
        with Profile() as profile:
            stage.world.call(o.SEARCH_PEER, stage.owner_cap, request)
        return Stats(profile).total_calls


def test_a_search_costs_no_more_for_all_that_is_known_of_a_peer_and_not_asked(tmp_path):
    few, many = calls_of_a_search(tmp_path / "few", 20), calls_of_a_search(tmp_path / "many", 95)
    assert many < 1.5 * few


def test_a_newer_line_that_tells_nothing_of_it_stays_where_it_is(stage):
    told = ("My dentist is Dr Lee", "I have a dentist appointment on Friday")
    tell(stage, *told)
    for one in stage.owner.told("POST", "/search", {"query": "Who is my dentist?", "explain": True}):
        assert "update" not in one["explanation"]["signals"]


def test_what_another_says_of_themselves_outdates_nothing(stage):
    stage.owner.say("s", ("alice", BAND[0]), created_at="2026-01-10T12:00:00Z")
    stage.owner.say("t", ("bob", BAND[1]), created_at="2026-02-10T12:00:00Z")
    for one in stage.owner.told("POST", "/search", {"query": "What is my favourite band?", "explain": True}):
        assert "update" not in one["explanation"]["signals"]


def test_what_a_message_tells_beside_what_is_asked_brings_nothing_along(stage):
    both = "I live in Oslo and my favourite band is Radiohead"
    tell(stage, both, HOME[1])
    assert HOME[1] in stage.owner.search("", "Where do I live?")
    assert stage.owner.search("", "What is my favourite band?", limit=1) == [both]


def test_a_message_out_of_the_request_s_bounds_outdates_nothing(stage):
    tell(stage, *HOME)
    assert stage.owner.search("/sessions/s1", "Where do I live?") == [HOME[0]]
    early = {"created_at": {"lt": "2026-02-01T00:00:00Z"}}
    assert stage.owner.search("", "Where do I live?", filters=early) == [HOME[0]]


@pytest.mark.embedded("it damages the file")
def test_a_card_that_does_not_open_keeps_no_message_from_being_found(stage, tmp_path):
    tell(stage, *HOME)
    with closing(sqlite3.connect(tmp_path / "book.db")) as raw, raw:
        assert raw.execute("UPDATE lines SET sealed = zeroblob(60) WHERE kind = 'card'").rowcount
    assert HOME[0] in stage.owner.search("", "Where do I live?")


def test_context_quotes_how_it_is_before_how_it_was(stage):
    tell(stage, *HOME)
    told = stage.owner.context("s2", peer_target="alice", search_query="Where do I live?")
    now, _, before = told["peer_representation"].partition("## Quoted Messages")[2].partition("Bergen")
    assert ("Oslo" in now, "Oslo" in before) == (False, True)
