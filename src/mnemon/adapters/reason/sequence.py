"""Which of two things came first: each by when it happened, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemon.domain import when, words
from mnemon.domain.pattern import pattern
from mnemon.ports.reasoner import Statement, Told

_WHICH = pattern(
    r"^\W*(?:and |so |but )?(?:which|what|who)\b.*?\b(?:first|earlier|last|later|sooner)\b[,:]?\s+"
    r"(?P<one>.+?),?\s+or\s+(?P<other>.+?)\W*$"
    r"|^\W*(?:and |so |but )?(?:did|was|were|had|have)\s+"
    r"(?P<before>.+?)\s+before\s+or\s+after\s+(?P<after>.+?)\W*$"
)


def alternatives(question: str) -> list[str]:
    """The two things of which is asked which came first, each as a question of when it was."""
    found = _WHICH.match(question.lower())
    if found is None:
        return []
    group = ("one", "other") if found["one"] else ("before", "after")
    return [f"When was {question[found.start(name) : found.end(name)]}?" for name in group]


def in_order(asked: Sequence[str], tell: Callable[[str], Told], statements: Sequence[Statement]) -> Told:
    """What is told of each, the earlier first; nothing if one of them is not known."""
    told = [tell(question) for question in asked]
    if not all(one.cited for one in told):
        return Told("", ())
    by_id = {one.id: one for one in statements}

    def moment(each: tuple[str, Told]) -> int:
        question, one = each
        statement = by_id[one.cited[0]]
        at = statement.said_at
        span = when.happened(statement.text, at, words.asked(question), longest=when.TEN_YEARS)
        return at if span is None else span.start_ms

    ordered = [one for _, one in sorted(zip(asked, told, strict=True), key=moment)]
    lines = dict.fromkeys(one.text for one in ordered)
    return Told("\n".join(lines), tuple(dict.fromkeys(id for one in ordered for id in one.cited)))
