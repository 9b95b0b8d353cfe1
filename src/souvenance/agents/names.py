"""Valid names made of any text: unchanged if it is a valid name, and never two alike."""

from __future__ import annotations

import re
from collections.abc import Set
from hashlib import sha256

from souvenance.domain.encoding import frame
from souvenance.patterns import pattern

MOST_CHARS = 100
"""Of the name of a peer or of a session."""

_DIGITS = (16, 24, 32, 64)
"""Of a digest in a name. Eight would let chance merge people whose names are all hyphens once sanitised; with
twelve, every UUID would look escalated."""
_ESCALATED = pattern(r".-(?:[0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{64})\Z")
_PLAIN = pattern(r"[a-zA-Z0-9_-]{1,100}\Z")


def is_plain(text: str) -> bool:
    """Whether the text is a name as it is, and not what `escalated` may have made of another."""
    return bool(_PLAIN.match(text)) and not _ESCALATED.search(text)


def sanitised(text: str) -> str:
    """The text with a hyphen for every character that a name can't have: one for one."""
    return re.sub(r"[^a-zA-Z0-9_-]", "-", text)


def escalated(stem: str, taken: Set[str], *original: str) -> str:
    """The stem, with as much of the original's digest as makes it unique."""
    whole = digest(*original)
    names = [f"{stem[: MOST_CHARS - 1 - digits]}-{whole[:digits]}" for digits in _DIGITS]
    return next((name for name in names if name not in taken), names[-1])


def marked(shown: str, *original: str) -> str:
    """As much of what is shown as a name can have, and a digest of the original, which no other name has."""
    readable, digits = re.sub("-+", "-", sanitised(shown)).strip("-") or "session", _DIGITS[0]
    return f"{readable[: MOST_CHARS - 2 - digits]}--{digest(*original)[:digits]}"


def digest(*fields: str) -> str:
    """Of the fields, byte for byte, in hexadecimal; lone surrogates included."""
    return sha256(frame(*(field.encode("utf-8", "surrogatepass") for field in fields))).hexdigest()
