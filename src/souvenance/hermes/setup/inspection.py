"""What can be found out about the memory of a profile without making or changing anything."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from souvenance.domain.model_budget import Spent
from souvenance.hermes.circuit_breaker import BackendHealth
from souvenance.hermes.configuration import Configuration
from souvenance.ports.write_queue import WriteQueueStatus


class Findings(Struct, frozen=True, kw_only=True):
    reachable: bool | None = None
    """Whether memory answers; None if there is nothing yet that could."""
    told: str = ""
    """What it said of itself, or why it does not answer."""
    health: BackendHealth | None = None
    """How it did for the Hermes that used it last; None if that is not known."""
    write_queue: WriteQueueStatus | None = None
    """What waits to be written; None if that is not known."""
    delay: str = ""
    """Why that waited when it was last tried."""
    unwritable: str = ""
    """Why what is said can't be kept until it is written; empty if it can."""
    sign_in: str = ""
    """Why the sign-in could not be renewed; empty if it could, or did not have to be."""
    spent: Spent = Spent()
    """What a model cost today in the store on this machine."""
    model_trouble: str = ""
    """What was wrong with the model when it was last asked in this profile; empty if all went well."""


Inspect = Callable[[Configuration], Findings]
"""Raises nothing. Makes no store, no session, no file; a sign-in that ends is renewed."""
