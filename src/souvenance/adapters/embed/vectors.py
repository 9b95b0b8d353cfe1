"""Vectors as the port wants them: of length 1, in little-endian 32-bit floats."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence


def packed(values: Sequence[float]) -> bytes:
    """Raises: ValueError if the values point nowhere."""
    length = math.hypot(*values)
    if not 0 < length < math.inf:
        raise ValueError("that is no vector")
    floats = array("f", [value / length for value in values])
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()
