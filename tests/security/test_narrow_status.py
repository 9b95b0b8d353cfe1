"""Status tells a narrow token of nothing but what it opens."""

from __future__ import annotations

import msgspec
import pytest

from gate.world import KINDS, each_kind
from souvenance.gate import messages as m
from souvenance.gate import operations as o


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


def test_who_opens_the_whole_workspace_is_told_of_all(world):
    cap = world.issue(peers=["*"])
    before = status(world, cap)["audit_rows"]
    world.put(world.issue(sub="bob"), "A trip to Chengdu")
    assert status(world, cap)["audit_rows"] == before + 2
