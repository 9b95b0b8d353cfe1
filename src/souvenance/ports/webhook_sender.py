"""The webhook sender: delivers one event to its receiver.

Contract. `check` says whether a URL may be stored as a receiver, without asking the network, and
gives the spelling to store. `deliver` makes one attempt and returns only when the receiver
answered 2xx. It ends within seconds, whatever the receiver does; follows no redirect; sends the
event to no address that is not public, unless it was made to; and connects to the very address it
has judged. Retrying is the caller's part.

Raises: `check` InvalidInput, `deliver` Undelivered.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class WebhookDelivery(Struct, frozen=True):
    """One event for one receiver: the body as it was signed, and what to say beside it."""

    url: str
    body: bytes
    signature: str
    headers: tuple[tuple[str, str], ...] = ()


class Undelivered(Exception):
    """The attempt failed. It concerns the worker and never reaches a caller of the gate."""

    def __init__(self, reason: str, *, retry: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry


class WebhookSender(Protocol):
    def check(self, url: str) -> str: ...

    def deliver(self, delivery: WebhookDelivery) -> None: ...
