"""Sign-ins: the clients that registered, what was granted to them, and the slips that are under way.

Contract, which `contracts.sign_ins_contract` checks on every store. A slip is one of its kind and
hash; `spend` succeeds once, in whatever thread or process. Secrets never come here: hashes and sealed caps
do.
"""

from __future__ import annotations

from typing import Protocol

from souvenance.domain.sign_ins import Client, SignIn, Slip


class SignIns(Protocol):
    def add_client(self, client: Client) -> None: ...

    def client(self, client_id: str) -> Client | None: ...

    def use_client(self, client_id: str, now: int) -> None:
        """Note that it was let in; what was noted first stays."""
        ...

    def strangers(self) -> int:
        """How many clients registered that nobody let in."""
        ...

    def add(self, signin: SignIn) -> None: ...

    def get(self, signin_id: str) -> SignIn | None: ...

    def of_cap(self, jti: str) -> SignIn | None:
        """The sign-in whose sealed cap has that id."""
        ...

    def every(self) -> list[SignIn]:
        """All of them, in order of id."""
        ...

    def use(self, signin_id: str, now: int) -> None:
        """Note that a token was fetched now, the last time so far."""
        ...

    def reseal(self, signin_id: str, sealed: bytes) -> None: ...

    def end(self, signin_id: str) -> None:
        """Forget the sign-in and its slips."""
        ...

    def keep(self, slip: Slip) -> None:
        """Remember the slip, in place of what was known of it."""
        ...

    def slip(self, kind: str, hashed: bytes) -> Slip | None: ...

    def spend(self, kind: str, hashed: bytes, now: int) -> bool:
        """Mark the slip as spent; False, and no change, if it was already or is not there."""
        ...

    def drop(self, kind: str, hashed: bytes) -> None: ...

    def drop_all(self, kind: str) -> None: ...

    def count(self, kind: str) -> int:
        """How many slips of that kind there are."""
        ...

    def sweep(self, now: int) -> None:
        """Forget what is over: slips past their time, those spent long ago, ended and never fetched sign-ins,
        and clients that nobody let in for a day."""
        ...
