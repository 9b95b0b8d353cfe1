"""What a session brings to a prompt: recent messages, a summary, a view of a peer, inside a budget."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, known, says
from scenarios.registry import scenario

SHORT = "honcho_chat_summary_short"


@scenario("Session.context")
async def a_context_holds_the_newest_messages_that_fit(world):
    lines = [f"Line {number}: the ferry leaves at {number} o'clock." for number in range(12)]
    _, talk, said = await says(world, *lines)
    everything = await talk.context(summary=False)
    equal([message.content for message in everything.messages], lines)
    equal((everything.summary, everything.peer_representation, everything.peer_card), (None, None, None))
    budget = sum(message.token_count for message in said[-3:])
    few = await talk.context(summary=False, tokens=budget)
    equal([message.id for message in few.messages], [message.id for message in said[-3:]])
    fewer = await talk.context(summary=False, tokens=budget - 1)
    equal([message.id for message in fewer.messages], [message.id for message in said[-2:]])
    equal((await talk.context(summary=False, tokens=1)).messages, [])
    too_much = world.raw("GET", "/sessions/talk/context", params={"tokens": 100_001})
    equal(too_much.status_code, 422)


@scenario("SessionContext.to_openai", "SessionContext.to_anthropic")
async def a_context_is_ready_for_other_apis(world):
    ann, bot = await world.honcho.peer("ann"), await world.honcho.peer("bot")
    talk = await world.honcho.session("talk")
    await talk.add_messages([ann.message("Hello"), bot.message("Hello Ann")])
    await ann.set_card(["Name: Ann"])
    context = await talk.context(peer_target="ann")
    openai = [one for one in context.to_openai(assistant=bot) if one["role"] != "system"]
    told = [(one["role"], one["name"], one["content"]) for one in openai]
    equal(told, [("user", "ann", "Hello"), ("assistant", "bot", "Hello Ann")])
    anthropic = context.to_anthropic(assistant="bot")[-2:]
    equal(
        [(one["role"], one["content"]) for one in anthropic],
        [("user", "ann: Hello"), ("assistant", "Hello Ann")],
    )
    equal(context.to_openai(assistant=bot)[-3]["content"], "<peer_card>['Name: Ann']</peer_card>")


@scenario("Session.summaries", "Session.context")
async def a_long_conversation_is_summarised(world):
    ann = await world.honcho.peer("ann")
    configuration = world.types.SessionConfiguration(
        summary={"messages_per_short_summary": 10, "messages_per_long_summary": 20}
    )
    talk = await world.honcho.session("talk", configuration=configuration)
    equal((await talk.summaries()).short_summary, None)
    lines = [f"On day {number} I repaired the {number}th boat of the harbour master." for number in range(25)]
    said = await talk.add_messages([ann.message(line) for line in lines])
    await world.settled()
    summaries = await talk.summaries()
    short, long = summaries.short_summary, summaries.long_summary
    equal((summaries.id, short.summary_type, long.summary_type), ("talk", SHORT, "honcho_chat_summary_long"))
    equal((short.message_id, long.message_id), (said[19].id, said[19].id))
    assert "boat" in short.content and short.token_count > 0, short
    context = await talk.context(summary=True)
    assert context.summary.content in (short.content, long.content), context.summary
    equal([message.id for message in context.messages], [message.id for message in said[19:]])
    assert len(context) == len(context.messages) + 1
    equal((await talk.context(summary=False)).summary, None)
    tight = await talk.context(summary=True, tokens=200)
    used = sum(message.token_count for message in tight.messages)
    assert used + (tight.summary.token_count if tight.summary else 0) <= 200, (used, tight.summary)
    assert tight.summary is None or tight.summary.token_count <= 80, tight.summary


@scenario("Session.context")
async def summaries_can_be_switched_off(world):
    ann = await world.honcho.peer("ann")
    configuration = world.types.SessionConfiguration(summary={"enabled": False})
    talk = await world.honcho.session("talk", configuration=configuration)
    await talk.add_messages([ann.message(f"Day {number} at sea.") for number in range(25)])
    await world.settled()
    equal((await talk.summaries()).short_summary, None)
    context = await talk.context()
    equal((context.summary, len(context.messages)), (None, 25))


@scenario("Session.context")
async def a_context_may_say_what_is_known_of_a_peer(world):
    ann, talk, _ = await known(world, INTRODUCTION, "I own a grey goat.")
    await known(world, "I play the cello.", where="other")
    await ann.set_card(["Name: Ann"])
    context = await talk.context(peer_target="ann")
    assert "Lisbon" in context.peer_representation and "cello" in context.peer_representation, context
    equal(context.peer_card, ["Name: Ann"])
    here = await talk.context(peer_target="ann", limit_to_session=True)
    assert "Lisbon" in here.peer_representation and "cello" not in here.peer_representation, here
    equal(here.peer_card, None)
    focused = await talk.context(peer_target="ann", search_query="goat", search_top_k=1, max_conclusions=1)
    assert "ann: I own a grey goat." in focused.peer_representation, focused
    small = await talk.context(peer_target="ann", tokens=80, summary=False)
    assert len(small.peer_representation) < len(context.peer_representation), "a budget holds"


@scenario("Session.context")
async def a_context_may_be_seen_through_anothers_eyes(world):
    config = world.types.SessionPeerConfig
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    together = await world.honcho.session("together", peers=[ann, (bob, config(observe_others=True))])
    apart = await world.honcho.session("apart", peers=[ann])
    await together.add_messages(ann.message("I live in Lisbon."))
    await apart.add_messages(ann.message("I play the cello."))
    await world.settled()
    await bob.set_card(["Bob's friend"], target="ann")
    seen = await together.context(peer_target="ann", peer_perspective="bob")
    assert "Lisbon" in seen.peer_representation and "cello" not in seen.peer_representation, seen
    equal(seen.peer_card, ["Bob's friend"])


@scenario("Session.context", since="2.7.0")
async def a_context_may_be_confined_to_some_sessions(world):
    _, talk, _ = await known(world, INTRODUCTION)
    await known(world, "I own a grey goat.", where="second")
    await known(world, "I play the cello.", where="third")
    seen = await talk.context(peer_target="ann", sessions=[talk, "second"])
    assert "Lisbon" in seen.peer_representation and "goat" in seen.peer_representation, seen
    assert "cello" not in seen.peer_representation, seen
    equal(seen.peer_card, None)
    path = "/sessions/talk/context"
    elsewhere = world.raw("GET", path, params={"peer_target": "ann", "sessions": ["second"]})
    equal(elsewhere.status_code, 422)
