"""Whether a sentence is in another language than English, told by its small words.

'Im Garten stehen Rosen' and 'Im a gardener' begin alike: what is read as English has to be English first.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.reason.lexicon import word_set
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS

_GERMAN = """
aber auf aus bei bin das dem den der des dich dir doch du ein eine einem einen einer er es für haben hat ich
ihr im ist jetzt kann kein keine mehr mein meine meinem meinen meiner mich mir mit nach nicht noch nur oder
schon sehr sich sie sind über um und uns unser unsere unserem unseren vom von vor wenn wie wir wird wurde zu
zum zur
"""
_SPANISH = """
al con cuando de del desde el en es está estoy he la las le lo los más mi mis muy nos nuestra nuestro para
pero por porque que se sin sobre soy su sus también tengo un una y ya
"""
_FRENCH = """
à au aux avec c'est ce cette dans de des du elle en est et il j'ai je la le les leur ma mais mes moi mon ne
notre nous on par pas plus pour qu'il que qui sa ses son suis sur très un une vous
"""
_OTHERS = """
che di è gli il io ma mia mio non nel nella per più sono e com do da em eu foi mas meu minha não no na o os
um uma aan dat een het ik ben maar met mijn naar niet ons onze op van voor wij zijn
"""
_IN_ENGLISH_TOO = word_set(
    "ben bin com con dat den do e em es hat he ma mas met mi mia na no o on op os par pas per plus"
    " sa sin son um van ya"
)
_ABROAD = word_set(_GERMAN + _SPANISH + _FRENCH + _OTHERS) - STOP_WORDS - _IN_ENGLISH_TOO
"""Small words of other languages that are none in English, nor words or names."""
_AT_HOME = STOP_WORDS - word_set("am an as do has he in is me so us was i") | word_set(
    "i'm i've i'll i'd we're we've don't can't not just no any"
)
"""Small words of English that are none elsewhere."""
_IN_NAMES = word_set("al da das de del den der des di do dos du el la las le les los sur van von y")
"""Small words that names have in any language."""
_IN_THE = pattern(r"Im [A-ZÄÖÜ][\wäöüß-]+ [^A-ZÄÖÜ]")
"""A German noun after its preposition; a name would end what 'Im' begins, or go on in capitals."""


def is_abroad(sentence: str, words: Sequence[str]) -> bool:
    """Whether more of its small words, given in small letters, are of another language than of English."""
    told = [word.strip('.,;:!?()"“”') for word in words]
    if _ABROAD.isdisjoint(told):
        return False
    names = [word[:1].isupper() for word in sentence.split()] if not _IN_NAMES.isdisjoint(told) else []
    abroad = sum(word in _ABROAD and not _in_a_name(at, word, names) for at, word in enumerate(told))
    if told[0] == "im" and not _IN_THE.match(sentence):
        abroad -= 1
    of_self = sentence.startswith("I ") or " I " in sentence
    return abroad > sum(word in _AT_HOME for word in told) + of_self


def _in_a_name(at: int, word: str, names: Sequence[bool]) -> bool:
    """Whether the word stands beside a name, as in 'Playa del Carmen' and 'Rio de la Plata'."""
    return word in _IN_NAMES and any(names[max(0, at - 2) : at + 3])
