"""How an archive of Souvenance's own comes in: looked through, taken in, and looked at again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from souvenance.domain.archive_records import MEMORY, Owed, count_name, decode, decode_owed
from souvenance.errors import ArchiveDamaged, Conflict, InvalidInput
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.surfaces.cli.archives import LINES, OWED, REGISTER, ArchiveFiles, ArchiveReader
from souvenance.surfaces.cli.session import Shell

_One = TypeVar("_One")

_PAGE_BYTES = 256 * 1024
_PAGE_RECORDS = 200
_MOST_TOLD = 10


def import_archive(shell: Shell, path: Path, archives: ArchiveFiles, *, identity: Path | None) -> None:
    """Take in all of an archive, and tell what became of it.

    Raises: SouvenanceError; Conflict if something here says something else than the archive.
    """
    archive = archives.reading(path, identity)
    if archive.manifest.kind != MEMORY:
        raise InvalidInput("that archive is a backup", hint="Run: souvenance restore FILE")
    workspace = shell.workspace or str(archive.manifest.about.get("workspace", ""))
    if not workspace:
        raise InvalidInput("the archive names no workspace", hint="Name one: --workspace NAME.")
    _Import(shell, archive, workspace).run()


class _Import:
    """One archive on its way into one workspace."""

    def __init__(self, shell: Shell, archive: ArchiveReader, workspace: str) -> None:
        self._shell = shell
        self._archive = archive
        self._workspace = workspace
        self._counts = archive.manifest.counts

    def run(self) -> None:
        """Raises: SouvenanceError."""
        self._read_through()
        clashes = self._all("check", [REGISTER], look=True)
        if clashes.conflicts:
            self._refuse(
                clashes.conflicts, "Nothing was changed. Give it another name here: --workspace NAME."
            )
        digest = self._archive.digest
        self._call(p.IMPORT_BEGIN, p.ImportBegin(digest, self._counts))
        taken = self._all("import", [REGISTER, LINES], look=False)
        if taken.conflicts:
            self._tell(taken, complete=False)
            self._refuse(taken.conflicts, "They were left as they are here; all else was imported.")
        checked = self._all("verify", [REGISTER, LINES], look=True)
        if checked.new or checked.conflicts or checked.same != sum(self._counts.values()):
            raise Conflict(
                f"of {sum(self._counts.values())} records {checked.same} are here as the archive has them",
                hint="Something was changed meanwhile. Run the import again: it goes on where it ended.",
            )
        first = 0
        for owed in self._owed():
            self._call(p.IMPORT_FINISH, p.ImportFinish(digest, tuple(owed), first, more=True))
            first += len(owed)
        self._call(p.IMPORT_FINISH, p.ImportFinish(digest))
        self._tell(taken, complete=True)

    def _read_through(self) -> None:
        """Raises: ArchiveDamaged if not every record can be read, or not so many are there as should be."""
        found: Counter[str] = Counter()
        for prefix in (REGISTER, LINES):
            for page in _packed(self._archive.lines(prefix), decode):
                found.update(map(count_name, page))
        for _ in self._owed():
            pass
        if dict(found) != {sort: count for sort, count in self._counts.items() if count}:
            raise ArchiveDamaged("the archive does not hold as many records as its manifest says")

    def _owed(self) -> Iterator[list[Owed]]:
        """The work that came along, in parts that one request can carry. Raises: ArchiveDamaged."""
        return _packed(self._archive.lines(OWED), decode_owed)

    def _all(self, label: str, prefixes: Iterable[str], *, look: bool) -> p.ImportAnswer:
        new = same = 0
        conflicts: list[str] = []
        with _bar(self._shell, label, sum(self._counts.values())) as bar:
            for prefix in prefixes:
                for page in _packed(self._archive.lines(prefix), decode):
                    answer = self._call(p.IMPORT, p.Import(page, look))
                    new, same = new + answer.new, same + answer.same
                    conflicts += answer.conflicts
                    bar.update(len(page))
        return p.ImportAnswer(new, same, conflicts)

    def _call(self, operation: Any, request: m.Request) -> Any:
        return self._shell.call(operation, request, workspace=self._workspace)

    def _tell(self, taken: p.ImportAnswer, *, complete: bool) -> None:
        told = {"workspace": self._workspace, "complete": complete, **msgspec.to_builtins(taken)}
        self._shell.show(
            told,
            lambda: (
                f"workspace {self._workspace}: {taken.new} records imported, {taken.same} were here already"
                + ("" if complete else f", {len(taken.conflicts)} differ")
            ),
        )

    def _refuse(self, conflicts: Sequence[str], hint: str) -> None:
        more = f" and {len(conflicts) - _MOST_TOLD} more" if len(conflicts) > _MOST_TOLD else ""
        raise Conflict(
            f"{', '.join(conflicts[:_MOST_TOLD])}{more}: here already, saying something else", hint=hint
        )


def _packed(lines: Iterable[bytes], read: Callable[[bytes], _One]) -> Iterator[list[_One]]:
    """What the lines say, in pages that one request can carry. Raises: ArchiveDamaged."""
    page: list[_One] = []
    size = 0
    for line in lines:
        try:
            record = read(line)
        except msgspec.MsgspecError as error:
            raise ArchiveDamaged(f"a record of the archive can't be read: {error}") from None
        if page and (size + len(line) > _PAGE_BYTES or len(page) == _PAGE_RECORDS):
            yield page
            page, size = [], 0
        page.append(record)
        size += len(line)
    if page:
        yield page


class _Unseen:
    """In place of a bar, where nobody looks."""

    def update(self, steps: int) -> None:
        """Nothing is shown."""


def _bar(shell: Shell, label: str, length: int) -> Any:
    if shell.json or not sys.stderr.isatty():
        return nullcontext(_Unseen())
    return click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True)
