"""The gate's operations that take memory along: giving its records, taking them, and noting a backup.

Who may read all of a workspace, or all of one owner's, may have it as records; only who may write all of a
workspace may enter any. A backup is the installation's own.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from souvenance.core.archive import import_records
from souvenance.core.archive.records import give
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.request_context import Trace
from souvenance.domain.archive_records import Digest, LineRecord, Record
from souvenance.domain.names import Name
from souvenance.domain.policy import Need, Reach
from souvenance.errors import CapOpMismatch
from souvenance.gate.messages import Answer, Counted, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.gate.rights import Rights

MOST_RECORDS = 500


class Export(Request, frozen=True):
    owner: Name | None = None
    """Only what is this peer's own."""
    cursor: Annotated[str, Meta(max_length=8192)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_RECORDS)] = 200


class ExportAnswer(Answer, frozen=True):
    records: list[Record]
    cursor: str | None
    waiting: int = 0
    """On the last page: how much was still to be reasoned about."""


class ImportBegin(Request, frozen=True):
    digest: Digest
    counts: Annotated[dict[Name, Counted], Meta(max_length=16)]


class ImportBegun(Answer, frozen=True):
    complete: bool
    """Whether the very same import was finished before."""


class Import(Request, frozen=True):
    records: Annotated[list[Record], Meta(max_length=MOST_RECORDS)]
    look: bool = False
    """Only say what would become of them."""


class ImportAnswer(Answer, frozen=True):
    new: int
    same: int
    conflicts: list[str]
    """What is here under that name or id and says something else: it was left as it is."""


class ImportFinish(Request, frozen=True):
    digest: Digest


class ImportFinished(Answer, frozen=True):
    counts: dict[str, int]


class NoteBackup(Request, frozen=True):
    keys: bool
    """Whether the root key goes along."""


class Noted(Answer, frozen=True):
    """Nothing but that it is in the log."""


def _may_export(rights: Rights, request: Export) -> None:
    if request.owner is None:
        rights.workspace()
    else:
        rights.peer(request.owner)


def export(authorised: AuthorisedRequest, request: Export) -> Outcome:
    if "get" not in authorised.chain.grant.ops:
        raise CapOpMismatch("the cap does not grant 'get'")
    page = give(authorised.ctx, request.owner, request.cursor, request.limit)
    ids = [record.id for record in page.records if isinstance(record, LineRecord)]
    answer = ExportAnswer(page.records, page.cursor, page.waiting)
    return Outcome(answer, reading(everywhere(authorised.ctx), ids))


def begin(authorised: AuthorisedRequest, request: ImportBegin) -> Outcome:
    complete = import_records.begin(authorised.ctx, request.digest, request.counts)
    return Outcome(ImportBegun(complete), _noted(authorised, request.digest))


def peek(authorised: AuthorisedRequest, request: Import) -> Outcome | None:
    """What is there already needs no writing."""
    found = import_records.look(authorised.ctx, request.records)
    if not request.look and found.new:
        return None
    return Outcome(
        ImportAnswer(found.new, found.same, found.conflicts),
        Trace(everywhere(authorised.ctx), (), f'{{"looked":{len(request.records)}}}'),
    )


def take(authorised: AuthorisedRequest, request: Import) -> Outcome:
    found, changes = import_records.take(authorised.ctx, request.records)
    trace = changes.trace(same=found.same, conflicts=len(found.conflicts))
    return Outcome(ImportAnswer(found.new, found.same, found.conflicts), trace)


def finish(authorised: AuthorisedRequest, request: ImportFinish) -> Outcome:
    counts = import_records.finish(authorised.ctx, request.digest)
    return Outcome(ImportFinished(counts), _noted(authorised, request.digest))


def note_backup(authorised: AuthorisedRequest, request: NoteBackup) -> Outcome:
    return Outcome(Noted(), Trace((), (), msgspec.json.encode({"keys": request.keys}).decode()))


def _noted(authorised: AuthorisedRequest, digest: str) -> Trace:
    return Trace(everywhere(authorised.ctx), (), msgspec.json.encode({"import": digest}).decode())


EXPORT = Operation(
    "export.page",
    Need("list"),
    Export,
    ExportAnswer,
    export,
    lambda request: Reach(whole_compartments=True, some_compartment=True, actor=request.owner),
    admit=_may_export,
)
_import = partial(
    Operation,
    need=Need("put"),
    reach=lambda request: Reach(whole_compartments=True, some_compartment=True),
    writes=True,
    within=True,
    admit=lambda rights, request: rights.workspace(),
)
IMPORT_BEGIN = _import("import.begin", request=ImportBegin, answer=ImportBegun, work=begin)
IMPORT = _import("import.page", request=Import, answer=ImportAnswer, work=take, rings=True, peek=peek)
IMPORT_FINISH = _import("import.finish", request=ImportFinish, answer=ImportFinished, work=finish)
NOTE_BACKUP = Operation(
    "keep.backup", Need("grant", operator=True), NoteBackup, Noted, note_backup, writes=True
)
