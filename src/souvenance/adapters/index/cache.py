"""What an index keeps between questions, within a number of bytes.

Compartments are kept, and views of them. What was asked about longest ago is dropped first, a compartment
with the views of it. The compartment asked about last and its view stay, however large they are: without
them every question about a large compartment would read all of it from the store.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Sequence
from itertools import product
from typing import NamedTuple
from weakref import ref

from souvenance.adapters.index.compartments import CompartmentIndex, IndexView
from souvenance.domain.names import Compartment


class Sight(NamedTuple):
    """What is looked at: some compartments, and in them some sessions, or all."""

    compartments: tuple[Compartment, ...]
    sessions: frozenset[int] | None


class Seen(NamedTuple):
    """A view, and of what it was made: each compartment, and how far its sessions had changed."""

    view: IndexView
    made_of: tuple[tuple[ref[CompartmentIndex], int], ...]

    def shows(self, compartments: Sequence[CompartmentIndex], sessions: frozenset[int] | None) -> bool:
        pairs = zip(self.made_of, compartments, strict=True)
        return all(
            one() is compartment and compartment.changed(sessions) == upto
            for (one, upto), compartment in pairs
        )


_SESSION_BYTES = 256
"""What the name of a session and its number take, more or less."""
_FEW_SESSIONS = 4096
_LAST = 2
"""How many are kept whatever their size: a compartment and the view of it."""


class IndexCache:
    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._compartments: dict[Compartment, CompartmentIndex] = {}
        self._views: dict[Sight, Seen] = {}
        self._views_of: defaultdict[tuple[Compartment, bool], set[Sight]] = defaultdict(set)
        """Of each compartment, by whether they show the whole of it."""
        self._counted: OrderedDict[Compartment | Sight, int] = OrderedDict()
        """The size of each when it was last counted, those asked about longest ago first."""
        self._bytes = 0
        self._sessions: dict[tuple[str, str], int] = {}
        """The numbers of sessions, by workspace and name."""
        self._looked_over = _FEW_SESSIONS
        """From how many sessions on it is looked whether they are still there."""

    @property
    def nbytes(self) -> int:
        """What everything takes that is kept, in bytes."""
        found = _SESSION_BYTES * len(self._sessions)
        found += sum(seen.view.nbytes for seen in self._views.values())
        return found + sum(index.nbytes for index in self._compartments.values())

    def number(self, workspace: str, session: str) -> int:
        return self._sessions.setdefault((workspace, session), len(self._sessions))

    def numbers(self, workspaces: Collection[str], sessions: Collection[str]) -> frozenset[int]:
        """Of those sessions that are known."""
        named = product(workspaces, sessions)
        return frozenset(self._sessions[one] for one in named if one in self._sessions)

    @property
    def numbered(self) -> int:
        """How many numbers of sessions there are."""
        return len(self._sessions)

    def tidy(self) -> None:
        """Begin anew if most of the sessions are of compartments that were dropped. Numbers change: whoever
        looks at several compartments does that before."""
        if len(self._sessions) > self._looked_over:
            if len(self._sessions) > 2 * sum(index.sessions for index in self._compartments.values()):
                self.clear()
            self._looked_over = max(_FEW_SESSIONS, 2 * len(self._sessions))

    def compartment(self, compartment: Compartment, mark: int) -> CompartmentIndex:
        """As it was left, or empty."""
        index = self._compartments.get(compartment)
        if index is None or index.mark != mark:
            self._drop(compartment)
            index = self._compartments[compartment] = CompartmentIndex(mark)
            self._count(compartment, index.nbytes)
        self._counted.move_to_end(compartment)
        return index

    def keeps(self, compartment: Compartment, index: CompartmentIndex) -> bool:
        return self._compartments.get(compartment) is index

    def count(self, compartment: Compartment, index: CompartmentIndex) -> None:
        """Note how large a compartment has become, unless it was dropped meanwhile."""
        if self.keeps(compartment, index):
            self._count(compartment, index.nbytes)

    def view(self, sight: Sight) -> Seen | None:
        seen = self._views.get(sight)
        if seen is not None:
            self._counted.move_to_end(sight)
            self._count(sight, seen.view.nbytes)
        return seen

    def show(self, sight: Sight, seen: Seen) -> None:
        """Keep a view, if all that it shows is kept."""
        self._drop(sight)
        shown = zip(sight.compartments, (made() for made, _ in seen.made_of), strict=True)
        if all(index is not None and self.keeps(compartment, index) for compartment, index in shown):
            self._views[sight] = seen
            for compartment in sight.compartments:
                self._views_of[compartment, sight.sessions is None].add(sight)
            self._count(sight, seen.view.nbytes)

    def outdate(self, compartment: Compartment) -> None:
        """Drop the views of the whole of a compartment that has changed: they would keep what it was."""
        for sight in self._views_of.pop((compartment, True), ()):
            self._drop(sight)

    def clear(self) -> None:
        for kept in (self._compartments, self._views, self._views_of, self._counted, self._sessions):
            kept.clear()
        self._bytes = 0

    def _count(self, one: Compartment | Sight, size: int) -> None:
        self._bytes += size - self._counted.get(one, 0)
        self._counted[one] = size
        most = self._most_bytes - _SESSION_BYTES * len(self._sessions)
        while self._bytes > most and len(self._counted) > _LAST:
            self._drop(next(iter(self._counted)))

    def _drop(self, one: Compartment | Sight) -> None:
        self._bytes -= self._counted.pop(one, 0)
        if isinstance(one, Sight):
            self._views.pop(one, None)
            for compartment in one.compartments:
                self._views_of.get((compartment, one.sessions is None), set()).discard(one)
        elif one in self._compartments:
            index = self._compartments.pop(one)
            index.meanings = None  # A question that is being answered may hold the rest of it.
            for whole in (True, False):
                for sight in self._views_of.pop((one, whole), ()):
                    self._drop(sight)
