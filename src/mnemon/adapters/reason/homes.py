"""Where somebody lives, by what they say of it or by where they moved."""

from __future__ import annotations

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.lexicon import LANGUAGES
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_DWELLING = (
    r"(?:my|our|an?|the) (?:[\w-]+ ){0,3}?"
    r"(?:flat|apartment|house|home|place|condo|studio|cottage|bungalow|room|dorm|flatshare|houseshare)"
)
_MOVED = pattern(
    r"(?:(?:back|here|over|up|down|out|across|from [\w ,]{1,40}?) )?(?:to|into) "
    rf"(?:{_DWELLING} in )?(?P<there>.+)|in with [^,;]{{2,40}}? in (?P<together>.+)"
)
_WITH_SOMEBODY = pattern(r"(?:with|w|w/) [^,;]{2,40}? in (.+)")
_NEAR = pattern(r"(?:just|right|currently|still|now) (?=(?:in|near|outside|at) )")
_IN_A_DWELLING = pattern(rf"{_DWELLING} in (.+)")
_NO_TOWN = pattern(
    r"(?:"
    + either(
        """
        Slack, Teams, Zoom, Notion, Discord, Jira, GitHub, GitLab, Gmail, Outlook, AWS, Azure, Linux, Windows,
        Mac, macOS, Android, iOS, Python, Rust, Go, Java, Postgres, MySQL, Plan, Phase, Stage, Step
        """
    )
    + r")\b"
)
"""To what one moves without moving house."""


def lives(clause: Clause) -> str | None:
    """'I live in Porto', 'I live with my aunt in Graz'."""
    rest = _NEAR.sub("", clause.rest, 1)
    way, _, where = rest.partition(" ")
    if together := _WITH_SOMEBODY.match(rest):
        way, where = "in", together[1]
    if not clause.holds or way not in ("in", "near", "outside", "at"):
        return None
    if inside := _IN_A_DWELLING.match(where):
        where = inside[1]
    found = values.place(where)
    if found is None and clause.text.startswith("i"):
        found = values.lower_place(where)
    return line("Lives in", found if way == "in" or not found else f"{way} {found}")


def moved(clause: Clause) -> str | None:
    """'We moved over to Leith', 'I moved in with my cousin in Leeds'."""
    to = _MOVED.match(clause.rest) if clause.happened else None
    found = values.named_place(to["there"] or to["together"]) if to else None
    if found is None or _NO_TOWN.match(found) or found.lower() in LANGUAGES:
        return None
    return line("Lives in", found)


def home(rest: str) -> str | None:
    """'Home is Halifax'."""
    return line("Lives in", values.named_place(rest))
