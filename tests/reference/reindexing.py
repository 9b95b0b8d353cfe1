"""The reference renewal of tokens, in plain dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from reference.state import State
from souvenance.domain.change_feed import TermsChange
from souvenance.domain.names import Compartment
from souvenance.ports.reindexing import Debt, Renewed


class MemoryRenewal:
    def __init__(self, state: State) -> None:
        self._state = state

    def analysis(self) -> str:
        return "".join(self._state.analysis)

    def analyse_by(self, analysis: str) -> None:
        self._state.analysis = {analysis}

    def owe(self, rooms: Collection[Compartment]) -> None:
        for room in rooms:
            self._state.renewals.setdefault(room, 0)

    def next(self, *within: str) -> Debt | None:
        owed = [room for room in self._state.renewals if room[: len(within)] == within]
        return Debt(min(owed), self._state.renewals[min(owed)]) if owed else None

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        found = [(change.seq, change.id) for change in self._indexed(debt.room) if change.seq > debt.seq]
        return found[:most]

    def renew(self, room: Compartment, lines: Sequence[Renewed]) -> None:
        made = {(line.seq, line.id): line for line in lines}
        changes = self._state.terms.get(room, [])
        for place, change in enumerate(changes):
            line = made.get((change.seq, change.id))
            if line is not None and change.tokens is not None:
                changes[place] = change._replace(tokens=line.tokens, counts=line.counts)

    def reach(self, debt: Debt) -> None:
        if self._state.renewals.get(debt.room, debt.seq) < debt.seq:
            self._state.renewals[debt.room] = debt.seq

    def settle(self, room: Compartment) -> None:
        self._state.renewals.pop(room, None)

    def owed(self, *within: str) -> int:
        return sum(
            change.seq > seq
            for room, seq in self._state.renewals.items()
            if room[: len(within)] == within
            for change in self._indexed(room)
        )

    def lacking(self, space: str, *within: str) -> int:
        return sum(
            (room, space, change.id) not in self._state.vectors
            for room in self._state.terms
            if room[: len(within)] == within
            for change in self._indexed(room)
        )

    def _indexed(self, room: Compartment) -> Iterator[TermsChange]:
        return (change for change in self._state.terms.get(room, []) if change.tokens is not None)
