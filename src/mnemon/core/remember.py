"""Remember: append one line, sealed and indexed, once."""

from __future__ import annotations

from msgspec import Struct

from mnemon.core.desk import Desk, opened
from mnemon.core.vault import RoomKeys
from mnemon.domain import content, words
from mnemon.domain.line import TOMBSTONE, Line, SealedLine, check_line
from mnemon.errors import Conflict


class Draft(Struct, frozen=True, gc=False):
    """What a caller wants remembered."""

    namespace: str
    kind: str
    text: str
    id: str | None = None
    session: str | None = None
    occurred_at: int | None = None
    supersedes: str | None = None
    metadata: content.Metadata | None = None


def remember(desk: Desk, draft: Draft) -> tuple[Line, bool]:
    """The stored line, and whether it was there already.

    Raises: InvalidInput, LimitExceeded, Conflict if the id is taken by another content.
    """
    line = Line(
        room=desk.room(draft.namespace),
        id=draft.id or desk.fresh_id(),
        kind=draft.kind,
        text=draft.text,
        session=draft.session,
        created_at=desk.now,
        occurred_at=draft.occurred_at,
        supersedes=draft.supersedes,
        cap=desk.cap,
        metadata=draft.metadata or {},
    )
    check_line(line, chosen_id=draft.id is not None, now=desk.now, limits=desk.tools.limits)
    metadata = content.encode_metadata(line.metadata)
    keys = desk.tools.vault.room(desk.tx, line.room)
    if desk.tx.lines.append(_sealed(desk, line, keys, metadata)):
        _index(desk, line, keys)
        return line, False
    return _first_told(desk, line, keys), True


def _sealed(desk: Desk, line: Line, keys: RoomKeys, metadata: str) -> SealedLine:
    return SealedLine(
        room=line.room,
        id=line.id,
        kind=line.kind,
        session=line.session,
        created_at=line.created_at,
        occurred_at=line.occurred_at,
        supersedes=line.supersedes,
        cap=line.cap,
        metadata=metadata,
        epoch=keys.epoch,
        sealed=desk.tools.vault.seal(line, keys),
    )


def _index(desk: Desk, line: Line, keys: RoomKeys) -> None:
    if line.kind == TOMBSTONE:
        return
    found = words.terms(line.text)
    tokens = words.blind(keys.blind, found).tobytes()
    desk.tx.terms.add(line.room, line.id, tokens, bytes(found.values()))


def _first_told(desk: Desk, line: Line, keys: RoomKeys) -> Line:
    stored = desk.tx.lines.get(line.room, line.id)
    if stored is not None and desk.scope.sees(stored.session):
        first = opened(stored, keys)
        if line.says_the_same_as(first):
            return first
    raise Conflict("a line of that id exists and says something else")
