"""Messages of a session: read page by page, annotated, copied; and which summaries of it are due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.request_context import RequestContext, said_at
from souvenance.domain import reasoning_settings as h
from souvenance.domain import trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import SESSION, Entry
from souvenance.domain.filters import Column, Field, Predicate
from souvenance.domain.jobs import SUMMARISE, Job
from souvenance.domain.line import SealedLine
from souvenance.domain.trust import Trust
from souvenance.errors import NotFound
from souvenance.ports.store import TurnQuery


class StoredMessage(Struct, frozen=True):
    """One message as it is read."""

    line: SealedLine
    text: str


def owe_summaries(ctx: RequestContext, entry: Entry, first: int, last: int) -> None:
    """Note which summaries of the session are due by one of these turns."""
    rhythm = h.rhythm(*directory.habits(ctx, entry.name))
    for every in () if rhythm is None else dict.fromkeys(rhythm):
        due = last - last % every
        if due >= first:
            ctx.tx.work.add(
                Job(
                    workspace=ctx.scope.workspace,
                    kind=SUMMARISE,
                    session=entry.name,
                    last=due,
                    payload='{"long":true}' if rhythm and every == rhythm[1] else '{"long":false}',
                    namespace=entry.namespace,
                ),
                ctx.now,
            )


FIELDS = {
    "workspace_id": Field(Column.TEXT),
    "session_id": Field(Column.TEXT),
    "peer_id": Field(Column.TEXT),
    "token_count": Field(Column.NUMBER),
    "created_at": Field(Column.TIME),
    "metadata": Field(Column.METADATA),
}


def class_of(ctx: RequestContext, line: SealedLine, text: str) -> Trust:
    """The class of a message; found out once for a request, for it takes long."""
    return ctx.once(
        (class_of, line.compartment, line.id),
        lambda: trust.of_message(line.kind, decode_metadata(line.metadata), text),
    )


def row(line: SealedLine) -> Mapping[str, Any]:
    """The line as a filter sees it."""
    return {
        "workspace_id": line.compartment.workspace,
        "session_id": line.session,
        "peer_id": line.compartment.owner,
        "token_count": line.tokens,
        "created_at": said_at(line),
        "metadata": decode_metadata(line.metadata),
    }


def page_of(
    ctx: RequestContext,
    session: str,
    wanted: Predicate | None,
    *,
    newest_first: bool,
    offset: int,
    limit: int,
) -> tuple[list[StoredMessage], int]:
    """A page of the session's messages, and how many there are in all.

    Raises: NotFound, Tampered.
    """
    directory.need(ctx, SESSION, session)
    span = TurnQuery(ctx.scope.workspace, session, newest_first=newest_first)
    if wanted is None:
        total = ctx.tx.lines.count_turns(ctx.scope.workspace, session)
        lines = ctx.tx.lines.turns(replace(span, offset=offset, limit=limit))
    else:
        found = [line for line in ctx.tx.lines.turns(span) if wanted(row(line))]
        total, lines = len(found), found[offset : offset + limit]
    opener = Opener(ctx)
    return [StoredMessage(line, opener.text(line)) for line in lines], total


def find_message(ctx: RequestContext, session: str, message_id: str) -> SealedLine:
    """Raises: NotFound."""
    namespace = directory.need(ctx, SESSION, session).namespace
    for peer in dict.fromkeys(stay.held for stay in directory.stays(ctx, session)):
        line = ctx.tx.lines.get(compartment_of(ctx, peer, namespace), message_id)
        if line is not None and line.session == session and line.turn is not None:
            return line
    raise NotFound("there is no such message")


def read_message(ctx: RequestContext, session: str, message_id: str) -> StoredMessage:
    line = find_message(ctx, session, message_id)
    return StoredMessage(line, Opener(ctx).text(line))


def annotate(ctx: RequestContext, session: str, message_id: str, metadata: str) -> StoredMessage:
    """The message with other metadata; what was said can't be changed.

    Raises: NotFound, Tampered.
    """
    line = find_message(ctx, session, message_id)
    ctx.tx.lines.annotate(line.compartment, line.id, metadata)
    changed = replace(line, metadata=metadata)
    return StoredMessage(changed, Opener(ctx).text(changed))


def clone(ctx: RequestContext, session: str, upto: str | None) -> tuple[Entry, Changes]:
    """A new session in the same namespace, with the same peers and messages, up to and with that one.

    Only lines of this workspace, this session and its namespace are copied. What was concluded from them is
    known already, and is not concluded again.

    Raises: NotFound, Tampered.
    """
    source = directory.need(ctx, SESSION, session)
    last = None if upto is None else find_message(ctx, session, upto).turn
    entry, _ = directory.ensure(
        ctx, SESSION, ctx.fresh_id(), source.metadata, source.configuration, namespace=source.namespace
    )
    end = directory.next_turn(ctx, session) if last is None else last + 1
    for stay in directory.stays(ctx, session):
        if stay.since < end or stay.until is None:
            until = None if stay.until is None else min(stay.until, end)
            ctx.tx.directory.add_membership(
                replace(stay, holder=entry.name, since=min(stay.since, end), until=until)
            )
    changes = Changes({source.namespace})
    opener = Opener(ctx)
    lines = [
        line
        for line in ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, session, last=last))
        if line.compartment.namespace == source.namespace
    ]
    for line, line_id in zip(lines, ctx.fresh_ids(len(lines)), strict=True):
        copy = write_line(
            ctx,
            ctx.services.vault.compartment(ctx.tx, line.compartment),
            line_id,
            line.kind,
            opener.text(line),
            session=entry.name,
            turn=line.turn,
            said_at=said_at(line),
            metadata=line.metadata,
            tokens=line.tokens,
        )
        changes.add(copy)
    return entry, changes
