"""Times in languages that put spaces between words, and in Chinese, Japanese and Korean, which do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pkgutil import get_data

import msgspec

from souvenance.decoders import settled
from souvenance.language.characters import Runs, SmallWords
from souvenance.language.times import almanac
from souvenance.language.times.almanac import HOUR, WORDS, FramedTime, Time, TimeExpression, days
from souvenance.language.times.lexicon import TimeLexicon, either, lexicon, numbered, phrases
from souvenance.patterns import pattern
from souvenance.pauses import pause

_SURE, _ROUGH, _GUESSED, _VAGUE = 0.9, 0.7, 0.6, 0.4
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_DIGITS = Runs(r"\d")
_NUMBER = "0"
"""The cue of phrases made of digits."""
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_NTH = r"(?:st|nd|rd|th|\.|er|º)?"
_YEAR = r"(?P<y>(?:19|20)\d\d)"
_DAYS_LONG = {"hour": 1, "day": 1, "week": 7, "month": 30, "year": 365}

Read = Callable[[re.Match[str], TimeExpression], Time | None]
_Rule = tuple[frozenset[str], re.Pattern[str], Read]
"""Words of which a phrase has one, its shape, and how it is read."""


def _times(
    rules: Iterable[tuple[re.Pattern[str], Read]],
    said: TimeExpression,
    extended: Callable[[int, Time], tuple[int, Time]] = lambda end, time: (end, time),
) -> Iterator[FramedTime]:
    """What phrases of these shapes tell; a later rule looks only where no earlier one found any. `extended`
    may let a time reach beyond the end of its phrase."""
    taken = bytearray(len(said.low))
    for shape, read in rules:
        pause()
        for match in shape.finditer(said.low):
            begin, end = match.span()
            if 1 in taken[begin:end]:
                continue
            try:
                time = read(match, said)
            except (ValueError, OverflowError):
                continue
            if time is not None:
                end, time = extended(end, time)
                taken[begin:end] = b"\1" * (end - begin)
                yield FramedTime(begin, end, time)


class TimeReader:
    """The phrases of one language, in the order in which they are looked for."""

    def __init__(self, words: TimeLexicon) -> None:
        self._words = words
        self._months = numbered(words.months, 1)
        self._weekdays, self._seasons = numbered(words.weekdays), numbered(words.seasons)
        self._units = _by_name(words.units)
        self._numbers = numbered(words.numbers, 1)
        self._doubtful = frozenset(words.doubtful.split())
        self._steps = numbered((words.last, words.this, words.next), -1)
        after = ((-1, words.after_last), (1, words.after_next))
        self._after = {phrase: step for step, some in after for phrase in phrases(some)}
        self._led = pattern(
            rf"(?:^|[\s'(-]){either(words.in_.split())}[\s-]+(?:{either(words.of.split())}\s+)?$"
        )
        self._routine = pattern(rf"\b{either(words.routine.split())}\s+$")
        self._part_after = pattern(rf",?\s+({either(words.parts)})\b(?!s)")
        self._rules = (*self._dates(), *self._phrases())
        self.cues: frozenset[str] = frozenset().union(*(cues for cues, _, _ in self._rules))
        """A text that has none of these speaks of no time."""

    def read(self, said: TimeExpression, met: Collection[str]) -> Iterator[FramedTime]:
        """Where each time stands, and which it is. `met` is what the text has of the cues."""

        def with_part(end: int, time: Time) -> tuple[int, Time]:
            part = self._part_after.match(said.low, end) if time.grain == "day" else None
            return (part.end(), part_of(time, self._words.parts[_spaced(part[1])])) if part else (end, time)

        rules = ((shape, read) for cues, shape, read in self._rules if not cues.isdisjoint(met))
        return _times(rules, said, with_part)

    @property
    def _which(self) -> str:
        """A pattern of last, this and next."""
        words = self._words
        this, beside = either(words.this.split()), either([*words.last.split(), *words.next.split()])
        return rf"(?:(?:{this}\s+)?{beside}|{this})"

    @property
    def _of_year(self) -> str:
        """A pattern of the year behind a day, month or season."""
        of, years = either(self._words.of.split()), either(self._words.units.get("year", "").split())
        return (
            rf"(?:(?:,\s*|,?\s+)(?:{of}\s+)?(?P<year>(?:19|20)\d\d)(?!\d|[.,:/-]\d|%)|,?\s+'(?P<short>\d\d)\b"
            rf"|,?\s+(?:{of}\s+)?(?P<near>{self._which})\s+{years}\b)?"
        )

    def _dates(self) -> Iterator[_Rule]:
        words, digits, year = self._words, frozenset(_NUMBER), self._of_year
        month, weekday, of = either(self._months), either(self._weekdays), either(words.of.split())
        named = rf"(?:(?P<weekday>{weekday})\.?,?\s+(?:{of}\s+)?)?"
        to = rf"(?:\s*(?:[-–—]|{either(words.to.split())})\s*(?P<to>{_DAY})(?!\d){_NTH})?"
        year_first = rf"{_YEAR}(?P<sep>[-/.])(?P<m>\d\d?)(?P=sep)(?P<d>\d\d?)(?=t\d|\b)(?![-/]\w|\.\d)"
        year_last = rf"(?P<one>\d\d?)(?P<sep>[-/.])\s?(?P<two>\d\d?)(?P=sep)\s?{_YEAR}(?![\w/-]|\.\d)"
        yield digits, pattern(rf"(?<![\w./-]){year_first}"), _iso
        yield digits, pattern(rf"(?<![\w./-]){year_last}"), self._written
        day, no_clock = rf"(?P<day>{_DAY})", r"(?![:/.,%]\d|%|\s*[ap]m\b)"
        month_first = rf"(?P<month>{month})\.?\s+(?:{of}\s+)?{day}(?!\d){_NTH}{to}{no_clock}{year}"
        day_first = rf"{day}{_NTH}{to}\s+(?:{of}\s+)*(?P<month>{month})\b\.?{year}"
        yield _cues(self._months), pattern(rf"\b{named}{month_first}"), self._date
        yield _cues(self._months), pattern(rf"(?<![\w.,:/$€£#-]){named}{day_first}"), self._date

    def _nth(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        """A day of a month that is not named: the next one, or the latest if the sentence looks back."""
        if not self._is_led(said, match.start()):
            return None
        way = -1 if said.lean(*match.span()) < 0 else 1
        for month in (said.month, said.month + way, said.month + 2 * way):
            day = almanac.month_start(said.year, month) + int(match["day"]) - 1
            if way * (day - said.today) >= 0 and day < almanac.month_start(said.year, month + 1):
                return days(day, day + 1, "day", _GUESSED)
        return None

    def _phrases(self) -> Iterator[_Rule]:
        words, unit, year = self._words, either(self._units), self._of_year
        of = either(words.of.split())
        count = rf"(?:\d{{1,3}}|{either([*words.several, *self._numbers])})"
        yield frozenset(_NUMBER), pattern(rf"\b{of}\s+(?P<day>{_DAY})(?:st|nd|rd|th)\b"), self._nth
        yield _cues(words.days), pattern(rf"(?<![\w-]){either(words.days)}\b"), self._day
        yield _cues(words.nights), pattern(rf"\b{either(words.nights)}\b"), self._night
        yield _cues(words.vague), pattern(rf"\b{either(words.vague)}\b"), self._vaguely
        yield _cues(words.feasts), pattern(rf"\b(?P<name>{either(words.feasts)})\b{year}"), self._feast
        for step, forms in ((-1, words.ago), (1, words.ahead)):
            for form in forms:
                shape = form.replace(" ", r"\s+").replace("#", rf"(?P<count>{count})\s+(?P<unit>{unit})")
                yield _cues(self._units), pattern(rf"\b{shape}\b"), self._distant(step)
        stretch = rf"(?P<which>{either(words.stretch)})\s+(?P<count>{count}\s+)?(?P<unit>{unit})"
        yield _cues(words.stretch), pattern(rf"\b{stretch}\b(?!\s+{of}\b)"), self._stretch
        other = either(
            [*words.of.split()[:1], *phrases(words.before), *phrases(words.after), *phrases(words.since)]
        )
        weekends = words.units.get("weekend", "").split()
        nouns = either([*self._units, *self._weekdays, *self._seasons, *self._months])
        cues = _cues([*self._steps, *self._after, *self._weekdays, *self._seasons, *self._months, *weekends])
        after = rf"(?:\s+(?P<after>{either(self._after)})\b)?"
        named = rf"(?:(?P<which>{self._which})\s+)?(?P<noun>{nouns})\b{after}{year}"
        yield cues, pattern(rf"\b{named}(?!\s+{other}\b)"), self._named
        yield frozenset(_NUMBER), pattern(rf"(?<![\w.,/$€£#-]){_YEAR}(?![\w%-]|[.,:/]\d)"), self._year

    def _is_led(self, said: TimeExpression, begin: int) -> bool:
        return self._led.search(said.low[max(0, begin - 24) : begin]) is not None

    def _year_of(self, match: re.Match[str], said: TimeExpression) -> int | None:
        if match["year"]:
            return int(match["year"])
        if match["short"]:
            year = said.year // 100 * 100 + int(match["short"])
            return year - 100 if year > said.year + 20 else year
        return said.year + self._step(match["near"]) if match["near"] else None

    def _step(self, which: str) -> int:
        return self._steps[which.split()[-1]]

    def _date(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        day, last = int(match["day"]), int(match["to"] or match["day"])
        if last < day:
            return None
        what = almanac.of_day(self._months[match["month"]], day, last - day + 1)
        year = self._year_of(match, said)
        if year is None and match["weekday"]:
            year = almanac.on_weekday(what, said, self._weekdays[match["weekday"]])
        lean = 0 if year else said.lean(match.start(), match.end())
        return almanac.yearly(what, said, "day" if last == day else "days", None, lean, year)

    def _written(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        """With slashes the month first, unless only day first is a date; with points the day first."""
        one, two, year = int(match["one"]), int(match["two"]), int(match["y"])
        if match["sep"] == ".":
            padded = len(match["one"]) == len(match["two"]) == 2
            return almanac.day(year, two, one, _SURE) if padded or self._is_led(said, match.start()) else None
        if one > 12:
            return almanac.day(year, two, one, _SURE)
        return almanac.day(year, one, two, _SURE if two > 12 or one == two else _GUESSED)

    def _day(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        if self._routine.search(said.low[max(0, match.start() - 16) : match.start()]):
            return None
        return almanac.days_from(said, self._words.days[_spaced(match[0])])

    def _night(self, match: re.Match[str], said: TimeExpression) -> Time:
        step, part = self._words.nights[_spaced(match[0])]
        return part_of(almanac.days_from(said, step), part)

    def _vaguely(self, match: re.Match[str], said: TimeExpression) -> Time:
        first, past, certainty = self._words.vague[_spaced(match[0])]
        return days(said.today + first, said.today + past, "days", certainty)

    def _feast(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        date, _, length = self._words.feasts[_spaced(match["name"])].partition("/")
        what = almanac.of_day(int(date[:2]), int(date[3:]), int(length or 1))
        year = self._year_of(match, said)
        if year is None and not self._is_led(said, match.start()):
            return None
        return almanac.yearly(what, said, "days" if length else "day", None, said.lean(*match.span()), year)

    def _count(self, words: str) -> tuple[float, float]:
        said = _spaced(words)
        if said.isdecimal():
            return float(said), float(said)
        return self._words.several.get(said) or (self._numbers[said], self._numbers[said])

    def _distant(self, step: int) -> Read:
        def read(match: re.Match[str], said: TimeExpression) -> Time | None:
            if step > 0 and said.lean(*match.span()) < 0:
                return None
            least, most = self._count(match["count"])
            return away(said, self._units[_spaced(match["unit"])], step * least, step * most)

        return read

    def _stretch(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        """The last three weeks, the next few days: up to now or from now on."""
        name, step = _spaced(match["unit"]), self._words.stretch[_spaced(match["which"])]
        unit = self._units[name]
        one = self._words.units[unit].split()[0] == name
        if unit in ("hour", "weekend") or (not match["count"] and one):
            return None
        least, most = self._count(match["count"]) if match["count"] else (5, 5)
        far = round(most * _DAYS_LONG[unit])
        first, past = (said.today - far, said.today + 1) if step < 0 else (said.today, said.today + far + 1)
        return days(first, past, "days", _ROUGH if least == most else _VAGUE)

    def _named(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        """A week, weekday, season or month: last, this, next, of a year, or as the sentence leans."""
        noun, year = _spaced(match["noun"]), self._year_of(match, said)
        step = self._step(match["which"]) if match["which"] else None
        step = self._after[_spaced(match["after"])] if match["after"] else step
        begin, free = match.start(), step is None and year is None
        lean = said.lean(*match.span()) if free else 0
        if noun in self._units:
            return _of_unit(self._units[noun], step, lean, said)
        led, in_small = self._is_led(said, begin), not said.text[match.start("noun")].isupper()
        doubtful = noun in self._doubtful
        if doubtful and (free or in_small) and not led and year is None:
            return None
        if noun in self._weekdays:
            if (doubtful and in_small) or self._routine.search(said.low[max(0, begin - 12) : begin]):
                return None
            return almanac.weekday(said, self._weekdays[noun], step, lean)
        if noun in self._months:
            return almanac.yearly(almanac.of_months(self._months[noun]), said, "month", step, lean, year)
        if free and not led:
            return None
        return almanac.yearly(almanac.of_season(self._seasons[noun]), said, "season", step, lean, year)

    def _year(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        year = int(match["y"])
        return almanac.years(year, year, 1.0) if self._is_led(said, match.start()) else None


def _of_unit(unit: str, step: int | None, lean: int, said: TimeExpression) -> Time | None:
    if unit == "weekend":
        return almanac.weekend(said, step, lean)
    if step is None or unit in ("hour", "day"):
        return None
    if unit == "week":
        return days(said.monday + 7 * step, said.monday + 7 * step + 7, "week", _SURE)
    if unit == "month":
        return almanac.month(said.year, said.month + step)
    return almanac.years(said.year + step, said.year + step)


@cache
def reader(language: str) -> TimeReader:
    return TimeReader(lexicon(language))


def cues_in(low: str, met: SmallWords | None) -> Collection[str]:
    """What may be a cue in a text in small letters. `met` are its words, if they are known."""
    if met is not None and not met.digits and "_" not in low:
        return met.words
    cues = set(WORDS.of(low))
    if _DIGITS.of(low):
        cues.add(_NUMBER)
    return cues


def _cues(names: Iterable[str]) -> frozenset[str]:
    """The words by which a text with one of these names is known."""
    return frozenset(word for name in names for word in WORDS.of(name.replace("+", " "))[-1:])


def _by_name(rows: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("+", " "): unit for unit, names in rows.items() for name in names.split()}


def _spaced(words: str) -> str:
    return " ".join(words.split())


def part_of(time: Time, part: str) -> Time:
    """The hours of a day that its morning or evening has."""
    first, past = _PARTS[part]
    return Time(time.start + first * HOUR, time.start + past * HOUR, "hours", time.certainty)


def away(said: TimeExpression, unit: str, least: float, most: float) -> Time | None:
    """The time so many units away; negative for the past. A week is centred, months and years are whole."""
    least, most = min(least, most), max(least, most)
    certainty = _VAGUE if least != most else _SURE if unit in ("hour", "day") else _ROUGH
    if unit == "hour":
        return Time(
            said.at + round((least - 0.5) * HOUR), said.at + round((most + 0.5) * HOUR), "hours", certainty
        )
    if unit == "year" and least != int(least):
        unit, least, most = "month", least * 12, most * 12
    if unit in ("day", "week"):
        loose = 0 if unit == "day" else 3
        first, last = (said.today + round(edge * _DAYS_LONG[unit]) for edge in (least, most))
        return days(
            first - loose, last + loose + 1, "day" if first == last and not loose else "days", certainty
        )
    if unit == "month":
        start, stop = (almanac.month(said.year, said.month + round(edge)) for edge in (least, most))
        return Time(start.start, stop.stop, "month" if least == most else "days", certainty)
    return almanac.years(said.year + int(least), said.year + int(most), certainty) if unit == "year" else None


def _iso(match: re.Match[str], said: TimeExpression) -> Time:
    return almanac.day(int(match["y"]), int(match["m"]), int(match["d"]), 1.0)


UNSPACED = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A character of the scripts in which words run into each other, or into their endings."""
_END = r"(?:(?![가-힣])|(?=에|의|은|는|도|까지|부터|엔))"
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


def eastern_times(said: TimeExpression) -> list[FramedTime]:
    """The times of a text in one of these scripts, in its order."""
    return sorted(_times(_eastern_reader().rules, said), key=lambda hit: hit.begin)


@cache
def _eastern_reader() -> _EasternReader:
    words = get_data(__name__, "eastern.json") or b"{}"
    return _EasternReader(msgspec.json.decode(words, type=settled(_Words)))


class _EasternReader:
    def __init__(self, words: _Words) -> None:
        self._words = words
        self._units, self._called = _by_name(words.units), _by_name(words.called)
        self._weekdays, self._seasons = numbered(words.weekdays), numbered(words.seasons)
        self._ahead, self._past = frozenset(words.ahead.split()), words.past.split()
        number = rf"(?:\d{{1,4}}|{either([*words.numbers, *words.several.split()])})"
        week = either(words.called["week"].split())
        near = rf"(?P<near>{either(words.years)})の?\s?"
        month = r"(?P<month>\d\d?|十[一二]?|[一二三四五六七八九])[月월](?![曜亮])"
        of_month = rf"(?:\s?(?P<day>\d\d?|{number})[日号號일](?!間|线))?"
        way = rf"(?P<way>{either([*words.ago.split(), *words.ahead.split()])})"
        step = rf"(?P<step>{either(words.steps)})[个個]?\s?(?P<unit>{either(self._called)})の?\s?(?!次|围|亮)"
        of_week = r"(?P<day>[一二三四五六日天](?![直本气])|[月火水木金土日]曜日?|[월화수목금토일]요일)"
        named = r"(?P<other>[月火水木金土日])曜日?|(?P<korean>[월화수목금토일])요일"
        weekday = rf"{week}(?P<day>[一二三四五六日天])|{named}"
        shapes: tuple[tuple[str, Read], ...] = (
            (rf"(?:(?P<year>\d{{4}})[年년]\s?|{near})?{month}{of_month}", self._date),
            (rf"{near}(?P<season>{either(self._seasons)})", self._season),
            (r"(?P<year>(?:19|20)\d\d)[年년](?![前전])", self._whole_year),
            (rf"(?<![第\d])(?P<count>{number})\s?(?P<unit>{either(self._units)})\s?{way}{_END}", self._away),
            (rf"(?<![以路早晚]){step}{of_week}?{_END}", self._stepped),
            (rf"(?<![以之年]){either(words.nights)}{_END}", self._night),
            (rf"(?<![以之年月周])(?P<word>{either(words.days)})(?!头条|的努力){_END}", self._day),
            (rf"(?<![以之])(?P<word>{either(words.years)})(?!轻|龄){_END}", self._year),
            (rf"(?<![每一毎])(?<!毎週)(?<!매주 )(?:{weekday})", self._weekday),
            (either(words.called["weekend"].split()), self._weekend),
        )
        self.rules = [(pattern(shape), read) for shape, read in shapes]

    def _lean(self, said: TimeExpression) -> int:
        return -1 if any(word in said.low for word in self._past) else 0

    def _number(self, text: str) -> int:
        return int(text) if text.isdecimal() else self._words.numbers.get(text, 3)

    def _date(self, match: re.Match[str], said: TimeExpression) -> Time | None:
        month = self._number(match["month"])
        year = int(match["year"]) if match["year"] else None
        year = said.year + self._words.years[match["near"]] if match["near"] else year
        what = almanac.of_day(month, self._number(match["day"])) if match["day"] else almanac.of_months(month)
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
        step = self._words.steps[match["step"]]
        if match["day"]:
            return almanac.days_from(said, 7 * step + self._weekdays[match["day"][0]] - said.weekday)
        return _of_unit(self._called[match["unit"]], step, 0, said)

    def _night(self, match: re.Match[str], said: TimeExpression) -> Time:
        return part_of(almanac.days_from(said, self._words.nights[match[0]]), "night")

    def _day(self, match: re.Match[str], said: TimeExpression) -> Time:
        return almanac.days_from(said, self._words.days[match["word"]])

    def _whole_year(self, match: re.Match[str], said: TimeExpression) -> Time:
        return almanac.years(int(match["year"]), int(match["year"]), 1.0)

    def _year(self, match: re.Match[str], said: TimeExpression) -> Time:
        year = said.year + self._words.years[match["word"]]
        return almanac.years(year, year)

    def _weekday(self, match: re.Match[str], said: TimeExpression) -> Time:
        name = match["day"] or match["other"] or match["korean"]
        return almanac.weekday(said, self._weekdays[name], None, self._lean(said))

    def _weekend(self, match: re.Match[str], said: TimeExpression) -> Time:
        return almanac.weekend(said, None, self._lean(said))
