"""Representations: what an observer knows of the observed, rendered, soon after it was said."""

from __future__ import annotations

import re
import time
from itertools import count

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, TASTE, WORK, known, says
from scenarios.registry import scenario

LINE = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] \S", re.MULTILINE)


@scenario("Peer.representation")
async def what_was_said_is_in_the_representation(world):
    ann, _, _ = await says(world, "Hello!")
    equal(await ann.representation(), "")
    await known(world, INTRODUCTION, WORK)
    text = await ann.representation()
    assert "## Quoted Messages\n\n[" in text, text
    assert f"ann: {INTRODUCTION}" in text and f"ann: {WORK}" in text, text


@scenario("Peer.representation")
async def a_fact_shows_up_within_a_second_of_the_write(world):
    numbers = count()

    async def soon_enough():
        ann, _, _ = await says(world, "I live in Lisbon.", who=f"ann-{next(numbers)}")
        begun = time.monotonic()

        async def shown():
            return "Lisbon" in await ann.representation()

        await world.eventually(shown, "Lisbon never shows up")
        return time.monotonic() - begun < 1

    await world.eventually(soon_enough, "on no try, however busy the machine is, within a second")


@scenario("Peer.representation", "Session.representation")
async def a_representation_can_be_of_one_session(world):
    ann, talk, _ = await known(world, INTRODUCTION)
    _, other, _ = await known(world, "I play the cello.", where="other")
    whole = await ann.representation()
    assert "Lisbon" in whole and "cello" in whole, whole
    here = await ann.representation(session=talk)
    assert "Lisbon" in here and "cello" not in here, here
    there = await other.representation(ann)
    assert "cello" in there and "Lisbon" not in there, there


@scenario("Peer.representation", since="2.7.0")
async def a_representation_can_be_confined_to_some_sessions(world):
    ann, talk, _ = await known(world, INTRODUCTION)
    await known(world, "I own a grey goat.", where="second")
    await known(world, "I play the cello.", where="third")
    some = await ann.representation(sessions=[talk, "second"])
    assert "Lisbon" in some and "goat" in some and "cello" not in some, some
    for filters in ({"peer_id": "ann"}, {"session_id": {"ne": "talk"}}, {"session_id": None}):
        answer = world.raw("POST", "/peers/ann/representation", {"filters": filters})
        equal((filters, answer.status_code), (filters, 422))


@scenario("Peer.representation", "Session.representation", "ConclusionsView.representation")
async def a_representation_can_be_searched_and_cut(world):
    ann, talk, _ = await known(world, INTRODUCTION, WORK, TASTE, "I own a grey goat.")
    for searched in (
        await ann.representation(search_query="What bread?", search_top_k=1, max_conclusions=1),
        await talk.representation(ann, search_query="What bread?", search_top_k=1, max_conclusions=1),
        await ann.conclusions.representation(search_query="What bread?", search_top_k=1, max_conclusions=1),
    ):
        assert f"ann: {TASTE}" in searched, searched
    await ann.conclusions.create([{"content": f"noted {number}"} for number in range(3)])
    noted = (await ann.representation(max_conclusions=2)).partition("## Quoted Messages")[0]
    equal(len(LINE.findall(noted)), 2)
    everything = await ann.representation(search_query="bread", include_most_frequent=True)
    assert "noted 2" in everything and TASTE in everything, everything


@scenario("Peer.context")
async def a_peers_context_is_its_representation_and_card(world):
    ann, _, _ = await known(world, INTRODUCTION, TASTE)
    await ann.set_card(["Name: Ann"])
    context = await ann.context()
    equal((context.peer_id, context.target_id, context.peer_card), ("ann", "ann", ["Name: Ann"]))
    assert "Lisbon" in context.representation and "sourdough" in context.representation, context
    focused = await ann.context(
        search_query="bread", search_top_k=1, max_conclusions=1, include_most_frequent=False
    )
    assert f"ann: {TASTE}" in focused.representation, focused
    bob = await world.honcho.peer("bob")
    of_ann = await bob.context(target=ann)
    equal((of_ann.peer_id, of_ann.target_id, of_ann.peer_card), ("bob", "ann", None))
    assert not of_ann.representation, of_ann
