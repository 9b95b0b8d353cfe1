"""Claude's data export: the zip, or the conversations.json in it."""

import json
import zipfile

import pytest

from importers.exports import ANN, written
from souvenance.adapters.importers import recognised
from souvenance.adapters.importers.json_files import Claude
from souvenance.domain.imports import ImportedMessage, ImportedSession, Skipped, Wanted
from souvenance.errors import ImportUnreadable, InvalidInput


def message(uuid, sender, *blocks, text="", **more):
    return {
        "uuid": uuid,
        "text": text,
        "content": [
            {"start_timestamp": None, "stop_timestamp": None, "flags": None, "citations": [], **block}
            if isinstance(block, dict)
            else {"type": "text", "text": block, "citations": []}
            for block in blocks
        ],
        "sender": sender,
        "created_at": "2025-10-01T10:00:09.123456Z",
        "updated_at": "2025-10-01T10:00:09.123456Z",
        "attachments": [],
        "files": [],
        **more,
    }


def chat(*messages, **more):
    return {
        "uuid": "1f0c7a2e-0000-4000-8000-000000000001",
        "name": "Dinner",
        "summary": "",
        "created_at": "2025-10-01T10:00:00.000000Z",
        "updated_at": "2025-10-01T10:05:00.000000Z",
        "account": {"uuid": "aa"},
        "chat_messages": list(messages),
        **more,
    }


TALK = chat(
    message("m1", "human", "I am allergic to peanuts.", text="I am allergic to peanuts."),
    message(
        "m2",
        "assistant",
        {"type": "thinking", "thinking": "hm"},
        "No peanuts.",
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": []},
        "Then rice.",
        text="No peanuts. This block is not supported on your current device yet. Then rice.",
    ),
    message("m3", "human", text="An old message.", attachments=[{"file_name": "a.txt"}]),
    message("m4", "human"),
)


def records(path, kind):
    return [one for one in Claude(path, ANN).records() if isinstance(one, kind)]


def test_what_the_two_said_is_read_and_nothing_between(tmp_path):
    path = written(tmp_path / "conversations.json", [TALK])
    assert recognised(str(path)) == "claude"
    assert [(one.peer, one.text, one.id) for one in records(path, ImportedMessage)] == [
        ("ann", "I am allergic to peanuts.", "m1"),
        ("claude", "No peanuts.\n\nThen rice.", "m2"),
        ("ann", "An old message.", "m3"),
    ]
    (session,) = records(path, ImportedSession)
    assert (session.name, session.metadata) == (f"claude-{TALK['uuid']}", {"title": "Dinner"})
    assert sorted(one.why for one in records(path, Skipped)) == [
        "attachments and files in messages",
        "empty messages",
        "messages of the system and of tools",
        "messages of the system and of tools",
        "thinking",
    ]


def test_the_zip_is_read_where_it_is_and_known_from_chatgpt_s(tmp_path, mine):
    path = tmp_path / "data-2025-10-06-batch-0000.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([TALK]))
        archive.writestr("projects.json", "[]")
        archive.writestr("users.json", "[]")
    assert recognised(str(path)) == "claude"
    tally = mine.take(Claude(path, ANN))
    assert (tally.sessions, tally.messages) == (1, 3)
    assert tally.skipped["files of projects and of what Claude kept in mind"] == 1
    assert mine.messages(f"claude-{TALK['uuid']}")[1].peer_id == "claude"
    again = mine.take(Claude(path, ANN))
    assert (again.messages, again.there) == (0, 3)


def test_what_is_not_understood_is_told_by_its_place_and_its_name(tmp_path, mine):
    talk = chat(
        message("m1", "human", "Hello.", {"type": "voice_note", "data": "…"}),
        message("m2", "robot", "Beep."),
        *(message(f"n{number}", "assistant", "Hm.", {"type": "hologram"}) for number in range(5)),
    )
    path = written(tmp_path / "conversations.json", [talk])
    for tally in (mine.look_through(Claude(path, ANN)), mine.take(Claude(path, ANN))):
        unknown = "blocks of a kind that is not known here"
        assert tally.skipped == {unknown: 6, "messages of the system and of tools": 1}
        at = "conversations.json, conversation 1, message"
        assert tally.examples[unknown] == [f"{at} m1: voice_note", f"{at} n0: hologram", f"{at} n1: hologram"]
        assert tally.examples["messages of the system and of tools"] == [f"{at} m2: robot"]


ROOT = "00000000-0000-4000-8000-000000000000"
"""What the first message of a conversation follows, in exports that say it."""


def test_of_a_conversation_with_branches_the_one_with_the_newest_message_is_read(tmp_path):
    branches = chat(
        message("q", "human", "Where shall I go?", parent_message_uuid=ROOT),
        message("old", "assistant", "To Rome.", parent_message_uuid="q"),
        message("edited", "human", "Rome is too hot.", parent_message_uuid="old"),
        message(
            "new", "assistant", "To Oslo.", parent_message_uuid="q", created_at="2025-10-01T11:00:00.000000Z"
        ),
    )
    path = written(tmp_path / "conversations.json", [branches])
    assert [one.id for one in records(path, ImportedMessage)] == ["q", "new"]
    assert [one.why for one in records(path, Skipped)] == ["messages of other branches of a conversation"] * 2


def test_a_conversation_that_goes_round_in_a_circle_is_refused(tmp_path):
    circle = chat(
        message("a", "human", "x", parent_message_uuid="b"),
        message("b", "human", "y", parent_message_uuid="a"),
    )
    with pytest.raises(ImportUnreadable, match="go round in a circle"):
        records(written(tmp_path / "conversations.json", [circle]), ImportedMessage)


def test_a_long_text_that_was_pasted_is_part_of_what_was_said(tmp_path):
    pasted = {"file_name": "", "file_type": "txt", "file_size": 21, "extracted_content": "I live in Lisbon."}
    alone = message("p", "human", attachments=[pasted])
    beside = message("q", "human", "Read this:", attachments=[pasted, {**pasted, "file_name": "report.txt"}])
    path = written(tmp_path / "conversations.json", [chat(alone, beside)])
    assert [one.text for one in records(path, ImportedMessage)] == [
        "I live in Lisbon.",
        "Read this:\n\nI live in Lisbon.",
    ]
    assert [one.why for one in records(path, Skipped)] == ["attachments and files in messages"]


def test_a_conversation_in_which_nobody_spoke_is_left_out(tmp_path):
    path = written(tmp_path / "conversations.json", [chat(), TALK])
    assert "conversations in which nobody said anything" in {one.why for one in records(path, Skipped)}
    assert len(records(path, ImportedSession)) == 1


def test_nobody_may_be_called_claude(tmp_path):
    with pytest.raises(InvalidInput, match="'claude' is what the assistant is called"):
        Claude(written(tmp_path / "conversations.json", [TALK]), Wanted(peer="claude"))


@pytest.mark.parametrize(
    "value",
    [
        [{**TALK, "uuid": None}],
        [{**TALK, "chat_messages": {}}],
        [chat(message("m", "human", "x", created_at="soon"))],
        [chat({"sender": "human", "text": "x"})],
        [7],
    ],
)
def test_a_bad_export_is_refused_by_name(tmp_path, value):
    path = written(tmp_path / "conversations.json", value)
    with pytest.raises(ImportUnreadable, match=r"^conversations\.json, conversation 1"):
        list(Claude(path, ANN).records())
