"""Messages of a session: how they are found and read, and which summaries of it are due."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Opener, compartment_of
from souvenance.core.request_context import RequestContext, said_at
from souvenance.domain import reasoning_settings as h
from souvenance.domain import trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import SESSION, SUMMARISE, Entry, Job
from souvenance.domain.filters import Column, Field
from souvenance.domain.line import SealedLine
from souvenance.domain.trust import Trust
from souvenance.errors import NotFound


class StoredMessage(Struct, frozen=True):
    line: SealedLine
    text: str


def owe_summaries(ctx: RequestContext, entry: Entry, first: int, last: int) -> None:
    """Note which summaries of the session are due by one of these turns."""
    rhythm = h.rhythm(*directory.habits(ctx, entry.name))
    for every, says in zip(rhythm or (), ('{"long":false}', '{"long":true}'), strict=False):
        due = last - last % every
        if due >= first:
            job = Job(
                entry.workspace, SUMMARISE, entry.name, last=due, payload=says, namespace=entry.namespace
            )
            ctx.tx.work.add(job, ctx.now)


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
    return {
        "workspace_id": line.compartment.workspace,
        "session_id": line.session,
        "peer_id": line.compartment.owner,
        "token_count": line.tokens,
        "created_at": said_at(line),
        "metadata": decode_metadata(line.metadata),
    }


def read_messages(ctx: RequestContext, lines: Iterable[SealedLine]) -> list[StoredMessage]:
    """Raises: Tampered."""
    opener = Opener(ctx)
    return [StoredMessage(line, opener.text(line)) for line in lines]


def find_message(ctx: RequestContext, session: str, message_id: str) -> SealedLine:
    """Raises: NotFound."""
    namespace = directory.need(ctx, SESSION, session).namespace
    for peer in dict.fromkeys(stay.held for stay in directory.stays(ctx, session)):
        line = ctx.tx.lines.get(compartment_of(ctx, peer, namespace), message_id)
        if line is not None and line.session == session and line.turn is not None:
            return line
    raise NotFound("there is no such message")
