"""The one place that knows every part. It opens a data folder whose store and settings belong together."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.document_reader import Documents
from souvenance.adapters.embed.choice import choose, describe, load
from souvenance.adapters.embed.local import SPACE as ENGLISH_SPACE
from souvenance.adapters.key_files import ROOT_FILE, KeyFiles
from souvenance.adapters.late_audit_file import LateFile
from souvenance.adapters.lazy_loading import (
    IndexWhenAsked,
    Later,
    WebhookSenderWhenAsked,
)
from souvenance.adapters.private_files import (
    check_folder,
    exists,
    make_private_folder,
    read_private,
    secret_of,
    write_private,
)
from souvenance.adapters.processes import announce, served_at
from souvenance.adapters.sql.store import SqlStore, in_database, in_file
from souvenance.adapters.store_binding import Binding, read_binding, write_binding
from souvenance.adapters.system_clock import SystemClock, SystemEntropy, WallClock
from souvenance.adapters.token_counts import TokenCounter
from souvenance.adapters.word_lists import PackagedSpelling, PackagedThesaurus
from souvenance.config import ModelEndpoint, Settings, without_secrets
from souvenance.core.embedding_space import Meaning
from souvenance.core.request_context import Services
from souvenance.core.store_wrapper import mirrored
from souvenance.core.vault import Vault
from souvenance.domain.embedding import NONE
from souvenance.domain.encoding import b64
from souvenance.errors import Misconfigured, NotSetUp, StoreMismatch
from souvenance.extras import install
from souvenance.files import locked
from souvenance.gate.gate import Gate
from souvenance.owner_token import owner_token
from souvenance.ports.clock import Clock
from souvenance.ports.embedder import Embedder
from souvenance.ports.model import Model
from souvenance.ports.observer import Observer
from souvenance.ports.store import Store
from souvenance.ports.text import Tokenizer

if TYPE_CHECKING:
    from souvenance.gate.browser_sessions import BrowserSessions
    from souvenance.gate.oauth_state import OAuthState
    from souvenance.gate.replication import Repairer, RepairReport, ReplicationWorker
    from souvenance.gate.worker import Worker


_REBIND = "'souvenance init --rebind' makes the folder use what the settings name now"
_LOST = (
    "Restore a backup, or make it anew from a bucket with 'souvenance rebuild'. "
    "'souvenance init --rebind' begins an empty store."
)


def place_of(settings: Settings) -> str:
    """Where the store is: a data folder, or the address of a database. Raises: Misconfigured."""
    return str(settings.home) if settings.store is None else secret_of(settings.store)


def foreign() -> Misconfigured:
    """The error for a store of another installation."""
    return Misconfigured(
        "the store's lines are sealed with keys that are not in this data folder",
        hint="Copy root.key and signing.key from the folder that it was made with, or name another store.",
    )


class DataFolder:
    """The folder of the settings, and what it remembers."""

    def __init__(self, settings: Settings, *, rebuilding: bool = False, rebind: bool = False) -> None:
        """`rebuilding` expects an empty store, `rebind` another one than before. Raises: Misconfigured."""
        self._settings = settings
        self._home = settings.home
        self._rebind = rebind
        self._may_be_empty = rebuilding or rebind
        self._named = Binding(
            None if settings.store is None else without_secrets(place_of(settings)), settings.objects
        )
        # Set-up writes the binding first and the keys second: looked at the other way round, keys without a
        # binding were copied here, and are not those of a set-up that another process has just begun.
        self._has_keys = exists(self._home / ROOT_FILE)
        begun = read_binding(self._home)
        self._begun = begun is not None
        self._known = begun if begun is not None and begun.ready else None

    def check(self, *, make: bool) -> None:
        """Look before anything is made or opened; without `make`, the folder must be set up already.

        Raises: NotSetUp, StoreMismatch, Misconfigured.
        """
        if exists(self._home):
            check_folder(self._home)
        if self._known is None:
            self._check_new(make=make)
        elif not self._rebind:
            self._check_objects(self._known)
            self._check_file(self._known)

    def claim(self, store: SqlStore, instance: str) -> None:
        """See that the open store is this folder's, and remember it.

        Raises: StoreMismatch, Misconfigured.
        """
        found = store.instance()
        if found != instance and self._known is not None and not self._may_be_empty:
            if self._known.store != self._named.store:
                raise self._other_store(self._known)
            if found is None:
                raise Misconfigured(f"{self._store_name(self._named)} is empty", hint=_LOST)
        if (store.settle(instance) if found is None else found) != instance:
            raise foreign()
        ready = replace(self._named, ready=True)
        if self._known != ready:
            write_binding(self._home, ready)

    def _check_new(self, *, make: bool) -> None:
        has_file = exists(self._settings.database)
        has_store = has_file or self._named.store is not None
        if self._has_keys and not has_store and not self._begun and not self._may_be_empty:
            raise NotSetUp(
                f"{self._home} has keys and no store",
                hint=f"If the store is a database, set SOUVENANCE_STORE. {_LOST}",
            )
        if not make and not has_file and not (self._has_keys and has_store):
            raise NotSetUp(f"there is no memory in {self._home} yet")
        if make and not self._has_keys and not has_file:
            write_binding(self._home, self._named)

    def _check_objects(self, known: Binding) -> None:
        if known.objects is not None and known.objects != self._named.objects:
            named = self._named.objects or "none"
            raise StoreMismatch(
                f"the bucket of {self._home} is {known.objects}, and the settings name {named}",
                hint=f"Set SOUVENANCE_OBJECTS={known.objects}. If you moved it: {_REBIND}.",
            )

    def _check_file(self, known: Binding) -> None:
        if self._named.store is not None:
            return
        if known.store is not None:
            raise self._other_store(known)
        if not exists(self._settings.database) and not self._may_be_empty:
            raise Misconfigured(f"{self._settings.database} is missing", hint=_LOST)

    def _other_store(self, known: Binding) -> StoreMismatch:
        right = f"Set SOUVENANCE_STORE to {known.store}" if known.store else "Leave SOUVENANCE_STORE out"
        return StoreMismatch(
            f"the store of {self._home} is {self._store_name(known)}, and the settings name "
            f"{self._store_name(self._named)}",
            hint=f"{right}, or move the lines with 'souvenance migrate' first. If you moved them already: "
            f"{_REBIND}.",
        )

    def _store_name(self, binding: Binding) -> str:
        return binding.store or str(self._settings.database)


_MEGABYTE = 1 << 20
_SETTLING_STEP_SECONDS = 0.01
_SECRET_BYTES = 32
_PATIENCE = 10.0
_CARRYING_SECONDS = 60.0
_NO_VECTORS = "none: search is by words alone (SOUVENANCE_VECTORS=none)"


class Installation(Struct, frozen=True, eq=False):
    """An open data folder: its gate, and the cap of its owner."""

    gate: Gate
    owner_cap: str
    settings: Settings
    made: bool
    _index: IndexWhenAsked
    _wake: threading.Event
    _worker: Later[Worker]
    _sign_ins: Later[OAuthState]
    _browser_sessions: Later[BrowserSessions]
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
        self._index.load()
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

    @property
    def sign_ins(self) -> OAuthState:
        """Where people and clients sign in."""
        return self._sign_ins()

    @property
    def browser_sessions(self) -> BrowserSessions:
        """Where people sign in to the inspector."""
        return self._browser_sessions()

    def observe(self, observer: Observer) -> None:
        """Have every request, and the work behind the requests, watched from now on."""
        self.gate.observe(observer)
        self.worker.observer = observer

    def tidy(self) -> bool:
        """Do a little for what lines are found by; whether there was anything to do.

        Raises: Unavailable if the store is out of reach.
        """
        return self.worker.tidy()

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

    def repair(self, *, deep: bool = False) -> RepairReport:
        """Give store and bucket each what it lacks of the other; `deep` reads every object, too.

        Raises: SouvenanceError.
        """
        return self._needed_repairer.repair(deep=deep)

    def rebuild(self) -> RepairReport:
        """Make the empty store anew from the bucket. Raises: SouvenanceError."""
        return self._needed_repairer.rebuild()

    @property
    def _needed_repairer(self) -> Repairer:
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

    def hurry(self, workspace: str, session: str) -> None:
        """Have a model read now what waits until that session is quiet. Raises: Unavailable."""
        self.worker.hurry(workspace, session)

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
    index = IndexWhenAsked(settings.index_mb * _MEGABYTE)
    meaning = _meaning(settings, clock, patience)
    services = Services(
        vault=vault,
        index=index,
        entropy=entropy,
        tokenizer=tokenizer,
        reader=Documents(),
        webhook_sender=WebhookSenderWhenAsked(allow_private=settings.webhook_private),
        limits=settings.limits,
        thesaurus=PackagedThesaurus(),
        spelling=PackagedSpelling(tokenizer),
        model=_model(settings, tokenizer, clock, meaning.embedder),
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
        Later(partial(_oauth_state, gate, kept)),
        Later(partial(_browser_sessions, gate, kept)),
    )
    return Installation(
        gate, owner_cap, settings, made, index, wake, *later, sql_store, meaning, services.model, repairer
    )


def _worker(settings: Settings, parts: dict[str, Any]) -> Worker:
    from souvenance.gate.worker import Worker

    return Worker(**parts, secret=partial(_webhook_secret, settings), report=_report)


def _oauth_state(gate: Gate, kept: dict[str, Any]) -> OAuthState:
    from souvenance.gate.oauth_state import OAuthState

    return OAuthState(gate, **kept)


def _browser_sessions(gate: Gate, kept: dict[str, Any]) -> BrowserSessions:
    from souvenance.gate.browser_sessions import BrowserSessions

    return BrowserSessions(gate, **kept)


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

    objects = open_objects(settings.objects)
    store = mirrored(sql_store, entropy, None if rebuilding else objects)
    worker = ReplicationWorker(
        store=sql_store, vault=vault, entropy=entropy, clock=SystemClock(), objects=objects, report=_report
    )
    return store, worker


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
    keyring = KeyFiles.create(home)
    return made, keyring, SqlStore(in_file(settings.database))


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


def _model(settings: Settings, tokenizer: Tokenizer, clock: Clock, embedder: Embedder | None) -> Model | None:
    """The model, if one is configured; only then what speaks to it is loaded.

    Raises: Misconfigured.
    """
    asked = settings.model
    if not asked.endpoints:
        return None
    try:
        from souvenance.adapters.model.endpoint import Endpoint
    except ImportError:
        raise Misconfigured(
            "a model is configured, and httpx is not installed", hint=f"Run: {install('client')}"
        ) from None
    from souvenance.adapters.model.budget import ModelBudget
    from souvenance.adapters.model.reasoner import ModelReasoner

    made: dict[ModelEndpoint, Endpoint] = {}
    for one in asked.endpoints.values():
        if one not in made:
            key = None if one.key is None else secret_of(one.key)
            made[one] = Endpoint(
                one.url,
                one.name,
                key=key,
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
        embed=None if embedder is None else embedder.passages,
    )


def _report(told: str) -> None:
    """What the worker has to say goes where the process logs, or else to standard error."""
    log = logging.getLogger("souvenance.work")
    if log.hasHandlers():
        log.warning("%s", told)
        return
    sys.stderr.write(f"souvenance: {told}\n")
    sys.stderr.flush()


def _webhook_secret(settings: Settings) -> bytes:
    """The configured secret, or the one in the data folder, which is made on its first use."""
    if settings.webhook_secret is not None:
        return settings.webhook_secret.encode()
    path = settings.webhook_key
    with locked(path.parent):
        if not exists(path):
            write_private(path, b64(SystemEntropy().take(_SECRET_BYTES)) + "\n")
    return read_private(path).strip().encode()
