"""Two worlds that differ in one person: what alice has is in both, what bob has in the second alone.

Whoever may know nothing of bob is answered alike in both, whatever they ask.
"""

from __future__ import annotations

import re
from copy import copy
from functools import cache
from itertools import product

import msgspec

from conversation.world import Pigeon, Stage
from gate.world import CountingEntropy, World
from souvenance.errors import SouvenanceError
from souvenance.gate.conversation import operations as o

COMMON = "mine tame"
"""What finds every sentence without naming its word."""

THEIRS = {
    "alice": {"session": "trip", "url": "https://travel.example.org/"},
    "bob": {"session": "salary", "url": "https://work.example.org/"},
}
WORDS = {
    "alice": ("wombat", "bison", "badger", "civet", "gecko", "trip", "travel"),
    "bob": ("zorilla", "quoll", "numbat", "dhole", "serval", "salary", "work.", "jerboa"),
}
"""Said, said by the agent, concluded, on the card, on the agent's card, the session, the webhook, and what
the agent knows of itself."""


class Twin:
    """One of the two worlds."""

    def __init__(self, stage, people):
        self.stage = stage
        self.owner = stage.owner_cap
        self.ids = {who: self._furnish(who, space) for who, space in people.items()}
        stage.rest()
        held = self.do(o.LIST_CONCLUSIONS, size=100).items
        for who in people:
            self.ids[who] += [one.id for one in held if who in (one.observer_id, one.observed_id)]

    def copied(self):
        """A world in which the same has happened."""
        world = self.stage.world.copied(webhook_sender=Pigeon())
        twin = copy(self)
        twin.stage = Stage(world)
        twin.owner = twin.stage.owner_cap
        return twin

    def _furnish(self, who, space):
        """What a person has, with an agent who is everybody's; the clock moves for alice alone."""
        session = THEIRS[who]["session"]
        said, told, held, card, agents_card, *_ = WORDS[who]
        texts = [
            f"I know the {said} is mine. I have a cat called {said}.",
            *(f"I saw number {number} {said}." for number in range(19)),
        ]
        batch = [{"peer_id": who, "content": text} for text in texts]
        batch.append(
            {"peer_id": "hermes", "content": f"I know the {told} is mine. I have a cat called {told}."}
        )
        members = {who: {}, "hermes": {"observe_others": True}}
        stored = self.do(
            o.ADD_MESSAGES, session_id=session, messages=batch, namespace=space, members=members
        ).messages
        self._tick(who)
        one = {"content": f"The {held} is tame", "observer_id": "hermes", "observed_id": who}
        self.do(o.ADD_CONCLUSIONS, conclusions=[one], namespace=space)
        self.do(o.WRITE_CARD, peer_id=who, peer_card=[f"The {card}"], namespace=space)
        self.do(o.WRITE_CARD, peer_id="hermes", target=who, peer_card=[f"The {agents_card}"], namespace=space)
        if who == "bob":
            self._tell_of_the_agent(space)
        self._tick(who)
        self.do(o.OPEN_SCOPE, id="sc")
        self.do(o.ADD_TO_SCOPE, scope_id="sc", session_ids=[session])
        cap = self.stage.cap(namespaces_allowed=[space])
        self.do(o.ADD_WEBHOOK, cap, url=THEIRS[who]["url"])
        self._tick(who)
        return [one.id for one in stored]

    def _tick(self, who):
        if who == "alice":
            self.stage.clock.advance(ms=5)

    def _tell_of_the_agent(self, space):
        """What the agent knows of itself, and not from a session with alice."""
        one = {"content": "The jerboa is tame", "observer_id": "hermes", "observed_id": "hermes"}
        self.do(o.ADD_CONCLUSIONS, conclusions=[one], namespace=space)
        self.do(o.WRITE_CARD, peer_id="hermes", peer_card=["The jerboa"], namespace=space)

    def do(self, operation, cap=None, **fields):
        place = {"workspace_id": "w"} if "workspace_id" in operation.request.__struct_fields__ else {}
        request = msgspec.convert({**place, **fields}, operation.request)
        return self.stage.world.call(operation, cap or self.owner, request)

    def told(self, operation, cap, fields):
        """What is answered or refused, with each id as the how-manieth it is in that."""
        try:
            found = msgspec.json.encode(self.do(operation, cap, **fields)).decode()
        except SouvenanceError as error:
            found = f"{error.code}: {error.detail} ({error.hint})"
        return _unnamed(found)

    def every_answer(self, cap, operation, theirs):
        """To all that can be asked with the names and ids of both worlds, in order."""
        ids = {"mine": self.ids["alice"][0], **theirs}
        for one in asked({**READS, **CHANGES}[operation], **ids):
            yield self.told(operation, cap, one)
            if operation in CHANGES:
                self.stage.clock.advance(ms=5)

    def bobs(self, cap):
        """Everything that bob reads with that cap."""
        reads = [
            (o.LIST_SESSIONS, {}),
            (o.LIST_PEERS, {}),
            (o.LIST_CONCLUSIONS, {"size": 100}),
            (o.LIST_MESSAGES, {"session_id": "salary", "size": 100}),
            (o.LIST_MEMBERS, {"session_id": "salary"}),
            (o.SUMMARIES, {"session_id": "salary"}),
            (o.READ_CARD, {"peer_id": "bob"}),
            (o.READ_CARD, {"peer_id": "hermes", "target": "bob"}),
            (o.REPRESENT, {"peer_id": "hermes", "target": "bob"}),
            (o.SESSIONS_OF_SCOPE, {"scope_id": "sc"}),
            (o.LIST_WEBHOOKS, {}),
            (o.QUEUE_STATUS, {}),
            (o.SEARCH_WORKSPACE, {"query": COMMON}),
        ]
        return [self.told(operation, cap, fields) for operation, fields in reads]


def _unnamed(text):
    seen = {}
    return re.sub(
        r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", lambda found: f"#{seen.setdefault(found[0], len(seen))}", text
    )


SESSIONS = ("trip", "salary", "none")
PEERS = ("alice", "bob", "hermes")
TARGETS = (None, *PEERS)
SPACES = (None, "travel", "work")
IDS = ("{mine}", "{theirs}", "01JXT21Q009TQWK74TDK2N8JBN")
FILTERS = (None, {"session_id": ["trip", "salary"]}, {"session_id": "salary"})
A_MESSAGE = [{"peer_id": "alice", "content": "more"}]
CLAIM = {"content": "a claim", "observer_id": "hermes", "observed_id": "alice"}

READS = {
    o.OPEN_WORKSPACE: {"id": ("w",)},
    o.LIST_WORKSPACES: {},
    o.LIST_PEERS: {"kind": (None, "all"), "reverse": (False, True)},
    o.SESSIONS_OF_PEER: {"peer_id": PEERS},
    o.ASK_PEER: {
        "peer_id": PEERS,
        "target": TARGETS,
        "query": (COMMON,),
        "filters": FILTERS,
        "include_evidence": (True,),
    },
    o.ASK_WORKSPACE: {"query": (COMMON,), "session_id": (None, *SESSIONS), "include_evidence": (True,)},
    o.REPRESENT: {
        "peer_id": PEERS,
        "target": TARGETS,
        "filters": FILTERS,
        "search_query": (None, COMMON),
        "include_most_frequent": (True,),
    },
    o.PEER_CONTEXT: {"peer_id": PEERS, "target": TARGETS, "search_query": (None, COMMON)},
    o.READ_CARD: {"peer_id": PEERS, "target": TARGETS},
    o.SEARCH_WORKSPACE: {
        "query": (COMMON, "mbat", "oril"),
        "scope": (None, "sc"),
        "filters": (None, {"peer_perspective": "hermes"}, {"session_id": "salary"}),
    },
    o.SEARCH_PEER: {"peer_id": PEERS, "query": (COMMON, "mbat", "oril")},
    o.SEARCH_SESSION: {"session_id": SESSIONS, "query": (COMMON, "mbat", "oril")},
    o.LIST_SESSIONS: {"reverse": (False, True), "filters": (None, {"id": "salary"})},
    o.LIST_MEMBERS: {"session_id": SESSIONS},
    o.READ_MEMBER: {"session_id": SESSIONS, "peer_id": PEERS},
    o.CONTEXT: {
        "session_id": SESSIONS,
        "peer_target": TARGETS,
        "peer_perspective": TARGETS,
        "limit_to_session": (False, True),
        "search_query": (COMMON,),
    },
    o.SUMMARIES: {"session_id": SESSIONS},
    o.LIST_MESSAGES: {"session_id": SESSIONS, "size": (100,)},
    o.READ_MESSAGE: {"session_id": SESSIONS, "message_id": IDS},
    o.LIST_CONCLUSIONS: {
        "filters": (None, {"observer_id": "hermes"}, {"observed_id": "bob"}, {"session_id": "salary"}),
        "size": (100,),
    },
    o.QUERY_CONCLUSIONS: {"query": (COMMON,), "top_k": (100,), "filters": (None, {"observed_id": "bob"})},
    o.READ_CONCLUSION: {"conclusion_id": IDS},
    o.LIST_SCOPES: {},
    o.READ_SCOPE: {"scope_id": ("sc",)},
    o.SESSIONS_OF_SCOPE: {"scope_id": ("sc",)},
    o.SCOPE_STATUS: {"scope_id": ("sc",)},
    o.QUEUE_STATUS: {"session_id": (None, *SESSIONS), "observer_id": (None, "hermes")},
    o.LIST_WEBHOOKS: {},
}
CHANGES = {
    o.CHANGE_WORKSPACE: {"metadata": ({"a": 1},)},
    o.DELETE_WORKSPACE: {},
    o.OPEN_PEER: {"id": ("alice", "hermes", "new")},
    o.CHANGE_PEER: {"peer_id": ("alice", "hermes"), "metadata": ({"a": 1},)},
    o.DELETE_PEER: {"peer_id": (*PEERS, "none"), "keep_messages": (False, True)},
    o.RENAME_PEER: {"peer_id": (*PEERS, "none"), "name": ("new", "alice"), "limit": (1, 1000)},
    o.WRITE_CARD: {
        "peer_id": ("alice", "hermes"),
        "target": (None, "alice", "hermes"),
        "peer_card": (["x"],),
        "namespace": SPACES,
    },
    o.OPEN_SESSION: {"id": ("trip", "none"), "namespace": SPACES, "peers": (None, {"alice": {}})},
    o.CHANGE_SESSION: {"session_id": ("trip", "none"), "metadata": ({"a": 1},)},
    o.DELETE_SESSION: {"session_id": SESSIONS},
    o.CLONE_SESSION: {"session_id": SESSIONS, "message_id": (None, *IDS)},
    o.ADD_MEMBERS: {"session_id": ("trip", "none"), "peers": ({"alice": {}},), "namespace": SPACES},
    o.SET_MEMBERS: {"session_id": ("trip", "none"), "peers": ({"alice": {}},), "namespace": SPACES},
    o.REMOVE_MEMBERS: {"session_id": SESSIONS, "peers": (["hermes"],)},
    o.CONFIGURE_MEMBER: {"session_id": SESSIONS, "peer_id": PEERS, "observe_others": (False,)},
    o.ADD_MESSAGES: {"session_id": ("trip", "none"), "messages": (A_MESSAGE,), "namespace": SPACES},
    o.ADD_FILE: {
        "session_id": ("trip", "none"),
        "peer_id": ("alice",),
        "file": (b"more",),
        "media_type": ("text/plain",),
        "namespace": SPACES,
    },
    o.CHANGE_MESSAGE: {"session_id": SESSIONS, "message_id": IDS, "metadata": ({"a": 1},)},
    o.DELETE_MESSAGE: {"session_id": SESSIONS, "message_id": IDS},
    o.ADD_CONCLUSIONS: {
        "conclusions": tuple([{**CLAIM, "session_id": session}] for session in (None, *SESSIONS)),
        "namespace": SPACES,
    },
    o.DELETE_CONCLUSION: {"conclusion_id": IDS},
    o.OPEN_SCOPE: {"id": ("sc",), "metadata": ({"a": 1},)},
    o.DELETE_SCOPE: {"scope_id": ("sc",)},
    o.ADD_TO_SCOPE: {"scope_id": ("sc",), "session_ids": (["trip"], ["salary"])},
    o.REMOVE_FROM_SCOPE: {"scope_id": ("sc",), "session_id": SESSIONS},
    o.SCHEDULE_DREAM: {
        "observer": ("alice", "hermes"),
        "observed": ("alice", "hermes"),
        "dream_type": ("omni",),
        "session_id": (None, *SESSIONS),
    },
    o.ADD_WEBHOOK: {"url": ("https://new.example.org/", THEIRS["bob"]["url"])},
    o.DELETE_WEBHOOK: {"endpoint_id": ("{webhook}", "none")},
    o.TRY_WEBHOOKS: {},
}
TELLS_OF_A_KEY = {o.NEW_KEY}
"""Reads and writes nothing that lies in a namespace."""


def asked(axes, **ids):
    """Every request that the choices make."""

    def filled(value):
        return value.format(**ids) if isinstance(value, str) and value.startswith("{") else value

    for values in product(*axes.values()):
        chosen = {name: filled(value) for name, value in zip(axes, values, strict=True)}
        yield {name: value for name, value in chosen.items() if value is not None}


def two_worlds(bobs_space="work"):
    """The two, whatever was done to others that came of here."""
    return [twin.copied() for twin in _furnished(bobs_space)]


@cache
def _furnished(bobs_space):
    """Furnished once: to copy them takes much less."""
    alice, bob = {"alice": "travel"}, {"bob": bobs_space}
    stages = [Stage(World(entropy=CountingEntropy(), webhook_sender=Pigeon())) for _ in range(2)]
    return [Twin(stage, people) for stage, people in zip(stages, (alice, alice | bob), strict=True)]


def theirs_in(twin):
    """What requests call bob's: lines that he or the agent said and that are held of him, and a webhook."""
    webhooks = [one.id for one in twin.do(o.LIST_WEBHOOKS).items if one.url == THEIRS["bob"]["url"]]
    return [{"theirs": twin.ids["bob"][at], "webhook": webhooks[0]} for at in (0, 20, 21, -1)]


def theirs_to_read(twin, operation):
    """As many of those as make requests of their own: where none names a line, one."""
    found = theirs_in(twin)
    return found if IDS in READS[operation].values() else found[:1]
