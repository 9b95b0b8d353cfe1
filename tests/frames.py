"""The frame that recalled text stands in, taken off."""

from __future__ import annotations

import re

_FRAME = re.compile(r"<memory-context>\n\[System note: [^\[\]]*\]\n\n(.*)\n</memory-context>", re.DOTALL)


def inside(text: str) -> str:
    """What stands in the frame, which opens and closes once and has nothing around it; else nothing."""
    if not text:
        return ""
    found = _FRAME.fullmatch(text)
    assert found, text
    assert text.count("memory-context>") == 2, text
    return found[1]
