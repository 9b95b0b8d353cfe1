"""Cards: the few key facts, by hand or by themselves."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, WORK, known
from scenarios.registry import scenario


@scenario("Peer.get_card", "Peer.set_card", "Peer.card")
async def a_card_is_what_was_written_on_it(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    equal(await ann.get_card(), None)
    equal(await ann.set_card(["Name: Ann", "Likes ☕"]), ["Name: Ann", "Likes ☕"])
    equal(await ann.get_card(), ["Name: Ann", "Likes ☕"])
    equal(await bob.set_card(["A friend"], target=ann), ["A friend"])
    equal((await bob.get_card(ann), await ann.get_card()), (["A friend"], ["Name: Ann", "Likes ☕"]))
    equal((await bob.get_card(), await ann.get_card("bob")), (None, None))
    await ann.set_card(["Only this"])
    equal(await ann.card(), ["Only this"])


@scenario("Peer.get_card")
async def a_card_fills_itself_with_what_a_peer_says(world):
    ann, _, _ = await known(world, INTRODUCTION, WORK)
    card = await ann.get_card()
    assert card and any("Ann" in entry for entry in card), card
    assert any("Lisbon" in entry for entry in card), card


@scenario("Peer.get_card")
async def a_card_is_not_made_where_that_is_switched_off(world):
    off = world.types.SessionConfiguration(peer_card={"create": False})
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk", configuration=off)
    await talk.add_messages(ann.message(INTRODUCTION))
    await world.settled()
    assert "Lisbon" in await ann.representation()
    assert not await ann.get_card()
