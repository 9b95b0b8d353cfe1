"""The floor where lines have no vector yet: they are judged by their words, and by those alone."""

from __future__ import annotations

import pytest

from gate.world import KINDS, World, on_sqlite
from reference.embedder import DIMENSIONS, ReferenceEmbedder
from souvenance.adapters.embed.local import packed
from souvenance.core.embedding import embed_some
from souvenance.domain.names import Compartment

FLIGHT = "I'm flying to Ljubljana with Petra on Saturday"
TRAVEL = Compartment("default", "alice", "travel")
MANY = 1_001


class FarApart(ReferenceEmbedder):
    """Where every line lies opposite to every question."""

    def question(self, text):
        return packed([1.0] + [0.0] * (DIMENSIONS - 1))

    def passages(self, texts):
        return [packed([-1.0] + [0.0] * (DIMENSIONS - 1)) for _ in texts]


@pytest.fixture(params=KINDS)
def make(request, tmp_path):
    made = []

    def one(embedder):
        parts = {"embedder": embedder}
        world = on_sqlite(tmp_path / "book.db", **parts) if request.param == "sqlite" else World(**parts)
        made.append(world)
        return world

    yield one
    for world in made:
        world.store.close()


def floored(world, cap, query):
    return world.texts(cap, query, floor=True)


def embed_all(world):
    while embed_some(world.store, world.services):
        pass


def of_another_embedder(world, embedder):
    """A world on the same book, whose embedder made none of the vectors there."""
    kept = {"keyring": world.keyring, "clock": world.clock, "entropy": world.entropy}
    return World(store=world.store, embedder=embedder, **kept)


def test_a_line_that_has_no_vector_yet_is_shown_for_its_words(make):
    world = make(FarApart())
    cap = world.issue()
    world.put(cap, FLIGHT)
    assert floored(world, cap, "who is flying to Ljubljana with me?") == [FLIGHT]
    assert floored(world, cap, "what does the dentist charge?") == []


def test_a_line_whose_vector_lies_far_is_not_shown_for_its_words(make):
    world = make(FarApart())
    cap = world.issue()
    world.put(cap, FLIGHT)
    embed_all(world)
    assert world.texts(cap, "who is flying to Ljubljana with me?") == [FLIGHT]
    assert floored(world, cap, "who is flying to Ljubljana with me?") == []
    world.put(cap, "my dentist is called Dr. Kranjc")
    assert floored(world, cap, "who is flying to Ljubljana with me?") == []
    assert floored(world, cap, "what is my dentist called?")


def test_while_another_embedder_has_yet_to_place_the_lines_they_are_shown_for_their_words(make):
    old = make(ReferenceEmbedder("old"))
    cap = old.issue()
    old.put(cap, FLIGHT)
    embed_all(old)
    world = of_another_embedder(old, FarApart("new"))
    assert floored(world, cap, "who is flying to Ljubljana with me?") == [FLIGHT]
    world.services.meaning.touch([TRAVEL])
    embed_all(world)
    assert floored(world, cap, "who is flying to Ljubljana with me?") == []


def test_however_many_lines_wait_before_it_a_line_is_shown_for_its_words():
    world = World(embedder=FarApart())
    cap = world.issue()
    for number in range(MANY):
        world.put(cap, f"lamp {number} is broken")
    world.put(cap, FLIGHT)
    assert floored(world, cap, "who is flying to Ljubljana with me?")[0] == FLIGHT
    assert floored(world, cap, "what does the dentist charge?") == []
