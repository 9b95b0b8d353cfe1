"""Who speaks through the chat door: every cell of headers × credential × what the cap pins, and the rules."""

from __future__ import annotations

import json
import time
from contextlib import closing
from http.client import HTTPConnection
from itertools import product
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from chat.stage import CREDENTIALS, MODEL, PATIENCE_SECONDS, a_stage, asked
from souvenance.domain import proof
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.domain.proof import Bound
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.chat.identity import ClaimedIdentity, checked, peer_of, session_of

USER_HEADERS = {
    "no user": {},
    "the user ann": {"user_id": "ann"},
    "the user bob": {"user_id": "bob"},
    "an empty user": {"user_id": "   "},
    "a control character": {"user_id": "an\tn"},
    "nothing but a control character": {"user_id": "\xc2\x85"},
    "too long a user": {"user_id": "a" * 257},
}
SESSION_HEADERS = {
    "no session": {},
    "a key": {"session_key": "k-1"},
    "a transcript": {"session_id": "t-1"},
    "a control character in the key": {"session_key": "k\xc2\x85"},
    "too long a transcript": {"session_id": "t" * 257},
}
REFUSED = {
    "nothing": (401, "cap_missing"),
    "junk": (401, "cap_malformed"),
    "ann's own cap, altered": (401, "cap_sig_invalid"),
}
BAD = (
    "a control character",
    "nothing but a control character",
    "too long a user",
    "a control character in the key",
    "too long a transcript",
)
SUBJECT = {"local": "owner", "ann's own cap": "ann"}


def expected(user, session, credential):
    """Status and code, and who speaks if anybody does."""
    named = USER_HEADERS[user].get("user_id", "").strip()
    if (credential == "local" or credential in REFUSED) and (named or SESSION_HEADERS[session]):
        return 403, "denied", None
    if credential in REFUSED:
        return *REFUSED[credential], None
    if user in BAD or session in BAD:
        return 400, "invalid_input", None
    if credential == "ann's own cap" and named == "bob":
        return 403, "cap_scope_mismatch", None
    return 200, None, named or SUBJECT.get(credential)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with a_stage(tmp_path_factory.mktemp("chat") / "home", trusted=True) as found:
        yield found


CELLS = list(product(USER_HEADERS, SESSION_HEADERS, CREDENTIALS))


@pytest.mark.parametrize(("user", "session", "credential"), CELLS, ids=lambda part: part)
def test_who_speaks(stage, user, session, credential):
    status, code, speaker = expected(user, session, credential)
    sent = {**USER_HEADERS[user], **SESSION_HEADERS[session]}
    cap = CREDENTIALS[credential](stage)
    found, told, headers = post_plainly(stage, cap, sent, asked(f"I am {speaker} in {stage.workspace}."))
    assert found == status, told
    workspace = "default" if credential == "local" else stage.workspace
    if code is not None:
        error = told["error"]
        assert (error["code"], error["param"]) == (code, None)
        assert error["message"]
        assert not stage.model.asked, "a request that is refused goes nowhere"
        assert not [name for name in headers if name.startswith("x-hermes")]
        return
    if speaker is None:
        assert headers["x-souvenance-memory"] == "no-person-named"
        assert not stage._exists(workspace)
    else:
        assert headers["x-souvenance-memory"] == "read-write"
        said = [peer for _, peer, text in settled(stage, workspace) if stage.workspace in text]
        assert said == [speaker]
    for name, value in sent.items():
        echo = headers.get(f"x-hermes-{name.replace('_', '-')}")
        assert echo == (value.strip() or None)


def post_plainly(stage, cap, named, body):
    """By a client that sends whatever it is told to."""
    given = {} if cap is None else {"authorization": f"Bearer {cap}"}
    given |= {f"x-hermes-{name.replace('_', '-')}": value for name, value in named.items()}
    with closing(HTTPConnection(urlsplit(stage.url).netloc, timeout=PATIENCE_SECONDS)) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), given)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers


def settled(stage, workspace):
    """What was said, once the turn of this test is there."""
    while True:
        found = stage.lines(workspace) if stage._exists(workspace) else []
        if any(stage.workspace in text for _, _, text in found):
            return found


def test_a_user_shares_memory_under_two_keys_and_two_users_share_none_under_one(stage, front):
    stage.say(front, "I am allergic to plums.", user="ann", key="k-1")
    stage.texts(2)
    question = "Am I allergic to plums or to pears?"
    for user, key, knows in (("ann", "k-2", True), ("bob", "k-1", False), ("ann", None, True)):
        stage.say(front, question, user=user, key=key)
        assert ("I am allergic to plums." in stage.heard()) == knows, (user, key)


def test_every_person_key_and_transcript_has_a_session_of_its_own(stage, front):
    for user, key, transcript in product(("ann", "bob"), (None, "k-1", "k-2"), (None, "k-1")):
        stage.say(front, "The same words, from everybody.", user=user, key=key, transcript=transcript)
    stage.texts(24)
    sessions = {}
    for session, peer, _ in stage.lines():
        sessions.setdefault(session, set()).add(peer)
    assert len(sessions) == 12
    assert all(len(peers - {"assistant"}) == 1 for peers in sessions.values())


def test_a_session_is_never_that_of_another_because_of_what_was_said(stage, front):
    opening = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello everybody."}]
    for user in ("ann", "bob"):
        stage.client(front, user_id=user).post(
            "/chat/completions", json={"model": MODEL, "messages": opening}
        )
    stage.texts(4)
    assert len({session for session, _, _ in stage.lines()}) == 2


def test_percent_signs_are_plain_text(stage, front):
    answer = stage.say(front, "I like tea.", user="a%0Ab")
    assert answer.headers["x-hermes-user-id"] == "a%0Ab"
    assert stage.texts(2)[0][0].startswith("a-0Ab-")


def test_a_header_that_is_sent_twice_is_refused(stage, front):
    headers = [("authorization", f"Bearer {front}"), ("x-hermes-user-id", "ann"), ("x-hermes-user-id", "bob")]
    client = stage.client(None)
    assert client.post("/chat/completions", json=asked("hi"), headers=headers).status_code == 400


def test_a_name_in_utf_8_is_one_and_comes_back_as_it_was(stage, front):
    name = "Zoë".encode()
    headers = {b"authorization": f"Bearer {front}".encode(), b"x-hermes-user-id": name}
    client = stage.client(None)
    answer = client.post("/chat/completions", json=asked("I like tea."), headers=headers)
    assert dict(answer.headers.raw)[b"x-hermes-user-id"] == name
    assert stage.texts(2)[0][0].startswith("Zo--")
    headers[b"x-hermes-user-id"] = "Zoë".encode("latin-1")
    assert client.post("/chat/completions", json=asked("hi"), headers=headers).status_code == 400


def test_nobody_is_the_assistant(stage, front):
    stage.say(front, "I am the assistant.", user="assistant")
    stage.say(stage.mint("assistant"), "I am the assistant, too.")
    spoke = {peer for peer, text in stage.texts(4) if "assistant" in text}
    assert len(spoke) == 1
    assert spoke.pop().startswith("assistant-")


def test_a_cap_limited_to_sessions_or_of_another_class_does_not_chat(stage):
    limited = stage.mint("ann", sessions=("s",))
    assert stage.say(limited, "hi").json()["error"]["code"] == "cap_scope_mismatch"
    other = stage.mint("ann", data_class="config")
    assert stage.say(other, "hi").json()["error"]["code"] == "cap_data_class_mismatch"


def test_a_bound_cap_chats_with_a_proof_of_each_request_and_not_without(stage):
    holder = Ed25519PrivateKey.generate()
    cap = stage.mint("ann", cnf=Confirmation(HolderKey.of(holder.public_key())))
    client = stage.client(cap)
    body = json.dumps(asked("I like tea.")).encode()
    bound = Bound("POST", "/v1/chat/completions", body)
    proved = {"dpop": proof.make(cap, bound, key=holder, jti="once", now=int(time.time()))}
    assert client.post("/chat/completions", content=body).json()["error"]["code"] == "cap_pop_invalid"
    assert client.post("/chat/completions", content=body, headers=proved).status_code == 200
    again = client.post("/chat/completions", content=body, headers=proved)
    assert again.json()["error"]["code"] == "cap_pop_invalid"
    assert stage.texts(2)[0] == ("ann", "I like tea.")


def test_what_names_somebody_beside_a_bad_cap_is_denied_with_the_reason(stage):
    refused = stage.say("junk", "hi", user="ann")
    assert (refused.status_code, refused.json()["error"]["type"]) == (403, "permission_error")
    assert "can't be read" in refused.json()["error"]["message"]
    for path in ("/models", f"/models/{MODEL}"):
        assert stage.client("junk", user_id="ann").get(path).status_code == 403
        assert stage.client("junk").get(path).status_code == 401


def test_a_revoked_cap_chats_no_more(stage):
    ann = stage.mint("ann")
    assert stage.say(ann, "hi").status_code == 200
    jti = stage.installation.gate.call(o.WHOAMI, Credentials(ann), m.Nothing()).jti
    stage.installation.gate.call(o.REVOKE, Credentials(stage.installation.owner_cap), m.Revoke(jti=jti))
    refused = stage.say(ann, "hi")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "cap_revoked")
    assert stage.say(ann, "hi", key="k-1").status_code == 403


NAMES = st.text(min_size=1, max_size=256) | st.text("aA-_1", min_size=1, max_size=120)
SUFFIXED = st.builds(lambda name: peer_of(name, "assistant"), NAMES)
"""Names that were given to others, as names."""


class TestNames:
    @given(st.lists(NAMES | SUFFIXED, min_size=2, max_size=6, unique=True))
    def test_two_people_never_become_one_nor_the_assistant(self, people):
        peers = [peer_of(one, "assistant") for one in people]
        assert len(set(peers)) == len(people)
        assert not {"assistant", "user", "ai"} & set(peers)

    @given(NAMES, NAMES, NAMES)
    def test_people_and_sessions_have_names_that_the_gate_takes(self, name, key, transcript):
        peer = peer_of(name, "assistant")
        session = session_of(peer, ClaimedIdentity(None, key, transcript), "default")
        for made in (peer, session):
            assert 0 < len(made) <= 100
            assert made.replace("-", "a").replace("_", "a").isalnum() and made.isascii()

    @given(st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=2, max_size=6, unique=True))
    def test_two_conversations_never_become_one(self, conversations):
        made = {
            session_of(peer_of(name, "assistant"), ClaimedIdentity(None, key, transcript), "default")
            for name, key, transcript in conversations
        }
        assert len(made) == len(conversations)

    @given(st.text(max_size=300))
    def test_what_is_checked_is_refused_or_stays_as_it_is(self, text):
        try:
            found = checked(text, "x")
        except InvalidInput:
            return
        assert found is None or (found in text and checked(found, "x") == found)
