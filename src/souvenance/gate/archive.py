"""The gate's operations that take memory along: giving its records, taking them, and noting a backup.

Who may read all of a workspace, or all of one owner's, may have it as records; only who may write all of a
workspace may enter any. A backup is the installation's own.

Records that are taken become entries and lines of this store, with their ids and times. What is there already
and says the same is passed over; what says something else stays as it is here, and is named. So a page may be
taken any number of times, and an import that was interrupted is gone on with. What an import should bring is
noted, and it is complete only when all of it arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from souvenance.core import archive as kept
from souvenance.core import retention_rules
from souvenance.core.conversation import directory
from souvenance.core.conversation.cards import KeptCard
from souvenance.core.conversation.compartments import Changes, denied, everywhere, reading
from souvenance.core.conversation.summarise import is_note
from souvenance.core.request_context import RequestContext, Trace
from souvenance.decoders import decoded, settled
from souvenance.domain import archive_records as r
from souvenance.domain import names
from souvenance.domain.archive_records import LineRecord, Record
from souvenance.domain.content import check_characters, check_text, encode_metadata
from souvenance.domain.directory import MEMBER, SESSION, Entry, Membership
from souvenance.domain.line import CARD, MESSAGE, SUMMARY, TOMBSTONE, shared_fields
from souvenance.domain.names import SESSIONS, Compartment, Name, grouped
from souvenance.domain.policy import Reach
from souvenance.domain.retention import RetentionRule
from souvenance.errors import CapOpMismatch, Conflict, InvalidInput, NotFound, Tampered
from souvenance.gate import retention
from souvenance.gate.messages import Answer, Counted, Done, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, declare, operation, whole_or_owner

MOST_RECORDS = 500
IMPORT_ENTRY = "import"
"""Kind of the entry that says what an import should bring, and whether all of it is there."""
_LINE_SORT = "line"
_SORTS = {"peer": ("peer", "former"), "rule": (retention_rules.ENTRY,)}
"""What the directory knows records of a sort as, if not by its name."""
_SPOKEN = 64 * 1024 * 1024


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
    digest: r.Digest
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
    digest: r.Digest


class ImportFinished(Answer, frozen=True):
    counts: dict[str, int]


class NoteBackup(Request, frozen=True):
    keys: bool
    """Whether the root key goes along."""


def export(authorised: AuthorisedRequest, request: Export) -> Outcome:
    if "get" not in authorised.chain.grant.ops:
        raise CapOpMismatch("the cap does not grant 'get'")
    answer = ExportAnswer(*kept.give(authorised.ctx, request.owner, request.cursor, request.limit))
    ids = [record.id for record in answer.records if isinstance(record, LineRecord)]
    return Outcome(answer, reading(everywhere(authorised.ctx), ids))


def begin(authorised: AuthorisedRequest, request: ImportBegin) -> Outcome:
    """Note what an import should bring, unless that was noted before."""
    ctx, digest = authorised.ctx, request.digest
    known = ctx.tx.directory.entry(ctx.scope.workspace, IMPORT_ENTRY, digest)
    if known is None:
        metadata = msgspec.json.encode(_Expected(request.counts)).decode()
        entry = Entry(ctx.scope.workspace, IMPORT_ENTRY, digest, ctx.fresh_id(), ctx.now, metadata=metadata)
        ctx.tx.directory.add(entry)
    complete = known is not None and _expected(known).complete
    return Outcome(ImportBegun(complete), _noted(authorised, digest))


def peek(authorised: AuthorisedRequest, request: Import) -> Outcome | None:
    """What is there already needs no writing."""
    found = _ComparedRecords(authorised, request, writes=False)
    if not request.look and found.new:
        return None
    detail = f'{{"looked":{len(request.records)}}}'
    return Outcome(found.answer, Trace(everywhere(authorised.ctx), (), detail))


def take(authorised: AuthorisedRequest, request: Import) -> Outcome:
    """Raises: InvalidInput, LimitExceeded, NamespaceDenied, Tampered."""
    found = _ComparedRecords(authorised, request, writes=True)
    rules = {"rules": found.rules} if found.rules else {}
    trace = found.changes.trace(same=found.same, conflicts=len(found.conflicts), **rules)
    return Outcome(found.answer, trace)


def finish(authorised: AuthorisedRequest, request: ImportFinish) -> Outcome:
    """Mark an import as complete; how many records there are now, by sort. Raises: NotFound, Conflict."""
    ctx = authorised.ctx
    ctx.tx.lines.hide(None)
    known = ctx.tx.directory.entry(ctx.scope.workspace, IMPORT_ENTRY, request.digest)
    if known is None:
        raise NotFound("there is no such import")
    expected = _expected(known)
    found = {sort: _count_sort(ctx, sort) for sort in sorted({*expected.counts, _LINE_SORT})}
    for sort, count in expected.counts.items():
        if found[sort] < count:
            raise Conflict(
                f"the import should have brought {count} of sort {sort!r}, and {found[sort]} are here",
                hint="Run the import again: it goes on where it ended.",
            )
    metadata = msgspec.json.encode(replace(expected, complete=True)).decode()
    ctx.tx.directory.update(replace(known, metadata=metadata))
    return Outcome(ImportFinished(found), _noted(authorised, request.digest))


def unfinished(ctx: RequestContext) -> list[str]:
    """The digests of unfinished imports into this workspace."""
    entries = ctx.tx.directory.entries(ctx.scope.workspace, IMPORT_ENTRY)
    return [entry.name for entry in entries if not _expected(entry).complete]


class _Expected(Struct, frozen=True):
    """What the entry of an import says."""

    counts: dict[str, int] = {}
    complete: bool = False


def _expected(entry: Entry) -> _Expected:
    return decoded(entry.metadata, _Expected, Tampered("the note of an import can't be read"))


def _count_sort(ctx: RequestContext, sort: str) -> int:
    workspace = ctx.scope.workspace
    if sort == _LINE_SORT:
        compartments = {
            key.compartment for key in ctx.tx.keys.every() if key.compartment.workspace == workspace
        }
        return sum(ctx.tx.lines.count(compartment) for compartment in compartments)
    return sum(ctx.tx.directory.count(workspace, kind) for kind in _SORTS.get(sort, (sort,)))


class _ComparedRecords:
    def __init__(self, authorised: AuthorisedRequest, request: Import, *, writes: bool) -> None:
        """Raises: CapOpMismatch, Conflict, InvalidInput, LimitExceeded, NamespaceDenied, Tampered."""
        self._authorised = authorised
        self._ctx = ctx = authorised.ctx
        ctx.tx.lines.hide(None)  # What is over and still there is here.
        self._rules = {rule.name: rule for rule in ctx.rules}
        self._writes, self._look = writes, request.look
        self._workspace = ctx.scope.workspace
        self.changes = Changes()
        self.new = self.same = 0
        self.conflicts: list[str] = []
        self.rules: list[str] = []
        """The names of those that hold from now on."""
        lines = [record for record in request.records if isinstance(record, LineRecord)]
        self._here = self._known(lines)
        for record in request.records:
            if isinstance(record, LineRecord):
                self._line(record)
            elif isinstance(record, r.RuleRecord):
                self._rule(record)
            else:
                self._entry(record)

    @property
    def answer(self) -> ImportAnswer:
        return ImportAnswer(self.new, self.same, self.conflicts)

    def _known(self, lines: Iterable[LineRecord]) -> dict[tuple[Compartment, str], LineRecord]:
        """What is here under the ids of these lines."""
        ctx, known = self._ctx, dict[tuple[Compartment, str], LineRecord]()
        for compartment, ids in grouped((self._compartment(record), record.id) for record in lines).items():
            if found := ctx.tx.lines.get_all(compartment, ids):
                keys = ctx.services.vault.held(ctx.tx, compartment)
                known |= {(compartment, one.id): one for one in kept.line_records(ctx, keys, found)}
        return known

    def _compartment(self, record: LineRecord) -> Compartment:
        if record.owner != SESSIONS:
            names.actor(record.owner, "owner")
        if not self._ctx.scope.opens(record.namespace):
            raise denied()
        return Compartment(self._workspace, record.owner, record.namespace)

    def _judge(self, what: str, *, agrees: bool) -> None:
        if agrees:
            self.same += 1
        else:
            self.conflicts.append(what)

    def _entry(self, record: kept.EntryRecord) -> None:
        ctx, kind = self._ctx, kept.kind_of(record)
        name = self._workspace if isinstance(record, r.WorkspaceRecord) else names.name(record.name, kind)
        for one in (record.metadata, record.configuration):
            encode_metadata(one)
        if isinstance(record, r.SessionRecord) and not ctx.scope.opens(record.namespace):
            raise denied()
        if isinstance(record, r.WebhookRecord):
            self._check_webhook(record)
        entry = ctx.tx.directory.entry(self._workspace, kind, name)
        memberships = kept.memberships_of(record, self._workspace)
        here = {(one.held, one.since): one for one in self._memberships(memberships)}
        if entry is not None:
            agrees = _agree(kept.entry_record(ctx, entry), replace(record, name=name))
            agrees &= all(kept.same(one, here.get((one.held, one.since), one)) for one in memberships)
            whole = all((one.held, one.since) in here for one in memberships)
            if whole or not agrees:
                self._judge(f"{kind} {name}", agrees=agrees)
                return
        elif self._writes:
            ctx.tx.directory.add(
                Entry(
                    self._workspace,
                    kind,
                    name,
                    record.uid,
                    record.created_at,
                    kept.text(record.metadata),
                    kept.text(record.configuration),
                    getattr(record, "namespace", names.COMMON_NAMESPACE),
                )
            )
        self.new += 1
        if self._writes:
            self._join(record, memberships)

    def _check_webhook(self, record: r.WebhookRecord) -> None:
        """Raises: InvalidInput, NamespaceDenied if it would hear of more than the cap opens."""
        try:
            endpoint = msgspec.convert(record.configuration, settled(directory.WebhookEndpoint))
        except msgspec.ValidationError as error:
            raise InvalidInput(f"webhook {record.name}: {error}") from None
        self._ctx.services.webhook_sender.check(endpoint.url)
        scope = self._ctx.scope
        if scope.namespaces is not None and not scope.namespaces.issuperset(endpoint.namespaces):
            raise denied()

    def _memberships(self, given: Sequence[Membership]) -> list[Membership]:
        """Those that are here of what these belong to."""
        if not given:
            return []
        return self._ctx.tx.directory.memberships(self._workspace, given[0].kind, holder=given[0].holder)

    def _join(self, record: kept.EntryRecord, memberships: Sequence[Membership]) -> None:
        for one in memberships:
            names.name(one.held, "name")
            self._ctx.tx.directory.add_membership(one)
        if isinstance(record, r.SessionRecord):
            self.changes.namespaces.add(record.namespace)
            if record.turns > directory.next_turn(self._ctx, record.name) - 1:
                directory.spend_turns(self._ctx, record.name, record.turns)

    def _rule(self, record: r.RuleRecord) -> None:
        rule = RetentionRule(**shared_fields(RetentionRule, record))
        known = retention.take(self._authorised, rule, self._rules, look=self._look, writes=self._writes)
        if known is not None:
            self._judge(f"rule {rule.name}", agrees=known == rule)
        else:
            self.new += 1
            self.rules.append(rule.name)

    def _line(self, record: LineRecord) -> None:
        compartment = self._compartment(record)
        record = replace(record, cites=sorted(set(record.cites)))
        known = self._here.get((compartment, record.id))
        if known is not None:
            self._judge(f"line {record.id}", agrees=known == record)
            return
        _check(record)
        session = record.session if record.turn is not None else None
        if session is not None and not self._fits(session, record):
            self.conflicts.append(f"line {record.id}")
        elif not self._writes:
            self.new += 1
        elif not kept.store_line(self._ctx, compartment, record, self.changes):
            self.conflicts.append(f"line {record.id}")
        else:
            self.new += 1
            self._here[compartment, record.id] = record

    def _fits(self, session: str, record: LineRecord) -> bool:
        """Whether a message may lie where its session does; one of a session unknown here makes it."""
        ctx = self._ctx
        entry = ctx.tx.directory.entry(self._workspace, SESSION, session)
        if entry is not None or not self._writes:
            return entry is None or entry.namespace == record.namespace
        directory.ensure_session(ctx, session, record.namespace)
        ctx.tx.directory.add_membership(
            Membership(self._workspace, MEMBER, session, record.owner, record.turn or 1)
        )
        return True


def _agree(here: kept.EntryRecord, given: kept.EntryRecord) -> bool:
    """Whether they say the same of what has this name.

    A name of a workspace or of a peer may have come into being here too, at another time; what was said in
    a session of the same name is another conversation, unless it is the very same session.
    """
    if isinstance(here, r.SessionRecord) and here.uid != given.uid:
        return False
    return (here.metadata, here.configuration, getattr(here, "namespace", "")) == (
        given.metadata,
        given.configuration,
        getattr(given, "namespace", ""),
    )


def _check(record: LineRecord) -> None:
    """Raises: InvalidInput."""
    if record.kind == TOMBSTONE:
        if record.text or record.supersedes is None:
            raise InvalidInput(f"line {record.id}: a tombstone says nothing and replaces another")
    elif record.turn is None and record.kind != MESSAGE:
        check_text(record.text, f"line {record.id}")
    check_characters(record.text, f"line {record.id}")
    if len(record.text) > _SPOKEN:
        raise InvalidInput(f"line {record.id} is too long")
    if record.kind == CARD:
        fault = InvalidInput(f"line {record.id} is no card")
        if record.about is None:
            raise fault
        decoded(record.text, KeptCard, fault)
    is_summary = record.kind == SUMMARY and record.session is not None
    if record.owner == SESSIONS and not (is_summary and is_note(encode_metadata(record.metadata))):
        raise InvalidInput(f"line {record.id} is no summary of a session")
    if record.turn is not None and record.session is None:
        raise InvalidInput(f"line {record.id} has a turn and no session")
    for name, field in ((record.session, "session"), (record.about, "about")):
        if name is not None:
            names.name(name, field)


def note_backup(authorised: AuthorisedRequest, request: NoteBackup) -> Outcome:
    return Outcome(Done(), Trace((), (), msgspec.json.encode({"keys": request.keys}).decode()))


def _noted(authorised: AuthorisedRequest, digest: str) -> Trace:
    return Trace(everywhere(authorised.ctx), (), msgspec.json.encode({"import": digest}).decode())


EXPORT = declare(
    "export.page",
    "list",
    ExportAnswer,
    export,
    lambda request: Reach(whole_compartments=True, some_compartment=True, actor=request.owner),
    admit=whole_or_owner,
)
_import = partial(
    operation, op="put", reach=lambda request: Reach(whole_compartments=True, some_compartment=True)
)
IMPORT_BEGIN = _import("import.begin", answer=ImportBegun, work=begin)
IMPORT = _import("import.page", answer=ImportAnswer, work=take, rings=True, peek=peek)
IMPORT_FINISH = _import("import.finish", answer=ImportFinished, work=finish)
NOTE_BACKUP = declare("keep.backup", "grant", Done, note_backup, writes=True, operator=True)
