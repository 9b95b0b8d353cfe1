"""Messages: what is said in a session becomes lines, in order, once, with the work that they call for.

Turns are given out inside the one writing transaction, so a session has no gap, no duplicate and
no reordering, also if several write to it at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.request_context import RequestContext, said_at
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import reasoning_settings as h
from souvenance.domain import trust
from souvenance.domain.content import check_characters, decode_metadata, encode_metadata
from souvenance.domain.directory import PEER, SESSION, Entry
from souvenance.domain.encoding import frame
from souvenance.domain.filters import Column, Field, Predicate
from souvenance.domain.jobs import DERIVE, SUMMARISE, Job
from souvenance.domain.line import MESSAGE, RELAYED, SealedLine
from souvenance.domain.trust import Trust, is_carried
from souvenance.errors import Conflict, NotFound
from souvenance.ports.directory import Batch
from souvenance.ports.store import Turns

RETRY_WINDOW_MS = 3 * 60 * 1000
"""A client that waits a minute for an answer and tries three times is done by then."""

KEY_WINDOW_MS = 24 * 3600 * 1000


class IncomingMessage(Struct, frozen=True):
    """One message as it arrives."""

    peer: str
    text: str
    metadata: dict[str, object]
    said_at: int | None = None
    reasoning: bool | None = None
    kind: str = MESSAGE
    """`DOCUMENT` for what the peer only carried: a part of a file."""
    wishes: str | None = None
    """What is worth noting of it, if other than of the rest of the session."""


class StoredMessage(Struct, frozen=True):
    """One message as it is read."""

    line: SealedLine
    text: str


class TargetSession(Struct, frozen=True):
    """The session that messages are added to, with what it comes into being by if it does not exist."""

    session: str
    namespace: str | None = None
    members: Mapping[str, h.MemberReasoning] | None = None
    """Who else is let in. The habits hold for those who were never in the session before."""


def add_messages(
    ctx: RequestContext, target: TargetSession, said: Sequence[IncomingMessage], key: str | None = None
) -> tuple[list[StoredMessage], Changes]:
    """Store the messages; a retry finds those of the first time, and changes nothing.

    A batch is a retry if it comes with the key of an earlier one, or, without a key, if it says the
    same as one of the last minutes and nothing was said in the session since. A key is free again once
    all that it stored is deleted.

    Raises: InvalidInput, LimitExceeded, NamespaceDenied, Conflict, Tampered.
    """
    for one in said:
        check_characters(one.text, "content")
    session = target.session
    entry, _ = directory.ensure_session(ctx, session, target.namespace)
    changes = Changes({entry.namespace})
    authors = list(dict.fromkeys(one.peer for one in said))
    keys = {
        author: ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, author, entry.namespace))
        for author in authors
    }
    digest = _digest(keys[authors[0]].blind, session, said, key)
    earlier = _first_time(ctx, session, digest, said, keyed=key is not None)
    if earlier is not None:
        return earlier, changes
    directory.join(ctx, session, {**dict.fromkeys(authors), **_newcomers(ctx, target)})
    first = directory.next_turn(ctx, session)
    stored = _store(ctx, session, said, keys, first)
    for message in stored:
        changes.add(message.line)
    last = first + len(stored) - 1
    ctx.tx.directory.keep_batch(
        Batch(ctx.scope.workspace, session, digest, ctx.now, first, last), ctx.now - KEY_WINDOW_MS
    )
    _owe_work(ctx, entry, said, first)
    return stored, changes


def _newcomers(ctx: RequestContext, target: TargetSession) -> dict[str, h.MemberReasoning]:
    if not target.members:
        return {}
    known = {stay.held for stay in directory.stays(ctx, target.session)}
    return {peer: habits for peer, habits in target.members.items() if peer not in known}


def _store(
    ctx: RequestContext,
    session: str,
    said: Sequence[IncomingMessage],
    keys: dict[str, CompartmentKeys],
    first: int,
) -> list[StoredMessage]:
    stored: list[StoredMessage] = []
    counts = [ctx.services.tokenizer.count(one.text) for one in said]
    for turn, (one, line_id) in enumerate(zip(said, ctx.fresh_ids(len(said)), strict=True), first):
        kept = write_line(
            ctx,
            keys[one.peer],
            line_id,
            _kind(one),
            one.text,
            session=session,
            turn=turn,
            said_at=one.said_at,
            metadata=encode_metadata(one.metadata),
            tokens=counts[turn - first],
        )
        stored.append(StoredMessage(kept, one.text))
    return stored


def _kind(one: IncomingMessage) -> str:
    """The kind of the message. The seal binds it: metadata that is changed later makes nothing one's own."""
    return RELAYED if one.kind == MESSAGE and is_carried(MESSAGE, one.metadata) else one.kind


def _digest(blind: bytes, session: str, said: Sequence[IncomingMessage], key: str | None) -> bytes:
    """What makes a batch known again: keyed, because a bare hash of few words can be guessed."""
    told = blake2b(key=blind, digest_size=16)
    if key is not None:
        told.update(frame("key", session, key))
        return told.digest()
    for one in said:
        told.update(frame("said", session, one.peer, one.text, one.said_at, encode_metadata(one.metadata)))
    return told.digest()


def _first_time(
    ctx: RequestContext, session: str, digest: bytes, said: Sequence[IncomingMessage], *, keyed: bool
) -> list[StoredMessage] | None:
    """What is there of the same batch.

    Raises: Conflict if the key stored anything else, or part of what it stored is gone.
    """
    batch = ctx.tx.directory.batch(ctx.scope.workspace, session, digest)
    if batch is None or batch.at < ctx.now - (KEY_WINDOW_MS if keyed else RETRY_WINDOW_MS):
        return None
    if not keyed and directory.next_turn(ctx, session) != batch.last + 1:
        return None
    opener = Opener(ctx)
    lines = ctx.tx.lines.turns(Turns(ctx.scope.workspace, session, first=batch.first, last=batch.last))
    found = [StoredMessage(line, opener.text(line)) for line in lines]
    if [(one.line.compartment.owner, one.text) for one in found] == [(one.peer, one.text) for one in said]:
        return found
    if found and keyed:
        raise Conflict(
            "this Idempotency-Key stored other messages, or some of those it stored were deleted",
            hint="Nothing was stored now. Send these messages with a new key.",
        )
    return None


def _owe_work(ctx: RequestContext, entry: Entry, said: Sequence[IncomingMessage], first: int) -> None:
    """Note what must still be done with these messages, in the transaction that stores them."""
    session = entry.name
    near, far = directory.habits(ctx, session)
    present = directory.members(ctx, session)
    last = first + len(said) - 1
    for author in dict.fromkeys(one.peer for one in said):
        peer = directory.find(ctx, PEER, author)
        if not h.observed(directory.member_habits(present.get(author)), directory.peer_habits(peer)):
            continue
        reasoned: dict[str | None, list[int]] = {}
        for turn, one in enumerate(said, first):
            if one.peer == author and h.reasons(one.reasoning, near, far):
                reasoned.setdefault(one.wishes, []).append(turn)
        for wishes, turns in reasoned.items():
            ctx.tx.work.add(
                Job(
                    workspace=ctx.scope.workspace,
                    kind=DERIVE,
                    session=session,
                    peer=author,
                    first=turns[0],
                    last=turns[-1],
                    units=len(turns),
                    payload=_particulars(turns, wishes),
                    namespace=entry.namespace,
                ),
                ctx.now,
            )
    _wait_for_quiet(ctx, session, last)
    owe_summaries(ctx, entry, first, last)


def _wait_for_quiet(ctx: RequestContext, session: str, last: int) -> None:
    """Where a model derives, let it read what is new in one call, when the session is quiet or has grown."""
    model = ctx.services.model_for(DERIVE)
    if model is None:
        return
    workspace, pace = ctx.scope.workspace, model.pace
    first = ctx.tx.work.defer(workspace, session, DERIVE, ctx.now + pace.quiet_ms)
    if first is not None:
        lines = ctx.tx.lines.turns(Turns(workspace, session, first=first, last=last))
        if sum(line.tokens or 0 for line in lines) >= pace.tokens:
            ctx.tx.work.defer(workspace, session, DERIVE, ctx.now)


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


def _particulars(turns: Sequence[int], wishes: str | None) -> str:
    """Which turns to look at, if not all of the range, and what is wished to be noted of them."""
    told: dict[str, object] = {}
    if turns[-1] - turns[0] + 1 != len(turns):
        told["turns"] = list(turns)
    if wishes is not None:
        told["wishes"] = wishes
    return msgspec.json.encode(told).decode()


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
    span = Turns(ctx.scope.workspace, session, newest_first=newest_first)
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
            ctx.tx.directory.tie(replace(stay, holder=entry.name, since=min(stay.since, end), until=until))
    changes = Changes({source.namespace})
    opener = Opener(ctx)
    lines = [
        line
        for line in ctx.tx.lines.turns(Turns(ctx.scope.workspace, session, last=last))
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
