"""The few things that are said in so fixed a form that they are sure in other languages too."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_NAME = r"(?P<name>[A-ZÀ-Þ][\w'’-]{1,30}(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,2})"
_PLACE = (
    r"(?P<place>(?:(?:La|Le|Los|Las|São|San|Santa|El|den|der|dem|die)\s)?[A-ZÀ-Þ][\w'’-]{1,30}"
    r"(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,2})"
)
_START = r"(?:^|(?<=[,;:!¡] )|(?<=\by )|(?<=\be )|(?<=\bund )|(?<=\bet )|(?<=\ben ))"
_HINTS = word_set(
    """
    llamo nombre chamo chamo-me nome vivo moro heiße heisse name wohne lebe komme m'appelle nom j'habite
    vis viens chiamo abito heet naam woon soy sou tengo tenho bin j'ai ho jag jeg nazywam
    """
)
"""One of these words is in every form below."""
_FORMS = [
    (
        "Name",
        rf"(?i:me llamo|mi nombre es|me chamo|chamo-me|(?:o )?meu nome é|ich hei(?:ß|ss)e|mein name ist"
        rf"|je m'appelle|mon nom est|mi chiamo|il mio nome è|ik heet|mijn naam is|jag heter|jeg hedder"
        rf"|nazywam się)\s+{_NAME}(?!\w)",
    ),
    (
        "Lives in",
        rf"(?i:vivo en|vivo em|vivo a|moro em|moro no|moro na|moro n'|ich wohne(?: \w+)? in"
        rf"|ich lebe(?: \w+)? in|j'habite(?: \w+)? (?:à|au|en|aux)"
        rf"|je vis (?:à|au|en|aux)|abito a|ik woon(?: \w+)? in|jag bor i|jeg bor i)\s+{_PLACE}(?!\w)",
    ),
    (
        "From",
        rf"(?i:soy de|sou d[eoa]|ich komme(?: ursprünglich)? aus|je viens d(?:e |u |es ))\s*{_PLACE}(?!\w)",
    ),
    (
        "Age",
        r"(?i:tengo|tenho|ich bin|j'ai|ho)\s+(?P<age>\d{1,3})\s+(?i:años|anos|jahre alt|ans|anni)\b",
    ),
]
_SHAPES = [(label, pattern(_START + form)) for label, form in _FORMS]
_UNREAL = pattern(
    r"\b(?:si|se|wenn|falls|als ob|imagina|imagine|imaginez|stell dir|no|não|nicht|ne|nem)\b", re.IGNORECASE
)


_HEARD = word_set(
    """
    sagt sagte sagten meint meinte schrieb erzählte antwortete rief behauptet behauptete dijo dice decía
    respondió contestó dicen disse diz dizia respondeu dit dit-il dit-elle disait répondit detto rispose
    zei zegt säger sagde siger powiedział powiedziała traum sueño sueños rêve sogno sonho roman novela
    scherz spaß broma blague scherzo brincadeira grapje
    """
)
"""What tells that another says it, or that it is a dream or a jest."""


def spoken(sentence: str, words: list[str]) -> str | None:
    """The card's line that a sentence in another language gives; None for what isn't certain."""
    if _HINTS.isdisjoint(words) or len(sentence) > 300 or sentence.endswith("?"):
        return None
    if not _HEARD.isdisjoint(word.strip(",.;:!()") for word in words):
        return None
    text = sentence.rstrip(" .!")
    for label, shape in _SHAPES:
        found = shape.search(text)
        if found is None or _UNREAL.search(text[: found.end()]) or any(mark in text for mark in '"«»“”'):
            continue
        return line(label, found[found.lastgroup or 0])
    return None
