"""Words by which something is said not to be so, or to be only thought of."""

from __future__ import annotations

import re

from souvenance.language.lexicon import any_holds
from souvenance.patterns import pattern

_DENIES = pattern(
    r"n['’]t\b|\b(?:not?|nope|nah|never|none|nobody|nothing|neither|nor|without|cannot|dont|doesnt|didnt|isnt"
    r"|cant|wont|nein|nee|nicht|nie|kein(?:e[nmrs]?)?|ohne|nunca|jamás|sin|não|sem|ne|pas|jamais|sans|non"
    r"|senza|mai|niet|geen|nooit|zonder|inte|ikke|не|нет|никогда|без|değil|yok|لا|ليس|לא|नहीं)\b"
    r"|[不没沒]|ません|ない|なかった|않|없|아니|못",
    re.IGNORECASE,
)
_SUPPOSES = pattern(
    r"\b(?:should i|если|бы|gdyby|keşke|لو|אם)\b|如果|要是|もし|たら|만약|라면", re.IGNORECASE
)


def denies(text: str) -> bool:
    """Whether a text has a word by which something is said not to be so."""
    return _DENIES.search(text) is not None


def supposes(text: str) -> bool:
    """Whether a text has a word by which something is only imagined, wished or thought possible."""
    return any_holds(("unsure",), text) or _SUPPOSES.search(text) is not None
