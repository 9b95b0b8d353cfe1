"""Hermes' own model behind an endpoint: it is asked in the words of Hermes, and replies in ours."""

import threading
from types import SimpleNamespace

import pytest

from gate.world import FakeClock
from souvenance.adapters.model.endpoint import Endpoint, Failed, Prompt
from souvenance.hermes.host_model import NAME, URL, HostModel
from souvenance.hermes.profile_runtime import QUIET_SECONDS, TurnsUnderWay

PROMPT = Prompt(({"role": "user", "content": "Read this."},), 50, schema={"type": "object"})


def replied(content="{}", **usage):
    choice = SimpleNamespace(message=SimpleNamespace(content=content), finish_reason="stop")
    return SimpleNamespace(choices=[choice], usage=SimpleNamespace(**usage) if usage else None)


class Line:
    """An endpoint whose requests go to a host that plays a script."""

    def __init__(self):
        self.script = [replied()]
        self.asked = []
        self.troubles = []
        self.now = 0.0
        self.turns = TurnsUnderWay(lambda: self.now)
        self.transport = HostModel(self.call, self.turns, self.troubles.append)
        self.endpoint = Endpoint(
            URL, NAME, key=None, timeout=20.0, now=FakeClock(0).now, transport=self.transport
        )

    def call(self, **asked):
        self.asked.append(asked)
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def ask(self):
        return self.endpoint.ask(self.endpoint.dialect.body(self.endpoint.model, PROMPT, stream=False))


@pytest.fixture
def line():
    return Line()


def test_what_is_asked_is_asked_in_the_words_of_the_host(line):
    line.ask()
    [asked] = line.asked
    assert (asked["task"], asked["messages"], asked["timeout"]) == ("souvenance", list(PROMPT.messages), 20.0)
    assert asked["extra_body"]["response_format"]["type"] == "json_schema"
    assert "model" not in asked


@pytest.mark.parametrize(
    ("reply", "text", "tokens"),
    [
        (replied("Yes.", total_tokens=7), "Yes.", 7),
        (replied("Yes.", prompt_tokens=3, completion_tokens=2), "Yes.", 5),
        (replied([{"text": "Ye"}, SimpleNamespace(text="s."), {"image": "x"}]), "Yes.", None),
        (replied(None), "", None),
    ],
    ids=["a total", "a sum", "in parts", "nothing"],
)
def test_what_comes_back_is_read_whatever_kind_of_model_it_is_from(line, reply, text, tokens):
    line.script = [reply]
    found = line.ask()
    assert (found.text, found.tokens) == (text, tokens)
    assert line.troubles == [""]


class Refused(Exception):
    def __init__(self, status_code, told, **headers):
        super().__init__(told)
        self.status_code = status_code
        self.response = SimpleNamespace(headers=headers)


@pytest.mark.parametrize(
    ("reply", "status", "wait", "spent"),
    [
        (Refused(429, "slow down", **{"retry-after": "7"}), 429, 7, False),
        (Refused(400, "response_format is not supported"), 400, None, False),
        (TimeoutError("late"), 0, None, True),
        (RuntimeError("No LLM provider configured"), 0, None, False),
        (SimpleNamespace(), 0, None, True),
    ],
    ids=["too often", "in another form", "too late", "none configured", "no reply at all"],
)
def test_a_call_that_fails_says_how_and_whether_it_may_have_cost_something(line, reply, status, wait, spent):
    line.script = [reply]
    with pytest.raises(Failed) as failed:
        line.ask()
    assert (failed.value.status, failed.value.wait, failed.value.spent) == (status, wait, spent)
    [trouble] = line.troubles
    assert trouble


def test_a_call_that_comes_while_a_turn_is_under_way_is_made_after_it(line):
    line.turns.begin("turn")
    done = threading.Event()

    def ask():
        line.ask()
        done.set()

    asking = threading.Thread(target=ask)
    asking.start()
    assert not line.asked
    line.turns.end("turn")
    line.now += QUIET_SECONDS
    assert done.wait(60)
    asking.join()
    assert len(line.asked) == 1


def test_once_it_is_stopped_nothing_more_is_asked(line):
    line.turns.begin("turn")
    line.endpoint.stop()
    line.endpoint._stopped = False  # As for a call that was on its way already.
    with pytest.raises(Failed):
        line.ask()
    assert not line.asked
