"""How near lines lie to a question: by vectors of the store, and by those that were made for a question."""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.index.arrays import NDArray, np
from mnemon.adapters.index.room import Meanings, Told, Vectors, rounded
from mnemon.adapters.index.view import View
from mnemon.domain.vector import SCALE_BYTES

_NEWEST = 256
"""Among how many of a segment's newest lines those are looked for that were just written."""


def nearness(
    view: View, rooms: Sequence[Meanings | Told], fresh: Sequence[Vectors], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    """How near each line of the view lies to the question; 0 for one that has no vector."""
    found = np.concatenate(
        [rooms[number].near(segment.lines.ids, question) for number, segment in view.segments]
    )
    for (number, segment), offset in zip(view.segments, view.offsets, strict=False):
        if fresh[number]:
            begins = max(0, segment.size - _NEWEST)
            for at, line_id in enumerate(segment.lines.ids[begins:].tolist(), offset + begins):
                if line_id in fresh[number] and not found[at]:
                    found[at] = _near(fresh[number][line_id], question)
    return found


def components(packed: bytes) -> NDArray[np.float32]:
    """A packed vector, as it is compared."""
    scale = np.frombuffer(packed[:SCALE_BYTES], dtype="<f4")
    found: NDArray[np.float32] = np.frombuffer(packed[SCALE_BYTES:], dtype=np.int8) * scale
    return found


def _near(vector: NDArray[np.float32], question: NDArray[np.float32]) -> float:
    return float(rounded(np.array([vector @ question], dtype=np.float64))[0])
