"""The words by which something is said not to be so, in the languages that have them as words."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern

_WESTERN = (
    r"n['’]t\b|\bnot\b(?! (?:only|just)\b)|\b(?:no|never|none|nobody|nothing|neither|nor|without|cannot"
    r"|unable|stopped|quit|gave up|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)"
    r"|nicht|nie|niemals|kein(?:e[nmrs]?)?|ohne|nunca|jamás|tampoco|sin|não|sem|ne|pas|jamais|sans|non(?!-)|senza"
    r"|niet|geen|nooit|zonder|inte|ikke|не|нет|никогда|без)\b|\bn['’](?=[aeiouhyéê])"
)
_EASTERN = (
    r"(?<![差对對了])不(?![错錯过過但仅僅光只同久少断斷管论論])|没(?![错准])|沒(?![錯準])|并非|無い"
    r"|未(?![来來])|ません|[^\W\d_]ない|なかった|않|없|아니|못[하해]|(?<!\w)(?:안|못) "
)
_DENIES = pattern(rf"{_WESTERN}|{_EASTERN}", re.IGNORECASE)


def denies(text: str) -> bool:
    """Whether a clause has such a word."""
    return _DENIES.search(text) is not None
