"""mem0's memories become statements about whom they are of, with their times."""

from datetime import UTC, datetime

import pytest

from importers.exports import ANN, written
from souvenance.adapters.importers.json_files import Mem0
from souvenance.domain.imports import ImportedPeer, ImportedStatement, Skipped, Wanted
from souvenance.errors import ImportUnreadable

HIKING = {
    "id": "m1",
    "memory": "Likes hiking in the Alps",
    "hash": "d4a6",
    "user_id": "alex",
    "agent_id": "travel-bot",
    "run_id": "r7",
    "metadata": {"type": "preference"},
    "categories": ["hobbies"],
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": None,
}
TEA = {"id": "m2", "memory": "Drinks green tea", "user_id": "alex", "created_at": "2024-01-01T00:00:00"}


def read(tmp_path, value, wanted=ANN):
    return list(Mem0(written(tmp_path / "memories.json", value), wanted).records())


@pytest.mark.parametrize("shape", [[HIKING, TEA], {"results": [HIKING, TEA], "count": 2, "next": None}])
def test_a_list_and_a_page_say_the_same(tmp_path, shape):
    peer, first, again, second = read(tmp_path, shape)
    assert peer == again == ImportedPeer("alex", "alex")
    assert (first.observer, first.observed, first.text, first.id) == ("alex", "alex", HIKING["memory"], "m1")
    assert first.at == datetime(2024, 7, 20, 8, 30, 36, 275_141, tzinfo=UTC)
    assert first.metadata == {"type": "preference"}
    assert first.origin == {
        "user": "alex",
        "agent": "travel-bot",
        "run": "r7",
        "created_at": HIKING["created_at"],
        "categories": ["hobbies"],
    }
    assert second.at == datetime(2024, 1, 1, tzinfo=UTC)


def test_a_memory_that_was_changed_has_the_time_of_its_change(tmp_path):
    (_, one) = read(tmp_path, [{**TEA, "updated_at": "2025-05-05T05:05:05Z"}])
    assert one.at == datetime(2025, 5, 5, 5, 5, 5, tzinfo=UTC)


def test_memories_of_agents_are_of_them_and_those_of_nobody_are_of_the_peer(tmp_path):
    found = read(
        tmp_path, [{"id": 1, "memory": "is terse", "agent_id": "bot"}, {"id": 2, "memory": "has a dog"}]
    )
    assert [(one.observed, one.id) for one in found if isinstance(one, ImportedStatement)] == [
        ("bot", "1"),
        ("ann", "2"),
    ]


def test_users_keep_apart_whatever_they_are_called(tmp_path):
    users = ["alex@example.com", "alex-example.com", "alex example.com", "Alex", "alex"]
    found = read(tmp_path, [{"id": user, "memory": "x", "user_id": user} for user in users])
    assert len({one.observed for one in found if isinstance(one, ImportedStatement)}) == len(users)


def test_one_person_may_be_called_otherwise_here_and_several_may_not(tmp_path):
    ann = Wanted(peer="ann", renamed=True)
    assert {
        one.observed for one in read(tmp_path, [HIKING, TEA], ann) if isinstance(one, ImportedStatement)
    } == {"ann"}
    with pytest.raises(ImportUnreadable, match="memory 2"):
        read(tmp_path, [HIKING, {**TEA, "user_id": "bob"}], ann)


def test_a_page_that_is_not_the_last_says_so(tmp_path):
    found = read(tmp_path, {"results": [TEA], "next": "https://api.mem0.ai/v1/memories/?page=2"})
    assert "further pages" in next(one.why for one in found if isinstance(one, Skipped))


def test_the_same_memory_twice_without_an_id_is_two(tmp_path):
    _, first, _, second = read(tmp_path, [{"memory": "x"}, {"memory": "x"}])
    assert first.id != second.id
