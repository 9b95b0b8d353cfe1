"""The demo's question, asked in a week of May: the trip comes before a thousand newer lines."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product
from shutil import copytree

import pytest

from souvenance import open_installation, settings_from
from souvenance.adapters.embed.local import installed
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    SEARCH_WORKSPACE,
    AddMessages,
    NewMessage,
    SearchWorkspace,
)
from souvenance.gate.token_verifier import Credentials
from story import QUESTION, TRIP
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

OWNER = "owner"
"""Who tells it, in lines and in messages: what is said by the same has the same vector."""

WITHOUT, WITH = "none", "packaged"
IF_INSTALLED = pytest.mark.skipif(not installed(), reason="no embedder is installed")
THAT_WEEK = datetime(2024, 5, 23, 9, tzinfo=UTC)
TRIPS = (
    (TRIP, THAT_WEEK),
    (TRIP, datetime(2026, 5, 21, 9, tzinfo=UTC)),
    ("We fly to Lisbon on Saturday, 16 May", datetime(2026, 5, 14, 9, tzinfo=UTC)),
)
"""Each with a moment in the week before: the trip begins on that weekend or, in 2026, the day after it."""


@contextmanager
def living(home, embedder):
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": embedder}, str(home)))
    try:
        yield installation, Credentials(installation.owner_cap)
    finally:
        installation.close()


def settle(installation):
    """Do all that is left to do, the vectors of lines that were told without an embedder as well."""
    installation.worker.look_round()
    with installation.working():
        installation.settle(PATIENCE_SECONDS)


@pytest.fixture
def embedder(request):
    if request.param == WITH:
        request.getfixturevalue("vectors")
    return request.param


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A data folder in which all is told as lines, without an embedder."""
    home = tmp_path_factory.mktemp("lines") / "home"
    told = THAT_WEEK - timedelta(days=3)
    with living(home, WITHOUT) as (installation, owner):
        installation.gate.call(o.PUT, owner, m.Put(TRIP, "travel", occurred_at=told))
        for number, text in enumerate(UNRELATED, 1):
            newer = told + number * timedelta(minutes=4)
            installation.gate.call(o.PUT, owner, m.Put(text, "travel", occurred_at=newer))
        settle(installation)
    return home


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """A data folder in which a trip and the rest are messages, without an embedder, made once of each."""
    return cache(
        lambda trip, asked: told_as_messages(tmp_path_factory.mktemp("messages") / "home", trip, asked)
    )


def told_as_messages(home, trip, asked):
    told = asked - timedelta(days=3)
    said = [
        NewMessage(peer_id=OWNER, content=text, created_at=told + number * timedelta(minutes=4))
        for number, text in enumerate([trip, *UNRELATED])
    ]
    with living(home, WITHOUT) as (installation, owner):
        for first in range(0, len(said), 100):
            session = f"talk-{first // 200}"
            batch = AddMessages(workspace_id="home", session_id=session, messages=said[first : first + 100])
            installation.gate.call(ADD_MESSAGES, owner, batch)
        settle(installation)
    return home


def assert_vectors_were_compared(first, embedder):
    assert (first.explanation.space is not None) is (embedder == WITH)


@pytest.mark.parametrize("embedder", [WITHOUT, pytest.param(WITH, marks=IF_INSTALLED)], indirect=True)
def test_the_trip_comes_first_among_lines(lines, tmp_path, embedder):
    with living(copytree(lines, tmp_path / "home"), embedder) as (installation, owner):
        settle(installation)
        found = installation.gate.call(o.GET, owner, m.Get(QUESTION, at=THAT_WEEK, explain=True))
    assert found.lines[0].text == TRIP, found.lines[:3]
    assert_vectors_were_compared(found.lines[0], embedder)


@pytest.mark.parametrize(
    ("embedder", "trip", "asked"),
    [
        *((WITHOUT, *one) for one in TRIPS),
        *(pytest.param(WITH, *one, marks=IF_INSTALLED) for one in (TRIPS[0], TRIPS[2])),
    ],
    indirect=["embedder"],
)
def test_the_trip_comes_first_among_messages(messages, tmp_path, embedder, trip, asked):
    request = SearchWorkspace(workspace_id="home", query=QUESTION, at=asked, explain=True)
    with living(copytree(messages(trip, asked), tmp_path / "home"), embedder) as (installation, owner):
        settle(installation)
        found = installation.gate.call(SEARCH_WORKSPACE, owner, request)
    assert found.messages[0].content == trip, found.messages[:3]
    assert_vectors_were_compared(found.messages[0], embedder)
