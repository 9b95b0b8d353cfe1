"""Imports that go on behind a page.

A file is looked through first, and taken in once that is confirmed. It stays in memory, counted in the budget
of request bodies, and is let go when its import is over or nobody confirms it. Only the token that sent it
sees what becomes of it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from souvenance.agents.archives import ArchiveImport
from souvenance.agents.import_memory import Ask, ImportTally, ImportTerms, Taking
from souvenance.domain.archive_records import MEMORY
from souvenance.domain.imports import Upload, Wanted
from souvenance.errors import Conflict, InvalidInput, NotFound, SouvenanceError, Unavailable
from souvenance.surfaces.open_memory import ARCHIVE, Transfers

_LOG = logging.getLogger(__name__)
READING, READY, IMPORTING, DONE, FAILED = "reading", "ready", "importing", "done", "failed"
BUSY = (READING, IMPORTING)
_CONFIRM_SECONDS = 30 * 60
"""How long a file waits to be confirmed."""
_MOST_REPORTS = 100
_AT_ONCE = 2


class ImportReport(Struct):
    """What a file holds, or what became of it."""

    kind: str
    counts: dict[str, int] = field(default_factory=dict)
    there: int = 0
    """How many were there already."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many, by why."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Where some of them stand, by why."""
    differ: list[str] = field(default_factory=list)
    """What is here with other content, and was left as it is."""


class MemoryFile:
    """The file of another memory. `progress` gets how many of how many records are done."""

    def __init__(
        self,
        transfers: Transfers,
        ask: Ask,
        file: Upload,
        kind: str | None,
        wanted: Wanted,
        terms: ImportTerms,
    ) -> None:
        """Raises: ImportUnrecognised, ImportUnreadable, InvalidInput."""
        self._reader = transfers.open_source(file, kind, wanted)
        self._ask = ask
        self._terms = replace(terms, kind=self._reader.kind)
        self._total = 0

    def look(self, progress: Callable[[int, int], None]) -> ImportReport:
        """What it holds, and what is there already; nothing is changed. Raises: SouvenanceError."""
        taking = Taking(self._ask, self._terms, lambda tally: progress(tally.seen, 0))
        tally = taking.look_through(self._reader.records())
        self._total = tally.seen
        return self._report(tally)

    def take(self, progress: Callable[[int, int], None]) -> ImportReport:
        """Take in what is not there yet. Raises: SouvenanceError."""
        taking = Taking(self._ask, self._terms, lambda tally: progress(tally.seen, self._total))
        return self._report(taking.take(self._reader.records()))

    def _report(self, tally: ImportTally) -> ImportReport:
        named = ("peers", "sessions", "messages", "conclusions", "cards")
        counts = {name: getattr(tally, name) for name in named if getattr(tally, name)}
        return ImportReport(self._terms.kind, counts, tally.there, dict(tally.skipped), tally.examples)


class ArchiveFile:
    """An export of Souvenance."""

    def __init__(self, transfers: Transfers, ask: Ask, file: Upload) -> None:
        """Raises: ArchiveDamaged, InvalidInput."""
        self._archive = transfers.archives.reading(file)
        if self._archive.manifest.kind != MEMORY:
            raise InvalidInput("that archive is a backup", hint="Restore it: souvenance restore FILE.")
        self._ask = ask

    def look(self, progress: Callable[[int, int], None]) -> ImportReport:
        work = ArchiveImport(self._ask, self._archive, _watching(progress))
        work.check()
        counts = {f"{sort}s": count for sort, count in self._archive.manifest.counts.items()}
        looked = work.look()
        return ImportReport(ARCHIVE, {**counts, "new": looked.new}, looked.same, differ=looked.conflicts)

    def take(self, progress: Callable[[int, int], None]) -> ImportReport:
        taken = ArchiveImport(self._ask, self._archive, _watching(progress)).take()
        return ImportReport(ARCHIVE, {"records": taken.new}, taken.same, differ=taken.conflicts)


ImportWork = MemoryFile | ArchiveFile


class _Pass(Struct):
    """One pass through an archive."""

    progress: Callable[[int, int], None]
    total: int
    done: int = 0

    def update(self, n_steps: int) -> None:
        self.done += n_steps
        self.progress(self.done, self.total)


def _watching(progress: Callable[[int, int], None]) -> Callable[[str, int], AbstractContextManager[_Pass]]:
    @contextmanager
    def watch(label: str, total: int) -> Iterator[_Pass]:
        yield _Pass(progress, total)

    return watch


class ImportRun(Struct, eq=False):
    """What is known of one import."""

    jti: str
    file: str
    workspace: str
    release: Callable[[], None]
    id: str = field(default_factory=partial(secrets.token_urlsafe, 12))
    state: str = READING
    done: int = 0
    total: int = 0
    report: ImportReport | None = None
    trouble: SouvenanceError | None = None
    work: ImportWork | None = None


class Imports:
    """The imports of one server."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_AT_ONCE, "souvenance-imports")
        self._stopped = threading.Event()
        self._runs: dict[str, ImportRun] = {}

    def begin(self, run: ImportRun, opened: Callable[[], ImportWork]) -> None:
        """Look through the file; `opened` opens it. Raises: Conflict while another import goes on."""
        try:
            self._make_room(run.jti)
        except Conflict:
            run.release()
            raise
        self._runs[run.id] = run
        asyncio.get_running_loop().call_later(_CONFIRM_SECONDS, self._let_go, run)

        def look() -> None:
            run.work = opened()
            run.report = run.work.look(self._teller(run))

        self._submit(run, look, READY)

    def confirm(self, run: ImportRun) -> None:
        """Take it in. Raises: Conflict if it was not looked through, or is taken in already."""
        if run.state != READY or run.work is None:
            raise Conflict("there is nothing to confirm", hint="Look at the import again.")
        run.state, run.done, run.total = IMPORTING, 0, run.total or run.done
        work = run.work

        def take() -> None:
            run.report = work.take(self._teller(run))

        self._submit(run, take, DONE)

    def discard(self, run: ImportRun) -> None:
        """Let a file go that waits to be confirmed, or forget what became of it."""
        if run.state not in BUSY:
            self._runs.pop(run.id, None)
            self._free(run)

    def find(self, jti: str, run_id: str) -> ImportRun:
        """Raises: NotFound, also for the import of another token."""
        run = self._runs.get(run_id)
        if run is None or run.jti != jti:
            raise NotFound("there is no such import", hint="Begin a new one. Nothing is added twice.")
        return run

    def stop(self) -> None:
        self._stopped.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _submit(self, run: ImportRun, work: Callable[[], None], then: str) -> None:
        loop = asyncio.get_running_loop()

        def go() -> None:
            try:
                work()
                state = then
            except SouvenanceError as error:
                run.trouble, state = error, FAILED
            except Exception as error:  # noqa: BLE001 - whoever waits must hear that it is over
                _LOG.error("an import broke off: %s", type(error).__name__)
                run.trouble, state = Unavailable("the import broke off", hint="See the server's log."), FAILED
            finally:
                run.state = state
                if state in (DONE, FAILED) and not loop.is_closed():
                    loop.call_soon_threadsafe(self._free, run)

        self._threads.submit(go)

    def _teller(self, run: ImportRun) -> Callable[[int, int], None]:
        def progress(done: int, total: int) -> None:
            run.done, run.total = done, total
            if self._stopped.is_set():
                raise Unavailable(
                    "the server is stopping", hint="Import the file again: nothing is added twice."
                )

        return progress

    def _let_go(self, run: ImportRun) -> None:
        if run.state == READY:
            self.discard(run)

    def _make_room(self, jti: str) -> None:
        """Let go what the token left unconfirmed, and the oldest report. Raises: Conflict."""
        for other in [one for one in self._runs.values() if one.jti == jti]:
            if other.state in BUSY:
                raise Conflict("an import goes on already", hint="Wait until it is over.")
            if other.state == READY:
                self.discard(other)
        if len(self._runs) >= _MOST_REPORTS:
            oldest = next((one for one in self._runs.values() if one.state not in BUSY), None)
            if oldest is None:
                raise Conflict("too many imports go on", hint="Wait until one is over.")
            self.discard(oldest)

    def _free(self, run: ImportRun) -> None:
        """The file is not needed any more. What was released once is not released again."""
        release, run.release, run.work = run.release, lambda: None, None
        release()
