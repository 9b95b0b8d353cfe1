"""Chat: a question about what is known, answered from what was said, with its evidence."""

from __future__ import annotations

from scenarios.claims import equal
from scenarios.conversations import INTRODUCTION, TASTE, WORK, known
from scenarios.registry import scenario

LEVELS = ("minimal", "low", "medium", "high", "max")


async def streamed(stream):
    return [chunk async for chunk in stream]


@scenario("Peer.chat")
async def a_question_is_answered_at_every_level(world):
    ann, _, _ = await known(world, INTRODUCTION, WORK, TASTE)
    for level in (None, *LEVELS):
        home = await ann.chat("Where does she live?", reasoning_level=level)
        assert home and "Lisbon" in home, (level, home)
        work = await ann.chat("What is her work as a biologist?", reasoning_level=level)
        assert work and "marine biologist" in work, (level, work)


@scenario(
    "Peer.chat_stream",
    "DialecticStreamResponse.get_final_response",
    "DialecticStreamResponse.is_complete",
)
async def an_answer_can_be_streamed_at_every_level(world):
    ann, _, _ = await known(world, INTRODUCTION, WORK, TASTE)
    for level in (None, *LEVELS):
        stream = await ann.chat_stream("Where does she live?", reasoning_level=level)
        assert not stream.is_complete
        chunks = await streamed(stream)
        assert stream.is_complete and all(chunks), (level, chunks)
        equal(stream.get_final_response(), {"content": "".join(chunks)})
        equal("".join(chunks), await ann.chat("Where does she live?", reasoning_level=level))


@scenario("Peer.chat", "Peer.chat_stream")
async def an_answer_is_confined_to_a_session_and_a_perspective(world):
    config = world.types.SessionPeerConfig
    ann, bob = await world.honcho.peer("ann"), await world.honcho.peer("bob")
    talk = await world.honcho.session("talk", peers=[ann, (bob, config(observe_others=True))])
    diary = await world.honcho.session("diary", peers=[ann])
    await talk.add_messages(ann.message("I own a grey goat."))
    await diary.add_messages(ann.message("I own a grey donkey."))
    await world.settled()
    question = "Which grey animals does she own?"
    whole = await ann.chat(question)
    assert "goat" in whole and "donkey" in whole, whole
    assert "donkey" not in await ann.chat(question, session=talk)
    of_bob = await bob.chat(question, target=ann)
    assert "goat" in of_bob and "donkey" not in of_bob, of_bob
    chunks = await streamed(await bob.chat_stream(question, target="ann", session="talk"))
    assert "goat" in "".join(chunks) and "donkey" not in "".join(chunks), chunks
    nothing = await (await world.honcho.peer("stranger")).chat(question) or ""
    assert "goat" not in nothing and "donkey" not in nothing, nothing


@scenario("Peer.chat", since="2.7.0")
async def an_answer_can_be_confined_to_some_sessions(world):
    ann, talk, _ = await known(world, "I own a grey goat.")
    await known(world, "I own a grey donkey.", where="second")
    await known(world, "I own a grey parrot.", where="third")
    answer = await ann.chat("Which grey animals does she own?", sessions=[talk, "second"], timeout=30)
    assert "goat" in answer and "donkey" in answer and "parrot" not in answer, answer
    for filters in ({"peer_id": "ann"}, {"session_id": {"ne": "x"}}, {"session_id": 7}):
        body = {"query": "Which grey animals?", "filters": filters}
        equal((filters, world.raw("POST", "/peers/ann/chat", body).status_code), (filters, 422))


@scenario("Peer.chat", since="2.7.0")
async def an_answer_shows_its_evidence(world):
    ann, talk, said = await known(world, INTRODUCTION, WORK, "The ferry to Barreiro leaves at six.")
    for level in LEVELS:
        answer = await ann.chat("Where does she live?", include_evidence=True, reasoning_level=level)
        assert "Lisbon" in answer.content, answer
        assert said[0].id in [one.id for one in answer.evidence.messages], answer
        answer = await ann.chat("When does the ferry leave?", include_evidence=True, reasoning_level=level)
        refs = {one.id: one for one in answer.evidence.messages}
        assert "six" in answer.content and said[2].id in refs, answer
        equal((refs[said[2].id].session_id, refs[said[2].id].peer_id), ("talk", "ann"))
        equal(refs[said[2].id].created_at, (await talk.get_message(said[2].id)).created_at)
    nobody = await world.honcho.peer("nobody")
    empty = await nobody.chat("Where does she live?", include_evidence=True)
    equal((empty.evidence.conclusions, empty.evidence.messages), ([], []))


@scenario("DialecticStreamResponse.evidence", "Peer.chat_stream", since="2.7.0")
async def a_streamed_answer_shows_its_evidence_at_its_end(world):
    ann, _, _ = await known(world, INTRODUCTION)
    stream = await ann.chat_stream("Where does she live?", include_evidence=True)
    equal(stream.evidence, None)
    await streamed(stream)
    assert [one.peer_id for one in stream.evidence.messages] == ["ann"], stream.evidence
    plain = await ann.chat_stream("Where does she live?")
    await streamed(plain)
    equal(plain.evidence, None)


@scenario("Honcho.chat", "Honcho.chat_stream", since="2.7.0")
async def the_whole_workspace_can_be_asked(world):
    await known(world, "I own a grey goat.", who="ann", where="first")
    await known(world, "I own a grey donkey.", who="bob", where="second")
    question = "Who owns a grey animal?"
    for level in (None, *LEVELS):
        answer = await world.honcho.chat(question, reasoning_level=level)
        told = ["goat" in answer, "donkey" in answer]
        assert any(told) if level == "minimal" else all(told), (level, answer)
    here = await world.honcho.chat(question, session="first", include_evidence=True)
    assert "goat" in here.content, here
    assert {one.session_id for one in here.evidence.messages} <= {"first"}, here
    stream = await world.honcho.chat_stream(question, include_evidence=True)
    assert "donkey" in "".join(await streamed(stream))
    equal({one.peer_id for one in stream.evidence.messages}, {"ann", "bob"})


@scenario("Peer.chat", "Honcho.chat", since="2.7.0")
async def a_form_for_the_answer_is_refused_clearly_without_a_model(world):
    class Home(world.types.BaseModel):
        town: str

    ann, _, _ = await known(world, INTRODUCTION)
    schema = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    for asked in (
        ann.chat("Where does she live?", response_format=Home),
        ann.chat("Where does she live?", response_format=schema),
        world.honcho.chat("Where does she live?", response_format=schema),
    ):
        error = await world.refused(asked, world.sdk.UnprocessableEntityError)
        assert "schema" in error.message, error
    stream = await ann.chat_stream("Where does she live?", response_format=schema)
    await world.refused(streamed(stream), world.sdk.UnprocessableEntityError)


@scenario("Peer.chat")
async def a_question_has_limits(world):
    ann = await world.honcho.peer("ann")
    refused = world.sdk.UnprocessableEntityError
    await world.refused(ann.chat("x" * 10_001), refused)
    await ann.chat("x" * 10_000)
    for wrong in (
        {"query": ""},
        {"query": "x", "reasoning_level": "extreme"},
        {"query": "x", "scope": []},
        {},
    ):
        equal((wrong, world.raw("POST", "/peers/ann/chat", wrong).status_code), (wrong, 422))
