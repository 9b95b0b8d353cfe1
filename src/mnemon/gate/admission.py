"""Admission: is this cap genuine, in its time, not withdrawn, and in its holder's hands?

Signature checks are cached by token; time and revocation are looked at on every request, the
latter through a counter in the book that every revocation changes, in whatever process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from msgspec import Struct

from mnemon.domain import cap, proof
from mnemon.domain.cap import Chain, Grant, Revocations
from mnemon.domain.names import ALL, DEFAULT_WORKSPACE
from mnemon.domain.proof import UNBOUND, Bound
from mnemon.errors import CapPopInvalid
from mnemon.ports.book import Transaction
from mnemon.ports.keyring import Keyring

_MOST_CACHED = 4096


class Credentials(Struct, frozen=True):
    """What a request brings to be admitted with."""

    token: str | None
    proof: str | None = None
    request: Bound = UNBOUND


def home_of(grant: Grant) -> str:
    """The workspace whose log a cap's doings are written to."""
    return DEFAULT_WORKSPACE if grant.workspace == ALL else grant.workspace


class Porter:
    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._chains: OrderedDict[str, Chain] = OrderedDict()
        self._revoked: dict[str, tuple[int, Revocations]] = {}
        self._lock = threading.Lock()

    def authenticate(self, token: str | None) -> Chain:
        """The cap's chain, its signatures checked.

        Raises: CapMissing, CapMalformed, CapSigInvalid.
        """
        known = self._chains.get(token or "")
        if known is not None:
            return known
        chain = cap.authenticate(
            token, keys=self._keyring.issuers(cap.key_id(token)), audience=self._keyring.instance
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
        cap.check_alive(chain, now=now // 1000, revoked=known[1])


def burn_proof(tx: Transaction, credentials: Credentials, grant: Grant, now: int) -> None:
    """Accept the proof of a bound cap, this once.

    Raises: CapPopInvalid.
    """
    used = proof.check(
        credentials.proof,
        credentials.token or "",
        credentials.request,
        holder=grant.holder,
        now=now // 1000,
    )
    until = now + 2 * (proof.MAX_AGE_SECONDS + 1) * 1000
    if not tx.caps.burn(home_of(grant), f"{grant.holder.thumbprint()}.{used}", now, until):
        raise CapPopInvalid("the proof was used before")
