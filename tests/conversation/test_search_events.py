"""Questions that look before or after something: when that was is told by the lines themselves."""

from __future__ import annotations

import pytest

ROWING = "I have started rowing as a hobby"
CHOIR = "I sing in a choir, my hobby for the winter"
MOVE = "I moved to Bergen last weekend, finally"
POTTERY = "I have started pottery as a hobby"
WHERE = ("", "/peers/alice", "/sessions/days")


def tell(owner, *days, session="days"):
    """Say each text on its day of 2026, given as month and day."""
    for day, text in days:
        owner.say(session, text, created_at=f"2026-{day}T12:00:00Z")


@pytest.fixture
def moved(owner):
    tell(owner, ("01-10", ROWING), ("02-01", CHOIR), ("03-10", MOVE), ("06-02", POTTERY))
    return owner


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("asked", "first", "second"),
    [
        ("what hobby did I start before the move?", ROWING, POTTERY),
        ("what hobby did I start after the move?", POTTERY, ROWING),
        ("what hobby have I started since I moved to Bergen?", POTTERY, ROWING),
        ("what hobby did I start until I moved?", ROWING, POTTERY),
    ],
)
def test_what_was_said_on_that_side_of_an_event_comes_before_what_was_not(moved, where, asked, first, second):
    found = moved.search(where, asked)
    assert found.index(first) < found.index(second)


def test_what_is_asked_about_comes_before_the_event_that_it_came_before(moved):
    found = moved.search("", "what hobby did I start before the move?")
    assert found.index(ROWING) < found.index(MOVE)


def test_what_was_said_while_something_was_so_comes_first(owner):
    best, worst = "I ate the best ramen of my life", "I ate the worst ramen of my life"
    days = (("a", "09-03", "I flew to Kyoto"), ("b", "09-05", best), ("c", "10-20", worst))
    for session, *told in days:
        tell(owner, told, session=session)
    assert owner.search("", "which ramen did I eat when I was in Kyoto?", limit=1) == [best]


def test_the_event_has_the_date_that_its_line_gives_and_not_that_of_the_line(owner):
    early, late = "I bought a lamp in a shop", "I bought a chair in a shop"
    tell(owner, ("01-05", "Our wedding will be on 1 May 2026"), ("03-01", early), ("06-01", late))
    assert owner.search("", "what did I buy in a shop after the wedding?", limit=1) == [late]
    assert owner.search("", "what did I buy in a shop before the wedding?", limit=1) == [early]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("what did I buy two weeks before the wedding?", "I bought a lamp in a shop"),
        ("what did I buy the week after the wedding?", "I bought a chair in a shop"),
        ("what did I buy a month after the wedding?", "I bought a rug in a shop"),
    ],
)
def test_what_was_said_so_far_from_an_event_comes_before_what_was_said_at_another_time(owner, asked, first):
    told = (("04-17", "lamp"), ("04-29", "desk"), ("05-05", "chair"), ("06-02", "rug"), ("07-30", "pan"))
    tell(owner, ("01-05", "Our wedding will be on 1 May 2026"))
    for day, thing in told:
        tell(owner, (day, f"I bought a {thing} in a shop"), session=thing)
    assert owner.search("", asked, limit=1) == [first]


def ranking(owner, query, where="", **more):
    """The hobbies, in the order in which they are found."""
    return [text for text in owner.search(where, query, **more) if text in (ROWING, POTTERY)]


@pytest.mark.parametrize(
    "untold",
    [
        [],
        [("02-20", "Some day I will move")],
        [("02-20", "When will you move?")],
        [("02-20", "I sleep badly since the move")],
        [("01-20", "I moved to Oslo"), ("05-20", "I moved to Turin"), ("09-20", "I moved to Lima")],
    ],
)
def test_an_event_of_which_no_line_surely_tells_changes_nothing(owner, untold):
    tell(owner, ("01-10", ROWING), ("06-02", POTTERY), *untold)
    assert ranking(owner, "what hobby did I start before the move?") == [POTTERY, ROWING]
    for one in owner.told("POST", "/search", {"query": "hobby before the move", "explain": True}):
        assert "side" not in one["explanation"]["signals"]


def test_an_event_out_of_the_request_s_bounds_tells_it_nothing(owner):
    tell(owner, ("01-10", ROWING), ("06-02", POTTERY))
    tell(owner, ("03-10", MOVE), session="elsewhere")
    asked = "what hobby did I start before the move?"
    assert ranking(owner, asked) == [ROWING, POTTERY]
    assert ranking(owner, asked, "/sessions/days") == [POTTERY, ROWING]
    since = {"created_at": {"gt": "2026-05-01T00:00:00Z"}}
    (found,) = owner.told("POST", "/search", {"query": asked, "filters": since, "explain": True})
    assert "side" not in found["explanation"]["signals"]


def test_an_event_that_a_peer_did_not_witness_tells_nothing_in_its_perspective(owner):
    owner.say("days", ("bob", "hello"))
    tell(owner, ("01-10", ROWING), ("06-02", POTTERY))
    tell(owner, ("03-10", MOVE), session="secret")
    asked = "what hobby did I start before the move?"
    seen = {"query": asked, "filters": {"peer_perspective": "alice"}, "explain": True}
    assert any("side" in one["explanation"]["signals"] for one in owner.told("POST", "/search", seen))
    unseen = owner.told("POST", "/search", {**seen, "filters": {"peer_perspective": "bob"}})
    assert {ROWING, POTTERY} <= {one["content"] for one in unseen}
    assert not any("side" in one["explanation"]["signals"] for one in unseen)


def test_a_question_with_a_date_goes_by_that(moved):
    asked = {"query": "what hobby did I start after the move in May?", "explain": True}
    for one in moved.told("POST", "/search", {**asked, "at": "2026-07-01T09:00:00Z"}):
        assert "side" not in one["explanation"]["signals"]


def test_the_floor_does_not_mind_on_which_side_of_an_event_a_line_lies(moved):
    assert moved.search("", "what about pottery before the move?", floor=True)
    assert moved.search("", "what about zeppelins before the feast?", floor=True) == []
