"""What the inspector forgets has a receipt that the log confirms."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gate.world import KINDS, each_kind
from souvenance.domain import receipt as receipts
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain
from souvenance.gate import inspect_forget as f
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, AddConclusions, NewConclusion
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage


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


def asked_for(what, talk, ids, concluded, **more):
    """The operation that forgets it, and the request."""
    workspace = {"workspace_id": talk["workspace_id"]}
    return {
        "a message": (f.FORGET_MESSAGE, f.ForgetMessage(**talk, message_id=ids[0], **more)),
        "a conclusion": (
            f.FORGET_CONCLUSION,
            f.ForgetConclusion(**workspace, conclusion_id=concluded, **more),
        ),
        "the end of a session": (f.FORGET_FROM, f.ForgetFrom(**talk, message_id=ids[2], **more)),
        "a session": (f.FORGET_SESSION, f.ForgetSession(**talk, **more)),
    }[what]


def forget(world, what):
    """The answer, and what its receipt says, which the log confirms."""
    cap, talk, ids, concluded = converse(world)
    operation, asked = asked_for(what, talk, ids, concluded)
    answer = world.call(operation, cap, asked)
    return answer, world.call(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(answer.receipt)).receipt, ids


def test_a_note_moves_with_its_end_and_its_owner_and_leaves_a_receipt(world):
    cap = world.issue(peers=["*"], namespaces_allowed=["*"], exp=world.seconds + 10**6)
    ends = to_datetime(world.clock.ms + 10**6)
    line = world.put(world.issue(sub="bob"), "the boat is red", "travel", expires_at=ends)
    where = {"workspace_id": cap.claims["wid"], "owner": "bob", "id": line}
    moved = world.call(f.MOVE, cap, f.MoveNote(**where, namespace="boats"))
    told = world.call(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(moved.receipt)).receipt
    assert (told.owner, told.line, told.lines, told.also) == ("bob", line, 1, 0)
    there = world.call(o.LINE, world.issue(sub="bob", namespaces_allowed=["*"]), m.GetLine(moved.copy))
    assert (there.text, there.namespace, there.expires_at) == ("the boat is red", "boats", ends)
    assert world.code(f.MOVE, cap, f.MoveNote(**where, namespace="sea")) == "not_found"
    again = f.MoveNote(**{**where, "id": moved.copy}, namespace="boats")
    assert world.code(f.MOVE, cap, again) == "invalid_input"
    assert world.call(o.RECONCILE, world.operator(), m.Reconcile(cap.claims["wid"])).findings == []


def test_a_note_moves_only_where_the_token_may_write_and_what_was_said_does_not_move(world):
    cap, talk, [said, *_], _ = converse(world)
    line = world.put(world.issue(), "the boat is blue", "travel")
    target = {"workspace_id": talk["workspace_id"], "namespace": "personal"}
    note = f.MoveNote(**target, owner="alice", id=line)
    assert world.code(f.MOVE, world.issue(ops=["forget", "get"]), note) == "cap_op_mismatch"
    assert world.code(f.MOVE, world.issue(ops=["put", "get"]), note) == "cap_op_mismatch"
    assert world.code(f.MOVE, world.issue(namespaces_allowed=["travel"]), note) == "namespace_denied"
    assert world.code(f.MOVE, world.issue(sub="eve"), note) == "cap_scope_mismatch"
    assert world.code(f.MOVE, cap, f.MoveNote(**target, owner="ann", id=said)) == "invalid_input"
    assert line in world.ids(world.issue())


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
def test_what_would_go_is_counted_and_shown_with_what_rests_on_it(world, what):
    cap, talk, ids, concluded = converse(world)
    operation, asked = asked_for(what, talk, ids, concluded, dry_run=True)
    would = world.call(operation, cap, asked)
    _, _, lines, also = CASES[what]
    assert (would.lines, would.also, would.receipt) == (lines, also, "")
    first, resting = ([one.text for one in some] for some in (would.first, would.resting))
    assert first == {
        "a message": ["harbour 0"],
        "a conclusion": ["Ann likes harbours"],
        "the end of a session": ["harbour 2", "harbour 3"],
        "a session": [*(f"harbour {n}" for n in range(4)), "Ann likes harbours"],
    }[what]
    assert resting == ["Ann likes harbours"][:also]
    assert world.call(operation, cap, replace(asked, dry_run=False)).lines == lines + also


def test_a_preview_counts_what_the_token_may_not_read_and_does_not_show_it(world):
    cap, talk, ids, concluded = converse(world)
    elsewhere = NewConclusion(
        content="Ann will move to the coast", observer_id="ben", observed_id="ann", source_ids=ids[:1]
    )
    asked = AddConclusions(workspace_id=talk["workspace_id"], conclusions=[elsewhere])
    world.call(ADD_CONCLUSIONS, cap, asked)
    guest = world.issue(sub="eve", peers=[], sessions=["talk"], namespaces_allowed=["*"])
    operation, asked = asked_for("a message", talk, ids, concluded, dry_run=True)
    shown = {
        who: (would.also, [one.text for one in would.resting])
        for who, token in {"owner": cap, "guest": guest}.items()
        if (would := world.call(operation, token, asked))
    }
    assert shown == {
        "owner": (2, ["Ann likes harbours", "Ann will move to the coast"]),
        "guest": (2, [None, None]),
    }


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
