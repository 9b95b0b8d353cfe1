"""The reference renewal of tokens, in plain dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from reference.state import State
from souvenance.domain.change_feed import TermsChange
from souvenance.domain.names import Compartment
from souvenance.ports.index import Debt, Renewed


class MemoryRenewal:
    def __init__(self, state: State) -> None:
        self._state = state

    def analysis(self) -> str:
        return "".join(self._state.analysis)

    def analyse_by(self, analysis: str) -> None:
        self._state.analysis = {analysis}

    def owe(self, compartments: Collection[Compartment]) -> None:
        for compartment in compartments:
            self._state.renewals.setdefault(compartment, 0)

    def next(self, *within: str) -> Debt | None:
        owed = [compartment for compartment in self._state.renewals if compartment[: len(within)] == within]
        return Debt(min(owed), self._state.renewals[min(owed)]) if owed else None

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        found = [
            (change.seq, change.id) for change in self._indexed(debt.compartment) if change.seq > debt.seq
        ]
        return found[:most]

    def renew(self, compartment: Compartment, lines: Sequence[Renewed]) -> None:
        made = {(line.seq, line.id): line for line in lines}
        changes = self._state.terms.get(compartment, [])
        for place, change in enumerate(changes):
            line = made.get((change.seq, change.id))
            if line is not None and change.tokens is not None:
                changes[place] = change._replace(tokens=line.tokens, counts=line.counts)

    def reach(self, debt: Debt) -> None:
        if self._state.renewals.get(debt.compartment, debt.seq) < debt.seq:
            self._state.renewals[debt.compartment] = debt.seq

    def settle(self, compartment: Compartment) -> None:
        self._state.renewals.pop(compartment, None)

    def owed(self, *within: str) -> int:
        return sum(
            change.seq > seq
            for compartment, seq in self._state.renewals.items()
            if compartment[: len(within)] == within
            for change in self._indexed(compartment)
        )

    def lacking(self, space: str, *within: str) -> int:
        return sum(
            (compartment, space, change.id) not in self._state.vectors
            for compartment in self._state.terms
            if compartment[: len(within)] == within
            for change in self._indexed(compartment)
        )

    def _indexed(self, compartment: Compartment) -> Iterator[TermsChange]:
        return (change for change in self._state.terms.get(compartment, []) if change.tokens is not None)
