"""A question in another language, as rules read it: its words, of whom it is, and what would answer it.

A line answers it that has its label on a card, or speaks of nearly all of its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mnemon.adapters.reason.asked_kinds import Test
from mnemon.adapters.reason.asked_labels import labels_asked
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.domain.abroad import IN_ENGLISH
from mnemon.domain.pattern import pattern
from mnemon.domain.when import spans
from mnemon.domain.words import STOP_WORDS, words

_ASKING = """
was wer wem wen wo wohin woher wann wie warum welche welcher welches welchen welchem wogegen worauf womit
que cual cuales quien quienes donde adonde cuando como cuanto cuanta cuantos cuantas
quel quelle quels quelles qui quoi ou quand comment combien est-ce
dove che chi cosa come quale onde qual quem waar wat hoe wie
"""
_GERMAN = """
ich wir du mein meine meinen meinem meiner meines unser unsere unseren unserem unserer mir mich uns der die
das den dem des ein eine einen einem einer und in im am an auf aus bei mit nach von vom zu zum zur fur um uber
als ist sind war waren bin habe haben hat hatte hast wird wurde nicht kein keine denn eigentlich noch mal
jetzt es sich viel viele lautet
"""
_ROMANCE = """
yo mi mis nuestro nuestra el la los las lo un una de del al a en con por para y o es son era fue soy estoy
esta he ha hemos hay se me nos le tengo tiene tenemos ahora
je moi mon ma mes notre nos nous on les une des du au aux dans sur chez avec pour par et est suis sont ai as
avons ce cette il elle ils elles y fait fais
io mio mia il di da sono ho eu meu minha o um uma em os
"""
_SMALL = word_set(_ASKING + _GERMAN + _ROMANCE + "ik mijn het een op nu van")
"""Words of questions that name nothing, without their accents."""
_WHICH = word_set("welche welcher welches welchen welchem que cual quel quelle quels quelles quale qual")
_TIMES = word_set("tag tage uhrzeit monat jahr dia dias hora mes ano jour jours heure mois annee giorno ora")
_OWNED = word_set(
    "mein meine meinen meinem meiner unser unsere unseren unserem unserer mi mis nuestro nuestra mon ma mes"
    " notre nos mio mia meu minha mijn der die das dem den el la los las le les il o a"
)
_WITH = word_set("mit bei zu von fur a con de para por avec pour chez di per")
_SELF = word_set("ich wir je moi nous on yo io eu ik")
_NAMING = word_set(
    "heisst heissen heisse llama llaman llamo appelle appellent nom nombre name namen chiama heet"
)
_AT_WORK = word_set("beruf arbeitet dedica trabaja profesion metier travaille vie lavora")
_OWN_NAME = pattern(
    r"\bhei(?:ß|ss)e\b|\bme llamo\b|\bm['’]appelle\b|\b(?:mein|mi|mon) (?:name|nombre|nom)\b|\bmi chiamo\b"
)
_NAMES = frozenset(["name", "goes by"])
_AGE = pattern(r"\bwie alt\b|\bcuántos años\b|\bquel âge\b|何歳|いくつ")
_OF_AGE = word_set("alt anos age")
_AMOUNT = pattern(
    r"\bwie ?viele?\b|\b(?:kostet|cuesta|coûte|costó|kostete)\b|\bcuánt[oa]s?\b|\bcombien\b|いくら"
    r"|何[人匹個回枚本台]"
)
_ELIDED = pattern(r"\b(?:qu|[jlmtsdnc])['’](?=\w)")
_MORE_IN_ENGLISH = {
    **dict.fromkeys(("freundin", "novia", "copine", "彼女"), "girlfriend"),
    **dict.fromkeys(("freund", "novio", "copain", "彼氏"), "boyfriend"),
    **dict.fromkeys(("partner", "partnerin", "pareja", "compagnon", "compagne"), "partner"),
    **dict.fromkeys(("dackel", "pudel", "labrador", "welpe", "caniche", "chiot", "cachorro", "犬"), "dog"),
    **dict.fromkeys(("kätzchen", "chaton", "gatito", "猫"), "cat"),
    **dict.fromkeys(("妻", "奥さん"), "wife"),
    **dict.fromkeys(("夫", "旦那"), "husband"),
    **dict.fromkeys(("兄", "弟"), "brother"),
    **dict.fromkeys(("姉", "妹"), "sister"),
    "息子": "son",
    "娘": "daughter",
    "母": "mother",
    "父": "father",
}
_NOUNS = {
    words(word)[0] if word.isascii() or word[0] < "一" else word: noun
    for word, noun in (IN_ENGLISH | _MORE_IN_ENGLISH).items()
}
_YEARS = pattern(r"\w (?:jahre?|años?|ans?|anni|anos|jaar)\b|歳|才", re.IGNORECASE)
_NUMBER = pattern(
    r"\d|\b(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|dos|tres|cuatro|cinco|seis"
    r"|siete|ocho|nueve|diez|once|doce|cien|mil|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|cent|mille"
    r")\b|[一二三四五六七八九十百千万]",
    re.IGNORECASE,
)
_CALLED = pattern(
    r"\bhei(?:ß|ss)(?:t|en)\b|\bnamens\b|\bllama(?:n|d[oa]s?)?\b|\bnombre\b|\bappell\w+|\bnomm\w+|\bnom\b|\bchiama"
    r"|\bnamen?\b|名前|といいます|という",
    re.IGNORECASE,
)
_WITH_NAME = pattern(r"\b(?P<noun>[^\W\d_]+),? (?P<name>[A-ZÀ-Þ][\w-]+)")
_TRADE = pattern(
    r"\b(?:arbeitet (?:als|bei|in)|trabaja|travaille|lavora|studiert|estudia|étudie)\b"
    r"|\b(?:es|est|ist)(?: une?| una?| eine?)? \w{2,}(?:ist[ae]?|er[oa]?|dora?|log[ou]?[ae]?|eu(?:r|se)"
    r"|i[èe]re|ienn?e?|rice|ant[ei]?|ent[ei]?|arzt|wirt|cat[aoe]?|tic[oa]|tect[oae]|nic[oa]|(?:er|ist|eur|ärzt|ant|log)in)\b"
    r"|[師員士家手者官]で|先生|をして",
    re.IGNORECASE,
)
"""What somebody is or does for a living, as it is told of others."""
_KANA = pattern(r"[\u3040-\u30ff]")
_ASKS_IN_KANA = pattern(r"何|誰|だれ|どこ|どの|どれ|どんな|いつ|いくら|いくつ|なぜ|教えて")
_RUN = pattern(r"[\u3005\u4e00-\u9fff]+|[\u30a1-\u30fa\u30fc]{2,}|[0-9A-Za-z]{2,}")
_NO_RUNS = pattern(
    r"何(?:曜日|歳|時|人|匹|個|回|枚|本|台|色|月|日|年)?|誰|[私僕俺](?![\u4e00-\u9fff])|[教今行]"
)
_LABELS_IN_KANA = [
    (pattern("アレルギー"), frozenset(["allergy"])),
    (pattern("住"), frozenset(["lives in"])),
    (pattern("名前"), frozenset(["name", "goes by"])),
    (pattern("仕事|職業"), frozenset(["works as", "works at", "works in"])),
    (pattern("ペット"), frozenset(["pet"])),
    (pattern("何歳|いくつ"), frozenset(["age", "birthday", "born"])),
    (pattern("誕生日"), frozenset(["birthday", "born"])),
]
_LABEL_RUNS = word_set("名前 仕事 職業 歳")
_SHORTEST_FORM = 4
_LONGEST_ENDING = 3
_KEPT = 1 << 10


class Abroad(NamedTuple):
    """What is read of such a question."""

    terms: frozenset[str]
    wanted: frozenset[str]
    whom: str
    """In English what somebody of the peer's is called whom it is about: 'sister'; '' if there is none."""
    kinds: tuple[Test, ...]


def read(said: str) -> Abroad | None:
    """The question, if it is in another language and asks something."""
    return _eastern(said) if _KANA.search(said) else _western(said)


def _western(said: str) -> Abroad | None:
    told = words(_ELIDED.sub("", said.lower()))
    if sum(word in _SMALL for word in told) <= sum(word in STOP_WORDS for word in told):
        return None
    timeless, times = _without_times(said)
    told = words(_ELIDED.sub("", timeless.lower()))
    low = said.lower()
    named = [at for at, word in enumerate(told) if word in _NOUNS]
    whom = _NOUNS[told[named[0]]] if named and _is_subject(told, named[0]) else ""
    names, works = not _NAMING.isdisjoint(told), not _AT_WORK.isdisjoint(told)
    own_name = _OWN_NAME.search(low) is not None
    wanted = labels_asked(low) - _NAMES
    if own_name or (whom and names):
        wanted |= _NAMES
    terms = {
        stem(_NOUNS.get(word, word))
        for at, word in enumerate(told)
        if word not in _SMALL | _NAMING | _AT_WORK | _OF_AGE and not _is_kind(told, at)
    }
    kinds = _kinds(low, names=names and not own_name, works=works and bool(terms), whom=whom)
    return Abroad(frozenset(terms) | times, wanted, whom, kinds)


def _eastern(said: str) -> Abroad | None:
    if not _ASKS_IN_KANA.search(said):
        return None
    timeless, times = _without_times(said)
    runs = _RUN.findall(_NO_RUNS.sub(" ", timeless))
    whom = next((_NOUNS[run] for run in runs if run in _NOUNS), "")
    wanted = frozenset[str]().union(*(labels for asks, labels in _LABELS_IN_KANA if asks.search(said)))
    terms = frozenset(stem(_NOUNS.get(run, run)) for run in runs if run not in _LABEL_RUNS)
    names, works = "名前" in said and bool(terms), "仕事" in said and bool(terms)
    if names and not whom:
        wanted -= _NAMES
    return Abroad(terms | times, wanted, whom, _kinds(said, names=names, works=works, whom=whom))


def _without_times(said: str) -> tuple[str, frozenset[str]]:
    """The question without its times, and the stems of these."""
    found = spans(said, 0)
    for span in sorted(found, key=lambda one: one.position, reverse=True):
        said = f"{said[: span.position]} {said[span.position + len(span.phrase) :]}"
    return said, frozenset(one for span in found for one in content_stems(span.phrase))


def _is_subject(told: Sequence[str], at: int) -> bool:
    """Whether somebody of the peer's does or is what is asked: not 'with my sister', and not what 'I' do."""
    if not _SELF.isdisjoint(told):
        return False
    before = told[at - 1] if at else ""
    return before not in _WITH and not (before in _OWNED and at > 1 and told[at - 2] in _WITH)


def _is_kind(told: Sequence[str], at: int) -> bool:
    """Whether a word says of which kind the answer is, as 'instrument' of 'which instrument do I play'.

    Only where more is asked than of something that is the peer's.
    """
    if not at or told[at - 1] not in _WHICH:
        return False
    if told[at] in _TIMES:
        return True
    rest = enumerate(told[at + 1 :], at + 1)
    return any(word not in _SMALL and told[place - 1] not in _OWNED for place, word in rest)


def _kinds(low: str, *, names: bool, works: bool, whom: str) -> tuple[Test, ...]:
    """What a line must have to answer the question: a number, years, a name, a trade."""
    found: list[Test] = []
    if _AGE.search(low):
        found.append(lambda said, _: _YEARS.search(said) is not None)
    elif _AMOUNT.search(low):
        found.append(lambda said, _: _NUMBER.search(said) is not None)
    if names:
        found.append(lambda said, _: _CALLED.search(said) is not None or _names_them(said, whom))
    if works:
        found.append(lambda said, _: _TRADE.search(said) is not None)
    return tuple(found)


def _names_them(said: str, whom: str) -> bool:
    """Whether a name stands right behind what they are called: 'une chienne, Prune'."""
    if not whom:
        return False
    return any(_NOUNS.get(words(found["noun"])[0]) == whom for found in _WITH_NAME.finditer(said))


def spoken_of(text: str, terms: frozenset[str]) -> frozenset[str]:
    """Those of the terms that a text in another language speaks of, in whichever form."""
    if _KANA.search(text):
        named = {stem(noun) for word, noun in _NOUNS.items() if word in text and _stands_alone(word, text)}
        return frozenset(term for term in terms if term in named or term in text)
    told = words(_ELIDED.sub("", text.lower()))
    named = {stem(_NOUNS[word]) for word in told if word in _NOUNS}
    return frozenset(term for term in terms if term in named or any(_meet(term, word) for word in told))


def _stands_alone(word: str, text: str) -> bool:
    return word > "一" and re.search(rf"(?<![\u4e00-\u9fff]){word}(?![\u4e00-\u9fff])", text) is not None


@lru_cache(_KEPT)
def _meet(term: str, word: str) -> bool:
    """Whether they are forms of one word, as 'vu' and 'vue', or one is made with the other: 'Haselnüsse'."""
    if term == stem(word) or term.rstrip("es") == word.rstrip("es"):
        return True
    if word in _NOUNS or len(term) < _SHORTEST_FORM:
        return False
    if word.endswith(term) or word.startswith(term):
        return True
    same = next(
        (at for at, (one, other) in enumerate(zip(term, word, strict=False)) if one != other), len(term)
    )
    return same >= _SHORTEST_FORM and max(len(term), len(word)) - same <= _LONGEST_ENDING
