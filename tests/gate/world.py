"""A gate with everything behind its ports in the test's hands, and caps made by hand."""

from __future__ import annotations

import json
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from random import Random

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import stores
from reference.index import ReferenceIndex
from reference.store import MemoryStore
from reference.text import NoSpelling, NoThesaurus, UniversalTime
from souvenance.adapters.document_reader import Documents
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.webhook_sender import HttpWebhookSender
from souvenance.adapters.word_tables import TokenCounter
from souvenance.core.embedding_space import Meaning
from souvenance.core.request_context import Services
from souvenance.core.vault import Vault
from souvenance.domain import proof, ulid
from souvenance.domain.capability import (
    INSTALLATION,
    OPS,
    Extent,
    Revocation,
    Revocations,
    Revoker,
    authenticate,
    b64,
    check_alive,
)
from souvenance.domain.limits import Limits
from souvenance.domain.proof import Bound
from souvenance.errors import SouvenanceError, WrongKey
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials

INSTANCE = "urn:souvenance:test"
NOTHING_REVOKED = Revocations({}, {}, frozenset())
START = 1_750_000_000_000
_PATIENCE_SECONDS = 60.0
TOKENS = TokenCounter()


class FakeClock:
    def __init__(self, ms=START):
        self.ms = ms

    def now(self):
        return self.ms

    def advance(self, *, seconds=0, ms=0):
        self.ms += seconds * 1000 + ms


class SeededEntropy:
    def __init__(self, seed=1):
        self.take = Random(seed).randbytes


class CountingEntropy:
    """Never the same twice, and always more: what is made later sorts later."""

    def __init__(self):
        self._taken = 0

    def take(self, size):
        self._taken += 1
        return (self._taken << 24).to_bytes(size)


class MemoryKeyring:
    """The keyring's port, in memory."""

    instance = INSTANCE

    def __init__(self, entropy):
        self._entropy = entropy
        self._roots = []
        self._signers = {}
        self.add_root()
        self.rotate_signer()

    def wrap(self, key, context):
        nonce = self._entropy.take(12)
        return nonce + AESGCM(self._roots[-1]).encrypt(nonce, key, context)

    def unwrap(self, wrapped, context):
        for root in self._roots:
            try:
                return AESGCM(root).decrypt(wrapped[:12], wrapped[12:], context)
            except InvalidTag:
                continue
        raise WrongKey("no root key opens it")

    def add_root(self):
        self._roots.append(self._entropy.take(32))

    def retire_old_roots(self):
        del self._roots[:-1]

    def signer(self):
        return self._kid, self._signers[self._kid]

    def issuers(self, kid):
        return {kid: key.public_key() for kid, key in self._signers.items()}

    def rotate_signer(self):
        self._kid = f"key-{len(self._signers) + 1}"
        self._signers[self._kid] = fresh_key(self._entropy)
        return self._kid

    def copied(self, entropy):
        """One with the same keys so far."""
        one = copy(self)
        one._entropy, one._roots, one._signers = entropy, list(self._roots), dict(self._signers)
        return one


def verified(token, *, keys, audience, now, revoked=NOTHING_REVOKED):
    """The grant of a cap that is genuine, in its time and not withdrawn."""
    chain = authenticate(token, keys=keys, audience=audience)
    check_alive(chain, now=now, revoked=revoked)
    return chain.grant


def fresh_key(entropy):
    return Ed25519PrivateKey.from_private_bytes(entropy.take(32))


def jwk(key):
    return {"kty": "OKP", "crv": "Ed25519", "x": b64(key.public_key().public_bytes_raw())}


def block(claims, key, kid, **header):
    """One signed block, whatever its claims say."""
    head = {"alg": "EdDSA", "typ": "cap+jwt", "kid": kid, **header}
    signed = f"{b64(json.dumps(head).encode())}.{b64(json.dumps(claims).encode())}"
    return f"{signed}.{b64(key.sign(signed.encode()))}"


@dataclass(frozen=True)
class Issued:
    """A cap and the secret of its holder key."""

    blocks: tuple
    secret: Ed25519PrivateKey
    claims: dict

    @property
    def bound(self):
        return "~".join(self.blocks)

    @property
    def token(self):
        return f"{self.bound}~{b64(self.secret.private_bytes_raw())}"

    @property
    def jti(self):
        return self.claims["jti"]


class World:
    """One gate on a book of its own, or on one that it shares with another world."""

    def __init__(
        self,
        *,
        store=None,
        index=None,
        keyring=None,
        clock=None,
        limits=None,
        seed=1,
        entropy=None,
        tokenizer=None,
        webhook_sender=None,
        embedder=None,
        thesaurus=None,
        spelling=None,
        zone=None,
    ):
        self.entropy = entropy or SeededEntropy(seed)
        self.clock = clock or FakeClock()
        self.keyring = keyring or MemoryKeyring(self.entropy)
        self.store = MemoryStore() if store is None else store
        self.services = Services(
            vault=Vault(self.keyring, self.entropy),
            index=index or ReferenceIndex(),
            entropy=self.entropy,
            tokenizer=tokenizer or TOKENS,
            reader=Documents(),
            webhook_sender=webhook_sender or HttpWebhookSender(),
            limits=limits or Limits(),
            thesaurus=thesaurus or NoThesaurus(),
            spelling=spelling or NoSpelling(),
            zone=zone or UniversalTime(),
            meaning=Meaning(embedder, now=self.clock.now, patience=_PATIENCE_SECONDS),
        )
        self.gate = Gate(store=self.store, keyring=self.keyring, clock=self.clock, services=self.services)

    def copied(self, **options):
        """A world of the reference parts in which so far the same has happened, and nothing is shared."""
        store, entropy = MemoryStore(), copy(self.entropy)
        store._state = self.store._state.copied()
        kept = {"entropy": entropy, "keyring": self.keyring.copied(entropy), "clock": copy(self.clock)}
        return World(store=store, **kept, **options)

    @property
    def seconds(self):
        return self.clock.ms // 1000

    def ulid(self, ms=None):
        return ulid.compose(self.clock.ms if ms is None else ms, self.entropy.take(10))

    def claims(self, **changed):
        """Claims of a cap that may do everything with alice's memory; None leaves a claim out."""
        said = {
            "iss": INSTANCE,
            "aud": INSTANCE,
            "sub": "alice",
            "jti": self.ulid(),
            "iat": self.seconds,
            "nbf": self.seconds,
            "exp": self.seconds + 3600,
            "wid": "default",
            "data_class": "memory",
            "ops": list(OPS),
            "namespaces_allowed": ["*"],
            **changed,
        }
        return {name: value for name, value in said.items() if value is not None}

    def issue(self, **changed):
        """A cap that the installation's current key signed."""
        secret = fresh_key(self.entropy)
        claims = {"cnf": {"jwk": jwk(secret)}, **self.claims(**changed)}
        kid, key = self.keyring.signer()
        return Issued((block(claims, key, kid),), secret, claims)

    def operator(self, **changed):
        """The installation's own cap."""
        return self.issue(**{"sub": "owner", "wid": "*", "data_class": "*", "peers": ["*"], **changed})

    def child(self, parent, **changed):
        """A further block by the parent's holder, which says whatever it is told to say."""
        secret = fresh_key(self.entropy)
        said = {**parent.claims, "jti": self.ulid(), "cnf": {"jwk": jwk(secret)}, **changed}
        claims = {name: value for name, value in said.items() if value is not None}
        return Issued((*parent.blocks, block(claims, parent.secret, "holder")), secret, claims)

    def call(self, operation, cap, request, *, proof=None, bound=None):
        token = cap.token if isinstance(cap, Issued) else cap
        return self.gate.call(operation, Credentials(token, proof, bound or Bound("", "")), request)

    def code(self, operation, cap, request, **options):
        try:
            self.call(operation, cap, request, **options)
        except SouvenanceError as error:
            return error.code
        return "ok"

    def prove(self, cap, operation, request, *, key=None, jti=None, at=None):
        """The options of a call with a bound cap: its proof, and what it is bound to."""
        bound = self.gate.bind(operation, request)
        made = proof.make(
            cap.bound, bound, key=key or cap.secret, jti=jti or self.ulid(), now=at or self.seconds
        )
        return {"proof": made, "bound": bound}

    def put(self, cap, text, namespace="travel", **fields):
        return self.call(o.PUT, cap, m.Put(text=text, namespace=namespace, **fields)).id

    def get(self, cap, query=None, **fields):
        return self.call(o.GET, cap, m.Get(query=query, **fields)).lines

    def texts(self, cap, query=None, **fields):
        return [line.text for line in self.get(cap, query, **fields)]

    def ids(self, cap, **fields):
        return [line.id for line in self.call(o.LIST, cap, m.List(**fields)).lines]

    def revoke(self, kind, value, *, workspace="*", at=None, by=None, first=True):
        """A revocation by the installation, or by a cap of such claims."""
        revoker = INSTALLATION if by is None else Revoker(_extent(by), first)
        with self.store.write() as tx:
            tx.caps.revoke(Revocation(workspace, kind, value, self.clock.ms if at is None else at, revoker))
            tx.touch(workspace, caps=True)

    def rows(self, workspace="default"):
        with self.store.read() as tx:
            return tx.audit.rows(workspace, 0, 1 << 31)

    def outcomes(self, workspace="default"):
        return [(row.event.operation, row.event.outcome) for row in self.rows(workspace)]


def _extent(said):
    sessions = said.get("sessions")
    return Extent(
        said["wid"],
        said.get("data_class", ""),
        (said["sub"], *said.get("peers", ())),
        tuple(said.get("namespaces_allowed", ())),
        None if sessions is None else tuple(sessions),
    )


def on_sqlite(path, **options):
    """A world on a real file, or where this run keeps its stores, with the index that a house uses."""
    world = World(store=stores.store(path), index=RankedIndex(), **options)
    stores.attend(path, world.services)
    return world


@contextmanager
def each_kind(kind, folder):
    """A world of the reference parts, or of the parts that a house has."""
    world = World() if kind == "reference" else on_sqlite(folder / "book.db")
    try:
        yield world
    finally:
        world.store.close()


KINDS = ("reference", "sqlite")
