"""What is no longer so, or was said wrong, in a few other languages: as it would be said in English.

Only what is said in a fixed form is read, so that one set of rules judges it, whatever language it is in.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mnemon.domain.pattern import pattern

_NAME = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]*(?: (?-i:[A-ZÀ-Þ])[\w'’-]*)?)"
_PLACE = r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]*(?: (?:(?:de|del|la|am|sur) )?(?-i:[A-ZÀ-Þ])[\w'’-]*){0,2})"
_THING = r"(?P<name>[\w'’-]{3,30}(?: (?:de|du|del|des|von|à) [\w'’-]{3,30})?)"
_DIET = (
    r"(?P<name>vegetarier(?:in)?|veganer(?:in)?|vegetarisch|vegan[oae]?|vegetarian[oa]|végétarien(?:ne)?"
    r"|végane?)"
)
_HAN = r"(?P<name>[\u4e00-\u9fffA-Za-z]{1,8}?)"
_KANA = r"(?P<name>[^はがもをに。、\s]{1,10})"
_NOUNS = {
    "dog": "hund|hündin|perro|perra|chien|chienne|cane|cachorro|hond",
    "cat": "katze|kater|gato|gata|chat|chatte|gatto|gatta|kat",
    "husband": "mann|ehemann|marido|esposo|mari|marito|echtgenoot",
    "wife": "frau|ehefrau|esposa|mujer|femme|moglie|vrouw",
    "brother": "bruder|hermano|frère|fratello|irmão|broer",
    "sister": "schwester|hermana|sœur|soeur|sorella|irmã|zus",
    "son": "sohn|hijo|fils|figlio|filho|zoon",
    "daughter": "tochter|hija|fille|figlia|filha|dochter",
    "mother": "mutter|mama|madre|mamá|mère|mãe|moeder",
    "father": "vater|papa|padre|papá|père|pai|vader",
}
IN_ENGLISH = {word: noun for noun, words in _NOUNS.items() for word in words.split("|")}
"""What somebody of theirs is called in other languages, each with the English word."""
_MY = (
    r"(?:meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|(?:il )?mio|(?:la )?mia|(?:o )?meu|(?:a )?minha|mijn"
    r"|on[sz]e?)"
)
_WHO = rf"(?:{_MY} (?P<kin>{'|'.join(IN_ENGLISH)})(?: (?P<called>(?-i:[A-ZÀ-Þ])[\w'’-]*))?|{_NAME})"
_LATELY = (
    r"(?:(?:leider|gestern|heute|vorgestern|letzte woche|letzten monat|letztes jahr|im \w+|lamentablemente"
    r"|ayer|malheureusement|hier|purtroppo|ieri|infelizmente|ontem|helaas|gisteren) )*"
)
_TAIL = (
    r"(?: (?:gestern|heute|letzte\w*|vor|im|am|ayer|hoy|anoche|el|la|en|hace|hier|le|il y a|ieri|ontem|na|no"
    r"|gisteren|vorige|in)\b.{0,40})?"
)
_FORMS = {
    "I no longer live in {}": (
        rf"(?:ich )?(?:wohne|lebe) (?:jetzt |inzwischen |schon lange )?nicht mehr in {_PLACE}",
        rf"ya no vivo en {_PLACE}",
        rf"je (?:n'habite|ne vis) plus (?:à|au|en|aux) {_PLACE}",
        rf"non (?:abito|vivo) più a {_PLACE}",
        rf"(?:eu )?(?:já )?não moro mais (?:em|no|na) {_PLACE}",
        rf"ik woon niet meer in {_PLACE}",
        rf"我(?:现在|已经)?不再?住在?{_HAN}了?",
        rf"(?:私は)?もう{_KANA}には?住んでい(?:ません|ない)",
    ),
    "I no longer work at {}": (
        rf"ich arbeite (?:jetzt |inzwischen )?nicht mehr (?:bei|für) {_NAME}",
        rf"ich habe (?:\w+ )?bei {_NAME} gekündigt",
        rf"ya no trabajo (?:en|para) {_NAME}",
        rf"je ne travaille plus (?:chez|à|pour) {_NAME}",
        rf"non lavoro più (?:in|per|da|alla) {_NAME}",
        rf"(?:eu )?não trabalho mais (?:em|no|na) {_NAME}",
        rf"ik werk niet meer (?:bij|voor) {_NAME}",
    ),
    "I am not allergic to {}": (
        rf"ich bin (?:doch |gar |jetzt )*nicht (?:mehr )?allergisch (?:gegen|auf) {_THING}",
        rf"(?:(?:ya|al final) )?no soy al[eé]rgic[oa] (?:a los|a las|al|a la|a) {_THING}",
        rf"je ne suis (?:finalement )?(?:plus|pas) allergique (?:aux|au|à la|à) {_THING}",
        rf"non sono (?:più )?allergic[oa] (?:ai|alle|al|alla|a) {_THING}",
        r"我(?:现在|已经)?对(?P<name>[^不没，。,.\s]{1,10})不再?过敏了?",
    ),
    "I am no longer {}": (
        rf"ich bin (?:jetzt |inzwischen )?(?:nicht mehr|keine?) {_DIET}(?: mehr)?",
        rf"ya no soy {_DIET}",
        rf"je ne suis plus {_DIET}",
        rf"non sono più {_DIET}",
        rf"(?:eu )?não sou mais {_DIET}",
    ),
    "I eat meat again": (
        r"ich esse (?:jetzt )?wieder (?:fleisch|fisch)",
        r"(?:vuelvo|he vuelto) a comer (?:carne|pescado)",
        r"je mange (?:à|de) nouveau (?:de la viande|du poisson)",
        r"我又吃肉了",
    ),
    "{} died": (
        rf"{_WHO} ist {_LATELY}(?:gestorben|verstorben|tot){_TAIL}",
        rf"{_WHO} (?:ha muerto|murió|falleció|ha fallecido|se murió|morreu|faleceu){_TAIL}",
        rf"{_WHO} est {_LATELY}(?:morte?|décédée?){_TAIL}",
        rf"{_WHO} è {_LATELY}mort[oa]{_TAIL}",
        rf"{_WHO} is {_LATELY}(?:overleden|gestorven|dood){_TAIL}",
        rf"{_HAN}(?:昨天|上周|上个月|今天)?(?:死了|去世了|过世了)",
        rf"{_KANA}が(?:死にました|亡くなりました|亡くなった)",
    ),
    "{} ran away": (
        rf"{_WHO} ist {_LATELY}(?:weggelaufen|entlaufen){_TAIL}",
        rf"{_WHO} se (?:escapó|ha escapado){_TAIL}",
        rf"{_WHO} s'est (?:enfuie?|échappée?|sauvée?){_TAIL}",
        rf"{_WHO} (?:è scappat[oa]|fugiu){_TAIL}",
    ),
    "We broke up": (
        rf"wir haben uns {_LATELY}(?:getrennt|scheiden lassen){_TAIL}",
        r"wir sind nicht mehr zusammen",
        rf"(?:nos (?:separamos|divorciamos|hemos separado|hemos divorciado)|hemos roto|rompimos){_TAIL}",
        rf"(?:nous nous sommes|on s'est) (?:séparée?s|quittée?s){_TAIL}",
        rf"(?:nous avons|on a) (?:divorcé|rompu){_TAIL}",
        rf"ci siamo (?:lasciati|separati){_TAIL}",
        r"我们(?:分手|离婚)了",
    ),
}
"""In English, and how it is said elsewhere."""
_SHAPES = [(told, pattern(form, re.IGNORECASE)) for told, forms in _FORMS.items() for form in forms]
_HINT = pattern(
    r"\b(?:nicht|keine?|gekündigt|wieder|gestorben|verstorben|tot|weggelaufen|entlaufen|getrennt|scheiden"
    r"|ya no|no soy|comer|muerto|murió|falleció|fallecido|escap\w+|separ\w+|divorci\w+|roto|rompimos|plus|pas"
    r"|nouveau|morte?|décédée?|enfuie?|échappée?|sauvée?|séparée?s|quittée?s|divorcé|rompu|più|mort[oa]"
    r"|scappat[oa]|lasciati|não|morreu|faleceu|fugiu|niet|overleden|gestorven|dood)\b"
    r"|[不死世肉手婚]|住んで|亡く",
    re.IGNORECASE,
)
"""One of these is in every form above."""
_SORRY = (
    r"(?:(?:nein|ups|oh|äh|entschuldigung|sorry|verzeihung|perdón|perdona|no|uy|ay|non|pardon|désolée?|oups|scusa"
    r"|desculpa)[\s,.!:]+)*"
)
_WORD = r"(?-i:[A-ZÀ-Þ\d])[^\s,;:.!?\"“”()]*(?: (?-i:[A-ZÀ-Þ\d])[^\s,;:.!?\"“”()]*)?"
_IN = r"(?:in |bei |en |à |au |a |em |chez )?"
_PUT_RIGHT = [
    pattern(
        rf"{_SORRY}(?:nicht|no|pas|non|não) {_IN}(?P<wrong>{_WORD})(?:,| sondern| sino| mais| ma| mas)+ "
        rf"(?:sondern |sino |mais |ma |mas )?{_IN}(?P<right>{_WORD})[.!\s]*$",
        re.IGNORECASE,
    ),
    pattern(
        rf"{_SORRY}(?:ich (?:meinte|wollte sagen)|quise decir|quería decir|je voulais dire|volevo dire"
        rf"|eu quis dizer|quis dizer|korrektur:?|corrección:?|correction ?:) {_IN}(?P<right>{_WORD})[.!\s]*$",
        re.IGNORECASE,
    ),
]
_LONGEST = 160
_KEPT = 256
"""How many sentences are kept in mind: each is asked about more than once."""


@lru_cache(_KEPT)
def in_english(sentence: str) -> str | None:
    """What a sentence in another language says is no longer so; None if it says no such thing."""
    if len(sentence) > _LONGEST or not _HINT.search(sentence):
        return None
    said = sentence.replace("’", "'").strip(" .!。！…")
    for told, shape in _SHAPES:
        if found := shape.fullmatch(said):
            return told.format(_who(found))
    return None


def may_tell(text: str) -> bool:
    """Whether one of the words is in a text that such a sentence has."""
    return _HINT.search(text) is not None


def tells_of_an_end(sentence: str) -> bool:
    """Whether it says in another language that something is no longer so."""
    return in_english(sentence) is not None


def put_right(message: str) -> str:
    """A correction in another language as it would be said in English; any other message as it is."""
    if len(message) > _LONGEST:
        return message
    said = message.replace("’", "'").strip()
    for shape in _PUT_RIGHT:
        if found := shape.match(said):
            told = found.groupdict()
            if "wrong" in told:
                return f"No, not {told['wrong']}, {told['right']}"
            return f"Sorry, I meant {told['right']}"
    return message


def _who(found: re.Match[str]) -> str:
    """Who or what is named in it: 'my dog Bello' of 'mein Hund Bello'."""
    told = found.groupdict()
    if kin := told.get("kin"):
        return " ".join(filter(None, ("my", IN_ENGLISH[kin.lower()], told["called"])))
    return told.get("name") or ""
