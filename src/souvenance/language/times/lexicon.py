"""What each language calls times: one JSON file per language beside this module, read when first needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pkgutil import get_data

import msgspec

from souvenance.decoders import settled


class TimeLexicon(msgspec.Struct, frozen=True):
    """Lists are words that a space divides, phrases that a bar divides; '#' stands for a number of units."""

    months: Sequence[str] = ()
    weekdays: Sequence[str] = ()
    seasons: Sequence[str] = ()
    doubtful: str = ""
    """Names of these that are words as well, and need a preposition."""
    numbers: Sequence[str] = ()
    several: Mapping[str, tuple[float, float]] = {}
    days: Mapping[str, int] = {}
    nights: Mapping[str, tuple[int, str]] = {}
    parts: Mapping[str, str] = {}
    vague: Mapping[str, tuple[int, int, float]] = {}
    units: Mapping[str, str] = {}
    last: str = ""
    this: str = ""
    next: str = ""
    after_last: str = ""
    after_next: str = ""
    ago: Sequence[str] = ()
    ahead: Sequence[str] = ()
    stretch: Mapping[str, int] = {}
    in_: str = msgspec.field(default="", name="in")
    of: str = ""
    since: str = ""
    before: str = ""
    after: str = ""
    until: str = ""
    from_: str = msgspec.field(default="", name="from")
    to: str = ""
    early: str = ""
    mid: str = ""
    late: str = ""
    feasts: Mapping[str, str] = {}
    """Days of the year, like '12-24/3' for three days from 24 December."""
    routine: str = ""
    past: str = ""
    past_endings: str = ""
    future: str = ""
    tenseless: str = ""


@cache
def lexicon(language: str) -> TimeLexicon:
    """The words of a language; of one that has no file, none."""
    try:
        data = get_data(__name__, f"{language}.json")
    except FileNotFoundError:
        return TimeLexicon()
    return msgspec.json.decode(data or b"{}", type=settled(TimeLexicon))


def numbered(rows: Iterable[str], first: int = 0) -> dict[str, int]:
    """The number of each name; rows have the names of one number."""
    return {name: number for number, names in enumerate(rows, first) for name in names.split()}


def either(names: Iterable[str]) -> str:
    """A pattern for any of the names, the longest first; one that never matches if there is none."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    spelt = (name.replace("+", " ").replace(" ", r"\s+") for name in longest_first)
    return f"(?:{'|'.join(spelt) or '(?!)'})"


def phrases(text: str) -> list[str]:
    return text.split("|") if "|" in text else text.split()
