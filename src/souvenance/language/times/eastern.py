"""Times in Chinese, Japanese and Korean, whose words run into each other or into their endings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pkgutil import get_data

import msgspec

from souvenance.decoders import settled
from souvenance.language.times import almanac
from souvenance.language.times.expressions import FramedTime, Time, TimeExpression, days
from souvenance.language.times.lexicon import either, numbered
from souvenance.language.times.reader import away, part_of
from souvenance.patterns import pattern

UNSPACED = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A character of the scripts in which words run into each other, or into their endings."""
_SURE, _GUESSED = 0.9, 0.6
_END = r"(?![가-힣])|(?=에|의|은|는|도|까지|부터|엔)"
"""What may follow a word in Korean, so that it is not the beginning of another."""


class _Words(msgspec.Struct, frozen=True):
    days: Mapping[str, int]
    nights: Mapping[str, int]
    years: Mapping[str, int]
    numbers: Mapping[str, int]
    several: str
    units: Mapping[str, str]
    ago: str
    ahead: str
    steps: Mapping[str, int]
    called: Mapping[str, str]
    weekdays: Sequence[str]
    seasons: Sequence[str]
    past: str


def times(said: TimeExpression) -> list[FramedTime]:
    """The times of the text, in its order."""
    return sorted(_reader().read(said), key=lambda hit: hit.begin)


@cache
def _reader() -> _EasternReader:
    return _EasternReader(
        msgspec.json.decode(get_data(__name__, "eastern.json") or b"{}", type=settled(_Words))
    )


def _names(rows: Mapping[str, str]) -> dict[str, str]:
    return {name: unit for unit, names in rows.items() for name in names.split()}


class _EasternReader:
    def __init__(self, words: _Words) -> None:
        self._words = words
        self._units, self._called = _names(words.units), _names(words.called)
        self._weekdays, self._seasons = numbered(words.weekdays), numbered(words.seasons)
        self._ahead, self._past = frozenset(words.ahead.split()), words.past.split()
        number = rf"(?:\d{{1,4}}|{either([*words.numbers, *words.several.split()])})"
        week = either(words.called["week"].split())
        self._rules: tuple[
            tuple[re.Pattern[str], Callable[[re.Match[str], TimeExpression], Time | None]], ...
        ] = (
            (
                pattern(
                    rf"(?:(?P<year>\d{{4}})[年년]\s?|(?P<near>{either(words.years)})の?\s?)?"
                    rf"(?P<month>\d\d?|十[一二]?|[一二三四五六七八九])[月월](?![曜亮])(?:\s?(?P<day>\d\d?|{number})[日号號일](?!間|线))?"
                ),
                self._date,
            ),
            (
                pattern(rf"(?:(?P<near>{either(words.years)})の?\s?)(?P<season>{either(self._seasons)})"),
                self._season,
            ),
            (
                pattern(r"(?P<year>(?:19|20)\d\d)[年년](?![前전])"),
                lambda match, said: almanac.years(int(match["year"]), int(match["year"]), 1.0),
            ),
            (
                pattern(
                    rf"(?<![第\d])(?P<count>{number})\s?(?P<unit>{either(self._units)})\s?"
                    rf"(?P<way>{either([*words.ago.split(), *words.ahead.split()])})(?:{_END})"
                ),
                self._away,
            ),
            (
                pattern(
                    rf"(?<![以路早晚])(?P<step>{either(words.steps)})[个個]?\s?(?:(?P<unit>{either(self._called)})の?\s?(?!次|围|亮)"
                    rf"(?:(?P<day>[一二三四五六日天](?![直本气])|[月火水木金土日]曜日?|[월화수목금토일]요일))?)(?:{_END})"
                ),
                self._stepped,
            ),
            (pattern(rf"(?<![以之年])(?:{either(words.nights)})(?:{_END})"), self._night),
            (
                pattern(rf"(?<![以之年月周])(?P<word>{either(words.days)})(?!头条|的努力)(?:{_END})"),
                self._day,
            ),
            (pattern(rf"(?<![以之])(?P<word>{either(words.years)})(?!轻|龄)(?:{_END})"), self._year),
            (
                pattern(
                    rf"(?<![每一毎])(?<!毎週)(?<!매주 )(?:{week}(?P<day>[一二三四五六日天])"
                    r"|(?P<other>[月火水木金土日])曜日?|(?P<korean>[월화수목금토일])요일)"
                ),
                self._weekday,
            ),
            (pattern(rf"{either(words.called['weekend'].split())}"), self._weekend),
        )

    def read(self, said: TimeExpression) -> Iterator[FramedTime]:
        taken = bytearray(len(said.low))
        for shape, read in self._rules:
            for match in shape.finditer(said.low):
                if 1 in taken[match.start() : match.end()]:
                    continue
                try:
                    time = read(match, said)
                except (ValueError, OverflowError):
                    continue
                if time is not None:
                    taken[match.start() : match.end()] = b"\1" * len(match[0])
                    yield FramedTime(*match.span(), time)

    def _lean(self, said: TimeExpression) -> int:
        return -1 if any(word in said.low for word in self._past) else 0

    def _number(self, text: str) -> int:
        return int(text) if text.isdecimal() else self._words.numbers.get(text, 3)

    def _date(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        month = self._number(match["month"])
        year = int(match["year"]) if match["year"] else None
        year = said.year + self._words.years[match["near"]] if match["near"] else year
        what = almanac.of_day(month, self._number(match["day"])) if match["day"] else almanac.of_month(month)
        if not 1 <= month <= 12:
            return None
        return almanac.yearly(what, said, "day" if match["day"] else "month", None, self._lean(said), year)

    def _season(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        what = almanac.of_season(self._seasons[match["season"]])
        return almanac.yearly(what, said, "season", None, 0, said.year + self._words.years[match["near"]])

    def _away(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        ahead = match["way"] in self._ahead
        if ahead and self._lean(said) < 0:
            return None
        several = match["count"] in self._words.several.split()
        least, most = (2, 5) if several else (self._number(match["count"]),) * 2
        way = 1 if ahead else -1
        return away(said, self._units[match["unit"]], way * least, way * most) if most < 200 else None

    def _stepped(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        step, unit = self._words.steps[match["step"]], self._called[match["unit"]]
        if match["day"]:
            day = said.monday + 7 * step + self._weekdays[match["day"][0]]
            return days(day, day + 1, "day", _SURE)
        if unit == "week":
            return almanac.week(said, step)
        return (
            almanac.weekend(said, step, _SURE)
            if unit == "weekend"
            else almanac.month(said.year, said.month + step)
        )

    def _night(self, match: re.Match[str], said: TimeExpression) -> Time:
        day = said.today + self._words.nights[match[0]]
        return part_of(days(day, day + 1, "day", _SURE), "night")

    def _day(self, match: re.Match[str], said: TimeExpression) -> Time:
        day = said.today + self._words.days[match["word"]]
        return days(day, day + 1, "day", _SURE)

    def _year(self, match: re.Match[str], said: TimeExpression) -> Time:
        year = said.year + self._words.years[match["word"]]
        return almanac.years(year, year)

    def _weekday(self, match: re.Match[str], said: TimeExpression) -> Time:
        name = match["day"] or match["other"] or match["korean"]
        return almanac.weekday(said, self._weekdays[name], None, self._lean(said))

    def _weekend(self, match: re.Match[str], said: TimeExpression) -> Time:
        return almanac.weekend(said, -1 if self._lean(said) < 0 and said.weekday < 5 else 0, _GUESSED)
