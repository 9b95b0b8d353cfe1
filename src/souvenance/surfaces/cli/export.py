"""The command that takes a memory along as an archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import click

from souvenance.domain.archive_records import FORMAT, MEMORY, LineRecord, Manifest, count_name, encode
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.gate import archive as p
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.archives import LINES, OWED, REGISTER, ArchiveFiles, WritesArchive
from souvenance.surfaces.cli.options import DATA, Command, pass_shell
from souvenance.surfaces.cli.session import Shell
from souvenance.version import __version__

_MEMBER_BYTES = 4 * 1024 * 1024


@click.command("export", cls=Command, section=DATA)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--owner", metavar="NAME", help="Only the memory of this peer.")
@click.option(
    "--recipient",
    multiple=True,
    metavar="KEY",
    help="Encrypt it with age for this key (age1… or ssh-ed25519 …); repeat it for more.",
)
@pass_shell
def export(shell: Shell, file: Path, owner: str | None, recipient: tuple[str, ...]) -> None:
    """Write a workspace's memory to FILE.

    FILE must not exist. Without --recipient, its text is not encrypted. --workspace chooses the workspace.
    """
    export_archive(shell, file, shell.transfers.archives, owner=owner, recipients=recipient)


def export_archive(
    shell: Shell,
    path: Path,
    archives: ArchiveFiles,
    *,
    owner: str | None = None,
    recipients: Sequence[str] = (),
) -> None:
    """Write the archive, which is of one moment, and tell what is in it. Raises: SouvenanceError."""
    workspace = _workspace(shell)
    counts: Counter[str] = Counter()
    with archives.writing(path, recipients) as archive, _moment(shell):
        parts = _Parts(archive)
        waiting = 0
        for page in _pages(shell, owner):
            for record in page.records:
                counts[count_name(record)] += 1
                parts.add(LINES if isinstance(record, LineRecord) else REGISTER, encode(record))
            for owed in page.owed:
                parts.add(OWED, encode(owed))
            waiting = page.waiting
        parts.end()
        whole = archive.close(
            Manifest(
                format=FORMAT,
                kind=MEMORY,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                made_by=f"souvenance {__version__}",
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
            rows.append(f"{waiting} messages were still to be reasoned about: {_later(owner)}")
        return "\n".join(rows)

    shell.show(told, text)


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


def _pages(shell: Shell, owner: str | None) -> Iterator[p.ExportAnswer]:
    cursor = None
    while True:
        page = shell.call(p.EXPORT, p.Export(owner, cursor))
        yield page
        cursor = page.cursor
        if cursor is None:
            return


def _moment(shell: Shell) -> AbstractContextManager[None]:
    """A server refuses what is asked here; it is asked all the same, and says so itself."""
    return nullcontext() if shell.is_remote else shell.still()


def _workspace(shell: Shell) -> str:
    """The workspace that the cap of this invocation speaks for."""
    named = shell.call(o.WHOAMI, m.WhoAmI()).wid
    return DEFAULT_WORKSPACE if named == ALL else str(named)


def _later(owner: str | None) -> str:
    if owner is not None:
        return "what follows from them is not in it"
    return "whoever imports it does so"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {sort}s" for sort, count in counts.items()) or "nothing"
