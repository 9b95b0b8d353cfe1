"""A memory service of the Agent Development Kit, alone and behind its runner."""

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
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
    return [(entry.author, entry.content.parts[0].text) for entry in found.memories]


async def a_session_is_found_by_what_was_said_in_it(world):
    service = SouvenanceMemoryService(world.memory)
    said = (_event("user", "I live in Lisbon"), _event("clerk", "Your booking is X9"))
    await service.add_session_to_memory(await _session(world, *said))
    assert await _found(service, world.user, "where do I live?") == [("user", "I live in Lisbon")]
    assert await _found(service, world.user, "what is my booking?") == [(APP, "Your booking is X9")]
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
