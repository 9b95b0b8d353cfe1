"""The gate's operations on passkeys: add one, sign in with it, list and remove those there are.

A passkey is bound to the token that added it. Whoever signs in with it gets that very token, so it opens no
more, and ends with it. A door checks the signature (WebAuthn) before it comes here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from souvenance.core.request_context import Trace
from souvenance.core.vault import open_passkey, seal_passkey
from souvenance.domain.capability import Chain, Revocations, authenticate, check_alive, key_id
from souvenance.domain.encoding import b64
from souvenance.domain.policy import Need
from souvenance.domain.sign_ins import CHALLENGE, PASSKEY, Passkey, Slip
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, Denied, IntegrityError, NotFound, Unauthenticated
from souvenance.gate import messages as m
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome

PasskeyName = Annotated[str, Meta(min_length=1, max_length=80)]
PasskeyId = Annotated[str, Meta(max_length=64)]
_MOST_KEY_BYTES = 2048


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


class PasskeysAnswer(m.Answer, frozen=True):
    passkeys: list[PasskeyAnswer]
    """The newest first."""


def add(authorised: AuthorisedRequest, request: AddPasskey) -> Outcome:
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
    _keep(authorised, slip, made)
    return Outcome(m.Done(), _trace(slip))


def use(authorised: AuthorisedRequest, request: UsePasskey) -> Outcome:
    slip = authorised.ctx.tx.signins.slip(PASSKEY, request.passkey)
    if slip is None:
        raise _unknown()
    known = open_passkey(authorised.keyring, slip)
    if known.token != authorised.token:
        raise _unknown()
    _spend(authorised, request.challenge, "")
    if known.counter and request.counter <= known.counter:
        raise Denied("this passkey may have been copied", hint="Sign in another way, and remove it.")
    _keep(authorised, slip, replace(known, used_at=authorised.ctx.now, counter=request.counter))
    return Outcome(m.Done(), _trace(slip))


def list_passkeys(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(PasskeysAnswer([passkey for passkey, _ in living(authorised)]))


def living(authorised: AuthorisedRequest) -> list[tuple[PasskeyAnswer, Chain]]:
    """Those that the token shows, each with the token that it signs in with. Newest first."""
    mine = authorised.chain.grant.jti
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
            ),
            chain,
        )
        for slip, known, chain in _reached(authorised)
    ]
    return sorted(found, key=lambda one: one[0].since, reverse=True)


def remove(authorised: AuthorisedRequest, request: RemovePasskey) -> Outcome:
    for slip, _, _ in _reached(authorised):
        if b64(slip.hash) == request.id:
            authorised.ctx.tx.signins.drop(PASSKEY, slip.hash)
            return Outcome(m.Done(), _trace(slip))
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


def _keep(authorised: AuthorisedRequest, slip: Slip, passkey: Passkey) -> None:
    sealed = seal_passkey(authorised.keyring, slip.hash, passkey)
    authorised.ctx.tx.signins.keep(replace(slip, content=sealed))


def _trace(slip: Slip) -> Trace:
    return Trace((), (), f"passkey={b64(slip.hash)} jti={slip.client}")


def _unknown() -> NotFound:
    return NotFound("there is no such passkey")


ADD = Operation("passkey.add", Need(None), AddPasskey, m.Done, add, writes=True)
USE = Operation("passkey.use", Need(None), UsePasskey, m.Done, use, writes=True)
LIST = Operation("passkey.list", Need(None), m.Nothing, PasskeysAnswer, list_passkeys)
REMOVE = Operation("passkey.remove", Need(None), RemovePasskey, m.Done, remove, writes=True)
