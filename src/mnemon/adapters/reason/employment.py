"""Where somebody works by what happened: 'I got the job at Spotify'; or will: 'I start at Siemens on Monday'.

Who has yet to begin somewhere still works where they did: the two have labels of their own.
"""

from __future__ import annotations

import re

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.lexicon import TRADES, third
from mnemon.adapters.reason.person import they
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.values import line
from mnemon.domain.moments import day
from mnemon.domain.pattern import pattern
from mnemon.domain.when import spans

_STARTS = "Starts at"
_KEEPS = frozenset(["run", "own", "manage"])

_STARTED = pattern(
    r"(?:at|(?:(?:an?|my|the|their) (?:new )?(?:job|position|role)|work|working)"
    r"(?: as an? (?:[\w-]+ ){1,3}?)? ?(?:at|with|for)) (.+)"
)
_GOT_WORK = pattern(
    r"(?:(?:the|a|my|that|this) (?:new |dream )?(?:job|position|role)|hired)"
    r"(?: as an? (?P<trade>(?:[\w-]+ ){1,3}?)| )(?:at|with|by|from) (?P<where>.+)"
)
_OFFERED = pattern(
    r"(?:the|an?|my|their|this|that) (?:(?:new )?job offer|offer|job|position|role) (?:at|with|from) (.+)"
)
_JOINED = pattern(r"(?:the (?:[\w-]+ ){0,2}?team (?:at|of) )?(?P<where>.+)")
_AS_A = pattern(
    r" as (?:an?|the|their) (?:new )?(?P<trade>(?:[\w-]+ ){0,3}?[\w-]+)"
    r"(?=$|[,.;!]| (?:and|in|on|last|this)\b)"
)
_AHEAD = frozenset(["now", "going", "future"])
_LENGTHS = {"day": len("2026-11-17"), "month": len("2026-11")}
"""How much of a date is told where a day is named, or a month."""
_WORKED_OUT = pattern(r" \((?P<day>(?:week of |about )?\d{4}(?:-\d\d){0,2})\)")
_HIRED = pattern(r"hired (?:by|at) (.+)")
_NO_WORKPLACE = pattern(
    r"\b(?:Uni|University|College|School|Academy|Gym|Kindergarten|Church|Yoga|Fitness|Club)\b"
)
_BUSINESS = either(
    """
    agency, bakery, bar, bistro, bookshop, brewery, business, café, cafe, clinic, company, farm, firm,
    gallery, garage, guesthouse, hotel, nursery, practice, pub, restaurant, salon, school, shop, stall,
    start-?up, store, studio, vineyard, workshop
    """
)
_RUN = pattern(
    rf"(?:an?|my(?: own)?|our(?: own)?|the) (?:[\w'-]+ ){{0,3}}?(?:{_BUSINESS})"
    r"(?=$|[,.;!(]| (?:in|on|near|at|called|named|for|with|from|since|and|that|which|where|outside|by)\b)",
    re.IGNORECASE,
)
_TAUGHT = pattern(
    r"(?!(?:my|our|him|her|them|you|people|someone|everyone|myself|others|it|that|this|how|the|an?)\b)"
    r"[\w&'-]+(?! how\b)(?! to\b)",
    re.IGNORECASE,
)
_FOR_A_LIVING = pattern(r"(?P<what>[^,;]{2,60}?) for a living\b", re.IGNORECASE)
_MOST_WORK = 8
"""How many words tell what somebody does."""
LATELY = pattern(
    r"(?:$|[,.;!]| (?:last (?:week|month|night|\w+day)|yesterday|today|this (?:week|month|morning|\w+day)"
    r"|tomorrow|next (?:week|month|\w+day)|on (?:\w+day|the)\b|in (?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december|a (?:week|month)|two|three)(?! \d)|and|so|but|as"
    r"|now|starting|recently|after all|finally)\b)",
    re.IGNORECASE,
)
"""What follows where it is so by now: of 'in 2010' or 'when I was 16' that is not said."""
_SOON = pattern(
    r"$|[,.;!]| (?:tomorrow|soon|next|this|on|in|from|after|at the (?:end|beginning|start)|as|and|so|but)\b",
    re.IGNORECASE,
)
"""What follows where it will be so."""
_LONG_AGO = pattern(
    r"\b(?:(?:19|20)\d\d|(?:years|decades|a year) ago|when i was|back (?:in|then))\b", re.IGNORECASE
)
_AND_LEFT = pattern(r"\b(?:left|quit|fired|resigned|laid off|let go|sacked)\b")


def employer(text: str) -> str | None:
    """Where somebody works by now who got to work there."""
    text = _WORKED_OUT.sub("", text)
    found = _workplace(text)
    if found is None or not LATELY.match(text[len(found) :]) or _LONG_AGO.search(text):
        return None
    return line("Works at", found)


def _workplace(text: str) -> str | None:
    found = values.named_place(text)
    if found is None or _NO_WORKPLACE.search(found) or _AND_LEFT.search(text):
        return None
    return found


def _begun(clause: Clause, where: str) -> str | None:
    """The line of where they work by now, or will; None if neither is said."""
    if clause.happened:
        return employer(where)
    found = _workplace(where) if clause.tense in _AHEAD and not clause.group.negated else None
    return line(_STARTS, found) if found and _SOON.match(where[len(found) :]) else None


def started(clause: Clause) -> str | None:
    """'I started at Stripe', or who has yet to: 'I start my new job at Siemens on Monday'."""
    at = _STARTED.match(clause.rest)
    return _begun(clause, at[1]) if at else None


def joined(clause: Clause) -> str | None:
    """'I joined Siemens as an engineer': who only joined it may be a member, or have an account there."""
    at, trade = _JOINED.match(clause.rest), _AS_A.search(clause.rest)
    if at is None or trade is None or trade["trade"].rpartition(" ")[2].lower() not in TRADES:
        return None
    return _begun(clause, at["where"])


def accepted(clause: Clause) -> str | None:
    """'I accepted the offer from Nokia': to work there, for nothing else is said of it."""
    offered = _OFFERED.match(clause.rest) if clause.happened and clause.subject != "we" else None
    where = employer(offered[1]) if offered else None
    return line(_STARTS, where.partition(": ")[2]) if where else None


def work_got(clause: Clause) -> str | None:
    """'I got a job as a barista at Blue Bottle', of which the trade is told too."""
    work = _GOT_WORK.match(clause.rest) if clause.happened else None
    where, trade = (employer(work["where"]), (work["trade"] or "").strip()) if work else (None, "")
    if where is None or trade.rpartition(" ")[2].lower() not in TRADES:
        return where
    return line("Works as", f"{trade} at {where.partition(': ')[2]}")


def pursued(clause: Clause) -> str | None:
    """'I run a small bakery', 'I teach Year 4', 'I do accounts for a living': as they say it themselves."""
    if not clause.holds or clause.tense == "perfect" or clause.subject not in ("I", "we", "none"):
        return None
    for_a_living = _FOR_A_LIVING.match(clause.rest)
    if for_a_living:
        return line("Works as", f"{third(clause.lemma)} {they(for_a_living['what'])}")
    shape = _TAUGHT if clause.lemma == "teach" else _RUN if clause.lemma in _KEEPS else None
    found = values.phrase(clause.rest) if shape and shape.match(clause.rest) else None
    if found is None or len(found.split()) > _MOST_WORK:
        return None
    return line("Works as", f"{third(clause.lemma)} {found}")


def hired_by(rest: str) -> str | None:
    hired = _HIRED.match(rest)
    return employer(hired[1]) if hired else None


def with_its_day(trait: str | None, said: str, said_at: int) -> str | None:
    """The line of where somebody starts with the day from which, if that is said; any other as it is."""
    if trait is None or not trait.startswith(f"{_STARTS}: "):
        return trait
    worked_out = _WORKED_OUT.search(dated(said, said_at, False))
    start = worked_out["day"] if worked_out else _named(said, said_at)
    return f"{trait} (from {start})" if start else trait


def _named(said: str, said_at: int) -> str | None:
    """The first day or month that is named, if it is yet to come."""
    for span in spans(said, said_at):
        if span.grain in _LENGTHS and span.start_ms > said_at:
            return day(span.start_ms)[: _LENGTHS[span.grain]]
    return None
