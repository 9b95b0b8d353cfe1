"""The gate's cap operations: mint, attenuate, revoke, and who am I."""

from __future__ import annotations

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.core.request_context import Trace
from souvenance.domain import capability, names, ulid
from souvenance.domain.capability import Ancestor, Claims, Confirmation, Grant, HolderKey, Revocation, extent
from souvenance.domain.names import ALL
from souvenance.errors import CapMalformed, CapScopeMismatch, Conflict, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate.operation import AuthorisedRequest, Outcome

_LONGEST_LINEAGE = 16


class MadeToken(msgspec.Struct, frozen=True):
    """What the log tells of a token that was made. Who made it, and with which token, the row says itself."""

    token: Ancestor
    ops: tuple[str, ...]
    exp: int

    @classmethod
    def of(cls, claims: Claims, kid: str, at: int) -> MadeToken:
        return cls(Ancestor(claims.jti, claims.sub, kid, at, extent(claims)), claims.ops, claims.exp)

    def trace(self) -> Trace:
        return Trace(self.token.extent.namespaces, (), msgspec.json.encode(self, order="sorted").decode())


def mint(authorised: AuthorisedRequest, request: m.Mint) -> Outcome:
    ctx = authorised.ctx
    parent = authorised.chain.blocks[-1]
    lineage = authorised.chain.lineage
    if len(lineage) > _LONGEST_LINEAGE:
        raise CapScopeMismatch("this cap is too many steps away from the first one to mint another")
    secret = Ed25519PrivateKey.from_private_bytes(ctx.services.entropy.take(32))
    now = ctx.now // 1000
    claims = Claims(
        iss=parent.iss,
        aud=parent.aud,
        sub=request.sub,
        jti=ctx.fresh_id(),
        iat=now,
        nbf=max(now, parent.nbf),
        exp=min(now + request.ttl_seconds, parent.exp),
        wid=request.wid or ctx.scope.workspace,
        cnf=request.cnf or Confirmation(HolderKey.of(secret.public_key())),
        data_class=request.data_class,
        ops=request.ops,
        namespaces_allowed=request.namespaces_allowed,
        peers=request.peers,
        sessions=request.sessions,
        par=lineage,
        via=request.via,
    )
    _check(claims)
    opened = authorised.chain.grant.opened
    opens_more = opened is not None and not opened.issuperset(claims.sessions or ())
    if opens_more or not capability.narrows(claims, parent):
        raise CapScopeMismatch(
            "a cap can't mint one that grants more than itself",
            hint="Ask for less, or mint with a wider cap: 'souvenance cap whoami' shows this one.",
        )
    kid, key = authorised.keyring.signer()
    block = capability.sign(claims, key=key, kid=kid)
    token = block if request.cnf else capability.bearer(block, secret)
    if len(token) > capability.MAX_TOKEN_CHARS:
        raise CapScopeMismatch(
            "the token would be too long: it lists what each token that it comes from opens",
            hint="Name fewer peers, namespaces and sessions, or mint with a token nearer to the first one.",
        )
    made = MadeToken.of(claims, kid, ulid.milliseconds(claims.jti))
    return Outcome(m.CapAnswer(token, claims.jti, claims.exp), made.trace())


def attenuate(authorised: AuthorisedRequest, request: m.Attenuate) -> Outcome:
    if request.cap is None and authorised.chain.bound:
        raise InvalidInput(
            "a bound cap can't be attenuated by the server",
            hint="Attenuate it where its holder key is: 'souvenance cap attenuate --holder-key FILE'.",
        )
    answer = attenuated(
        request.cap or authorised.token,
        request,
        jti=authorised.ctx.fresh_id(),
        now=authorised.ctx.now // 1000,
        secret=Ed25519PrivateKey.from_private_bytes(authorised.ctx.services.entropy.take(32)),
    )
    if request.cap is not None:  # It was not judged here, so nothing is known of what was made.
        return Outcome(answer, Trace((), (), f"jti={answer.jti}"))
    parent = authorised.chain.lineage[-1]
    claims = capability.read_unverified(answer.cap)[0][-1]
    return Outcome(answer, MadeToken.of(claims, parent.kid, parent.at).trace())


def attenuated(
    token: str,
    request: m.Attenuate,
    *,
    jti: str,
    now: int,
    secret: Ed25519PrivateKey,
    holder_secret: Ed25519PrivateKey | None = None,
) -> m.CapAnswer:
    """The narrower cap, made without any server. Raises: CapMalformed, CapScopeMismatch, InvalidInput."""

    def narrow(parent: Claims) -> Claims:
        claims = Claims(
            iss=parent.iss,
            aud=parent.aud,
            sub=request.sub or parent.sub,
            jti=jti,
            iat=now,
            nbf=max(now, parent.nbf),
            exp=min(now + request.ttl_seconds, parent.exp) if request.ttl_seconds else parent.exp,
            wid=request.wid or parent.wid,
            cnf=request.cnf or Confirmation(HolderKey.of(secret.public_key())),
            data_class=request.data_class or parent.data_class,
            ops=_either(request.ops, parent.ops),
            namespaces_allowed=_either(request.namespaces_allowed, parent.namespaces_allowed),
            peers=_either(request.peers, parent.peers if request.sub in (None, parent.sub) else ()),
            sessions=parent.sessions if request.sessions is None else request.sessions,
            via=_either(request.via, parent.via if request.sub in (None, parent.sub) else ()),
        )
        _check(claims)
        return claims

    made = capability.attenuate(
        token,
        narrow,
        child_secret=None if request.cnf else secret,
        holder_secret=holder_secret,
    )
    child = capability.read_unverified(made)[0][-1]
    return m.CapAnswer(made, child.jti, child.exp)


def revoke(authorised: AuthorisedRequest, request: m.Revoke) -> Outcome:
    """End what is named and everything made from it, as far as it does not stand above the caller. What is
    not known here, by its id or its actor alone, is judged when a token comes: see `Revoker.ends`."""
    chain = authorised.chain
    above = chain.lineage[:-1]
    if request.kid is not None:
        kind, value = "kid", request.kid
        if above or not chain.grant.operates:
            raise CapScopeMismatch("only the owner's own token may revoke a signing key")
        if value == authorised.keyring.signer()[0]:
            raise Conflict(
                "that key signs new caps now",
                hint="Run 'souvenance key rotate --signing' first, then revoke it.",
            )
    else:
        kind, value = ("jti", request.jti) if request.jti is not None else ("sub", request.sub or "")
        if value in {getattr(one, kind) for one in above}:
            raise CapScopeMismatch(
                "a token can't revoke what it was made from",
                hint="Revoke with the owner's token, or name a token of this one's own by its id.",
            )
    authorised.withdraw(Revocation(chain.grant.workspace, kind, value, authorised.ctx.now, chain.revoker))
    return Outcome(m.RevokeAnswer(value, kind), Trace((), (), f"{kind}={value}"))


def whoami(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(whoami_answer(authorised.chain.grant))


def whoami_answer(grant: Grant) -> m.WhoAmIAnswer:
    """What a cap grants, as its holder sees it."""
    return m.WhoAmIAnswer(
        sub=grant.actor,
        wid=grant.workspace,
        ops=[op for op in capability.OPS if op in grant.ops],
        data_class=grant.data_class,
        namespaces_allowed=sorted(grant.namespaces),
        peers=sorted(grant.peers),
        sessions=None if grant.sessions is None else sorted(grant.sessions),
        via=sorted(grant.via),
        jti=grant.jti,
        exp=grant.expires_at,
        bound=grant.bound,
    )


def owner_claims(*, instance: str, jti: str, now: int, exp: int, holder: HolderKey) -> Claims:
    """What the installation's own cap says: everything, everywhere."""
    return Claims(
        iss=instance,
        aud=instance,
        sub="owner",
        jti=ulid.check(jti, "jti"),
        iat=now,
        nbf=now,
        exp=exp,
        wid=ALL,
        cnf=Confirmation(holder),
        data_class=ALL,
        ops=capability.OPS,
        namespaces_allowed=(ALL,),
        peers=(ALL,),
    )


def _check(claims: Claims) -> None:
    """Raises: InvalidInput for what no cap may say."""
    names.actor(claims.sub, "sub")
    if claims.wid != ALL:
        names.name(claims.wid, "wid")
    if unknown := set(claims.ops) - set(capability.OPS):
        raise InvalidInput(
            f"ops holds {sorted(unknown)[0]!r}", hint=f"Operations: {', '.join(capability.OPS)}."
        )
    if claims.data_class not in (*capability.DATA_CLASSES, ALL):
        raise InvalidInput(f"data_class must be one of {', '.join(capability.DATA_CLASSES)}")
    for namespace in claims.namespaces_allowed:
        if namespace != ALL:
            names.namespace(namespace)
    for peer in claims.peers:
        if peer != ALL:
            names.actor(peer, "peers")
    for peer in claims.via:
        names.actor(peer, "via")
    for session in claims.sessions or ():
        names.name(session, "sessions")
    try:
        claims.cnf.jwk.public()
    except CapMalformed as error:
        raise InvalidInput(f"cnf: {error.detail}") from None


def _either(chosen: tuple[str, ...] | None, inherited: tuple[str, ...]) -> tuple[str, ...]:
    return inherited if chosen is None else chosen
