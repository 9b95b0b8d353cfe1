"""A namespace is a wall: what lies in another is neither told nor touched, whatever is asked by any name.

The law: beside what alice has in the namespace `travel`, a second world has what bob has in `work`. No
answer to a cap that opens `travel` alone differs between the two, and none changes what bob reads.
"""

from __future__ import annotations

import pytest

from conversation.twins import (
    CHANGES,
    READS,
    TELLS_OF_A_KEY,
    WORDS,
    theirs_in,
    theirs_to_read,
    two_worlds,
)
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS
from souvenance.gate.conversation.context import CONTEXT
from souvenance.gate.conversation.queue import QUEUE_STATUS
from souvenance.gate.conversation.sessions import DELETE_SCOPE, LIST_SESSIONS, SESSIONS_OF_SCOPE
from souvenance.gate.conversation.workspaces import DELETE_WORKSPACE
from surfaces.declared import OPERATIONS

pytestmark = pytest.mark.long

CAPS = {
    "the workspace's": {},
    "alice's": {"sub": "alice", "peers": []},
    "alice's and the agent's": {"sub": "alice", "peers": ["hermes"]},
    "the sessions'": {"sub": "s", "sessions": ["trip", "salary", "none"]},
    "alice's in the sessions": {"sub": "alice", "peers": ["hermes"], "sessions": ["trip", "salary", "none"]},
}


def test_every_operation_is_put_to_the_law():
    assert set(OPERATIONS) == {*READS, *CHANGES, *TELLS_OF_A_KEY}


@pytest.fixture(scope="module")
def twins():
    return two_worlds()


@pytest.mark.parametrize(("who", "space"), [("alice", "travel"), ("bob", "work")])
def test_the_readings_together_reach_every_word_of_a_namespace_and_none_of_another(twins, who, space):
    twin = twins[1]
    cap = twin.stage.cap(namespaces_allowed=[space])
    ids = {"theirs": twin.ids[who][-1]}
    told = "".join(
        answer
        for operation in READS
        if operation is not CONTEXT
        for answer in twin.every_answer(cap, operation, ids)
    )
    assert [word for word in WORDS[who] if word not in told] == []
    other = "bob" if who == "alice" else "alice"
    assert [word for word in WORDS[other] if word in told] == []


@pytest.mark.parametrize("whose", CAPS)
@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.name)
def test_no_answer_tells_whether_there_is_anything_in_another_namespace(twins, operation, whose):
    for theirs in theirs_to_read(twins[1], operation):
        told = []
        for twin in twins:
            cap = twin.stage.cap(**{**CAPS[whose], "namespaces_allowed": ["travel"]})
            told.append(list(twin.every_answer(cap, operation, theirs)))
        assert told[0] == told[1]


@pytest.mark.parametrize("whose", CAPS)
@pytest.mark.parametrize("operation", CHANGES, ids=lambda operation: operation.name)
def test_no_change_is_told_or_felt_through_the_wall(operation, whose):
    twins = two_worlds()
    theirs = theirs_in(twins[1])[0]
    bobs = twins[1].stage.cap(namespaces_allowed=["work"])
    before = twins[1].bobs(bobs)
    told = []
    for twin in twins:
        cap = twin.stage.cap(**{**CAPS[whose], "namespaces_allowed": ["travel"]})
        answers = list(twin.every_answer(cap, operation, theirs))
        twin.stage.rest()
        reader = twin.stage.cap(namespaces_allowed=["travel"])
        for read in (LIST_SESSIONS, LIST_CONCLUSIONS, QUEUE_STATUS, SESSIONS_OF_SCOPE):
            answers += twin.every_answer(reader, read, theirs)
        told.append(answers)
    assert unaware(operation, told[0]) == unaware(operation, told[1])
    assert unstamped(twins[1].bobs(bobs)) == unstamped(before)


def unaware(operation, told):
    """What may differ: a scope and a workspace that another namespace still uses stay on the register."""
    return told[:1] if operation in (DELETE_SCOPE, DELETE_WORKSPACE) else told


def unstamped(told):
    """Peers and scopes are the workspace's, and so is their metadata."""
    return [text.replace('"metadata":{"a":1}', '"metadata":{}') for text in told]
