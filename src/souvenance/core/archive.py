"""The records of an archive: made from the store and back, and exported page by page.

A page has the records of a workspace, or of one owner in it, as far as the token allows. It goes on where the
one before ended, by name and id and not by number, so that what comes or goes meanwhile neither doubles nor
hides another record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from souvenance.core import retention_rules
from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.conclusions import likeness
from souvenance.core.remember import append, sealed
from souvenance.core.request_context import RequestContext, whole_history
from souvenance.core.vault import CompartmentKeys
from souvenance.decoders import decoded, settled
from souvenance.domain import archive_records as r
from souvenance.domain.content import decode_metadata, encode_metadata
from souvenance.domain.directory import (
    FORMER,
    MEMBER,
    PEER,
    PICK,
    REASONING,
    SCOPE,
    SESSION,
    WEBHOOK,
    WORKSPACE,
    Entry,
    Membership,
)
from souvenance.domain.line import LineFields, OpenLine, SealedLine, shared_fields
from souvenance.domain.names import Compartment
from souvenance.errors import InvalidInput, Tampered

EntryRecord = r.WorkspaceRecord | r.PeerRecord | r.SessionRecord | r.ScopeRecord | r.WebhookRecord


def entry_record(ctx: RequestContext, entry: Entry, owner: str | None = None) -> EntryRecord:
    """The record of an entry, with its memberships; with an owner, only that one's. Raises: Tampered."""
    fields: dict[str, Any] = {
        "name": entry.name,
        "uid": entry.uid,
        "created_at": entry.created_at,
        "metadata": _object(entry.metadata, entry.name),
        "configuration": _object(entry.configuration, entry.name),
    }
    match entry.kind:
        case "workspace":
            return r.WorkspaceRecord(**fields)
        case "peer" | "former":
            return r.PeerRecord(**fields, namespace=entry.namespace, former=entry.kind == FORMER)
        case "session":
            memberships = ctx.tx.directory.memberships(entry.workspace, MEMBER, holder=entry.name, held=owner)
            return r.SessionRecord(
                **fields,
                namespace=entry.namespace,
                turns=directory.next_turn(ctx, entry.name) - 1,
                members=[_member(one) for one in memberships],
            )
        case "scope":
            return r.ScopeRecord(**fields, members=[_member(one) for one in directory.picks(ctx, entry.name)])
        case _:
            return r.WebhookRecord(**fields)


def line_record(line: SealedLine, text: str, cites: Sequence[str]) -> r.LineRecord:
    """Raises: Tampered."""
    try:
        metadata = dict(decode_metadata(line.metadata))
    except ValueError:
        raise Tampered(f"line {line.id} has metadata that nobody wrote") from None
    return r.LineRecord(
        owner=line.compartment.owner,
        namespace=line.compartment.namespace,
        text=text,
        invalidated_by=line.invalidated_by,
        metadata=metadata,
        tokens=line.tokens,
        times=line.times,
        alike=line.likeness is not None,
        cites=list(cites),
        **shared_fields(LineFields, line),
    )


def line_records(
    ctx: RequestContext, keys: CompartmentKeys, lines: Sequence[SealedLine]
) -> Iterator[r.LineRecord]:
    """The records of lines that lie there. Raises: Tampered."""
    compartment, ids = keys.compartment, [line.id for line in lines]
    cited = ctx.tx.lines.cited(compartment.workspace, ids, compartment=compartment)
    return (line_record(line, keys.open(line), cited.get(line.id, ())) for line in lines)


def store_line(ctx: RequestContext, compartment: Compartment, record: r.LineRecord, changes: Changes) -> bool:
    """Store the line under its own id; False, and no change, if that or its turn in the session is taken."""
    keys = ctx.services.vault.compartment(ctx.tx, compartment)
    fields = shared_fields(LineFields, record)
    line = OpenLine(compartment=compartment, text=record.text, metadata={}, **fields)
    mark = likeness(keys.blind, record.session or "", record.text, record.kind) if record.alike else None
    made = sealed(ctx, line, keys, encode_metadata(record.metadata), tokens=record.tokens, likeness=mark)
    stored = replace(made, times=record.times)
    if not append(ctx, stored, record.text, keys):
        return False
    changes.add(stored)
    if record.invalidated_by is not None:
        ctx.tx.lines.invalidate(compartment, record.id, record.invalidated_by)
        ctx.tx.terms.remove(compartment, (record.id,))
        changes.replaced.append((compartment.owner, compartment.namespace, record.id, record.invalidated_by))
    if record.cites:
        ctx.tx.lines.cite(compartment, record.id, record.cites)
    return True


def kind_of(record: EntryRecord) -> str:
    return FORMER if isinstance(record, r.PeerRecord) and record.former else r.count_name(record)


def text(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def memberships_of(record: EntryRecord, workspace: str) -> list[Membership]:
    kind = MEMBER if isinstance(record, r.SessionRecord) else PICK
    members = record.members if isinstance(record, r.SessionRecord | r.ScopeRecord) else ()
    return [
        Membership(workspace, kind, record.name, one.name, one.since, one.until, text(one.configuration))
        for one in members
    ]


def same(one: Membership, other: Membership) -> bool:
    """Whether they say the same. The order of their configuration does not matter."""
    return _member(one) == _member(other)


def _member(one: Membership) -> r.MembershipRecord:
    return r.MembershipRecord(
        name=one.held, since=one.since, until=one.until, configuration=_object(one.configuration, one.held)
    )


def _object(encoded: str, name: str) -> dict[str, Any]:
    return decoded(encoded, dict[str, Any], Tampered(f"the entry {name!r} holds what nobody wrote"))


PAGE_BYTES = 256 * 1024
"""A page ends with the line that reaches so many bytes of text."""
_LINE_STAGE = "line"
_STAGES = (WORKSPACE, PEER, FORMER, SESSION, SCOPE, WEBHOOK, _LINE_STAGE, retention_rules.ENTRY)
_AT_ONCE = 100


class _Cursor(Struct, frozen=True, array_like=True):
    """What came last: uid and name and how many (`seen`), or of lines owner, namespace and id."""

    stage: str = WORKSPACE
    last: tuple[str, ...] = ()
    seen: int = 0


def give(
    ctx: RequestContext, owner: str | None, cursor: str | None, limit: int
) -> tuple[list[r.Record], str | None, int]:
    """A page of the records in a fixed order, where the next begins, and on the last page how many pieces of
    reasoning were still to be done. Raises: InvalidInput, Tampered, WrongKey."""
    place = _read_cursor(cursor)
    if cursor is None:
        _check_keys(ctx, owner)
    records: list[r.Record] = []
    size = 0
    for record, after in _following(ctx, owner, place):
        records.append(record)
        size += len(record.text) if isinstance(record, r.LineRecord) else 0
        if len(records) == limit or size >= PAGE_BYTES:
            return records, msgspec.json.encode(after).decode(), 0
    return records, None, _waiting(ctx)


def _read_cursor(cursor: str | None) -> _Cursor:
    if cursor is None:
        return _Cursor()
    try:
        place = msgspec.json.decode(cursor, type=settled(_Cursor))
        parts = 3 if place.stage == _LINE_STAGE else 2
        if place.stage in _STAGES and place.seen >= 0 and len(place.last) == parts:
            return place
    except (msgspec.MsgspecError, UnicodeEncodeError):
        pass
    raise InvalidInput("cursor is not one that was given")


def _check_keys(ctx: RequestContext, owner: str | None) -> None:
    """Raises: Tampered if lines that should be given lie in a compartment that lost its keys."""
    keyed = set(_compartments(ctx, owner))
    for compartment in ctx.tx.lines.compartments():
        mine = compartment.workspace == ctx.scope.workspace and owner in (None, compartment.owner)
        if mine and ctx.scope.opens(compartment.namespace) and compartment not in keyed:
            raise Tampered(f"namespace {compartment.namespace!r} of {compartment.owner!r} has lost its keys")


def _following(ctx: RequestContext, owner: str | None, place: _Cursor) -> Iterator[tuple[r.Record, _Cursor]]:
    for stage in _STAGES[_STAGES.index(place.stage) :]:
        here = place if stage == place.stage else _Cursor(stage)
        if stage == _LINE_STAGE:
            yield from _lines(ctx, owner, here)
            continue
        for seen, entry in enumerate(_entries(ctx, stage, owner, here), here.seen + 1):
            after = _Cursor(stage, (entry.uid, entry.name), seen)
            if not _is_open(ctx, entry):
                continue
            if entry.kind == retention_rules.ENTRY:
                yield r.RuleRecord(**asdict(retention_rules.rule_of(entry))), after
            else:
                yield entry_record(ctx, entry, owner), after


def _entries(ctx: RequestContext, kind: str, owner: str | None, place: _Cursor) -> Iterator[Entry]:
    """Those behind the place, in order of uid and name."""
    if owner is not None:
        yield from (one for one in _own(ctx, kind, owner) if (one.uid, one.name) > place.last)
        return
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    start, last = max(0, min(place.seen, stored.count(workspace, kind)) - _AT_ONCE), place.last
    while True:
        found = stored.entries(workspace, kind, offset=start, limit=2 * _AT_ONCE)
        if start > 0 and (not found or (found[0].uid, found[0].name) > last):
            start = max(0, start - 2 * _AT_ONCE)  # Some before it went meanwhile.
            continue
        yield from (one for one in found if not last or (one.uid, one.name) > last)
        if len(found) < 2 * _AT_ONCE:
            return
        start, last = start + len(found) - 1, (found[-1].uid, found[-1].name)


def _own(ctx: RequestContext, kind: str, owner: str) -> list[Entry]:
    """What a peer may take along of the directory: the workspace's name, its own, and its sessions."""
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    match kind:
        case "workspace":
            names: Sequence[str] = (workspace,)
        case "peer" | "former":
            names = (owner,)
        case "session":
            names = [one.holder for one in stored.memberships(workspace, MEMBER, held=owner)]
        case _:
            return []
    return sorted(stored.named(workspace, kind, names), key=lambda entry: (entry.uid, entry.name))


def _is_open(ctx: RequestContext, entry: Entry) -> bool:
    if ctx.scope.namespaces is None:
        return True
    match entry.kind:
        case "session":
            return ctx.scope.opens(entry.namespace)
        case "peer" | "former":
            return directory.knows_peer(ctx, entry)
        case "webhook":
            return entry in directory.endpoints(ctx)
        case retention_rules.ENTRY:
            return retention_rules.rule_of(entry).namespace in ctx.scope.namespaces
        case _:
            return True


def _compartments(ctx: RequestContext, owner: str | None) -> list[Compartment]:
    workspace = ctx.scope.workspace
    keys = ctx.tx.keys.every() if owner is None else ctx.tx.keys.of(workspace, owner)
    mine = {key.compartment for key in keys if key.compartment.workspace == workspace}
    return sorted(compartment for compartment in mine if ctx.scope.opens(compartment.namespace))


def _lines(ctx: RequestContext, owner: str | None, place: _Cursor) -> Iterator[tuple[r.Record, _Cursor]]:
    start = place.last[:2]
    for compartment in _compartments(ctx, owner):
        if (compartment.owner, compartment.namespace) < start:
            continue
        last = place.last[2] if (compartment.owner, compartment.namespace) == start else ""
        keys = ctx.services.vault.known(ctx.tx, compartment)
        while keys is not None:
            found = ctx.tx.lines.walk(whole_history(compartment, last, _AT_ONCE))
            for record in line_records(ctx, keys, found):
                yield record, _Cursor(_LINE_STAGE, (compartment.owner, compartment.namespace, record.id))
            if len(found) < _AT_ONCE:
                break
            last = found[-1].id


def _waiting(ctx: RequestContext) -> int:
    tallies = ctx.tx.work.tallies(ctx.scope.workspace, REASONING, ctx.now, ctx.scope.namespaces)
    return sum(tally.pending + tally.claimed for tally in tallies)
