"""Passes: the caps that a chat's calls travel with, each no wider than its errand and the caller's own cap.

A cap that reaches everybody is narrowed offline to the person and the session. Any other can't speak for
the assistant, nor open a session: there the door's own cap is narrowed in its stead, to that person, that
session, and what the caller's cap grants.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct

from mnemon.domain import ulid
from mnemon.domain.names import ALL
from mnemon.errors import CapMalformed, CapScopeMismatch
from mnemon.gate import messages as m
from mnemon.gate.admission import Credentials
from mnemon.gate.caps import attenuated
from mnemon.turns.passes import Errand
from mnemon.turns.seat import Seat

_LIFE_SECONDS = 3600
_MOST_KEPT = 4_000


class Admitted(Struct, frozen=True):
    """A caller whose cap the gate has judged."""

    token: str
    grant: m.WhoAmIAnswer

    @property
    def wide(self) -> bool:
        return not self.grant.bound and ALL in self.grant.peers and self.grant.sessions is None


class Passes:
    def __init__(self, own: str | None) -> None:
        self._own = own
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, Seat, Errand], tuple[int, Credentials]] = OrderedDict()

    def of(self, caller: Admitted, seat: Seat) -> Callable[[Errand], Credentials]:
        """What gives the pass for each errand of that seat. It raises CapScopeMismatch, CapMalformed."""
        return lambda errand: self._pass(caller, seat, errand)

    def _pass(self, caller: Admitted, seat: Seat, errand: Errand) -> Credentials:
        now, key = int(time.time()), (caller.token, seat, errand)
        with self._lock:
            until, found = self._made.get(key, (0, None))
            if found is None or until <= now:
                life = min(_LIFE_SECONDS, caller.grant.exp - now)
                found = Credentials(self._narrowed(caller, seat, errand, now, max(1, life)))
                self._made[key] = (now + life // 2, found)
            self._made.move_to_end(key)
            if len(self._made) > _MOST_KEPT:
                self._made.popitem(last=False)
            return found

    def _narrowed(self, caller: Admitted, seat: Seat, errand: Errand, now: int, life: int) -> str:
        speaks = errand == "speak"
        wanted = m.Attenuate(
            sub=seat.user,
            wid=seat.workspace,
            data_class="memory",
            ttl_seconds=life,
            ops=("put",) if speaks else ("get",),
            namespaces_allowed=(seat.namespaces.write or "",) if speaks else seat.namespaces.read,
            peers=(seat.user, seat.ai) if speaks else (seat.user,),
            via=() if speaks else (seat.ai,),
            sessions=(seat.session,) if speaks else None,
        )
        source = caller.token if caller.wide else self._own
        if source is None:
            raise CapScopeMismatch("the cap does not reach the assistant, and the door has none")
        made_at = ulid.compose(now * 1000, os.urandom(ulid.ENTROPY_BYTES))
        secret = Ed25519PrivateKey.generate()
        try:
            return attenuated(source, wanted, jti=made_at, now=now, secret=secret).cap
        except CapMalformed:
            if self._own is None or source == self._own:
                raise
            return attenuated(self._own, wanted, jti=made_at, now=now, secret=secret).cap
