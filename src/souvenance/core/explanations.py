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


class SignalValue(Struct, frozen=True):
    """One signal of `souvenance.domain.relevance`: its value, what it weighs and what it added."""

    value: float
    weight: float
    added: float


class Explanation(Struct, frozen=True):
    """Why a line was found."""

    rank: int
    """Its place among what was found, from 1."""
    by: str
    """'relevance', 'part of a word', or 'newest' for one that nothing else speaks for."""
    signals: dict[str, SignalValue]
    """By name, what added most first; they add up to the score."""
    score: float | None
    space: str | None
    """The embedder's space in which meanings were compared; null if the search was by words alone."""


def unranked(by: str, rank: int = 0, score: float | None = None) -> Explanation:
    """Of a line that no signal speaks for."""
    return Explanation(rank, by, {}, score, None)


def compared_in(ctx: RequestContext, hits: Iterable[Hit]) -> str | None:
    """The space in which the meaning of any of these was compared with the question's."""
    return ctx.services.meaning.space if any(MEANING in hit.signals for hit in hits) else None


def explained(hit: Hit, rank: int, space: str | None) -> Explanation:
    return Explanation(rank, RELEVANCE, by_share(hit.signals), round(hit.score, 6), space)


def by_share(found: Mapping[str, float]) -> dict[str, SignalValue]:
    """Each signal with what it added, most first."""
    signals = {
        name: SignalValue(round(value, 6), WEIGHTS[name], round(WEIGHTS[name] * value, 6))
        for name, value in found.items()
    }
    return dict(sorted(signals.items(), key=lambda pair: abs(pair[1].added), reverse=True))
