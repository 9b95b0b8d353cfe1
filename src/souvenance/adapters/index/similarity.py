"""How near lines lie to a question: by vectors of the store, and by those that were made for a question."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.adapters.index.compartment import FreshVectors, Meanings, SeenLines
from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.adapters.index.view import IndexView

_NEWEST = 256
"""Among how many of a segment's newest lines those are looked for that were just written."""


def nearness(
    view: IndexView,
    compartments: Sequence[Meanings | SeenLines],
    fresh: Sequence[FreshVectors],
    question: NDArray[np.float32],
) -> NDArray[np.float64]:
    """How near each line of the view lies to the question; 0 for one that has no vector."""
    found = np.concatenate(
        [compartments[number].near(segment.lines.ids, question) for number, segment in view.segments]
    )
    near = [vectors.near(question) for vectors in fresh]
    for (number, segment), offset in zip(view.segments, view.offsets, strict=False):
        if near[number]:
            begins = max(0, segment.size - _NEWEST)
            for at, line_id in enumerate(segment.lines.ids[begins:].tolist(), offset + begins):
                if line_id in near[number] and not found[at]:
                    found[at] = near[number][line_id]
    return found
