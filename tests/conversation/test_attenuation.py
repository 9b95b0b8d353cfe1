"""No cap made from another is let in where that one is not: whatever is asked, of whatever conversation."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversation.twins import CHANGES, READS, Twin, asked, theirs_in
from conversation.world import staged
from pace import examples
from souvenance.domain.proof import Bound
from souvenance.errors import SouvenanceError
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS
from souvenance.gate.conversation.messages import ADD_MESSAGES, LIST_MESSAGES
from souvenance.gate.conversation.peers import LIST_PEERS
from souvenance.gate.conversation.sessions import LIST_SESSIONS, READ_MEMBER
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials

LAW = settings(max_examples=examples(400), deadline=None, derandomize=True, database=None)
REFUSALS = {"cap_op_mismatch", "cap_scope_mismatch", "namespace_denied"}
PEERS = ("alice", "bob", "hermes")
SPACES = ("travel", "work", "default")
SESSIONS = ("trip", "salary", "none")
OPS = ("put", "get", "list", "forget")


class Undone(Exception):
    pass


class Forgetful:
    """A book on which nothing that is written stays."""

    def __init__(self, store):
        self._store = store
        self.read = store.read
        self.scrub = store.scrub

    @contextmanager
    def write(self, *of, **options):
        try:
            with self._store.write(*of, **options) as tx:
                yield tx
                raise Undone
        except Undone:
            pass


@pytest.fixture(scope="module")
def twin():
    with staged() as stage:
        twin = Twin(stage, {"alice": "travel", "bob": "work"})
        world = stage.world
        twin.gate = Gate(
            store=Forgetful(world.store), keyring=world.keyring, clock=world.clock, services=world.services
        )
        twin.requests = {
            operation: list(asked(axes, mine=twin.ids["alice"][0], **theirs_in(twin)[-1]))
            for operation, axes in {**READS, **CHANGES}.items()
        }
        yield twin


def answer(twin, cap, operation, fields):
    """The code, and what is answered."""
    place = {"workspace_id": "w"} if "workspace_id" in operation.request.__struct_fields__ else {}
    request = msgspec.convert({**place, **fields}, operation.request)
    try:
        found = twin.gate.call(operation, Credentials(cap.token, None, Bound("", "")), request)
    except SouvenanceError as error:
        return error.code, None
    return "ok", found


def some(names):
    return st.lists(st.sampled_from(names), unique=True)


CLAIMS = st.fixed_dictionaries(
    {
        "sub": st.sampled_from(PEERS),
        "wid": st.just("w"),
        "ops": st.just(list(OPS)) | some(OPS),
        "namespaces_allowed": st.just(["*"]) | some(SPACES),
        "peers": st.just(["*"]) | some(PEERS),
        "via": some(PEERS),
        "sessions": st.none() | some(SESSIONS),
    }
)
CHANGES_OF_CLAIMS = st.fixed_dictionaries(
    {},
    optional={
        "sub": st.sampled_from(PEERS),
        "ops": some(OPS),
        "namespaces_allowed": some(SPACES),
        "peers": some(PEERS),
        "via": some(PEERS),
        "sessions": some(SESSIONS),
    },
)


@LAW
@given(data=st.data(), first=CLAIMS, chain=st.lists(CHANGES_OF_CLAIMS, min_size=1, max_size=3))
def test_a_cap_is_let_in_only_where_every_cap_before_it_is(twin, data, first, chain):
    caps = [twin.stage.world.issue(**first)]
    for changes in chain:
        caps.append(twin.stage.world.child(caps[-1], **changes))
    operation = data.draw(st.sampled_from(list(twin.requests)))
    fields = data.draw(st.sampled_from(twin.requests[operation]))
    codes = [answer(twin, cap, operation, fields)[0] for cap in caps]
    believed = [code for code in codes if code != "cap_sig_invalid"]
    for earlier, later in combinations(believed, 2):
        assert later in REFUSALS or earlier not in REFUSALS, (operation.name, fields, codes)


LISTS = {
    LIST_CONCLUSIONS: {"size": 100},
    LIST_SESSIONS: {"size": 100},
    LIST_PEERS: {"size": 100},
    LIST_MESSAGES: {"session_id": "trip", "size": 100},
}


@LAW
@given(first=CLAIMS, changes=CHANGES_OF_CLAIMS, operation=st.sampled_from(list(LISTS)))
def test_a_cap_lists_nothing_that_the_cap_it_is_made_from_does_not(twin, first, changes, operation):
    parent = twin.stage.world.issue(**first)
    child = twin.stage.world.child(parent, **changes)
    code, narrow = answer(twin, child, operation, LISTS[operation])
    if code == "ok":
        code, wide = answer(twin, parent, operation, LISTS[operation])
        assert code == "ok"
        assert {one.id for one in narrow.items} <= {one.id for one in wide.items}


def test_who_reaches_some_peers_alone_opens_no_session_by_naming_it(twin):
    """Naming sessions limits a cap of peers; it opens them only to a cap that the workspace's made."""
    world = twin.stage.world
    said = {"sub": "alice", "wid": "w", "ops": list(OPS), "namespaces_allowed": ["*"]}
    whole = world.issue(**{**said, "peers": ["*"]})
    alices = world.issue(**{**said, "peers": ["alice"]})
    read = (LIST_MESSAGES, {"session_id": "salary"})
    write = (
        ADD_MESSAGES,
        {"session_id": "salary", "messages": [{"peer_id": "alice", "content": "forged"}]},
    )
    for request in (read, write):
        assert answer(twin, world.child(whole, peers=["alice"], sessions=["salary"]), *request)[0] == "ok"
        for cap in (
            alices,
            world.child(alices, sessions=["salary"]),
            world.child(world.child(whole, peers=["alice"]), sessions=["salary"]),
            world.child(world.child(alices, sessions=["trip", "salary"]), sessions=["salary"]),
        ):
            assert answer(twin, cap, *request)[0] == "cap_scope_mismatch"
    own = world.child(alices, sessions=["trip"])
    assert answer(twin, own, LIST_MESSAGES, {"session_id": "trip"})[0] == "ok", "alice is in it"
    habits = {"session_id": "trip", "peer_id": "hermes"}
    assert answer(twin, own, READ_MEMBER, habits)[0] == "cap_scope_mismatch"


def test_nor_by_minting(twin):
    said = {"sub": "alice", "peers": ["alice"], "ops": ["put", "get", "list", "grant"]}
    maker = twin.stage.speaker(twin.stage.cap(**said, namespaces_allowed=["work"]))
    asked_for = {"sub": "alice", "ops": ["get"], "namespaces_allowed": ["work"]}
    assert maker.code("POST", "/v1/caps", asked_for) == 201
    refused = maker.code("POST", "/v1/caps", {**asked_for, "sessions": ["salary"]})
    assert refused == (403, "cap_scope_mismatch")
