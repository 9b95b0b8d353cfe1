"""Browser sessions of the inspector: each is bound to one token, and known here by the hash of its secret.

A person comes with a one-time link that the command line made, or with a token. A session never outlives its
token: the gate judges that token again at every request.
"""

from __future__ import annotations

from souvenance.core.vault import open_session, seal_session
from souvenance.domain.encoding import b64
from souvenance.domain.sign_ins import LINK, LINK_MS, PAGE_SESSION, PAGE_SESSION_MS, Slip, hash_of
from souvenance.errors import IntegrityError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store

_SECRET_BYTES = 32


class BrowserSessions:
    def __init__(self, gate: Gate, *, store: Store, keyring: Keyring, clock: Clock, entropy: Entropy) -> None:
        self._gate = gate
        self._store = store
        self._keyring = keyring
        self._clock = clock
        self._entropy = entropy

    def link(self, token: str) -> str:
        """The secret of a link that signs in once, within a minute. Raises: SouvenanceError."""
        return self._keep(LINK, token, LINK_MS)

    def follow(self, link: str) -> str | None:
        """The secret of a new session for a link; None if it was followed before, or is too old."""
        token = self._token(LINK, link)
        if token is None:
            return None
        with self._store.write() as tx:
            if not tx.signins.spend(LINK, hash_of(link), self._clock.now()):
                return None
        return self.begin(token)

    def begin(self, token: str) -> str:
        """The secret of a new session. Raises: SouvenanceError for a token that is no good."""
        return self._keep(PAGE_SESSION, token, PAGE_SESSION_MS)

    def token(self, secret: str) -> str | None:
        """The token of a session that is not over."""
        return self._token(PAGE_SESSION, secret)

    def end(self, secret: str) -> None:
        with self._store.write() as tx:
            tx.signins.drop(PAGE_SESSION, hash_of(secret))

    def _keep(self, kind: str, token: str, lasts: int) -> str:
        self._gate.call(o.WHOAMI, Credentials(token), m.WhoAmI())
        secret, now = b64(self._entropy.take(_SECRET_BYTES)), self._clock.now()
        hashed = hash_of(secret)
        sealed = seal_session(self._keyring, hashed, token)
        with self._store.write() as tx:
            tx.signins.sweep(now)
            tx.signins.keep(Slip(kind=kind, hash=hashed, until=now + lasts, content=sealed))
        return secret

    def _token(self, kind: str, secret: str) -> str | None:
        hashed = hash_of(secret)
        with self._store.read() as tx:
            slip = tx.signins.slip(kind, hashed)
        if slip is None or slip.spent_at is not None or slip.until <= self._clock.now():
            return None
        try:
            return open_session(self._keyring, hashed, slip.content)
        except IntegrityError:
            return None  # It was sealed under a root key that is gone: the person signs in again.
