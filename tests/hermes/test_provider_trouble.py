"""A server in trouble: it costs the wait at most, is counted and left alone, and nothing is lost."""

import json
import statistics
import sys
import time

import pytest

from hermes.honcho_fake import LONGEST_HANG, eventually
from hermes.stage import PATIENCE_SECONDS
from hermes.theatre import (
    AT_ONCE,
    MARGIN,
    QUESTION,
    REST_MS,
    SLOW,
    TIMEOUT,
    TROUBLES,
    WAIT,
    delivered,
    mend,
    runtime_of,
    said,
    timed,
    within,
)


def test_no_turn_from_the_first_of_a_process_on_waits_longer_for_a_server_that_hangs(theatre, honcho):
    theatre.configure(baseUrl=honcho.url, timeout=LONGEST_HANG, recallWait=WAIT)
    honcho.hang()
    provider = theatre.provider()
    for turn in range(1, 6):
        assert timed(lambda turn=turn: theatre.recall(provider, QUESTION, turn)) <= LONGEST_HANG / 10


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_costs_the_wait_at_most_then_nothing_and_passes(theatre, honcho, trouble):
    honcho.think = lambda query, level: "Likes tea."
    provider = theatre.provider()
    theatre.recall(provider, "Good morning to you all.")
    assert eventually(lambda: "May 25" in theatre.recall(provider, QUESTION, 2))
    runtime = runtime_of(theatre)
    trouble(honcho)
    costs = []
    for turn in range(3, 9):
        costs.append(timed(lambda turn=turn: theatre.recall(provider, QUESTION, turn)))
        provider.sync_turn(f"This is turn {turn}.", "")
        eventually(lambda: honcho.under_way == 0 or not runtime.breaker.health.ok, 2 * TIMEOUT)
    assert statistics.median(costs) <= WAIT + MARGIN
    assert eventually(lambda: not runtime.breaker.health.ok)
    other = theatre.provider("other")
    assert within(AT_ONCE, lambda: theatre.recall(other, QUESTION))
    assert eventually(lambda: (noted := theatre.health()) and not noted.ok)
    mend(honcho)

    def well():
        theatre.later(REST_MS)
        return "May 25" in theatre.recall(theatre.provider("new"), QUESTION)

    assert eventually(well), "it does not recover"
    assert eventually(lambda: well() and theatre.health().ok), "a call that was under way failed last"


def test_an_answer_that_breaks_takes_nothing_else_from_a_turn(stage, monkeypatch):
    stage.provider("before").sync_turn("I go to Chengdu on May 25.", "")
    assert delivered(stage)
    asked = []

    def breaks(question):
        asked.append(question)
        raise RuntimeError("the answer breaks")

    monkeypatch.setattr("souvenance.gate.conversation.chat.unrelayed", breaks)
    provider = stage.provider()
    for turn in range(1, 6):
        assert "May 25" in stage.recall(provider, QUESTION, turn)
        assert eventually(lambda turn=turn: len(asked) == turn), "memory was not asked"


def test_an_installation_that_can_not_be_loaded_is_waited_for_by_nobody_and_told(stage, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setitem(sys.modules, "souvenance.adapters.index.ranked", None)
        for turn in range(1, 4):
            assert timed(lambda turn=turn: stage.recall(stage.provider(), QUESTION, turn)) < PATIENCE_SECONDS
        assert eventually(lambda: not runtime_of(stage).breaker.health.ok)
        assert "broken: ModuleNotFoundError" in runtime_of(stage).breaker.health.error
        stage.provider().sync_turn("I go to Chengdu on May 25.", "")
    stage.anew()
    stage.provider()
    stage.flush()
    assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_is_said_in_trouble_is_written_afterwards_in_order_and_once(theatre, honcho, trouble):
    theatre.tell(theatre.provider(), "This was before.", "")
    trouble(honcho)
    texts = [f"This is turn {n}." for n in range(5)]
    costs = [timed(lambda text=text: theatre.provider().sync_turn(text, "")) for text in texts]
    assert statistics.median(costs) <= WAIT
    honcho.wait_for(lambda: False, 0.3)
    mend(honcho)
    theatre.later(REST_MS)
    assert delivered(theatre)
    assert said(honcho) == ["This was before.", *texts]


def tool(provider, name="search"):
    return json.loads(provider.handle_tool_call(f"souvenance_{name}", {"query": "Chengdu"}))


def test_a_tool_that_fails_is_a_failure_and_never_a_success(theatre, honcho):
    provider, breaker = theatre.provider(), runtime_of(theatre).breaker
    assert eventually(lambda: "error" not in tool(provider, "profile"))
    theatre.stop_the_clock()
    honcho.die()
    for failures in range(1, 4):
        assert "hermes souvenance status" in tool(provider, "profile")["hint"]
        assert breaker.health.failures == failures
    assert not breaker.health.ok
    refused = tool(provider, "profile")  # Without asking, so that there is no further failure.
    assert (refused["error"], breaker.health.failures) == ("unavailable", 3)
    assert "server_unreachable" in refused["detail"]
    assert "hermes souvenance status" in refused["hint"]
    honcho.revive()
    theatre.later(REST_MS)
    assert "error" not in tool(provider, "profile")
    assert breaker.health.ok


def test_what_a_tool_is_asked_wrongly_says_nothing_of_the_server(theatre, honcho):
    provider, breaker = theatre.provider(), runtime_of(theatre).breaker
    honcho.die()
    for name in ("search", "profile"):
        assert "error" in tool(provider, name)
    assert "error" in json.loads(provider.handle_tool_call("souvenance_search", {}))
    assert breaker.health.failures == 2


def test_calls_that_hang_are_failures_before_they_end(theatre, honcho):
    theatre.configure(baseUrl=honcho.url, timeout=LONGEST_HANG, recallWait=WAIT)
    provider = theatre.provider()
    theatre.recall(provider, "Good morning to you all.")
    honcho.hang()
    for turn in range(2, 6):
        theatre.recall(provider, QUESTION, turn)
    theatre.stop_the_clock()
    assert eventually(lambda: not runtime_of(theatre).breaker.health.ok, LONGEST_HANG / 2)
    assert within(AT_ONCE, lambda: theatre.recall(theatre.provider("other"), QUESTION))
    assert within(AT_ONCE, lambda: tool(provider))
    assert tool(provider)["error"] == "unavailable"


def test_a_call_that_hangs_is_one_failure(theatre, honcho):
    provider, runtime = theatre.provider(), runtime_of(theatre)
    assert "error" not in tool(provider)
    honcho.hang()
    for failures in (1, 2):
        assert "error" in tool(provider, "profile")
        assert eventually(lambda failures=failures: runtime.breaker.health.failures == failures)


def test_a_tool_is_waited_for_no_longer_than_is_configured(theatre, honcho):
    theatre.configure(baseUrl=honcho.url, timeout=WAIT)
    honcho.pause = lambda asked: WAIT * 2 / 3
    provider = theatre.provider()
    began = time.monotonic()
    assert "error" in json.loads(
        provider.handle_tool_call("souvenance_conclude", {"conclusion": "Likes tea."})
    )
    assert time.monotonic() - began < LONGEST_HANG / 10
    assert honcho.wait_for(lambda: honcho.under_way == 0)


def test_a_server_that_is_too_slow_for_turns_still_answers_tools(theatre, honcho):
    provider, breaker = theatre.provider(), runtime_of(theatre).breaker
    theatre.recall(provider, "Good morning to you all.")
    honcho.pause = lambda asked: SLOW

    def too_slow():
        theatre.recall(provider, QUESTION, 2)
        honcho.wait_for(lambda: honcho.under_way == 0)
        return not breaker.health.ok and breaker.health.error.startswith("slow")

    assert eventually(too_slow)
    assert "error" not in tool(provider, "profile")


@pytest.mark.parametrize("hook", ["on_pre_compress", "shutdown"])
def test_the_end_of_a_conversation_waits_no_longer_than_a_turn(theatre, honcho, hook):
    theatre.configure(baseUrl=honcho.url, timeout=LONGEST_HANG, recallWait=WAIT)
    provider = theatre.provider()
    theatre.recall(provider, "Good morning to you all.")
    honcho.hang()
    provider.sync_turn("This waits in the queue.", "")
    history = [{"role": "user", "content": QUESTION}]
    ends = {"on_pre_compress": lambda: provider.on_pre_compress(history), "shutdown": provider.shutdown}
    assert within(WAIT + AT_ONCE, ends[hook])
    mend(honcho)
    theatre.later(REST_MS)
    assert delivered(theatre)
    assert said(honcho) == ["This waits in the queue."]
