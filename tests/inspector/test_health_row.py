"""The row that says how the server is: each part is told as it is, in each state that it can be in."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from gate.world import World
from reference.embedder import ReferenceEmbedder
from souvenance.errors import Unavailable
from souvenance.gate import inspection
from souvenance.gate import messages as m
from souvenance.gate.worker import Worker
from souvenance.surfaces.http.inspector.visit import PAGES

WELL = inspection.ServerHealth(
    scrub_pending=False,
    embedder="none: search is by words alone",
    embedder_trouble="",
    loaded=None,
    waiting=0,
    model="",
    model_trouble="",
    left=None,
    jobs=0,
    failed=0,
    audit_rows=1234,
)
PACKAGED = {"embedder": "all-MiniLM-L6-v2", "loaded": True}
STATES = {
    "no embedder": ({}, ["Search by words alone", "Embedder none", "Store answers, 1,234 audit rows"]),
    "loaded": (PACKAGED, ["Search by words and meaning, up to date", "Embedder all-MiniLM-L6-v2, loaded"]),
    "not loaded": ({**PACKAGED, "loaded": False}, ["all-MiniLM-L6-v2, loads with the first question"]),
    "behind": ({**PACKAGED, "waiting": 1}, ["by words and meaning, 1 line waits for its vector"]),
    "asleep": (
        {**PACKAGED, "embedder_trouble": "unavailable: it is asleep", "waiting": 3},
        ["by words alone for now, 3 lines wait for their vectors", "unavailable: it is asleep"],
    ),
    "not cleaned": ({"scrub_pending": True}, ["Store deleted bytes are still to be cleaned"]),
    "no model": ({}, ["Model budget no model: rules do the work"]),
    "a model": (
        {"model": "small", "left": m.Budget(1, 2000, 3, 40_000)},
        ["2,000 calls and 40,000 tokens left today"],
    ),
    "a model in trouble": ({"model": "small", "model_trouble": "it answers 401"}, ["it answers 401"]),
    "work": ({"jobs": 7}, ["Jobs waiting 7"]),
    "much work": ({"jobs": 1000, "failed": 2}, ["Jobs waiting 1,000 or more, 2 failed"]),
}
NARROW = {"waiting": None, "left": None, "jobs": None, "failed": None, "audit_rows": None}


def row(**changed):
    page = PAGES.rendered("health.html", health=replace(WELL, **changed), workspace="home")
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace(" ,", ",").split()).replace(" ,", ",")


@pytest.mark.parametrize("state", STATES)
def test_each_part_is_told_as_it_is(state):
    changed, told = STATES[state]
    shown = row(**changed)
    assert [words for words in told if words not in shown] == [], shown


def test_what_a_narrow_token_does_not_open_is_not_called_well():
    shown = row(**PACKAGED, **NARROW)
    assert "Store answers" in shown
    assert "by words and meaning" in shown
    for words in ("up to date", "rows", "Jobs", "failed"):
        assert words not in shown


class Moody(ReferenceEmbedder):
    """An embedder that fails while it is told to."""

    failing = True

    def passages(self, texts):
        if self.failing:
            raise Unavailable("it is asleep")
        return super().passages(texts)


def test_the_gate_tells_an_embedder_in_trouble_from_one_that_works_and_from_none():
    embedder = Moody()
    world = World(embedder=embedder)
    owner = world.operator()
    world.put(owner, "hotel in Chengdu")
    asked = inspection.Asked(workspace_id="default")
    worker = Worker(
        store=world.store,
        clock=world.clock,
        services=world.services,
        secret=lambda: b"",
        report=lambda told: None,
    )

    def health():
        while worker.tidy():
            pass
        return world.call(inspection.HEALTH, owner, asked)

    asleep = health()
    assert (asleep.embedder_trouble, asleep.waiting) == ("unavailable: it is asleep", 1)
    embedder.failing = False
    world.clock.advance(seconds=60)
    awake = health()
    assert (awake.embedder_trouble, awake.waiting, awake.failed, awake.jobs) == ("", 0, 0, 0)
    assert world.call(inspection.HEALTH, world.issue(), asked).failed is None
    without = World()
    assert without.call(inspection.HEALTH, without.operator(), asked).loaded is None
