"""ULIDs: 48 bits of milliseconds, 80 bits of chance, 26 characters that sort by time.

Only the canonical spelling is accepted: upper case, no I, L, O, U. A second spelling of one
id would be a second key for one line.
"""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta

from souvenance.errors import InvalidInput

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_TIME, _CHANCE, _LOW = (40, 30, 20, 10, 0), (30, 20, 10, 0), (1 << 40) - 1
_CANONICAL = re.compile(f"[0-7][{_ALPHABET}]{{25}}")
LineId = Annotated[
    str, Meta(pattern=r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$(?!\n)", examples=["01JD7Y8Q2W3E4R5T6Y7V8J9K0M"])
]
ENTROPY_BYTES = 10
MAX_MS = (1 << 48) - 1


def compose(ms: int, entropy: bytes) -> str:
    """The ULID of that millisecond and those 10 random bytes."""
    chance = int.from_bytes(entropy, "big")
    parts = (ms, _TIME), (chance >> 40, _CHANCE), (chance & _LOW, _CHANCE)  # Short numbers are quick.
    return "".join([_PAIRS[part >> shift & 1023] for part, shifts in parts for shift in shifts])


def sequence(ms: int, entropy: bytes, count: int) -> list[str]:
    """So many ULIDs of that millisecond, each greater than the one before."""
    first = min(int.from_bytes(entropy, "big"), (1 << 80) - count)
    return [compose(ms, (first + step).to_bytes(ENTROPY_BYTES, "big")) for step in range(count)]


def check(text: str, field: str = "id") -> str:
    """The same text, if it is a canonical ULID. Raises: InvalidInput."""
    if not _CANONICAL.fullmatch(text):
        raise InvalidInput(f"{field} is not a ULID (26 characters, Crockford base32, upper case)")
    return text


def milliseconds(ulid: str) -> int:
    """The time that a checked ULID carries."""
    value = 0
    for letter in ulid[:10]:
        value = value << 5 | _VALUES[letter]
    return value


def floor(ms: int) -> str:
    """The smallest ULID of that millisecond, for ranges by time."""
    return compose(max(0, min(ms, MAX_MS)), b"\0" * ENTROPY_BYTES)


def below(ms: int) -> str:
    """The largest ULID before that millisecond, for ranges with an exclusive lower bound."""
    return "" if ms <= 0 else compose(min(ms, MAX_MS + 1) - 1, b"\xff" * ENTROPY_BYTES)
