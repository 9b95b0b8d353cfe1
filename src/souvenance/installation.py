"""The one place that knows every part. It opens a data folder whose store and settings belong together."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct

from souvenance.adapters.data_folder import DataFolder, LateFile, foreign, place_of
from souvenance.adapters.document_reader import Documents
from souvenance.adapters.embed.choice import choose, describe, load
from souvenance.adapters.embed.local import SPACE as ENGLISH_SPACE
from souvenance.adapters.key_files import ROOT_FILE, KeyFiles
from souvenance.adapters.private_files import (
    exists,
    make_private_folder,
    read_private,
    secret_of,
    write_private,
)
from souvenance.adapters.processes import announce, served_at
from souvenance.adapters.sql.store import SqlStore, in_database, in_file
from souvenance.adapters.system_clock import SystemClock, SystemEntropy, WallClock
from souvenance.adapters.word_tables import PackagedSpelling, PackagedThesaurus, TokenCounter
from souvenance.config import ModelEndpoint, Settings
from souvenance.core.embedding_space import Meaning
from souvenance.core.request_context import Services
from souvenance.core.store_wrapper import mirrored
from souvenance.core.vault import Vault
from souvenance.domain import capability, ulid
from souvenance.domain.capability import HolderKey
from souvenance.domain.embedding import NONE
from souvenance.domain.encoding import b64
from souvenance.errors import Misconfigured, SouvenanceError
from souvenance.extras import importing
from souvenance.files import locked
from souvenance.gate.gate import Gate
from souvenance.gate.tokens import owner_claims
from souvenance.ports.clock import Clock
from souvenance.ports.index import Index
from souvenance.ports.model import Model
from souvenance.ports.store import Store
from souvenance.ports.text import Tokenizer
from souvenance.ports.webhook_sender import WebhookSender

if TYPE_CHECKING:
    from souvenance.gate.oauth_state import OAuthState
    from souvenance.gate.replication import Repairer, ReplicationWorker
    from souvenance.gate.worker import Worker


_MEGABYTE = 1 << 20
_SETTLING_STEP_SECONDS = 0.01
_SECRET_BYTES = 32
_PATIENCE = 10.0
_CARRYING_SECONDS = 60.0
_T = TypeVar("_T")
_NO_VECTORS = "none: search is by words alone (SOUVENANCE_VECTORS=none)"


class Later(Generic[_T]):
    """Made when it is first used, once, whichever threads use it: a host may start a process for every turn.

    `later()` gives it. Later itself also has its attributes, and so can stand in its place.
    """

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: _T | None = None

    def __call__(self) -> _T:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made

    def __getattr__(self, name: str) -> Any:
        return getattr(self(), name)


class Installation(Struct, frozen=True, eq=False):
    """An open data folder: its gate, and the cap of its owner."""

    gate: Gate
    owner_cap: str
    settings: Settings
    made: bool
    _index: Later[Index]
    _wake: threading.Event
    _worker: Later[Worker]
    sign_ins: OAuthState
    """Where people and clients sign in, and people to the inspector."""
    _store: SqlStore
    _meaning: Meaning
    _model: Model | None = None
    _repairer: Repairer | None = None

    @contextmanager
    def working(self, after: float = 0.0) -> Iterator[None]:
        """Do the work behind the requests in a thread of its own meanwhile.

        It begins when a request leaves some, at the latest after so many seconds. What is heavy to import is
        imported first, by this thread alone. Where the work may begin later, a host waits for its first
        answer: then what the embedder runs on is left to the one thread that loads it.
        """
        self._index()
        if not after:
            load(self.settings.embedder)
        stopped = threading.Event()

        def work() -> None:
            self._wake.wait(after)
            if not stopped.is_set():
                self.worker.hears = hears
                if self.settings.host is not None:
                    self.worker.paused = self.settings.host.paused
                self.worker.run(stopped)

        workers = [threading.Thread(target=work, name="souvenance-worker", daemon=True)]
        if self._repairer is not None:
            carrying = threading.Thread(
                target=self._repairer.worker.run, args=(stopped,), name="souvenance-replication", daemon=True
            )
            workers.append(carrying)
        self.gate.wake = self._wake
        try:
            with self._store.listening(self._wake.set) as hears:
                for thread in workers:
                    thread.start()
                yield
        finally:
            stopped.set()
            self._wake.set()
            if self._model is not None:
                self._model.stop()
            for thread in workers:
                if thread.ident is not None:
                    thread.join()

    @property
    def worker(self) -> Worker:
        """Where the work behind the requests is done."""
        return self._worker()

    def catch_up(self, seconds: float) -> None:
        """Give lines that were written while no server ran what they are found by; stop after so long.

        Raises: Unavailable if the store is out of reach.
        """
        clock = SystemClock()
        deadline = clock.now() + round(seconds * 1000)
        self.worker.look_round()
        while clock.now() < deadline and self.worker.tidy():
            pass

    def carry(self, seconds: float) -> None:
        """Take to the bucket what waits for it. Raises: StorageUnavailable if that takes longer."""
        if self._repairer is not None:
            self._repairer.worker.carry_all(seconds, eager=False)

    @property
    def repairer(self) -> Repairer:
        """What gives store and bucket each what it lacks of the other. Raises: Misconfigured without one."""
        if self._repairer is None:
            raise Misconfigured(
                "no bucket is configured", hint="Set SOUVENANCE_OBJECTS, e.g. s3://bucket/prefix."
            )
        return self._repairer

    def key(self, given: str) -> str:
        """A key as settings give it: itself, or what its file says. Raises: Misconfigured."""
        return secret_of(given)

    def announced(self, url: str) -> AbstractContextManager[None]:
        """Let other programs on this machine find the server of this folder meanwhile."""
        return announce(self.settings.home, url)

    def served_at(self) -> str | None:
        """The address of the server that runs for this folder on this machine, if one does."""
        return served_at(self.settings.home)

    def settle(self, seconds: float) -> None:
        """Wait up to that long for the work that is due to be done, unless it waits for a host's turns."""
        clock, rest = SystemClock(), threading.Event()
        deadline = clock.now() + round(seconds * 1000)
        while clock.now() < deadline:
            with self._store.read() as tx:
                due = tx.work.next_due()
            waits = due is not None and due <= clock.now()
            busy = (worker := self._worker.made) is not None and worker.busy
            works = self.settings.host is None and (waits or busy)
            if not works and not self._meaning.behind:
                return
            rest.wait(_SETTLING_STEP_SECONDS)

    def close(self) -> None:
        self._meaning.stop()
        if self._repairer is not None:
            self._repairer.worker.close()
        self._store.close()


def open_installation(
    settings: Settings,
    *,
    renew_owner_cap: bool = False,
    patience: float = _PATIENCE,
    make: bool = True,
    rebuilding: bool = False,
    rebind: bool = False,
) -> Installation:
    """Open the data folder, and make what of it is missing; without `make`, only if it was set up.

    The first question waits up to `patience` seconds until the embedder is loaded. `rebuilding` says that an
    empty store is to be filled from a bucket that has lines. `rebind` says that the folder belongs to the
    store of the settings from now on, also if it belonged to another.

    Raises: SouvenanceError; NotSetUp, StoreMismatch.
    """
    if make:
        make_private_folder(settings.home)
    folder = DataFolder(settings, rebuilding=rebuilding, rebind=rebind)
    folder.check(make=make)
    made, keyring, sql_store = _in_file(settings) if settings.store is None else _in_database(settings)
    with ExitStack() as otherwise:
        otherwise.callback(sql_store.close)
        folder.claim(sql_store, keyring.instance)
        installation = _assembled(
            settings,
            made,
            keyring,
            sql_store,
            renew=renew_owner_cap,
            patience=patience,
            rebuilding=rebuilding,
        )
        otherwise.pop_all()
    return installation


def _assembled(
    settings: Settings,
    made: bool,
    keyring: KeyFiles,
    sql_store: SqlStore,
    *,
    renew: bool,
    patience: float,
    rebuilding: bool,
) -> Installation:
    """Raises: SouvenanceError."""
    entropy = SystemEntropy()
    clock = SystemClock()
    vault = Vault(keyring, entropy)
    store, uploads = _with_objects(settings, sql_store, vault, rebuilding=rebuilding)
    tokenizer = TokenCounter()
    index = Later(partial(_ranked_index, settings.index_mb * _MEGABYTE))
    meaning = _meaning(settings, clock, patience)
    services = Services(
        vault=vault,
        index=cast("Index", index),
        entropy=entropy,
        tokenizer=tokenizer,
        reader=Documents(),
        webhook_sender=cast("WebhookSender", Later(partial(_webhook_sender, settings))),
        limits=settings.limits,
        thesaurus=PackagedThesaurus(),
        spelling=PackagedSpelling(tokenizer),
        model=_model(settings, tokenizer, clock, meaning),
        meaning=meaning,
        zone=WallClock(settings.zone),
        carry=None if uploads is None else lambda: uploads.carry_all(_CARRYING_SECONDS),
    )
    repairer = None if uploads is None else _repairer(sql_store, clock, services, uploads)
    gate = Gate(store=store, keyring=keyring, clock=clock, services=services, late=LateFile(settings.home))
    gate.append_late()
    if store.scrub_pending():
        store.scrub()
    owner_cap = owner_token(settings.owner_cap, keyring, renew)
    wake = threading.Event()
    kept = {"store": store, "keyring": keyring, "clock": clock, "entropy": entropy}
    worker = {"store": store, "clock": clock, "services": services, "wake": wake, "idle": gate.idle}
    later = (
        Later(partial(_worker, settings, worker)),
        cast("OAuthState", Later(partial(_oauth_state, gate, kept))),
    )
    return Installation(
        gate, owner_cap, settings, made, index, wake, *later, sql_store, meaning, services.model, repairer
    )


def _ranked_index(cache_bytes: int) -> Index:
    from souvenance.adapters.index.ranked import RankedIndex

    return RankedIndex(cache_bytes)


def _webhook_sender(settings: Settings) -> WebhookSender:
    from souvenance.adapters.webhook_sender import HttpWebhookSender

    return HttpWebhookSender(allow_private=settings.webhook_private)


def _worker(settings: Settings, parts: dict[str, Any]) -> Worker:
    from souvenance.gate.worker import Worker

    return Worker(**parts, secret=partial(_webhook_secret, settings), report=_report)


def _oauth_state(gate: Gate, kept: dict[str, Any]) -> OAuthState:
    from souvenance.gate.oauth_state import OAuthState

    return OAuthState(gate, **kept)


def _meaning(settings: Settings, clock: Clock, patience: float) -> Meaning:
    """Raises: Misconfigured."""
    if settings.vectors == NONE:
        return Meaning(None, without=_NO_VECTORS, keeps=False)
    embedder = choose(settings.embedder)
    if embedder is None:
        return Meaning(None, without=describe(settings.embedder))
    return Meaning(embedder, now=clock.now, patience=patience, english=embedder.space == ENGLISH_SPACE)


def _with_objects(
    settings: Settings, sql_store: SqlStore, vault: Vault, *, rebuilding: bool
) -> tuple[Store, ReplicationWorker | None]:
    """The store, noting its changes if it is kept a second time, and who carries them.

    What does is loaded only then.

    Raises: SouvenanceError.
    """
    entropy = SystemEntropy()
    if settings.objects is None:
        return mirrored(sql_store, entropy, None), None
    from souvenance.adapters.object_stores import open_objects
    from souvenance.gate.replication import ReplicationWorker

    objects = open_objects(settings.objects, settings.objects_key)
    store = mirrored(sql_store, entropy, None if rebuilding else objects)
    return store, ReplicationWorker(
        store=sql_store, vault=vault, entropy=entropy, clock=SystemClock(), objects=objects, report=_report
    )


def _repairer(sql_store: SqlStore, clock: Clock, services: Services, worker: ReplicationWorker) -> Repairer:
    from souvenance.gate.replication import Repairer

    return Repairer(store=sql_store, clock=clock, services=services, worker=worker)


def _in_file(settings: Settings) -> tuple[bool, KeyFiles, SqlStore]:
    """Whether the store is new, its keys, and its store in the data folder. Raises: SouvenanceError."""
    home = settings.home
    made = not exists(settings.database)
    if not made and not exists(home / ROOT_FILE):
        raise Misconfigured(
            f"{home / ROOT_FILE} is missing, and without it the lines of this store can't be opened",
            hint="Restore root.key from a backup.",
        )
    return made, KeyFiles.create(home), SqlStore(in_file(settings.database))


def _in_database(settings: Settings) -> tuple[bool, KeyFiles, SqlStore]:
    """Whether the data folder is new, its keys, and the store in PostgreSQL. Raises: SouvenanceError."""
    made = not exists(settings.home / ROOT_FILE)
    embeds = settings.vectors != NONE and choose(settings.embedder) is not None
    store = SqlStore(in_database(place_of(settings), vectors=settings.vectors if embeds else None))
    with ExitStack() as otherwise:
        otherwise.callback(store.close)
        with store.read() as tx:
            used = bool(tx.workspaces())
        if made and used:
            raise foreign()
        keyring = KeyFiles.create(settings.home)
        otherwise.pop_all()
    return made, keyring, store


def _model(settings: Settings, tokenizer: Tokenizer, clock: Clock, meaning: Meaning) -> Model | None:
    """The model, if one is configured; only then what speaks to it is loaded. Raises: Misconfigured."""
    asked = settings.model
    if not asked.endpoints:
        return None
    with importing("client", "a model is configured, and httpx"):
        from souvenance.adapters.model.endpoint import Endpoint
    from souvenance.adapters.model.calls import ModelBudget
    from souvenance.adapters.model.reasoner import ModelReasoner

    made: dict[ModelEndpoint, Endpoint] = {}
    for one in asked.endpoints.values():
        if one not in made:
            made[one] = Endpoint(
                one.url,
                one.name,
                key=None if one.key is None else secret_of(one.key),
                timeout=asked.timeout_seconds,
                now=clock.now,
                transport=settings.host.transport if settings.host is not None else None,
            )
    return ModelReasoner(
        {task: made[one] for task, one in asked.endpoints.items()},
        ModelBudget(
            settings.model_spend, whole=asked.whole, each=asked.each, now=clock.now, price=asked.price
        ),
        count=tokenizer.count,
        window=asked.context_tokens,
        report=_report,
        quiet_seconds=asked.quiet_seconds,
        embed=None if meaning.embedder is None else partial(meaning.passages, meaning.embedder),
    )


_DAY = 24 * 3600
_OWNER_TTL = 365 * _DAY
_RENEW_BEFORE = 30 * _DAY


def owner_token(path: Path, keyring: KeyFiles, renew: bool) -> str:
    """The token in the file, or a new one if that is missing, ends soon or was signed by an older key."""
    now = SystemClock().now()
    kid, key = keyring.signer()
    if exists(path) and not renew:
        token = read_private(path).strip()
        try:
            claims = capability.authenticate(
                token, keys=keyring.issuers(kid), audience=keyring.instance
            ).blocks[0]
            if capability.key_id(token) == kid and claims.exp > now // 1000 + _RENEW_BEFORE:
                return token
        except SouvenanceError:
            pass  # Not a token of this installation: replaced below.
    secret = Ed25519PrivateKey.generate()
    claims = owner_claims(
        instance=keyring.instance,
        jti=ulid.compose(now, SystemEntropy().take(ulid.ENTROPY_BYTES)),
        now=now // 1000,
        exp=now // 1000 + _OWNER_TTL,
        holder=HolderKey.of(secret.public_key()),
    )
    token = capability.bearer(capability.sign(claims, key=key, kid=kid), secret)
    with locked(path.parent):
        write_private(path, token + "\n")
    return token


def _report(message: str) -> None:
    """What the worker has to say goes where the process logs, or else to standard error."""
    log = logging.getLogger("souvenance.work")
    if log.hasHandlers():
        log.warning("%s", message)
        return
    sys.stderr.write(f"souvenance: {message}\n")
    sys.stderr.flush()


def _webhook_secret(settings: Settings) -> bytes:
    """The configured secret, or the one in the data folder, which is made on its first use."""
    if settings.webhook_secret is not None:
        return secret_of(settings.webhook_secret).encode()
    path = settings.home / "webhook.secret"
    with locked(path.parent):
        if not exists(path):
            write_private(path, b64(SystemEntropy().take(_SECRET_BYTES)) + "\n")
    return read_private(path).strip().encode()
