"""The work behind the requests: what is still to be done with what was said."""

from __future__ import annotations

from msgspec import Struct

from souvenance.domain.names import COMMON_NAMESPACE

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
