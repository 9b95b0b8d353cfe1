"""A real language model, small as it is: derive, summarise and chat, from the door to its weights and back.

It is far too small to reason. So what is held here is that nothing of what it says gets through unless it is
true, that everything else is done without it and says so, and that each of its calls is counted.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from environments import client_program
from model.world import NOON, Thinker
from souvenance.adapters.model.grounding import Ground, GroundingSource
from souvenance.gate.worker import MOST_UNUSABLE

SERVER = Path(__file__).with_name("llama_server.py")
SAID = "I live in Lisbon and I work as a nurse."
WINDOW = 128
"""Little room means short replies, and a test that ends."""
PATIENCE_SECONDS = 120.0
ASKED = {"query": "Where does alice live?", "reasoning_level": "minimal"}


@pytest.fixture(scope="module")
def llama():
    """The address of the model."""
    process = subprocess.Popen(
        [client_program("smollm2-0.1.2"), SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield SimpleNamespace(url=f"{address}/v1")
    finally:
        process.communicate()


@pytest.fixture
def thinker(llama, tmp_path):
    return Thinker(llama, tmp_path, window=WINDOW, timeout=PATIENCE_SECONDS)


@pytest.fixture
def spent(thinker):
    """The calls that were made since it was last asked for."""
    before = [0]

    def since():
        calls = thinker.budget.spent("w")[0].calls_today
        before.append(calls)
        return calls - before[-2]

    return since


def worked(stage):
    """Do what is due, with all the tries that a model has."""
    for _ in range(MOST_UNUSABLE):
        stage.rest()
        stage.clock.advance(seconds=60)
    assert stage.owner.queue()["pending_work_units"] == 0


def test_what_a_real_model_derives_is_true(thinker, stage, owner, spent):
    [said] = owner.say("s", SAID)
    worked(stage)
    assert 1 <= spent() <= 2 * MOST_UNUSABLE
    assert thinker.endpoint.dialect.json == "schema"
    for one in owner.conclusions():
        assert one["source_ids"] == [said["id"]]
        assert Ground([GroundingSource(SAID, NOON)], "alice").bears(one["content"]), one


def test_what_a_real_model_summarises_was_said(stage, owner, spent):
    owner.told("PUT", "", {"configuration": {"summary": {"messages_per_short_summary": 10}}})
    owner.open("sessions", "t", peers={"bob": {"observe_me": False}})
    owner.say("t", *(f"The cat Milo sleeps in box {number}." for number in range(10)), peer="bob")
    worked(stage)
    assert 1 <= spent() <= MOST_UNUSABLE
    summary, _ = owner.summaries("t")
    assert "Milo" in summary["content"]


def test_what_a_real_model_answers_has_evidence_or_is_not_its_answer(thinker, stage, owner, spent):
    owner.say("s", SAID)
    told = owner.told("POST", "/peers/alice/chat", {**ASKED, "include_evidence": True})
    assert spent() == 1
    assert told["reasoner"] == (thinker.model.name if "lacking" not in told else "quotes")
    if told["content"] is not None:
        assert told["evidence"]["messages"]


def test_a_real_model_streams(thinker, stage, owner, spent):
    owner.say("s", SAID)
    answer = owner.ask("POST", "/peers/alice/chat", {**ASKED, "stream": True})
    *pieces, last = [json.loads(part[6:]) for part in answer.text.split("\n\n") if part]
    assert last["done"] is True
    assert last["reasoner"] in (thinker.model.name, "quotes")
    assert all(piece["delta"]["content"] for piece in pieces)
    assert spent() == 1
    assert thinker.budget.spent("w")[0].tokens_today > 100
