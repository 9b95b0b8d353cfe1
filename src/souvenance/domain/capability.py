"""The cap: who may do what, where, until when. Verification is a pure function.

A cap is one or more compact JWS blocks (Ed25519) joined by '~':

    issued                  block ~ secret            a bearer cap: its holder's key travels with it
    issued, bound           block                     the holder keeps the key and proves it per request
    attenuated              block ~ block ~ secret    or without the secret, if the child is bound

Every block names a holder key in `cnf`. The issuer signs the first block; each further block is
signed with the holder key of the block before it, and may only narrow it. The receiver of a
child does not get the parent's secret, so the wider cap can't be cut out of the narrower one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from souvenance import errors as e
from souvenance.decoders import settled
from souvenance.domain import jws, names, ulid
from souvenance.domain.encoding import b64, unb64
from souvenance.domain.names import ALL

TYPE = "cap+jwt"
SKEW_SECONDS = 60
MAX_TOKEN_CHARS = 16 * 1024
MAX_BLOCKS = 8

SIGNED_IN = "hch-at-"
"""What may stand before a cap that a sign-in gave: clients of Honcho tell access tokens from keys by it."""

OPS = ("put", "get", "list", "snapshot", "invalidate", "forget", "grant", "revoke", "audit", "chat")
DATA_CLASSES = ("memory", "credentials", "config")

_Seconds = int


class HolderKey(msgspec.Struct, frozen=True):
    """An Ed25519 public key as a JWK, of which only these members are kept."""

    x: str
    kty: str = "OKP"
    crv: str = "Ed25519"

    @classmethod
    def of(cls, key: Ed25519PublicKey) -> HolderKey:
        return cls(x=b64(key.public_bytes_raw()))

    def public(self) -> Ed25519PublicKey:
        """Raises: CapMalformed."""
        if (self.kty, self.crv) != ("OKP", "Ed25519"):
            raise e.CapMalformed("the holder key is not an Ed25519 key")
        try:
            return Ed25519PublicKey.from_public_bytes(unb64(self.x))
        except ValueError:
            raise e.CapMalformed("the holder key is not an Ed25519 key") from None

    def thumbprint(self) -> str:
        """RFC 7638."""
        canonical = f'{{"crv":"{self.crv}","kty":"{self.kty}","x":"{self.x}"}}'
        return b64(hashlib.sha256(canonical.encode()).digest())


class Confirmation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    jwk: HolderKey


class Extent(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Whose memory a token opens and where. Its rights and its time are not part of it."""

    workspace: str
    data_class: str
    actors: tuple[str, ...]
    namespaces: tuple[str, ...]
    sessions: tuple[str, ...] | None
    via: tuple[str, ...] = ()

    def within(self, other: Extent) -> bool:
        return (
            other.workspace in (ALL, self.workspace)
            and other.data_class in (ALL, self.data_class)
            and _within(self.actors, other.actors)
            and _within(self.namespaces, other.namespaces)
            and (
                other.sessions is None
                or (self.sessions is not None and {*self.sessions} <= {*other.sessions})
            )
            and _within(self.via, (*other.actors, *other.via))
        )


class Ancestor(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One token of a lineage: its id, its actor, the key and the millisecond it was issued with, and what it
    opens. A token narrowed offline has the key and the time of the token it was made from, since its holder
    chooses its id."""

    jti: str
    sub: str
    kid: str
    at: int
    extent: Extent


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one block says. A claim that this version does not know makes the cap malformed,
    because an unknown claim may be a restriction."""

    iss: str
    aud: str
    sub: str
    jti: str
    iat: _Seconds
    nbf: _Seconds
    exp: _Seconds
    wid: str
    cnf: Confirmation
    data_class: str = ""
    ops: tuple[str, ...] = ()
    namespaces_allowed: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    sessions: tuple[str, ...] | None = None
    par: tuple[Ancestor, ...] = ()
    via: tuple[str, ...] = ()


class Grant(Struct, frozen=True):
    """What a verified cap allows.

    `via` are peers through whose eyes it may look at those it reaches, and that it does not reach itself.
    `sessions` are those that it is limited to, and `opened` those that it opens to its holder, whether
    or not a peer it reaches is in them; None for all. `speakers` are the peers it may speak as and let into
    a session, besides those who are in it already; None for all that it reaches.
    """

    actor: str
    workspace: str
    ops: frozenset[str]
    data_class: str
    namespaces: frozenset[str]
    peers: frozenset[str]
    sessions: frozenset[str] | None
    opened: frozenset[str] | None
    speakers: frozenset[str] | None
    via: frozenset[str]
    jti: str
    expires_at: _Seconds
    holder: HolderKey
    bound: bool

    def reaches(self, actor: str) -> bool:
        return actor == self.actor or actor in self.peers or ALL in self.peers

    @property
    def operates(self) -> bool:
        """Whether this is the installation's own cap, which no wall of a workspace holds."""
        return self.workspace == ALL and ALL in self.peers and ALL in self.namespaces


class Chain(Struct, frozen=True):
    """A cap whose signatures hold and whose blocks each narrow the one before.

    It says nothing yet about time and revocation, so it may be cached.
    """

    blocks: tuple[Claims, ...]
    lineage: tuple[Ancestor, ...]
    """The tokens that this one came from, the first one first, and itself at the end."""
    bound: bool
    grant: Grant

    @property
    def revoker(self) -> Revoker:
        return Revoker(self.lineage[-1].extent, first=len(self.lineage) == 1)


class Revoker(Struct, frozen=True, array_like=True):
    """What the token opens that a revocation was made with, and whether the installation issued it itself."""

    extent: Extent
    first: bool

    def ends(self, lineage: Sequence[Ancestor], depth: int) -> bool:
        """Whether the token at that depth of a lineage is one that this caller may revoke.

        One that opens more does not heed it, nor does one that the installation issued itself, unless the
        caller is such a one. What the caller was made from was refused when it was named.
        """
        return (self.first or depth > 0) and lineage[depth].extent.within(self.extent)


INSTALLATION = Revoker(Extent(ALL, ALL, (ALL,), (ALL,), None), first=True)


class Revocation(Struct, frozen=True):
    """One withdrawal: of a token (`jti`), of an actor (`sub`) up to `at`, or of a signing key (`kid`)."""

    workspace: str
    kind: str
    value: str
    at: int
    by: Revoker = INSTALLATION


class Revocations(Struct, frozen=True):
    """Everything that was withdrawn in a workspace or everywhere."""

    by_jti: Mapping[str, Sequence[Revocation]]
    by_actor: Mapping[str, Sequence[Revocation]]
    by_key: frozenset[str]

    @classmethod
    def of(cls, found: Iterable[Revocation]) -> Revocations:
        by: dict[str, dict[str, list[Revocation]]] = {"jti": {}, "sub": {}, "kid": {}}
        for one in found:
            by[one.kind].setdefault(one.value, []).append(one)
        return cls(by["jti"], by["sub"], frozenset(by["kid"]))

    def covers(self, lineage: Sequence[Ancestor]) -> bool:
        """Whether the token at its end, or any that it came from, was revoked by someone who may."""
        if not (self.by_jti or self.by_actor or self.by_key):
            return False
        return any(self._meets(lineage, depth) for depth in range(len(lineage)))

    def _meets(self, lineage: Sequence[Ancestor], depth: int) -> bool:
        token = lineage[depth]
        named = [
            *self.by_jti.get(token.jti, ()),
            *(one for one in self.by_actor.get(token.sub, ()) if token.at <= one.at),
        ]
        return token.kid in self.by_key or any(one.by.ends(lineage, depth) for one in named)


def authenticate(token: str | None, *, keys: Mapping[str, Ed25519PublicKey], audience: str) -> Chain:
    """The cap's chain, if every signature holds and no block widens. Raises: CapMissing, CapMalformed,
    CapSigInvalid."""
    if not token:
        raise e.CapMissing("the request carries no cap")
    parts, secret = _split(token)
    blocks: list[Claims] = []
    kid = _header(parts[0]).kid
    signer = keys.get(kid)
    for part in parts:
        if signer is None:
            raise e.CapSigInvalid("the cap was signed with a key that is not trusted here")
        claims = _read_block(part, signer)
        if blocks and not narrows(claims, blocks[-1]):
            raise e.CapSigInvalid("the cap grants more than the cap it was made from")
        blocks.append(claims)
        signer = claims.cnf.jwk.public()
    if secret is not None and secret.public_key() != signer:
        raise e.CapSigInvalid("the cap's secret is not that of its holder key")
    if any(block.iss != audience or block.aud != audience for block in blocks):
        raise e.CapSigInvalid("the cap was issued for another installation")
    bound = secret is None
    lineage = _lineage(blocks, kid)
    return Chain(tuple(blocks), lineage, bound, _grant(blocks[-1], lineage, bound=bound))


def key_id(token: str | None) -> str:
    """The id of the issuer's key that the cap says it was signed with; "" if it can't be read."""
    try:
        return _header((token or "").removeprefix(SIGNED_IN).split("~", 1)[0]).kid
    except e.CapMalformed:
        return ""


def check_alive(chain: Chain, *, now: _Seconds, revoked: Revocations) -> None:
    """Raises: CapExpired, CapRevoked."""
    for block in chain.blocks:
        if block.exp <= now:
            raise e.CapExpired("the cap has expired")
        if block.nbf > now + SKEW_SECONDS or block.iat > now + SKEW_SECONDS:
            raise e.CapExpired("the cap is not valid yet")
    if revoked.covers(chain.lineage):
        raise e.CapRevoked("the cap was revoked")


def narrows(child: Claims, parent: Claims) -> bool:
    """Whether the child grants nothing that its parent does not."""
    return (
        (child.iss, child.aud) == (parent.iss, parent.aud)
        and extent(child).within(extent(parent))
        and child.exp <= parent.exp
        and child.nbf >= parent.nbf
        and set(child.ops) <= set(parent.ops)
    )


def extent(claims: Claims) -> Extent:
    actors = {claims.sub, *claims.peers}
    return Extent(
        claims.wid,
        claims.data_class,
        tuple(sorted(actors)),
        tuple(sorted(set(claims.namespaces_allowed))),
        None if claims.sessions is None else tuple(sorted(set(claims.sessions))),
        () if ALL in actors else tuple(sorted({*claims.via} - actors)),
    )


def sign(claims: Claims, *, key: Ed25519PrivateKey, kid: str) -> str:
    return jws.sign(msgspec.json.encode(claims), key, typ=TYPE, kid=kid)


def bearer(blocks: str, secret: Ed25519PrivateKey) -> str:
    """The cap that carries its holder key's secret along."""
    return f"{blocks}~{b64(secret.private_bytes_raw())}"


def attenuate(
    token: str,
    narrow: Callable[[Claims], Claims],
    *,
    child_secret: Ed25519PrivateKey | None,
    holder_secret: Ed25519PrivateKey | None = None,
) -> str:
    """A narrower cap made from this one, offline: no issuer, no store.

    `narrow` turns the last block's claims into the child's. A bound cap needs its holder's
    secret. Without `child_secret` the child is bound to the key in its own `cnf`.

    Raises: CapMalformed, CapScopeMismatch if the child would be wider.
    """
    parts, carried = _split(token)
    secret = carried or holder_secret
    if secret is None:
        raise e.CapMalformed("a bound cap can be attenuated only with its holder key")
    parent = _decode_claims(_payload(parts[-1]))
    child = narrow(parent)
    if not narrows(child, parent):
        raise e.CapScopeMismatch(
            "an attenuated cap can't grant more than the cap it is made from",
            hint="Leave out what the cap does not have: 'souvenance cap show' lists it.",
        )
    if len(parts) >= MAX_BLOCKS:
        raise e.CapMalformed(f"a cap has at most {MAX_BLOCKS} blocks")
    blocks = "~".join([*parts, sign(child, key=secret, kid=parent.cnf.jwk.thumbprint())])
    return blocks if child_secret is None else bearer(blocks, child_secret)


def read_unverified(token: str) -> tuple[list[Claims], bool]:
    """What the cap says of itself, block by block, and whether it is bound. Proves nothing. Raises:
    CapMalformed."""
    parts, secret = _split(token)
    return [_decode_claims(_payload(part)) for part in parts], secret is None


def lineage_unverified(token: str) -> tuple[Ancestor, ...]:
    """The tokens that it comes from, and itself last, as `read_unverified` reads it. Raises: CapMalformed."""
    return _lineage(read_unverified(token)[0], key_id(token))


def _split(token: str) -> tuple[list[str], Ed25519PrivateKey | None]:
    if len(token) > MAX_TOKEN_CHARS:
        raise e.CapMalformed("the cap is too long")
    parts = token.removeprefix(SIGNED_IN).split("~")
    secret = None
    if len(parts) > 1 and "." not in parts[-1]:
        try:
            secret = Ed25519PrivateKey.from_private_bytes(unb64(parts.pop()))
        except ValueError:
            raise e.CapMalformed("the cap's secret is not a key") from None
    if len(parts) > MAX_BLOCKS:
        raise e.CapMalformed(f"a cap has at most {MAX_BLOCKS} blocks")
    return parts, secret


def _header(block: str) -> jws.Header:
    try:
        return jws.header(block, jws.Header, typ=TYPE)
    except ValueError as error:
        raise e.CapMalformed(f"the cap's header can't be read: {error}") from None


def _read_block(block: str, key: Ed25519PublicKey) -> Claims:
    payload = _payload(block)
    try:
        jws.check(block, key)
    except jws.Unsigned:
        raise e.CapSigInvalid("the cap's signature does not hold") from None
    except ValueError:
        raise e.CapMalformed("the cap can't be read") from None
    return _decode_claims(payload)


def _payload(block: str) -> bytes:
    _header(block)
    try:
        return jws.payload(block)
    except ValueError:
        raise e.CapMalformed("the cap can't be read") from None


def _decode_claims(payload: bytes) -> Claims:
    try:
        claims = msgspec.json.decode(payload, type=settled(Claims))
    except (ValueError, msgspec.MsgspecError) as error:
        raise e.CapMalformed(f"the cap's claims can't be read: {error}") from None
    try:
        names.name(claims.sub, "sub")
        ulid.check(claims.jti, "jti")
        if claims.wid != ALL:
            names.name(claims.wid, "wid")
    except e.InvalidInput as error:
        raise e.CapMalformed(f"the cap's {error.detail}") from None
    return claims


def _grant(claims: Claims, lineage: Iterable[Ancestor], *, bound: bool) -> Grant:
    return Grant(
        actor=claims.sub,
        workspace=claims.wid,
        ops=frozenset(claims.ops),
        data_class=claims.data_class,
        namespaces=frozenset(claims.namespaces_allowed),
        peers=frozenset(claims.peers),
        sessions=None if claims.sessions is None else frozenset(claims.sessions),
        opened=sessions_opened(lineage),
        speakers=_speakers(lineage),
        via=frozenset(claims.via),
        jti=claims.jti,
        expires_at=claims.exp,
        holder=claims.cnf.jwk,
        bound=bound,
    )


def sessions_opened(lineage: Iterable[Ancestor]) -> frozenset[str] | None:
    """The sessions that a token opens, None for all: it opens what it names only if the one before did.

    One that reaches some peers only and names sessions is limited to these, and opens none.
    """
    opened: frozenset[str] | None = None
    for one in lineage:
        sessions, actors = one.extent.sessions, one.extent.actors
        if opened is not None:
            opened &= frozenset(sessions or ())
        elif sessions is not None:
            opened = frozenset(sessions)
        elif ALL not in actors:
            opened = frozenset()
    return opened


def _speakers(lineage: Iterable[Ancestor]) -> frozenset[str] | None:
    """Whom a token of sessions may speak as by name.

    One that names sessions and reaches everyone speaks for who is in them, and for its own actor. What is
    made from it may name others, and speaks for them no more than it did.
    """
    speakers: frozenset[str] | None = None
    for one in lineage:
        actors = frozenset(one.extent.actors)
        if ALL in actors:
            if one.extent.sessions is None:
                continue
            actors = frozenset({one.sub})
        speakers = actors if speakers is None else speakers & actors
    return speakers


def _lineage(blocks: Sequence[Claims], kid: str) -> tuple[Ancestor, ...]:
    """The first block's jti is a ULID: it tells when the issuer made it, finer than the seconds of `iat`."""
    at = ulid.milliseconds(blocks[0].jti)
    return (*blocks[0].par, *(Ancestor(one.jti, one.sub, kid, at, extent(one)) for one in blocks))


def _within(child: Sequence[str], parent: Sequence[str]) -> bool:
    return ALL in parent or set(child) <= set(parent)
