"""Emoji: each thing that is pictured, whatever its skin, its style and what it is joined to."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from mnemon.domain.pattern import pattern

_THINGS = (
    "\u231a\u231b\u23f0-\u23f3\u2600-\u2604\u260e\u2614\u2615\u2618\u2620\u262e\u262f\u2639\u263a\u2648-\u2653"
    "\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267f\u2692-\u2697\u2699\u269b\u269c\u26a1\u26bd\u26be"
    "\u26c4\u26c5\u26c8\u26cf\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2708-\u270d\u270f\u2712"
    "\u271d\u2721\u2728\u2744\u2763\u2764\u2b50\U0001f004\U0001f0cf\U0001f300-\U0001f3fa\U0001f400-\U0001f4ff"
    "\U0001f525-\U0001f52e\U0001f549-\U0001f64f\U0001f680-\U0001f6ff\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)
"""Without ticks, arrows, stars and buttons, which are set before the items of a list."""
_LETTER = "[\U0001f1e6-\U0001f1ff]"
"""Two make a flag."""
_EMOJI = pattern(rf"[\u231a-\U0001faff](?:(?<=[{_THINGS}])|(?<={_LETTER}){_LETTER})")

_MOODS = (
    (0x261D, 0x261D), (0x2639, 0x263A), (0x2665, 0x2665), (0x270A, 0x270C), (0x2728, 0x2728),
    (0x2763, 0x2764), (0x1F389, 0x1F38A), (0x1F446, 0x1F450), (0x1F493, 0x1F49F), (0x1F4AA, 0x1F4AA),
    (0x1F4AF, 0x1F4AF), (0x1F525, 0x1F525), (0x1F5A4, 0x1F5A4), (0x1F600, 0x1F64F), (0x1F90C, 0x1F92F),
    (0x1F970, 0x1F976), (0x1F978, 0x1F97A), (0x1F9E1, 0x1F9E1), (0x1FA75, 0x1FA77), (0x1FAE0, 0x1FAE9),
    (0x1FAF0, 0x1FAF8),
)  # fmt: skip
MOODS = frozenset(chr(point) for first, last in _MOODS for point in range(first, last + 1))
"""Faces, hands and hearts: how something is said, and seldom what it is about."""


_STYLE = "black building emoji face heavy sign symbol white"
_STYLES = frozenset(_STYLE.split())
_KINDS = 1 << 11
"""How many are kept in mind; there are not many more."""


def pictures(text: str) -> Sequence[str]:
    """The emoji of a text in order; a flag is one, and of what is joined each part is."""
    return _EMOJI.findall(text)


@lru_cache(_KINDS)
def called(picture: str) -> Sequence[str]:
    """The words by which an emoji is known: 'slice of pizza'. Moods and flags have none."""
    if picture in MOODS or len(picture) > 1:
        return ()
    return [word for word in unicodedata.name(picture, "").lower().split() if word not in _STYLES]
