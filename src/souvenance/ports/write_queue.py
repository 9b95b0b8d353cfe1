"""The write queue: what is to be written to memory, kept on disk until it is.

Contract, which `contracts.write_queue_contract` checks on every implementation:

- What `put` was given is durable when it returns: it survives the process being killed.
- Writes of one lane are delivered one after another in the order of `put`, whichever process put
  them; a lane that waits holds up no other. One process at a time delivers from a write queue.
- A write is offered until it was taken: more than once only if the process died, or the handler
  raised, between taking and telling. Its id is the same each time, so the handler can tell.
- Nothing of a write's body or lane is readable in the write queue's files, during its life or after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

MOST_SET_ASIDE = 1000
"""How many of the writes set aside are kept: the newest."""


class QueuedWrite(Struct, frozen=True):
    id: str
    """A ULID."""
    lane: str
    at: int
    """When it was put, in milliseconds."""
    body: dict[str, Any]
    attempts: int = 0
    """How often it was offered before."""


class WriteRefused(Exception):
    """What a handler raises for a write that will never be taken. It is set aside, and its lane goes on."""


class WriteQueueStatus(Struct, frozen=True):
    waiting: int = 0
    set_aside: int = 0
    other_key: int = 0
    """How many wait that another key sealed; they can be delivered once that key is back."""


class WriteQueue(Protocol):
    def put(self, lane: str, body: dict[str, Any]) -> str:
        """The id of the write. The body is JSON. Raises: StorageUnavailable."""

    def deliver(self, handler: Callable[[QueuedWrite], None]) -> bool:
        """Offer every write once; whether none is left.

        If the handler raises anything but `WriteRefused`, the rest of that lane waits for another time.
        False at once if another delivers, be it a process or a thread.

        Raises: StorageUnavailable.
        """

    def standing(self) -> WriteQueueStatus:
        """Raises: StorageUnavailable."""
