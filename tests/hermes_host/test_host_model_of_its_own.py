"""The real Hermes lends memory its own model: conclusions appear, and no turn waits for that."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import msgspec
import pytest

from demo_model import Asked, DemoModel, a_model
from hermes_host.host import a_host, stored
from model.brain import honest
from model.stand_in import Asked as Read

TOLD = "I live in Rome and I play the cello."
KEY = "user:ann"


class Reader(DemoModel):
    """The user's model: it answers turns as ever, and reads what memory asks of it."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.read: list[Asked] = []

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("tools") or not Read(body, {}).quoted:
            return super().reply(body)
        self.read.append(Asked(body))
        return {"role": "assistant", "content": msgspec.json.encode(honest(Read(body, {}))).decode()}


@pytest.fixture
def model():
    with a_model(Reader) as made:
        yield made


@pytest.fixture
def agreed(folder, model):
    """A host whose user said yes, and set nothing else; a session is soon quiet long enough to be read."""
    host = a_host(folder, model)
    (host.home / ".env").write_text("SOUVENANCE_MODEL_QUIET_SECONDS=1\n")
    ran = host.run("souvenance", "setup", "--yes", "--host-model")
    assert ran.exit_code == 0, ran.err
    return host


def test_conclusions_appear_after_the_answer_and_hermes_stores_what_they_cost(agreed, model):
    with agreed.serving() as server, stored(agreed.store) as store:
        server.ask(TOLD, key=KEY)
        assert not model.read, "the turn has its answer first"
        assert store.until(lambda store: [one for one in store.conclusions() if "Rome" in one])
    assert all(TOLD in one.text for one in model.read)
    with closing(sqlite3.connect(agreed.home / "state.db")) as state:
        booked = state.execute("SELECT task FROM session_model_usage WHERE task = 'souvenance'").fetchall()
    assert booked
    told = agreed.run("souvenance", "status").out
    assert f"on: Hermes' own, in the background; {len(model.read)} of 40 calls" in told


def test_a_process_for_one_prompt_ends_without_asking_it(agreed, model):
    agreed.once(TOLD)
    agreed.once("Where do I live?")
    assert len(model.turns()) == 2
    assert not model.read


def test_without_a_yes_hermes_own_model_reads_nothing_and_status_says_so(folder, model):
    host = a_host(folder, model)
    with host.serving() as server, stored(host.store) as store:
        server.ask(TOLD, key=KEY)
        store.until(lambda store: any(TOLD in text for text in store.said()))
    assert not model.read
    assert "off: you were not asked yet" in host.run("souvenance", "status").out
