"""Clones: a copy of a session with a name of its own, and nothing of anybody else's."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import says
from scenarios.registry import scenario


@scenario("Session.clone")
async def a_clone_has_the_same_messages_and_members(world):
    ann, talk, said = await says(world, "one", "two", "three")
    await talk.set_metadata({"colour": "blue"})
    await talk.add_peers(("bob", world.types.SessionPeerConfig(observe_others=True)))
    clone = await talk.clone()
    assert clone.id != talk.id and clone.is_active
    equal(clone.metadata, {"colour": "blue"})
    copied = [message async for message in await clone.messages()]
    equal([message.content for message in copied], ["one", "two", "three"])
    equal([message.created_at for message in copied], [message.created_at for message in said])
    equal([message.token_count for message in copied], [message.token_count for message in said])
    assert not {message.id for message in copied} & {message.id for message in said}
    equal({one.id for one in await clone.peers()}, {"ann", "bob"})
    equal((await clone.get_peer_configuration("bob")).observe_others, True)
    await clone.add_messages(ann.message("four"))
    equal(((await clone.messages()).total, (await talk.messages()).total), (4, 3))

    async def found():
        return [message.content for message in await clone.search("two", limit=1)]

    equal(await world.eventually(found, "the clone's messages are never found"), ["two"])


@scenario("Session.clone")
async def a_clone_can_end_at_a_message(world):
    _, talk, said = await says(world, "one", "two", "three")
    clone = await talk.clone(message_id=said[1].id)
    equal([message.content async for message in await clone.messages()], ["one", "two"])
    missing = talk.clone(message_id="no-such-message-in-it")
    await world.refused(missing, world.sdk.NotFoundError)
    other = await world.honcho.session("other")
    await world.refused(other.clone(message_id=said[1].id), world.sdk.NotFoundError)


@scenario("Session.clone")
async def a_clone_never_takes_from_another_workspace(world):
    await says(world, "The safe's number is 4711.", where="same-name")
    elsewhere = world.client(f"{world.workspace}-elsewhere")
    empty = await elsewhere.session("same-name")
    clone = await empty.clone()
    equal([message.content async for message in await clone.messages()], [])
    equal(await elsewhere.search("safe number"), [])
