"""Of whom a line tells who is not its speaker: their rent, flight or phone is not the speaker's.

Somebody who owns something ("Anna's flight"), a relative, friend or neighbour, in a few languages, whoever is
"he", "she" or "their", and who was told something. Partners are left out: what is said of them is of both.
"""

from __future__ import annotations

from mnemon.domain import words
from mnemon.domain.pattern import pattern

_OTHERS = """
aunt auntie brother brothers cousin dad daddy daughter father granddad grandfather grandma grandmother
grandpa granny grandson granddaughter kid kids mom mother mum nephew niece sister sisters son sons uncle
parents friend friends neighbor neighbour neighbors neighbours colleague colleagues coworker roommate
flatmate intern

schwester bruder mutter mama vater papa eltern sohn tochter oma opa tante onkel freund freundin freunde
freundes nachbar nachbarn nachbarin kollege kollegen kollegin

sœur soeur frère mère père maman fils fille oncle ami amie amis voisin voisine voisins collègue

hermana hermano madre padre padres hijo hija tía tío abuela abuelo amiga amigo vecina vecino compañera
compañero

irmã irmão mãe pai pais filho filha tia tio avó avô vizinha vizinho colega
"""
_THINGS = """
it that what there here who how where let today yesterday tomorrow tonight everything everyone he she one
week month year this
"""
_WHOEVER = "he she his her hers their sein seine seinem seinen seiner seines ihrem ihren ihrer ihres"
PRONOUNS = frozenset(term for one in _WHOEVER.split() for term in words.terms(one))
"""Whoever that is: it may be somebody of whom both lines tell."""
_PEOPLE, _NOBODY = frozenset(f"{_OTHERS} {_WHOEVER}".split()), frozenset(_THINGS.split())
_EASTERN = pattern(
    "妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|母亲|父亲|父母|朋友|同事|邻居|儿子|女儿|奶奶|爷爷|他|她"
    "|さん|くん|ちゃん|妹|姉|兄|弟|母|父|両親|友達|友人|同僚|息子|娘|彼"
)
_REASON = pattern(
    r"\b(?:because|due to|thanks to|weil|wegen|parce que|à cause|porque|por causa)\b|因为|ので|から、"
)
"""What is said behind these is why, and not what."""
_WORD = pattern(r"[^\W\d_]+")
_HAS = r"(?:been|got|gone|on|off|out|at|in|a|an|the|not|just|finally)\b"
"""Behind 's that is short for has or is."""
_OWNER = pattern(rf"\b([^\W\d_]+)(?:['’]s(?= (?!{_HAS})[^\W\d_])|(?<=s)['’](?= ))")
_DOES = pattern(
    r"\b(?:he (?=\w+(?:[aií]do|sto|cho|rto)\b)"
    r"|(?:he|she) (?=(?:\w+(?:ed|ut) (?:me|us|my|our|the)|says?|said|reckons)\b))"
)
"""Who says something, or does it to what is the speaker's, is not told of; and Spanish 'he' is 'have'."""
_TOLD = pattern(r"\b(?:told|asked|advised|reminded|warned) (?!me\b|us\b|you\b)([^\W\d_]+)")
_SUBJECT = pattern(
    r"(?:^|(?<=[.!?] ))([A-ZÀ-Þ][a-zß-ÿ]+) "
    r"(?:has|is|was|had|will|wants?|says?|thinks?|takes|lives|works|drives|goes|pays|weighs|uses)\b"
)
_MOST = 1_000
"""How much of a line is read."""


def bystanders(text: str) -> frozenset[str]:
    """The terms of those whom it tells of, other than the speaker."""
    text = text[:_MOST]
    low = text.lower()
    reason = _REASON.search(low)
    low = _DOES.sub("", low[: reason.start()] if reason else low)
    found = [word for word in _WORD.findall(low) if word in _PEOPLE]
    found += [one for one in _OWNER.findall(low) if one not in _NOBODY]
    found += _TOLD.findall(low)
    found += [one for one in _SUBJECT.findall(text) if one.lower() not in words.STOP_WORDS]
    if not low.isascii():
        found += _EASTERN.findall(low)
    return frozenset(term for one in found for term in words.terms(one))
