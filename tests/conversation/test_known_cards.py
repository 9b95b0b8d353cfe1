"""A card that was read is known again, and never taken for another."""

from __future__ import annotations

import pytest

from conversation.world import staged
from souvenance.core.archive import store_line
from souvenance.core.conversation.cards import read_card
from souvenance.core.conversation.compartments import Changes
from souvenance.core.request_context import RequestContext
from souvenance.domain.archive_records import LineRecord
from souvenance.domain.line import CARD
from souvenance.domain.names import Compartment
from souvenance.domain.policy import Scope

ID = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"
HOMES = {"w": "Porto", "x": "Faro"}


@pytest.fixture
def stage():
    with staged() as stage:
        yield stage


def seen_from(stage, tx, workspace):
    scope = Scope(workspace, "souvenance", frozenset(("default",)), None)
    return RequestContext(tx, scope, "souvenance", stage.clock.ms, stage.world.services)


def test_cards_of_two_workspaces_are_told_apart_although_an_import_gave_both_the_same_id(stage):
    def card(home):
        text = f'{{"entries": [{{"text": "Lives in: {home}"}}]}}'
        fields = {"id": ID, "kind": CARD, "created_at": stage.clock.ms, "cap": "cap"}
        return LineRecord(owner="ann", namespace="default", text=text, about="ann", **fields)

    for workspace, home in HOMES.items():
        with stage.world.store.write(workspace) as tx:
            place = Compartment(workspace, "ann", "default")
            assert store_line(seen_from(stage, tx, workspace), place, card(home), Changes())
    for workspace, home in (*HOMES.items(), *HOMES.items()):
        with stage.world.store.read(workspace) as tx:
            [entry] = read_card(seen_from(stage, tx, workspace), "ann", "ann")
            assert entry.text == f"Lives in: {home}"
