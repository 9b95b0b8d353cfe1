"""An archive of a workspace or of one peer: written from the gate's records, and taken in again; and the same
records as people read them, in JSON or Markdown, in plain words and without what only a machine needs.

Everything is asked of the gate as any client asks it. Where the archive lies is for whoever opens it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec
from msgspec import Struct, field

from souvenance.agents.import_memory import Ask
from souvenance.decoders import settled
from souvenance.domain import archive_records as r
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.line import CARD, CONCLUSIONS, DOCUMENT, MESSAGE, RELAYED, SUMMARY, TOMBSTONE
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import ArchiveDamaged, Conflict
from souvenance.gate import archive as p
from souvenance.version import __version__

REGISTER, LINES = "register", "lines"
"""How the names of an archive's members begin, by what is in them."""
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
            parts.add(LINES if isinstance(record, r.LineRecord) else REGISTER, r.encode(record))
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


class Steps(Protocol):
    """Whoever watches one pass through the archive."""

    def update(self, n_steps: int) -> None: ...


class ArchiveImport:
    """One archive on its way into one workspace. `watch` is told of each pass and how many records it has."""

    def __init__(
        self, ask: Ask, archive: ReadsArchive, watch: Callable[[str, int], AbstractContextManager[Steps]]
    ) -> None:
        self._ask = ask
        self._archive = archive
        self._watch = watch
        self._counts = archive.manifest.counts

    def check(self) -> None:
        """Read all of it, and see that nothing here has its names. Changes nothing.

        Raises: ArchiveDamaged; Conflict if something here says something else.
        """
        self._read_through()
        clashes = self._all("check", [REGISTER], look=True)
        if clashes.conflicts:
            raise differing(
                clashes.conflicts, "Nothing was changed. Name another workspace: --workspace NAME."
            )

    def take(self) -> p.ImportAnswer:
        """Take in what is not here yet; what is here and differs is left as it is, and told.

        Raises: SouvenanceError; run it again, and it goes on where it stopped.
        """
        digest = self._archive.digest
        self._ask(p.IMPORT_BEGIN, p.ImportBegin(digest, self._counts))
        taken = self._all("import", [REGISTER, LINES], look=False)
        if taken.conflicts:
            return taken
        checked = self._all("verify", [REGISTER, LINES], look=True)
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
        for prefix in (REGISTER, LINES):
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


_SAID = frozenset((MESSAGE, DOCUMENT, RELAYED))
_CONCLUDED = frozenset(CONCLUSIONS.values())


class SavedText(Struct, omit_defaults=True):
    """Something that was said or noted: when, whose it is, and what it says."""

    at: str
    who: str
    text: str
    namespace: str
    about: str | None = None
    session: str | None = None
    replaced: bool = False
    """Whether something else was put in its place."""


class SavedCard(Struct, omit_defaults=True):
    kept_by: str
    about: str
    facts: list[str]


class SavedSession(Struct, omit_defaults=True):
    name: str
    messages: list[SavedText] = field(default_factory=list)
    summaries: list[SavedText] = field(default_factory=list)


class ReadableExport(Struct, omit_defaults=True):
    workspace: str
    person: str | None
    """None if it is everybody's."""
    made_at: str
    people: list[str] = field(default_factory=list)
    cards: list[SavedCard] = field(default_factory=list)
    conclusions: list[SavedText] = field(default_factory=list)
    sessions: list[SavedSession] = field(default_factory=list)
    notes: list[SavedText] = field(default_factory=list)


class _CardText(Struct):
    entries: list[CardEntry] | None = None


def readable(
    records: Iterable[r.Record], *, workspace: str, person: str | None, made_at: str
) -> ReadableExport:
    export = ReadableExport(workspace, person, made_at)
    sessions: dict[str, SavedSession] = {}
    lines = [record for record in _noted(records, export) if record.kind != TOMBSTONE]
    for line in sorted(lines, key=lambda line: (line.session or "", line.turn or 0, line.id)):
        if line.kind == CARD:
            if line.invalidated_by is None:
                export.cards.append(SavedCard(line.owner, line.about or line.owner, _facts(line)))
        elif line.kind in _CONCLUDED:
            export.conclusions.append(_saved(line))
        elif line.session is not None and (line.kind in _SAID or line.kind == SUMMARY):
            session = sessions.setdefault(line.session, SavedSession(line.session))
            (session.summaries if line.kind == SUMMARY else session.messages).append(_saved(line))
        else:
            export.notes.append(_saved(line))
    export.sessions = list(sessions.values())
    return export


def _noted(records: Iterable[r.Record], export: ReadableExport) -> Iterator[r.LineRecord]:
    for record in records:
        if isinstance(record, r.LineRecord):
            yield record
        elif isinstance(record, r.PeerRecord) and not record.former:
            export.people.append(record.name)


def _facts(line: r.LineRecord) -> list[str]:
    return [entry.text for entry in msgspec.json.decode(line.text, type=settled(_CardText)).entries or ()]


def _saved(line: r.LineRecord) -> SavedText:
    at = line.created_at if line.occurred_at is None else line.occurred_at
    about = None if line.about == line.owner else line.about
    session = None if line.turn is not None else line.session
    replaced = line.invalidated_by is not None
    moment = to_datetime(at).isoformat(timespec="seconds")
    return SavedText(moment, line.owner, line.text, line.namespace, about, session, replaced)


def as_json(export: ReadableExport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(export), indent=2) + b"\n"


def as_markdown(export: ReadableExport) -> bytes:
    return ("\n".join(_markdown(export)) + "\n").encode()


def _markdown(export: ReadableExport) -> Iterator[str]:
    yield f"# What is remembered {f'of {export.person}' if export.person else f'in {export.workspace}'}"
    yield f"\nWorkspace {export.workspace}, as it was on {export.made_at}."
    for card in export.cards:
        yield f"\n## What {card.kept_by} knows of {card.about}\n"
        yield from (f"- {fact}" for fact in card.facts)
    if export.conclusions:
        yield "\n## Conclusions\n"
        yield from (_item(one, _of(one)) for one in export.conclusions)
    for session in export.sessions:
        yield f"\n## Session {session.name}\n"
        yield from (_item(one, one.who) for one in session.messages)
        yield from (_item(one, "Summary") for one in session.summaries)
    if export.notes:
        yield "\n## Notes\n"
        yield from (_item(one, f"{one.who}, {one.namespace}") for one in export.notes)


def _of(one: SavedText) -> str:
    return f"{one.who} of {one.about}" if one.about else one.who


def _item(one: SavedText, who: str) -> str:
    text = one.text.replace("\n", "\n  ")
    return f"- **{who}**, {one.at[:16].replace('T', ' ')}{' (replaced)' if one.replaced else ''}: {text}"
