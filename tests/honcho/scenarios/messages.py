"""Messages: kept in order, with their times and metadata, and never lost or made up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

from scenarios.claims import equal
from scenarios.registry import scenario


@scenario("Session.add_messages")
async def messages_are_kept_as_they_were_said(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    talk = await world.honcho.session("talk")
    one = await talk.add_messages(ann.message("Hello Bob", metadata={"mood": "good"}))
    more = await talk.add_messages([bob.message("Hello Ann ☀"), ann.message("")])
    stored = [*one, *more]
    equal([message.content for message in stored], ["Hello Bob", "Hello Ann ☀", ""])
    equal([message.peer_id for message in stored], ["ann", "bob", "ann"])
    equal({(message.session_id, message.workspace_id) for message in stored}, {("talk", world.workspace)})
    equal((stored[0].metadata, stored[1].metadata), ({"mood": "good"}, {}))
    assert stored[0].token_count > 0 and stored[2].token_count == 0, [one.token_count for one in stored]
    equal(len({message.id for message in stored}), 3)
    equal({one.id for one in await talk.peers()}, {"ann", "bob"})


@scenario("Session.add_messages")
async def the_time_a_message_was_said_is_kept(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    east = datetime(2021, 5, 1, 9, 30, 15, 250000, tzinfo=timezone(timedelta(hours=2)))
    naive = datetime(2020, 1, 1, 12, 0)  # noqa: DTZ001 - as many callers write it
    times = [naive, east, "2022-02-02T02:02:02Z"]
    wanted = [
        datetime(2020, 1, 1, 12, 0, tzinfo=UTC),
        east.astimezone(UTC),
        datetime(2022, 2, 2, 2, 2, 2, tzinfo=UTC),
    ]
    said = await talk.add_messages([ann.message(f"at {time}", created_at=time) for time in times])
    equal([message.created_at for message in said], wanted)
    equal([message.created_at async for message in await talk.messages()], wanted)
    [now] = await talk.add_messages(ann.message("now"))
    assert abs(now.created_at - datetime.now(UTC)) < timedelta(minutes=5), now.created_at


@scenario("Session.messages")
async def messages_are_listed_in_the_order_they_came(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    lines = [f"line {number}" for number in range(7)]
    old = datetime(2019, 1, 1, tzinfo=UTC)
    await talk.add_messages([ann.message(line) for line in lines[:4]])
    await talk.add_messages([ann.message(line, created_at=old) for line in lines[4:]])
    equal([message.content async for message in await talk.messages(size=3)], lines)
    page = await talk.messages(size=3, page=2)
    equal(([message.content for message in page.items], page.total, page.pages), (lines[3:6], 7, 3))
    backwards = await talk.messages(size=3, reverse=True)
    equal([message.content for message in backwards.items], lines[:3:-1])
    equal([message.content async for message in backwards], lines[::-1])


@scenario("Session.messages")
async def messages_are_filtered(world):
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    talk = await world.honcho.session("talk")
    old = datetime(2019, 1, 1, tzinfo=UTC)
    await talk.add_messages(
        [
            ann.message("one", metadata={"topic": "boats", "weight": 1}, created_at=old),
            bob.message("two", metadata={"topic": "boats", "weight": 12}),
            ann.message("three", metadata={"topic": "bread", "weight": "heavy"}),
        ]
    )

    async def found(filters):
        return [message.content for message in (await talk.messages(filters=filters)).items]

    equal(await found({"peer_id": "ann"}), ["one", "three"])
    equal(await found({"metadata": {"topic": "boats"}}), ["one", "two"])
    equal(await found({"metadata": {"weight": {"gt": 3}}}), ["two"])
    equal(await found({"created_at": {"lt": "2020-01-01"}}), ["one"])
    equal(await found({"AND": [{"peer_id": {"ne": "bob"}}, {"metadata": {"topic": "bread"}}]}), ["three"])
    equal(await found({"peer_id": "*"}), ["one", "two", "three"])
    equal(await found({"peer_id": {"in": []}}), [])
    for wrong in ({"flavour": 1}, {"peer_id": {"like": "a"}}, {"created_at": {"gte": None}}, {"AND": {}}):
        await world.refused(talk.messages(filters=wrong), world.sdk.UnprocessableEntityError)


@scenario("Session.get_message", "Session.update_message")
async def a_message_can_be_read_and_given_other_metadata(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    [message] = await talk.add_messages(ann.message("Hello", metadata={"a": 1}))
    updated = await talk.update_message(message, {"b": 2})
    equal((updated.id, updated.content, updated.metadata), (message.id, "Hello", {"b": 2}))
    await talk.update_message(message.id, {"c": [3]})
    got = await talk.get_message(message.id)
    equal((got.content, got.metadata, got.created_at), ("Hello", {"c": [3]}, message.created_at))
    equal(got.token_count, message.token_count)
    other = await world.honcho.session("other")
    await world.refused(other.get_message(message.id), world.sdk.NotFoundError)
    await world.refused(talk.get_message("no-such-message-in-it"), world.sdk.NotFoundError)


@scenario("Session.add_messages")
async def a_batch_has_limits_and_is_taken_whole_or_not_at_all(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    refused = world.sdk.UnprocessableEntityError
    await world.refused(talk.add_messages([ann.message("x")] * 101), refused)
    await world.refused(talk.add_messages([]), refused)
    await world.refused(talk.add_messages([ann.message("fine"), ann.message("x" * 25_001)]), refused)
    stranger = world.types.MessageCreateParams(content="hello", peer_id="not a name")
    await world.refused(talk.add_messages([ann.message("fine"), stranger]), refused)
    equal((await talk.messages()).total, 0)
    said = await talk.add_messages([ann.message(f"{number}" + "x" * 240) for number in range(100)])
    equal(len(said), 100)
    equal((await talk.add_messages(ann.message("y" * 25_000)))[0].content, "y" * 25_000)
    equal((await talk.messages(size=100)).total, 101)


@scenario("Session.add_messages", "Honcho.peer", flavours=("aio",))
async def many_writers_at_once_lose_nothing_and_keep_their_order(world):
    peers = await asyncio.gather(*(world.honcho.peer(f"peer-{number % 5}") for number in range(20)))
    equal((await world.honcho.peers()).total, 5)
    talk = await world.honcho.session("talk")

    async def writes(peer):
        for number in range(8):
            await talk.add_messages([peer.message(f"{number} first"), peer.message(f"{number} second")])

    await asyncio.gather(*(writes(peer) for peer in peers[:5]))
    stored = [message async for message in await talk.messages(size=30)]
    wanted = [f"{number} {part}" for number in range(8) for part in ("first", "second")]
    for peer in peers[:5]:
        equal([message.content for message in stored if message.peer_id == peer.id], wanted)
    equal(len({message.id for message in stored}), len(stored))
