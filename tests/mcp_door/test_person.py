"""Whose memory it is: told by the cap, and never two people alike."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.gate.conversation.resource import NewName
from souvenance.gate.messages import WhoAmIAnswer
from souvenance.surfaces.mcp.memory import person_of, session_for

NAMES = st.text(min_size=1, max_size=40) | st.from_regex(r"[a-z-]{1,30}(-[0-9a-f]{16})?", fullmatch=True)


def cap(**more):
    told = {
        "sub": "anna", "wid": "*", "ops": ["get"], "data_class": "memory", "namespaces_allowed": ["*"],
        "peers": [], "sessions": None, "via": [], "jti": "x", "exp": 0, "bound": False,
    }  # fmt: skip
    return WhoAmIAnswer(**{**told, **more})


@given(NAMES, NAMES)
def test_two_people_never_share_a_session(one, two):
    assert (session_for(one) == session_for(two)) == (one == two)


@given(NAMES)
def test_the_session_of_anybody_has_a_name_that_sessions_may_have(name):
    msgspec.convert(session_for(name), NewName)


@pytest.mark.parametrize(
    ("opened", "home"),
    [(["*"], "default"), (["default", "a"], "default"), (["work", "travel"], "travel"), ([], "default")],
)
def test_what_is_written_lies_in_the_common_namespace_or_the_first_that_is_open(opened, home):
    assert person_of(cap(namespaces_allowed=opened)).namespace == home


def test_a_cap_speaks_where_it_may():
    assert person_of(cap()).session is None
    assert person_of(cap(peers=["*"])).session == "mcp-anna"
    assert person_of(cap(peers=["*"], sessions=["b", "a"])).session == "a"
    assert person_of(cap(), session="desk").session == "desk"


def test_eyes_are_those_of_others():
    person = person_of(cap(via=["anna", "hermes"]))
    assert (person.agents, person.observer) == (("hermes",), "hermes")
    assert person_of(cap()).observer == "anna"
