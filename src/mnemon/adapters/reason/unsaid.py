"""What goes without saying at the beginning of a sentence: 'Name's Ann', 'Home is Oslo', 'Nurse here'."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import TRADES
from mnemon.domain.pattern import pattern

_ONES_OWN = pattern(
    r"(?:name(?:'s| is) (?=(?-i:[A-ZÀ-Þ])|[\w'-]+(?:$|[,.!]))|(?:home|hometown)(?:'s| is) (?=(?-i:[A-ZÀ-Þ]))"
    r"|(?:the )?kids are (?=(?-i:[A-ZÀ-Þ])))",
    re.IGNORECASE,
)
"""What is the author's, with what it is."""
_BEING = pattern(r"(?:huge|big|massive|lifelong) (?:fan|lover) of ", re.IGNORECASE)
_HERE = pattern(
    r"(?!(?:No|Any|Some|The|Every|Each|My|Our|Your|Another|Is|Was)\b)(?=[A-Z])(?:An? )?"
    r"(?P<who>(?:[\w-]+ ){0,3}(?P<trade>[\w-]+)) here(?=$|[,.;!])"
)
"""It begins a sentence: of 'No nurse here' the first word may be taken for an answer."""
_THE = pattern(r"^the ", re.IGNORECASE)


def in_full(text: str) -> str:
    """The text with whose or who it is, where that goes without saying; any other as it is."""
    if _ONES_OWN.match(text):
        return f"my {_small(_THE.sub('', text, 1))}"
    if _BEING.match(text):
        return f"I'm a {_small(text)}"
    here = _HERE.match(text) if " here" in text else None
    if here and here["trade"].lower() in TRADES:
        return f"I'm a {_small(here['who'])}{text[here.end() :]}"
    return text


def names_alone(text: str) -> bool:
    """Whether it tells a name and leaves unsaid whose."""
    return text[:5].lower() in ("name'", "name ") and _ONES_OWN.match(text) is not None


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
