"""What tells of the end of nobody known is noted for later, and forgotten with its message at once."""

from __future__ import annotations

import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive
from mnemon.core.conversation.cards import unmet_in
from mnemon.core.desk import Desk
from mnemon.domain.policy import Scope


@pytest.fixture
def stage():
    with staged(reasoner=Extractive()) as stage:
        yield stage


@pytest.fixture
def told(stage):
    """The id of a message that tells of such an end; alice and bob, who listens, both note it."""
    stage.owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    stage.owner.say("s", "I live in Oslo.", created_at="2026-01-01T12:00:00Z")
    [said] = stage.owner.say("s", "Rex died.", created_at="2026-02-01T12:00:00Z")
    stage.rest()
    assert noted(stage) == {"alice": [said["id"]], "bob": [said["id"]]}
    return said["id"]


def noted(stage):
    """What the sealed cards of alice keep of such messages, by whose card it is."""
    with stage.world.book.read() as tx:
        desk = Desk(tx, Scope("w", "mnemon", None, None), "mnemon", stage.clock.ms, stage.world.tools)
        return {observer: unmet_in(desk, observer, "alice", "default") for observer in ("alice", "bob")}


def test_a_message_that_is_deleted_leaves_no_id_in_any_card(stage, told):
    stage.owner.told("DELETE", f"/sessions/s/messages/{told}")
    assert noted(stage) == {"alice": [], "bob": []}
    assert stage.owner.card() == ["Lives in: Oslo"]


def test_nor_does_one_that_is_forgotten_at_the_plain_door(stage, told):
    direct = stage.speaker(stage.cap(sub="alice", namespaces_allowed=["*"]))
    direct.told("POST", "/v1/memory/forget", {"id": told})
    assert noted(stage) == {"alice": [], "bob": []}


def test_nor_does_one_of_somebody_who_is_forgotten_as_a_whole(stage, told):
    direct = stage.speaker(stage.cap(sub="alice", namespaces_allowed=["*"]))
    direct.told("POST", "/v1/memory/forget", {"namespace": "default"})
    assert noted(stage) == {"alice": [], "bob": []}


def test_nor_does_a_session(stage, told):
    stage.owner.told("DELETE", "/sessions/s")
    assert noted(stage) == {"alice": [], "bob": []}
