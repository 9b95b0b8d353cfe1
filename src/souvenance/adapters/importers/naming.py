"""Names made of what the source calls somebody or something: as it is if it can be, and never two alike."""

from __future__ import annotations

from souvenance.agents.names import digest, is_plain, sanitised

_MOST_STEM = 48
_DIGITS = 32


def name_of(text: str, prefix: str = "") -> str:
    """The text itself if it is a plain name, else as much of it as can be and a digest of all of it."""
    if is_plain(text):
        return f"{prefix}{text}"
    return f"{prefix}{sanitised(text)[:_MOST_STEM] or 'x'}-{digest(text)[:_DIGITS]}"


class Counted:
    """Ids for what the source gives none: made of what it says, and the how-manieth of its like it is."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def id_of(self, *said: str) -> str:
        whole = digest(*said)
        key = bytes.fromhex(whole)[:16]
        self._seen[key] = nth = self._seen.get(key, 0) + 1
        return whole[:_DIGITS] if nth == 1 else f"{whole[:_DIGITS]}-{nth}"
