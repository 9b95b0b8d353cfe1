"""The index: which lines of some compartments answer a question best.

Contract, which `contracts.index_contract` checks on every implementation. `search` reads the
compartments' blinded tokens and vectors through the reading transaction it is given and sees all that this
sees, and perhaps what was committed since; it may cache, and drops what `marks` declares stale.
Scores are those of `souvenance.domain.relevance`, up to rounding. Hits come best first; of equal scores what
was said last, then the newest id; never more than `k`. A line that lacks a mark, or lies outside of `within`
or of the inquiry's bounds, is as if it were not there: neither its words nor its meaning change what is said
of another. And no line is found that nothing but its own kind speaks for: a hit shares a term with the
question, answers a question that does, lies near it in meaning, or speaks of a day that it speaks of; or,
where a time is all that the question asks by, was said then. A line whose vector was made for the question
(`IndexQuery.freshen`) is compared as if the store had it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from souvenance.domain.names import Compartment
from souvenance.language.questions import Wants
from souvenance.language.times import TimeSpan
from souvenance.ports.store import Transaction

Place = tuple[Compartment, str]
"""A line's compartment, and its id there."""


Opened = Callable[[str, bytes], bytes | None]
"""From a line's id and its sealed vector to the packed one (`souvenance.domain.seal`); None if it does not
open: then the line has none."""


class Fresh(NamedTuple):
    """What of a compartment's newest lines the store has no vectors of yet."""

    lacking: Sequence[str] = ()
    """Their ids."""
    made: Mapping[str, bytes] = {}
    """The packed vectors that were made of them for this question, by id."""


Freshen = Callable[[Collection[str]], Fresh]
"""Looks for such lines, and makes vectors of some: not of those whose ids are given."""


class IndexQuery(Struct, frozen=True):
    """The question's terms under one compartment's key, in the same order for every compartment."""

    compartment: Compartment
    tokens: Sequence[int]
    marks: Sequence[int] = ()
    """Blinded tokens that a line must hold, all of them, to be found."""
    signs: Sequence[int] = ()
    """The blinded tokens of `souvenance.language.signs.EVERY`, in that order."""
    days: Sequence[int] = ()
    """The blinded tokens of the days and months that the question speaks of."""
    near_days: Sequence[int] = ()
    """Those of the days close to these."""
    open: Opened = lambda line_id, sealed: sealed
    freshen: Freshen = lambda known: Fresh()
    """Makes vectors of lines that were just written; it is asked when the question's vector is known."""


class Inquiry(Struct, frozen=True):
    """A question, as far as an index needs to know it."""

    compartments: Sequence[IndexQuery]
    groups: Sequence[int]
    """For each token the number of the question's term that it stands for."""
    closeness: Sequence[float]
    """For each token how near it is to that term: 1 for the term itself, less for a similar one."""
    vector: Callable[[], bytes | None] = lambda: None
    space: str = ""
    """Tells where the question lies, and may take its time for that; and in which space. None if meaning is
    left aside."""
    speakers: Collection[str] = ()
    """Whose lines the question means."""
    wants: Wants = Wants()
    spans: Sequence[TimeSpan] = ()
    """The times that the question speaks of."""
    by_time: bool = False
    """Whether times are all that it asks by: then what was said in one of `spans` is found too."""
    sessions: Collection[str] | None = None
    """The sessions that are looked into; None for all, and for what is of none."""
    said: bool = False
    """Whether only what was said in a session is looked at."""


class Hit(NamedTuple):
    compartment: Compartment
    id: str
    score: float
    signals: dict[str, float]
    """What each signal of `souvenance.domain.relevance` was, by its name; those that were 0 are left out."""


class Index(Protocol):
    def search(
        self, tx: Transaction, inquiry: Inquiry, k: int, within: Collection[str] | None = None
    ) -> list[Hit]: ...

    def alike(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        one: Place,
        others: Collection[Place],
        within: Collection[str] | None = None,
    ) -> dict[Place, float]:
        """How far each of the others has come in meaning from what is usual to being the same as the one.

        1 is the same. 0 is as near as most lines of the one's owner lie to it: a quarter of those in the
        inquiry's bounds that have vectors lie farther (of fewer than `relevance.FEW_ALIKE`, `relevance.USUAL`
        is usual). Only those are told that have vectors in its space; nothing if meaning is left aside.
        """

    def forget(self) -> None:
        """Drop everything cached."""


class Debt(NamedTuple):
    """A compartment whose tokens are to be made anew, behind the change of that number."""

    compartment: Compartment
    seq: int


class Renewed(NamedTuple):
    """What a line is found by, made anew, in the place of the change of that number."""

    seq: int
    id: str
    tokens: bytes
    counts: bytes


class Renewal(Protocol):
    """Which compartments' tokens are to be made anew, and how far that has come.

    Tokens that were made by two analyses can't be compared, so a store remembers by which one its tokens are
    made. Contract, which `contracts.reindexing_contract` checks on every store.

    Where there is `within`, it narrows: a workspace, then an owner of it, then a namespace of that.
    """

    def analysis(self) -> str:
        """By which analysis tokens are made; empty in a store that never said."""

    def analyse_by(self, analysis: str) -> None: ...

    def owe(self, compartments: Collection[Compartment]) -> None:
        """Note that these compartments are to be made anew; one that is noted already stays as far as it
        is."""

    def next(self, *within: str) -> Debt | None:
        """The first of the compartments that are to be made anew."""

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        """The next of its lines: the numbers of their changes, and their ids."""

    def renew(self, compartment: Compartment, lines: Sequence[Renewed]) -> None:
        """Replace what these are found by, as far as they are still indexed; their vectors stay.

        An index that knew the compartment sees it only once the workspace's compartments were touched.
        """

    def reach(self, debt: Debt) -> None:
        """The compartment is made anew up to that change; nothing if it was already, or is not owed."""

    def settle(self, compartment: Compartment) -> None:
        """The compartment is made anew, or is gone."""

    def owed(self, *within: str) -> int:
        """How many lines are still to be made anew."""

    def lacking(self, space: str, *within: str) -> int:
        """How many indexed lines of compartments that have keys lack a vector in that space."""
