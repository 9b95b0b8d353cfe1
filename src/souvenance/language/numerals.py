"""The numbers in a text: in digits, in signs, and in the words of the languages that write spaces."""

from __future__ import annotations

import re
import unicodedata

from souvenance.language.forms import signs
from souvenance.patterns import pattern

NUMBER = pattern(r"\d++(?:[.,:/-]\d++)*+(?:k\b)?", re.IGNORECASE)
"""A number in digits, a date or a time of day."""
_DIGITS = pattern(r"\d+")
_LETTERS = pattern(r"[^\W\d_]+")
_THOUSANDS = pattern(r"(?<=\d)[.,](?=\d{3}(?!\d))")

_SMALL = (
    "zero null nul noll ноль sıfır",
    "one ein eine un une una uno um uma een en один одна jeden jedna bir",
    "two zwei deux dos due dois duas twee två to два две dwa dwie iki",
    "three drei trois tres tre três drie три trzy üç",
    "four vier quatre cuatro quattro quatro fyra fire четыре cztery dört",
    "five fünf cinq cinco cinque vijf fem пять pięć beş",
    "six sechs seis sei zes sex seks шесть sześć altı",
    "seven sieben sept siete sette sete zeven sju syv семь siedem yedi",
    "eight acht huit ocho otto oito åtta otte восемь osiem sekiz",
    "nine neun neuf nueve nove negen nio ni девять dziewięć dokuz",
    "ten zehn dix diez dieci dez tien tio ti десять dziesięć on",
    "eleven elf onze once undici elva elleve одиннадцать jedenaście",
    "twelve zwölf douze doce dodici doze twaalf tolv двенадцать dwanaście",
)
_TENS = {
    15: "fifteen fünfzehn quinze quince quindici vijftien femton пятнадцать",
    20: "twenty zwanzig vingt veinte venti vinte twintig tjugo двадцать dwadzieścia yirmi",
    30: "thirty dreißig trente treinta trenta trinta dertig trettio тридцать trzydzieści otuz",
    40: "forty vierzig quarante cuarenta quaranta quarenta veertig fyrtio сорок czterdzieści kırk",
    50: "fifty fünfzig cinquante cincuenta cinquanta cinquenta vijftig femtio пятьдесят elli",
    60: "sixty sechzig soixante sesenta sessanta sessenta zestig sextio шестьдесят altmış",
    70: "seventy siebzig septante setenta settanta zeventig sjuttio семьдесят yetmiş",
    80: "eighty achtzig huitante ochenta ottanta oitenta tachtig åttio восемьдесят seksen",
    90: "ninety neunzig nonante noventa novanta negentig nittio девяносто doksan",
    100: "hundred hundert cent cien cento cem honderd hundra сто sto yüz",
}

_SURE_LETTERS = 5

_NUMERALS = {word: value for value, row in (*enumerate(_SMALL), *_TENS.items()) for word in row.split()}
_COUNTS = {
    word: value
    for value, row in (*enumerate(_SMALL[2:], 2), *_TENS.items())
    for place, word in enumerate(row.split())
    if place == 0 or len(word) >= _SURE_LETTERS
}
"""Those that mean a number in whatever language they stand: the English ones, and long ones."""


def whole(number: str) -> str:
    """A number that is written with points or commas between thousands, or with a k, in digits alone."""
    plain = _THOUSANDS.sub("", number.lower())
    return f"{plain[:-1]}000" if plain.endswith("k") else plain


def runs(number: str) -> list[int]:
    """The runs of digits of a number."""
    return [int(run) for run in _DIGITS.findall(number)]


def counts(text: str) -> set[int]:
    """The numbers from two on that are written as words, where they can mean nothing else."""
    return {_COUNTS[word] for word in _LETTERS.findall(text.lower()) if word in _COUNTS}


def numbers(text: str) -> set[str]:
    """The numbers of a text in digits: whole, each run of digits of one, and those written as words."""
    found: set[str] = set()
    for number in NUMBER.findall(text):
        found.update((whole(number), *map(str, runs(number))))
    before = 0
    for word in _LETTERS.findall(text.lower()):
        value = _NUMERALS.get(word)
        if value is not None:
            found.update((str(value), str(before + value)))
        before = value if value is not None and value >= 20 else 0
    values = (unicodedata.numeric(sign, 0.5) for sign in signs(text) if len(sign) == 1)
    return found | {str(int(value)) for value in values if value % 1 == 0}
