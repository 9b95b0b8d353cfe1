"""Commands that take memory along: export to an archive, and import from one or from another memory."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from souvenance.agents.archives import ArchiveImport, differing, write_archive
from souvenance.agents.import_memory import ImportTally, ImportTerms, Taking
from souvenance.decoders import settled
from souvenance.domain.archive_records import FORMS, JSON, MARKDOWN, MEMORY
from souvenance.domain.imports import ImportReader, Wanted
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.names import namespace as valid_namespace
from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.files import file_text
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.resource import NewName
from souvenance.gate.operation import Operation
from souvenance.patterns import pattern
from souvenance.surfaces.cli.output import counted, progress
from souvenance.surfaces.cli.session import DATA, EXISTING_FILE, Command, Shell, pass_shell, recipients
from souvenance.surfaces.open_memory import ARCHIVE, KINDS, ArchiveFiles


@click.command("export", cls=Command, section=DATA)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--owner", metavar="NAME", help="Only the memory of this peer.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="An archive, a folder or .zip of Markdown, or JSON [default: by FILE's ending, else archive].",
)
@recipients
@pass_shell
def export(shell: Shell, file: Path, owner: str | None, form: str | None, recipient: tuple[str, ...]) -> None:
    """Write a workspace's memory to FILE.

    FILE must not exist. Without --recipient, its text is not encrypted. --workspace chooses the workspace.
    """
    form = form or {".zip": MARKDOWN, ".json": JSON}.get(file.suffix.lower(), FORMS[0])
    export_archive(shell, file, shell.transfers.archives, owner=owner, recipients=recipient, form=form)


def export_archive(
    shell: Shell,
    path: Path,
    archives: ArchiveFiles,
    *,
    owner: str | None = None,
    recipients: Sequence[str] = (),
    form: str = FORMS[0],
) -> None:
    """Write the export, which is of one moment, and tell what is in it. Raises: SouvenanceError."""
    workspace = shell.own_workspace()
    # A server refuses what is asked here; it is asked all the same, and says so itself.
    with (
        archives.writing(path, recipients, form) as archive,
        nullcontext() if shell.is_remote else shell.still(),
    ):
        written = write_archive(
            shell.call,
            archive,
            workspace=workspace,
            owner=owner,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    counts, waiting = written.manifest.counts, written.waiting
    result = {"file": str(path), "workspace": workspace, "counts": counts, "waiting": waiting}

    def rows() -> Iterator[str]:
        contents = ", ".join(counted(count, sort) for sort, count in counts.items()) or "nothing"
        yield f"{path}: workspace {workspace}, {contents}"
        if owner is not None and not (counts.get("line") or counts.get("peer")):
            yield f"nothing is stored of {owner}: check the name"
        if not recipients:
            other = ", or use --recipient" if form == FORMS[0] else ""
            yield f"it holds text in the open: keep it where only you can read it{other}"
        if waiting:
            yield (
                f"without what follows from {counted(waiting, 'message')} still to be reasoned about:"
                " export again when 'souvenance work' or a server is done with that"
            )

    shell.show(result, rows)


def import_archive(
    shell: Shell, path: Path, archives: ArchiveFiles, *, identity: Path | None, dry_run: bool = False
) -> None:
    """Take in all of an archive, or only look, and say what became of it. Raises: SouvenanceError."""
    archive = archives.reading(path, identity)
    if archive.manifest.kind != MEMORY:
        raise InvalidInput("that archive is a backup", hint="Run: souvenance restore FILE")
    workspace = shell.workspace or str(archive.manifest.about.get("workspace", ""))
    if not workspace:
        raise InvalidInput("the archive names no workspace", hint="Name one: --workspace NAME.")

    def ask(operation: Operation, request: m.Request) -> Any:
        return shell.call(operation, request, workspace=workspace)

    def watch(label: str, count: int) -> Any:
        return progress(label, count, hidden=shell.json, show_pos=True)

    work = ArchiveImport(ask, archive, watch)
    work.check()
    taken = work.look() if dry_run else work.take()
    complete = not (dry_run or taken.conflicts)
    would, were = ("would be ", "are") if dry_run else ("", "were")
    differ = f", {len(taken.conflicts)} differ" if taken.conflicts else ""
    shell.show(
        {"workspace": workspace, "complete": complete, **msgspec.to_builtins(taken)},
        lambda: (
            f"workspace {workspace}: {counted(taken.new, 'record')} {would}imported,"
            f" {taken.same} {were} here already{differ}"
        ),
    )
    if taken.conflicts:
        raise differing(taken.conflicts, "What is here stays as it is. An import adds all the rest.")


_TELL_EVERY = 1000
_URL = pattern(r"^(https?://)(?:[^/]*@)?", re.IGNORECASE)
"""How a URL begins, and in its second half what nobody should read."""


@click.command("import", cls=Command, section=DATA)
@click.argument("source", metavar="PATH_OR_URL")
@click.option("--from", "kind", type=click.Choice(KINDS), help="The format [default: recognised].")
@click.option("--peer", help="Whose memory it becomes [default: your own].")
@click.option("--namespace", "-n", help="The namespace to import into.")
@click.option("--key-file", type=EXISTING_FILE, help="File with the key of a Honcho server [HONCHO_API_KEY].")
@click.option("--identity", type=EXISTING_FILE, help="The age key that decrypts an export.")
@click.option(
    "--own-words", is_flag=True, help="Trust the source: take its text as your own words, and its cards too."
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported. Import nothing.")
@pass_shell
def take(
    shell: Shell,
    source: str,
    kind: str | None,
    peer: str | None,
    namespace: str | None,
    key_file: Path | None,
    identity: Path | None,
    own_words: bool,
    dry_run: bool,
) -> None:
    """Import what another memory holds, notes, or an export.

    PATH_OR_URL is a file, a folder of Markdown or a Honcho server. Nothing is added twice: if an import
    stops, run it again.
    """
    shell.makes, archives = True, shell.transfers.archives
    path = Path(source).expanduser()
    if kind == ARCHIVE or (kind is None and path.exists() and archives.is_archive(path)):
        import_archive(shell, path, archives, identity=identity, dry_run=dry_run)
        return
    me = shell.call(o.WHOAMI, m.Nothing())
    by_url = _URL.match(source) is not None
    wanted = Wanted(
        peer=me.sub if peer is None and by_url else _name(peer or me.sub),
        renamed=peer is not None,
        workspace=shell.workspace,
        key=os.environ.get("HONCHO_API_KEY") if key_file is None else file_text(key_file),
    )
    reader = shell.transfers.open_source(source, kind, wanted)
    if peer is not None and reader.kind == "honcho":
        raise InvalidInput("peers of a Honcho server keep their names", hint="Leave --peer out.")
    home = DEFAULT_WORKSPACE if me.wid == ALL else me.wid
    terms = ImportTerms(
        kind=reader.kind,
        now=datetime.now(UTC),
        workspace=shell.workspace or (None if reader.kind == "honcho" else home),
        namespace=None if namespace is None else valid_namespace(namespace),
        lenient=not reader.again,
        own_words=own_words,
    )
    _import(shell, _URL.sub(r"\1", source), reader, terms, dry_run=dry_run)


def _name(peer: str) -> str:
    """The name, if a peer can have it. Raises: InvalidInput."""
    try:
        return msgspec.convert(peer, settled(NewName))
    except msgspec.ValidationError:
        raise InvalidInput(
            "a peer's name may only have letters, digits, '-' and '_'",
            hint="Say whose words they are: --peer NAME.",
        ) from None


def _import(shell: Shell, source: str, reader: ImportReader, terms: ImportTerms, *, dry_run: bool) -> None:
    total: ImportTally | None = None
    if reader.again or dry_run:
        with _Progress("read", None) as progress:
            total = Taking(shell.call, terms, progress.tell).look_through(reader.records())
    if dry_run and total is not None:
        _show(shell, total, terms, f"{source} holds")
        return
    with _Progress("imported", None if total is None else total.seen) as progress:
        taking = Taking(shell.call, terms, progress.tell)
        try:
            taking.take(reader.records())
        except (SouvenanceError, KeyboardInterrupt):
            if taking.tally.seen:
                click.echo(f"stopped after {_counts(taking.tally)}: import it again to go on", err=True)
            raise
    _show(shell, taking.tally, terms, f"from {source}:")


def _show(shell: Shell, tally: ImportTally, terms: ImportTerms, said: str) -> None:
    result = {"from": terms.kind, **msgspec.to_builtins(tally)}

    def rows() -> Iterator[str]:
        yield f"{said} {_counts(tally)}"
        if tally.there:
            yield f"  {tally.there} were there already"
        for why, count in sorted(tally.skipped.items()):
            yield f"  left out: {why} ({count}), such as {tally.examples[why][0]}"

    shell.show(result, rows)


def _counts(tally: ImportTally) -> str:
    always = ("peer", "session", "message", "conclusion")
    named = (*(("workspace",) if tally.workspaces else ()), *always, *(("card",) if tally.cards else ()))
    return ", ".join(counted(getattr(tally, f"{one}s"), one) for one in named)


class _Progress:
    """Counts on standard error: in place on a terminal, else a line now and then."""

    def __init__(self, done: str, total: int | None) -> None:
        self._done = done
        self._of = "" if total is None else f" of {total}"
        self._in_place = sys.stderr.isatty()
        self._shown = 0
        self._every = 50 if self._in_place else _TELL_EVERY

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *ended: object) -> None:
        if self._in_place and self._shown:
            click.echo("\r\033[K", err=True, nl=False)

    def tell(self, tally: ImportTally) -> None:
        if tally.seen - self._shown >= self._every:
            self._shown = tally.seen
            line = f"{self._done} {tally.seen}{self._of} lines"
            click.echo(f"\r\033[K{line}" if self._in_place else line, err=True, nl=not self._in_place)
