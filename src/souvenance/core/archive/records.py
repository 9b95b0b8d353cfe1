"""The records of an archive, made from the store and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from souvenance.core.conversation import directory
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.archive_records import (
    LineRecord,
    Owed,
    Particulars,
    PeerRecord,
    Pick,
    ScopeRecord,
    SessionRecord,
    Stay,
    WebhookRecord,
    WorkspaceRecord,
)
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import (
    FORMER,
    MEMBER,
    PEER,
    PICK,
    SCOPE,
    SESSION,
    WEBHOOK,
    WORKSPACE,
    Entry,
    Membership,
)
from souvenance.domain.jobs import Job, Task
from souvenance.domain.line import LineFields, SealedLine, shared_fields
from souvenance.errors import Tampered

_OWED = ("kind", "due", "session", "peer", "first", "last", "units", "namespace")
EntryRecord = WorkspaceRecord | PeerRecord | SessionRecord | ScopeRecord | WebhookRecord


def entry_record(ctx: RequestContext, entry: Entry, owner: str | None = None) -> EntryRecord:
    """The record of an entry, with its ties; with an owner, only that one's.

    Raises: Tampered.
    """
    told: dict[str, Any] = {
        "name": entry.name,
        "uid": entry.uid,
        "created_at": entry.created_at,
        "metadata": _object(entry.metadata, entry.name),
        "configuration": _object(entry.configuration, entry.name),
    }
    match entry.kind:
        case "workspace":
            return WorkspaceRecord(**told)
        case "peer" | "former":
            return PeerRecord(**told, namespace=entry.namespace, former=entry.kind == FORMER)
        case "session":
            ties = ctx.tx.directory.memberships(entry.workspace, MEMBER, holder=entry.name, held=owner)
            return SessionRecord(
                **told,
                namespace=entry.namespace,
                turns=directory.next_turn(ctx, entry.name) - 1,
                members=[_stay(tie) for tie in ties],
            )
        case "scope":
            return ScopeRecord(**told, sessions=[_pick(tie) for tie in directory.picks(ctx, entry.name)])
        case _:
            return WebhookRecord(**told)


def line_record(line: SealedLine, text: str, cites: Sequence[str]) -> LineRecord:
    """Raises: Tampered."""
    try:
        metadata = dict(decode_metadata(line.metadata))
    except ValueError:
        raise Tampered(f"line {line.id} has metadata that nobody wrote") from None
    return LineRecord(
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


def owed_of(task: Task) -> Owed:
    """What is to be done, as it goes along. Raises: Tampered."""
    try:
        particulars = msgspec.json.decode(task.payload, type=settled(Particulars))
    except msgspec.MsgspecError:
        raise Tampered("the work list holds what nobody wrote") from None
    return Owed(particulars=particulars, **{name: getattr(task, name) for name in _OWED})


def errand_of(owed: Owed, workspace: str) -> Job:
    """What is to be done, as the work list has it."""
    told = {name: getattr(owed, name) for name in _OWED if name != "due"}
    return Job(workspace, payload=msgspec.json.encode(owed.particulars).decode(), **told)


def kind_of(record: EntryRecord) -> str:
    """As what the directory knows it."""
    match record:
        case WorkspaceRecord():
            return WORKSPACE
        case PeerRecord():
            return FORMER if record.former else PEER
        case SessionRecord():
            return SESSION
        case ScopeRecord():
            return SCOPE
        case _:
            return WEBHOOK


def ties_of(record: EntryRecord, workspace: str) -> list[Membership]:
    match record:
        case SessionRecord():
            return [
                Membership(
                    workspace, MEMBER, record.name, one.peer, one.since, one.until, text(one.configuration)
                )
                for one in record.members
            ]
        case ScopeRecord():
            return [
                Membership(
                    workspace, PICK, record.name, one.session, one.since, one.until, text(one.configuration)
                )
                for one in record.sessions
            ]
        case _:
            return []


def text(value: Mapping[str, Any]) -> str:
    """As the directory keeps it."""
    return msgspec.json.encode(value, order="sorted").decode()


def same(one: Membership, other: Membership) -> bool:
    """Whether they say the same, in whatever order their configuration is written."""
    return one.until == other.until and _stay(one).configuration == _stay(other).configuration


def _stay(tie: Membership) -> Stay:
    return Stay(
        peer=tie.held, since=tie.since, until=tie.until, configuration=_object(tie.configuration, tie.held)
    )


def _pick(tie: Membership) -> Pick:
    return Pick(
        session=tie.held, since=tie.since, until=tie.until, configuration=_object(tie.configuration, tie.held)
    )


def _object(encoded: str, name: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(encoded, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise Tampered(f"the entry {name!r} holds what nobody wrote") from None
