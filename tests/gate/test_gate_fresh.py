"""What was just written is found by the next question, before any work behind the requests was done."""

from __future__ import annotations

import threading

import pytest

from gate.world import KINDS, World, on_sqlite
from reference.embedder import ReferenceEmbedder
from souvenance.adapters.embed.local import packed
from souvenance.core.embedding import embed_some
from souvenance.errors import Unavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o

PETS = ("terrier", "pet", "animal")
SHARES_NO_WORD = "Rex the terrier sleeps downstairs"
QUESTION = "which animal lives here?"


class ByTopic(ReferenceEmbedder):
    """Texts lie together if both speak of pets, or neither does. It counts the texts it is given."""

    def __init__(self):
        super().__init__()
        self.passages_made = []

    def question(self, text):
        return packed([1.0, 0.0] if any(word in text.casefold() for word in PETS) else [0.0, 1.0])

    def passages(self, texts):
        self.passages_made += texts
        return [self.question(text) for text in texts]


class Stuck(ByTopic):
    """Answers questions, and gives no vector of a line until it is let go."""

    def __init__(self):
        super().__init__()
        self.go = threading.Event()

    def passages(self, texts):
        self.go.wait(30)
        return super().passages(texts)


class Telling(ByTopic):
    """Tells when it has made a vector."""

    def __init__(self):
        super().__init__()
        self.made = threading.Event()

    def passages(self, texts):
        found = super().passages(texts)
        self.made.set()
        return found


class Failing(ByTopic):
    def passages(self, texts):
        raise Unavailable("it is out of reach")


@pytest.fixture(params=KINDS)
def make(request, tmp_path):
    made = []

    def one(embedder=None):
        parts = {"embedder": embedder or ByTopic()}
        world = on_sqlite(tmp_path / "book.db", **parts) if request.param == "sqlite" else World(**parts)
        made.append(world)
        return world

    yield one
    for world in made:
        world.services.meaning.stop()
        world.store.close()


def matched(world, cap, query=QUESTION, **fields):
    return [line.text for line in world.get(cap, query, **fields) if line.matched]


def embed_all(world):
    while embed_some(world.store, world.services):
        pass


def test_a_line_is_found_by_its_meaning_by_the_next_question(make):
    world = make()
    cap = world.issue()
    world.put(cap, "the train leaves at nine")
    assert matched(world, cap) == []
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap) == [SHARES_NO_WORD]


def test_a_new_line_that_answers_better_is_not_ranked_below_an_older_one_that_has_its_vector(make):
    world = make()
    cap = world.issue()
    world.put(cap, "the cat is a pet of the neighbours")
    embed_all(world)
    newer = world.put(cap, "our animal here is Rex the terrier")
    before = [line.id for line in world.get(cap, QUESTION) if line.matched]
    embed_all(world)
    assert before == [line.id for line in world.get(cap, QUESTION) if line.matched]
    assert before[0] == newer


def test_what_is_shown_unasked_may_be_what_was_just_written(make):
    world = make()
    cap = world.issue()
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap, floor=True) == [SHARES_NO_WORD]


def test_a_line_that_was_forgotten_is_not_found_by_the_vector_made_for_a_question(make):
    world = make()
    cap = world.issue()
    line_id = world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap) == [SHARES_NO_WORD]
    world.call(o.FORGET, cap, m.Forget(id=line_id))
    assert matched(world, cap) == []


def test_the_vector_of_a_line_is_begun_as_it_is_written_before_anybody_asks(make):
    world = make(Telling())
    cap, embedder = world.issue(), world.services.meaning.embedder
    world.put(cap, "the train leaves at nine")
    assert matched(world, cap) == []
    embedder.made.clear()
    world.put(cap, SHARES_NO_WORD)
    assert embedder.made.wait(30)
    assert SHARES_NO_WORD in embedder.passages_made[-1]
    assert matched(world, cap) == [SHARES_NO_WORD]
    assert len(embedder.passages_made) == 2


def test_of_many_lines_at_once_the_rest_is_left_to_the_work_behind_the_requests(make):
    world = make(Telling())
    cap, embedder = world.issue(), world.services.meaning.embedder
    world.put(cap, "the train leaves at nine")
    assert matched(world, cap) == []
    embedder.made.clear()
    for number in range(30):
        world.put(cap, f"remark {number} about the weather")
    assert embedder.made.wait(30)
    world.services.meaning.stop()
    assert 1 < len(embedder.passages_made) <= 5


def test_a_vector_is_made_once_whoever_asks_and_stored_by_the_work_behind_the_requests(make):
    world = make()
    cap = world.issue()
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap) == [SHARES_NO_WORD]
    embed_all(world)
    assert len(world.services.meaning.embedder.passages_made) == 1
    assert world.call(o.STATUS, cap, m.Nothing()).waiting == 0
    assert matched(world, cap) == [SHARES_NO_WORD]
    assert len(world.services.meaning.embedder.passages_made) == 1


def test_a_question_makes_vectors_of_a_bounded_amount_of_text_and_of_the_newest_first(make):
    world = make()
    cap = world.issue()
    for number in range(200):
        world.put(cap, f"remark {number} about the weather")
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap) == [SHARES_NO_WORD]
    made = world.services.meaning.embedder.passages_made
    assert SHARES_NO_WORD in made[0]
    assert len(made) < 70


def test_a_long_line_is_found_by_its_meaning_too(make):
    world = make()
    cap = world.issue()
    text = f"Rex the terrier. {'It rained again. ' * 1000}"
    world.put(cap, text)
    assert matched(world, cap) == [text]


def test_a_question_does_not_wait_long_for_an_embedder_that_is_stuck_and_finds_by_words(make):
    world = make(Stuck())
    cap = world.issue()
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap, "where does Rex sleep?") == [SHARES_NO_WORD]
    assert matched(world, cap) == []
    world.services.meaning.embedder.go.set()


def test_an_embedder_that_fails_for_new_lines_leaves_them_to_be_found_by_words(make):
    world = make(Failing())
    cap = world.issue()
    world.put(cap, SHARES_NO_WORD)
    assert matched(world, cap, "where does Rex sleep?") == [SHARES_NO_WORD]
    assert "out of reach" in world.services.meaning.trouble


def test_nobody_else_s_new_line_is_found(make):
    world = make()
    world.put(world.issue(sub="bob"), SHARES_NO_WORD)
    world.put(world.issue(), SHARES_NO_WORD, namespace="work")
    assert matched(world, world.issue(namespaces_allowed=["travel"])) == []
