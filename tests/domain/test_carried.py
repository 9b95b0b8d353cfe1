"""Which kinds and metadata say that a text came from elsewhere."""

from __future__ import annotations

import pytest

from souvenance.domain.line import DOCUMENT, MESSAGE
from souvenance.domain.trust import Trust, is_carried, named

ELSEWHERE = [
    {"role": "tool"},
    {"role": "function"},
    {"role": "developer"},
    {"type": "function_call_output"},
    {"type": "web_search_tool_result"},
    {"type": "ToolMessage"},
    {"type": "Tool Result"},
    {"message_type": "tool_result"},
    {"messageType": "toolResult"},
    {"from": "web_search"},
    {"source_type": "retriever"},
    {"author": {"role": "tool", "name": "browser"}},
    {"toolCallId": "call_1"},
    {"tool_use_id": "toolu_1"},
    {"file_path": "/tmp/notes.txt"},
    {"source_url": "https://example.org"},
]
SPOKEN = [
    {},
    {"role": "user"},
    {"type": "human"},
    {"type": "HumanMessage"},
    {"from": "bob"},
    {"author": {"role": "user"}},
    {"author": {"role": ["tool"]}},
    {"source": "web_app"},
    {"source": "telegram"},
    {"channel": "web"},
    {"platform": "web"},
    {"tool": None, "url": ""},
    {"role": 7},
    {"type": "x" * 10_000},
]


@pytest.mark.parametrize("metadata", ELSEWHERE, ids=str)
def test_what_common_clients_write_of_tools_files_and_pages_is_known(metadata):
    assert is_carried(MESSAGE, metadata)


@pytest.mark.parametrize("metadata", SPOKEN, ids=lambda one: str(one)[:40])
def test_where_somebody_speaks_is_not_where_a_text_is_from(metadata):
    assert not is_carried(MESSAGE, metadata)


@pytest.mark.parametrize("kind", [DOCUMENT, "tool", "tool-result", "web_search", "file"])
def test_a_kind_says_it_too(kind):
    assert is_carried(kind, {})


@pytest.mark.parametrize("kind", [MESSAGE, "memory", "profile", "note", "preference"])
def test_other_kinds_say_nothing(kind):
    assert not is_carried(kind, {})


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("said", Trust.SAID),
        ("suspect", Trust.SUSPECT),
        ("", Trust.SAID),
        ("hearsay", Trust.QUOTED),
    ],
)
def test_a_class_that_another_version_tells_is_understood_with_care(told, meant):
    assert named(told) == meant
