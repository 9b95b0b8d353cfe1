"""The demo's question, asked in a week of May: the trip comes before a thousand newer lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product

import pytest

from mnemon import open_house, settings_from
from mnemon.adapters.embed.packaged import installed, packaged
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.gate.admission import Credentials
from mnemon.gate.conversation import asks as q
from mnemon.gate.conversation import operations as talk
from mnemon.surfaces.cli.demo.story import QUESTION, TRIP
from surfaces.door import PATIENCE_SECONDS

WHO = (
    "The plumber",
    "My sister",
    "Our neighbour",
    "The new manager",
    "Daniel",
    "A colleague",
    "The dentist",
    "Grandma",
    "The landlord",
    "My brother",
)
DID = (
    "called about",
    "complained about",
    "asked again about",
    "finally fixed",
    "was happy with",
    "forgot",
    "wants to talk about",
    "sent a photo of",
    "paid for",
    "is worried about",
)
WHAT = (
    "the leaking tap",
    "the quarterly report",
    "the old piano",
    "the broken window",
    "our insurance",
    "the tax form",
    "a recipe for soup",
    "the noisy fridge",
    "the school play",
    "the parking permit",
)
UNRELATED = [f"{who} {did} {what}." for did, what, who in product(DID, WHAT, WHO)]

WITHOUT, WITH = "none", "packaged"
IF_INSTALLED = pytest.mark.skipif(not installed(), reason="no embedder is installed")
THAT_WEEK = datetime(2024, 5, 23, 9, tzinfo=UTC)
TRIPS = (
    (TRIP, THAT_WEEK),
    (TRIP, datetime(2026, 5, 21, 9, tzinfo=UTC)),
    ("We fly to Lisbon on Saturday, 16 May", datetime(2026, 5, 14, 9, tzinfo=UTC)),
)
"""Each with a moment in the week before: the trip begins on that weekend or, in 2026, the day after it."""


@pytest.fixture(scope="module")
def vectors():
    """One of each text for all tests: to make those of the thousand is most of what a test takes."""
    network = packaged()._loaded()
    network.vector = cache(network.vector)
    yield
    del network.vector


@pytest.fixture
def house(embedder, tmp_path, request):
    if embedder == WITH:
        request.getfixturevalue("vectors")
    house = open_house(settings_from({"MNEMON_EMBEDDER": embedder}, str(tmp_path / "home")))
    yield house
    house.close()


def settle(house):
    with house.working():
        house.settle(PATIENCE_SECONDS)


@pytest.mark.parametrize("embedder", [WITHOUT, pytest.param(WITH, marks=IF_INSTALLED)])
def test_the_trip_comes_first_among_lines(house):
    owner, asked = Credentials(house.owner_cap), THAT_WEEK
    told = asked - timedelta(days=3)
    house.gate.call(o.PUT, owner, m.Put(TRIP, "travel", occurred_at=told))
    for number, text in enumerate(UNRELATED, 1):
        newer = told + number * timedelta(minutes=4)
        house.gate.call(o.PUT, owner, m.Put(text, "travel", occurred_at=newer))
    settle(house)
    found = house.gate.call(o.GET, owner, m.Get(QUESTION, at=asked, explain=True))
    assert found.lines[0].text == TRIP, found.lines[:3]


@pytest.mark.parametrize(
    ("embedder", "trip", "asked"),
    [
        *((WITHOUT, *one) for one in TRIPS),
        *(pytest.param(WITH, *one, marks=IF_INSTALLED) for one in (TRIPS[0], TRIPS[2])),
    ],
)
def test_the_trip_comes_first_among_messages(house, trip, asked):
    owner = Credentials(house.owner_cap)
    told = asked - timedelta(days=3)
    texts = [trip, *UNRELATED]
    said = [
        q.NewMessage(peer_id="ann", content=text, created_at=told + number * timedelta(minutes=4))
        for number, text in enumerate(texts)
    ]
    for first in range(0, len(said), 100):
        session = f"talk-{first // 200}"
        batch = q.AddMessages(workspace_id="home", session_id=session, messages=said[first : first + 100])
        house.gate.call(talk.ADD_MESSAGES, owner, batch)
    settle(house)
    request = q.SearchWorkspace(workspace_id="home", query=QUESTION, at=asked, explain=True)
    found = house.gate.call(talk.SEARCH_WORKSPACE, owner, request)
    assert found.messages[0].content == trip, found.messages[:3]
