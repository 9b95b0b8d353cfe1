"""Verifies a token: genuine, in its time, not revoked, and shown by its holder.

Signature checks are cached by token; time and revocation are looked at on every request, the
latter through a counter in the store that every revocation changes, in any process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque

from msgspec import Struct

from souvenance.domain import capability, proof
from souvenance.domain.capability import Chain, Grant, Revocation, Revocations
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.proof import UNBOUND, Bound
from souvenance.errors import CapPopInvalid, RateLimited
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Transaction

_MOST_CACHED = 1024
_BURNED_MS = 2 * (proof.MAX_AGE_SECONDS + 1) * 1000


class Credentials(Struct, frozen=True):
    token: str | None
    proof: str | None = None
    request: Bound = UNBOUND


def home_of(grant: Grant) -> str:
    """The workspace whose log a cap's doings are written to."""
    return DEFAULT_WORKSPACE if grant.workspace == ALL else grant.workspace


class TokenVerifier:
    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._chains: OrderedDict[str, Chain] = OrderedDict()
        self._revoked: dict[str, tuple[int, Revocations]] = {}
        self._spent: OrderedDict[str, int] = OrderedDict()
        """Proofs that were accepted here, and until when they could be shown again."""
        self.made: deque[Revocation] = deque(maxlen=_MOST_CACHED)  # The latest withdrawals of this process.
        self._lock = threading.Lock()

    def has_seen(self, token: str) -> bool:
        """Whether the token's signatures were found good before, as far as that is remembered."""
        return token in self._chains

    def authenticate(self, token: str | None) -> Chain:
        """The cap's chain, its signatures checked.

        Raises: CapMissing, CapMalformed, CapSigInvalid.
        """
        known = self._chains.get(token or "")
        if known is not None:
            return known
        chain = capability.authenticate(
            token, keys=self._keyring.issuers(capability.key_id(token)), audience=self._keyring.instance
        )
        with self._lock:
            self._chains[token or ""] = chain
            if len(self._chains) > _MOST_CACHED:
                self._chains.popitem(last=False)
        return chain

    def check_alive(self, tx: Transaction, chain: Chain, now: int) -> None:
        """Raises: CapExpired, CapRevoked."""
        workspace = chain.grant.workspace
        mark = tx.marks(workspace).caps
        known = self._revoked.get(workspace)
        if known is None or known[0] != mark:
            known = (mark, Revocations.of(tx.caps.revocations(workspace)))
            self._revoked[workspace] = known
        capability.check_alive(chain, now=now // 1000, revoked=known[1])

    def check_late(self, credentials: Credentials, chain: Chain, now: int) -> str:
        """What can be checked of a cap while the store is out of reach. The proof of a bound cap is accepted
        this once, and given back.

        Withdrawals that were made here, or seen in whichever workspace, hold; later ones can't be known.

        Raises: CapExpired, CapRevoked, CapPopInvalid.
        """
        for seen in (Revocations.of([*self.made]), *(one for _, one in [*self._revoked.values()])):
            capability.check_alive(chain, now=now // 1000, revoked=seen)
        if not chain.bound:
            return ""
        shown = _proof_of(credentials, chain.grant, now)
        self.spend(shown, now)
        return shown

    def burn(self, tx: Transaction, credentials: Credentials, grant: Grant, now: int) -> str:
        """Accept the proof of a bound cap, this once; what to `spend` when that is sure to last.

        Raises: CapPopInvalid.
        """
        shown = _proof_of(credentials, grant, now)
        if shown in self._spent or not tx.caps.burn(home_of(grant), shown, now, now + _BURNED_MS):
            raise used_before()
        return shown

    def spend(self, shown: str, now: int) -> None:
        """Remember a proof for as long as it could be shown again. Raises: CapPopInvalid."""
        with self._lock:
            while self._spent and next(iter(self._spent.values())) < now:
                self._spent.popitem(last=False)
            if shown in self._spent:
                raise used_before()
            self._spent[shown] = now + _BURNED_MS


_WINDOW_MS = 60_000


class RateLimit:
    """How often one cap may ask: a count per cap and minute, in this process."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._window = 0
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def check(self, jti: str, now: int) -> None:
        """Raises: RateLimited."""
        window = now // _WINDOW_MS
        with self._lock:
            if window != self._window:
                self._window, self._counts = window, {}
            count = self._counts.get(jti, 0) + 1
            self._counts[jti] = count
        if count > self._per_minute:
            wait = -(-((window + 1) * _WINDOW_MS - now) // 1000)
            raise RateLimited(f"more than {self._per_minute} requests in a minute", retry_after=wait)


def _proof_of(credentials: Credentials, grant: Grant, now: int) -> str:
    """What names the proof that the credentials carry. Raises: CapPopInvalid."""
    used = proof.check(
        credentials.proof,
        credentials.token or "",
        credentials.request,
        holder=grant.holder,
        now=now // 1000,
    )
    return f"{grant.holder.thumbprint()}.{used}"


def used_before() -> CapPopInvalid:
    return CapPopInvalid("the proof was used before")
