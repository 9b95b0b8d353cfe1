"""Narrower caps, made offline from one that is at hand, and kept while they are asked for again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import ulid
from souvenance.gate import messages as m
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated


class Narrowed:
    """Thread-safe. `now` gives the time in seconds, `chance` so many bytes that nobody can guess."""

    def __init__(self, *, now: Callable[[], int], chance: Callable[[int], bytes], most: int = 1_000) -> None:
        self._now = now
        self._chance = chance
        self._most = most
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, Hashable], tuple[float, Credentials]] = OrderedDict()

    def of(self, token: str, what_for: Hashable, wanted: Callable[[], m.Attenuate]) -> Credentials:
        """What is made of that cap for that purpose: the same each time, until half of its life is over.

        Raises: CapMalformed, CapScopeMismatch, InvalidInput.
        """
        now, key = self._now(), (token, what_for)
        with self._lock:
            spent, found = self._made.get(key, (0.0, None))
            if found is None or spent <= now:
                asked = wanted()
                found = Credentials(self._attenuated(token, asked, now))
                self._made[key] = (now + asked.ttl_seconds // 2 if asked.ttl_seconds else inf, found)
            self._made.move_to_end(key)
            if len(self._made) > self._most:
                self._made.popitem(last=False)
            return found

    def _attenuated(self, token: str, wanted: m.Attenuate, now: int) -> str:
        jti = ulid.compose(now * 1000, self._chance(ulid.ENTROPY_BYTES))
        return attenuated(token, wanted, jti=jti, now=now, secret=Ed25519PrivateKey.generate()).cap
