"""The page about data: export, import, backup, and how much is stored."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Protocol

from starlette.responses import Response

from souvenance.agents.archives import write_archive
from souvenance.agents.import_memory import Ask, ImportTerms
from souvenance.domain.archive_records import ARCHIVE as FOR_MACHINES
from souvenance.domain.archive_records import JSON, MARKDOWN
from souvenance.domain.imports import Upload, Wanted
from souvenance.domain.names import namespace as valid_namespace
from souvenance.errors import FileTooLarge, InvalidInput
from souvenance.gate import archive, inspect_work
from souvenance.gate import messages as m
from souvenance.gate.gate import Gate
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.inspector.imports import (
    BUSY,
    ArchiveFile,
    ImportRun,
    Imports,
    ImportWork,
    MemoryFile,
)
from souvenance.surfaces.http.inspector.places import names_of, workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, download, redirect, url
from souvenance.surfaces.http.request_bodies import keep_body
from souvenance.surfaces.open_memory import ARCHIVE, FILES, Transfers

FORMATS = {
    MARKDOWN: "Markdown, to read or open in Obsidian (.zip)",
    JSON: "JSON, to read",
    FOR_MACHINES: "an archive, the smallest",
}
SOURCES = {
    "": "whatever it is recognised as",
    "chatgpt": "a ChatGPT export (.zip or conversations.json)",
    "claude": "a Claude export (.zip or conversations.json)",
    "mem0": "mem0 (.json)",
    "letta": "an agent file of Letta (.af)",
    "episodes": "episodes of Zep or Graphiti (.json)",
    "vault": "a vault of Obsidian or basic-memory (.zip)",
    "mempalace": "an export of MemPalace (.zip)",
    "jsonl": "messages, one a line (.jsonl)",
    "markdown": "notes in Markdown (.md)",
    ARCHIVE: "an export of Souvenance",
}
_ENDINGS = {MARKDOWN: ("zip", "application/zip"), JSON: ("json", "application/json")}
_MOST_EXPORT_BYTES = 256 * 1024 * 1024
_CHUNK = 1024 * 1024


class DataFiles(Protocol):
    """What the page does beyond asking the gate."""

    @property
    def transfers(self) -> Transfers: ...

    @property
    def home(self) -> Path: ...

    def back_up(self, target: Path, *, recipients: Sequence[str]) -> Any:
        """Write a backup of the installation into a new file. Raises: SouvenanceError."""


class DataPages:
    """The pages and actions; they share what goes on behind them."""

    def __init__(self, files: DataFiles) -> None:
        self._files = files
        self._imports = Imports()
        self._threads = ThreadPoolExecutor(2, "souvenance-exports")
        self.ENDPOINTS = {
            "GET /inspect/data": partial(self._shown, {}),
            "GET /inspect/data/stored": partial(self._counted, ("owner", "namespace")),
            "GET /inspect/data/kinds": partial(self._counted, ("kind",)),
            "GET /inspect/data/imports/{id}": self.import_,
            "POST /inspect/data/export": self.export,
            "POST /inspect/data/import": self.begin_import,
            "POST /inspect/data/imports/{id}/start": self.start_import,
            "POST /inspect/data/imports/{id}/discard": self.discard_import,
            "POST /inspect/data/backup": self.backup,
        }

    def close(self) -> None:
        self._imports.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _counted(self, by: Sequence[str], visit: Visit) -> Response:
        """How much is stored. To count it takes a while, so the page comes without it first."""
        asked = inspect_work.Storage(
            workspace_id=workspace_of(visit),
            owner=None if visit.is_whole else visit.who.sub,
            by_kind=by == ("kind",),
        )
        found = await visit.ask(inspect_work.STORAGE, asked)
        counted = {one: found and _sums(found.stored, at) for at, one in enumerate(by)}
        if "hx-request" not in visit.request.headers:
            return await self._shown(counted, visit)
        return visit.page("stored.html", workspace=asked.workspace_id, counted=counted, by=by)

    async def _shown(self, counted: Mapping[str, Any], visit: Visit) -> Response:
        workspace = workspace_of(visit)
        workspaces, names = await asyncio.gather(workspaces_of(visit), names_of(visit, workspace))
        return visit.page(
            "data.html",
            workspace=workspace,
            workspaces=workspaces,
            names=names,
            counted=counted,
            formats=FORMATS,
            sources=SOURCES,
        )

    async def export(self, visit: Visit) -> Response:
        fields = await visit.form()
        workspace = fields.get("w") or workspace_of(visit)
        person = fields.get("person", "").strip() or None
        if not visit.is_whole:
            person = person or visit.who.sub
        kind = fields.get("format", "")
        if kind not in FORMATS:
            raise InvalidInput("choose a format")
        credentials = visit.credentials(workspace)
        content = await self._in_thread(
            lambda: self._exported(visit.gate, credentials, workspace, person, kind)
        )
        ending, media = _ENDINGS.get(kind, ("souvenance", "application/gzip"))
        name = "".join(one if one.isascii() and one.isalnum() else "-" for one in person or workspace)
        return download(content, f"souvenance-{name}.{ending}", media)

    def _exported(
        self, gate: Gate, credentials: Credentials, workspace: str, person: str | None, kind: str
    ) -> bytes:
        """As it is at one moment. Raises: SouvenanceError."""
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        sink = _BoundedSink()
        with gate.still() as still, self._files.transfers.archives.packing(sink, kind) as into:
            ask = _asking(still, credentials)
            write_archive(ask, into, workspace=workspace, owner=person, made_at=made_at)
        return sink.getvalue()

    async def begin_import(self, visit: Visit) -> Response:
        workspace = workspace_of(visit)
        await visit.call(archive.IMPORT, archive.Import([], look=True), workspace)  # May this token import?
        fields, file = await visit.form_with_file()
        kind = fields.get("kind") or None
        if kind is not None and kind not in FILES:
            raise InvalidInput("choose what it is")
        namespace = fields.get("namespace", "").strip()
        person = fields.get("person", "").strip()
        terms = ImportTerms(
            kind or "",
            datetime.now(UTC),
            workspace,
            valid_namespace(namespace) if namespace else None,
            own_words=fields.get("own_words") == "yes",
        )
        wanted = Wanted(peer=person or visit.who.sub, renamed=bool(person))
        ask = _asking(visit.gate, visit.credentials(workspace))
        run = ImportRun(visit.who.jti, file.name, workspace, keep_body(visit.request))
        self._imports.begin(run, lambda: self._opened(ask, file, kind, wanted, terms))
        return redirect(url("data", "imports", run.id))

    def _opened(
        self, ask: Ask, file: Upload, kind: str | None, wanted: Wanted, terms: ImportTerms
    ) -> ImportWork:
        transfers = self._files.transfers
        if kind == ARCHIVE or (kind is None and transfers.archives.is_archive(file)):
            return ArchiveFile(transfers, ask, file)
        return MemoryFile(transfers, ask, file, kind, wanted, terms)

    async def import_(self, visit: Visit) -> Response:
        run = self._imports.find(visit.who.jti, visit.path["id"])
        state, report = run.state, run.report  # In this order: the report is there before the state says so.
        return visit.page(
            "import_state.html" if "hx-request" in visit.request.headers else "import.html",
            run=run,
            state=state,
            busy=state in BUSY,
            report=report,
            kind="" if report is None else SOURCES[report.kind].partition(" (")[0],
        )

    async def start_import(self, visit: Visit) -> Response:
        await visit.form()
        run = self._imports.find(visit.who.jti, visit.path["id"])
        self._imports.confirm(run)
        return redirect(url("data", "imports", run.id))

    async def discard_import(self, visit: Visit) -> Response:
        await visit.form()
        self._imports.discard(self._imports.find(visit.who.jti, visit.path["id"]))
        return redirect(url("data"))

    async def backup(self, visit: Visit) -> Response:
        fields = await visit.form()
        recipients = [one for one in fields.get("recipient", "").split("\n") if one.strip()]
        await visit.call(archive.NOTE_BACKUP, archive.NoteBackup(keys=False))
        file = await self._in_thread(lambda: self._backed_up(recipients))
        today = datetime.now(UTC).date().isoformat()
        return download(_pieces(file), f"souvenance-backup-{today}.souvenance", "application/gzip")

    def _backed_up(self, recipients: Sequence[str]) -> IO[bytes]:
        """The backup, in a file of the data folder that has no name any more. Raises: SouvenanceError.

        The keys are not in it: they leave the machine by no door.
        """
        target = self._files.home / f".backup-{secrets.token_hex(8)}.tmp"
        self._files.back_up(target, recipients=recipients)
        file = target.open("rb")
        target.unlink()
        return file

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class _BoundedSink(BytesIO):
    def write(self, content: Any) -> int:
        if self.tell() + len(content) > _MOST_EXPORT_BYTES:
            raise FileTooLarge(
                f"the export is larger than {_MOST_EXPORT_BYTES // (1 << 20)} MB",
                hint="Export it on the command line: souvenance export FILE.",
            )
        return super().write(content)


def _asking(gate: Gate, credentials: Credentials) -> Ask:
    def ask(operation: Operation, request: m.Request) -> Any:
        return gate.call(operation, credentials, m.checked(request))

    return ask


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            yield piece


def _sums(stored: Iterable[inspect_work.Stored], at: int) -> list[tuple[str, int, int]]:
    """Lines and bytes by the name at that place, the most first."""
    lines: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for one in stored:
        lines[one.names[at]] += one.lines
        size[one.names[at]] += one.bytes
    return [(name, count, size[name]) for name, count in lines.most_common()]
