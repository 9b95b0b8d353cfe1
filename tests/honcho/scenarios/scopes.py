"""Scopes: named sets of sessions that bound what can be recalled."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import known
from scenarios.registry import scenario

QUESTION = "Which grey animals does she own?"


async def zoo(world):
    """One peer who says something in each of three sessions, two of which are in a scope."""
    ann, _, _ = await known(world, "I own a grey goat.", where="first")
    await known(world, "I own a grey donkey.", where="second")
    await known(world, "I own a grey parrot.", where="third")
    scope = await world.honcho.scope("farm")
    await scope.add_sessions(["first", "second"])

    async def filled():
        status = await scope.status()
        return all(job.state == "completed" for job in status.values())

    await world.eventually(filled, "the scope is never filled")
    return ann, scope


@scenario(
    "Honcho.scope", "Honcho.get_scope", "Honcho.scopes", "Scope.metadata", "Scope.created_at", since="2.7.0"
)
async def a_scope_is_made_once_and_found_again(world):
    await world.honcho.get_metadata()
    equal([world.raw("POST", "/scopes", {"id": "sea"}).status_code for _ in range(2)], [201, 200])
    farm = await world.honcho.scope("farm", metadata={"a": 1})
    again = await world.honcho.get_scope("farm")
    equal((again.id, again.metadata, again.created_at), ("farm", {"a": 1}, farm.created_at))
    await world.refused(world.honcho.get_scope("nowhere"), world.sdk.NotFoundError)
    equal([one.id async for one in await world.honcho.scopes(size=1)], ["sea", "farm"])
    page = await world.honcho.scopes(reverse=True)
    equal(([one.id for one in page.items], page.total), (["farm", "sea"], 2))
    equal(list((await world.honcho.peers()).items), [])
    equal(world.raw("POST", "/scopes", {"id": "scope.farm"}).status_code, 422)


@scenario(
    "Scope.add_sessions", "Scope.remove_session", "Scope.sessions", "Scope.status", "Scope.aio", since="2.7.0"
)
async def sessions_join_and_leave_a_scope(world):
    scope = await world.honcho.scope("farm")
    equal(await scope.status(), {})
    for name in ("one", "two", "three"):
        await world.honcho.session(name)
    await scope.add_sessions(["two"])
    await scope.add_sessions(["one", "two"])
    await world.honcho.session("four", scopes=[scope, "sea"])
    equal([one.id for one in (await scope.sessions()).items], ["two", "one", "four"])
    page = await scope.sessions(size=2, reverse=True)
    equal(([one.id for one in page.items], page.total), (["four", "one"], 3))
    equal([one.id async for one in page], ["four", "one", "two"])
    equal([one.id for one in (await (await world.honcho.get_scope("sea")).sessions()).items], ["four"])
    await scope.remove_session("one")
    equal([one.id for one in (await scope.sessions()).items], ["two", "four"])
    await world.refused(scope.add_sessions(["three", "nowhere"]), world.sdk.NotFoundError)
    equal((await scope.sessions()).total, 2)
    await (await world.honcho.session("two")).delete()
    equal([one.id for one in (await scope.sessions()).items], ["four"])


@scenario(
    "Peer.chat", "Peer.representation", "Honcho.search", "Session.context", "Honcho.chat", since="2.7.0"
)
async def through_a_scope_only_its_sessions_are_seen(world):
    ann, scope = await zoo(world)
    first = await world.honcho.session("first")
    stream = await ann.chat_stream(QUESTION, scope=scope)
    for seen in (
        await ann.chat(QUESTION, scope=scope),
        await ann.chat(QUESTION, scope=["farm"]),
        "".join([chunk async for chunk in stream]),
        await world.honcho.chat(QUESTION, scope="farm"),
        await ann.representation(scope="farm"),
        await ann.representation(scope=[scope]),
        (await first.context(peer_target="ann", scope=scope)).peer_representation,
        " ".join(message.content for message in await world.honcho.search("I own", scope="farm")),
    ):
        assert "goat" in seen and "donkey" in seen and "parrot" not in seen, seen
    assert "parrot" in await ann.representation()


@scenario("Scope.remove_session", since="2.7.0")
async def what_leaves_a_scope_is_no_longer_seen_through_it(world):
    ann, scope = await zoo(world)
    await scope.remove_session("second")
    await world.settled()
    seen = await ann.representation(scope=scope)
    assert "goat" in seen and "donkey" not in seen, seen
    await known(world, "I own a grey hen.", where="first")
    assert "hen" in await ann.representation(scope=scope)
    equal([message.content for message in await world.honcho.search("donkey", scope=scope)], [])


@scenario("Peer.chat", "Honcho.search", since="2.7.0")
async def an_empty_scope_shows_nothing_and_an_unknown_one_is_an_error(world):
    ann, _, _ = await known(world, "I own a grey goat.")
    empty = await world.honcho.scope("empty")
    equal(await world.honcho.search("goat", scope=empty), [])
    equal(await ann.representation(scope=empty), "")
    assert "goat" not in (await ann.chat(QUESTION, scope=empty) or "")
    missing = world.sdk.NotFoundError
    await world.refused(ann.chat(QUESTION, scope="nowhere"), missing)
    await world.refused(ann.representation(scope="nowhere"), missing)
    await world.refused(world.honcho.search("goat", scope="nowhere"), missing)
    both = {"query": QUESTION, "scope": "empty", "session_id": "talk"}
    equal(world.raw("POST", "/peers/ann/chat", both).status_code, 422)
