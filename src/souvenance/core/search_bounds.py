"""The bounds of a question: which lines are there for it, and what is found among them by words alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from souvenance.core.request_context import RequestContext
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import SealedLine
from souvenance.errors import Tampered
from souvenance.language import terms as words
from souvenance.ports.index import Hit, IndexQuery, Inquiry
from souvenance.ports.text import Thesaurus


def anyone(line: SealedLine) -> bool:
    """The test of who may be shown every line."""
    return True


class SearchBounds(Struct, frozen=True):
    """Lines beyond these have no part in an answer, not even in how telling a word is."""

    marks: Sequence[str] = ()
    sessions: Collection[str] | None = None
    said: bool = False
    within: Collection[str] | None = None
    shown: Callable[[SealedLine], bool] = anyone
    """Whether a line may be shown, as far as an index can't tell: what may not tells nothing either."""


def readable(keys: CompartmentKeys, line: SealedLine, bounds: SearchBounds) -> str:
    """What the line says, for whoever only wants to know how others are to be ranked.

    Nothing if it may not be shown or does not open: who is given that line hears of it.
    """
    if line.invalidated_by is not None or not bounds.shown(line):
        return ""
    try:
        return keys.open(line)
    except Tampered:
        return ""


class Spelt(Struct, frozen=True):
    """Terms and what is close to them: of each the number of its term, and how close it is to that."""

    terms: Sequence[str]
    groups: Sequence[int]
    closeness: Sequence[float]


def with_kin(thesaurus: Thesaurus, terms: Sequence[str]) -> Spelt:
    spelt, groups, closeness = list(terms), list(range(len(terms))), [1.0] * len(terms)
    for at, term in enumerate(terms):
        for kin, close in thesaurus.similar(term):
            if kin not in terms:
                spelt.append(kin)
                groups.append(at)
                closeness.append(close)
    return Spelt(spelt, groups, closeness)


def by_words(
    ctx: RequestContext, compartments: Sequence[CompartmentKeys], spelt: Spelt, k: int, bounds: SearchBounds
) -> list[Hit]:
    """The lines within the bounds that hold most of the terms."""
    inquiry = Inquiry(
        compartments=[
            IndexQuery(
                keys.compartment,
                words.blind(keys.blind, spelt.terms),
                words.blind(keys.blind, bounds.marks),
            )
            for keys in compartments
        ],
        groups=spelt.groups,
        closeness=spelt.closeness,
        sessions=bounds.sessions,
        said=bounds.said,
    )
    return ctx.services.index.search(ctx.tx, inquiry, k, bounds.within)
