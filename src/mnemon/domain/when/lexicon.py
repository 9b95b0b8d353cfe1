"""The names of months and weekdays and the words for numbers, in English, German, French and Spanish."""

from __future__ import annotations

from collections.abc import Iterable

_MONTHS = (
    "january jan januar jänner janvier enero",
    "february feb februar février fevrier febrero",
    "march mar märz maerz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août aout agosto",
    "september sept sep septembre septiembre setiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre",
)
_WEEKDAYS = (
    "monday mon montag lundi lunes",
    "tuesday tues tue dienstag mardi martes",
    "wednesday wed mittwoch mercredi miércoles miercoles",
    "thursday thurs thur thu donnerstag jeudi jueves",
    "friday fri freitag vendredi viernes",
    "saturday sat samstag sonnabend samedi sábado sabado",
    "sunday sun sonntag dimanche domingo",
)
_SEASONS = (
    "spring springtime frühling frühjahr printemps primavera",
    "summer summertime sommer été verano",
    "autumn fall herbst automne otoño",
    "winter wintertime hiver invierno",
)
_NUMBERS = (
    "one a an ein eine einem einer einen un une una",
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five fünf cinq cinco",
    "six sechs seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve dozen zwölf douze doce",
)
_LARGE = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_LOOSE = {
    "couple": (2, 3),
    "few": (2, 5),
    "several": (3, 8),
    "some": (2, 6),
    "paar": (2, 5),
    "einigen": (2, 6),
    "quelques": (2, 5),
    "unos": (2, 5),
    "unas": (2, 5),
    "anderthalb": (1.5, 1.5),
    "eineinhalb": (1.5, 1.5),
    "zweieinhalb": (2.5, 2.5),
}


def _numbered(rows: tuple[str, ...], first: int) -> dict[str, int]:
    return {name: number for number, names in enumerate(rows, first) for name in names.split()}


def either(names: Iterable[str]) -> str:
    """A pattern for any of the names, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))


MONTHS = _numbered(_MONTHS, 1)
WEEKDAYS = _numbered(_WEEKDAYS, 0)
SEASONS = _numbered(_SEASONS, 0)
NUMBERS = _numbered(_NUMBERS, 1) | _LARGE

_OPEN_MONTHS = (
    "january february july september october november december januar februar juli oktober dezember janvier"
    " février juillet septembre octobre novembre décembre enero febrero septiembre octubre noviembre"
    " diciembre"
)
OPEN_MONTHS = frozenset(_OPEN_MONTHS.split())
"""The months whose name means nothing else, so that it needs no preposition."""
VERBS = frozenset({"may", "march", "mar", "mars", "mayo"})
"""The months whose name is also a common word, so that it needs a capital letter or a number."""
SHORT_WEEKDAYS = frozenset({"mon", "tues", "tue", "wed", "thurs", "thur", "thu", "fri", "sat", "sun"})

MONTH = f"(?:{either(MONTHS)})"
WEEKDAY = f"(?:{either(WEEKDAYS)})"
SEASON = f"(?:{either(SEASONS)})"
COUNT = (
    r"(?:\d{1,2}[.,]5|an?\s+(?:couple|few|dozen)(?:\s+of)?|ein\s+paar|half\s+an?|(?:couple|dozen)\s+of|½"
    rf"|(?:\d{{1,3}}|{either([*NUMBERS, *_LOOSE])})(?:\s+and\s+(?:an?\s+)?half|\s?½)?)"
)


def count(words: str) -> tuple[float, float]:
    """The least and the most that a match of COUNT may stand for."""
    whole = words.removesuffix("half").removesuffix("½")
    named = whole.split()
    if named and words != whole:
        named = [word for word in named if word != "and"]
        least, most = count(" ".join(named[:-1] if named[-1] in ("a", "an") and len(named) > 1 else named))
        return least + 0.5, most + 0.5
    if words[0].isdecimal():
        number = float(words.replace(",", "."))
        return number, number
    if not named or named[0] == "half":
        return 0.5, 0.5
    for word in reversed(named):
        if word in _LOOSE:
            return _LOOSE[word]
        if word in NUMBERS and word != "of":
            return NUMBERS[word], NUMBERS[word]
    return 1, 1
