"""Meaning: who waits for the embedder, what follows when it fails, and which rooms are left to be seen to."""

import threading

import pytest

from reference.embedder import ReferenceEmbedder
from souvenance.core.embedding_space import Meaning
from souvenance.domain.names import Compartment
from souvenance.errors import Unavailable

ANN, BOB = Compartment("home", "ann", "default"), Compartment("home", "bob", "default")
PATIENT = 30.0


class Clock:
    def __init__(self):
        self.ms = 1_000_000

    def now(self):
        return self.ms


class Slow(ReferenceEmbedder):
    """Answers when it is let go, and counts what it is asked."""

    def __init__(self):
        super().__init__()
        self.go = threading.Event()
        self.begun = threading.Event()
        self.answered = threading.Event()
        self.asked = []

    def question(self, text):
        self.begun.set()
        self.go.wait(PATIENT)
        self.asked.append(text)
        self.answered.set()
        return super().question(text)


class Moody(ReferenceEmbedder):
    fails = True

    def question(self, text):
        if self.fails:
            raise Unavailable("it is out of reach")
        return super().question(text)


def test_without_an_embedder_nothing_means_anything():
    meaning = Meaning(None)
    meaning.touch([ANN])
    assert meaning.vector("hello") is None
    assert not meaning.behind


def test_nobody_waits_for_the_embedder_longer_than_they_said():
    slow = Slow()
    meaning = Meaning(slow)
    assert meaning.vector("hello") is None
    slow.go.set()
    assert slow.answered.wait(PATIENT)


def test_who_is_patient_gets_the_vector_and_a_question_is_embedded_once():
    slow = Slow()
    slow.go.set()
    meaning = Meaning(slow, patience=PATIENT)
    assert meaning.vector("hello") == meaning.vector("hello") == ReferenceEmbedder().question("hello")
    assert slow.asked == ["", "hello"]


def test_a_question_that_is_foreseen_is_embedded_once_and_waited_for():
    slow = Slow()
    slow.go.set()
    meaning = Meaning(slow, patience=PATIENT)
    meaning.vector("hello")
    slow.go.clear()
    slow.begun.clear()
    meaning.expect("goodbye")
    meaning.expect("goodbye")
    assert slow.begun.wait(PATIENT)
    threading.Timer(0.01, slow.go.set).start()
    assert meaning.vector("goodbye") == ReferenceEmbedder().question("goodbye")
    meaning.expect("goodbye")
    assert slow.asked == ["", "hello", "goodbye"]


def test_nothing_is_foreseen_by_an_embedder_that_is_not_loaded_and_a_failure_holds_nobody_up():
    slow = Slow()
    Meaning(slow).expect("hello")
    assert not slow.begun.is_set()
    moody = Moody()
    moody.fails = False
    meaning = Meaning(moody, patience=PATIENT)
    meaning.vector("hello")
    moody.fails = True
    meaning.expect("goodbye")
    assert meaning.vector("goodbye") is None
    assert "out of reach" in meaning.trouble


def test_whoever_stops_it_waits_for_what_is_asked_and_nothing_is_asked_after_that():
    slow = Slow()
    meaning = Meaning(slow)
    meaning.vector("hello")
    assert slow.begun.wait(PATIENT)
    stopped = threading.Event()
    threading.Thread(target=lambda: (meaning.stop(), stopped.set())).start()
    assert not stopped.wait(0.05)
    slow.go.set()
    assert stopped.wait(PATIENT)
    assert slow.asked == [""]
    meaning.expect("hello")
    assert meaning.vector("hello") is None
    assert slow.asked == [""]


def test_an_embedder_that_fails_is_told_of_left_alone_and_asked_again():
    moody, clock = Moody(), Clock()
    meaning = Meaning(moody, now=clock.now, patience=PATIENT)
    meaning.touch([ANN])
    assert meaning.vector("hello") is None
    assert "out of reach" in meaning.trouble
    assert not meaning.behind
    moody.fails = False
    assert meaning.vector("hello") is None
    with pytest.raises(Unavailable, match="out of reach"):
        meaning.passages(moody, ["hello"])
    clock.ms += 60_000
    assert meaning.vector("hello") is not None
    assert meaning.passages(moody, ["hello"])
    assert meaning.trouble == ""
    assert meaning.behind


def test_compartments_are_seen_to_one_after_the_other():
    clock = Clock()
    meaning = Meaning(ReferenceEmbedder(), now=clock.now)
    meaning.touch([ANN, BOB, ANN])
    clock.ms += 60_000
    assert meaning.next_compartment() == ANN
    meaning.done(ANN)
    assert meaning.next_compartment() == BOB
    meaning.done(BOB)
    assert not meaning.behind


def test_a_compartment_that_was_being_written_to_is_looked_at_once_more():
    """A line is told of before its transaction ends, and may not be seen at once."""
    clock = Clock()
    meaning = Meaning(ReferenceEmbedder(), now=clock.now)
    meaning.touch([ANN])
    meaning.done(ANN)
    assert not meaning.behind
    clock.ms += 10_000
    assert meaning.next_compartment() == ANN
    meaning.done(ANN)
    clock.ms += 10_000
    assert not meaning.behind
