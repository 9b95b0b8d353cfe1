"""The command that takes a memory along as an archive, and how an archive comes in again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import click
import msgspec

from mnemon.domain.names import ALL, DEFAULT_WORKSPACE
from mnemon.domain.portable import FORMAT, MEMORY, LineRecord, Manifest, Record, count_name, decode, encode
from mnemon.errors import ArchiveDamaged, Conflict, InvalidInput
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.gate import portable as p
from mnemon.surfaces.cli.options import Command, pass_shell
from mnemon.surfaces.cli.shell import Shell
from mnemon.version import __version__

_MEMBER_BYTES = 4 * 1024 * 1024
_PAGE_BYTES = 256 * 1024
_PAGE_RECORDS = 200
_MOST_TOLD = 10
REGISTER, LINES = "register", "lines"


class ArchiveWriter(Protocol):
    def add(self, name: str, content: bytes) -> None: ...

    def close(self, manifest: Manifest) -> Manifest: ...


class ArchiveReader(Protocol):
    @property
    def manifest(self) -> Manifest: ...

    @property
    def digest(self) -> str: ...

    def lines(self, prefix: str) -> Iterator[bytes]: ...


class Archives(Protocol):
    """Where archives are written to and read from; what is read was verified from beginning to end."""

    def writing(
        self, path: Path, recipients: Sequence[str] = ()
    ) -> AbstractContextManager[ArchiveWriter]: ...

    def reading(self, path: Path, identity: Path | None = None) -> ArchiveReader: ...

    def is_archive(self, path: Path) -> bool: ...


def export_command(archives: Archives) -> click.Command:
    """`mnemon export`."""

    @click.command("export", cls=Command)
    @click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
    @click.option("--owner", metavar="NAME", help="Only what is this peer's own.")
    @click.option(
        "--recipient",
        multiple=True,
        metavar="KEY",
        help="Encrypt it with age, for this recipient (age1… or ssh-ed25519 …); may be given again.",
    )
    @pass_shell
    def export(shell: Shell, file: Path, owner: str | None, recipient: tuple[str, ...]) -> None:
        """Write a workspace's memory to FILE, which must not exist.

        The archive holds text in the open unless it has a recipient. --workspace says which workspace.
        """
        export_archive(shell, file, archives, owner=owner, recipients=recipient)

    return export


def export_archive(
    shell: Shell, path: Path, archives: Archives, *, owner: str | None = None, recipients: Sequence[str] = ()
) -> None:
    """Write the archive, and tell what is in it. Raises: MnemonError."""
    workspace = _workspace(shell)
    counts: Counter[str] = Counter()
    with archives.writing(path, recipients) as archive:
        parts = _Parts(archive)
        waiting = 0
        for page in _pages(shell, owner):
            for record in page.records:
                counts[count_name(record)] += 1
                parts.add(LINES if isinstance(record, LineRecord) else REGISTER, encode(record))
            waiting = page.waiting
        parts.end()
        whole = archive.close(
            Manifest(
                format=FORMAT,
                kind=MEMORY,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                made_by=f"mnemon {__version__}",
                about={"workspace": workspace, **({"owner": owner} if owner else {})},
                counts=dict(sorted(counts.items())),
            )
        )
    told = {"file": str(path), "workspace": workspace, "counts": whole.counts, "waiting": waiting}

    def text() -> str:
        rows = [f"{path}: workspace {workspace}, {_counted(whole.counts)}"]
        if not recipients:
            rows.append("it holds text in the open: keep it where only you can read it, or use --recipient")
        if waiting:
            rows.append(f"{waiting} messages were still to be reasoned about: what follows is not in it")
        return "\n".join(rows)

    shell.show(told, text)


def import_archive(
    shell: Shell, path: Path, archives: Archives, *, identity: Path | None = None, into: str | None = None
) -> None:
    """Take in all of an archive, and tell what became of it.

    Raises: MnemonError; Conflict if something here says something else than the archive.
    """
    archive = archives.reading(path, identity)
    if archive.manifest.kind != MEMORY:
        raise InvalidInput("that archive is a backup", hint="Run: mnemon restore FILE")
    workspace = into or shell.workspace or str(archive.manifest.about.get("workspace", ""))
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
        """Raises: MnemonError."""
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
        self._call(p.IMPORT_FINISH, p.ImportFinish(digest))
        self._tell(taken, complete=True)

    def _read_through(self) -> None:
        """Raises: ArchiveDamaged if not every record can be read, or not so many are there as should be."""
        found: Counter[str] = Counter()
        for prefix in (REGISTER, LINES):
            for page in _packed(self._archive.lines(prefix)):
                found.update(map(count_name, page))
        if dict(found) != {sort: count for sort, count in self._counts.items() if count}:
            raise ArchiveDamaged("the archive does not hold as many records as its manifest says")

    def _all(self, label: str, prefixes: Iterable[str], *, look: bool) -> p.ImportAnswer:
        new = same = 0
        conflicts: list[str] = []
        with _bar(self._shell, label, sum(self._counts.values())) as bar:
            for prefix in prefixes:
                for page in _packed(self._archive.lines(prefix)):
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


class _Parts:
    """Records as they are gathered into members, each small enough for memory."""

    def __init__(self, archive: ArchiveWriter) -> None:
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


def _pages(shell: Shell, owner: str | None) -> Iterator[p.ExportAnswer]:
    cursor = None
    while True:
        page = shell.call(p.EXPORT, p.Export(owner, cursor))
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def _packed(lines: Iterable[bytes]) -> Iterator[list[Record]]:
    """Records in pages that one request can carry. Raises: ArchiveDamaged."""
    page: list[Record] = []
    size = 0
    for line in lines:
        try:
            record = decode(line)
        except msgspec.MsgspecError as error:
            raise ArchiveDamaged(f"a record of the archive can't be read: {error}") from None
        if page and (size + len(line) > _PAGE_BYTES or len(page) == _PAGE_RECORDS):
            yield page
            page, size = [], 0
        page.append(record)
        size += len(line)
    if page:
        yield page


def _workspace(shell: Shell) -> str:
    """The workspace that the cap of this invocation speaks for."""
    named = shell.call(o.WHOAMI, m.WhoAmI()).wid
    return DEFAULT_WORKSPACE if named == ALL else str(named)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {sort}s" for sort, count in counts.items()) or "nothing"


class _Unseen:
    """In place of a bar, where nobody looks."""

    def update(self, steps: int) -> None:
        """Nothing is shown."""


def _bar(shell: Shell, label: str, length: int) -> Any:
    if shell.json or not sys.stderr.isatty():
        return nullcontext(_Unseen())
    return click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True)
