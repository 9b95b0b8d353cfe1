"""A memory service of the Agent Development Kit, alone and behind its runner."""

import planted
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory, preload_memory
from google.genai.types import Content, Part

from souvenance.errors import CapScopeMismatch, NamespaceDenied
from souvenance.integrations.google_adk import SouvenanceMemoryService

APP = "shop"


def _event(author, text):
    role = "user" if author == "user" else "model"
    return Event(author=author, content=Content(role=role, parts=[Part(text=text)]))


async def _session(world, *events, user=None, app=APP):
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name=app, user_id=user or world.user)
    for event in events:
        await sessions.append_event(session, event)
    return session


async def _found(service, user, query, app=APP):
    found = await service.search_memory(app_name=app, user_id=user, query=query)
    return [(entry.author, _text(entry)) for entry in found.memories]


def _text(entry):
    """What the entry says, without what stands before it for a model."""
    quoted, text = entry.content.parts[0].text.split(f"{planted.QUOTED} ")
    assert quoted == ""
    return text


async def a_session_is_found_by_what_was_said_in_it(world):
    service = SouvenanceMemoryService(world.memory)
    said = (_event("user", "I live in Lisbon"), _event("clerk", "Your booking is X9"))
    await service.add_session_to_memory(await _session(world, *said))
    assert await _found(service, world.user, "where do I live?") == [("user", "I live in Lisbon")]
    assert await _found(service, world.user, "what is my booking?") == [("clerk", "Your booking is X9")]
    assert await _found(service, world.user, "who won the chess match?") == []


async def a_session_added_again_adds_only_what_is_new(world):
    service = SouvenanceMemoryService(world.memory)
    session = await _session(world, _event("user", "I live in Lisbon"))
    await service.add_session_to_memory(session)
    await service.add_session_to_memory(session)
    await service.add_events_to_memory(
        app_name=APP,
        user_id=world.user,
        session_id=session.id,
        events=[*session.events, _event("user", "Bye")],
    )
    assert [line.text for line in world.peer.list()] == ["I live in Lisbon", "Bye"]
    assert {line.session for line in world.peer.list()} == {session.id}


async def an_added_memory_comes_back_with_its_author_its_time_and_its_metadata(world):
    service = SouvenanceMemoryService(world.memory)
    at, ann = "2024-02-03T04:05:06+00:00", {"app_name": APP, "user_id": world.user}
    entries = [
        _entry("The blue kettle was sold", author="clerk", timestamp=at, custom_metadata={"shop": {"no": 3}}),
        _entry("The blue lamp is broken", role="model", timestamp="2024-02-03T04:05:06"),
        _entry("I like blue cups", author="user", custom_metadata={"author": "form"}),
        _entry("I like blue plates", author=world.user),
        _entry("I like blue bowls"),
    ]
    await service.add_memory(**ann, memories=entries, custom_metadata={"batch": "b1"})
    found = (await service.search_memory(**ann, query="What is blue?")).memories
    assert {_text(one): (one.author, one.content.role, one.custom_metadata) for one in found} == {
        "The blue kettle was sold": ("clerk", "model", {"batch": "b1", "shop": {"no": 3}}),
        "The blue lamp is broken": (APP, "model", {"batch": "b1"}),
        "I like blue cups": ("user", "user", {"batch": "b1", "author": "form"}),
        "I like blue plates": ("user", "user", {"batch": "b1"}),
        "I like blue bowls": ("user", "user", {"batch": "b1"}),
    }
    times = {_text(one): one.timestamp for one in found}
    assert [times["The blue kettle was sold"], times["The blue lamp is broken"]] == [at, at]


async def an_added_memory_with_a_time_that_is_none_is_refused_whole(world):
    service = SouvenanceMemoryService(world.memory)
    entries = [_entry("one"), _entry("two", timestamp="some day")]
    try:
        await service.add_memory(app_name=APP, user_id=world.user, memories=entries)
    except ValueError as error:
        assert "some day" in str(error)
    else:
        raise AssertionError("was kept")
    assert list(world.peer.list()) == []


async def events_are_kept_with_the_metadata_that_is_given_for_them(world):
    service = SouvenanceMemoryService(world.memory)
    ann = {"app_name": APP, "user_id": world.user}
    said = [_event("user", "I live in Lisbon"), _event("clerk", "Lisbon is far")]
    await service.add_events_to_memory(**ann, events=said, custom_metadata={"turn": 7})
    found = (await service.search_memory(**ann, query="Where is Lisbon?")).memories
    assert {one.author: one.custom_metadata for one in found} == {"user": {"turn": 7}, "clerk": {"turn": 7}}


def _entry(text, role=None, **more):
    return MemoryEntry(content=Content(role=role, parts=[Part(text=text)]), **more)


async def what_is_no_text_is_not_kept(world):
    service = SouvenanceMemoryService(world.memory)
    thought = Event(author="clerk", content=Content(parts=[Part(text="hm", thought=True)]))
    await service.add_session_to_memory(await _session(world, Event(author="clerk"), thought))
    assert list(world.peer.list()) == []


async def a_memory_is_added_and_deleted(world):
    service = SouvenanceMemoryService(world.memory)
    entry = MemoryEntry(content=Content(parts=[Part(text="prefers tea")]))
    await service.add_memory(app_name=APP, user_id=world.user, memories=[entry])
    (found,) = (await service.search_memory(app_name=APP, user_id=world.user, query="tea")).memories
    assert found.timestamp.startswith("20")
    await service.delete_memory(app_name=APP, user_id=world.other, memory_id=found.id)
    assert await _found(service, world.user, "tea") == [("user", "prefers tea")]
    await service.delete_memory(app_name=APP, user_id=world.user, memory_id=found.id)
    await service.delete_memory(app_name=APP, user_id=world.user, memory_id=found.id)
    assert await _found(service, world.user, "tea") == []


class _Told(BaseLlm):
    """A model that asks the memory, and says what it was told."""

    model: str = "told"

    async def generate_content_async(self, llm_request, stream=False):
        part = llm_request.contents[-1].parts[-1]
        if part.function_response:
            text = str(part.function_response.response)
            yield LlmResponse(content=Content(role="model", parts=[Part(text=text)]))
        else:
            call = Part.from_function_call(name="load_memory", args={"query": "where do I live?"})
            yield LlmResponse(content=Content(role="model", parts=[call]))


async def an_agent_loads_memory_with_the_kit_s_own_tool(world):
    service = SouvenanceMemoryService(world.memory)
    await service.add_session_to_memory(await _session(world, _event("user", "I live in Lisbon")))
    agent = LlmAgent(name="clerk", model=_Told(), tools=[load_memory])
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name=APP, user_id=world.user)
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)
    asked = Content(role="user", parts=[Part(text="Where do I live?")])
    told = [
        event
        async for event in runner.run_async(user_id=world.user, session_id=session.id, new_message=asked)
    ]
    assert "I live in Lisbon" in told[-1].content.parts[0].text


class _Shown(BaseLlm):
    """A model that says what it was shown."""

    model: str = "shown"

    async def generate_content_async(self, llm_request, stream=False):
        text = "\n".join(part.text or "" for one in llm_request.contents for part in one.parts)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=text)]))


async def planted_orders_are_preloaded_as_data_and_those_of_others_only_for_a_question(world):
    planted.plant(world, APP)
    service, sessions = SouvenanceMemoryService(world.memory), InMemorySessionService()
    agent = LlmAgent(name="clerk", model=_Shown(), tools=[preload_memory])
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)
    seen = set()
    for number, message in enumerate((planted.statement(), *planted.questions())):
        session = await sessions.create_session(app_name=APP, user_id=world.user)
        asked = Content(role="user", parts=[Part(text=message)])
        told = [
            event
            async for event in runner.run_async(user_id=world.user, session_id=session.id, new_message=asked)
        ]
        *before, rest = told[-1].content.parts[0].text.split("<PAST_CONVERSATIONS>\n")
        found, after = rest.split("\n</PAST_CONVERSATIONS>") if before else ("", rest)
        assert not planted.ways_in("".join(before) + after)
        lines = [line for line in found.split("\n") if not line.startswith("Time: 20")]
        assert all(line.startswith(f"user: {planted.QUOTED} ") for line in lines if found), lines
        seen |= planted.check("\n".join(lines), asked=number > 0)
    assert seen == {"own", "document", "tool"}


async def users_and_apps_never_cross(world):
    service = SouvenanceMemoryService(world.memory)
    await service.add_session_to_memory(await _session(world, _event("user", "allergic to penicillin")))
    assert await _found(service, world.other, "penicillin") == []
    assert await _found(service, world.user, "penicillin", app="Other App") == []
    with world.lent(world.other) as lent:
        narrow = SouvenanceMemoryService(lent)
        assert await _found(narrow, world.other, "penicillin") == []
        await _refused(CapScopeMismatch, _found(narrow, world.user, "penicillin"))
    with world.lent(world.user, namespaces="travel") as lent:
        await _refused(NamespaceDenied, _found(SouvenanceMemoryService(lent), world.user, "penicillin"))


async def _refused(kind, call):
    try:
        await call
    except kind as error:
        assert error.hint
    else:
        raise AssertionError("was let in")


async def any_name_of_a_user_will_do(world):
    service, user = SouvenanceMemoryService(world.memory), f"{world.user}@example.org"
    await service.add_session_to_memory(await _session(world, _event("user", "I live in Porto"), user=user))
    assert await _found(service, user, "where do I live?") == [("user", "I live in Porto")]
