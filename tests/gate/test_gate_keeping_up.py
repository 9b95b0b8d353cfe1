"""What is written is told to the index, which follows it while nothing else is to do."""

from __future__ import annotations

from gate.world import World
from reference.embedder import ReferenceEmbedder
from reference.index import ReferenceIndex
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.worker import Worker

KEPT_UP = "kept up"


class HeardIndex(ReferenceIndex):
    """An index that notes what it is told."""

    def __init__(self):
        self.heard = []

    def touch(self, compartment, *, vectors=False):
        self.heard.append(f"vectors of {compartment.owner}" if vectors else compartment.owner)

    def keep_up(self, store, readings):
        self.heard.append(KEPT_UP)


def worker(world):
    return Worker(
        store=world.store,
        clock=world.clock,
        services=world.services,
        secret=lambda: b"",
        report=lambda told: None,
    )


def test_the_index_is_told_of_a_line_and_keeps_up_where_nothing_is_to_do():
    world = World(index=HeardIndex())
    world.put(world.issue(), "hotel in Chengdu")
    assert not worker(world).work_once()
    assert world.services.index.heard == ["alice", KEPT_UP]


def test_the_index_is_told_of_vectors_once_they_are_kept():
    world = World(index=HeardIndex(), embedder=ReferenceEmbedder())
    world.put(world.issue(), "hotel in Chengdu")
    shop = worker(world)
    while shop.work_once():
        pass
    assert world.services.index.heard == ["alice", "vectors of alice", KEPT_UP]


def test_the_index_keeps_up_once_what_follows_from_a_message_is_written():
    world = World(index=HeardIndex())
    said = NewMessage(content="I live in Chengdu", peer_id="bob")
    world.call(
        ADD_MESSAGES,
        world.operator(),
        AddMessages(workspace_id="default", session_id="noon", messages=[said]),
    )
    shop = worker(world)
    while shop.work_once():
        assert KEPT_UP not in world.services.index.heard
    assert world.services.index.heard == ["bob", "bob", KEPT_UP]
