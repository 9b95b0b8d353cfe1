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
from souvenance.gate.conversation.chat import ASK_PEER, ASK_WORKSPACE
from souvenance.gate.conversation.conclusions import (
    ADD_CONCLUSIONS,
    DELETE_CONCLUSION,
    LIST_CONCLUSIONS,
    QUERY_CONCLUSIONS,
    READ_CONCLUSION,
)
from souvenance.gate.conversation.context import (
    CONTEXT,
    PEER_CONTEXT,
    READ_CARD,
    REPRESENT,
    SUMMARIES,
    WRITE_CARD,
)
from souvenance.gate.conversation.messages import (
    ADD_FILE,
    ADD_MESSAGES,
    CHANGE_MESSAGE,
    DELETE_MESSAGE,
    LIST_MESSAGES,
    READ_MESSAGE,
    SEARCH_PEER,
    SEARCH_SESSION,
    SEARCH_WORKSPACE,
)
from souvenance.gate.conversation.peers import CHANGE_PEER, DELETE_PEER, LIST_PEERS, OPEN_PEER, RENAME_PEER
from souvenance.gate.conversation.queue import QUEUE_STATUS, SCHEDULE_DREAM
from souvenance.gate.conversation.sessions import (
    ADD_MEMBERS,
    ADD_TO_SCOPE,
    CHANGE_SESSION,
    CLONE_SESSION,
    CONFIGURE_MEMBER,
    DELETE_SCOPE,
    DELETE_SESSION,
    LIST_MEMBERS,
    LIST_SCOPES,
    LIST_SESSIONS,
    OPEN_SCOPE,
    OPEN_SESSION,
    READ_MEMBER,
    READ_SCOPE,
    READ_SESSION,
    REMOVE_FROM_SCOPE,
    REMOVE_MEMBERS,
    SCOPE_STATUS,
    SESSIONS_OF_PEER,
    SESSIONS_OF_SCOPE,
    SET_MEMBERS,
)
from souvenance.gate.conversation.workspaces import (
    ADD_WEBHOOK,
    CHANGE_WORKSPACE,
    DELETE_WEBHOOK,
    DELETE_WORKSPACE,
    LIST_WEBHOOKS,
    LIST_WORKSPACES,
    NEW_KEY,
    OPEN_WORKSPACE,
    TRY_WEBHOOKS,
)

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
        held = self.do(LIST_CONCLUSIONS, size=100).items
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
            ADD_MESSAGES, session_id=session, messages=batch, namespace=space, members=members
        ).messages
        self._tick(who)
        one = {"content": f"The {held} is tame", "observer_id": "hermes", "observed_id": who}
        self.do(ADD_CONCLUSIONS, conclusions=[one], namespace=space)
        self.do(WRITE_CARD, peer_id=who, peer_card=[f"The {card}"], namespace=space)
        self.do(WRITE_CARD, peer_id="hermes", target=who, peer_card=[f"The {agents_card}"], namespace=space)
        if who == "bob":
            self._tell_of_the_agent(space)
        self._tick(who)
        self.do(OPEN_SCOPE, id="sc")
        self.do(ADD_TO_SCOPE, scope_id="sc", session_ids=[session])
        cap = self.stage.cap(namespaces_allowed=[space])
        self.do(ADD_WEBHOOK, cap, url=THEIRS[who]["url"])
        self._tick(who)
        return [one.id for one in stored]

    def _tick(self, who):
        if who == "alice":
            self.stage.clock.advance(ms=5)

    def _tell_of_the_agent(self, space):
        """What the agent knows of itself, and not from a session with alice."""
        one = {"content": "The jerboa is tame", "observer_id": "hermes", "observed_id": "hermes"}
        self.do(ADD_CONCLUSIONS, conclusions=[one], namespace=space)
        self.do(WRITE_CARD, peer_id="hermes", peer_card=["The jerboa"], namespace=space)

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
            (LIST_SESSIONS, {}),
            (LIST_PEERS, {}),
            (LIST_CONCLUSIONS, {"size": 100}),
            (LIST_MESSAGES, {"session_id": "salary", "size": 100}),
            (LIST_MEMBERS, {"session_id": "salary"}),
            (SUMMARIES, {"session_id": "salary"}),
            (READ_CARD, {"peer_id": "bob"}),
            (READ_CARD, {"peer_id": "hermes", "target": "bob"}),
            (REPRESENT, {"peer_id": "hermes", "target": "bob"}),
            (SESSIONS_OF_SCOPE, {"scope_id": "sc"}),
            (LIST_WEBHOOKS, {}),
            (QUEUE_STATUS, {}),
            (SEARCH_WORKSPACE, {"query": COMMON}),
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
    OPEN_WORKSPACE: {"id": ("w",)},
    LIST_WORKSPACES: {},
    LIST_PEERS: {"kind": (None, "all"), "reverse": (False, True)},
    SESSIONS_OF_PEER: {"peer_id": PEERS},
    ASK_PEER: {
        "peer_id": PEERS,
        "target": TARGETS,
        "query": (COMMON,),
        "filters": FILTERS,
        "include_evidence": (True,),
    },
    ASK_WORKSPACE: {"query": (COMMON,), "session_id": (None, *SESSIONS), "include_evidence": (True,)},
    REPRESENT: {
        "peer_id": PEERS,
        "target": TARGETS,
        "filters": FILTERS,
        "search_query": (None, COMMON),
        "include_most_frequent": (True,),
    },
    PEER_CONTEXT: {"peer_id": PEERS, "target": TARGETS, "search_query": (None, COMMON)},
    READ_CARD: {"peer_id": PEERS, "target": TARGETS},
    SEARCH_WORKSPACE: {
        "query": (COMMON, "mbat", "oril"),
        "scope": (None, "sc"),
        "filters": (None, {"peer_perspective": "hermes"}, {"session_id": "salary"}),
    },
    SEARCH_PEER: {"peer_id": PEERS, "query": (COMMON, "mbat", "oril")},
    SEARCH_SESSION: {"session_id": SESSIONS, "query": (COMMON, "mbat", "oril")},
    LIST_SESSIONS: {"reverse": (False, True), "filters": (None, {"id": "salary"})},
    LIST_MEMBERS: {"session_id": SESSIONS},
    READ_SESSION: {"session_id": SESSIONS},
    READ_MEMBER: {"session_id": SESSIONS, "peer_id": PEERS},
    CONTEXT: {
        "session_id": SESSIONS,
        "peer_target": TARGETS,
        "peer_perspective": TARGETS,
        "limit_to_session": (False, True),
        "search_query": (COMMON,),
    },
    SUMMARIES: {"session_id": SESSIONS},
    LIST_MESSAGES: {"session_id": SESSIONS, "size": (100,)},
    READ_MESSAGE: {"session_id": SESSIONS, "message_id": IDS},
    LIST_CONCLUSIONS: {
        "filters": (None, {"observer_id": "hermes"}, {"observed_id": "bob"}, {"session_id": "salary"}),
        "size": (100,),
    },
    QUERY_CONCLUSIONS: {"query": (COMMON,), "top_k": (100,), "filters": (None, {"observed_id": "bob"})},
    READ_CONCLUSION: {"conclusion_id": IDS},
    LIST_SCOPES: {},
    READ_SCOPE: {"scope_id": ("sc",)},
    SESSIONS_OF_SCOPE: {"scope_id": ("sc",)},
    SCOPE_STATUS: {"scope_id": ("sc",)},
    QUEUE_STATUS: {"session_id": (None, *SESSIONS), "observer_id": (None, "hermes")},
    LIST_WEBHOOKS: {},
}
CHANGES = {
    CHANGE_WORKSPACE: {"metadata": ({"a": 1},)},
    DELETE_WORKSPACE: {},
    OPEN_PEER: {"id": ("alice", "hermes", "new")},
    CHANGE_PEER: {"peer_id": ("alice", "hermes"), "metadata": ({"a": 1},)},
    DELETE_PEER: {"peer_id": (*PEERS, "none"), "keep_messages": (False, True)},
    RENAME_PEER: {"peer_id": (*PEERS, "none"), "name": ("new", "alice"), "limit": (1, 1000)},
    WRITE_CARD: {
        "peer_id": ("alice", "hermes"),
        "target": (None, "alice", "hermes"),
        "peer_card": (["x"],),
        "namespace": SPACES,
    },
    OPEN_SESSION: {"id": ("trip", "none"), "namespace": SPACES, "peers": (None, {"alice": {}})},
    CHANGE_SESSION: {"session_id": ("trip", "none"), "metadata": ({"a": 1},)},
    DELETE_SESSION: {"session_id": SESSIONS},
    CLONE_SESSION: {"session_id": SESSIONS, "message_id": (None, *IDS)},
    ADD_MEMBERS: {"session_id": ("trip", "none"), "peers": ({"alice": {}},), "namespace": SPACES},
    SET_MEMBERS: {"session_id": ("trip", "none"), "peers": ({"alice": {}},), "namespace": SPACES},
    REMOVE_MEMBERS: {"session_id": SESSIONS, "peers": (["hermes"],)},
    CONFIGURE_MEMBER: {"session_id": SESSIONS, "peer_id": PEERS, "observe_others": (False,)},
    ADD_MESSAGES: {"session_id": ("trip", "none"), "messages": (A_MESSAGE,), "namespace": SPACES},
    ADD_FILE: {
        "session_id": ("trip", "none"),
        "peer_id": ("alice",),
        "file": (b"more",),
        "media_type": ("text/plain",),
        "namespace": SPACES,
    },
    CHANGE_MESSAGE: {"session_id": SESSIONS, "message_id": IDS, "metadata": ({"a": 1},)},
    DELETE_MESSAGE: {"session_id": SESSIONS, "message_id": IDS},
    ADD_CONCLUSIONS: {
        "conclusions": tuple([{**CLAIM, "session_id": session}] for session in (None, *SESSIONS)),
        "namespace": SPACES,
    },
    DELETE_CONCLUSION: {"conclusion_id": IDS},
    OPEN_SCOPE: {"id": ("sc",), "metadata": ({"a": 1},)},
    DELETE_SCOPE: {"scope_id": ("sc",)},
    ADD_TO_SCOPE: {"scope_id": ("sc",), "session_ids": (["trip"], ["salary"])},
    REMOVE_FROM_SCOPE: {"scope_id": ("sc",), "session_id": SESSIONS},
    SCHEDULE_DREAM: {
        "observer": ("alice", "hermes"),
        "observed": ("alice", "hermes"),
        "dream_type": ("omni",),
        "session_id": (None, *SESSIONS),
    },
    ADD_WEBHOOK: {"url": ("https://new.example.org/", THEIRS["bob"]["url"])},
    DELETE_WEBHOOK: {"endpoint_id": ("{webhook}", "none")},
    TRY_WEBHOOKS: {},
}
TELLS_OF_A_KEY = {NEW_KEY}
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
    webhooks = [one.id for one in twin.do(LIST_WEBHOOKS).items if one.url == THEIRS["bob"]["url"]]
    return [{"theirs": twin.ids["bob"][at], "webhook": webhooks[0]} for at in (0, 20, 21, -1)]


def theirs_to_read(twin, operation):
    """As many of those as make requests of their own: where none names a line, one."""
    found = theirs_in(twin)
    return found if IDS in READS[operation].values() else found[:1]
