"""Of lines of one speaker that say nearly the same, puts the newest first.

What was said before stays right behind it. How near two lines lie is known from their vectors alone, so this
works in every language that the embedder knows, and not without an embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from souvenance.core.request_context import RequestContext
from souvenance.core.search_bounds import SearchBounds
from souvenance.domain.line import SealedLine
from souvenance.domain.relevance import REPLACES_OLDER
from souvenance.ports.index import Hit, Place

LOOKED_AT = 10
"""How many of the best lines may take each other's places."""
_ALIKE = 0.6
"""How far from what is usual to being the same two lines must have come in meaning."""
_APART_MS = 86_400_000
"""What was said within a day of each other belongs together: neither replaces the other."""
_AHEAD = 1e-6

Alike = Callable[[Place, Collection[Place]], Mapping[Place, float]]
"""How far other lines have come in meaning to one, as far as that is known (`souvenance.ports.index`)."""


def newest_first(ctx: RequestContext, hits: Sequence[Hit], bounds: SearchBounds, alike: Alike) -> list[Hit]:
    """The hits, best first; before the best one the newest that says nearly the same."""
    times = _times(ctx, hits[:LOOKED_AT], bounds)
    best = next((hit for hit in hits[:LOOKED_AT] if hit[:2] in times), None)
    if best is None:
        return list(hits)
    newer = [
        hit
        for hit in hits[:LOOKED_AT]
        if hit.compartment.owner == best.compartment.owner
        and times.get(hit[:2], 0) - times[best[:2]] >= _APART_MS
    ]
    near = alike(best[:2], [hit[:2] for hit in newer]) if newer else {}
    same = [hit for hit in newer if near.get(hit[:2], 0.0) >= _ALIKE]
    if not same:
        return list(hits)
    newest = max(same, key=lambda hit: (times[hit[:2]], hit.id))
    return [ahead(newest, hits[0]), *(hit for hit in hits if hit is not newest)]


def ahead(hit: Hit, other: Hit) -> Hit:
    """The hit, as good as the other and a little better."""
    score = other.score + _AHEAD
    lacked = score - hit.score + hit.signals.get(REPLACES_OLDER, 0.0)
    return hit._replace(score=score, signals={**hit.signals, REPLACES_OLDER: lacked})


def _times(ctx: RequestContext, hits: Sequence[Hit], bounds: SearchBounds) -> dict[Place, int]:
    """When each of the lines was said or happened, of those that may be shown."""
    return {
        (compartment, line.id): _time(line)
        for compartment in {hit.compartment for hit in hits}
        for line in ctx.tx.lines.get_all(
            compartment, [hit.id for hit in hits if hit.compartment == compartment]
        )
        if line.invalidated_by is None and bounds.shown(line)
    }


def _time(line: SealedLine) -> int:
    return line.created_at if line.occurred_at is None else line.occurred_at
