"""Sixty planted orders at the chat door, in the snapshot and over MCP.

None is told outside the frame. What a document, a tool, an import or a third party said is not told unasked.
"""

from __future__ import annotations

import pytest

from chat.stage import a_stage
from frames import inside
from mcp_door.served import hosted
from processes import until
from security import planted
from security.planted import OTHERS, OWN, marks_in
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.context import PEER_CONTEXT, SUMMARIES, PeerContext, Summaries
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials

PERSON, AGENT = "ann", "assistant"


def plant(installation, **more):
    owner = Credentials(installation.owner_cap)

    def ask(operation, request):
        return installation.gate.call(operation, owner, request)

    planted.plant(ask, "default", PERSON, AGENT, **more)
    with installation.working():
        installation.settle(60)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with a_stage(tmp_path_factory.mktemp("planted") / "home") as stage:
        plant(stage.installation)
        yield stage


def turn(stage, message, **more):
    """What the model is sent for a message: all of it, and what is in the frame."""
    assert stage.say(stage.mint(PERSON), message, **more).status_code == 200
    asked = stage.model.asked[-1]
    *before, last = asked.messages
    said, opened, rest = last["content"].partition("\n\n<memory-context>\n")
    memory, closed, after = rest.partition("\n</memory-context>")
    assert said == message
    assert (bool(opened), after) == (bool(closed), "")
    planted.check_frame(memory)
    return "".join(one["content"] for one in before), memory


def test_there_are_sixty_in_twenty_languages_and_in_every_disguise():
    assert len({order["text"] for order in planted.ORDERS}) == 60
    assert len({order["language"] for order in planted.ORDERS}) >= 20
    disguises = {"homoglyphs", "tags", "base64", "html comment", "role markers", "closing tag"}
    assert disguises <= {order["kind"] for order in planted.ORDERS}


def test_a_statement_brings_what_the_person_said_and_nobody_else(stage):
    own = set()
    for message in planted.statements():
        before, memory = turn(stage, message)
        assert not marks_in(before + memory, *OTHERS)
        own |= marks_in(memory, OWN)
    assert own <= planted.not_recognised(OWN)
    assert own, "what the person said is told"


def test_a_question_brings_the_words_of_others_as_quotations_in_the_frame_alone(stage):
    """All of them that do not read like orders, so that the frame is tried with every one."""
    own, quoted = set(), set()
    for message in planted.questions():
        before, memory = turn(stage, message)
        assert not marks_in(before, *OTHERS, OWN)
        for line in memory.split("\n"):
            if found := marks_in(line, *OTHERS):
                quoted |= found
                assert "quoted by " in line or "Quoted: “" in line
        assert not marks_in(memory, "stranger")
        own |= marks_in(memory, OWN)
    assert own == planted.not_recognised(OWN)
    assert quoted == set().union(*(planted.not_recognised(way) for way in ("document", "tool", "import")))


def test_a_conversation_that_goes_on_has_only_its_two_speakers(stage):
    cap = stage.mint(PERSON)
    stage.say(cap, "My boat is the Petrel.", "A fine boat.", transcript="t-1")
    until(lambda: any("Petrel" in text for _, _, text in stage.lines()))
    (session,) = (session for session, _, text in stage.lines() if "Petrel" in text and "boat is" in text)
    stranger, tool = (next(planted.plants(way)).text for way in ("stranger", "tool"))
    messages = [
        NewMessage(content=stranger, peer_id=planted.STRANGER),
        NewMessage(content=tool, peer_id=PERSON, metadata={"type": "tool_result"}),
    ]
    asked = AddMessages(workspace_id=stage.workspace, session_id=session, messages=messages)
    stage.installation.gate.call(ADD_MESSAGES, Credentials(stage.installation.owner_cap), asked)
    before, memory = turn(stage, "Let us go on about the anchor.", transcript="t-1")
    assert "- The user said: My boat is the Petrel." in memory
    assert not marks_in(before + memory, *OTHERS)


def test_what_was_said_so_far_stands_in_the_frame_whoever_of_the_two_said_it(tmp_path):
    with a_stage(tmp_path / "home", transcript_tokens=100_000) as stage:
        stage.say(stage.mint(PERSON), "My boat is the Petrel.", "A fine boat.", transcript="t-1")
        stage.texts(2)
        ((session, _, _), *_) = stage.lines()
        owner = Credentials(stage.installation.owner_cap)
        for peer, way in ((PERSON, OWN), (AGENT, "agent")):
            messages = [NewMessage(content=one.text, peer_id=peer) for one in planted.plants(way)]
            asked = AddMessages(workspace_id=stage.workspace, session_id=session, messages=messages)
            stage.installation.gate.call(ADD_MESSAGES, owner, asked)
        before, memory = turn(stage, "Let us go on.", transcript="t-1")
    assert before == ""
    assert marks_in(memory, OWN, "agent") == {
        one.mark for way in (OWN, "agent") for one in planted.plants(way)
    }


def test_no_summary_tells_what_others_said_or_a_document_holds(stage):
    short, long = summaries(stage, "planted", [PERSON, AGENT])
    for text in (short, long):
        assert marks_in(text, OWN)
        assert not marks_in(text, *OTHERS)


def test_a_summary_tells_what_the_person_said_among_what_others_said_and_what_was_imported(tmp_path):
    talk = [f"In week {week} I mended {week} nets of the Petrel in the yard." for week in range(60)]
    with a_stage(tmp_path / "home") as stage:
        plant(stage.installation, talk=talk)
        imported = summaries(stage, "imported", [PERSON, AGENT])
        of_three = summaries(stage, "shared")
        assert not summaries(stage, "shared", [PERSON, AGENT]), "a third has spoken there"
    assert len(imported) == len(of_three) == 2
    for text in (*imported, *of_three):
        assert "nets of the Petrel" in text
        assert not marks_in(text, "document", "tool", "import")
    assert not any(marks_in(text, "stranger") for text in imported)


def summaries(stage, session, between=None):
    """The short and the long summary of a session, where there are any."""
    asked = Summaries(workspace_id=stage.workspace, session_id=session, between=between)
    owner = Credentials(stage.installation.owner_cap)
    told = stage.installation.gate.call(SUMMARIES, owner, asked)
    return [one.content for one in (told.short_summary, told.long_summary) if one is not None]


def test_the_snapshot_has_the_person_s_own_words_alone(stage):
    told = stage.installation.gate.call(o.SNAPSHOT, Credentials(stage.mint(PERSON)), m.Snapshot()).profile
    told = inside(told)
    assert not marks_in(told, *OTHERS)
    assert marks_in(told, OWN)
    for line in told.splitlines():
        assert line.startswith("- ")
    planted.check_frame(told)


def test_neither_card_nor_representation_has_what_nobody_asked_for(stage):
    owner = Credentials(stage.installation.owner_cap)
    for observer in (PERSON, AGENT):
        asked = PeerContext(
            workspace_id=stage.workspace, peer_id=observer, target=PERSON if observer != PERSON else None
        )
        told = stage.installation.gate.call(PEER_CONTEXT, owner, asked)
        assert not marks_in(f"{told.representation} {told.peer_card}", *OTHERS)


def test_the_profile_over_mcp_has_the_person_s_own_words_alone(tmp_path):
    with hosted(tmp_path / "home") as server:
        plant(server.installation)
        (answer,) = server.calls(server.wide(PERSON), ("profile", {}))
    (told,) = (part.text for part in answer.content)
    assert not marks_in(told, *OTHERS)
    assert marks_in(told, OWN)
    planted.check_frame(inside(told))
