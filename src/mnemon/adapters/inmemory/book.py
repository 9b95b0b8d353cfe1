"""The reference book: plain dictionaries that say what the contract means.

A write works on a copy that replaces the original at the end, so that a block that raises
changes nothing. It is made to be read and compared with, not to be fast.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from mnemon.domain import merkle
from mnemon.domain.audit import GENESIS, Event, Row, leaf_of
from mnemon.domain.cap import Revocation
from mnemon.domain.line import PROFILE, TOMBSTONE, SealedLine
from mnemon.domain.names import ALL, Room
from mnemon.ports.book import Marks, Span, TermsChange, WrappedKey


@dataclass
class _State:
    lines: dict[Room, dict[str, SealedLine]] = field(default_factory=dict)
    terms: dict[Room, list[TermsChange]] = field(default_factory=dict)
    keys: dict[tuple[Room, str, int], WrappedKey] = field(default_factory=dict)
    revocations: dict[tuple[str, str, str, str], Revocation] = field(default_factory=dict)
    burned: dict[tuple[str, str], int] = field(default_factory=dict)
    audit: dict[str, list[Row]] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)

    def increase(self, workspace: str, name: str) -> int:
        value = self.counters.get((workspace, name), 0) + 1
        self.counters[workspace, name] = value
        return value

    def copied(self) -> _State:
        return _State(
            lines={room: dict(lines) for room, lines in self.lines.items()},
            terms={room: list(changes) for room, changes in self.terms.items()},
            audit={workspace: list(rows) for workspace, rows in self.audit.items()},
            **{
                name: copy.copy(getattr(self, name)) for name in ("keys", "revocations", "burned", "counters")
            },
        )


class _Lines:
    def __init__(self, state: _State) -> None:
        self._state = state

    def append(self, line: SealedLine) -> bool:
        room = self._state.lines.setdefault(line.room, {})
        if line.id in room:
            return False
        room[line.id] = line
        return True

    def get(self, room: Room, line_id: str) -> SealedLine | None:
        return self._state.lines.get(room, {}).get(line_id)

    def walk(self, span: Span) -> list[SealedLine]:
        found = [
            line
            for namespace in span.namespaces
            for line in self._state.lines.get(Room(span.workspace, span.owner, namespace), {}).values()
            if (span.after is None or (line.id, namespace) > span.after)
            and (span.before is None or line.id < span.before)
            and (span.sessions is None or line.session in span.sessions)
            and (not span.profile or line.kind == PROFILE)
            and (span.history or (line.invalidated_by is None and line.kind != TOMBSTONE))
        ]
        found.sort(key=lambda line: (line.id, line.room.namespace), reverse=span.newest_first)
        return found[: span.limit]

    def ids(self, span: Span) -> list[str]:
        return [line.id for line in self.walk(span)]

    def invalidate(self, room: Room, target: str, by: str) -> bool:
        line = self._state.lines.get(room, {}).get(target)
        if line is None or line.invalidated_by is not None:
            return False
        self._state.lines[room][target] = replace(line, invalidated_by=by)
        return True

    def delete(self, room: Room, line_id: str) -> bool:
        return self._state.lines.get(room, {}).pop(line_id, None) is not None

    def delete_room(self, room: Room) -> int:
        return len(self._state.lines.pop(room, {}))

    def count(self, room: Room) -> int:
        return len(self._state.lines.get(room, {}))

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        return [room.namespace for room in self.rooms() if room[:2] == (workspace, owner)]

    def rooms(self) -> list[Room]:
        return sorted(room for room, lines in self._state.lines.items() if lines)


class _Terms:
    def __init__(self, state: _State) -> None:
        self._state = state

    def add(self, room: Room, line_id: str, tokens: bytes | None, counts: bytes) -> None:
        changes = self._state.terms.setdefault(room, [])
        seq = changes[-1].seq + 1 if changes else 1
        changes.append(TermsChange(seq, line_id, tokens, counts))

    def remove(self, room: Room, line_id: str) -> None:
        changes = self._state.terms.get(room, [])
        kept = [change for change in changes if change.id != line_id or change.tokens is None]
        if len(kept) < len(changes):
            self._state.terms[room] = [*kept, TermsChange(changes[-1].seq + 1, line_id, None, b"")]

    def delete_room(self, room: Room) -> None:
        self._state.terms.pop(room, None)

    def since(self, room: Room, seq: int) -> Iterable[TermsChange]:
        return [change for change in self._state.terms.get(room, []) if change.seq > seq]


class _Keys:
    def __init__(self, state: _State) -> None:
        self._state = state

    def of(self, workspace: str, owner: str, namespaces: Collection[str] | None = None) -> list[WrappedKey]:
        return [
            key
            for key in self.every()
            if key.room[:2] == (workspace, owner) and (namespaces is None or key.room.namespace in namespaces)
        ]

    def add(self, key: WrappedKey) -> None:
        self._state.keys[key.room, key.purpose, key.epoch] = key

    def rewrap(self, key: WrappedKey) -> None:
        place = (key.room, key.purpose, key.epoch)
        if place in self._state.keys:
            self._state.keys[place] = key

    def next_epoch(self, workspace: str) -> int:
        return self._state.increase(workspace, "epoch")

    def every(self) -> list[WrappedKey]:
        return [key for _, key in sorted(self._state.keys.items())]

    def delete_room(self, room: Room) -> int:
        doomed = [place for place in self._state.keys if place[0] == room]
        for place in doomed:
            del self._state.keys[place]
        return len(doomed)


class _Caps:
    def __init__(self, state: _State) -> None:
        self._state = state

    def revoke(self, revocation: Revocation) -> None:
        one = revocation
        place = (one.workspace, one.kind, one.value, one.subject)
        known = self._state.revocations.get(place)
        if known is None or known.at < one.at:
            self._state.revocations[place] = one

    def revocations(self, workspace: str) -> list[Revocation]:
        return [one for one in self._state.revocations.values() if one.workspace in (workspace, ALL)]

    def burn(self, workspace: str, proof: str, now: int, until: int) -> bool:
        for place, old in list(self._state.burned.items()):
            if place[0] == workspace and old < now:
                del self._state.burned[place]
        if (workspace, proof) in self._state.burned:
            return False
        self._state.burned[workspace, proof] = until
        return True


class _Audit:
    def __init__(self, state: _State) -> None:
        self._state = state

    def append(self, workspace: str, event: Event) -> Row:
        rows = self._state.audit.setdefault(workspace, [])
        previous = rows[-1].leaf if rows else GENESIS
        row = Row(workspace, len(rows), event, leaf_of(workspace, len(rows), event, previous))
        rows.append(row)
        return row

    def rows(self, workspace: str, first: int, limit: int) -> list[Row]:
        return self._state.audit.get(workspace, [])[first : first + limit]

    def tree(self, workspace: str) -> merkle.Tree:
        leaves = [row.leaf for row in self._state.audit.get(workspace, [])]
        return merkle.Tree(
            size=len(leaves),
            leaves=lambda first, end: leaves[first:end],
            tiles=lambda first, end: [
                merkle.root_of(leaves[tile * merkle.TILE : (tile + 1) * merkle.TILE])
                for tile in range(first, end)
            ],
        )


class _Transaction:
    def __init__(self, state: _State) -> None:
        self._state = state
        self.lines = _Lines(state)
        self.terms = _Terms(state)
        self.keys = _Keys(state)
        self.caps = _Caps(state)
        self.audit = _Audit(state)

    def marks(self, workspace: str) -> Marks:
        def total(name: str) -> int:
            return sum(self._state.counters.get((place, name), 0) for place in {workspace, ALL})

        return Marks(total("caps"), total("rooms"))

    def touch(self, workspace: str, *, caps: bool = False, rooms: bool = False) -> None:
        if caps:
            self._state.increase(workspace, "caps")
        if rooms:
            self._state.increase(workspace, "rooms")

    def owe_scrub(self) -> None:
        self._state.increase(ALL, "scrub")

    def workspaces(self) -> Sequence[str]:
        return sorted(workspace for workspace, rows in self._state.audit.items() if rows)


class MemoryBook:
    """The book in this process's memory."""

    def __init__(self) -> None:
        self._state = _State()
        self._lock = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[_Transaction]:
        yield _Transaction(self._state)

    @contextmanager
    def write(self, *, lasting: bool = True) -> Iterator[_Transaction]:
        with self._lock:
            changed = self._state.copied()
            yield _Transaction(changed)
            self._state = changed

    def scrub(self) -> bool:
        self._state.counters.pop((ALL, "scrub"), None)
        return True

    def scrub_pending(self) -> bool:
        return (ALL, "scrub") in self._state.counters

    def close(self) -> None:
        pass
