"""One form for the forms of a word, found by its script: English, Russian, Arabic; others stay as they are.

Only inflection is undone. What is made of a word by derivation ('teacher' of 'teach') is another word:
undoing that too was measured, and found no more of what was sought.
"""

from __future__ import annotations

from mnemon.domain.pattern import pattern
from mnemon.domain.words.irregular import BASES

_VOWELS = frozenset("aeiouy")
_UNBENT = """
during earring evening february inning january jeans july lens news outing pants shorts united wedding
"""
_KEPT = frozenset(_UNBENT.split())
"""What a rule would make another word of, and months."""
_PLAIN_S = ("ss", "us", "is")
_HISSED = ("sses", "shes", "ches", "xes", "zzes")

_ENDINGS = """
а я о е и ы у ю ь й ов ев ей ам ям ах ях ом ем ой ою ею ью ия ие ии ию ий ами ями иям иях иями ием
ая яя ое ее ые ый ую юю ым им ых их ого его ому ему ыми ими
ать ять еть ить ыть уть ти ешь ишь ет ит ут ют ат ят ете ите аю яю ую ею ает яет ует еет ают яют уют еют
ал ял ел ил ыл ул ала яла ела ила ыла ула али яли ели или ыли ули ало яло ело ило ыло уло
"""
_RUSSIAN = frozenset(_ENDINGS.replace("й", "и").split())
_REFLEXIVE = ("ся", "сь")
_LEAST = 3
"""Letters that are left of a word at least."""

_ARTICLES = (("وال", 6), ("بال", 6), ("كال", 6), ("فال", 6), ("ال", 5), ("لل", 5))
_AND, _FEMININE, _BOUND = "و", "ه", "ت"
"""'And' before a word; how feminine words end, and how they do before 'my' and 'her'."""
_OWNERS = ("ها", "ي")
_MASCULINES, _FEMININES = ("ون", "ين"), "ات"

_HEBREW = pattern("ו?(?:כש|ש)?[מבלכ]?ה?(?=.{3})")
"""And, when, that, from, in, to, as, the: written together with the word that follows."""


def stem(word: str) -> str:
    """The stem of a folded word in lower case."""
    if word.isascii():
        return _english(word)
    if "\u0400" <= word[0] <= "\u04ff":
        return _russian(word)
    if "\u0620" <= word[0] <= "\u06ff":
        return _arabic(word)
    return word


def unprefixed(word: str) -> str:
    """A Hebrew word without what is written before it; nothing if there is no such thing.

    A word may begin with such a letter itself, so that this stands beside the whole.
    """
    if not "\u05d0" <= word[0] <= "\u05ea":
        return ""
    before = _HEBREW.match(word)
    return word[before.end() :] if before and before.end() else ""


def _english(word: str) -> str:
    word = BASES.get(word, word)
    if len(word) < 4 or word in _KEPT or not word.isalpha():
        return word
    if word[-1] == "s":
        word = _without_plural(word)
    if word[-1] in "dg":
        word = _without_past(word)
    word = _american(word)
    if word[-1] == "e" and len(word) > 3 and not _is_short(word[:-1]):
        word = word[:-1]
    if word[-1] == "y" and len(word) > 3 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    if word.endswith(_PLAIN_S):
        return word
    if word.endswith("ies"):
        return _without_i(word)
    return word[:-2] if word.endswith(_HISSED) else word[:-1]


def _without_i(word: str) -> str:
    """Of 'tries' and 'tried' 'try', of 'parties' 'parti', of 'pies' 'pie'."""
    if len(word) < 5:
        return word[:-1]
    return word[:-3] + "y" if len(word) == 5 else word[:-2]


def _without_past(word: str) -> str:
    if word.endswith("ied"):
        return _without_i(word)
    if word.endswith("ing"):
        base = word[:-3]
    elif word.endswith("ed") and not word.endswith("eed"):
        base = word[:-2]
    else:
        return word
    if len(base) < 2 or _VOWELS.isdisjoint(base):
        return word
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouylsz":
        return base[:-1]
    return base + "e" if _is_short(base) else base


def _is_short(base: str) -> bool:
    """One syllable that ends in a single vowel and a consonant: 'hik', 'us'. It lost an e, if anything."""
    before, vowel, last = base[:-2], base[-2], base[-1]
    if vowel not in _VOWELS or last in _VOWELS or not _VOWELS.isdisjoint(before):
        return False
    return last not in "wx" or not before


def _american(word: str) -> str:
    """Colour and travelling as color and traveling; organize as organise, for more words end in that."""
    at = word.find("our", 3)
    if at > 0:
        word = word[:at] + "or" + word[at + 3 :]
    if len(word) > 5 and word.endswith(("iz", "ize")):
        head, _, tail = word.rpartition("iz")
        return f"{head}is{tail}"
    if word.endswith("ll") and sum(letter in _VOWELS for letter in word) > 1:
        return word[:-1]
    return word


def _russian(word: str) -> str:
    if word.endswith(_REFLEXIVE) and len(word) > _LEAST + 2:
        word = word[:-2]
    for length in (4, 3, 2, 1):
        if len(word) - length >= _LEAST and word[-length:] in _RUSSIAN:
            return word[:-length]
    return word


def _arabic(word: str) -> str:
    """A word comes to the same with its article and without: 'and' is taken from the rest in either case."""
    word = _without_plural_or_owner(_without_article(word))
    if word[0] == _AND and len(word) > _LEAST + 1 and not word.startswith(_ARTICLES[0][0]):
        return word[1:]
    return word


def _without_article(word: str) -> str:
    for article, least in _ARTICLES:
        if len(word) >= least and word.startswith(article):
            return word[len(article) :]
    return word


def _without_plural_or_owner(word: str) -> str:
    for owner in _OWNERS:
        if word.endswith(owner) and len(word) >= _LEAST + len(owner):
            word = word.removesuffix(owner)
            if word.endswith(_BOUND) and len(word) > _LEAST:
                word = word[:-1] + _FEMININE
            break
    if len(word) < _LEAST + 2:
        return word
    if word.endswith(_FEMININES):
        return word[:-2] + _FEMININE
    return word[:-2] if word.endswith(_MASCULINES) else word
