"""Signs in what is said that something is no longer as it was, in a few languages.

A verb of change says so by itself ("we moved", "the fee was raised"), a word for the present only together
with what is so now ("these days I drink tea").
"""

from __future__ import annotations

from mnemon.domain.pattern import pattern

_VERBS = """
moved relocated switched changed swapped traded replaced upgraded downgraded migrated renamed repainted
redecorated rescheduled postponed delayed extended shortened raised lowered upped increased reduced bumped
pushed shifted reset dropped doubled halved cancel canceled cancelled scrapped stopped quit resigned retired
sold ditched separated divorced died became become

gezogen umgezogen weggezogen gewechselt geändert umgeändert verschoben verlegt vorverlegt erhöht angehoben
gesenkt gekündigt verkauft eingetauscht abgesagt storniert getrennt aufgehört aufgegeben gestorben ersetzt
umgestellt umgestiegen umbenannt verlängert verkürzt

déménagé changé remplacé remplacée reporté reportée repoussé repoussée avancé avancée décalé décalée augmenté
augmentée baissé réduit réduite quitté démissionné vendu vendue annulé annulée séparé séparés rompu arrêté
mort morte décédé décédée

mudé mudamos mudado mudó cambié cambiamos cambiado cambiaron cambió subió subido subieron bajó bajado bajaron
aumentó aumentado aumentaron aplazó aplazado aplazaron pospuso pospusieron retrasó retrasado retrasaron
adelantó adelantado adelantaron cancelé cancelamos cancelado cancelada cancelaron canceló vendí vendimos
vendido dejé dejamos dejado rompí rompimos separé separamos murió renuncié

mudei mudámos mudou troquei trocámos trocou alterado alterada alterou aumentou aumentaram baixou baixaram
adiado adiada adiou adiaram antecipado antecipada
cancelei cancelou cancelada cancelaram vendi vendemos vendeu deixei
deixámos terminei terminámos separei separámos saí demiti morreu
"""
_NOW = """
now actually instead lately nowadays jetzt inzwischen mittlerweile stattdessen maintenant désormais dorénavant
nun ahora agora
"""
_PARTICLES = (
    "up down back forward off away out longer more anymore notice fired laid rid schluss mehr plus ya já mais"
    " passé passée passe pasa pasan pasó pasado passa passou"
)
_BEGINNINGS = "days as since from starting up down seit ab partir"
_CHANGES, _PRESENT = frozenset(_VERBS.split()), frozenset(_NOW.split())
_PHRASED, _SINCE_CUES = frozenset(_PARTICLES.split()), frozenset(_BEGINNINGS.split())
"""Without one of these there is no such phrase."""
_DAY = (
    r"(?:today|yesterday|tomorrow|last|this|next|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber)"
)
_TAG = r"(?:gestern|heute|sofort|letzte[rmn]?|diese[rmn]?|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)"
_PHRASE = pattern(
    r"\b(?:(?:broke|split|gave|given) up|called off|passed away|fell out|no longer|any more|anymore"
    r"|turn(?:s|ed)? out|handed in (?:my|our|his|her|their) notice|(?:was|got|been) (?:fired|laid off)"
    r"|got rid of|stepped down"
    r"|(?:put|set|cut|went|gone|goes|brought|taken|took|gave) (?:[\w'’-]{1,30} ){0,4}?"
    r"(?:up|down|back|forward|off|away)"
    r"|schluss gemacht|nicht mehr|keine?n? \w{1,30} mehr|n[e'’] ?[\w'’]{1,30} plus|ya no|já não"
    r"|não \w{1,30} mais|passée? (?:au|à la|à l|aux|chez)|passe (?:au|aux|chez)"
    r"|pas(?:an?|ó|ado) al?|pass(?:a|ou) para)\b"
)
_SINCE = pattern(
    rf"\b(?:these days|from (?:now|here) on|as of|(?:up|down) to|(?:since|from|starting) {_DAY}"
    rf"|(?:seit|ab) {_TAG}|(?:à|a) partir de)\b"
)
_EASTERN_CHANGE = pattern(
    r"搬(?:到|去|家|进)|换(?:了|成|到)|改(?:了|成|到|为|在)|涨|降(?:到|了)|推迟|提前|延期|取消|辞(?:职|了)|离职|分手"
    r"|离婚|卖(?:了|掉)|不再|变成|升级|去世|戒了|引っ越|変更|変わ|変え|値上|値下|上がっ|上がり|下がっ|下がり|早ま"
    r"|中止|キャンセル|辞め|やめ|転職|別れ|離婚|売っ|売り|亡くな"
)
_EASTERN_NOW = pattern(r"现在|已经|以后|今は|もう|になりました|になった|これから")
_WORD = pattern(r"[^\W\d_]+")


def has_changed(sentence: str) -> bool:
    """Whether a verb says that something has changed or come to an end. The sentence is in small letters."""
    said = frozenset(_WORD.findall(sentence))
    if not _CHANGES.isdisjoint(said) or (not _PHRASED.isdisjoint(said) and _PHRASE.search(sentence)):
        return True
    return not sentence.isascii() and _EASTERN_CHANGE.search(sentence) is not None


def is_so_now(sentence: str) -> bool:
    """Whether it says that something is so from now on, or that it has changed."""
    said = frozenset(_WORD.findall(sentence))
    if not _PRESENT.isdisjoint(said) or (not _SINCE_CUES.isdisjoint(said) and _SINCE.search(sentence)):
        return True
    return has_changed(sentence) or (not sentence.isascii() and _EASTERN_NOW.search(sentence) is not None)
