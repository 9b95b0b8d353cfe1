"""Errors: each refusal arrives as the SDK's own exception, with a text."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.registry import scenario


@scenario("Honcho.peer")
async def without_a_good_key_nothing_is_answered(world):
    wrong = world.sdk.AuthenticationError
    for key in ("junk", "a.b.c", "local"):
        error = await world.refused(world.client(api_key=key).peer("ann"), wrong)
        equal(error.status, 401)
        assert error.message and error.message != "HTTP 401", error
    answer = world.raw("POST", "/v3/workspaces", {"id": "w"}, authorization="")
    equal(answer.status_code, 401)
    assert isinstance(answer.json()["detail"], str), answer.text


@scenario("Honcho.peer", "Honcho.session", "Session.get_message")
async def what_is_wrong_or_missing_raises_the_sdks_exceptions(world):
    refused = world.sdk.UnprocessableEntityError
    for name in ("two words", "a/b", "ü", "x" * 513, "a.b"):
        error = await world.refused(world.honcho.peer(name), refused)
        equal((error.status, isinstance(error.body, dict)), (422, True))
        await world.refused(world.honcho.session(name), refused)
    assert (await world.honcho.peer("x" * 512)).id
    await world.refused(world.client("no good name").peers(), refused)
    talk = await world.honcho.session("talk")
    error = await world.refused(talk.get_message("no-such-message-in-it"), world.sdk.NotFoundError)
    equal((error.status, error.code), (404, "not_found"))
    assert isinstance(error.message, str) and error.message != "HTTP 404", error


@scenario("Honcho.peers")
async def pages_have_bounds(world):
    refused = world.sdk.UnprocessableEntityError
    for bounds in ({"page": 0}, {"size": 0}, {"size": 101}, {"page": -1}):
        error = await world.refused(world.honcho.peers(**bounds), refused)
        equal(type(error.message), list)
        assert {"type", "loc", "msg"} <= set(error.message[0]), error.message


@scenario("Honcho.session")
async def a_wrong_configuration_is_refused_before_it_can_break_a_client(world):
    await world.honcho.session("talk")
    for configuration in (
        {"summary": {"colour": 1}},
        {"summary": {"messages_per_short_summary": 3}},
        {"reasoning": 1},
    ):
        answer = world.raw("PUT", "/sessions/talk", {"configuration": configuration})
        equal((configuration, answer.status_code), (configuration, 422))
    peer = world.raw("POST", "/peers", {"id": "ann", "configuration": {"observe_me": True, "colour": "blue"}})
    assert peer.status_code in (201, 422), peer.text
    await world.honcho.peer("ann")
    deep = {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}
    wide = {f"key-{number}": 1 for number in range(101)}
    for metadata in (deep, wide):
        await world.refused(world.honcho.peer("ann", metadata=metadata), world.sdk.UnprocessableEntityError)
    await world.honcho.session("talk")
