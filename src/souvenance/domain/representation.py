"""How what is known of a peer is written down, and how a budget of tokens is spent.

A line that begins at the margin is always one of these: a heading, a time in brackets, or a speaker's name.
Whatever a stored text puts on further lines is indented, so that no text can pass for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.patterns import pattern

_Item = TypeVar("_Item")

HEADINGS = {
    "explicit": "Explicit Observations",
    "deductive": "Deductive Observations",
    "inductive": "Inductive Observations",
    "contradiction": "Contradictions",
}
MESSAGES = "Quoted Messages"
"""The heading above what was said."""
INDENT = "    "
_TIME = "%Y-%m-%d %H:%M:%S"
_STAMP = pattern(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] session (\S*)")


class WrittenConclusion(Struct, frozen=True):
    """A statement about a peer, as it is shown. `at` is when what it rests on was said."""

    level: str
    text: str
    at: int


class Quote(Struct, frozen=True):
    """A whole message, as it is shown."""

    peer: str
    text: str


class QuotedPassage(Struct, frozen=True):
    """Messages that follow each other in a session, in order. `at` is when the first of them was said."""

    session: str
    at: int
    quotes: tuple[Quote, ...]


def render(conclusions: Sequence[WrittenConclusion], passages: Sequence[QuotedPassage] = ()) -> str:
    """The conclusions by level, oldest first in each, then the passages; empty if there are none."""
    parts: list[str] = []
    for level, heading in HEADINGS.items():
        held = sorted((one for one in conclusions if one.level == level), key=lambda one: one.at)
        if held:
            parts.append(f"## {heading}\n\n" + "\n".join(map(conclusion_line, held)))
    if passages:
        parts.append(f"## {MESSAGES}\n\n{quoted(passages)}")
    return "\n\n".join(parts)


def quoted(passages: Iterable[QuotedPassage]) -> str:
    """The passages, each under its time and session, each message behind its speaker's name."""
    return "\n\n".join(
        "\n".join((stamp(one.at, one.session), *map(quote_line, one.quotes))) for one in passages
    )


def stamp(at: int, session: str) -> str:
    return f"{_time(at)} session {session}"


def quote_line(quote: Quote) -> str:
    return f"{quote.peer}: {_indented(quote.text)}"


def dated_quote(at: int, quote: Quote) -> str:
    return f"[{to_datetime(at):%Y-%m-%d}] {quote_line(quote)}"


def conclusion_line(one: WrittenConclusion) -> str:
    return f"{_time(one.at)} {_indented(one.text)}"


def _time(at: int) -> str:
    return f"[{to_datetime(at):{_TIME}}]"


def _indented(text: str) -> str:
    return f"\n{INDENT}".join(text.strip().splitlines())


def taken_apart(text: str) -> tuple[str, list[QuotedPassage]]:
    """What `render` wrote: the text above the quoted messages, and these."""
    above, _, below = f"\n\n{text}".partition(f"\n\n## {MESSAGES}\n\n")
    return above.lstrip("\n"), _passages(below.splitlines())


def answer_apart(text: str) -> tuple[str, list[QuotedPassage]]:
    """An answer that ends with what `quoted` wrote: the text above that, and the passages."""
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if _STAMP.fullmatch(line)), len(lines))
    return "\n".join(lines[:first]).rstrip("\n"), _passages(lines[first:])


def _passages(lines: Iterable[str]) -> list[QuotedPassage]:
    found: list[QuotedPassage] = []
    for line in lines:
        if stamped := _STAMP.fullmatch(line):
            at = datetime.fromisoformat(stamped[1]).replace(tzinfo=UTC)
            found.append(QuotedPassage(stamped[2], to_ms(at), ()))
        elif found and line.startswith(INDENT) and found[-1].quotes:
            *quotes, last = found[-1].quotes
            last = Quote(last.peer, f"{last.text}\n{line.removeprefix(INDENT)}")
            found[-1] = replace(found[-1], quotes=(*quotes, last))
        elif found and line:
            peer, _, said = line.partition(": ")
            found[-1] = replace(found[-1], quotes=(*found[-1].quotes, Quote(peer, said)))
    return found


def fitting(newest_first: Sequence[_Item], tokens: Callable[[_Item], int], budget: int) -> list[_Item]:
    """The newest items that fit the budget together, back in their own order."""
    kept: list[_Item] = []
    for item in newest_first:
        budget -= tokens(item)
        if budget < 0:
            break
        kept.append(item)
    return kept[::-1]


_WROTE = "\n\nThe person just wrote:\n"
RELAY_CHARS = len(_WROTE)
"""How much longer a relayed question is than what both say."""


def relayed(wanted: str, wrote: str) -> str:
    """What an agent asks on somebody's behalf: what it wants to know, and what the person wrote."""
    return _WROTE.join(filter(None, (wanted, wrote)))


def unrelayed(question: str) -> tuple[str, str]:
    """What an agent wants to know, empty if none relays it, and what is asked for by the person."""
    wanted, _, wrote = question.rpartition(_WROTE)
    return wanted, wrote
