"""Why a line was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from souvenance.core.request_context import RequestContext
from souvenance.domain.relevance import MEANING, WEIGHTS
from souvenance.ports.index import Hit

RELEVANCE = "relevance"
PART = "part of a word"
NEWEST = "newest"


class SignalShare(Struct, frozen=True):
    """One signal of `souvenance.domain.relevance`: its value, its weight, what it added, and its rank."""

    value: float
    weight: float
    added: float
    rank: int | None
    """Its line's place under this signal alone, among all that came into question; None for what is told
    only once these are ranked."""


class Reasons(Struct, frozen=True):
    rank: int
    """Its place among what was found, from 1."""
    by: str
    """What spoke for it: its relevance, a part of one of its words, or only that it is new."""
    score: float | None = None
    signals: Mapping[str, SignalShare] = {}
    space: str | None = None
    """Where meanings were compared; None if the search was by words alone."""


def compared_in(ctx: RequestContext, hits: Iterable[Hit]) -> str | None:
    """The space in which the meaning of any of these was compared with the question's."""
    return ctx.services.meaning.space if any(MEANING in hit.signals for hit in hits) else None


def explained(hit: Hit, rank: int, space: str | None) -> Reasons:
    signals = {
        name: SignalShare(
            round(value, 6), WEIGHTS[name], round(WEIGHTS[name] * value, 6), hit.ranks.get(name)
        )
        for name, value in hit.signals.items()
    }
    told = sorted(signals.items(), key=lambda pair: abs(pair[1].added), reverse=True)
    return Reasons(rank, RELEVANCE, round(hit.score, 6), dict(told), space)
