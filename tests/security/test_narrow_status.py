"""Status tells a narrow token of nothing but what it opens."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import replace

from gate.world import KINDS, each_kind
from model.world import Thinker
from souvenance.domain.model_budget import Allowance
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate

NOBODY = SimpleNamespace(url="http://127.0.0.1:9/v1")
"""An endpoint that no test asks."""


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def status(world, cap):
    return msgspec.to_builtins(world.call(o.STATUS, cap, m.Nothing()))


@pytest.mark.parametrize(
    "narrow",
    [
        {"namespaces_allowed": ["travel"]},
        {"namespaces_allowed": ["travel"], "peers": ["*"]},
        {},
        {"peers": ["bob"]},
    ],
    ids=str,
)
def test_what_others_do_elsewhere_changes_nothing_of_it(world, narrow):
    cap, owner = world.issue(**narrow), world.operator(sub="carol")
    world.put(cap, "A trip to Chengdu")
    before = status(world, cap)
    assert (before["audit_rows"], before["unfinished_imports"]) == (None, None)
    others = [owner] if "namespaces_allowed" not in narrow else [owner, world.issue()]
    for other in others:
        world.put(other, "Something else", namespace="work")
        world.texts(other)
    assert status(world, cap) == before


def with_model(world, folder, **allowances):
    thinker = Thinker(NOBODY, folder, clock=world.clock, **allowances)
    world.services = replace(world.services, model=thinker.model)
    world.gate = Gate(store=world.store, keyring=world.keyring, clock=world.clock, services=world.services)
    return thinker


def test_what_others_have_a_model_do_changes_nothing_of_it(world, tmp_path):
    thinker = with_model(world, tmp_path, each=Allowance(calls_per_hour=1))
    cap = world.issue()
    before = status(world, cap)
    assert before["model"]["trouble"] == ""
    thinker.budget.reserve("elsewhere", 1)
    thinker.model.unusable["answer"] = "the model's answer is of no use"
    assert status(world, cap) == before
    assert "of no use" in status(world, world.issue(peers=["*"]))["model"]["trouble"]


def test_that_a_model_can_not_be_asked_is_told_without_the_reason(world, tmp_path):
    thinker = with_model(world, tmp_path, whole=Allowance(calls_per_hour=1))
    thinker.budget.reserve("elsewhere", 1)
    assert status(world, world.issue())["model"]["trouble"] == "it can't be asked for now"
    assert "calls per hour" in status(world, world.issue(peers=["*"]))["model"]["trouble"]


def test_who_opens_the_whole_workspace_is_told_of_all(world):
    cap = world.issue(peers=["*"])
    before = status(world, cap)["audit_rows"]
    world.put(world.issue(sub="bob"), "A trip to Chengdu")
    assert status(world, cap)["audit_rows"] == before + 2
