"""Hermes' own model reads what was said if somebody agreed: between turns, and within a budget."""

import threading

import pytest

from hermes.honcho_fake import eventually
from hermes.host_fake import PAYS, TOKENS, Host, HostStage, worked_off
from model.stand_in import a_stand_in
from souvenance import hermes_backends
from souvenance.hermes.setup.status import model_of

TOLD = "I live in Rome."
NEW = "I moved to Oslo."


@pytest.fixture
def host(monkeypatch):
    return Host().offer(monkeypatch)


@pytest.fixture
def stage(tmp_path, host):
    made = HostStage(tmp_path, host, hostModel=True)
    yield made
    made.close()


def status(stage):
    """What `hermes souvenance status` says of the model."""
    configuration, _ = stage.configuration(stage.home, "default")
    return "; ".join(model_of(configuration, hermes_backends.inspect(configuration)))


def test_conclusions_appear_once_nobody_has_said_anything_for_a_while(stage, host):
    stage.turn(stage.provider(), TOLD)
    stage.falls_quiet()
    assert eventually(lambda: worked_off(stage))
    assert any("Rome" in text for text in stage.concluded())
    assert TOLD in host.asked[0].text
    assert f"1 of 40 calls and {TOKENS} of 100,000 tokens spent today" in status(stage)


def test_no_call_is_made_on_a_turn_s_thread_or_before_a_turn_has_its_answer(stage, host):
    provider = stage.provider()
    stage.turn(provider, TOLD)
    provider.on_turn_start(2, NEW)
    stage.falls_quiet()
    provider.prefetch(NEW)
    for tool, args in (("reasoning", {"query": "Where do I live?"}), ("context", {}), ("profile", {})):
        provider.handle_tool_call(f"souvenance_{tool}", args)
    provider.on_pre_compress([{"role": "user", "content": NEW}])
    provider.on_session_end([])
    assert not host.asked
    provider.sync_turn(NEW, "I see.", session_id="s1")
    assert not host.asked, "it ended only just now"
    stage.flush()
    stage.falls_quiet()
    assert eventually(lambda: worked_off(stage))
    assert host.calls
    assert {call.thread for call in host.calls} == {"souvenance-host-model"}
    assert not any(call.busy for call in host.calls)


def test_a_session_that_is_over_is_read_at_once_and_one_that_goes_on_is_not(stage, host, monkeypatch):
    monkeypatch.setenv("SOUVENANCE_MODEL_QUIET_SECONDS", "3600")
    stage.configure(hostModel=True, sessionStrategy="per-session")
    goes_on, ends = stage.provider("s1"), stage.provider("s2")
    for provider, text in ((goes_on, NEW), (ends, TOLD)):
        provider.on_turn_start(1, text)
        provider.prefetch(text)
        provider.sync_turn(text, "I see.")
    ends.on_session_end([])
    assert not host.asked, "a turn ended only just now"
    stage.falls_quiet()
    assert eventually(lambda: host.asked)
    assert [TOLD in asked.text for asked in host.asked] == [True]
    assert NEW not in host.asked[0].text
    assert {call.thread for call in host.calls} == {"souvenance-host-model"}


def test_hermes_stores_a_call_for_the_session_of_the_latest_turn_under_a_task_of_its_own(stage, host):
    provider = stage.provider()
    token = PAYS.set("session s1")
    provider.on_turn_start(1, TOLD)
    PAYS.reset(token)
    stage.tell(provider, TOLD)
    stage.falls_quiet()
    assert eventually(lambda: worked_off(stage))
    assert {(call.task, call.pays) for call in host.calls} == {("souvenance", "session s1")}


def test_the_model_is_never_asked_about_the_agent(stage, host):
    stage.turn(stage.provider(), "Who are you?", "I am Hermes. I live in Berlin and I love chess.")
    stage.turn(stage.provider(), TOLD, "I live in a data centre.")
    stage.falls_quiet()
    assert eventually(lambda: worked_off(stage))
    assert all('"hermes"' not in asked.system for asked in host.asked)
    assert not any("data centre" in text for text in stage.concluded())


@pytest.mark.parametrize("answer", [{"hostModel": False}, {}], ids=["declined", "not asked"])
def test_without_a_yes_the_model_is_not_asked_and_what_was_said_is_still_found(tmp_path, host, answer):
    stage = HostStage(tmp_path, host, **answer)
    stage.turn(stage.provider(), TOLD)
    stage.falls_quiet()
    assert eventually(lambda: worked_off(stage))
    assert "Rome" in stage.recall(stage.provider("s2"), "Where do I live?")
    assert not host.asked
    assert "quotes only" in status(stage)
    stage.close()


def test_a_budget_that_is_spent_leaves_quotes_and_status_says_so(tmp_path, host):
    stage = HostStage(tmp_path, host, hostModel=True, hostModelCallsPerDay=1)
    for session, text in (("s1", TOLD), ("s2", NEW)):
        stage.turn(stage.provider(session), text)
        stage.falls_quiet()
        assert eventually(lambda: worked_off(stage))
    assert len(host.asked) == 1
    assert "Oslo" in stage.recall(stage.provider("s3"), "Where did I move to, Oslo?")
    assert "today's budget is spent; quotes only until midnight UTC (1 of 1 calls" in status(stage)
    stage.close()


def an_older_one(messages, model=None):
    raise AssertionError("it would not know what it costs")


@pytest.mark.parametrize("offers", [None, an_older_one], ids=["nothing", "something else"])
def test_a_host_that_offers_no_model_keeps_memory_and_status_says_so(tmp_path, monkeypatch, offers):
    if offers is not None:
        Host().offer(monkeypatch, offers)
    stage = HostStage(tmp_path, Host(), hostModel=True)
    stage.turn(stage.provider(), TOLD)
    assert eventually(lambda: worked_off(stage))
    assert "Rome" in stage.recall(stage.provider("s2"), "Where do I live?")
    assert "this Hermes offers its model to no plugin" in status(stage)
    stage.close()


class Refusal(Exception):
    status_code = 401


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("No LLM provider configured. Run: hermes setup"), "Run: hermes setup"),
        (Refusal("Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwxyz012345"), "Refusal"),
        (TimeoutError(), "TimeoutError"),
    ],
    ids=["none configured", "refused", "too slow"],
)
def test_a_model_that_fails_loses_nothing_and_status_says_why(stage, host, error, told):
    def fail(asked):
        raise error

    good, host.reply = host.reply, fail
    stage.turn(stage.provider(), TOLD)
    stage.falls_quiet()
    assert eventually(lambda: told in status(stage))
    assert "abcdefghijkl" not in status(stage)
    assert "Rome" in stage.recall(stage.provider("s2"), "Where do I live?")
    host.reply = good
    stage.anew()
    stage.provider("s3")
    assert eventually(lambda: worked_off(stage))
    assert any("Rome" in text for text in stage.concluded())
    assert told not in status(stage)


def test_the_end_of_a_process_waits_for_no_call_and_the_next_one_makes_it_again(stage, host):
    begun, held = threading.Event(), threading.Event()

    def hang(asked):
        begun.set()
        held.wait(60)
        return "too late"

    good, host.reply = host.reply, hang
    provider = stage.provider()
    stage.turn(provider, TOLD)
    stage.falls_quiet()
    assert begun.wait(60)
    provider.shutdown()
    stage.close()
    assert not held.is_set(), "it was waited for"
    host.reply = good
    stage.anew()
    stage.provider("s2")
    assert eventually(lambda: worked_off(stage))
    assert any("Rome" in text for text in stage.concluded())
    held.set()


def test_an_endpoint_of_the_environment_comes_before_hermes_and_answers_no_question(stage, host, monkeypatch):
    with a_stand_in() as endpoint:
        monkeypatch.setenv("SOUVENANCE_MODEL_BASE_URL", endpoint.url)
        monkeypatch.setenv("SOUVENANCE_MODEL_NAME", "parrot-1")
        endpoint.plays(lambda asked: host.reply(asked))
        provider = stage.provider()
        stage.turn(provider, TOLD)
        stage.falls_quiet()
        assert eventually(lambda: worked_off(stage))
        read = len(endpoint.asked)
        provider.handle_tool_call("souvenance_reasoning", {"query": "Where do I live?"})
        assert (len(endpoint.asked), len(host.asked)) == (read, 0)
        assert read


def test_settings_of_an_endpoint_that_can_not_be_used_cost_no_memory(stage, host, monkeypatch):
    monkeypatch.setenv("SOUVENANCE_MODEL_BASE_URL", "http://127.0.0.1:9")
    stage.turn(stage.provider(), TOLD)
    assert "Rome" in stage.recall(stage.provider("s2"), "Where do I live?")
    configuration, _ = stage.configuration(stage.home, "default")
    assert "SOUVENANCE_MODEL_NAME is missing" in hermes_backends.inspect(configuration).model_trouble


def test_looking_at_memory_asks_no_model(stage, host):
    stage.turn(stage.provider(), TOLD)
    stage.close()
    stage.falls_quiet()
    configuration, _ = stage.configuration(stage.home, "default")
    for _ in range(3):
        hermes_backends.inspect(configuration)
    assert not host.asked


def test_memory_on_a_server_uses_the_server_s_model(tmp_path, host, honcho):
    stage = HostStage(tmp_path, host, hostModel=True, baseUrl=honcho.url)
    stage.turn(stage.provider(), TOLD)
    assert not host.asked
    assert "the server's own" in status(stage)
    stage.close()
