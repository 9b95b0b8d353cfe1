"""Letta's agent files, and episodes of Graphiti and Zep: who said it, when, and what is left out."""

import json

import pytest

from importers.exports import ANN, written
from souvenance.adapters.importers import recognised
from souvenance.adapters.importers.agent_memory import Episodes, Letta
from souvenance.commands import DataTransfers
from souvenance.domain.imports import ImportedMessage, ImportedPeer, ImportedStatement, Skipped
from souvenance.errors import ImportUnreadable


def letta_message(role, text, at="2025-10-31T22:56:56.459100+00:00", **more):
    """A message with the members that letta 0.16.8 writes."""
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "text", "text": text, "signature": None}] if text is not None else None,
        "name": None,
        "id": "message-0",
        "model": "gpt-4o-mini",
        "agent_id": "agent-0",
        "tool_calls": None,
        "tool_call_id": None,
        "tool_returns": [],
        "created_at": at,
        **more,
    }


def sent(text):
    call = {"id": "c", "type": "function", "function": {"name": "send_message", "arguments": text}}
    return letta_message("assistant", "thinking aloud", tool_calls=[call])


EVENT = json.dumps({"type": "user_message", "message": "I bake bread.", "time": "2025-10-31 10:56:56 PM UTC"})
AGENT_FILE = {
    "agents": [
        {
            "name": "Sam the agent",
            "system": "You are Sam.",
            "block_ids": ["block-0", "block-1", "block-9"],
            "id": "agent-0",
            "in_context_message_ids": ["message-0"],
            "messages": [
                letta_message("system", "You are Sam."),
                letta_message("user", "I live in Lisbon."),
                letta_message("assistant", "A fine city."),
                letta_message("user", EVENT),
                sent('{"message": "What kind?"}'),
                letta_message("user", '{"type": "heartbeat", "reason": "again"}'),
                letta_message("tool", "done", tool_call_id="c"),
                letta_message("assistant", None),
            ],
            "files_agents": [],
        }
    ],
    "groups": [],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "First name: Chad\n\nLikes sailing.", "limit": 20000},
        {"id": "block-1", "label": "persona", "value": "I am Sam.", "limit": 20000},
    ],
    "files": [{"id": "file-0", "content": "a manual"}],
    "sources": [],
    "tools": [],
    "mcp_servers": [],
    "created_at": "2025-10-31T22:57:00+00:00",
}


def records(made, path, kind):
    return [one for one in made(path, ANN).records() if isinstance(one, kind)]


def test_an_agent_file_tells_what_the_two_said_and_what_the_agent_noted(tmp_path):
    path = written(tmp_path / "sam.af", AGENT_FILE)
    sam = records(Letta, path, ImportedPeer)[1]
    assert (sam.id, sam.observed) == ("Sam the agent", False)
    assert [(one.peer, one.text) for one in records(Letta, path, ImportedMessage)] == [
        ("ann", "I live in Lisbon."),
        (sam.name, "A fine city."),
        ("ann", "I bake bread."),
        (sam.name, "What kind?"),
    ]
    noted = [(one.observed, one.text) for one in records(Letta, path, ImportedStatement)]
    assert noted == [("ann", "First name: Chad"), ("ann", "Likes sailing."), (sam.name, "I am Sam.")]
    left = [one.why for one in records(Letta, path, Skipped)]
    assert left.count("messages of the system and of tools") == 4
    assert left.count("files that agents could open") == 1


def test_what_of_an_agent_file_is_not_understood_is_told_by_its_place(tmp_path):
    picture = {"type": "image", "source": {}}
    [agent] = AGENT_FILE["agents"]
    seen = letta_message("user", "Look.")
    unseen = {**letta_message("assistant", None), "content": [picture]}
    whole = {
        **AGENT_FILE,
        "agents": [{**agent, "messages": [{**seen, "content": [*seen["content"], picture]}, unseen]}],
        "blocks": [*AGENT_FILE["blocks"], {"id": "block-7", "label": "human", "value": "x"}],
    }
    path = written(tmp_path / "sam.af", whole)
    assert [one.text for one in records(Letta, path, ImportedMessage)] == ["Look."]
    assert [(one.why, one.place) for one in records(Letta, path, Skipped)] == [
        ("parts of messages that are not text", "sam.af, agent 1, message 1: image"),
        ("parts of messages that are not text", "sam.af, agent 1, message 2: image"),
        ("messages of the system and of tools", "sam.af, agent 1, message 2: assistant"),
        ("blocks that no agent has", "sam.af, block block-7"),
        ("blocks that the file does not hold", "sam.af, block block-9"),
        ("files that agents could open", "sam.af, file 1"),
    ]


def test_an_empty_page_of_episodes_holds_nothing(tmp_path):
    empty = written(tmp_path / "zep.json", {"items": [], "next_cursor": None})
    assert records(Episodes, empty, Skipped) == records(Episodes, empty, ImportedMessage) == []


def test_an_agent_file_is_taken_in_once(tmp_path, mine):
    path = written(tmp_path / "sam.af", AGENT_FILE)
    assert (mine.take(Letta(path, ANN)).messages, mine.take(Letta(path, ANN)).messages) == (4, 0)
    renumbered = {**AGENT_FILE, "agents": [{**AGENT_FILE["agents"][0]}]}
    renumbered["agents"][0]["messages"] = [
        {**one, "id": f"message-{number}"} for number, one in enumerate(AGENT_FILE["agents"][0]["messages"])
    ]
    assert mine.take(Letta(written(path, renumbered), ANN)).messages == 0


def test_an_agent_that_is_called_as_its_person_is_refused(tmp_path):
    named = {**AGENT_FILE, "agents": [{**AGENT_FILE["agents"][0], "name": "ann"}]}
    with pytest.raises(ImportUnreadable, match="agent 1: it is called as you are"):
        list(Letta(written(tmp_path / "a.af", named), ANN).records())


def episode(uuid, content, source, at, **more):
    """An episode as graphiti-core 0.31.2 gives it: `EpisodicNode(…).model_dump(mode="json")`."""
    return {
        "uuid": uuid,
        "name": "chat 1",
        "group_id": "g1",
        "labels": [],
        "created_at": "2026-01-05T09:01:00Z",
        "source": source,
        "source_description": "chat",
        "content": content,
        "valid_at": at,
        "entity_edges": [],
        "episode_metadata": None,
        **more,
    }


GRAPHITI = [
    episode("e-2", "Ann is a baker.", "text", "2026-01-03T00:00:00Z"),
    episode(
        "e-1",
        "user: I moved to Lisbon.\nI like it.\nassistant: Welcome!\nBo: Hi.",
        "message",
        "2026-01-02T09:00:00Z",
    ),
    episode("e-3", '{"city": "Lisbon"}', "json", "2026-01-04T00:00:00Z", episode_metadata={"n": 1}),
    episode("e-4", " ", "text", "2026-01-04T00:00:00Z"),
]


def test_graphiti_s_episodes_come_in_the_order_of_their_times(tmp_path):
    path = written(tmp_path / "graph.json", GRAPHITI)
    assert recognised(str(path)) == "episodes"
    said = records(Episodes, path, ImportedMessage)
    assert [(one.peer, one.text, one.session, one.id) for one in said] == [
        ("ann", "I moved to Lisbon.\nI like it.", "episodes-g1", "e-1"),
        ("assistant", "Welcome!", "episodes-g1", "e-1#2"),
        ("Bo", "Hi.", "episodes-g1", "e-1#3"),
    ]
    assert said[0].at.isoformat() == "2026-01-02T09:00:00+00:00"
    stated = records(Episodes, path, ImportedStatement)
    assert [(one.id, one.text, dict(one.metadata)) for one in stated] == [
        ("e-2", "Ann is a baker.", {}),
        ("e-3", '{"city": "Lisbon"}', {"n": 1}),
    ]
    assert stated[0].origin == {"name": "chat 1", "source": "chat", "group": "g1"}
    assert [one.why for one in records(Episodes, path, Skipped)] == ["episodes without a text"]


ZEP = {
    "items": [
        {
            "content": text,
            "created_at": "2026-01-02T09:00:00Z",
            "metadata": {"a": 1},
            "processed": True,
            "reference_time": at,
            "role": role,
            "role_name": name,
            "source": "message",
            "source_description": None,
            "thread_uuid": "t-1",
            "user_uuid": "u-1",
            "uuid": uuid,
        }
        for uuid, role, name, text, at in (
            ("z-2", "assistant", None, "Welcome: enjoy it.", "2026-01-02T09:00:05Z"),
            ("z-1", "user", "Bo", "I moved to Lisbon.", "2026-01-02T09:00:00Z"),
            ("z-3", "tool", None, "42", "2026-01-02T09:00:09Z"),
        )
    ],
    "next_cursor": "more",
}


def test_a_page_of_zep_tells_who_spoke_and_that_there_are_more(tmp_path, mine):
    path = written(tmp_path / "zep.json", ZEP)
    assert recognised(str(path)) == "episodes"
    assert [(one.peer, one.text) for one in records(Episodes, path, ImportedMessage)] == [
        ("Bo", "I moved to Lisbon."),
        ("assistant", "Welcome: enjoy it."),
    ]
    looked = mine.look_through(DataTransfers().open_source(str(path), None, ANN))
    assert (looked.messages, looked.peers, looked.sessions) == (2, 3, 1)
    tally = mine.take(DataTransfers().open_source(str(path), None, ANN))
    assert (tally.messages, tally.peers, tally.sessions) == (2, 3, 1)
    assert tally.skipped == {
        "further pages, which the file names and does not hold": 1,
        "messages of the system and of tools": 1,
    }
    assert mine.take(DataTransfers().open_source(str(path), None, ANN)).messages == 0


def test_a_page_of_zep_s_messages_is_read_too(tmp_path):
    page = {"items": [{"uuid": "m", "role": "user", "name": "Bo", "content": "Hello.", "thread_uuid": "t"}]}
    (one,) = records(Episodes, written(tmp_path / "m.json", page), ImportedMessage)
    assert (one.peer, one.session, one.text, one.at) == ("Bo", "episodes-t", "Hello.", None)


@pytest.mark.parametrize(
    "value",
    [
        {"agents": [{"name": 7}], "blocks": []},
        {
            "agents": [
                {"name": "x", "messages": [{"role": "user", "created_at": "yesterday", "content": "x"}]}
            ]
        },
        {"agents": {}},
        [7],
    ],
)
def test_a_bad_agent_file_is_refused_by_name(tmp_path, value):
    with pytest.raises(ImportUnreadable, match=r"^bad\.af"):
        list(Letta(written(tmp_path / "bad.af", value), ANN).records())


@pytest.mark.parametrize(
    "value", [[7], [{"content": 7}], [{"content": "x", "uuid": "u", "valid_at": "soon"}], {"items": [3]}]
)
def test_bad_episodes_are_refused_by_name(tmp_path, value):
    with pytest.raises(ImportUnreadable, match=r"^bad\.json"):
        list(Episodes(written(tmp_path / "bad.json", value), ANN).records())
