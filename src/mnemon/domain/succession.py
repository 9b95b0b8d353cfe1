"""Succession: whether a line says that something which it names is over, or what has come in its place.

"Feldman retired" ends Feldman, and so does "so it's Okafor now" behind "Feldman let me down". What somebody
does who is named ("Feldman moved my appointment") ends nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mnemon.domain import change, signs, telling, words
from mnemon.domain.pattern import pattern

_GIVEN_UP = pattern(
    r"\b(?:(?:sold|quit|cancell?ed|ditched|binned|swapped|replaced|gave up|given up|got rid of|stopped using"
    r"|traded in|broke up with|split up with|fed up with|left)"
    r"(?: (?:the|my|our))?|dropped|(?:switched|migrated|moved) (?:away )?from(?: the| my| our)?"
    r"|no longer [\w-]+(?: (?:on|at|in|with|for|by))?(?: the| my| our)?) (?P<gone>[\w-]+(?: \d[\w.-]*)?)"
    r"(?=\s*(?:$|[,.;:!(]|(?:and|with|for|to|last|this|in|on|by|but|so|now|instead|because|today)\b))"
    r"|\b(?:gave|traded) (?:the |my |our )?(?P<given>[\w-]+) (?:away|in)\b"
)
"""How one says that something is had, used or done no longer."""
_BY_NOW = r"(?: (?:has|have|had|is|was|are|been|got|just|finally|now|sadly|suddenly|recently|already|off))*"
_LEFT = r"(?=\s*(?:$|[.,;:!]|(?:us|and|so|but|last|down|away|back|on|out|off|its|their|for good)\b))"
_PARTED = pattern(
    r"(?<![\w'’-])(?P<parted>(?:[\w-]+ )?[\w-]+)(?:"
    r" and i(?:['’]ve| have| are)?(?: both| just| finally)?"
    r" (?:broke up|broken up|split up|fell out|separated|divorced|called it (?:quits|off)|done|over|finished)"
    rf"|(?:['’]s)?{_BY_NOW} (?:died|dead|passed away|retired|resigned|stepped down|gave up|gone|folded"
    rf"|broke down|went (?:bust|under)|(?:left|quit|closed|shut|moved){_LEFT}"
    r"|(?:been|was|got|is) (?:moved|sold|replaced|scrapped|fired|laid off|let go|discontinued)"
    r"|(?:went )?on (?:[\w-]+ )?(?:leave|sabbatical)|(?:handed|put) in (?:his|her|their) notice"
    r"|let (?:me|us) (?:down|go)))(?!\w)"
)
"""How one says that somebody has gone, or that something has."""
_ENDINGS = """
verkauft gekündigt aufgehört aufgegeben gestorben getrennt weggezogen ersetzt geschlossen rente ruhestand
kaputt verschrottet

vendí vendimos vendido dejé dejamos dejado murió jubilado jubilada jubiló cerró cerrado renunció rompimos

vendu vendue quitté résilié mort morte décédé décédée retraite casse fermé rompu parti partie démissionné

vendi vendemos vendeu deixei deixámos morreu reformou fechou
"""
_ENDED = frozenset(_ENDINGS.split())
_ENDED_PHRASE = pattern(
    r"\b(?:nicht mehr|n[e'’] ?[\w'’]{1,30} plus|ya no|já não|se fue|se ha ido)\b"
    r"|辞め|やめ|退職|退任|解約|売っ|売り|閉店|亡くな|壊れ|別れ|卖(?:了|掉)|辞(?:职|了)|离职|分手|退休|去世"
)
_TAKES_OVER = pattern(r"\b(?:(?:went|gone|going|signed up) with|(?:took|taken|takes|taking) over)\b")
_CLAUSE = pattern(r"[^,;:.!?\n–—。、！？，；]+")
_LINK = pattern(r"\b(?:so|and|but|und|aber|y|et|donc|mais|e)\b")
_WORD = pattern(r"[^\W\d_]+")
_NAME = pattern(r"(?:(?<=[\w,;:)\"'’&-] )|(?<=\b[A-Z][rst]\. )|(?<=\bMrs\. ))[A-ZÀ-Þ]\w{2,}(?![\w'’])")
_TITLES = frozenset(["mrs", "prof", "professor", "doctor", "doctora", "frau", "herr"])
_WHOLE = pattern(r"[^\W\d_ぁ-ん]{4}|[゠-ヿ一-鿿]{2}")
"""What has so many letters is no article, nor the ending of a verb."""
_UNSURE = pattern(
    r"\b(?:if|might|would|could|should|wenn|falls|würde|könnte|si|podría|pourrait)\b|たい|かも|もし|如果|可能"
)
_MOST = 1_000
"""How much of a line is read."""


def names(text: str) -> list[str]:
    """The terms of names in a line: what has a capital letter where no sentence begins, and is no time."""
    found = (
        name
        for name in _NAME.findall(text[:_MOST])
        if name.lower() not in _TITLES and signs.TIME not in signs.signs(name)
    )
    return list(dict.fromkeys(term for name in found for term in words.terms(name)))


def told(text: str, asked: Collection[str]) -> list[str]:
    """The terms of what the line tells beside what is asked: of the clauses that hold that, or of all."""
    clauses = [one for sentence in telling.stated(text) for one in _CLAUSE.findall(sentence)]
    near = [one for one in clauses if _holds(one, asked)]
    found = dict.fromkeys(term for one in near or clauses for term in words.terms(one))
    return [term for term in found if term not in asked]


def over(text: str, value: Collection[str]) -> str | None:
    """The sentence of the line by which something of these terms is over, if one says so."""
    whole = [term for term in value if _WHOLE.search(term)]
    for sentence in telling.stated(text):
        if _holds(sentence, value):
            low = sentence.lower()
            gone = any(_holds(one, value) for one in _gone(low))
            if gone or any(_holds(one, whole) for one in _ended(low)):
                return None if _UNSURE.search(low) else sentence
    return None


def replaced(text: str, value: Collection[str], known: Collection[str]) -> str | None:
    """The clause of a line that names one of these values by which another name is in its place now."""
    others, before = set(names(text)) - set(known), False
    for clause in _clauses(text) if others else ():
        if _holds(clause, value):
            before = True
        elif before and _holds(clause, others) and _is_new(clause.lower()):
            return clause
    return None


def _gone(sentence: str) -> Iterator[str]:
    """What the sentence says in English is over. It is in small letters."""
    for form in (_GIVEN_UP, _PARTED):
        for found in form.finditer(sentence):
            yield found[str(found.lastgroup)]


def _ended(sentence: str) -> Iterator[str]:
    """The clauses of the sentence that say in another language that something is over."""
    for clause in _CLAUSE.findall(sentence):
        if not _ENDED.isdisjoint(_WORD.findall(clause)) or _ENDED_PHRASE.search(clause):
            yield clause


def _is_new(clause: str) -> bool:
    return change.is_so_now(clause) or _TAKES_OVER.search(clause) is not None


def _clauses(text: str) -> Iterator[str]:
    """The parts of what the line states and does not only suppose."""
    for sentence in telling.stated(text):
        if not _UNSURE.search(sentence.lower()):
            for part in _CLAUSE.findall(sentence):
                yield from (one.strip() for one in _LINK.split(part))


def _holds(text: str, terms: Collection[str]) -> bool:
    return not words.terms(text).keys().isdisjoint(terms)
