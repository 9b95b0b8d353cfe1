"""What is forgotten in a conversation on the inspector's pages has a receipt that the log confirms."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gate.world import KINDS, each_kind
from souvenance.domain import receipt as receipts
from souvenance.errors import BrokenAuditChain
from souvenance.gate import inspect_forget as f
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import (
    ADD_CONCLUSIONS,
    AddConclusions,
    NewConclusion,
    OfConclusion,
)
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage, OfMessage
from souvenance.gate.conversation.sessions import OfSession


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def converse(world):
    """Two people say two things each, and one thing is concluded from the first: the token and the ids."""
    cap = world.issue(peers=["*"], namespaces_allowed=["*"], exp=world.seconds + 10**6)
    said = [NewMessage(content=f"harbour {n}", peer_id=("ann", "ben")[n % 2]) for n in range(4)]
    talk = {"workspace_id": cap.claims["wid"], "session_id": "talk"}
    ids = [one.id for one in world.call(ADD_MESSAGES, cap, AddMessages(**talk, messages=said)).messages]
    stated = NewConclusion(
        content="Ann likes harbours",
        observer_id="ben",
        observed_id="ann",
        session_id="talk",
        source_ids=ids[:1],
    )
    asked = AddConclusions(workspace_id=talk["workspace_id"], conclusions=[stated])
    [concluded] = world.call(ADD_CONCLUSIONS, cap, asked).conclusions
    return cap, talk, ids, concluded.id


def forget(world, what):
    """The answer, and what its receipt says, which the log confirms."""
    cap, talk, ids, concluded = converse(world)
    of_message = {**talk, "message_id": ids[0]}
    operation, asked = {
        "a message": (f.FORGET_MESSAGE, OfMessage(**of_message)),
        "a conclusion": (
            f.FORGET_CONCLUSION,
            OfConclusion(workspace_id=talk["workspace_id"], conclusion_id=concluded),
        ),
        "the end of a session": (f.FORGET_FROM, f.ForgetFrom(**{**talk, "message_id": ids[2]})),
        "a session": (f.FORGET_SESSION, OfSession(**talk)),
    }[what]
    answer = world.call(operation, cap, asked)
    return answer, world.call(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(answer.receipt)).receipt, ids


CASES = {
    "a message": ("ann", None, 1, 1),
    "a conclusion": ("ben", None, 1, 0),
    "the end of a session": (None, "talk", 2, 0),
    "a session": (None, "talk", 5, 0),
}


@pytest.mark.parametrize("what", CASES)
def test_what_is_forgotten_in_a_conversation_has_a_receipt_that_the_log_confirms(world, what):
    answer, told, ids = forget(world, what)
    owner, session, lines, also = CASES[what]
    assert (told.owner, told.session, told.lines, told.also, told.keys) == (owner, session, lines, also, 0)
    assert answer.lines == lines + also and answer.scrubbed
    if what == "the end of a session":
        assert told.line == ids[2]
    assert told.verified == ["schema", "lines", "index", "files"]


@pytest.mark.parametrize("what", CASES)
def test_a_receipt_that_says_something_else_than_its_row_does_not_hold(world, what):
    _, told, _ = forget(world, what)
    row = world.rows()[told.row]
    receipts.hold_against(told, row.event, row.leaf)
    others = (
        {"owner": "eve"},
        {"session": "other"},
        {"lines": 99},
        {"also": 7},
        {"keys": 1},
        {"line": "0" * 26},
        {"actor": "eve"},
        {"namespaces": ["other"]},
    )
    for other in others:
        with pytest.raises(BrokenAuditChain):
            receipts.hold_against(replace(told, **other), row.event, row.leaf)
