"""Search on messages: in a session, by a peer, in the workspace, and through a peer's eyes."""

from __future__ import annotations

from datetime import UTC, datetime

from scenarios.claims import equal
from scenarios.conversations import says
from scenarios.registry import scenario


def contents(messages):
    return [message.content for message in messages]


async def harbour(world):
    """Three conversations of two people, all of them about harbours."""
    ann, first, _ = await says(world, "The harbour opens at six.", "I had bread for lunch.", where="first")
    bob, second, _ = await says(world, "Our harbour was built in 1755.", who="bob", where="second")
    await says(world, "Nobody swims in the harbour.", who="ann", where="third")

    async def indexed():
        return len(await world.honcho.search("harbour")) == 3

    await world.eventually(indexed, "the messages about the harbour are never found")
    return ann, bob, first, second


@scenario("Session.search", "Peer.search", "Honcho.search")
async def a_word_is_found_where_it_was_said_and_by_whom(world):
    ann, bob, first, second = await harbour(world)
    equal(contents(await first.search("harbour")), ["The harbour opens at six."])
    equal(contents(await second.search("harbour")), ["Our harbour was built in 1755."])
    of_ann = {"The harbour opens at six.", "Nobody swims in the harbour."}
    equal(set(contents(await ann.search("harbour"))), of_ann)
    equal(contents(await bob.search("harbour")), ["Our harbour was built in 1755."])
    found = await world.honcho.search("When the harbour opens", limit=1)
    equal(contents(found), ["The harbour opens at six."])
    equal((found[0].peer_id, found[0].session_id), ("ann", "first"))
    equal(len(await world.honcho.search("harbour", limit=2)), 2)
    equal(await first.search("zeppelin"), [])


@scenario("Honcho.search")
async def a_search_is_narrowed_by_filters(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    old = datetime(2019, 1, 1, tzinfo=UTC)
    await talk.add_messages(
        [
            ann.message("A storm in the north", metadata={"place": "north"}, created_at=old),
            ann.message("A storm in the south", metadata={"place": "south"}),
        ]
    )

    async def found(filters):
        return contents(await world.honcho.search("storm", filters=filters))

    await world.eventually(lambda: found({"session_id": "talk"}), "the storms are never found")
    equal(await found({"metadata": {"place": "north"}}), ["A storm in the north"])
    equal(await found({"created_at": {"gte": "2020-01-01"}}), ["A storm in the south"])
    equal(await found({"peer_id": "bob"}), [])
    equal(
        await found({"session_id": {"in": ["talk"]}, "metadata": {"place": "south"}}),
        ["A storm in the south"],
    )
    await world.refused(found({"wind": 1}), world.sdk.UnprocessableEntityError)


@scenario("Honcho.search", "Session.search")
async def through_a_peers_eyes_only_its_sessions_are_seen_and_all_of_them(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    shared = await world.honcho.session("shared", peers=[ann, bob])
    alone = await world.honcho.session("alone", peers=[ann])
    old = datetime(2015, 6, 1, tzinfo=UTC)
    await shared.add_messages(ann.message("The comet of 2015 was green.", created_at=old))
    await shared.add_messages(bob.message("I saw no comet."))
    await shared.add_messages(bob.message("And then I went home."))
    await alone.add_messages(ann.message("The comet is my secret."))

    async def seen(peer, query="comet"):
        return set(contents(await world.honcho.search(query, filters={"peer_perspective": peer})))

    both = {"The comet of 2015 was green.", "I saw no comet."}

    async def indexed():
        return await seen("ann") == {*both, "The comet is my secret."}

    await world.eventually(indexed, "what Ann has seen of the comet is never found")
    equal(await seen("bob"), both)
    equal(await seen("nobody"), set())
    equal(set(contents(await shared.search("comet", filters={"peer_perspective": "bob"}))), both)
    equal(await alone.search("comet", filters={"peer_perspective": "bob"}), [])


@scenario("Session.search", "Peer.search", "Honcho.search")
async def punctuation_and_other_scripts_are_searched_too(world):
    ann, talk, _ = await says(world, "My code is A-17/b!", "私は東京に住んでいます。", "Grüße aus Köln")

    async def found(query):
        return contents(await talk.search(query, limit=1))

    await world.eventually(lambda: found("Köln"), "the greeting is never found")
    equal(await found("A-17/b!"), ["My code is A-17/b!"])
    equal(await found("東京"), ["私は東京に住んでいます。"])
    equal(await found("grüße"), ["Grüße aus Köln"])
    await world.refused(world.honcho.search("x", filters={"AND": 1}), world.sdk.UnprocessableEntityError)
    equal(contents(await ann.search("Köln", limit=1)), ["Grüße aus Köln"])
