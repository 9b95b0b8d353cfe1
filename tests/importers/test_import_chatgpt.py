"""ChatGPT's export: the branch that was seen last, what the two said, and nothing that was put between."""

import json
import zipfile
from datetime import UTC, datetime

import pytest

from importers.exports import ANN, conversation, said, written
from souvenance.adapters.importers.json_files import ChatGPT
from souvenance.domain.imports import ImportedMessage, ImportedPeer, ImportedSession, Skipped, Wanted
from souvenance.errors import ImportUnreadable, InvalidInput


def read(tmp_path, *conversations, name="conversations.json"):
    return list(ChatGPT(written(tmp_path / name, list(conversations)), ANN).records())


def messages(records):
    return [one for one in records if isinstance(one, ImportedMessage)]


def skipped(records):
    return [one.why for one in records if isinstance(one, Skipped)]


def test_user_and_assistant_speak_in_turn_with_their_times(tmp_path):
    found = read(
        tmp_path,
        conversation(
            said("Where is Chengdu?", at=1_700_000_000.25),
            said("In Sichuan.", "assistant", at=1_700_000_005, metadata={"model_slug": "gpt-4o"}),
        ),
    )
    assert [one for one in found if isinstance(one, ImportedPeer)] == [
        ImportedPeer("ann", "ann"),
        ImportedPeer("chatgpt", "chatgpt", observed=False),
    ]
    (session,) = [one for one in found if isinstance(one, ImportedSession)]
    assert session.name == "chatgpt-8f3a2b1c-0000-4000-8000-000000000001"
    assert session.metadata == {"title": "A talk"} and set(session.members) == {"ann", "chatgpt"}
    first, second = messages(found)
    assert (first.peer, first.text, first.id) == ("ann", "Where is Chengdu?", "m0")
    assert first.at == datetime(2023, 11, 14, 22, 13, 20, 250_000, tzinfo=UTC)
    assert (second.peer, second.text, second.origin["model"]) == ("chatgpt", "In Sichuan.", "gpt-4o")


def test_drafts_on_other_branches_are_left_out(tmp_path):
    talk = conversation(said("I live in Lisbon."), said("Noted.", "assistant"))
    talk["mapping"]["x"] = {
        "message": {"id": "x", **said("I live in Berlin.")},
        "parent": "root",
        "children": [],
    }
    talk["mapping"]["root"]["children"].append("x")
    assert [one.text for one in messages(read(tmp_path, talk))] == ["I live in Lisbon.", "Noted."]


def test_without_a_current_node_the_newest_branch_is_taken(tmp_path):
    talk = conversation(said("old", at=1.0), current_node=None)
    talk["mapping"]["x"] = {"message": {"id": "x", **said("new", at=2.0)}, "parent": "root", "children": []}
    assert [one.text for one in messages(read(tmp_path, talk))] == ["new"]


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (said("You are helpful.", "system"), "system"),
        (said("{}", "tool"), "system"),
        (said("search('x')", "assistant", recipient="browser"), "system"),
        (said("likes tea", "assistant", recipient="bio"), "system"),
        (said("secret", metadata={"is_visually_hidden_from_conversation": True}), "hidden"),
        (said("secret", weight=0.0), "hidden"),
        (said("hm", "assistant", content={"content_type": "thoughts", "thoughts": []}), "thinking"),
        (said("hm", "assistant", channel="analysis"), "thinking"),
        (said("about me", content={"content_type": "user_editable_context", "user_profile": "x"}), "in mind"),
        (said("about me", metadata={"is_user_system_message": True}), "in mind"),
        (said("print(1)", "assistant", content={"content_type": "code", "text": "print(1)"}), "not text"),
        (said("", "assistant"), "empty"),
    ],
)
def test_what_nobody_said_to_the_other_is_left_out_and_counted(tmp_path, noise, why):
    found = read(tmp_path, conversation(said("hello"), noise, said("bye")))
    assert [one.text for one in messages(found)] == ["hello", "bye"]
    assert len(skipped(found)) == 1 and why in skipped(found)[0]


def test_of_a_message_with_pictures_and_sound_the_words_are_kept(tmp_path):
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        "What is this?",
        {"content_type": "audio_transcription", "text": "spoken words"},
    ]
    found = read(
        tmp_path, conversation(said("", content={"content_type": "multimodal_text", "parts": parts}))
    )
    assert [one.text for one in messages(found)] == ["What is this?\n\nspoken words"]
    assert skipped(found) == ["pictures, sounds and files in messages"]


def test_a_message_without_a_time_has_that_of_the_one_before(tmp_path):
    talk = conversation(said("a", at=None), said("b", at=1_700_000_050), said("c", at=None))
    times = [one.at.timestamp() for one in messages(read(tmp_path, talk))]
    assert times == [1_700_000_000, 1_700_000_050, 1_700_000_050]


def test_ids_that_are_no_names_become_sessions_that_are_never_the_same(tmp_path):
    odd = ["a b", "a-b", "a/b", "a\0b", "é" * 300, "a-b-" + "0" * 32]
    found = read(tmp_path, *(conversation(said("x"), id=one) for one in odd))
    names = [one.name for one in found if isinstance(one, ImportedSession)]
    assert len(set(names)) == len(odd)
    assert all(name.startswith("chatgpt-") and len(name) < 120 for name in names)


def test_a_zip_is_read_without_being_unpacked_also_in_parts(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations-001.json", json.dumps([conversation(said("two"), id="two")]))
        archive.writestr("conversations-000.json", json.dumps([conversation(said("one"), id="one")]))
    found = list(ChatGPT(path, ANN).records())
    assert [one.text for one in messages(found)] == ["one", "two"]
    assert sorted(tmp_path.iterdir()) == [path]


def test_an_empty_conversation_makes_no_session(tmp_path):
    found = read(tmp_path, conversation(said("You are helpful.", "system")))
    assert not [one for one in found if isinstance(one, ImportedSession)]
    assert "conversations in which nobody said anything" in skipped(found)


def test_nobody_can_be_called_what_chatgpt_is_called(tmp_path):
    with pytest.raises(InvalidInput):
        ChatGPT(written(tmp_path / "conversations.json", []), Wanted(peer="chatgpt"))


def test_a_circle_of_messages_is_noticed(tmp_path):
    talk = conversation(said("a"), said("b"))
    talk["mapping"]["m0"]["parent"] = "m1"
    with pytest.raises(ImportUnreadable, match="conversation 2: its messages go round in a circle"):
        read(tmp_path, conversation(said("x")), talk)
