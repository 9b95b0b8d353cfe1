"""OAuth sign-ins in progress: clients, codes and sessions, known by the hashes of their secrets.

Strangers may register and ask for device codes, so both are counted and bounded. Everything that a person
decides or a client fetches goes through the gate, with that person's cap or the sign-in's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from souvenance.core.vault import open_grant
from souvenance.domain.capability import SIGNED_IN
from souvenance.domain.encoding import b64
from souvenance.domain.sign_ins import (
    BUILT_IN,
    DEVICE,
    DEVICE_MS,
    LATE_MS,
    REFRESH,
    REFRESH_PREFIX,
    REQUEST,
    REQUEST_MS,
    SESSION,
    USER_CODE,
    Access,
    Client,
    SignIn,
    Slip,
    hash_of,
)
from souvenance.errors import CapOpMismatch, Conflict, Denied, NotFound, RateLimited, Unauthenticated
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import sign_ins as s
from souvenance.gate.browser_sessions import BrowserSessions
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials, RateLimit
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store, Transaction

MOST_STRANGERS = 500
"""How many clients may wait that nobody ever let in."""
MOST_DEVICES = 200
"""How many device codes may be under way."""
_STRANGERS_PER_MINUTE = 60
_SECRET_BYTES = 32


class IssuedTokens(Struct, frozen=True, kw_only=True):
    access_token: str
    expires_in: int
    refresh_token: str | None
    signin: SignIn


class OAuthState:
    def __init__(self, gate: Gate, *, store: Store, keyring: Keyring, clock: Clock, entropy: Entropy) -> None:
        self._gate = gate
        self._store = store
        self._keyring = keyring
        self._clock = clock
        self._entropy = entropy
        self.browsers = BrowserSessions(gate, store=store, keyring=keyring, clock=clock, entropy=entropy)
        self._rate = RateLimit(_STRANGERS_PER_MINUTE)

    def secret(self) -> str:
        return b64(self._entropy.take(_SECRET_BYTES))

    def who(self, token: str) -> m.WhoAmIAnswer:
        """Whose cap it is, and what it may. Raises: SouvenanceError."""
        answer: m.WhoAmIAnswer = self._gate.call(o.WHOAMI, Credentials(token), m.Nothing())
        return answer

    def sign_in(self, token: str) -> str:
        """The secret of a new session, for a cap that may let programs in. Raises: SouvenanceError."""
        if "grant" not in self.who(token).ops:
            raise CapOpMismatch(
                "this cap can't let programs in: it does not grant 'grant'",
                hint="Use one that does, such as the owner's.",
            )
        return self.browsers.keep(token, SESSION)

    def client(self, client_id: str) -> Client | None:
        if client_id in BUILT_IN:
            return BUILT_IN[client_id]
        with self._store.read() as tx:
            return tx.signins.client(client_id)

    def register(self, client: Client) -> None:
        """Raises: RateLimited if too many did that nobody knows."""
        now = self._clock.now()
        self._rate.check("register", now)
        with self._write(now) as tx:
            if tx.signins.strangers() >= MOST_STRANGERS:
                raise RateLimited("too many programs are registered and not let in", retry_after=3600)
            tx.signins.add_client(client)

    def now(self) -> int:
        return self._clock.now()

    def ask(self, client: str, content: bytes) -> str:
        """Keep what a client asks until the person before the page decides; the request's secret."""
        secret = self.secret()
        self.browsers.keep_slip(REQUEST, hash_of(secret), REQUEST_MS, client=client, content=content)
        return secret

    def asked(self, secret: str) -> Slip | None:
        """What was asked, if it was not answered yet and is not too old."""
        slip = self.slip(REQUEST, secret)
        if slip is None or slip.spent_at is not None or slip.until <= self._clock.now():
            return None
        return slip

    def wait(self, client: str, device_code: str, typed: str, content: bytes) -> None:
        """Keep what a device asks until a person types its other code. Raises: RateLimited."""
        now = self._clock.now()
        self._rate.check("device", now)
        hashed, until = hash_of(device_code), now + DEVICE_MS
        with self._write(now) as tx:
            taken = tx.signins.slip(USER_CODE, hash_of(typed)) is not None
            if taken or tx.signins.count(USER_CODE) >= MOST_DEVICES:
                raise RateLimited("too many devices wait to be let in", retry_after=DEVICE_MS // 1000)
            tx.signins.keep(Slip(kind=DEVICE, hash=hashed, client=client, until=until, content=content))
            tx.signins.keep(
                Slip(kind=USER_CODE, hash=hash_of(typed), client=client, until=until, content=hashed)
            )

    def device_of(self, typed: str) -> Slip | None:
        """The device that shows this code, if it still waits."""
        shown = self.slip(USER_CODE, typed)
        return None if shown is None else self.waiting(shown.content)

    def waiting(self, device: bytes) -> Slip | None:
        """What a device asks that comes back with the code of this hash, if nobody answered yet."""
        with self._store.read() as tx:
            slip = tx.signins.slip(DEVICE, device)
        if slip is None or slip.spent_at is not None or slip.signin is not None:
            return None
        return slip if slip.until > self._clock.now() else None

    def allow(self, token: str, asked: s.Allow) -> None:
        """Let a client in, which fetches its token with the slip that is named. Raises: SouvenanceError."""
        self._gate.call(s.ALLOW, Credentials(token), lambda: m.checked(asked))

    def deny(self, token: str, request: str, client: str, device: Slip | None = None) -> None:
        """Raises: SouvenanceError."""
        hashed = None if device is None else device.hash
        asked = s.Deny(client=client, request=hash_of(request), device=hashed)
        self._gate.call(s.DENY, Credentials(token), asked)

    def slip(self, kind: str, secret: str) -> Slip | None:
        with self._store.read() as tx:
            return tx.signins.slip(kind, hash_of(secret))

    def redeem(self, slip: Slip, access: Access, content: bytes, *, again: bool) -> IssuedTokens | None:
        """An access token for what was handed out, and with `again` a refresh token for the next. None if it
        is no good: unknown, too old, withdrawn, or spent before, which ends the sign-in. Raises: Unavailable,
        RateLimited."""
        now = self._clock.now()
        signin = self._signin(slip)
        if signin is None:
            return None
        refresh = f"{REFRESH_PREFIX}{self.secret()}" if again else None
        asked = s.Exchange(
            kind=slip.kind,
            slip=slip.hash,
            access=access,
            refresh=None if refresh is None else hash_of(refresh),
            content=content,
        )
        try:
            credentials = Credentials(open_grant(self._keyring, signin))
            found: s.Exchanged = self._gate.call(s.EXCHANGE, credentials, asked)
        except (Unauthenticated, Denied, NotFound, Conflict):
            return None
        if found.cap is None:
            return None
        return IssuedTokens(
            access_token=f"{SIGNED_IN}{found.cap}",
            expires_in=found.exp - now // 1000,
            refresh_token=refresh,
            signin=signin,
        )

    def end(self, client: str, token: str) -> bool:
        """End the sign-in that the token is of, if it is any good; False if that is another client's."""
        if token.startswith(REFRESH_PREFIX):
            slip = self.slip(REFRESH, token)
            signin = None if slip is None else self._signin(slip)
            if signin is None:
                return True
            token = open_grant(self._keyring, signin)
        try:
            self._gate.call(s.END, Credentials(token), s.End(client=client))
        except Denied:
            return False
        except Unauthenticated:
            pass
        return True

    def _signin(self, slip: Slip) -> SignIn | None:
        if slip.signin is None:
            return None
        with self._store.read() as tx:
            return tx.signins.get(slip.signin)

    @contextmanager
    def _write(self, now: int) -> Iterator[Transaction]:
        """A write that begins by forgetting what is over."""
        with self._store.write() as tx:
            tx.signins.sweep(now - LATE_MS)
            yield tx
