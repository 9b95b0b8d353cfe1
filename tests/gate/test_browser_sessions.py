"""Sessions of browsers: a link signs in once and soon, and the log says who signed in and out."""

from __future__ import annotations

import pytest

from gate.world import World
from souvenance.domain.sign_ins import LINK_MS
from souvenance.errors import Denied
from souvenance.gate.browser_sessions import BrowserSessions


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
