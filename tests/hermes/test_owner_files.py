"""The files that the host keeps of its owner: whose memory they become, and who is shown a word of them."""

import pytest

from hermes.honcho_fake import Honcho
from hermes.stage import Stage

GROUP = "agent:main:telegram:group:-100123"
OF_ANN = {"chat_type": "dm", "gateway_session_key": "agent:main:telegram:dm:77"}
OF_BOB = {"chat_type": "dm", "gateway_session_key": "agent:main:telegram:dm:88"}
IN_GROUP = {"chat_type": "group", "chat_id": "-100123", "gateway_session_key": GROUP}
PRIVATE = ("warfarin", "Moretti", "patient")
QUESTION = "Who is the divorce lawyer Moretti, who takes warfarin, and what is the patient assistant?"


def keep_files(stage):
    (stage.home / "memories").mkdir()
    (stage.home / "memories" / "USER.md").write_text("I take warfarin every evening.\n")
    (stage.home / "memories" / "MEMORY.md").write_text("The divorce lawyer is called Moretti.\n")
    (stage.home / "SOUL.md").write_text("I am a patient assistant.\n")


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path, userPeerAliases={"77": "ann", "user:42": "ann"})
    keep_files(made)
    yield made
    made.close()


@pytest.fixture(params=["store", "honcho"])
def anywhere(request, tmp_path, stage):
    """On memory with a gate, and on memory without."""
    if request.param == "store":
        yield stage
        return
    with Honcho() as honcho:
        stage.configure(userPeerAliases={"77": "ann"}, baseUrl=honcho.url)
        yield stage


def ann(stage, **chat):
    return stage.provider("s-ann", "telegram", user_id="77", **chat)


def bob(stage, **chat):
    return stage.provider("s-bob", "telegram", user_id="88", **chat)


def shown(provider):
    """Every private word that a conversation is shown by anything that it may ask."""
    provider.on_turn_start(1, QUESTION)
    told = [provider.prefetch(QUESTION), provider.on_pre_compress([{"role": "user", "content": QUESTION}])]
    for peer in ("user", "ai", "ann", "hermes"):
        told.append(provider.handle_tool_call("souvenance_profile", {"peer": peer}))
        told.append(provider.handle_tool_call("souvenance_context", {"peer": peer}))
        told.append(provider.handle_tool_call("souvenance_conclude", {"list": True, "peer": peer}))
        for word in (QUESTION, *PRIVATE):
            asked = {"query": word, "peer": peer}
            told.append(provider.handle_tool_call("souvenance_search", asked))
            told.append(provider.handle_tool_call("souvenance_reasoning", asked))
            told.append(provider.handle_tool_call("souvenance_conclude", {**asked, "list": True}))
    said = "\n".join(told).replace(QUESTION, "")
    return {word for word in PRIVATE if word in said}


def kept(stage):
    return [(peer, text) for texts in stage.sessions().values() for peer, text in texts]


def test_they_become_the_owner_s_memory_once(stage):
    stage.tell(stage.provider("s1"), "Hello there, good morning.", "")
    stage.directory = stage.directory.parent / "elsewhere"
    stage.tell(stage.anew().provider("s2"), "Hello again, good evening.", "")
    found = kept(stage)
    assert ("ann", "I take warfarin every evening.") in found
    assert ("hermes", "The divorce lawyer is called Moretti.") in found
    assert ("hermes", "I am a patient assistant.") in found
    assert len(found) == 5


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"sessionStrategy": "per-session"}, {}),
        ({}, {"platform": "telegram", "user_id": "88", **OF_BOB}),
        ({"peerName": None}, {}),
    ],
)
def test_they_are_nobody_else_s(stage, settings, told):
    stage.configure(**settings)
    stage.tell(stage.provider("s1", **told), "Hello there, good morning.", "")
    assert len(kept(stage)) == 1


@pytest.mark.parametrize(
    "platform, told",
    [
        ("telegram", {"user_id": "77", **OF_ANN}),
        ("telegram", {"user_id": "77", "chat_type": "dm"}),
        ("api_server", {"gateway_session_key": "user:42:chat-7"}),
    ],
)
def test_the_owner_has_them_in_a_chat_of_their_own_too(stage, platform, told):
    stage.tell(stage.provider("s1", platform, **told), "Hello there, good morning.", "")
    assert len(kept(stage)) == 4


@pytest.mark.parametrize("chat_type", ["group", "channel", "thread", "forum", None, "dm"])
def test_they_stay_out_where_others_may_be(stage, chat_type):
    chat = {"chat_type": chat_type, "gateway_session_key": GROUP}
    stage.tell(ann(stage, **chat), "Hello everybody.", "")
    stage.tell(ann(stage, chat_type=chat_type if chat_type != "dm" else None), "Hello again.", "")
    assert len(kept(stage)) == 2


def test_nobody_in_a_group_with_the_owner_is_shown_a_word_of_them(anywhere):
    stage = anywhere
    stage.tell(ann(stage, **IN_GROUP), "Hello everybody, nice group.", "Hi Ann.")
    stage.tell(bob(stage, **IN_GROUP), "Hi, I am Bob.", "Hi Bob.")
    assert shown(bob(stage, **IN_GROUP)) == set()
    stage.tell(ann(stage, **OF_ANN), "Hello there, good morning.", "Good morning.")
    stage.tell(ann(stage, **IN_GROUP), "It is me again.", "Hi again.")
    assert shown(ann(stage, **OF_ANN)) == set(PRIVATE)
    assert shown(bob(stage, **IN_GROUP)) == set()
    assert shown(bob(stage, **OF_BOB)) == set()


def test_nobody_else_s_own_chat_is_shown_a_word_of_them_before_or_after(anywhere):
    stage = anywhere
    stage.tell(bob(stage, **OF_BOB), "Hi, I am Bob.", "Hi Bob.")
    stage.tell(ann(stage, **OF_ANN), "Hello there, good morning.", "Good morning.")
    assert shown(bob(stage, **OF_BOB)) == set()
    stage.tell(bob(stage, **OF_BOB), "What else is new?", "Nothing.")
    assert shown(bob(stage, **OF_BOB)) == set()
    assert shown(bob(stage.anew(), **OF_BOB)) == set()


def test_nobody_in_a_chat_that_the_host_takes_for_the_owner_s_is_shown_a_word_of_them(anywhere):
    """A platform may call a chat of several people a direct one."""
    stage = anywhere
    stage.tell(ann(stage, **OF_ANN), "Hello there, good morning.", "Good morning.")
    stage.tell(bob(stage, **OF_ANN), "I am here too.", "Hi Bob.")
    assert shown(bob(stage, **OF_ANN)) == set()


def test_nobody_who_shares_the_owner_s_directory_is_shown_a_word_of_them(stage, tmp_path):
    stage.configure(store=str(tmp_path / "shared"), workspace="hermes")
    stage.tell(stage.provider(), "Hello there, good morning.", "Good morning.")
    stage.anew()
    other = Stage(tmp_path / "other", peerName="bob", store=str(tmp_path / "shared"), workspace="hermes")
    other.tell(other.provider(), "I work here too.", "I see.")
    assert shown(other.provider("s2")) == set()
    other.close()


def test_no_conversation_can_be_called_as_where_they_lie(stage):
    stage.tell(stage.provider(), "Hello there, good morning.", "")
    (where,) = [name for name, texts in stage.sessions().items() if len(texts) == 3]
    stage.tell(stage.provider("s2", session_title=where), "A talk with a strange title.", "")
    stage.tell(bob(stage, gateway_session_key=where), "A chat with a strange key.", "")
    assert len(stage.sessions()[where]) == 3


def test_the_owner_is_shown_them_in_another_conversation(stage):
    stage.tell(ann(stage, **OF_ANN), "Hello there, good morning.", "Good morning.")
    assert shown(stage.provider("another")) == set(PRIVATE)
