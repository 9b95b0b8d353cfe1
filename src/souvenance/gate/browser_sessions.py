"""Browser sessions: each is bound to one token, and known here by the hash of its secret.

A person comes with a one-time link that the command line made, with a passkey, or with a token. A session
never outlives its token: the gate judges that token again at every request. It ends with its passkey, too.
"""

from __future__ import annotations

from souvenance.core.vault import open_passkey, open_session, seal_session
from souvenance.domain.encoding import b64, unb64
from souvenance.domain.sign_ins import (
    CHALLENGE,
    CHALLENGE_MS,
    LINK,
    LINK_MS,
    PAGE_SESSION,
    PAGE_SESSION_MS,
    PASSKEY,
    SESSION,
    SESSION_MS,
    Passkey,
    Slip,
    hash_of,
)
from souvenance.errors import IntegrityError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import passkeys
from souvenance.gate.gate import Gate, RateLimit
from souvenance.gate.token_verifier import Credentials
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store

_SECRET_BYTES = 32
_CHALLENGES_PER_MINUTE = 60
_LASTS = {LINK: LINK_MS, PAGE_SESSION: PAGE_SESSION_MS, SESSION: SESSION_MS}


class BrowserSessions:
    def __init__(self, gate: Gate, *, store: Store, keyring: Keyring, clock: Clock, entropy: Entropy) -> None:
        self._gate = gate
        self._store = store
        self._keyring = keyring
        self._clock = clock
        self._entropy = entropy
        self._rate = RateLimit(_CHALLENGES_PER_MINUTE)

    def link(self, token: str) -> str:
        """The secret of a link that signs in once, within a minute. Raises: SouvenanceError."""
        self._judge(token)
        return self.keep(token, LINK)

    def follow(self, link: str) -> str | None:
        """The secret of a new session for a link; None if it was followed before, or is too old."""
        token = self.token(link, LINK)
        if token is None:
            return None
        with self._store.write() as tx:
            if not tx.signins.spend(LINK, hash_of(link), self._clock.now()):
                return None
        return self.begin(token)

    def begin(self, token: str) -> str:
        """The secret of a new session. Raises: SouvenanceError for a token that is no good."""
        self._judge(token)
        return self.keep(token)

    def keep(self, token: str, kind: str = PAGE_SESSION, passkey: str = "") -> str:
        """The secret of a new session or link, for a token that the gate has just judged."""
        secret = b64(self._entropy.take(_SECRET_BYTES))
        hashed = hash_of(secret)
        sealed = seal_session(self._keyring, hashed, token)
        self._store_slip(kind, hashed, _LASTS[kind], client=passkey, content=sealed)
        return secret

    def token(self, secret: str, kind: str = PAGE_SESSION) -> str | None:
        """The token of a session or link that is not over."""
        hashed = hash_of(secret)
        with self._store.read() as tx:
            slip = tx.signins.slip(kind, hashed)
            if slip is None or slip.spent_at is not None or slip.until <= self._clock.now():
                return None
            if slip.client and tx.signins.slip(PASSKEY, unb64(slip.client)) is None:
                return None
        try:
            return open_session(self._keyring, hashed, slip.content)
        except IntegrityError:
            return None  # It was sealed under a root key that is gone: the person signs in again.

    def end(self, secret: str, kind: str = PAGE_SESSION) -> None:
        with self._store.write() as tx:
            tx.signins.drop(kind, hash_of(secret))

    def challenge(self, jti: str = "") -> bytes:
        """What a passkey must sign, once and soon: to be added to the token of that id, or to sign in.

        Raises: RateLimited.
        """
        self._rate.check(jti, self._clock.now())
        made = self._entropy.take(_SECRET_BYTES)
        self._store_slip(CHALLENGE, hash_of(b64(made)), CHALLENGE_MS, client=jti)
        return made

    def passkey(self, credential: bytes) -> Passkey | None:
        """The passkey of that id, whose signature is to be checked."""
        with self._store.read() as tx:
            slip = tx.signins.slip(PASSKEY, hash_of(b64(credential)))
        if slip is None or slip.until <= self._clock.now():
            return None
        try:
            return open_passkey(self._keyring, slip)
        except IntegrityError:
            return None

    def begin_with_passkey(self, passkey: Passkey, credential: bytes, challenge: bytes, counter: int) -> str:
        """The secret of a new session, for a passkey that signed the challenge.

        Raises: SouvenanceError if its token is no good any more, or the challenge is not.
        """
        hashed = hash_of(b64(credential))
        asked = passkeys.UsePasskey(passkey=hashed, challenge=hash_of(b64(challenge)), counter=counter)
        self._gate.call(passkeys.USE, Credentials(passkey.token), asked)
        return self.keep(passkey.token, passkey=b64(hashed))

    def _judge(self, token: str) -> None:
        self._gate.call(o.WHOAMI, Credentials(token), m.WhoAmI())

    def _store_slip(
        self, kind: str, hashed: bytes, lasts: int, *, client: str = "", content: bytes = b""
    ) -> None:
        now = self._clock.now()
        with self._store.write() as tx:
            tx.signins.sweep(now)
            tx.signins.keep(Slip(kind=kind, hash=hashed, client=client, until=now + lasts, content=content))
