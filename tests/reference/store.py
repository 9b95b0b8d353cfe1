"""The reference store: plain dictionaries that say what the contract means.

A write works on a copy that replaces the original at the end, so that a block that raises
changes nothing. It is made to be read and compared with, not to be fast.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

from reference.directory import MemoryRegister
from reference.jobs import MemoryWork
from reference.lines import MemoryLines
from reference.reindexing import MemoryRenewal
from reference.replication import MemoryReplication
from reference.sign_ins import MemorySignIns
from reference.state import State
from souvenance.domain import merkle
from souvenance.domain.audit import GENESIS, OK, Event, Row, leaf_of
from souvenance.domain.capability import Revocation
from souvenance.domain.change_feed import UNSAID, Feed, Saying, TermsChange, packed
from souvenance.domain.names import ALL, Compartment
from souvenance.ports.store import ChangeMarks, Difference, Vector, WantedRows, WrappedKey


class _Terms:
    comparing: ClassVar[None] = None

    def __init__(self, state: State) -> None:
        self._state = state

    def add(
        self, compartment: Compartment, line_id: str, tokens: bytes, counts: bytes, said: Saying = UNSAID
    ) -> None:
        changes = self._state.terms.setdefault(compartment, [])
        changes.append(TermsChange(self._next(compartment), line_id, tokens, counts, said))

    def remove(self, compartment: Compartment, line_ids: Collection[str]) -> None:
        for line_id in sorted(set(line_ids)):
            changes = self._state.terms.get(compartment, [])
            kept = [change for change in changes if change.id != line_id or change.tokens is None]
            if len(kept) < len(changes):
                self._state.terms[compartment] = [
                    *kept,
                    TermsChange(self._next(compartment), line_id, None, b""),
                ]
                self._drop({place for place in self._state.vectors if place[::2] == (compartment, line_id)})

    def delete_compartment(self, compartment: Compartment) -> None:
        self._state.renewals.pop(compartment, None)
        self._state.terms.pop(compartment, None)
        self._drop({place for place in self._state.vectors if place[0] == compartment})

    def indexed(self, compartment: Compartment, line_ids: Collection[str] | None = None) -> set[str]:
        placed = {place[2] for place in self._state.vectors if place[0] == compartment}
        found = placed.union(self._indexed(compartment))
        return found if line_ids is None else found.intersection(line_ids)

    def since(self, compartment: Compartment, seq: int) -> Feed:
        found = [change for change in self._state.terms.get(compartment, []) if change.seq > seq]
        return packed([(*change[:-1], *change.said) for change in found])

    def lie(self, compartment: Compartment, space: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        indexed = self._indexed(compartment)
        for line_id, sealed in sorted(dict(vectors).items()):
            if line_id in indexed:
                self._state.vectors[compartment, space, line_id] = Vector(
                    self._next(compartment), line_id, sealed
                )

    def vectors(
        self, compartment: Compartment, space: str, seq: int, most: int | None = None
    ) -> list[Vector]:
        found = [vector for place, vector in self._state.vectors.items() if place[:2] == (compartment, space)]
        return sorted(vector for vector in found if vector.seq > seq)[:most]

    def lacking(self, compartment: Compartment, space: str, most: int, beyond: int = 0) -> list[str]:
        indexed = self._indexed(compartment)
        found = [line_id for line_id in indexed if (compartment, space, line_id) not in self._state.vectors]
        return found[beyond : beyond + most]

    def newest_lacking(self, compartment: Compartment, space: str, most: int) -> list[str]:
        newest = self._state.terms.get(compartment, [])[: -most - 1 : -1]
        indexed = (change.id for change in newest if change.tokens is not None)
        return [line_id for line_id in indexed if (compartment, space, line_id) not in self._state.vectors]

    def spaces(self) -> dict[str, int]:
        return dict(Counter(space for _, space, _ in self._state.vectors))

    def leave(self, space: str, most: int) -> int:
        going = [place for place in self._state.vectors if place[1] == space][:most]
        self._drop(going)
        return len(going)

    def _next(self, compartment: Compartment) -> int:
        """A number above that of every change and vector of the compartment."""
        vectors = (vector.seq for place, vector in self._state.vectors.items() if place[0] == compartment)
        changes = (change.seq for change in self._state.terms.get(compartment, ()))
        return 1 + max([0, *vectors, *changes])

    def _indexed(self, compartment: Compartment) -> list[str]:
        return [change.id for change in self._state.terms.get(compartment, []) if change.tokens is not None]

    def _drop(self, going: Collection[tuple[Compartment, str, str]]) -> None:
        for place in going:
            del self._state.vectors[place]


class _Keys:
    def __init__(self, state: State) -> None:
        self._state = state

    def of(self, workspace: str, owner: str, namespaces: Collection[str] | None = None) -> list[WrappedKey]:
        return [
            key
            for key in self.every()
            if key.compartment[:2] == (workspace, owner)
            and (namespaces is None or key.compartment.namespace in namespaces)
        ]

    def add(self, key: WrappedKey) -> None:
        self._state.keys[key.compartment, key.purpose, key.epoch] = key

    def rewrap(self, key: WrappedKey) -> None:
        place = (key.compartment, key.purpose, key.epoch)
        if place in self._state.keys:
            self._state.keys[place] = key

    def next_epoch(self, workspace: str) -> int:
        return self._state.increase(workspace, "epoch")

    def every(self) -> list[WrappedKey]:
        return [key for _, key in sorted(self._state.keys.items())]

    def delete_compartment(self, compartment: Compartment) -> int:
        doomed = [place for place in self._state.keys if place[0] == compartment]
        for place in doomed:
            del self._state.keys[place]
        return len(doomed)


class _Caps:
    def __init__(self, state: State) -> None:
        self._state = state

    def revoke(self, revocation: Revocation) -> None:
        one = revocation
        place = (one.workspace, one.kind, one.value, one.by)
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
    def __init__(self, state: State) -> None:
        self._state = state

    def append(self, workspace: str, event: Event) -> Row:
        rows = self._state.audit.setdefault(workspace, [])
        previous = rows[-1].leaf if rows else GENESIS
        row = Row(workspace, len(rows), event, leaf_of(workspace, len(rows), event, previous))
        rows.append(row)
        return row

    def rows(self, workspace: str, first: int, limit: int) -> list[Row]:
        return self._state.audit.get(workspace, [])[first : first + limit]

    def find(self, workspace: str, wanted: WantedRows, limit: int) -> list[Row]:
        found = [row for row in self._state.audit.get(workspace, []) if _fits(row, wanted)]
        return found[::-1][:limit]

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


def _fits(row: Row, wanted: WantedRows) -> bool:
    event = row.event
    return (
        wanted.first <= row.seq < wanted.before
        and wanted.actor in (None, event.actor)
        and (wanted.operations is None or event.operation in wanted.operations)
        and wanted.allowed in (None, event.outcome == OK)
        and (wanted.since is None or event.at >= wanted.since)
        and (wanted.until is None or event.at < wanted.until)
        and (wanted.line is None or wanted.line in event.lines)
    )


class _Transaction:
    def __init__(self, state: State) -> None:
        self._state = state
        self.lines = MemoryLines(state)
        self.terms = _Terms(state)
        self.keys = _Keys(state)
        self.caps = _Caps(state)
        self.audit = _Audit(state)
        self.directory = MemoryRegister(state)
        self.work = MemoryWork(state)
        self.renewal = MemoryRenewal(state)
        self.signins = MemorySignIns(state)
        self.replication = MemoryReplication(state)

    def marks(self, workspace: str) -> ChangeMarks:
        def total(name: str) -> int:
            return sum(self._state.counters.get((place, name), 0) for place in {workspace, ALL})

        return ChangeMarks(total("caps"), total("rooms"))

    def touch(self, workspace: str, *, caps: bool = False, compartments: bool = False) -> None:
        if caps:
            self._state.increase(workspace, "caps")
        if compartments:
            self._state.increase(workspace, "rooms")

    def owe_scrub(self) -> None:
        self._state.increase(ALL, "scrub")

    def differences(self) -> list[Difference]:
        return []

    def workspaces(self) -> Sequence[str]:
        return sorted(workspace for workspace, rows in self._state.audit.items() if rows)


class MemoryStore:
    """The book in this process's memory."""

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.Lock()

    @contextmanager
    def read(self, workspace: str = ALL) -> Iterator[_Transaction]:
        yield _Transaction(self._state)

    @contextmanager
    def write(self, workspace: str = ALL, *, lasting: bool = True) -> Iterator[_Transaction]:
        with self._lock:
            changed = self._state.copied()
            yield _Transaction(changed)
            self._state = changed

    def claim(self) -> AbstractContextManager[_Transaction]:
        return self.write(lasting=False)

    def scrub(self) -> bool:
        self._state.counters.pop((ALL, "scrub"), None)
        return True

    def scrub_pending(self) -> bool:
        return (ALL, "scrub") in self._state.counters

    def close(self) -> None:
        pass
