"""How long a turn waits for each of its two layers."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from hermes.scene import configured
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.recalled import Known, Portrait
from souvenance.errors import Unavailable
from souvenance.hermes.host import Window
from souvenance.hermes.recall import CachedConversation, Recall

SEAT = ConversationScope("w", "s", "ann", "hermes", True)
TOLD = Known(user=Portrait("[2026-01-02 09:00:00] Ann plays the bassoon"))
PATIENCE = 30.0


class Awaited(Future):
    """An answer that does not come, and for how long it was waited for."""

    waited = None

    def result(self, timeout=None):
        self.waited = timeout
        raise TimeoutError


class Station:
    """Memory that has what it has for the first layer at once, and nothing for the second."""

    def __init__(self, known, *, near, cold=False):
        self.near = near
        self.second = Awaited()
        self.first = Awaited() if known is None else Future()
        if known is not None:
            self.first.set_result(known)
        self._cold = cold

    def loaded(self, seconds):
        self.loading = seconds
        return True

    def ready(self, seconds):
        return True

    def ask(self, seat, question, patience=None):
        self.question = question
        return self.second if patience is None else self.first

    def cold(self, seat):
        return self._cold


def waited(known, *, near=True, turn=1, **settings):
    """For how long the turn waited for its second layer."""
    runtime = Station(known, near=near)
    configuration = configured(**{"recall_wait": PATIENCE, **settings})
    told = Recall(runtime, configuration, SEAT, CachedConversation(0)).background("What does Ann play?", turn)
    assert ("bassoon" in told) == (known is TOLD)
    return runtime.second.waited


@pytest.mark.parametrize(
    "more", [{}, {"near": False, "recall_wait": None}], ids=["in this process", "far away"]
)
def test_where_the_first_layer_told_something_memory_is_not_waited_for_again(more):
    assert waited(TOLD, **more) is None


@pytest.mark.parametrize("near", [True, False])
def test_the_second_layer_is_asked_for_once_the_first_is_there(near):
    runtime, happened = Station(TOLD, near=near), []
    first, ask = runtime.first.result, runtime.ask
    runtime.first.result = lambda timeout=None: happened.append("the first is there") or first(timeout)
    runtime.ask = lambda seat, question, patience=None: (
        happened.append("asked for the second" if patience is None else "asked for the first")
        or ask(seat, question, patience)
    )
    Recall(runtime, configured(), SEAT, CachedConversation(0)).background("What does Ann play?", 1)
    assert happened == ["asked for the first", "the first is there", "asked for the second"]


class Thinking(Station):
    """Memory that answers what it is asked for the second layer while the model of that turn does."""

    def __init__(self, answers, *, near):
        super().__init__(TOLD, near=near)
        self._answers = answers
        self.asked = []

    def ask(self, seat, question, patience=None):
        if patience is None:
            self.second = Future()
            self.asked.append(self.second)
        return super().ask(seat, question, patience)

    def think(self):
        if self.asked and not self.asked[-1].done():
            answer, asked = next(self._answers), self.asked[-1]
            (asked.set_exception if isinstance(answer, Exception) else asked.set_result)(answer)


def asked_on(answers, turns=9, near=True, **settings):
    """The turns on which memory was asked for the second layer."""
    runtime, live, on = Thinking(iter(answers), near=near), CachedConversation(0), []
    for turn in range(1, turns + 1):
        before = len(runtime.asked)
        Recall(runtime, configured(**settings), SEAT, live).background("What does Ann play?", turn)
        on += [turn] * (len(runtime.asked) - before)
        runtime.think()
    return on


@pytest.mark.parametrize(
    "cadence, turns", [(1, [*range(1, 10)]), (2, [1, 3, 5, 7, 9]), (3, [1, 4, 7]), (5, [1, 6])]
)
def test_an_answer_that_comes_with_the_next_turn_counts_from_when_it_was_asked_for(cadence, turns):
    assert asked_on(["Ann plays."] * 9, dialectic_cadence=cadence) == turns


def test_without_an_answer_memory_is_asked_less_often():
    assert asked_on([""] * 9, dialectic_cadence=1) == [1, 3, 6]


def test_what_went_wrong_is_asked_again_on_the_next_turn():
    answers = [Unavailable("gone"), "Ann plays.", "Ann plays."]
    assert asked_on(answers, turns=5, dialectic_cadence=3) == [1, 2, 5]


def test_where_only_the_first_turn_is_shown_memory_nothing_is_asked_that_comes_too_late():
    assert asked_on(["Ann plays."] * 9, injection_frequency="first-turn") == []


def test_where_only_the_first_turn_is_shown_memory_it_is_asked_if_that_turn_waits():
    settings = {"injection_frequency": "first-turn", "recall_wait": 0.01}
    assert asked_on(["Ann plays."] * 9, turns=3, near=False, **settings) == [1]


@pytest.mark.parametrize(
    "known, more",
    [(Known(), {}), (TOLD, {"near": False})],
    ids=["nothing was told", "a wait for what is far away was chosen"],
)
def test_otherwise_a_turn_waits_as_long_as_it_may(known, more):
    assert PATIENCE / 2 < waited(known, **more) <= PATIENCE


@pytest.mark.parametrize(
    "settings, cold, most",
    [
        ({}, False, 0.3),
        ({}, True, 3.0),
        ({"recall_wait": 0.5}, True, 0.5),
        ({"recall_wait": 5.0}, True, 5.0),
    ],
)
def test_whose_lines_have_yet_to_be_loaded_is_waited_for_longer_unless_a_wait_was_set(settings, cold, most):
    runtime = Station(None, near=True, cold=cold)
    Recall(runtime, configured(**settings), SEAT, CachedConversation(0)).background("What does Ann play?", 1)
    assert most / 2 < runtime.first.waited <= most


@pytest.mark.parametrize("settings, most", [({}, 3.0), ({"recall_wait": 0.5}, 0.5)])
def test_what_answers_is_waited_for_while_it_is_loaded_unless_a_wait_was_set(settings, most):
    runtime = Station(None, near=True)
    Recall(runtime, configured(**settings), SEAT, CachedConversation(0)).background("What does Ann play?", 1)
    assert runtime.loading == most


def test_who_compresses_waits_no_longer_than_a_turn_does():
    runtime = Station(None, near=True, cold=True)
    assert Recall(runtime, configured(), SEAT, CachedConversation(0)).at_once("What does Ann play?") == ""
    assert runtime.loading == 0.3
    assert runtime.first.waited <= 0.3


class Looked:
    """A memory that keeps how the first layer was asked for."""

    def known(self, message, **how):
        return how


@pytest.mark.parametrize(("near", "room"), [(True, 1920), (False, None)])
def test_what_the_agent_said_is_asked_for_apart_only_where_a_second_call_costs_no_way(near, room):
    """Of 1,200 tokens, 1,920 characters are for what was said."""
    runtime, window = Station(None, near=near), Window("said in this chat", ("told before",))
    recall = Recall(runtime, configured(), SEAT, CachedConversation(0), lambda: window)
    recall.at_once("What does Ann play?")
    assert runtime.question(Looked()) == {"shown": "said in this chat\0told before", "room": room}


def test_without_a_limit_all_is_asked_for_in_one_call():
    runtime = Station(None, near=True)
    Recall(runtime, configured(context_tokens=0), SEAT, CachedConversation(0)).at_once("What does Ann play?")
    assert runtime.question(Looked()) == {"shown": "", "room": None}
