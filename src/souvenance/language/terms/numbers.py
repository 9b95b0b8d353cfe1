"""Numbers, times of day and dates as terms: one for each value, however it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from souvenance.language.terms.stems import stem
from souvenance.patterns import pattern

_YEAR = "january february march april may june july august september october november december"
_MONTHS = tuple(map(stem, _YEAR.split()))

_THOUSANDS = pattern(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_DECIMAL = pattern(r"[Vv]?([0-9]+(?:\.[0-9]+)+)([A-Za-z]{0,3})\Z")
_CLOCK = pattern(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?([A-Za-z]{0,2})\Z")
_DATE = pattern(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[Tt]([0-9:.]+)[Zz]?)?\Z")
_MEASURE = pattern(r"([0-9]+)([a-z]{1,3})\Z")
_GROUPED = pattern(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+\Z")
_DAY_FIRST = pattern(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})\Z")
_DIGITS = pattern(r"[0-9]++(?:[ ./()-]{1,3}+[0-9]++)*+")
_SPACED = pattern(r"[1-9][0-9]{0,2}(?: [0-9]{3})+\Z")
_DATED = pattern(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4})(?![0-9])"
)
_TELLING = 7
"""Digits at the end of a telephone number or an account's by which it is known, whatever is before them."""
_ORDINAL = ("st", "nd", "rd", "th", "s")


def ungrouped(text: str) -> str:
    """The text with its thousands unparted: '1,200' as '1200'."""
    return _THOUSANDS.sub("", text)


def plain(digits: str) -> str:
    """The number without leading zeros."""
    return digits.lstrip("0") or "0"


def number(chunk: str) -> Iterator[str]:
    """The terms of '3.5', 'v1.2.3', '7:05pm', '2023-05-07'; none if it is something else."""
    if date := _DATE.match(chunk):
        yield from _date(date[1], int(date[3]), int(date[4]))
        if date[5]:
            yield from number(date[5])
    elif (date := _DAY_FIRST.match(chunk)) and int(date[2]) <= 12 and int(date[1]) <= 31:
        yield from _date(date[3], int(date[2]), int(date[1]))
    elif decimal := _DECIMAL.match(chunk):
        yield from _decimal(decimal[1], decimal[2].lower())
    elif clock := _CLOCK.match(chunk):
        yield plain(clock[1]) if clock[2] == "00" else f"{plain(clock[1])}:{clock[2]}"
        yield from filter(None, (clock[3].lower(),))


def measure(word: str) -> Iterator[str]:
    """The terms of '2nd', '1990s' and '5km': the number, and with a unit the whole and the unit as well.

    Of '5k' also '5000'. But a run of 5k is no 5,000 euros, and whoever asks for it looks for '5k' first.
    """
    if found := _MEASURE.match(word):
        yield plain(found[1])
        if found[2] not in _ORDINAL:
            yield word
            if found[2] == "k":
                yield plain(f"{found[1]}000")
            elif len(found[2]) > 1:
                yield found[2]


def days(found: Sequence[str]) -> list[str]:
    """A term for each day of the year among a text's terms: '7 May' and 'May 7th' are the same."""
    return [
        f"{term} {beside}"
        for at, term in enumerate(found)
        if term in _MONTHS
        for beside in found[max(0, at - 1) : at + 2]
        if beside.isdecimal() and len(beside) <= 2 and 1 <= int(beside) <= 31
    ]


def grouped(text: str) -> list[str]:
    """The terms of digits that are written apart: '5 000' as a number, and of a long one how it ends.

    A telephone number is told by its last digits, with a prefix and without; so is that of an account.
    """
    found = []
    for match in _DIGITS.finditer(text):
        run = match[0]
        if _SPACED.match(run):
            found.append(run.replace(" ", ""))
        if len(run) >= _TELLING and not _DATED.match(run):
            digits = "".join(filter(str.isdigit, run))
            if len(digits) >= _TELLING:
                found.append(plain(digits[-_TELLING:]))
    return found


def _decimal(value: str, unit: str) -> Iterator[str]:
    yield value.removesuffix(".00") if value.count(".") == 1 else value
    if _GROUPED.match(value):
        yield value.replace(".", "")
    whole, _, part = value.partition(".")
    if unit == "k" and part.isdigit():
        yield plain(whole + part.ljust(3, "0"))
    elif unit:
        yield unit


def _date(year: str, month: int, day: int) -> Iterator[str]:
    yield from (year, _MONTHS[month - 1] if 1 <= month <= 12 else str(month), str(day))
