"""Times in Chinese, Japanese and Korean, whose words run into each other or into their endings."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import (
    of_day,
    of_month,
    of_season,
    weekday,
    weekend,
    yearly,
    years,
)
from mnemon.domain.when.lexicon import either
from mnemon.domain.when.reckoning import distant, part_of, stepped
from mnemon.domain.when.rule import SCRIPT, Rule
from mnemon.domain.when.said import DAY, Said, Time, days

_SURE = 0.9
_CUES = frozenset({SCRIPT})
_DIGITS = dict(zip("〇零一二三四五六七八九", [0, *range(10)], strict=True)) | {"两": 2, "兩": 2}
_NATIVE = {
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "다섯": 5,
    "여섯": 6,
    "일곱": 7,
    "여덟": 8,
    "아홉": 9,
    "열": 10,
}
_SEVERAL = ("几", "幾", "数", "數", "몇")
_NUMBER = rf"(?:\d{{1,3}}|[一二两兩三四五六七八九十]{{1,3}}|{either([*_NATIVE, *_SEVERAL])})"
_ENDING = r"(?=[^가-힣]|$|에|의|은|는|도|까지|부터|만|쯤|이[^가-힣]|엔)"
"""What may follow a word in Korean, so that it is not the beginning of another."""
_PAST = pattern(
    r"[了过過]|ました|でした|た(?=[。、！!\s]|$)|だった|[았었했갔왔봤녔났졌](?=[다어지던을고습네])"
)
_AHEAD = pattern(
    r"[要会會将將]|打算|准备|準備|见|見る|会う|行く|つもり|予定|たい|ましょう|겠|예정|[할갈볼올]\s?(?:거|게|까)|하자|보자|가자"
)
_STOP = pattern(r"[。！？!?；;\n]")


def _lean(said: Said, begin: int, end: int) -> int:
    """-1 if the sentence looks back, 1 if it looks ahead, 0 if it doesn't tell."""
    first = max((stop.end() for stop in _STOP.finditer(said.low, max(0, begin - 60), begin)), default=0)
    after = _STOP.search(said.low, end, end + 60)
    edges = max(first, begin - 60), after.start() if after else end + 60
    return -1 if _PAST.search(said.low, *edges) else 1 if _AHEAD.search(said.low, *edges) else 0


def _number(text: str) -> tuple[float, float]:
    """The least and the most that a match of _NUMBER may stand for."""
    if text in _SEVERAL:
        return 2, 5
    if text.isdecimal():
        return int(text), int(text)
    if text in _NATIVE:
        return _NATIVE[text], _NATIVE[text]
    tens, ten, ones = text.rpartition("十")
    if not ten:
        number = 0
        for digit in text:
            number = 10 * number + _DIGITS[digit]
        return number, number
    number = 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
    return number, number


_DAYS = {
    -3: "大前天 그끄저께",
    -2: "前天 一昨日 おととい 그저께",
    -1: "昨天 昨日 きのう 어제",
    0: "今天 今日 本日 きょう 오늘",
    1: "明天 明日 あした 내일",
    2: "后天 後天 明後日 あさって 모레",
    3: "大后天 大後天 글피",
}
_DAY_NAMES = {name: step for step, names in _DAYS.items() for name in names.split()}
_PARTS = {
    "night": {-1: "昨晚 昨夜 昨晩 ゆうべ 어젯밤", 0: "今晚 今夜 今晩 오늘밤", 1: "明晚 明晩 내일밤"},
    "morning": {0: "今早 今朝", 1: "明早 明朝"},
}
_PART_NAMES = {
    name: (step, part)
    for part, steps in _PARTS.items()
    for step, names in steps.items()
    for name in names.split()
}
_YEARS = {
    -3: "大前年",
    -2: "前年 一昨年 おととし 재작년",
    -1: "去年 昨年 작년 지난해",
    0: "今年 올해 금년",
    1: "明年 来年 來年 내년",
    2: "后年 後年 再来年 내후년",
}
_YEAR_NAMES = {name: step for step, names in _YEARS.items() for name in names.split()}
_NOT_BEFORE = r"(?<![以之年月周週日天间間前])"
"""前 after one of these means before: 以前天天, 三年前年轻."""


def _day(match: re.Match[str], said: Said) -> Time | None:
    day = said.today + _DAY_NAMES[match["day"]]
    return days(day, day + 1, "day", _SURE)


def _part(match: re.Match[str], said: Said) -> Time | None:
    step, part = _PART_NAMES[match["part"]]
    return part_of(days(said.today + step, said.today + step + 1, "day", _SURE), part)


_UNITS = {
    "minute": "分钟 分鐘 分 분",
    "hour": "个小时 個小時 小时 小時 時間 시간",
    "day": "天 日 일",
    "week": "个星期 個星期 星期 个礼拜 個禮拜 礼拜 周 週間 週 주일 주",
    "month": "个月 個月 か月 ヶ月 カ月 ヵ月 개월 달",
    "year": "年 년",
}
_UNIT_NAMES = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_HALVED = {"月": "month", "星期": "week", "小时": "hour", "小時": "hour"}
_ALONE: dict[str, tuple[str, int]] = {
    "하루": ("day", 1),
    "이틀": ("day", 2),
    "사흘": ("day", 3),
    "나흘": ("day", 4),
    "닷새": ("day", 5),
    "열흘": ("day", 10),
    "보름": ("day", 15),
    "일주일": ("week", 1),
    "半年": ("month", 6),
    "반년": ("month", 6),
    "半个月": ("day", 15),
    "半個月": ("day", 15),
}


def _far(match: re.Match[str], said: Said) -> Time | None:
    """So many days, weeks, months or years before now, or after it unless the sentence looks back."""
    ahead = match["way"] in ("后", "後", "후", "뒤")
    if ahead and _lean(said, match.start(), match.end()) < 0:
        return None
    if match["alone"]:
        unit, number = _ALONE[match["alone"]]
        least = most = float(number)
    else:
        unit = _UNIT_NAMES[match["unit"]] if match["unit"] else _HALVED[match["halved"]]
        half = 0.5 if match["half"] or match["halved"] else 0.0
        least, most = (number + half for number in _number(match["count"]))
    way = 1 if ahead else -1
    return distant(said, unit, way * least, way * most)


_STEPS = {
    -2: "上上 先々 先先 지지난",
    -1: "上 先 지난 저번",
    0: "这 這 本 今 이번",
    1: "下 来 來 다음 담",
    2: "下下 再来 다다음",
}
_STEP_NAMES = {name: step for step, names in _STEPS.items() for name in names.split()}
_WEEKS = ("一二三四五六日", "一二三四五六天", "月火水木金土日", "월화수목금토일")
_WEEKDAYS = {name: at for names in _WEEKS for at, name in enumerate(names)}
_CALLED = (("week", "周 週 星期 礼拜 禮拜 주"), ("weekend", "周末 週末 주말"), ("month", "月 달"))
_CALLED_UNITS = {name: unit for unit, names in _CALLED for name in names.split()}


def _stepped(match: re.Match[str], said: Said) -> Time | None:
    """The last week, this month, the next weekend, or a day of such a week."""
    step = _STEP_NAMES[match["step"]]
    if match["day"]:
        day = said.monday + 7 * step + _WEEKDAYS[match["day"]]
        return days(day, day + 1, "day", _SURE)
    return _shared(stepped(_CALLED_UNITS[match["unit"]], step, said), match)


def _weekday(match: re.Match[str], said: Said) -> Time | None:
    return weekday(said, _WEEKDAYS[match["day"]], None, _lean(said, match.start(), match.end()))


def _weekend(match: re.Match[str], said: Said) -> Time | None:
    """The weekend, by how the sentence leans: the latest begun or the coming one."""
    lean = _lean(said, match.start(), match.end())
    return weekend(said, -1 if lean < 0 and said.weekday < 5 else 0, 0.6)


_SHARES = {
    **dict.fromkeys(("初", "上旬", "초"), (0, 2)),
    **dict.fromkeys(("中旬", "中", "중순"), (2, 4)),
    **dict.fromkeys(("下旬", "底", "末", "말"), (4, 6)),
}
_SHARE = (
    rf"(?:\s?(?:(?P<share>初|上旬|中旬|中(?![学學國国間间文午])|下旬|底|末)|(?P<part>초|중순|말){_ENDING}))?"
)


def _shared(time: Time | None, match: re.Match[str]) -> Time | None:
    """The beginning, the middle or the end of it, if that is what follows."""
    name = match["share"] or match["part"]
    if time is None or not name:
        return time
    long = (time.stop - time.start) // DAY
    start, stop = (time.start + round(long * edge / 6) * DAY for edge in _SHARES[name])
    return Time(start, stop, "days", time.certainty)


_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3, "봄": 0, "여름": 1, "가을": 2, "겨울": 3}


def _year(match: re.Match[str], said: Said) -> int | None:
    if match["near"]:
        return said.year + _YEAR_NAMES[match["near"]]
    if match["era"]:
        return _ERAS[match["era"]] + (1 if match["reign"] == "元" else int(match["reign"]))
    return int(_number(match["year"])[0]) if match["year"] else None


def _in_month(match: re.Match[str], said: Said) -> Time | None:
    """A month or one of its days, in a year that is named or else meant."""
    year, number = _year(match, said), int(_number(match["month"])[0])
    lean = 0 if year is not None else _lean(said, match.start(), match.end())
    if match["date"]:
        return yearly(of_day(number, int(_number(match["date"])[0])), said, "day", None, lean, year)
    return _shared(yearly(of_month(number), said, "month", None, lean, year), match)


def _season(match: re.Match[str], said: Said) -> Time | None:
    return yearly(of_season(_SEASONS[match["season"]]), said, "season", None, 0, _year(match, said))


def _whole_year(match: re.Match[str], said: Said) -> Time | None:
    year = _year(match, said)
    return None if year is None else _shared(years(year, year, _SURE if match["near"] else 1.0), match)


_PLAIN_YEARS = either(_YEAR_NAMES.keys() - {"前年", "大前年", "来年", "來年"})
_NEAR_YEAR = rf"(?:{_NOT_BEFORE}大?前年|(?<![近原从從本年再])(?:来年|來年)|(?:{_PLAIN_YEARS}))(?![轻輕龄齢])"
_PLAIN_DAYS = either(_DAY_NAMES.keys() - {"前天", "大前天", "今日", "后天", "後天", "오늘"})
_IN_YEAR = (
    rf"(?:(?P<near>{_NEAR_YEAR})|(?P<era>令和|平成|昭和)(?P<reign>\d{{1,2}}|元)年"
    r"|(?<![\d.,])(?P<year>(?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3})\s?[年년](?!\s?(?:[前间間来來]|전|간|동안)))\s?の?\s?"
)
_MONTH = (
    r"(?<![\d.,第])(?P<month>1[0-2]|0?[1-9]|(?<![一二三四五六七八九十])(?:十[一二]?|[一二三四五六七八九]))\s?"
    r"(?:月(?![亮光球饼餅间間薪租天])份?|월)"
    r"(?:\s?(?P<date>3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])\s?"
    r"(?:[日号號](?![间間])|일(?!\s?(?:간|동안))))?"
)
_DAY = (
    r"(?P<day>一(?![直些共样樣起家个個定切次边邊])|[二三四五六](?![人次个個天十])"
    r"|日(?![本子程])|天(?![气氣天]))"
)
_WEEK = r"(?:周|週|星期|礼拜|禮拜)"
RULES = tuple(
    Rule(_CUES, pattern(shape), read)
    for shape, read in (
        (
            rf"(?<![\d.,第月월一二三四五六七八九十])(?<!월\s)(?:(?P<alone>{either(_ALONE)})|(?P<count>{_NUMBER})\s?"
            rf"(?:[个個]半(?P<halved>{either(_HALVED)})|(?P<unit>{either(_UNIT_NAMES)})(?P<half>半)?))\s?[以之]?"
            rf"(?P<way>[前后後](?![后後夕])|(?:전|후|뒤){_ENDING})",
            _far,
        ),
        (rf"(?P<part>{either(_PART_NAMES)})", _part),
        (
            rf"(?P<day>{_NOT_BEFORE}大?前天(?!天)|今日(?!头条|頭條)|[后後]天(?![的性努])|오늘(?!날)"
            rf"|{_PLAIN_DAYS})",
            _day,
        ),
        (
            r"(?<![早晚路身马馬地网網线線车車海以])(?P<step>上上|上|这|這|本|下下|下)[个個]?"
            rf"(?:(?P<unit>周末|週末|月(?![亮光球饼餅])|{_WEEK}(?![围圍边邊到年密转轉]))){_DAY}?{_SHARE}",
            _stepped,
        ),
        (
            r"(?<![未将將从從])(?P<step>先々|先先|先|今|再来|来|來)(?P<unit>週末|週|月(?!曜))(?:の?(?P<day>[月火水木金土日])曜日?)?"
            rf"{_SHARE}",
            _stepped,
        ),
        (
            r"(?P<step>지지난|지난|저번|이번|다다음|다음|담)\s?(?P<unit>주말(?!마다)"
            rf"|주(?:(?=\s?[월화수목금토일]요일)|{_ENDING})|달{_ENDING})(?:\s?(?P<day>[월화수목금토일])요일)?{_SHARE}",
            _stepped,
        ),
        (rf"{_IN_YEAR}{_MONTH}{_SHARE}", _in_month),
        (rf"{_IN_YEAR}(?P<season>春|夏|秋|冬|봄|여름|가을|겨울)[天季]?", _season),
        (rf"{_IN_YEAR}年?{_SHARE}", _whole_year),
        (rf"(?P<near>(?!))?(?P<era>(?!))?(?P<year>(?!))?{_MONTH}{_SHARE}", _in_month),
        (rf"(?<![一二两兩三四五六七八九十每半几幾数數\d个個]){_WEEK}{_DAY}", _weekday),
        (r"(?<!毎)(?<!毎週)(?<!毎週の)(?P<day>[月火水木金土日])曜日?", _weekday),
        (r"(?<!매주)(?<!매주\s)(?P<day>[월화수목금토일])요일(?!마다)", _weekday),
        (r"(?<![每毎个個])(?:周末|週末|주말(?!마다))", _weekend),
    )
)
