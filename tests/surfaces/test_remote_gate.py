"""The gate behind a URL answers and raises what the gate itself does, on the same data."""

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from processes import until
from souvenance.config import settings_from
from souvenance.domain import proof
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.errors import (
    CapMalformed,
    CapMissing,
    CapOpMismatch,
    CapPopInvalid,
    CapScopeMismatch,
    CapSigInvalid,
    Conflict,
    FileTooLarge,
    InvalidInput,
    NotFound,
    RateLimited,
    Unsupported,
    UnsupportedType,
)
from souvenance.gate import messages as m
from souvenance.gate import operations as own
from souvenance.gate.conversation.chat import ASK_PEER, AskPeer, ChatAnswer
from souvenance.gate.conversation.conclusions import READ_CONCLUSION, OfConclusion
from souvenance.gate.conversation.context import (
    CONTEXT,
    REPRESENT,
    SUMMARIES,
    Represent,
    SessionContext,
    Summaries,
)
from souvenance.gate.conversation.messages import (
    ADD_FILE,
    ADD_MESSAGES,
    LIST_MESSAGES,
    READ_MESSAGE,
    SEARCH_SESSION,
    AddFile,
    AddMessages,
    ListMessages,
    NewMessage,
    OfMessage,
    SearchSession,
)
from souvenance.gate.conversation.peers import (
    CHANGE_PEER,
    LIST_PEERS,
    OPEN_PEER,
    ChangePeer,
    ListPeers,
    OpenPeer,
)
from souvenance.gate.conversation.queue import QUEUE_STATUS, QueueStatus
from souvenance.gate.conversation.resource import WorkspaceRequest
from souvenance.gate.conversation.sessions import (
    CHANGE_SESSION,
    DELETE_SESSION,
    LIST_SESSIONS,
    ChangeSession,
    ListSessions,
    OfSession,
)
from souvenance.gate.conversation.workspaces import (
    DELETE_WORKSPACE,
    LIST_WORKSPACES,
    NEW_KEY,
    ListWorkspaces,
    NewKey,
)
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation
from souvenance.surfaces.http.client import RemoteGate
from surfaces.afar import asked, raised
from surfaces.declared import OPERATIONS
from surfaces.door import serving
from surfaces.inhabited import EVERY_ROUTE, PEER, SESSION, inhabited

MADE_NAME = re.compile(r"[A-Za-z0-9_-]{21}|[0-7][0-9A-HJKMNP-TV-Z]{25}|w-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
READING = [operation for operation in OPERATIONS if not operation.writes and operation is not NEW_KEY]
WRITING = [operation for operation in OPERATIONS if operation not in READING]


def named(operation):
    return operation.name


def masked(value):
    """What is told, without what no two worlds have in common: made names, moments and caps."""
    match value:
        case dict():
            return {masked(key): masked(one) for key, one in value.items()}
        case list():
            return [masked(one) for one in value]
        case str() if MADE_NAME.fullmatch(value):
            return "<name>"
        case str():
            told = MOMENT.sub("<moment>", value)
            return "<cap>" if told.startswith("ey") else MADE_NAME.sub("<name>", told)
        case _:
            return value


@pytest.fixture(scope="module")
def remote(server):
    gate = RemoteGate(server.url)
    yield gate
    gate.close()


@pytest.fixture(scope="module")
def local(server):
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(server.home)))
    yield installation.gate
    installation.close()


@pytest.fixture(scope="module")
def owner(server):
    return Credentials(server.owner_cap)


@pytest.fixture
def world(server, remote, owner):
    """A workspace in which every kind of thing exists, and nothing is left to be done."""
    return settled(remote, owner, inhabited(server.owner))


@pytest.fixture(scope="module")
def untouched(server, remote, owner):
    """Such a workspace for all tests in which nothing is changed."""
    return settled(remote, owner, inhabited(server.owner))


def settled(remote, owner, names):
    def at_rest():
        left = remote.call(QUEUE_STATUS, owner, QueueStatus(workspace_id=names["workspace_id"]))
        return left.pending_work_units + left.in_progress_work_units == 0

    until(at_rest)
    return names


def said(text="I live in Lisbon.", **more):
    return NewMessage(peer_id=PEER, content=text, **more)


def adding(world, *messages, **more):
    return AddMessages(
        workspace_id=world["workspace_id"], session_id=SESSION, messages=list(messages) or [said()], **more
    )


def uploading(world, **more):
    given = {"file": b"I moved to Porto.", "filename": "notes.txt", "media_type": "text/plain", **more}
    return AddFile(workspace_id=world["workspace_id"], session_id=SESSION, peer_id=PEER, **given)


def test_everything_is_walked():
    assert {operation.name for operation in READING + WRITING} == set(EVERY_ROUTE) - {
        name for name, route in EVERY_ROUTE.items() if route.path.startswith("/v1/")
    }


def test_what_only_reads_answers_the_same_from_afar(local, remote, owner, untouched):
    for operation in READING:
        request = asked(operation, untouched)
        here, there = (gate.call(operation, owner, request) for gate in (local, remote))
        assert there == here, operation.name
        assert type(there) is type(here)


@pytest.mark.parametrize("operation", WRITING, ids=named)
def test_what_writes_answers_the_same_from_afar(server, local, remote, owner, operation):
    worlds = [settled(remote, owner, inhabited(server.owner)) for _ in range(2)]
    answers = []
    for gate, names in zip((local, remote), worlds, strict=True):
        if operation is DELETE_WORKSPACE:
            gate.call(DELETE_SESSION, owner, asked(DELETE_SESSION, names))
        answers.append(gate.call(operation, owner, asked(operation, names)))
    here, there = answers
    assert type(there) is type(here)
    assert masked(msgspec.to_builtins(there)) == masked(msgspec.to_builtins(here))


def test_the_memorys_own_operations_are_reached_too(remote, owner):
    put = remote.call(own.PUT, owner, m.Put("Trip to Chengdu", namespace="travel"))
    assert remote.call(own.LINE, owner, m.GetLine(put.id)).text == "Trip to Chengdu"
    assert remote.call(own.GET, owner, m.Get("Chengdu")).lines[0].text == "Trip to Chengdu"
    assert remote.call(own.WHOAMI, owner, m.Nothing()).sub == "owner"


def test_an_explanation_is_the_same_from_afar(local, remote, owner, untouched):
    at = datetime(2026, 5, 14, tzinfo=UTC)
    searched = SearchSession(
        workspace_id=untouched["workspace_id"], session_id=SESSION, query="Lisbon", at=at, explain=True
    )
    here, there = (gate.call(SEARCH_SESSION, owner, searched) for gate in (local, remote))
    assert there == here
    assert there.messages[0].explanation.signals["similar_words"].added > 0
    here, there = (
        gate.call(own.GET, owner, m.Get("Chengdu", at=at, explain=True)) for gate in (local, remote)
    )
    assert there == here
    assert there.lines[0].explanation.rank == 1


def test_upkeep_is_not_for_the_network(remote, owner):
    assert "not served" in raised(remote, own.SCRUB, owner, m.Nothing()).detail
    assert type(raised(remote, own.SCRUB, owner, m.Nothing())) is Unsupported


def test_whether_something_was_made_or_found_is_told_apart(remote, owner, world):
    request = OpenPeer(workspace_id=world["workspace_id"], id="dora")
    assert [remote.call(OPEN_PEER, owner, request).created for _ in range(2)] == [True, False]


def test_a_repeated_request_with_the_same_key_stores_nothing_and_says_so(remote, owner, world):
    request = adding(world, said("I like tea."), idempotency_key="letter 7")
    first, second = (remote.call(ADD_MESSAGES, owner, request) for _ in range(2))
    assert (first.repeated, second.repeated) == (False, True)
    assert second.messages == first.messages


def test_newer_keys_of_a_configuration_come_back_as_they_were_given(remote, owner, world):
    given = {"summary": {"enabled": True, "custom_instructions": "Be brief."}}
    request = ChangeSession(workspace_id=world["workspace_id"], session_id=SESSION, configuration=given)
    assert remote.call(CHANGE_SESSION, owner, request).configuration == given


def test_a_time_is_the_same_moment_whatever_zone_it_is_told_in(local, remote, owner, world):
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    told = (noon, noon.replace(tzinfo=None), noon.astimezone(timezone(timedelta(hours=9))))
    for gate in (local, remote):
        for moment in told:
            stored = gate.call(ADD_MESSAGES, owner, adding(world, said(created_at=moment)))
            assert stored.messages[0].created_at == noon


def test_a_question_is_answered_whole_even_if_it_was_to_be_streamed(remote, owner, untouched):
    request = AskPeer(
        workspace_id=untouched["workspace_id"], peer_id=PEER, query="Where does ann live?", stream=True
    )
    answer = remote.call(ASK_PEER, owner, request)
    assert type(answer) is ChatAnswer
    assert "Lisbon" in answer.content


def test_what_was_set_to_nothing_is_not_taken_for_what_was_left_out(local, remote, owner, untouched):
    request = Represent(workspace_id=untouched["workspace_id"], peer_id=PEER, max_conclusions=None)
    sent = remote.bind(REPRESENT, request)
    assert msgspec.json.decode(sent.body) == {"max_conclusions": None}
    assert remote.call(REPRESENT, owner, request) == local.call(REPRESENT, owner, request)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"filename": None, "media_type": "text/plain"}, None),
        ({"filename": 'a "quoted"\r\nnäme.md', "media_type": ""}, None),
        ({"filename": "notes.ts", "media_type": ""}, None),
        ({"metadata": {"a": [1, None, "ü"]}, "created_at": datetime(2026, 1, 2, tzinfo=UTC)}, None),
        ({"file": b"\x89PNG", "filename": "a.png", "media_type": ""}, UnsupportedType),
        ({"file": b"x" * (5 * 1024 * 1024 + 1)}, FileTooLarge),
        ({"file": b"{", "filename": "a.json", "media_type": ""}, InvalidInput),
        ({"file": b""}, InvalidInput),
    ],
)
def test_a_file_is_read_or_refused_alike_here_and_from_afar(local, remote, owner, world, more, error):
    request = uploading(world, **more)
    if error is not None:
        assert [type(raised(gate, ADD_FILE, owner, request)) for gate in (local, remote)] == [error] * 2
        return
    here, there = (gate.call(ADD_FILE, owner, request) for gate in (local, remote))
    assert masked(msgspec.to_builtins(there)) == masked(msgspec.to_builtins(here))


REFUSED = {
    "an unknown session": (SUMMARIES, lambda w: Summaries(workspace_id=w, session_id="nobody"), NotFound),
    "a name of any characters": (
        SUMMARIES,
        lambda w: Summaries(workspace_id=w, session_id="a b?#%2e ü"),
        NotFound,
    ),
    "an unknown conclusion": (
        READ_CONCLUSION,
        lambda w: OfConclusion(workspace_id=w, conclusion_id="nothing"),
        NotFound,
    ),
    "a filter that is none": (
        LIST_MESSAGES,
        lambda w: ListMessages(workspace_id=w, session_id=SESSION, filters={"weather": "fine"}),
        InvalidInput,
    ),
    "a perspective on nobody": (
        CONTEXT,
        lambda w: SessionContext(workspace_id=w, session_id=SESSION, peer_perspective=PEER),
        InvalidInput,
    ),
    "a workspace with sessions": (DELETE_WORKSPACE, lambda w: WorkspaceRequest(workspace_id=w), Conflict),
    "a number that is not finite": (
        CHANGE_PEER,
        lambda w: ChangePeer(workspace_id=w, peer_id=PEER, metadata={"n": float("nan")}),
        InvalidInput,
    ),
    "a lone surrogate": (
        CHANGE_PEER,
        lambda w: ChangePeer(workspace_id=w, peer_id=PEER, metadata={"n": "\udcff"}),
        InvalidInput,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_the_same_error_here_and_from_afar(local, remote, owner, untouched, case):
    operation, request, error = REFUSED[case]
    here, there = (
        raised(gate, operation, owner, request(untouched["workspace_id"])) for gate in (local, remote)
    )
    assert type(here) is type(there) is error
    assert there.hint == here.hint
    assert there.detail


def test_what_the_door_can_not_read_is_told_field_by_field(remote, owner, untouched):
    refused = raised(remote, LIST_PEERS, owner, ListPeers(workspace_id=untouched["workspace_id"], kind="odd"))
    assert type(refused) is InvalidInput
    assert refused.detail.startswith("body.kind: ")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/", "../../.."])
def test_a_name_can_not_lead_to_another_path(remote, owner, untouched, name):
    request = OfSession(workspace_id=untouched["workspace_id"], session_id=name)
    assert type(raised(remote, DELETE_SESSION, owner, request)) is InvalidInput
    kept = remote.call(LIST_SESSIONS, owner, ListSessions(workspace_id=untouched["workspace_id"]))
    assert kept.total == 1


def test_caps_are_refused_from_afar_for_the_same_reasons(server, local, remote, owner, untouched, tmp_path):
    elsewhere = remote.call(NEW_KEY, owner, NewKey(workspace_id="elsewhere")).key
    reader = server.mint("reader", ["audit"], ["*"])
    other = open_installation(settings_from({}, str(tmp_path / "other")))
    request = ListPeers(workspace_id=untouched["workspace_id"])
    for token, error in {
        None: CapMissing,
        "": CapMissing,
        "junk": CapMalformed,
        "jünk": CapMalformed,
        "two\r\nlines: x": CapMalformed,
        other.owner_cap: CapSigInvalid,
        elsewhere: CapScopeMismatch,
        reader: CapOpMismatch,
    }.items():
        for gate in (local, remote):
            assert type(raised(gate, LIST_PEERS, Credentials(token), request)) is error
    other.close()


def test_a_bound_cap_is_used_with_a_proof_over_what_is_sent(remote, owner, world):
    secret = Ed25519PrivateKey.generate()
    holder = HolderKey.of(secret.public_key())
    place = world["workspace_id"]
    claims = m.Mint("bound", ("put", "get"), ("*",), wid=place, cnf=Confirmation(holder), peers=("*",))
    minted = remote.call(own.MINT, owner, claims)

    def proved(operation, request, jti):
        bound = remote.bind(operation, request)
        return Credentials(
            minted.cap, proof.make(minted.cap, bound, key=secret, jti=jti, now=int(time.time()))
        )

    requests = [
        (ADD_MESSAGES, adding(world)),
        (ADD_FILE, uploading(world, metadata={"a": "b"})),
        (CONTEXT, SessionContext(workspace_id=place, session_id=SESSION, tokens=100)),
        (LIST_MESSAGES, ListMessages(workspace_id=place, session_id=SESSION, size=3)),
    ]
    for number, (operation, request) in enumerate(requests):
        remote.call(operation, proved(operation, request, f"proof-{number}"), request)
    used = proved(ADD_MESSAGES, adding(world), "proof-0")
    assert type(raised(remote, ADD_MESSAGES, used, adding(world))) is CapPopInvalid
    other = proved(ADD_MESSAGES, adding(world), "proof-9")
    assert type(raised(remote, ADD_MESSAGES, other, adding(world, said("Another.")))) is CapPopInvalid


def test_too_many_requests_are_told_with_how_long_to_wait(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_REQUESTS_PER_MINUTE="1") as server:
        gate = RemoteGate(server.url)
        credentials = Credentials(server.owner_cap)
        gate.call(LIST_WORKSPACES, credentials, ListWorkspaces())
        with pytest.raises(RateLimited) as refused:
            for _ in range(2):  # One of them may come in the next minute.
                gate.call(LIST_WORKSPACES, credentials, ListWorkspaces())
        gate.close()
    assert 0 < refused.value.retry_after <= 60


def test_many_threads_may_ask_at_once(remote, owner, world):
    def ask(number):
        stored = remote.call(ADD_MESSAGES, owner, adding(world, said(f"number {number}"))).messages[0]
        request = OfMessage(workspace_id=world["workspace_id"], session_id=SESSION, message_id=stored.id)
        return remote.call(READ_MESSAGE, owner, request).content

    with ThreadPoolExecutor(24) as threads:
        assert list(threads.map(ask, range(48))) == [f"number {number}" for number in range(48)]


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=30, deadline=None)
@given(content=WORDS, metadata=st.dictionaries(WORDS, VALUES, max_size=3).filter(lambda bag: depth(bag) < 5))
def test_what_is_said_comes_back_as_it_was(remote, owner, shared, content, metadata):
    request = adding(shared, said(content, metadata=metadata))
    stored = remote.call(ADD_MESSAGES, owner, request).messages[0]
    assert (stored.content, stored.metadata) == (content, metadata)


def depth(value):
    if not isinstance(value, dict | list):
        return 0
    return 1 + max((depth(one) for one in (value.values() if isinstance(value, dict) else value)), default=0)


@pytest.fixture(scope="module")
def shared(server):
    return inhabited(server.owner)


def test_the_client_needs_nothing_of_the_server():
    script = "import sys, souvenance.surfaces.http.client\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"starlette", "uvicorn", "multipart", "sqlite3"}.isdisjoint(loaded.stdout.split())
