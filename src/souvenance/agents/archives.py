"""An export of a workspace or of one peer: written from the gate's records, and taken in again.

Every request goes through the gate, as any client's. The caller opens the archive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from souvenance.agents.import_memory import Ask
from souvenance.domain import archive_records as r
from souvenance.errors import ArchiveDamaged, Conflict
from souvenance.gate import archive as p
from souvenance.version import __version__

REGISTER, LINES, RULES = PREFIXES = ("register", "lines", "rules")
"""How the names of an archive's members begin, in order: its directory, lines and retention rules."""

_PREFIX_OF = {r.LineRecord: LINES, r.RuleRecord: RULES}
_MEMBER_BYTES = 4 * 1024 * 1024
_PAGE_BYTES = 256 * 1024
_PAGE_RECORDS = 200
_MOST_TOLD = 10


class WritesArchive(Protocol):
    def add(self, name: str, content: bytes) -> None: ...

    def close(self, manifest: r.Manifest) -> r.Manifest: ...


class ReadsArchive(Protocol):
    @property
    def manifest(self) -> r.Manifest: ...

    @property
    def digest(self) -> str: ...

    def lines(self, prefix: str) -> Iterator[bytes]: ...


class WrittenArchive(Struct, frozen=True):
    manifest: r.Manifest
    waiting: int
    """How many messages were still to be reasoned about."""


def export_pages(ask: Ask, owner: str | None) -> Iterator[p.ExportAnswer]:
    """All records of the workspace, or of one peer. Raises: SouvenanceError."""
    cursor = None
    while True:
        page = ask(p.EXPORT, p.Export(owner, cursor))
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def write_archive(
    ask: Ask, archive: WritesArchive, *, workspace: str, owner: str | None, made_at: str
) -> WrittenArchive:
    """Write all records into the archive, and its manifest. Raises: SouvenanceError."""
    counts: Counter[str] = Counter()
    parts = _Parts(archive)
    waiting = 0
    for page in export_pages(ask, owner):
        for record in page.records:
            counts[r.count_name(record)] += 1
            parts.add(_PREFIX_OF.get(type(record), REGISTER), r.encode(record))
        waiting = page.waiting
    parts.end()
    whole = archive.close(
        r.Manifest(
            format=r.FORMAT,
            kind=r.MEMORY,
            made_at=made_at,
            made_by=f"souvenance {__version__}",
            about={"workspace": workspace, **({"owner": owner} if owner else {})},
            counts=dict(sorted(counts.items())),
        )
    )
    return WrittenArchive(whole, waiting)


class _Parts:
    """Records as they are gathered into members, each small enough for memory."""

    def __init__(self, archive: WritesArchive) -> None:
        self._archive = archive
        self._sort = REGISTER
        self._held: list[bytes] = []
        self._size = 0
        self._numbers: Counter[str] = Counter()

    def add(self, sort: str, line: bytes) -> None:
        if sort != self._sort or self._size >= _MEMBER_BYTES:
            self.end()
            self._sort = sort
        self._held.append(line)
        self._size += len(line)

    def end(self) -> None:
        if self._held:
            self._numbers[self._sort] += 1
            self._archive.add(f"{self._sort}-{self._numbers[self._sort]:05}.jsonl", b"".join(self._held))
        self._held, self._size = [], 0


class ArchiveImport:
    """The import of one archive into one workspace. `watch` gets each pass and its number of records."""

    def __init__(self, ask: Ask, archive: ReadsArchive, watch: r.Watch) -> None:
        self._ask = ask
        self._archive = archive
        self._watch = watch
        self._counts = archive.manifest.counts

    def check(self) -> None:
        """Read all of it, and see that nothing here has its names. Changes nothing.

        Raises: ArchiveDamaged; Conflict if something here says something else.
        """
        self._read_through()
        clashes = self._all("check", [REGISTER, RULES], look=True)
        if clashes.conflicts:
            raise differing(
                clashes.conflicts, "Nothing was changed. Name another workspace: --workspace NAME."
            )

    def look(self) -> p.ImportAnswer:
        """What `take` would find new here, the same, and different. Changes nothing."""
        return self._all("check", PREFIXES, look=True)

    def take(self) -> p.ImportAnswer:
        """Take in what is not here yet. What is here and differs stays as it is, and is reported.

        Raises: SouvenanceError; run it again, and it goes on where it stopped.
        """
        digest = self._archive.digest
        self._ask(p.IMPORT_BEGIN, p.ImportBegin(digest, self._counts))
        taken = self._all("import", PREFIXES, look=False)
        if taken.conflicts:
            return taken
        checked = self._all("verify", PREFIXES, look=True)
        if checked.new or checked.conflicts or checked.same != sum(self._counts.values()):
            raise Conflict(
                f"only {checked.same} of {sum(self._counts.values())} records match the archive",
                hint="Something changed meanwhile. Run the import again: it continues where it stopped.",
            )
        self._ask(p.IMPORT_FINISH, p.ImportFinish(digest))
        return taken

    def _read_through(self) -> None:
        """Raises: ArchiveDamaged if not every record can be read, or not so many are there as should be."""
        found: Counter[str] = Counter()
        for prefix in PREFIXES:
            for page in _packed(self._archive.lines(prefix)):
                found.update(map(r.count_name, page))
        if dict(found) != {sort: count for sort, count in self._counts.items() if count}:
            raise ArchiveDamaged("the archive does not hold as many records as its manifest says")

    def _all(self, label: str, prefixes: Iterable[str], *, look: bool) -> p.ImportAnswer:
        new = same = 0
        conflicts: list[str] = []
        with self._watch(label, sum(self._counts.values())) as steps:
            for prefix in prefixes:
                for page in _packed(self._archive.lines(prefix)):
                    answer = self._ask(p.IMPORT, p.Import(page, look))
                    new, same = new + answer.new, same + answer.same
                    conflicts += answer.conflicts
                    steps.update(len(page))
        return p.ImportAnswer(new, same, conflicts)


def differing(conflicts: Sequence[str], hint: str) -> Conflict:
    """The error for what is here with other content."""
    more = f" and {len(conflicts) - _MOST_TOLD} more" if len(conflicts) > _MOST_TOLD else ""
    return Conflict(f"{', '.join(conflicts[:_MOST_TOLD])}{more}: already here, with other content", hint=hint)


def _packed(lines: Iterable[bytes]) -> Iterator[list[r.Record]]:
    """The records of the lines, in pages that one request can carry. Raises: ArchiveDamaged."""
    page: list[r.Record] = []
    size = 0
    for line in lines:
        try:
            record = r.decode(line)
        except msgspec.MsgspecError as error:
            raise ArchiveDamaged(f"a record of the archive can't be read: {error}") from None
        if page and (size + len(line) > _PAGE_BYTES or len(page) == _PAGE_RECORDS):
            yield page
            page, size = [], 0
        page.append(record)
        size += len(line)
    if page:
        yield page
