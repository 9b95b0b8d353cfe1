"""A question how something is finds the newest statement first, and what was so before right behind it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from cProfile import Profile
from pstats import Stats

import msgspec
import pytest

from conversation.world import staged
from souvenance.adapters.embed.local import packaged
from souvenance.core.embedding import embed_some
from souvenance.gate.conversation.messages import ADD_MESSAGES, SEARCH_PEER

WHERE = ("", "/peers/alice")
BAND = ("My favourite band is Radiohead", "I think Aurora has become my favourite band")
HOME = ("I live in Oslo, near the harbour", "Actually I moved to Bergen last weekend!")
DENTIST = ("My dentist is Dr Lee, she is great", "I switched to a new dentist, Dr Patel")
PHONE = ("My phone number is 555 1234", "I got a new phone number: 555 9876")
MEETING = ("The meeting with Anna is on Tuesday", "The meeting with Anna has been moved to Friday at 11")
DAY = ("We deploy on Fridays", "We no longer deploy on Fridays, Tuesdays only")


BESIDE = (
    "The weather was awful all weekend",
    "Tried a curry recipe with lentils",
    "I lost my umbrella on the bus",
    "The neighbours are building a fence",
    "We watched the football match at the pub",
    "I planted tomatoes on the balcony",
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
    embed_some(stage.world.store, stage.world.services)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is my favourite band?", BAND),
        ("Where do I live?", HOME),
        ("Who is my dentist?", DENTIST),
        ("What's my phone number?", PHONE),
    ],
)
def test_what_is_so_now_comes_before_what_was_so_and_both_are_found(stage, where, asked, told):
    tell(stage, *told)
    assert stage.owner.search(where, asked)[:2] == [*reversed(told)]
    assert stage.owner.search(where, asked, limit=1) == [told[1]]


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
        ("What is my favourite band?", BAND),
        ("When is the meeting with Anna?", MEETING),
        ("What's my phone number?", PHONE),
        ("On which day do we deploy?", DAY),
    ],
)
def test_of_two_lines_that_say_nearly_the_same_the_newer_comes_first(near, asked, told):
    tell(near, *told, thought=False)
    assert near.owner.search("", asked)[:2] == [*reversed(told)]


@pytest.mark.parametrize(
    ("asked", "mine", "other"),
    [
        ("Where does my mother live?", "My mother lives in Dublin", "I planted beans in March"),
        ("Do I eat meat?", "I eat meat twice a week", "The butcher closed last winter"),
    ],
)
def test_a_newer_line_about_something_else_stays_behind(near, asked, mine, other):
    tell(near, mine, other, thought=False)
    assert near.owner.search("", asked)[0] == mine


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
    ],
)
def test_a_question_about_how_it_was_is_not_told_how_it_is(stage, asked):
    tell(stage, *BAND)
    for one in stage.owner.told("POST", "/search", {"query": asked, "explain": True}):
        assert "replaces_older" not in one["explanation"]["signals"]


def test_the_newer_line_says_that_it_takes_the_place_of_the_older(stage):
    tell(stage, *HOME)
    now, before = stage.owner.told("POST", "/search", {"query": "Where do I live?", "explain": True})
    assert (now["content"], now["explanation"]["rank"]) == (HOME[1], 1)
    assert now["explanation"]["score"] > before["explanation"]["score"] - 1e-9
    assert "replaces_older" in now["explanation"]["signals"]
    assert "replaces_older" not in before["explanation"]["signals"]
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
        stage.world.call(ADD_MESSAGES, stage.owner_cap, msgspec.convert(said, ADD_MESSAGES.request))
        stage.rest()
    assert stage.owner.search("", "Where do I live?", limit=1) == [HOME[1]]
    narrow = stage.speaker(stage.cap(namespaces_allowed=["home"]))
    assert narrow.search("", "Where do I live?") == [HOME[0]]


def test_a_newer_line_that_tells_something_else_of_the_same_person_stays_where_it_is(stage):
    tell(stage, "My sister is a nurse", "My sister is in Paris this week", thought=False)
    asked = {"query": "What is my sister's job?", "explain": True}
    for one in stage.owner.told("POST", "/search", asked):
        assert "replaces_older" not in one["explanation"]["signals"]


def calls_of_a_search(folder, likings):
    """How many calls a search takes that was made before, where a peer likes so many things."""
    folder.mkdir()
    with staged(folder) as stage:
        stage.owner.say("s", *(f"Likes: tea {number}" for number in range(likings)))
        stage.rest()
        asked = {"workspace_id": "w", "peer_id": "alice", "query": "Which tea do I like?", "limit": 10}
        request = msgspec.convert(asked, SEARCH_PEER.request)
        stage.world.call(SEARCH_PEER, stage.owner_cap, request)
        with Profile() as profile:
            stage.world.call(SEARCH_PEER, stage.owner_cap, request)
        return Stats(profile).total_calls


def test_a_search_costs_no_more_for_all_that_is_known_of_a_peer_and_not_asked(tmp_path):
    few, many = calls_of_a_search(tmp_path / "few", 20), calls_of_a_search(tmp_path / "many", 95)
    assert many < 1.5 * few


def test_what_another_says_of_themselves_outdates_nothing(stage):
    stage.owner.say("s", ("alice", BAND[0]), created_at="2026-01-10T12:00:00Z")
    stage.owner.say("t", ("bob", BAND[1]), created_at="2026-02-10T12:00:00Z")
    for one in stage.owner.told("POST", "/search", {"query": "What is my favourite band?", "explain": True}):
        assert "replaces_older" not in one["explanation"]["signals"]


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
