"""Sessions of browsers: a link signs in once and soon, and the log says who signed in and out."""

from __future__ import annotations

import pytest

from gate.world import World
from souvenance.domain.sign_ins import LINK_MS
from souvenance.errors import CapRevoked, Denied
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.browser_sessions import GIVEN_LINK_MS, BrowserSessions
from souvenance.gate.token_verifier import Credentials


@pytest.fixture
def world():
    return World()


@pytest.fixture
def sessions(world):
    parts = {"store": world.store, "keyring": world.keyring, "clock": world.clock, "entropy": world.entropy}
    return BrowserSessions(world.gate, **parts)


def test_a_link_that_was_used_is_refused_and_told_from_one_that_is_too_old(world, sessions):
    token = world.issue().token
    used, late = sessions.link(token), sessions.link(token)
    assert sessions.token(sessions.follow(used)) == token
    with pytest.raises(Denied, match="was used before"):
        sessions.follow(used)
    world.clock.ms += LINK_MS
    with pytest.raises(Denied, match="is too old"):
        sessions.follow(late)
    with pytest.raises(Denied, match="is too old"):
        sessions.follow("nobody made this")


def test_who_signs_in_and_out_is_in_the_log(world, sessions):
    secret = sessions.follow(sessions.link(world.issue().token))
    sessions.end(secret)
    assert sessions.token(secret) is None
    assert world.outcomes()[-2:] == [("page.sign_in", "ok"), ("page.sign_out", "ok")]


def test_a_link_for_somebody_else_signs_in_once_within_a_day_and_is_in_the_log(world, sessions):
    token = world.issue(exp=world.seconds + 2 * GIVEN_LINK_MS // 1000)
    giver = Credentials(world.issue(ops=("grant",)).token)
    given, late = sessions.give(token.token, giver), sessions.give(token.token, giver)
    assert world.outcomes()[-1] == ("page.give_link", "ok")
    world.clock.ms += GIVEN_LINK_MS - 1
    assert sessions.token(sessions.follow(given)) == token.token
    with pytest.raises(Denied, match="was used before"):
        sessions.follow(given)
    world.clock.ms += 1
    with pytest.raises(Denied, match="is too old"):
        sessions.follow(late)


def test_a_link_for_somebody_else_ends_with_its_token(world, sessions):
    token, owner = world.issue(), world.issue(ops=("grant", "revoke"))
    given = sessions.give(token.token, Credentials(owner.token))
    world.gate.call(o.REVOKE, Credentials(owner.token), m.Revoke(jti=token.jti))
    with pytest.raises(CapRevoked):
        sessions.follow(given)
    with pytest.raises(CapRevoked):
        sessions.give(token.token, Credentials(owner.token))
