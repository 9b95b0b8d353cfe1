"""The reference sign-ins, in plain dictionaries."""

from __future__ import annotations

from msgspec.structs import replace

from reference.state import State
from souvenance.domain.sign_ins import SPENT_KEPT_MS, UNUSED_MS, Client, SignIn, Slip


class MemorySignIns:
    def __init__(self, state: State) -> None:
        self._state = state

    def add_client(self, client: Client) -> None:
        self._state.clients[client.id] = client

    def client(self, client_id: str) -> Client | None:
        return self._state.clients.get(client_id)

    def use_client(self, client_id: str, now: int) -> None:
        known = self._state.clients.get(client_id)
        if known is not None and known.used_at is None:
            self._state.clients[client_id] = replace(known, used_at=now)

    def strangers(self) -> int:
        return sum(client.used_at is None for client in self._state.clients.values())

    def add(self, signin: SignIn) -> None:
        self._state.signins[signin.id] = signin

    def get(self, signin_id: str) -> SignIn | None:
        return self._state.signins.get(signin_id)

    def of_cap(self, jti: str) -> SignIn | None:
        return next((one for one in self._state.signins.values() if one.jti == jti), None)

    def every(self) -> list[SignIn]:
        return [signin for _, signin in sorted(self._state.signins.items())]

    def use(self, signin_id: str, now: int) -> None:
        known = self._state.signins.get(signin_id)
        if known is not None:
            self._state.signins[signin_id] = replace(known, used_at=now)

    def reseal(self, signin_id: str, sealed: bytes) -> None:
        known = self._state.signins.get(signin_id)
        if known is not None:
            self._state.signins[signin_id] = replace(known, sealed=sealed)

    def end(self, signin_id: str) -> None:
        self._state.signins.pop(signin_id, None)
        self._leave([slip for slip in self._state.slips.values() if slip.signin == signin_id])

    def keep(self, slip: Slip) -> None:
        self._state.slips[slip.kind, slip.hash] = slip

    def slip(self, kind: str, hashed: bytes) -> Slip | None:
        return self._state.slips.get((kind, hashed))

    def slips(self, kind: str) -> list[Slip]:
        found = [slip for slip in self._state.slips.values() if slip.kind == kind]
        return sorted(found, key=lambda slip: slip.hash)

    def spend(self, kind: str, hashed: bytes, now: int) -> bool:
        known = self._state.slips.get((kind, hashed))
        if known is None or known.spent_at is not None:
            return False
        self._state.slips[kind, hashed] = replace(known, spent_at=now)
        return True

    def drop(self, kind: str, hashed: bytes) -> None:
        self._state.slips.pop((kind, hashed), None)

    def drop_all(self, kind: str) -> None:
        self._leave([slip for slip in self._state.slips.values() if slip.kind == kind])

    def count(self, kind: str) -> int:
        return sum(slip.kind == kind for slip in self._state.slips.values())

    def sweep(self, now: int) -> None:
        for signin in self.every():
            if signin.until <= now or (signin.used_at is None and signin.created_at <= now - UNUSED_MS):
                self.end(signin.id)
        self._leave([slip for slip in self._state.slips.values() if _is_over(slip, now)])
        for client in list(self._state.clients.values()):
            if client.used_at is None and client.created_at <= now - UNUSED_MS:
                del self._state.clients[client.id]

    def _leave(self, slips: list[Slip]) -> None:
        for slip in slips:
            del self._state.slips[slip.kind, slip.hash]


def _is_over(slip: Slip, now: int) -> bool:
    if slip.spent_at is not None and slip.spent_at <= now - SPENT_KEPT_MS:
        return True
    return slip.until <= now and (slip.signin is None or slip.spent_at is None)
