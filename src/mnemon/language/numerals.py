"""The words for small numbers, in the languages that write them with spaces."""

from __future__ import annotations

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

NUMERALS = {word: value for value, row in (*enumerate(_SMALL), *_TENS.items()) for word in row.split()}
"""The number that each word stands for."""

COUNTS = {
    word: value
    for value, row in (*enumerate(_SMALL[2:], 2), *_TENS.items())
    for place, word in enumerate(row.split())
    if place == 0 or len(word) >= _SURE_LETTERS
}
"""Those that mean a number in whatever language they stand: the English ones, and long ones."""
