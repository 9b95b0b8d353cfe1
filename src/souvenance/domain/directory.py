"""The directory: what a workspace knows by name, who belongs to what, and what is still to be done.

Names, times, metadata and configuration are in the open, like those of a line; nothing said is here.
"""

from __future__ import annotations

from msgspec import Struct

from souvenance.domain.names import COMMON_NAMESPACE

WORKSPACE = "workspace"
PEER = "peer"
FORMER = "former"
"""A peer that was deleted and whose messages were kept."""

SESSION = "session"
SCOPE = "scope"
WEBHOOK = "webhook"

MEMBER = "member"
"""The membership of a peer (held) in a session (holder); `since` and `until` are turns of the session."""

PICK = "pick"
"""The membership of a session (held) in a scope (holder); `since` is when it was picked."""


class Entry(Struct, frozen=True):
    """Something with a name. A workspace is an entry of itself, under its own name.

    `namespace` is where a session lies, and where a peer came into being; other kinds lie in none.
    """

    workspace: str
    kind: str
    name: str
    uid: str
    created_at: int
    metadata: str = "{}"
    configuration: str = "{}"
    namespace: str = COMMON_NAMESPACE


class Membership(Struct, frozen=True):
    """That one belongs to another, from some point on and perhaps up to one (exclusive)."""

    workspace: str
    kind: str
    holder: str
    held: str
    since: int
    until: int | None = None
    configuration: str = "{}"


DERIVE = "derive"
SUMMARISE = "summarise"
DREAM = "dream"
DELIVER = "deliver"
REASONING = (DERIVE, SUMMARISE, DREAM)
"""The kinds that a queue's status counts; deliveries are not reasoning."""
MOST_FAILED = 1000
"""So many jobs of a workspace that were given up are kept."""


class Job(Struct, frozen=True):
    """Something to do: the turns `first` to `last` of a session, as far as `peer` said them."""

    workspace: str
    kind: str
    session: str | None = None
    peer: str | None = None
    first: int = 0
    last: int = 0
    units: int = 1
    payload: str = "{}"
    namespace: str = COMMON_NAMESPACE
    """Where what it is about lies, and what comes of it."""


class Task(Job, frozen=True):
    """A job on the list: its number there, how often it was tried, and who holds it until when."""

    seq: int = 0
    attempts: int = 0
    due: int = 0
    holder: str | None = None
    until: int | None = None


class FailedJob(Job, frozen=True):
    """A job that was given up: its number, how often it was tried, why it failed, and when."""

    seq: int = 0
    attempts: int = 0
    reason: str = ""
    at: int = 0


class Tally(Struct, frozen=True):
    """How many units of one session's and one peer's work wait, are under way, and are done."""

    session: str | None
    peer: str | None
    pending: int
    claimed: int
    done: int
