"""The gate's operations on sign-ins: allow one, deny it, fetch a token, end it, and look at those there are.

To allow needs `grant`, and what is granted is a cap minted as any other. Tokens are fetched with that cap
itself, so that a sign-in whose cap, or the cap that this came from, was withdrawn gives none. To look at
sign-ins and to withdraw one needs `revoke`, by a cap that reaches all that the sign-in does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.request_context import Trace
from souvenance.core.vault import open_grant, seal_grant
from souvenance.domain import names
from souvenance.domain import sign_ins as d
from souvenance.domain.capability import (
    Ancestor,
    Claims,
    Revocation,
    Revocations,
    extent,
    lineage_unverified,
    read_unverified,
)
from souvenance.domain.names import ALL, Name
from souvenance.domain.policy import Need, Reach
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.ulid import LineId
from souvenance.errors import CapOpMismatch, CapScopeMismatch, Conflict, NotFound
from souvenance.gate import messages as m
from souvenance.gate import tokens
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome


class Chosen(Struct, frozen=True, kw_only=True):
    """What a person allows a client."""

    workspace: Name
    peer: Name
    namespaces: m.Grants
    access: d.Access
    seconds: m.Ttl
    everyone: bool = False


class Allow(m.Request, frozen=True, kw_only=True):
    """Let a client in. `request` is the hash of its request, `slip` that of the code that it will bring."""

    client: str
    request: bytes
    kind: str
    slip: bytes
    content: bytes
    typed: bytes | None = None
    """The hash of the code that the person typed, if the client is a device elsewhere."""
    chosen: Chosen


class Deny(m.Request, frozen=True, kw_only=True):
    client: str
    request: bytes
    device: bytes | None = None


class Exchange(m.Request, frozen=True, kw_only=True):
    """Give an access token for a slip, and with `refresh` a slip of that hash for the next one."""

    kind: str
    slip: bytes
    access: d.Access
    refresh: bytes | None
    content: bytes = b""


class End(m.Request, frozen=True, kw_only=True):
    client: str


class Withdraw(m.Request, frozen=True):
    id: LineId


class SignInAnswer(m.Answer, frozen=True, kw_only=True):
    """One program that was let in. `everyone` says that it acts for all peers of the workspace."""

    id: str
    client: str
    name: str
    """What the program calls itself."""
    workspace: str
    peer: str
    everyone: bool
    namespaces: list[str]
    access: str
    since: datetime
    until: datetime
    last_used: datetime | None
    """When it last fetched an access token, which lasts for up to an hour."""


class SignInsAnswer(m.Answer, frozen=True):
    sign_ins: list[SignInAnswer]
    """Newest first."""


class Withdrawn(m.Answer, frozen=True):
    id: str
    client: str


class Exchanged(m.Answer, frozen=True, kw_only=True):
    """The access token; None if the slip was used before, which ends the sign-in."""

    cap: str | None
    exp: int = 0


def allow(authorised: AuthorisedRequest, request: Allow) -> Outcome:
    ctx, grant, chosen = authorised.ctx, authorised.chain.grant, request.chosen
    signins = ctx.tx.signins
    names.name(chosen.workspace, "workspace")
    if not signins.spend(d.REQUEST, request.request, ctx.now):
        raise Conflict("this was answered already", hint="Let the program ask again.")
    ops = d.ops_of(chosen.access, grant.ops)
    if not ops or (chosen.access == "write" and "put" not in ops):
        raise CapOpMismatch(f"the cap does not grant {chosen.access!r}")
    minted = tokens.mint(
        authorised,
        m.Mint(
            sub=chosen.peer,
            ops=ops,
            namespaces_allowed=chosen.namespaces,
            ttl_seconds=chosen.seconds,
            wid=chosen.workspace,
            peers=(ALL,) if chosen.everyone else (),
            sessions=None if grant.sessions is None else tuple(sorted(grant.sessions)),
        ),
    ).answer
    if not isinstance(minted, m.CapAnswer):
        raise TypeError("a minted cap is answered as one")
    signin = d.SignIn(
        id=ctx.fresh_id(),
        client=request.client,
        workspace=chosen.workspace,
        peer=chosen.peer,
        access=chosen.access,
        jti=minted.jti,
        sealed=b"",
        created_at=ctx.now,
        until=minted.exp * 1000,
    )
    signins.add(replace(signin, sealed=seal_grant(authorised.keyring, signin.id, minted.cap)))
    signins.use_client(request.client, ctx.now)
    signins.keep(_handed(authorised, request, signin))
    detail = f"client={request.client} sub={chosen.peer} wid={chosen.workspace} jti={minted.jti}"
    return Outcome(m.Done(), Trace(chosen.namespaces, (), detail))


def _handed(authorised: AuthorisedRequest, request: Allow, signin: d.SignIn) -> d.Slip:
    """The code that the client exchanges for its token: a new one, or its device code. Raises: NotFound."""
    now, signins = authorised.ctx.now, authorised.ctx.tx.signins
    if request.kind == d.CODE:
        return d.Slip(
            kind=d.CODE,
            hash=request.slip,
            client=request.client,
            signin=signin.id,
            until=now + d.CODE_MS,
            content=request.content,
        )
    known = signins.slip(d.DEVICE, request.slip)
    if known is None or known.spent_at is not None or known.signin is not None or known.until <= now:
        raise NotFound("the device's code has expired", hint="Let the device ask for a new one.")
    if request.typed is not None:
        signins.drop(d.USER_CODE, request.typed)
    return replace(known, signin=signin.id, content=request.content)


def deny(authorised: AuthorisedRequest, request: Deny) -> Outcome:
    signins = authorised.ctx.tx.signins
    if not signins.spend(d.REQUEST, request.request, authorised.ctx.now):
        raise Conflict("this was answered already", hint="Let the program ask again.")
    if request.device is not None:
        signins.spend(d.DEVICE, request.device, authorised.ctx.now)
    return Outcome(m.Done(), Trace((), (), f"client={request.client}"))


def exchange(authorised: AuthorisedRequest, request: Exchange) -> Outcome:
    ctx = authorised.ctx
    signins = ctx.tx.signins
    signins.sweep(ctx.now - d.LATE_MS)
    slip = signins.slip(request.kind, request.slip)
    signin = None if slip is None or slip.signin is None else signins.get(slip.signin)
    if slip is None or signin is None or signin.jti != authorised.chain.grant.jti:
        raise NotFound("there is no such sign-in")
    if not signins.spend(slip.kind, slip.hash, ctx.now):
        _end(authorised, signin)
        return Outcome(Exchanged(cap=None), Trace((), (), f"replayed {slip.kind} jti={signin.jti}"))
    if slip.until <= ctx.now:
        raise NotFound("it came too late")
    made = tokens.attenuated(
        authorised.token,
        m.Attenuate(ttl_seconds=d.ACCESS_SECONDS, ops=d.ops_of(request.access, authorised.chain.grant.ops)),
        jti=ctx.fresh_id(),
        now=ctx.now // 1000,
        secret=Ed25519PrivateKey.from_private_bytes(ctx.services.entropy.take(32)),
    )
    signins.use(signin.id, ctx.now)
    if request.refresh is not None:
        signins.keep(
            d.Slip(
                kind=d.REFRESH,
                hash=request.refresh,
                client=signin.client,
                signin=signin.id,
                until=signin.until,
                content=request.content,
            )
        )
    detail = f"client={signin.client} by={slip.kind} jti={made.jti}"
    return Outcome(Exchanged(cap=made.cap, exp=made.exp), Trace((), (), detail))


def end(authorised: AuthorisedRequest, request: End) -> Outcome:
    """End the sign-in that this cap is the grant or an access token of; nothing for any other cap."""
    blocks = authorised.chain.blocks
    signin = authorised.ctx.tx.signins.of_cap(blocks[0].jti) if len(blocks) <= _OWN_BLOCKS else None
    if signin is None:
        return Outcome(m.Done())
    if signin.client != request.client:
        raise CapScopeMismatch("the sign-in is another client's")
    _end(authorised, signin)
    return Outcome(m.Done(), Trace((), (), f"client={signin.client} jti={signin.jti}"))


def list_signins(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(SignInsAnswer([signin for signin, *_ in living(authorised)]))


def living(authorised: AuthorisedRequest) -> list[tuple[SignInAnswer, Claims, Sequence[Ancestor]]]:
    """Those that the cap reaches and nobody ended, each with what it was given and where that comes from.
    Newest first.

    Raises: WrongKey, Tampered.
    """
    tx, now = authorised.ctx.tx, authorised.ctx.now
    every = [signin for signin in tx.signins.every() if signin.until > now]
    revoked = {one: Revocations.of(tx.caps.revocations(one)) for one in {each.workspace for each in every}}
    return [
        (_shown(authorised, signin, given), given, lineage)
        for signin, given, lineage in reversed(_reached(authorised, every))
        if not revoked[signin.workspace].covers(lineage)
    ]


def withdraw(authorised: AuthorisedRequest, request: Withdraw) -> Outcome:
    known = authorised.ctx.tx.signins.get(request.id)
    reached = _reached(authorised, [] if known is None else [known])
    if not reached:
        raise NotFound("there is no such sign-in", hint="'souvenance sign-ins' lists them.")
    [(signin, _, _)] = reached
    _end(authorised, signin)
    return Outcome(
        Withdrawn(signin.id, signin.client), Trace((), (), f"client={signin.client} jti={signin.jti}")
    )


def _reached(
    authorised: AuthorisedRequest, signins: Iterable[d.SignIn]
) -> list[tuple[d.SignIn, Claims, Sequence[Ancestor]]]:
    """Those of which the cap reaches everything, each with what it was given and where that comes from.

    Raises: WrongKey, Tampered.
    """
    workspace, reached = authorised.chain.grant.workspace, authorised.chain.lineage[-1].extent
    here = [signin for signin in signins if workspace in (ALL, signin.workspace)]
    given = [(signin, open_grant(authorised.keyring, signin)) for signin in here]
    found = [(signin, read_unverified(cap)[0][-1], lineage_unverified(cap)) for signin, cap in given]
    return [one for one in found if extent(one[1]).within(reached)]


def _shown(authorised: AuthorisedRequest, signin: d.SignIn, given: Claims) -> SignInAnswer:
    client = d.BUILT_IN.get(signin.client) or authorised.ctx.tx.signins.client(signin.client)
    return SignInAnswer(
        id=signin.id,
        client=signin.client,
        name=signin.client if client is None else client.name,
        workspace=signin.workspace,
        peer=signin.peer,
        everyone=ALL in given.peers,
        namespaces=list(given.namespaces_allowed),
        access=signin.access,
        since=to_datetime(signin.created_at),
        until=to_datetime(signin.until),
        last_used=None if signin.used_at is None else to_datetime(signin.used_at),
    )


_OWN_BLOCKS = 2
"""The grant, and the access token made from it. A narrower cap made from that token can't end the sign-in."""


def _end(authorised: AuthorisedRequest, signin: d.SignIn) -> None:
    authorised.withdraw(Revocation(signin.workspace, "jti", signin.jti, authorised.ctx.now))
    authorised.ctx.tx.signins.end(signin.id)


def _granted(request: Allow) -> Reach:
    chosen = request.chosen
    return Reach(namespaces=chosen.namespaces, actor=chosen.peer, workspace=chosen.workspace)


ALLOW = Operation("signin.allow", Need("grant"), Allow, m.Done, allow, _granted, writes=True)
DENY = Operation("signin.deny", Need("grant"), Deny, m.Done, deny, writes=True)
EXCHANGE = Operation("signin.exchange", Need(None), Exchange, Exchanged, exchange, writes=True)
END = Operation("signin.end", Need(None), End, m.Done, end, writes=True)
LIST = Operation("signin.list", Need("revoke"), m.Nothing, SignInsAnswer, list_signins)
WITHDRAW = Operation("signin.withdraw", Need("revoke"), Withdraw, Withdrawn, withdraw, writes=True)
