"""Many people at once: everybody has their memory, and nobody waits behind another's trouble."""

import threading
from collections import Counter

import pytest

from hermes.honcho_fake import LONGEST_HANG, Honcho, eventually
from hermes.stage import PATIENCE_SECONDS, Stage

QUESTION = "When do I go to Chengdu?"
LOOK_UPS = 4
"""What a person needs of a server for one turn; no summary, since others may have spoken."""


@pytest.fixture
def honcho():
    with Honcho() as made:
        yield made


@pytest.fixture
def near(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


@pytest.fixture
def far(tmp_path, honcho):
    made = Stage(tmp_path, baseUrl=honcho.url)
    yield made
    honcho.awake()
    made.close()


def person(stage, number, chat="one"):
    return stage.provider(f"s{number}", "api_server", gateway_session_key=f"user:u{number}:{chat}")


def known(honcho, people):
    for number in range(people):
        honcho.state("hermes", f"api-user-u{number}", f"u{number} goes to Chengdu on May {number}.")


def all_at_once(stage, people):
    """What everybody is told who asks at the same moment."""
    told, start = {}, threading.Barrier(people)

    def ask(number):
        provider = person(stage, number)
        start.wait()
        told[number] = stage.recall(provider, QUESTION)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(people)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    return told


def recalled(told):
    return [number for number in sorted(told) if f"May {number}" in told[number]]


def runtime_of(stage):
    return stage.runtime(stage.configuration(stage.home, "default")[0])


def test_everybody_has_their_memory_from_the_store_in_this_process(near):
    for number in range(24):
        person(near, number, "another").sync_turn(f"I go to Chengdu on May {number}.", "")
    near.flush()
    assert recalled(all_at_once(near, 24)) == list(range(24))


def test_eight_people_in_the_moment_in_which_memory_is_loaded_all_have_theirs(near):
    for number in range(8):
        person(near, number, "another").sync_turn(f"I go to Chengdu on May {number}.", "")
    near.flush()
    assert recalled(all_at_once(near.anew(), 8)) == list(range(8))


def together(stage, honcho, people):
    """What everybody is told, if all that they need was asked for at one moment and nothing after it.

    So it takes everybody as long as the server takes for one answer.
    """
    before, seen = len(honcho.asked), []
    honcho.hang()

    def look_ups():
        return sum(not one.path.endswith("/chat") for one in honcho.asked[before:])

    def watch():
        seen.append(honcho.wait_for(lambda: look_ups() == people * LOOK_UPS))
        honcho.awake()

    watching = threading.Thread(target=watch)
    watching.start()
    told = all_at_once(stage, people)
    watching.join()
    assert seen == [True], "some of it was asked for only after an answer to the rest"
    assert look_ups() == people * LOOK_UPS
    return told


def test_what_two_dozen_people_need_is_all_asked_for_at_one_moment_and_nothing_after_it(far, honcho):
    known(honcho, 24)
    person(far, 0).handle_tool_call("souvenance_profile", {})
    assert recalled(together(far, honcho, 24)) == list(range(24))


def thinking(stage, honcho):
    """Twenty people wait for an answer of the server about them, in the background."""
    for number in range(20):
        provider = person(stage, number % 10, f"chat-{number}")
        threading.Thread(target=stage.recall, args=(provider, QUESTION), daemon=True).start()

    def all_asked():
        chats = sum(one.path.endswith("/chat") for one in honcho.asked)
        return chats == 12 and len(honcho.asked) - chats == 20 * LOOK_UPS

    assert honcho.wait_for(all_asked)


def test_who_thinks_long_about_some_keeps_nobody_from_their_memory(far, honcho):
    known(honcho, 10)
    honcho.pause = lambda asked: LONGEST_HANG if asked.path.endswith("/chat") else 0.0
    thinking(far, honcho)
    far.configure(baseUrl=honcho.url, recallWait=3)
    assert recalled(together(far, honcho, 10)) == list(range(10))


def test_who_gives_up_before_memory_was_asked_holds_it_against_nobody(far, honcho):
    known(honcho, 1)
    assert "May 0" in far.recall(person(far, 0), QUESTION)
    runtime, gate = runtime_of(far), threading.Event()
    busy = [runtime._lookups.give(gate.wait) for _ in range(24)]
    far.configure(baseUrl=honcho.url, recallWait=0.05)
    asked = len(honcho.requests("/context$"))
    for turn in range(2, 8):
        far.recall(person(far, 0), QUESTION, turn)
    assert runtime.breaker.health.failures == 0
    gate.set()
    assert [one.result(PATIENCE_SECONDS) for one in busy] == [True] * 24
    far.configure(baseUrl=honcho.url)
    assert "May 0" in far.recall(person(far, 0), QUESTION, 8)
    assert len(honcho.requests("/context$")) == asked + 1, "what was given up is asked for all the same"


def test_a_server_is_not_blamed_for_what_no_hand_was_free_to_ask(far, honcho):
    known(honcho, 1)
    assert "May 0" in far.recall(person(far, 0), QUESTION)
    runtime, gate = runtime_of(far), threading.Event()
    busy = [runtime._calls.give(gate.wait) for _ in range(96)]
    far.configure(baseUrl=honcho.url, recallWait=0.05)
    for turn in range(2, 8):
        far.recall(person(far, 0), QUESTION, turn)
    assert (runtime.breaker.health.ok, runtime.breaker.health.failures) == (True, 0)
    gate.set()
    assert [one.result(PATIENCE_SECONDS) for one in busy] == [True] * 96
    far.configure(baseUrl=honcho.url)
    assert "May 0" in far.recall(person(far, 0), QUESTION, 8)


def test_however_many_ask_there_are_no_more_threads_than_hands(far, honcho):
    known(honcho, 1)
    far.recall(person(far, 0), QUESTION)
    far.configure(baseUrl=honcho.url, recallWait=0.05)
    honcho.hang()
    before = set(threading.enumerate())
    for _ in range(3):
        all_at_once(far, 60)
    more = Counter(one.name for one in threading.enumerate() if one not in before)
    assert 0 < more["souvenance-recall"] <= 24
    assert 0 < more["souvenance-call"] <= 96
    honcho.awake()
    assert eventually(lambda: honcho.under_way == 0)


def test_however_many_think_there_are_no_more_threads_than_hands_for_that(far, honcho):
    known(honcho, 10)
    honcho.pause = lambda asked: LONGEST_HANG if asked.path.endswith("/chat") else 0.0
    before = set(threading.enumerate())
    thinking(far, honcho)
    more = Counter(one.name for one in threading.enumerate() if one not in before)
    assert more["souvenance-dialectic"] == 12
