"""Sessions: get-or-create, their configuration and members, their end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from scenarios.claims import equal
from scenarios.registry import scenario


@scenario("Honcho.session", "Session.metadata", "Session.created_at", "Session.is_active")
async def a_session_is_made_once_and_found_again(world):
    await world.honcho.get_metadata()
    equal([world.raw("POST", "/sessions", {"id": "other"}).status_code for _ in range(2)], [201, 200])
    talk = await world.honcho.session("talk", metadata={"a": 1})
    equal((talk.id, talk.metadata, talk.is_active), ("talk", {"a": 1}, True))
    assert abs(talk.created_at - datetime.now(UTC)) < timedelta(minutes=5), talk.created_at
    again = await world.honcho.session("talk")
    equal((again.metadata, again.created_at), ({"a": 1}, talk.created_at))
    await world.honcho.session("talk", metadata={"b": 2})
    equal((await world.honcho.session("talk")).metadata, {"b": 2})


@scenario("Session.set_configuration", "Session.get_configuration", "Session.configuration", "Session.aio")
async def configuration_of_a_session_is_merged_key_by_key(world):
    configuration = world.types.SessionConfiguration
    talk = await world.honcho.session("talk", configuration=configuration(reasoning={"enabled": False}))
    await world.honcho.session("talk", configuration=configuration(peer_card={"use": False}))
    await talk.set_configuration(configuration(summary={"enabled": True, "messages_per_short_summary": 15}))
    got = await talk.get_configuration()
    equal((got.reasoning.enabled, got.peer_card.use), (False, False))
    equal((got.summary.enabled, got.summary.messages_per_short_summary), (True, 15))
    equal(talk.configuration.model_dump(), got.model_dump())


@scenario("Session.set_metadata", "Session.get_metadata", "Session.refresh")
async def new_metadata_of_a_session_replaces_the_old(world):
    talk = await world.honcho.session("talk", metadata={"a": 1})
    other = await world.client().session("talk")
    await talk.set_metadata({"b": {"c": [1, "2"]}})
    equal(await other.get_metadata(), {"b": {"c": [1, "2"]}})
    await talk.set_metadata({})
    equal(other.metadata, {"b": {"c": [1, "2"]}})
    await other.refresh()
    equal((other.metadata, other.is_active), ({}, True))


@scenario("Honcho.sessions")
async def sessions_are_listed_filtered_and_turned_around(world):
    names = [f"talk-{number}" for number in range(3)]
    for number, name in enumerate(names):
        await world.honcho.session(name, metadata={"number": number})
    page = await world.honcho.sessions(size=2)
    equal(([one.id for one in page.items], page.total, page.pages), (names[:2], 3, 2))
    equal([one.id async for one in page], names)
    equal([one.id for one in (await world.honcho.sessions(reverse=True)).items], names[::-1])
    late = await world.honcho.sessions({"metadata": {"number": {"gt": 0}}})
    equal([(one.id, one.metadata) for one in late.items], [(f"talk-{n}", {"number": n}) for n in (1, 2)])
    equal(
        [one.id for one in (await world.honcho.sessions({"is_active": True, "id": "talk-2"})).items],
        names[2:],
    )


@scenario("Session.add_peers", "Session.set_peers", "Session.remove_peers", "Session.peers")
async def members_come_and_go(world):
    config = world.types.SessionPeerConfig
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk", peers=["zoe", (ann, config(observe_others=True))])

    async def members():
        return {one.id for one in await talk.peers()}

    equal(await members(), {"ann", "zoe"})
    await talk.add_peers("bob")
    await talk.add_peers([ann, ("cleo", config(observe_me=False))])
    equal(await members(), {"ann", "bob", "cleo", "zoe"})
    equal((await talk.get_peer_configuration("ann")).observe_others, True)
    await talk.remove_peers([ann, "zoe"])
    equal(await members(), {"bob", "cleo"})
    await talk.set_peers([ann, "dora"])
    equal(await members(), {"ann", "dora"})
    equal([one.id for one in (await ann.sessions()).items], ["talk"])
    assert {one.id async for one in await world.honcho.peers()} >= {"ann", "bob", "cleo", "dora", "zoe"}


@scenario("Session.get_peer_configuration", "Session.set_peer_configuration")
async def a_member_has_a_configuration_in_each_session(world):
    config = world.types.SessionPeerConfig
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk", peers=[(ann, config(observe_me=False)), "bob"])
    other = await world.honcho.session("other", peers=[ann])
    equal((await talk.get_peer_configuration(ann)).observe_me, False)
    assert (await talk.get_peer_configuration("bob")).observe_others in (None, False)
    await talk.set_peer_configuration("bob", config(observe_others=True, observe_me=True))
    got = await talk.get_peer_configuration("bob")
    equal((got.observe_others, got.observe_me), (True, True))
    await talk.set_peer_configuration(ann, config(observe_others=True))
    equal((await talk.get_peer_configuration(ann)).observe_others, True)
    assert (await other.get_peer_configuration(ann)).observe_me in (None, True)


@scenario("Session.delete")
async def a_deleted_session_is_gone_and_its_name_is_free(world):
    ann = await world.honcho.peer("ann")
    talk = await world.honcho.session("talk", metadata={"old": True})
    [message] = await talk.add_messages(ann.message("I live in Lisbon beside the lighthouse."))
    await world.settled()
    await talk.delete()
    missing = world.sdk.NotFoundError
    await world.refused(talk.get_message(message.id), missing)
    await world.refused(talk.update_message(message.id, {"a": 1}), missing)
    await world.refused(talk.clone(), missing)
    await world.refused(talk.delete(), missing)
    equal(list((await world.honcho.sessions()).items), [])
    equal(list((await ann.sessions()).items), [])
    equal(await world.honcho.search("lighthouse"), [])
    equal(await ann.search("lighthouse"), [])
    assert "lighthouse" not in await ann.representation()
    equal(world.raw("POST", "/sessions", {"id": "talk"}).status_code, 201)
    again = await world.honcho.session("talk")
    equal((again.metadata, list((await again.messages()).items)), ({}, []))
    equal((await again.context()).messages, [])
