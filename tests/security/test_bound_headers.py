"""A proof of a bound token binds the headers that say who speaks, in which session, and what is a retry."""

from __future__ import annotations

import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chat.stage import a_stage, asked
from souvenance.domain import proof
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.domain.proof import Bound, bound_headers

PATH = "/v1/chat/completions"
ANN = {"X-Hermes-User-Id": "ann", "X-Hermes-Session-Key": "order-1", "X-Hermes-Session-Id": "monday"}


@pytest.fixture(scope="module")
def chatting(tmp_path_factory):
    """Chats as whoever holds a front end's token that is bound to a key."""
    with a_stage(tmp_path_factory.mktemp("chat") / "home") as stage:
        key = Ed25519PrivateKey.generate()
        cap = stage.mint("front", peers=("*",), cnf=Confirmation(HolderKey.of(key.public_key())))
        body = json.dumps(asked("I like tea.")).encode()
        made = iter(range(1000))

        def chat(proved, sent):
            bound = Bound("POST", PATH, body, bound_headers(proved.items()))
            shown = proof.make(cap, bound, key=key, jti=str(next(made)), now=int(time.time()))
            headers = {**sent, "dpop": shown}
            return stage.client(cap).post("/chat/completions", content=body, headers=headers)

        yield chat


def test_headers_that_were_proved_are_taken(chatting):
    told = [
        chatting(ANN, ANN),
        chatting(ANN, {name.lower(): value for name, value in reversed(ANN.items())}),
        chatting(ANN, {**ANN, "X-Client-Request-Id": "7"}),
    ]
    assert [answer.status_code for answer in told] == [200, 200, 200], [answer.text for answer in told]


@pytest.mark.parametrize(
    "sent",
    [
        *({**ANN, name: "bob"} for name in ANN),
        *({other: value for other, value in ANN.items() if other != name} for name in ANN),
        {**ANN, "X-Hermes-Another": "x"},
        {**ANN, "Idempotency-Key": "k"},
        {},
    ],
    ids=str,
)
def test_other_headers_than_those_proved_are_refused(chatting, sent):
    for refused in (chatting(ANN, sent), chatting({}, {**sent, "X-Hermes-User-Id": "bob"})):
        assert refused.status_code in (401, 403)
        assert "cap_pop_invalid" in refused.text or "the proof is of other headers" in refused.text


def test_no_header_can_be_taken_for_two():
    one = Bound("GET", "/", b"", bound_headers([("x-hermes-a", "1"), ("x-hermes-b", "2")]))
    other = Bound("GET", "/", b"", bound_headers([("x-hermes-a", "1\nx-hermes-b:2")]))
    assert one != other
