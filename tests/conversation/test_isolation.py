"""Nobody reads what they may not: each workspace, peer and session has a word of its own."""

from __future__ import annotations

from itertools import product

import pytest

from conversation.world import staged

WORDS = {
    "wombat": "said by alice in the session s",
    "bison": "said by bob in the session s",
    "tapir": "said by zoe in the session t",
    "badger": "held by bob of alice, from no session",
    "civet": "alice's card",
    "gecko": "bob's card of alice",
    "vicuna": "said by alice in the session s of another workspace",
    "yak": "on the session t, in the open",
    "zebu": "on the peer zoe, in the open",
    "okapi": "on a scope, in the open",
    "ibex": "in the address of a webhook",
}
ELSEWHERE = {"vicuna"}
IN_S = {"wombat", "bison"}
MAY_READ = {
    "alice": IN_S | {"civet"},
    "bob": IN_S | {"badger", "gecko"},
    "zoe": {"tapir", "yak", "zebu"},
    "alice in s": IN_S,
    "session s": IN_S,
    "session t": {"tapir", "yak", "zebu"},
    "workspace w": set(WORDS) - ELSEWHERE,
    "workspace v": ELSEWHERE,
}
NAMED = {
    "alice": {"peer_id": "alice"},
    "bob": {"peer_id": "bob"},
    "zoe": {"peer_id": "zoe"},
    "alice in s": {"peer_id": "alice", "session_id": "s"},
    "session s": {"session_id": "s"},
    "session t": {"session_id": "t"},
    "workspace w": {},
    "workspace v": {"workspace": "v"},
}
PEERS = ("alice", "bob", "zoe")
SESSIONS = ("s", "t")
COMMON = "mine tame"
"""What finds every sentence without naming its word, as some answers repeat the question."""
LIMITS = [
    {},
    {"scope": "sc"},
    {"filters": {"session_id": ["s", "t"]}},
    *({"session_id": session} for session in SESSIONS),
]
AMONG = ("", "&scope=sc", "&sessions=s&sessions=t", "&limit_to_session=true")
"""How a question may be limited. In the other workspace, which has one session and no scope, none is."""


def furnish(stage):
    """Everything that can hold a word; the ids that paths need."""
    owner = stage.owner
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.open("sessions", "t", metadata={"note": "yak"}, peers={"zoe": {}})
    owner.open("peers", "zoe", metadata={"note": "zebu"})
    ids = [
        *owner.say("s", "The wombat is mine", ("bob", "The bison is mine")),
        *owner.say("t", "The tapir is mine", peer="zoe"),
        *stage.speaker(workspace="v").say("s", "The vicuna is mine"),
    ]
    ids.append(owner.conclude("The badger is tame", "bob", "alice"))
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["The civet"]})
    owner.told("PUT", "/peers/bob/card", {"peer_card": ["The gecko"]}, params={"target": "alice"})
    owner.open("scopes", "sc", metadata={"note": "okapi"})
    owner.told("POST", "/scopes/sc/sessions", {"session_ids": ["s", "t"]})
    owner.told("POST", "/webhooks", {"url": "https://ibex.example.org/"})
    stage.rest()
    concluded = [
        one["id"] for speaker in (owner, stage.speaker(workspace="v")) for one in speaker.conclusions()
    ]
    return [one["id"] for one in ids] + concluded


def every_reading(ids):
    """Every request that reads, with every name that it could be asked about."""
    yield from [
        ("POST", "/v3/workspaces", {"id": "w"}),
        ("POST", "/v3/workspaces", {"id": "v"}),
        ("POST", "/v3/workspaces/list", {}),
    ]
    for workspace, limits in (("w", LIMITS), ("v", [{}])):
        for method, path, body in _within(ids, limits):
            yield method, f"/v3/workspaces/{workspace}{path}", body


def _within(ids, limits):
    search = {"query": COMMON, "limit": 100}
    yield from [
        *(("POST", f"/{kind}/list", {}) for kind in ("peers", "sessions", "scopes", "conclusions")),
        *(("GET", path, None) for path in ("/webhooks", "/queue/status", "/scopes/sc", "/scopes/sc/status")),
        ("POST", "/peers/list", {"kind": "all"}),
        ("POST", "/scopes/sc/sessions/list", {}),
        ("POST", "/search", search),
        ("POST", "/search", {**search, "scope": "sc"}),
        ("POST", "/conclusions/query", {"query": COMMON, "top_k": 100}),
        *(("POST", "/chat", {"query": COMMON, **limit}) for limit in limits),
        *(("GET", f"/conclusions/{one}", None) for one in ids),
    ]
    for peer in PEERS:
        yield from _of_peer(peer, search, limits)
    for session in SESSIONS:
        yield from _of_session(session, search, ids, AMONG if limits is LIMITS else ("",))


def _of_peer(peer, search, limits):
    for whose in ("observer_id", "observed_id"):
        yield "POST", "/conclusions/list", {"filters": {whose: peer}}
    yield "POST", "/search", {**search, "filters": {"peer_perspective": peer}}
    path = f"/peers/{peer}"
    yield "POST", "/peers", {"id": peer}
    yield "POST", f"{path}/sessions", {}
    yield "POST", f"{path}/search", search
    for other, limit in product(PEERS, limits):
        asked = {"target": other, **limit}
        yield "POST", f"{path}/representation", {**asked, "search_query": COMMON}
        yield "POST", f"{path}/chat", {**asked, "query": COMMON, "include_evidence": True}
    for other in PEERS:
        yield "GET", f"{path}/card?target={other}", None
        yield "GET", f"{path}/context?target={other}&search_query={COMMON.replace(' ', '+')}", None


def _of_session(session, search, ids, among):
    path = f"/sessions/{session}"
    yield "POST", "/sessions", {"id": session}
    yield "POST", f"{path}/messages/list", {}
    yield "POST", f"{path}/search", search
    for peer in PEERS:
        yield "POST", f"{path}/search", {**search, "filters": {"peer_perspective": peer}}
        yield "GET", f"{path}/peers/{peer}/config", None
    for part in ("/context", "/summaries", "/peers"):
        yield "GET", f"{path}{part}", None
    for target, perspective in product(PEERS, (None, *PEERS)):
        asked = f"peer_target={target}" + (f"&peer_perspective={perspective}" if perspective else "")
        for limit in among:
            yield "GET", f"{path}/context?{asked}{limit}&search_query={COMMON.replace(' ', '+')}", None
    yield from (("GET", f"{path}/messages/{one}", None) for one in ids)


def read_with(stage, key, ids):
    """Which words any answer to this key holds, and by which request each was first told."""
    speaker = stage.speaker(key)
    told = {}
    for method, path, body in every_reading(ids):
        answer = speaker.ask(method, path, body)
        assert answer.status_code < 500, (method, path, answer.text)
        if answer.is_success:
            for word in WORDS:
                if word in answer.text:
                    told.setdefault(word, (method, path, body))
    return told


@pytest.fixture(scope="module")
def furnished():
    with staged() as stage:
        yield stage, furnish(stage)


def test_the_readings_together_reach_every_word(furnished):
    stage, ids = furnished
    assert set(read_with(stage, stage.owner_cap, ids)) == set(WORDS)


@pytest.mark.parametrize("whose", MAY_READ)
def test_a_key_reads_what_it_may_and_no_word_beyond(furnished, whose):
    stage, ids = furnished
    told = read_with(stage, stage.key(**NAMED[whose]), ids)
    assert {word: told[word] for word in told.keys() - MAY_READ[whose]} == {}
    assert told.keys() == MAY_READ[whose]


@pytest.mark.parametrize("whose", MAY_READ)
def test_no_v1_reading_of_a_key_tells_more_than_this_door(furnished, whose):
    stage, _ = furnished
    speaker = stage.speaker(stage.key(**NAMED[whose]))
    asked = [speaker.ask("POST", "/v1/memory/get", {"query": COMMON, "k": 20})]
    asked.append(speaker.ask("POST", "/v1/memory/snapshot", {}))
    told = {word for answer in asked for word in WORDS if answer.is_success and word in answer.text}
    assert told <= MAY_READ[whose]
