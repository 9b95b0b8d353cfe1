"""What a cap does not open has no part in what is found: not in its order, its scores, or its reasons."""

from __future__ import annotations

import pytest

from gate.world import KINDS, World, on_sqlite
from reference.embedder import ReferenceEmbedder
from souvenance.core.embedding import embed_some

QUESTIONS = ("tea in May", "which hotel did you book?", "what happened last week?", "unicorn", "ote")
SEEN = (
    "We drank tea in May",
    "The hotel has a river",
    "Which hotel did you book?",
    "The blue one, last week",
)
UNSEEN = ("tea", "tea tea hotel", "a hotel in May, booked last week", "unicorns drink tea", "hotels of note")
NARROW = {
    "by sessions": ({"sessions": ["s"]}, {"session": "s"}, {"session": "t"}),
    "by namespaces": (
        {"namespaces_allowed": ["travel"]},
        {"namespace": "travel"},
        {"namespace": "work"},
    ),
}


@pytest.fixture(params=KINDS)
def make(request, tmp_path):
    made = []

    def one(name):
        parts = {"embedder": ReferenceEmbedder()}
        path = tmp_path / f"{name}.db"
        world = on_sqlite(path, **parts) if request.param == "sqlite" else World(**parts)
        made.append(world)
        return world

    yield one
    for world in made:
        world.store.close()


def told(world, narrowed, inside, outside):
    """All that a narrow cap is answered, after lines were put inside and outside of what it opens."""
    owner = world.issue()
    for number, text in enumerate(SEEN):
        world.put(owner, text, **inside)
        world.clock.advance(seconds=1)
        for unseen in UNSEEN if outside else ():
            world.put(owner, f"{unseen} {number}", **outside)
    while embed_some(world.store, world.services):
        continue
    cap = world.issue(**narrowed)
    found = [world.get(cap, question, k=20, explain=True) for question in QUESTIONS]
    return [[(line.text, line.score, line.matched, line.explanation) for line in lines] for lines in found]


@pytest.mark.parametrize(("narrowed", "inside", "outside"), NARROW.values(), ids=NARROW)
def test_no_answer_tells_what_lies_beyond_a_cap(make, narrowed, inside, outside):
    answers = told(make("part"), narrowed, inside, None)
    assert told(make("whole"), narrowed, inside, outside) == answers
    assert all(score for lines in answers[:3] for _, score, _, _ in lines[:1])
