"""Peers: get-or-create, their metadata and configuration, their lists."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from scenarios.claims import equal
from scenarios.registry import scenario


@scenario("Honcho.peer", "Honcho.aio", "Peer.metadata", "Peer.configuration", "Peer.created_at")
async def a_peer_is_made_once_and_found_again(world):
    await world.honcho.get_metadata()
    equal([world.raw("POST", "/peers", {"id": "bob"}).status_code for _ in range(2)], [201, 200])
    ann = await world.honcho.peer(
        "ann", metadata={"a": 1}, configuration=world.types.PeerConfig(observe_me=False)
    )
    equal((ann.id, ann.metadata, ann.configuration.observe_me), ("ann", {"a": 1}, False))
    assert abs(ann.created_at - datetime.now(UTC)) < timedelta(minutes=5), ann.created_at
    again = await world.honcho.peer("ann")
    equal((again.metadata, again.configuration.observe_me), ({"a": 1}, False))
    equal(again.created_at, ann.created_at)


@scenario("Honcho.peer")
async def asking_for_a_peer_with_new_values_replaces_the_old(world):
    await world.honcho.peer(
        "ann", metadata={"a": 1, "b": 2}, configuration=world.types.PeerConfig(observe_me=False)
    )
    await world.honcho.peer("ann", metadata={"c": 3})
    kept = await world.honcho.peer("ann")
    equal((kept.metadata, kept.configuration.observe_me), ({"c": 3}, False))
    await world.honcho.peer("ann", configuration=world.types.PeerConfig())
    kept = await world.honcho.peer("ann")
    equal((kept.metadata, kept.configuration.observe_me), ({"c": 3}, None))


@scenario(
    "Peer.set_metadata",
    "Peer.get_metadata",
    "Peer.set_configuration",
    "Peer.get_configuration",
    "Peer.refresh",
    "Peer.aio",
)
async def a_peer_is_updated_by_replacing(world):
    ann = await world.honcho.peer(
        "ann", metadata={"a": 1}, configuration=world.types.PeerConfig(observe_me=True)
    )
    other = await world.client().peer("ann")
    await ann.set_metadata({"b": 2})
    equal(await other.get_metadata(), {"b": 2})
    await ann.set_configuration(world.types.PeerConfig(observe_me=False))
    equal((await other.get_configuration()).observe_me, False)
    await ann.set_configuration(world.types.PeerConfig())
    equal(other.configuration.observe_me, False)
    await other.refresh()
    equal((other.configuration.observe_me, other.metadata), (None, {"b": 2}))


@scenario(
    "Honcho.peers",
    "SyncPage.items",
    "SyncPage.total",
    "SyncPage.page",
    "SyncPage.size",
    "SyncPage.pages",
    "SyncPage.has_next_page",
    "SyncPage.get_next_page",
)
async def peers_are_listed_oldest_first_in_pages(world):
    names = [f"peer-{number}" for number in range(5)]
    for number, name in enumerate(names):
        await world.honcho.peer(name, metadata={"even": number % 2 == 0, "number": number})
    page = await world.honcho.peers(size=2)
    equal([one.id for one in page.items], names[:2])
    equal((page.total, page.page, page.size, page.pages, len(page)), (5, 1, 2, 3, 2))
    equal((page[1].id, page[1].metadata), ("peer-1", {"even": False, "number": 1}))
    assert page.has_next_page()
    second = await page.get_next_page()
    equal([one.id for one in second.items], names[2:4])
    last = await world.honcho.peers(page=3, size=2)
    equal(([one.id for one in last.items], last.has_next_page()), (names[4:], False))
    equal(await last.get_next_page(), None)
    equal([one.id async for one in page], names)
    beyond = await world.honcho.peers(page=9, size=2)
    equal((list(beyond.items), beyond.total), ([], 5))


@scenario("Honcho.peers")
async def peers_are_filtered_and_turned_around(world):
    for number in range(4):
        await world.honcho.peer(f"peer-{number}", metadata={"even": number % 2 == 0, "number": number})
    await world.honcho.peer("odd-one", metadata={"number": "many"})

    async def found(filters):
        return [one.id for one in (await world.honcho.peers(filters)).items]

    backwards = await world.honcho.peers({"metadata": {"even": True}}, reverse=True)
    equal([one.id for one in backwards.items], ["peer-2", "peer-0"])
    equal(await found({"metadata": {"even": True}}), ["peer-0", "peer-2"])
    equal(await found({"metadata": {"number": {"gte": 2}}}), ["peer-2", "peer-3"])
    equal(await found({"id": {"in": ["peer-1", "odd-one"]}}), ["peer-1", "odd-one"])
    equal(await found({"NOT": [{"metadata": {"even": True}}]}), ["peer-1", "peer-3", "odd-one"])
    equal(await found({"OR": [{"id": "peer-0"}, {"metadata": {"number": "many"}}]}), ["peer-0", "odd-one"])
    equal(await found({"metadata": {"nothing": 1}}), [])
    bad = world.honcho.peers({"colour": "blue"})
    await world.refused(bad, world.sdk.UnprocessableEntityError)


@scenario("Peer.sessions")
async def a_peer_knows_the_sessions_it_takes_part_in(world):
    ann = await world.honcho.peer("ann")
    for number in range(3):
        await world.honcho.session(f"with-{number}", peers=["ann"], metadata={"number": number})
    await world.honcho.session("without", peers=["bob"])
    equal([one.id for one in (await ann.sessions()).items], ["with-0", "with-1", "with-2"])
    page = await ann.sessions(size=2, reverse=True)
    equal(([one.id for one in page.items], page.total), (["with-2", "with-1"], 3))
    equal([one.id async for one in page], ["with-2", "with-1", "with-0"])
    few = await ann.sessions({"metadata": {"number": 1}})
    equal([(one.id, one.metadata) for one in few.items], [("with-1", {"number": 1})])


@scenario("Peer.message")
async def a_message_is_written_down_before_it_is_sent(world):
    ann = await world.honcho.peer("ann")
    draft = ann.message("Hello", metadata={"a": 1}, created_at="2024-01-15T10:30:00Z")
    equal((draft.peer_id, draft.content, draft.metadata), ("ann", "Hello", {"a": 1}))
    equal(draft.created_at, datetime(2024, 1, 15, 10, 30, tzinfo=UTC))
    try:
        ann.message(" \n ")
    except ValueError:
        return
    raise AssertionError("a message of nothing but spaces was accepted")
