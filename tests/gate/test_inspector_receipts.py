"""What the inspector forgets has a receipt that the log confirms."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gate.world import KINDS, each_kind
from souvenance.domain import receipt as receipts
from souvenance.domain.retention import RetentionRule
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain
from souvenance.gate import inspect_forget as f
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import retention
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, AddConclusions, NewConclusion
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    LIST_MESSAGES,
    AddMessages,
    ListMessages,
    NewMessage,
)
from souvenance.gate.inspect_retention import AGED, AskAged


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def say(world, cap, talk, content, peer):
    said = AddMessages(**talk, messages=[NewMessage(content=content, peer_id=peer)])
    return [one.id for one in world.call(ADD_MESSAGES, cap, said).messages]


def converse(world):
    """Two people say two things each, and one thing is concluded from the first: the token and the ids."""
    cap = world.issue(peers=["*"], namespaces_allowed=["*"], exp=world.seconds + 10**6)
    talk = {"workspace_id": cap.claims["wid"], "session_id": "talk"}
    ids = [line for n in range(4) for line in say(world, cap, talk, f"harbour {n}", ("ann", "ben")[n % 2])]
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
            f.ForgetOneConclusion(**workspace, conclusion_id=concluded, **more),
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


def everybody(world):
    """A token of everybody and everything."""
    return world.issue(peers=["*"], namespaces_allowed=["*"], exp=world.seconds + 10**6)


def findings(world, cap):
    """What the log and the store say differently of each other."""
    return world.call(o.RECONCILE, world.operator(), m.Reconcile(cap.claims["wid"])).findings


def lies_in(world, owner, line):
    cap = world.issue(sub=owner, namespaces_allowed=["*"])
    return world.call(o.LINE, cap, m.GetLine(line)).namespace


def test_a_note_moves_with_its_end_its_owner_and_its_history_and_leaves_a_receipt(world):
    cap, bob = everybody(world), world.issue(sub="bob", namespaces_allowed=["*"])
    ends = to_datetime(world.clock.ms + 10**6)
    first = world.put(bob, "the boat is blue", "travel", expires_at=ends)
    line = world.call(o.INVALIDATE, bob, m.Invalidate(first, "the boat is red")).id
    where = {"workspace_id": cap.claims["wid"], "owner": "bob", "id": line}
    moved = world.call(f.MOVE, cap, f.MoveLine(**where, namespace="boats"))
    told = world.call(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(moved.receipt)).receipt
    assert (told.owner, told.line, told.lines, told.also, told.moved_to) == ("bob", line, 2, 0, "boats")
    there = world.call(o.LINE, bob, m.GetLine(line))
    assert (there.text, there.namespace, there.expires_at) == ("the boat is red", "boats", ends)
    assert (there.supersedes, lies_in(world, "bob", first)) == (first, "boats")
    assert world.code(f.MOVE, cap, f.MoveLine(**where, namespace="boats")) == "invalid_input"
    of_old = f.MoveLine(**{**where, "id": first}, namespace="sea")
    assert world.code(f.MOVE, cap, of_old) == "invalid_input"
    world.call(f.MOVE, cap, f.MoveLine(**where, namespace="travel"))
    assert lies_in(world, "bob", line) == "travel"
    assert findings(world, cap) == []


def test_a_note_moves_only_where_the_token_may_write_and_what_was_said_does_not_move_alone(world):
    cap, talk, [said, *_], _ = converse(world)
    line = world.put(world.issue(), "the boat is blue", "travel")
    target = {"workspace_id": talk["workspace_id"], "namespace": "personal"}
    note = f.MoveLine(**target, owner="alice", id=line)
    assert world.code(f.MOVE, world.issue(ops=["forget", "get"]), note) == "cap_op_mismatch"
    assert world.code(f.MOVE, world.issue(ops=["put", "get"]), note) == "cap_op_mismatch"
    assert world.code(f.MOVE, world.issue(namespaces_allowed=["travel"]), note) == "namespace_denied"
    assert world.code(f.MOVE, world.issue(sub="eve"), note) == "cap_scope_mismatch"
    assert world.code(f.MOVE, cap, f.MoveLine(**target, owner="ann", id=said)) == "invalid_input"
    assert line in world.ids(world.issue())


def conclude(world, cap, content, **more):
    """What ben concludes of ann: its id."""
    stated = NewConclusion(content=content, observer_id="ben", observed_id="ann", **more)
    asked = AddConclusions(workspace_id=cap.claims["wid"], conclusions=[stated])
    return world.call(ADD_CONCLUSIONS, cap, asked).conclusions[0].id


def test_what_somebody_concluded_from_nothing_that_was_said_moves_alone(world):
    cap, talk, _, concluded = converse(world)
    stated = conclude(world, cap, "Ann is left-handed")
    where = {"workspace_id": talk["workspace_id"], "owner": "ben", "namespace": "work"}
    world.call(f.MOVE, cap, f.MoveLine(**where, id=stated))
    assert lies_in(world, "ben", stated) == "work"
    assert world.code(f.MOVE, cap, f.MoveLine(**where, id=concluded)) == "invalid_input"
    assert findings(world, cap) == []


def test_a_session_moves_with_what_was_said_and_concluded_and_leaves_a_receipt(world):
    cap, talk, ids, concluded = converse(world)
    beside = conclude(world, cap, "Ann walks a lot", source_ids=ids[2:3])
    [other] = say(world, cap, {**talk, "session_id": "another"}, "harbour 9", "ann")
    both = conclude(world, cap, "Ann goes to harbours", source_ids=[ids[0], other])
    asked = f.MoveSession(**talk, namespace="work", dry_run=True)
    would = world.call(f.MOVE_SESSION, cap, asked)
    assert (would.lines, would.receipt, lies_in(world, "ann", ids[0])) == (6, "", "default")
    assert world.code(f.MOVE_SESSION, cap, replace(asked, dry_run=False)) == "conflict"  # It is still read.
    with world.store.write() as tx:
        tx.work.drop(talk["workspace_id"], "talk")
    moved = world.call(f.MOVE_SESSION, cap, replace(asked, dry_run=False))
    told = world.call(o.VERIFY_RECEIPT, cap, m.VerifyReceipt(moved.receipt)).receipt
    assert (told.session, told.lines, told.moved_to) == ("talk", 6, "work")
    speakers = ("ann", "ben", "ann", "ben")
    assert {lies_in(world, *place) for place in zip(speakers, ids, strict=True)} == {"work"}
    assert {lies_in(world, "ben", line) for line in (concluded, beside)} == {"work"}
    assert (lies_in(world, "ann", other), lies_in(world, "ben", both)) == ("default", "default")
    listed = world.call(LIST_MESSAGES, cap, ListMessages(**talk))
    assert [one.content for one in listed.items] == [f"harbour {n}" for n in range(4)]
    inside = world.issue(sub="ann", peers=["*"], namespaces_allowed=["default"])
    assert world.code(LIST_MESSAGES, inside, ListMessages(**talk)) == "not_found"
    assert findings(world, cap) == []
    gone = world.call(f.FORGET_MESSAGE, cap, f.ForgetMessage(**talk, message_id=ids[0]))
    assert gone.lines == 2
    world.call(f.MOVE_SESSION, cap, f.MoveSession(**talk, namespace="default"))
    assert lies_in(world, "ann", ids[2]) == "default"
    assert findings(world, cap) == []


def test_a_session_moves_only_with_a_token_that_writes_and_forgets_in_both_namespaces(world):
    _, talk, _, _ = converse(world)
    asked = f.MoveSession(**talk, namespace="work")
    whole = {"peers": ["*"], "exp": world.seconds + 10**6}
    for code, more in (
        ("cap_op_mismatch", {"ops": ["forget", "get"], "namespaces_allowed": ["*"]}),
        ("cap_op_mismatch", {"ops": ["put", "get"], "namespaces_allowed": ["*"]}),
        ("namespace_denied", {"namespaces_allowed": ["default"]}),
        ("not_found", {"namespaces_allowed": ["work"]}),
        ("cap_scope_mismatch", {"peers": [], "namespaces_allowed": ["*"]}),
        ("cap_scope_mismatch", {"sessions": ["talk"], "namespaces_allowed": ["*"]}),
    ):
        assert world.code(f.MOVE_SESSION, world.issue(**{**whole, **more}), asked) == code
        preview = replace(asked, dry_run=True)
        assert world.code(f.MOVE_SESSION, world.issue(**{**whole, **more}), preview) == code
    assert (
        world.code(f.MOVE_SESSION, everybody(world), replace(asked, namespace="default")) == "invalid_input"
    )


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
    assert (
        first
        == {
            "a message": ["harbour 0"],
            "a conclusion": ["Ann likes harbours"],
            "the end of a session": ["harbour 2", "harbour 3"],
            "a session": [*(f"harbour {n}" for n in range(4)), "Ann likes harbours"],
        }[what]
    )
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


def test_what_a_rule_would_remove_is_counted_with_what_rests_on_it_alone(world):
    cap, talk, ids, _ = converse(world)
    world.clock.advance(seconds=5 * 24 * 3600)
    [later] = say(world, cap, talk, "harbour 4", "ann")
    conclude(world, cap, "Ann is back", source_ids=ids[:1])
    conclude(world, cap, "Ann stays", source_ids=[ids[0], later])
    fields = {"name": "old", "then": "forget", "days": 3, "namespace": "default"}
    would = world.call(retention.SET, cap, retention.SetRule(**fields, dry_run=True))
    assert (would.lines, would.resting) == (5, 1)
    asked = AskAged(workspace_id=talk["workspace_id"], rule=RetentionRule(**fields))
    assert len(world.call(AGED, cap, asked).lines) == would.lines


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
        {"moved_to": "other"},
    )
    for other in others:
        with pytest.raises(BrokenAuditChain):
            receipts.hold_against(replace(told, **other), row.event, row.leaf)
