"""A chat history of LangChain's, alone and behind a model that answers from it."""

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from souvenance.errors import CapScopeMismatch, InvalidInput
from souvenance.integrations.langchain import SouvenanceChatHistory


def _history(world, name="chat"):
    return SouvenanceChatHistory(world.peer.session(f"{world.user}-{name}"))


TURNS = [
    SystemMessage("Be brief."),
    HumanMessage("Where is Ann? Ä", id="m1", name="bob"),
    AIMessage("", tool_calls=[{"name": "find", "args": {"who": "Ann"}, "id": "call1"}]),
    ToolMessage("x" * 45_000, tool_call_id="call1"),
    AIMessage([{"type": "text", "text": "In Porto."}], additional_kwargs={"why": "asked"}),
    HumanMessage("Thanks"),
    AIMessage("Welcome"),
]


def messages_come_back_as_they_were(world):
    history = _history(world)
    assert history.messages == []
    history.add_messages(TURNS[:4])
    history.add_messages(TURNS[4:])
    assert history.messages == TURNS
    assert _history(world, "other").messages == []


def a_cleared_history_is_empty_and_can_be_used_again(world):
    history = _history(world)
    history.clear()
    history.add_messages(TURNS)
    history.clear()
    assert history.messages == []
    history.add_user_message("Hello again")
    assert history.messages == [HumanMessage("Hello again")]
    assert list(world.peer.get("Porto", floor=True)) == []


async def every_method_has_its_async_twin(world):
    history = _history(world)
    await history.aadd_messages(TURNS[-2:])
    assert await history.aget_messages() == TURNS[-2:]
    await history.aclear()
    assert await history.aget_messages() == []


def a_chain_answers_with_the_history_and_keeps_the_turn(world):
    model = GenericFakeChatModel(messages=iter([AIMessage("Noted."), AIMessage("In Lisbon.")]))
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{said}")])
    shown = []
    chain = RunnableWithMessageHistory(
        prompt | (lambda value: shown.append(len(value.messages)) or value) | model,
        lambda session_id: _history(world, session_id),
        input_messages_key="said",
        history_messages_key="history",
    )
    for said in ("I live in Lisbon", "Where do I live?"):
        chain.invoke({"said": said}, config={"configurable": {"session_id": "s1"}})
    assert shown == [1, 3]
    assert [one.content for one in _history(world, "s1").messages][2:] == ["Where do I live?", "In Lisbon."]


def what_the_user_says_is_remembered_of_the_user_alone(world):
    history = _history(world)
    history.add_messages([HumanMessage("My name is Ann and I live in Lisbon."), AIMessage("I live in Rome.")])
    (line, *_) = world.peer.get("where does the user live?", floor=True)
    assert "Lisbon" in line.text
    assert world.memory.wait()
    assert any("Lisbon" in fact for fact in world.peer.card())
    assert not any("Rome" in fact for fact in world.peer.card())


def what_a_tool_says_is_quoted_and_not_said(world):
    history = _history(world)
    history.add_messages([ToolMessage("The zebra code is 4711", tool_call_id="c1")])
    (line,) = world.memory.peer("assistant").get("zebra code")[:1]
    assert line.trust == "quoted"


def two_users_never_cross(world):
    _history(world).add_user_message("I am allergic to penicillin")
    assert list(world.memory.peer(world.other).get("penicillin", floor=True)) == []
    with world.lent(world.other) as lent:
        stolen = SouvenanceChatHistory(lent.peer(world.other).session(f"{world.user}-chat"))
        for call in (lambda: stolen.messages, lambda: stolen.add_user_message("x"), stolen.clear):
            try:
                call()
            except CapScopeMismatch as error:
                assert error.hint
            else:
                raise AssertionError("was let in")


def a_history_of_nobody_is_refused(world):
    try:
        SouvenanceChatHistory(world.memory.session("s"))
    except InvalidInput as error:
        assert "peer(NAME)" in error.hint
    else:
        raise AssertionError("was taken")
