"""Import: records become entries and lines of this store, with their ids and times.

What is there already and says the same is passed over; what says something else stays as it is here, and is
told. So a page may be taken any number of times, and an import that was interrupted is gone on with. What an
import should bring is noted, and it is complete only when all of it arrived. Jobs that were pending where the
records came from are done here, once: what waits here already is not added, and nothing is reasoned about
twice that a conclusion here follows from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.archive.records import (
    EntryRecord,
    entry_record,
    job_of,
    kind_of,
    line_record,
    same,
    text,
    ties_of,
)
from souvenance.core.conversation import directory, webhooks
from souvenance.core.conversation.cards import is_card
from souvenance.core.conversation.compartments import Changes, denied
from souvenance.core.conversation.conclusions import likeness
from souvenance.core.conversation.summarise import is_note
from souvenance.core.remember import append, sealed
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain import names
from souvenance.domain.archive_records import (
    LineRecord,
    Owed,
    Record,
    SessionRecord,
    WebhookRecord,
    WorkspaceRecord,
)
from souvenance.domain.content import check_characters, check_text, encode_metadata
from souvenance.domain.directory import MEMBER, SESSION, Entry, Membership
from souvenance.domain.jobs import DERIVE, DREAM, REASONING, SUMMARISE, Job
from souvenance.domain.line import (
    CARD,
    MESSAGE,
    SUMMARY,
    TOMBSTONE,
    Line,
    LineFields,
    SealedLine,
    shared_fields,
)
from souvenance.domain.names import SESSIONS, Compartment
from souvenance.errors import Conflict, InvalidInput, NotFound, Tampered
from souvenance.ports.store import TurnQuery

_JOBS_AT_ONCE = 500


def owe(ctx: RequestContext, owed: Sequence[Owed]) -> int:
    """Have it done; how much of it was not on the list, or done, already.

    Raises: InvalidInput, NamespaceDenied.
    """
    for one in owed:
        _check_job(ctx, one)
    waits = set(_waiting_jobs(ctx)) if owed else set()
    added = 0
    for one in owed:
        job = job_of(one, ctx.scope.workspace)
        if job not in waits and not _is_done(ctx, job):
            ctx.tx.work.add(job, one.due)
            added += 1
    return added


def _check_job(ctx: RequestContext, owed: Owed) -> None:
    if not ctx.scope.opens(owed.namespace):
        raise denied()
    told = owed.particulars
    for name, field in ((owed.session, "session"), (owed.peer, "peer"), (told.observer, "observer")):
        if name is not None:
            names.name(name, field)
    wanted = {
        DERIVE: (owed.session, owed.peer),
        SUMMARISE: (owed.session, told.long),
        DREAM: (owed.peer, told.observer),
    }
    if None in wanted[owed.kind]:
        raise InvalidInput(f"what is owed does not say what to {owed.kind}")


def _waiting_jobs(ctx: RequestContext) -> Iterator[Job]:
    last = 0
    while found := ctx.tx.work.owed(ctx.scope.workspace, REASONING, after=last, limit=_JOBS_AT_ONCE):
        last = found[-1].seq
        for task in found:
            yield Job(**{name: getattr(task, name) for name in Job.__struct_fields__})


def _is_done(ctx: RequestContext, job: Job) -> bool:
    """Whether something here follows from what should be reasoned about."""
    if job.kind != DERIVE:
        return False
    span = TurnQuery(job.workspace, job.session or "", first=job.first, last=job.last)
    said = [line.id for line in ctx.tx.lines.turns(span) if line.compartment.owner == job.peer]
    return bool(ctx.tx.lines.citing(job.workspace, said))


IMPORT = "import"
"""Kind of the entry that says what an import should bring, and whether all of it is there."""

_LINE_SORT = "line"
_SORTS = {"peer": ("peer", "former")}
"""What the directory knows records of a sort as, if not by its name."""


class Expected(Struct, frozen=True):
    """What the entry of an import says."""

    counts: dict[str, int] = {}
    complete: bool = False
    owed: int = 0
    """How much of the work that came along was looked at."""


def begin(ctx: RequestContext, digest: str, counts: Mapping[str, int]) -> bool:
    """Note what an import should bring; whether that was known, and complete, before."""
    known = ctx.tx.directory.entry(ctx.scope.workspace, IMPORT, digest)
    if known is not None:
        return _expected(known).complete
    metadata = msgspec.json.encode(Expected(dict(counts))).decode()
    ctx.tx.directory.add(
        Entry(ctx.scope.workspace, IMPORT, digest, ctx.fresh_id(), ctx.now, metadata=metadata)
    )
    return False


def owe_some(ctx: RequestContext, digest: str, first: int, owed: Sequence[Owed]) -> None:
    """Have work done that came along, of which this is the part from the number `first` on; each once.

    Raises: NotFound if the import never began; InvalidInput, NamespaceDenied.
    """
    known = _begun(ctx, digest)
    expected = _expected(known)
    if first > expected.owed:
        raise InvalidInput(f"the work before number {first} did not come yet")
    fresh = owed[expected.owed - first :]
    if fresh:
        owe(ctx, fresh)
        metadata = msgspec.json.encode(replace(expected, owed=expected.owed + len(fresh))).decode()
        ctx.tx.directory.update(replace(known, metadata=metadata))


def finish(ctx: RequestContext, digest: str) -> dict[str, int]:
    """Note that all of an import is there; what there is now, by sort.

    Raises: NotFound if it never began, Conflict if there is less here than it should have brought.
    """
    known = _begun(ctx, digest)
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
    return found


def unfinished(ctx: RequestContext) -> list[str]:
    """The digests of imports into this workspace of which not all is there."""
    entries = ctx.tx.directory.entries(ctx.scope.workspace, IMPORT)
    return [entry.name for entry in entries if not _expected(entry).complete]


def _begun(ctx: RequestContext, digest: str) -> Entry:
    known = ctx.tx.directory.entry(ctx.scope.workspace, IMPORT, digest)
    if known is None:
        raise NotFound("there is no such import")
    return known


def _expected(entry: Entry) -> Expected:
    try:
        return msgspec.json.decode(entry.metadata, type=settled(Expected))
    except msgspec.MsgspecError:
        raise Tampered("the note of an import can't be read") from None


def _count_sort(ctx: RequestContext, sort: str) -> int:
    workspace = ctx.scope.workspace
    if sort == _LINE_SORT:
        compartments = {
            key.compartment for key in ctx.tx.keys.every() if key.compartment.workspace == workspace
        }
        return sum(ctx.tx.lines.count(compartment) for compartment in compartments)
    return sum(ctx.tx.directory.count(workspace, kind) for kind in _SORTS.get(sort, (sort,)))


_SPOKEN = 64 * 1024 * 1024


class Taken(Struct):
    """What became of some records."""

    new: int = 0
    same: int = 0
    conflicts: list[str] = []


def look(ctx: RequestContext, records: Sequence[Record]) -> Taken:
    """What would become of the records; nothing is changed.

    Raises: InvalidInput, NamespaceDenied, Tampered.
    """
    return _ComparedRecords(ctx, records, Changes(), writes=False).taken


def take(ctx: RequestContext, records: Sequence[Record]) -> tuple[Taken, Changes]:
    """Enter the records.

    Raises: InvalidInput, LimitExceeded, NamespaceDenied, Tampered.
    """
    changes = Changes()
    return _ComparedRecords(ctx, records, changes, writes=True).taken, changes


class _ComparedRecords:
    """Records beside what is here of them."""

    def __init__(
        self, ctx: RequestContext, records: Sequence[Record], changes: Changes, *, writes: bool
    ) -> None:
        self._ctx = ctx
        self._changes = changes
        self._writes = writes
        self._workspace = ctx.scope.workspace
        self.taken = Taken()
        lines = [record for record in records if isinstance(record, LineRecord)]
        self._here = self._known(lines)
        for record in records:
            if isinstance(record, LineRecord):
                self._line(record)
            else:
                self._entry(record)

    def _known(self, lines: Iterable[LineRecord]) -> dict[tuple[Compartment, str], LineRecord]:
        """What is here under the ids of these lines."""
        by_compartment: dict[Compartment, list[str]] = defaultdict(list)
        for record in lines:
            by_compartment[self._compartment(record)].append(record.id)
        ctx, known = self._ctx, {}
        for compartment, ids in by_compartment.items():
            found = ctx.tx.lines.get_all(compartment, ids)
            keys = ctx.services.vault.known(ctx.tx, compartment) if found else None
            cited = ctx.tx.lines.cited(self._workspace, ids, compartment=compartment)
            for line in found:
                if keys is None:
                    raise Tampered(f"namespace {compartment.namespace!r} has lost its keys")
                known[compartment, line.id] = line_record(line, keys.open(line), cited.get(line.id, ()))
        return known

    def _compartment(self, record: LineRecord) -> Compartment:
        if record.owner != SESSIONS:
            names.actor(record.owner, "owner")
        if not self._ctx.scope.opens(record.namespace):
            raise denied()
        return Compartment(self._workspace, record.owner, record.namespace)

    def _judge(self, what: str, *, agrees: bool) -> None:
        if agrees:
            self.taken.same += 1
        else:
            self.taken.conflicts.append(what)

    def _entry(self, record: EntryRecord) -> None:
        ctx, kind = self._ctx, kind_of(record)
        name = self._workspace if isinstance(record, WorkspaceRecord) else names.name(record.name, kind)
        for one in (record.metadata, record.configuration):
            encode_metadata(one)
        if isinstance(record, SessionRecord) and not ctx.scope.opens(record.namespace):
            raise denied()
        if isinstance(record, WebhookRecord):
            self._check_webhook(record)
        entry = ctx.tx.directory.entry(self._workspace, kind, name)
        ties = ties_of(record, self._workspace)
        here = {(tie.held, tie.since): tie for tie in self._ties(ties)}
        if entry is not None:
            agrees = _agree(entry_record(ctx, entry), replace(record, name=name))
            agrees &= all(same(tie, here.get((tie.held, tie.since), tie)) for tie in ties)
            whole = all((tie.held, tie.since) in here for tie in ties)
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
                    text(record.metadata),
                    text(record.configuration),
                    getattr(record, "namespace", names.COMMON_NAMESPACE),
                )
            )
        self.taken.new += 1
        if self._writes:
            self._tie(record, ties)

    def _check_webhook(self, record: WebhookRecord) -> None:
        """Raises: InvalidInput, NamespaceDenied if it would hear of more than the cap opens."""
        try:
            endpoint = msgspec.convert(record.configuration, settled(webhooks.WebhookEndpoint))
        except msgspec.ValidationError as error:
            raise InvalidInput(f"webhook {record.name}: {error}") from None
        self._ctx.services.webhook_sender.check(endpoint.url)
        scope = self._ctx.scope
        if scope.namespaces is not None and not scope.namespaces.issuperset(endpoint.namespaces):
            raise denied()

    def _ties(self, ties: Sequence[Membership]) -> list[Membership]:
        if not ties:
            return []
        return self._ctx.tx.directory.memberships(self._workspace, ties[0].kind, holder=ties[0].holder)

    def _tie(self, record: EntryRecord, ties: Sequence[Membership]) -> None:
        stored = self._ctx.tx.directory
        for tie in ties:
            names.name(tie.held, "name")
            stored.add_membership(tie)
        if isinstance(record, SessionRecord):
            self._changes.namespaces.add(record.namespace)
            if record.turns > directory.next_turn(self._ctx, record.name) - 1:
                directory.spend_turns(self._ctx, record.name, record.turns)

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
            self.taken.conflicts.append(f"line {record.id}")
        elif not self._writes:
            self.taken.new += 1
        elif (kept := self._append(compartment, record)) is None:
            self.taken.conflicts.append(f"line {record.id}")
        else:
            self.taken.new += 1
            self._changes.add(kept)
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

    def _append(self, compartment: Compartment, record: LineRecord) -> SealedLine | None:
        """The stored line; None, and no change, if its session has another line in that turn."""
        ctx = self._ctx
        keys = ctx.services.vault.compartment(ctx.tx, compartment)
        fields = shared_fields(LineFields, record)
        line = Line(compartment=compartment, text=record.text, metadata={}, **fields)
        mark = likeness(keys.blind, record.session or "", record.text, record.kind) if record.alike else None
        made = sealed(ctx, line, keys, encode_metadata(record.metadata), tokens=record.tokens, likeness=mark)
        kept = replace(made, times=record.times)
        if not append(ctx, kept, record.text, keys):
            return None
        if record.invalidated_by is not None:
            ctx.tx.lines.invalidate(compartment, record.id, record.invalidated_by)
            self._changes.replaced.append(
                (compartment.owner, compartment.namespace, record.id, record.invalidated_by)
            )
        if record.cites:
            ctx.tx.lines.cite(compartment, record.id, record.cites)
        return kept


def _agree(here: EntryRecord, given: EntryRecord) -> bool:
    """Whether they say the same of what has this name.

    A name of a workspace or of a peer may have come into being here too, at another time; what was said in
    a session of the same name is another conversation, unless it is the very same session.
    """
    if isinstance(here, SessionRecord) and here.uid != given.uid:
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
    if record.kind == CARD and (record.about is None or not is_card(record.text)):
        raise InvalidInput(f"line {record.id} is no card")
    if record.owner == SESSIONS and not _is_summary(record):
        raise InvalidInput(f"line {record.id} is no summary of a session")
    if record.turn is not None and record.session is None:
        raise InvalidInput(f"line {record.id} has a turn and no session")
    for name, field in ((record.session, "session"), (record.about, "about")):
        if name is not None:
            names.name(name, field)


def _is_summary(record: LineRecord) -> bool:
    return record.kind == SUMMARY and record.session is not None and is_note(encode_metadata(record.metadata))
