"""The context of a session: the picture of a peer, a summary and the newest messages, within a budget."""

from __future__ import annotations

import pytest

SUMMARY_SHARE = 0.4


def counted(stage, text):
    return stage.world.services.tokenizer.count(text)


def lengths(owner, session="s"):
    return [one["token_count"] for one in owner.messages(session)]


def newest_that_fit(counts, budget):
    """How many of the last messages fit together."""
    fitting = 0
    for count in reversed(counts):
        budget -= count
        if budget < 0:
            break
        fitting += 1
    return fitting


def talk(owner, number, session="s"):
    for index in range(number):
        owner.say(session, f"line {index} " + "and so on " * (index % 5))


def test_the_newest_messages_that_fit_are_told_in_their_order(owner):
    talk(owner, 15)
    counts, texts = lengths(owner), owner.texts("s")
    for budget in [*range(40), sum(counts) - 1, sum(counts), sum(counts) + 1]:
        found = owner.context("s", tokens=budget, summary=False)["messages"]
        fitting = newest_that_fit(counts, budget)
        assert [one["content"] for one in found] == texts[len(texts) - fitting :], budget


def test_without_a_budget_everything_recent_is_told(owner):
    talk(owner, 15)
    answer = owner.context("s")
    assert [one["content"] for one in answer["messages"]] == owner.texts("s")
    assert (answer["id"], answer["summary"], answer["peer_representation"]) == ("s", None, None)


def test_a_long_session_is_read_back_as_far_as_the_budget_goes(owner):
    for batch in range(4):
        owner.say("s", *(f"line {batch} {number}" for number in range(100)))
    counts = lengths_of_all(owner)
    found = owner.context("s", tokens=600, summary=False)["messages"]
    assert len(found) == newest_that_fit(counts, 600) > 100


def lengths_of_all(owner):
    pages = (owner.messages("s", page=page) for page in range(1, 5))
    return [one["token_count"] for page in pages for one in page]


@pytest.mark.parametrize("wrong", [{"tokens": 100_001}, {"tokens": -1}, {"tokens": "many"}], ids=str)
def test_a_budget_that_makes_no_sense_is_refused(owner, wrong):
    assert owner.code("GET", "/sessions/s/context", params=wrong) == (422, "invalid_input")


def test_an_unknown_session_s_context_is_empty(owner):
    expected = {"id": "none", "messages": [], "summary": None, "peer_representation": None, "peer_card": None}
    assert owner.context("none") == expected


def test_a_summary_is_told_if_it_takes_no_more_than_its_share_and_messages_begin_with_its_last(stage, owner):
    talk(owner, 25)
    stage.rest()
    short, _ = owner.summaries("s")
    counts = lengths(owner)
    least = next(tokens for tokens in range(1000) if tokens * SUMMARY_SHARE >= short["token_count"])
    for budget in (least - 1, least, least + 1, 5000):
        answer = owner.context("s", tokens=budget)
        taken = short["token_count"] if budget >= least else 0
        assert answer["summary"] == (short if taken else None), budget
        tail = counts[19:] if taken else counts
        assert len(answer["messages"]) == newest_that_fit(tail, budget - taken)
        assert taken + sum(one["token_count"] for one in answer["messages"]) <= budget
    assert owner.context("s", tokens=5000)["messages"][0]["id"] == short["message_id"]


def test_no_summary_is_told_if_none_is_wanted(stage, owner):
    talk(owner, 20)
    stage.rest()
    answer = owner.context("s", summary=False)
    assert answer["summary"] is None
    assert len(answer["messages"]) == 20


def test_of_two_summaries_that_fit_the_longer_is_told(stage, owner):
    talk(owner, 60)
    owner.say("s", *(f"more {number}" for number in range(20)))
    stage.rest()
    short, long = owner.summaries("s")
    fuller = max((short, long), key=lambda one: one["token_count"])
    assert owner.context("s")["summary"] == fuller


def test_the_picture_of_a_peer_and_its_card_are_taken_off_what_messages_may_have(stage, owner):
    owner.say("s", *(f"I have a dog called Rex{number}. I own {number} bikes." for number in range(12)))
    stage.rest()
    for budget in (0, 100, 300, 1000, 5000):
        answer = owner.context("s", peer_target="alice", tokens=budget)
        assert answer["peer_card"] == owner.card()
        cost = counted(stage, answer["peer_representation"])
        card = sum(counted(stage, entry) for entry in answer["peer_card"])
        most, least = (newest_that_fit(lengths(owner), budget - share * cost - card) for share in (1, 1.5))
        assert least <= len(answer["messages"]) <= most, budget
    assert answer["peer_representation"] == owner.representation()


def test_a_perspective_tells_that_peer_s_picture(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {}})
    owner.conclude("is shy", "alice", "alice")
    owner.conclude("seems proud", "bob", "alice")
    own = owner.context("s", peer_target="alice")["peer_representation"]
    other = owner.context("s", peer_target="alice", peer_perspective="bob")["peer_representation"]
    assert ("is shy" in own, "seems proud" in own) == (True, False)
    assert ("is shy" in other, "seems proud" in other) == (False, True)


def test_a_perspective_needs_a_target(owner):
    asked = {"peer_perspective": "bob"}
    assert owner.code("GET", "/sessions/s/context", params=asked) == (422, "invalid_input")


@pytest.mark.parametrize(
    ("limit", "known"),
    [
        ({}, ["Oslo", "Ann", "Rex"]),
        ({"limit_to_session": True}, ["Ann"]),
        ({"sessions": ["s", "t"]}, ["Oslo", "Ann"]),
        ({"sessions": ["s"]}, ["Ann"]),
        ({"scope": "sc"}, ["Oslo", "Rex"]),
    ],
    ids=str,
)
def test_the_picture_can_be_limited_to_sessions_and_then_has_no_card(stage, owner, limit, known):
    owner.say("s", "My name is Ann.")
    owner.say("t", "I live in Oslo.")
    owner.say("u", "I have a dog called Rex.")
    owner.open("scopes", "sc")
    owner.told("POST", "/scopes/sc/sessions", {"session_ids": ["t", "u"]})
    stage.rest()
    answer = owner.context("s", peer_target="alice", **limit)
    told = answer["peer_representation"]
    assert [word for word in ("Oslo", "Ann", "Rex") if word in told] == known
    assert (answer["peer_card"] is None) == bool(limit)
    assert [one["content"] for one in answer["messages"]] == ["My name is Ann."]


def test_only_one_limit_may_be_named(owner):
    owner.open("scopes", "sc")
    asked = {"peer_target": "alice", "limit_to_session": True, "scope": "sc"}
    assert owner.code("GET", "/sessions/s/context", params=asked) == (422, "invalid_input")


def test_an_unknown_scope_is_said_to_be_unknown(owner):
    asked = {"peer_target": "alice", "scope": "none"}
    assert owner.code("GET", "/sessions/s/context", params=asked) == (404, "not_found")


def test_a_question_brings_what_answers_it_before_what_is_newest(stage, owner):
    owner.open("peers", "alice")
    owner.conclude("plays the bassoon")
    for number in range(10):
        stage.clock.advance(seconds=1)
        owner.conclude(f"walked {number} miles")
    asked = {"peer_target": "alice", "max_conclusions": 3}
    assert "bassoon" not in owner.context("s", **asked)["peer_representation"]
    found = owner.context("s", **asked, search_query="bassoon")["peer_representation"]
    assert "bassoon" in found
    assert found.count("\n[") == 3


def test_without_a_target_a_question_changes_nothing(owner):
    talk(owner, 3)
    assert owner.context("s", search_query="line") == owner.context("s")


HEAD = "## Explicit Observations\n\n"


def test_conclusions_are_a_heading_and_dated_lines_oldest_first_before_what_was_said(owner):
    owner.say("s", "I like tea.", created_at="2021-01-02T03:04:05Z")
    given = [("City: Oslo", "2024-03-01T12:30:05Z"), ("Name: Ann", "2021-01-02T03:04:05Z")]
    concluded = [
        {"content": text, "observer_id": "alice", "observed_id": "alice", "created_at": at}
        for text, at in given
    ]
    owner.told("POST", "/conclusions", {"conclusions": concluded})
    expected = (
        f"{HEAD}[2021-01-02 03:04:05] Name: Ann\n[2024-03-01 12:30:05] City: Oslo\n\n"
        "## Quoted Messages\n\n[2021-01-02 03:04:05] session s\nalice: I like tea."
    )
    assert owner.representation() == expected
    assert owner.told("GET", "/peers/alice/context")["representation"] == expected


def test_of_a_peer_of_whom_nothing_is_known_the_representation_is_empty(owner):
    owner.open("peers", "alice")
    assert owner.representation() == owner.representation("nobody") == ""
    answer = owner.told("GET", "/peers/alice/context")
    expected = {"peer_id": "alice", "target_id": "alice", "representation": "", "peer_card": None}
    assert answer in (expected, {**expected, "representation": None})


def test_a_representation_holds_the_newest_up_to_as_many_as_are_asked_for(stage, owner):
    owner.open("peers", "alice")
    for number in range(40):
        stage.clock.advance(seconds=1)
        owner.conclude(f"fact {number}")
    assert owner.representation().count("\n[") == 25
    few = owner.representation(max_conclusions=3)
    assert [line[-2:] for line in few.removeprefix(HEAD).splitlines()] == ["37", "38", "39"]
    assert owner.told("GET", "/peers/alice/context")["representation"].count("\n[") == 40


def test_what_was_concluded_most_often_is_told_where_that_is_asked_for(stage, owner):
    owner.open("peers", "alice")
    often = owner.conclude("is called Ann")
    with stage.world.store.write("w") as tx:
        line = tx.lines.view("w", often["id"], None)
        tx.lines.reinforce(line.compartment, line.id, 2)
    for number in range(10):
        stage.clock.advance(seconds=1)
        owner.conclude(f"fact {number}")
    few = {"max_conclusions": 4}
    assert "Ann" not in owner.representation(**few)
    assert "Ann" in owner.representation(**few, include_most_frequent=True)


@pytest.mark.parametrize(
    "limit",
    [{"session_id": "s"}, {"filters": {"session_id": "s"}}, {"filters": {"session_id": {"in": ["s"]}}}],
    ids=str,
)
def test_a_representation_can_be_limited_to_sessions(stage, owner, limit):
    owner.say("s", "My name is Ann.")
    owner.say("t", "I live in Oslo.")
    stage.rest()
    told = owner.representation(**limit)
    assert ("My name is Ann." in told, "Oslo" in told) == (True, False)


@pytest.mark.parametrize(
    "filters",
    [{"peer_id": "alice"}, {"session_id": {"ne": "s"}}, {"session_id": 3}, {"AND": []}, {"session_id": "*"}],
    ids=str,
)
def test_a_representation_s_filter_names_sessions_or_is_refused(stage, owner, filters):
    owner.say("s", "My name is Ann.")
    stage.rest()
    for path, more in (("representation", {}), ("chat", {"query": "Ann"})):
        answer = owner.ask("POST", f"/peers/alice/{path}", {"filters": filters, **more})
        assert answer.status_code == 422 or "Ann" not in answer.text
