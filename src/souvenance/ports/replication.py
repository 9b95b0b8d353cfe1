"""Replication: what the bucket does not have yet, or has and should not.

Contract, which `contracts.replication_contract` checks on every implementation: a note says only that
something must be looked at; what is then done is decided by what the store says at that moment. It is made
in the transaction that changes the store. It is taken away by whoever carried it, and only if nothing was
noted meanwhile; if someone else took it away or noted it anew, it is noted (again), so that whatever a
slow carrier did last is looked at once more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from souvenance.domain.names import Compartment

LINE = "line"
REPLACED = "replaced"
KEY = "key"
COMPARTMENT = "room"
"""Everything of the compartment that the bucket has."""


class Shipment(NamedTuple):
    """Something of a compartment that must be looked at. `stamp` is that of whoever noted or claimed it
    last."""

    compartment: Compartment
    what: str
    name: str
    stamp: str = ""
    tries: int = 0


class Replication(Protocol):
    def note(self, replication: Collection[Shipment]) -> None:
        """Note them, each due at once, and in place of an earlier note of the same."""
        ...

    def note_everything(self, stamp: str) -> None:
        """Note every line, replacement and key of the store."""
        ...

    def due(self, now: int) -> bool:
        """Whether there is any to claim."""
        ...

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> Sequence[Shipment]:
        """Take some that are due, by room, and stamp them; until then nobody else is given them."""
        ...

    def done(self, replication: Shipment) -> None:
        """Take the note away; if it does not bear that stamp any more, make it anew."""
        ...

    def postpone(self, replication: Shipment, due: int) -> None:
        """Leave it to whoever claims it from then on."""
        ...

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        """How many there are, in all, of a workspace or of one owner there."""
        ...

    def mirrored(self) -> bool:
        """Whether changes of this store are noted."""
        ...

    def begin(self) -> None:
        """From now on, changes of this store are to be noted, whoever makes them."""
        ...
