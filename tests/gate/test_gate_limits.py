from __future__ import annotations

import pytest

from gate.world import World
from souvenance.domain.limits import Limits
from souvenance.errors import RateLimited
from souvenance.gate import messages as m
from souvenance.gate import operations as o


def slow_world(most=3):
    world = World(limits=Limits(requests_per_minute=most))
    world.clock.ms -= world.clock.ms % 60_000
    return world


def ask(world, cap):
    return world.code(o.WHOAMI, cap, m.Nothing())


def test_a_cap_may_ask_so_often_in_a_minute_and_then_not():
    world = slow_world()
    cap = world.issue()
    assert [ask(world, cap) for _ in range(5)] == ["ok", "ok", "ok", "rate_limited", "rate_limited"]


@pytest.mark.parametrize(("ms", "wait"), [(0, 60), (1, 60), (999, 60), (1000, 59), (59_999, 1)])
def test_the_refusal_says_how_long_to_wait(ms, wait):
    world = slow_world(1)
    cap = world.issue()
    world.clock.advance(ms=ms)
    ask(world, cap)
    with pytest.raises(RateLimited) as refused:
        world.call(o.WHOAMI, cap, m.Nothing())
    assert refused.value.retry_after == wait


def test_whoever_waits_as_long_as_told_is_let_in_again():
    world = slow_world(1)
    cap = world.issue()
    world.clock.advance(ms=12_345)
    ask(world, cap)
    with pytest.raises(RateLimited) as refused:
        world.call(o.WHOAMI, cap, m.Nothing())
    world.clock.advance(seconds=refused.value.retry_after)
    assert ask(world, cap) == "ok"


def test_each_cap_is_counted_by_itself():
    world = slow_world(1)
    assert [ask(world, world.issue()) for _ in range(3)] == ["ok", "ok", "ok"]


def test_a_cap_can_not_ask_more_often_by_attenuating_itself():
    world = slow_world(1)
    cap = world.issue()
    assert ask(world, cap) == "ok"
    assert ask(world, world.child(cap)) == "rate_limited"


def test_a_refusal_for_the_rate_is_in_the_log():
    world = slow_world(1)
    cap = world.issue()
    ask(world, cap)
    ask(world, cap)
    assert world.outcomes() == [("caps.whoami", "ok"), ("caps.whoami", "rate_limited")]


@pytest.mark.parametrize(("letter", "most"), [("x", 100), ("é", 50), ("都", 33)])
def test_a_line_s_length_is_counted_in_bytes(letter, most):
    world = World(limits=Limits(line_bytes=100))
    cap = world.issue()
    assert world.code(o.PUT, cap, m.Put(text=letter * most)) == "ok"
    assert world.code(o.PUT, cap, m.Put(text=letter * (most + 1))) == "line_too_long"


def test_a_correction_is_held_to_the_same_length():
    world = World(limits=Limits(line_bytes=100))
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    assert world.code(o.INVALIDATE, cap, m.Invalidate(line, "x" * 101)) == "line_too_long"
