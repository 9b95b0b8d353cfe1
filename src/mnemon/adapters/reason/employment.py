"""Where somebody works by what happened: 'I got the job at Spotify', 'I start at Siemens on Monday'."""

from __future__ import annotations

import re

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.lexicon import TRADES
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_STARTED = pattern(
    r"(?:at|(?:(?:an?|my|the) (?:new )?(?:job|position|role)|work|working)(?: as an? (?:[\w-]+ ){1,3}?)? ?"
    r"(?:at|with|for)) (.+)"
)
_GOT_WORK = pattern(
    r"(?:(?:the|a|my|that|this) (?:new |dream )?(?:job|position|role)|hired)"
    r"(?: as an? (?P<trade>(?:[\w-]+ ){1,3}?)| )(?:at|with|by|from) (?P<where>.+)"
)
_OFFERED = pattern(r"(?:the|an?|my|their) (?:(?:new )?job offer|job|position|role) (?:at|with|from) (.+)")
_HIRED = pattern(r"hired (?:by|at) (.+)")
_NO_WORKPLACE = pattern(
    r"\b(?:Uni|University|College|School|Academy|Gym|Kindergarten|Church|Yoga|Fitness|Club)\b"
)
LATELY = pattern(
    r"(?:$|[,.;!]| (?:last (?:week|month|night|\w+day)|yesterday|today|this (?:week|month|morning|\w+day)"
    r"|tomorrow|next (?:week|month|\w+day)|on (?:\w+day|the)\b|in (?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december|a (?:week|month)|two|three)(?! \d)|and|so|but|as"
    r"|now|starting|recently|after all|finally)\b)",
    re.IGNORECASE,
)
"""What follows where it is so by now: of 'in 2010' or 'when I was 16' that is not said."""
_AND_LEFT = pattern(r"\b(?:left|quit|fired|resigned|laid off|let go|sacked)\b")


def employer(text: str) -> str | None:
    """Where somebody works by now who got to work there."""
    found = values.named_place(text)
    if found is None or _NO_WORKPLACE.search(found) or _AND_LEFT.search(text):
        return None
    if not LATELY.match(text[len(found) :]):
        return None
    return line("Works at", found)


def started(clause: Clause) -> str | None:
    """'I started at Stripe', 'I start my new job at Siemens on Monday'."""
    begun = clause.happened or (clause.tense in ("now", "going") and not clause.group.negated)
    at = _STARTED.match(clause.rest) if begun else None
    return employer(at[1]) if at else None


def accepted(clause: Clause) -> str | None:
    offered = _OFFERED.match(clause.rest) if clause.happened else None
    return employer(offered[1]) if offered else None


def work_got(clause: Clause) -> str | None:
    """'I got a job as a barista at Blue Bottle', of which the trade is told too."""
    work = _GOT_WORK.match(clause.rest) if clause.happened else None
    where, trade = (employer(work["where"]), (work["trade"] or "").strip()) if work else (None, "")
    if where is None or trade.rpartition(" ")[2].lower() not in TRADES:
        return where
    return line("Works as", f"{trade} at {where.partition(': ')[2]}")


def hired_by(rest: str) -> str | None:
    hired = _HIRED.match(rest)
    return employer(hired[1]) if hired else None
