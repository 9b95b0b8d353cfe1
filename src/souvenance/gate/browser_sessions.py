"""Browser sessions and passkeys. A session is bound to one token, and known here by the hash of its secret.

A person comes with a one-time link that the command line made or somebody gave them, with a passkey, or with
a token. A session
never outlives its token: the gate judges that token again at every request. It ends with its passkey, too.

A passkey is bound to the token that added it. Signing in with it gives that very token, so it opens no
more, and ends with it. A door checks the signature (WebAuthn) before it comes here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from souvenance.core.request_context import Trace
from souvenance.core.vault import open_passkey, seal_passkey
from souvenance.domain.capability import Chain, Revocations, authenticate, check_alive, key_id
from souvenance.domain.encoding import b64, unb64
from souvenance.domain.names import Name
from souvenance.domain.policy import Need
from souvenance.domain.sign_ins import (
    CHALLENGE,
    CHALLENGE_MS,
    LATE_MS,
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
    session_place,
)
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, Denied, IntegrityError, NotFound, SouvenanceError, Unauthenticated
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.gate.token_verifier import Credentials, RateLimit
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store

GIVEN_LINK_MS = 24 * 3600 * 1000
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
        self._gate.call(o.WHOAMI, Credentials(token), m.Nothing())
        return self.keep(token, LINK)

    def give(self, token: str, giver: Credentials) -> str:
        """The secret of a link for somebody else: it signs in once, within a day. Raises: SouvenanceError."""
        given = self._gate.call(o.WHOAMI, Credentials(token), m.Nothing())
        self._gate.call(GIVE_LINK, giver, GiveLink(given.jti))
        return self.keep(token, LINK, lasts=GIVEN_LINK_MS)

    def follow(self, link: str) -> str:
        """The secret of a new session for a link. Raises: Denied if it was used before, or is too old."""
        token = self.token(link, LINK)
        with self._store.write() as tx:
            slip = tx.signins.slip(LINK, hash_of(link))
            if slip is not None and slip.spent_at is not None:
                raise Denied("this link was used before", hint="A link signs in once. Get a new one.")
            if token is None or not tx.signins.spend(LINK, hash_of(link), self._clock.now()):
                raise Denied("this link is too old", hint="Get a new one.")
        return self.begin(token)

    def begin(self, token: str) -> str:
        """The secret of a new session. Raises: SouvenanceError for a token that is no good."""
        self._gate.call(SIGN_IN, Credentials(token), m.Nothing())
        return self.keep(token)

    def keep(self, token: str, kind: str = PAGE_SESSION, passkey: str = "", lasts: int | None = None) -> str:
        """The secret of a new session or link, for a token that the gate has just judged."""
        secret = b64(self._entropy.take(_SECRET_BYTES))
        hashed = hash_of(secret)
        sealed = self._keyring.wrap(token.encode(), session_place(hashed))
        self.keep_slip(kind, hashed, lasts or _LASTS[kind], client=passkey, content=sealed)
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
            return self._keyring.unwrap(slip.content, session_place(hashed)).decode()
        except IntegrityError:
            return None  # It was sealed under a root key that is gone: the person signs in again.

    def end(self, secret: str, kind: str = PAGE_SESSION) -> None:
        if token := self.token(secret, kind):
            with suppress(SouvenanceError):  # Its token may have ended: then it is signed out already.
                self._gate.call(SIGN_OUT, Credentials(token), m.Nothing())
        with self._store.write() as tx:
            tx.signins.drop(kind, hash_of(secret))

    def challenge(self, jti: str = "") -> bytes:
        """What a passkey must sign, once and soon: to be added to the token of that id, or to sign in.

        Raises: RateLimited.
        """
        self._rate.check(jti, self._clock.now())
        made = self._entropy.take(_SECRET_BYTES)
        self.keep_slip(CHALLENGE, hash_of(b64(made)), CHALLENGE_MS, client=jti)
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
        asked = UsePasskey(passkey=hashed, challenge=hash_of(b64(challenge)), counter=counter)
        self._gate.call(USE_PASSKEY, Credentials(passkey.token), asked)
        return self.keep(passkey.token, passkey=b64(hashed))

    def keep_slip(
        self, kind: str, hashed: bytes, lasts: int, *, client: str = "", content: bytes = b""
    ) -> None:
        """Keep the hash of a secret that was handed out, and forget those that are over."""
        now = self._clock.now()
        with self._store.write() as tx:
            tx.signins.sweep(now - LATE_MS)
            tx.signins.keep(Slip(kind=kind, hash=hashed, client=client, until=now + lasts, content=content))


PasskeyName = Annotated[str, Meta(min_length=1, max_length=80)]
PasskeyId = Annotated[str, Meta(max_length=64)]
_MOST_KEY_BYTES = 2048


class GiveLink(m.Request, frozen=True):
    jti: Name


class AddPasskey(m.Request, frozen=True, kw_only=True):
    """Bind a passkey to the token that asks. Its id and the challenge come as hashes."""

    passkey: bytes
    challenge: bytes
    name: PasskeyName
    public_key: Annotated[bytes, Meta(max_length=_MOST_KEY_BYTES)]
    counter: int


class UsePasskey(m.Request, frozen=True, kw_only=True):
    passkey: bytes
    challenge: bytes
    counter: int


class RemovePasskey(m.Request, frozen=True):
    id: PasskeyId


class PasskeyAnswer(m.Answer, frozen=True, kw_only=True):
    id: str
    name: str
    peer: str
    workspace: str
    mine: bool
    """Whether it is bound to the token that asks."""
    since: datetime
    until: datetime
    """When the token ends, and the passkey with it."""
    last_used: datetime | None
    browsers: int
    """How many are signed in with it."""


class PasskeysAnswer(m.Answer, frozen=True):
    passkeys: list[PasskeyAnswer]
    """The newest first."""


def add_passkey(authorised: AuthorisedRequest, request: AddPasskey) -> Outcome:
    ctx, grant = authorised.ctx, authorised.chain.grant
    _spend(authorised, request.challenge, grant.jti)
    if ctx.tx.signins.slip(PASSKEY, request.passkey) is not None:
        raise Conflict("this passkey is known already")
    made = Passkey(
        token=authorised.token,
        name=request.name,
        public_key=request.public_key,
        counter=request.counter,
        created_at=ctx.now,
    )
    slip = Slip(kind=PASSKEY, hash=request.passkey, client=grant.jti, until=grant.expires_at * 1000)
    _keep_passkey(authorised, slip, made)
    return Outcome(m.Done(), _passkey_trace(slip))


def use_passkey(authorised: AuthorisedRequest, request: UsePasskey) -> Outcome:
    slip = authorised.ctx.tx.signins.slip(PASSKEY, request.passkey)
    if slip is None:
        raise _unknown()
    known = open_passkey(authorised.keyring, slip)
    if known.token != authorised.token:
        raise _unknown()
    _spend(authorised, request.challenge, "")
    if known.counter and request.counter <= known.counter:
        raise Denied("this passkey may have been copied", hint="Sign in another way, and remove it.")
    _keep_passkey(authorised, slip, replace(known, used_at=authorised.ctx.now, counter=request.counter))
    return Outcome(m.Done(), _passkey_trace(slip))


def list_passkeys(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(PasskeysAnswer([passkey for passkey, _ in living_passkeys(authorised)]))


def living_passkeys(authorised: AuthorisedRequest) -> list[tuple[PasskeyAnswer, Chain]]:
    """Those that the token shows, each with the token that it signs in with. Newest first."""
    mine, ctx = authorised.chain.grant.jti, authorised.ctx
    signed_in = Counter(slip.client for slip in ctx.tx.signins.slips(PAGE_SESSION) if slip.until > ctx.now)
    found = [
        (
            PasskeyAnswer(
                id=b64(slip.hash),
                name=known.name,
                peer=chain.grant.actor,
                workspace=chain.grant.workspace,
                mine=slip.client == mine,
                since=to_datetime(known.created_at),
                until=to_datetime(slip.until),
                last_used=None if known.used_at is None else to_datetime(known.used_at),
                browsers=signed_in[b64(slip.hash)],
            ),
            chain,
        )
        for slip, known, chain in _reached(authorised)
    ]
    return sorted(found, key=lambda one: one[0].since, reverse=True)


def remove_passkey(authorised: AuthorisedRequest, request: RemovePasskey) -> Outcome:
    for slip, _, _ in _reached(authorised):
        if b64(slip.hash) == request.id:
            authorised.ctx.tx.signins.drop(PASSKEY, slip.hash)
            return Outcome(m.Done(), _passkey_trace(slip))
    raise _unknown()


def _reached(authorised: AuthorisedRequest) -> Iterator[tuple[Slip, Passkey, Chain]]:
    """Those that work: of the token itself and, if it may revoke, of every token that reaches no further."""
    grant, reached = authorised.chain.grant, authorised.chain.lineage[-1].extent
    for slip in authorised.ctx.tx.signins.slips(PASSKEY):
        try:
            known = open_passkey(authorised.keyring, slip)
            chain = _alive(authorised, known.token)
        except (IntegrityError, Unauthenticated):
            continue  # Its token has ended, or it was sealed under a root key that is gone.
        within = chain.lineage[-1].extent.within(reached)
        if slip.client == grant.jti or ("revoke" in grant.ops and within):
            yield slip, known, chain


def _alive(authorised: AuthorisedRequest, token: str) -> Chain:
    """Raises: Unauthenticated."""
    ctx, keyring = authorised.ctx, authorised.keyring
    chain = authenticate(token, keys=keyring.issuers(key_id(token)), audience=keyring.instance)
    revoked = Revocations.of(ctx.tx.caps.revocations(chain.grant.workspace))
    check_alive(chain, now=ctx.now // 1000, revoked=revoked)
    return chain


def _spend(authorised: AuthorisedRequest, challenge: bytes, bound_to: str) -> None:
    """Raises: Denied."""
    ctx = authorised.ctx
    slip = ctx.tx.signins.slip(CHALLENGE, challenge)
    if slip is None or slip.client != bound_to or slip.until <= ctx.now:
        raise Denied("the passkey came too late", hint="Try again.")
    if not ctx.tx.signins.spend(CHALLENGE, challenge, ctx.now):
        raise Denied("this answer of the passkey was used before", hint="Try again.")


def _keep_passkey(authorised: AuthorisedRequest, slip: Slip, passkey: Passkey) -> None:
    sealed = seal_passkey(authorised.keyring, slip.hash, passkey)
    authorised.ctx.tx.signins.keep(replace(slip, content=sealed))


def _passkey_trace(slip: Slip) -> Trace:
    return Trace((), (), f"passkey={b64(slip.hash)} jti={slip.client}")


def _unknown() -> NotFound:
    return NotFound("there is no such passkey")


def _noted(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    """Nothing happens: it is for the row in the audit log."""
    return Outcome(m.Done())


def _given(authorised: AuthorisedRequest, request: GiveLink) -> Outcome:
    """The row in the audit log says which token the link signs in with."""
    return Outcome(m.Done(), Trace((), (), f"jti={request.jti}"))


GIVE_LINK = Operation("page.give_link", Need(None), GiveLink, m.Done, _given)
SIGN_IN = Operation("page.sign_in", Need(None), m.Nothing, m.Done, _noted)
SIGN_OUT = Operation("page.sign_out", Need(None), m.Nothing, m.Done, _noted)
ADD_PASSKEY = Operation("passkey.add", Need(None), AddPasskey, m.Done, add_passkey, writes=True)
USE_PASSKEY = Operation("passkey.use", Need(None), UsePasskey, m.Done, use_passkey, writes=True)
LIST_PASSKEYS = Operation("passkey.list", Need(None), m.Nothing, PasskeysAnswer, list_passkeys)
REMOVE_PASSKEY = Operation("passkey.remove", Need(None), RemovePasskey, m.Done, remove_passkey, writes=True)
