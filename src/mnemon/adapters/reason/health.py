"""What somebody's body does not bear, and what ails them: told outright, or by what it does to them."""

from __future__ import annotations

import re

from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.edges import opened, quotes_somebody, unreal
from mnemon.adapters.reason.household import MANY
from mnemon.adapters.reason.values import line, phrase
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.pattern import pattern

_NO_ALLERGEN = pattern(
    r"(?:\w+ )?(?:mornings?|mondays?|bull\w+|people|work|exercise|stupid\w*|drama|nonsense|commitment|fun"
    r"|idiots?|responsibility|meetings?|adulting|stress|anxiety|nerves|exams?|deadlines?|politics|him|her|them|it|that|this|being|failure|boredom|bs)\b",
    re.IGNORECASE,
)
_ALLERGY_TO = pattern(r"(?:an? )?(?:(?!no\b|zero\b|any\b)\w+ )?allerg(?:y|ies) to (.+)")
_SOME_ALLERGY = pattern(
    rf"(?:{MANY} )?(?:severe |bad |mild |terrible )?((?!no\b|zero\b)\w+(?: \w+)?) allergy\b"
)
_ALLERGIC = pattern(r"(?:\w+ly )?all?erg?ic to (.+)")
_INTOLERANT = pattern(r"\w+[- ]intolerant\b", re.IGNORECASE)
_AILING = pattern(
    r"(?:an? )?(?:\w+ly )?(type [12] diabetic|diabetic|celiac|coeliac|asthmatic|epileptic|autistic|dyslexic"
    r"|colou?r-?blind|deaf|blind)(?=$|[,.;]| (?:and|so|but|since|in one|because)\b)",
    re.IGNORECASE,
)
_AILMENT = pattern(
    r"(?:(?:an?|some|severe|mild|chronic|bad|slight) )*((?:type [12] )?diabetes|asthma"
    r"|(?:celiac|coeliac) disease|epilepsy|adhd|autism|dyslexia|migraines|high blood pressure|hypertension"
    r"|arthritis|ibs|crohn's(?: disease)?|heart (?:condition|disease)|pacemaker|depression|ocd|ptsd|lupus"
    r"|tinnitus|hypothyroidism|eczema|psoriasis|(?:slipped|herniated) disc|sciatica|endometriosis)"
    r"(?=$|[,.;!]| (?:and|so|but|since|because|every|twice)\b)",
    re.IGNORECASE,
)
_TAKEN_FOR = pattern(r"[^,;]{2,60}? (?:for|because of) (?:my )?(?=\w)")
_DIAGNOSED = pattern(
    r"diagnosed (?:with|as) (?:an? )?((?:type [12] )?diabet(?:es|ic)|asthma|(?:celiac|coeliac)(?: disease)?"
    r"|epilepsy|adhd|autism|dyslexia|migraines|hypertension|high blood pressure|arthritis|ibs"
    r"|crohn's(?: disease)?|ocd|ptsd|lupus|tinnitus|hypothyroidism|eczema|psoriasis"
    r"|multiple sclerosis|parkinson's)\b",
    re.IGNORECASE,
)
_THING = r"(?P<what>(?!(?:it|this|that|these|those|he|she|they|my|your|his|her|the|an?)\b)[\w' -]{3,40}?)"
_BODY = r"my (?:eyes?|lips?|tongue|throat|face|skin|nose|airways?)"
_SWELLS = r"(?:swells?|puffs?|itch(?:es)?|closes?|streams?|waters?|tingles?|breaks? out|burns?)"
_REACTS = pattern(
    rf"{_THING} (?:(?:gives?|brings?|makes?) me (?:(?:come|break) )?(?:out in )?(?:an? )?(?:\w+ )?"
    rf"(?:hives|rash(?:es)?|anaphyla\w+)|makes? {_BODY} (?:swell|puff|itch|close|stream|water|tingle))\b",
    re.IGNORECASE,
)
"""'Penicillin gives me hives': the body says what it does not bear."""
_AVOIDED = r"i (?:can't|cannot|can not|don't) (?:do|eat|drink|have|touch|go near|be (?:near|around)) "
_SO_REACTS = pattern(
    rf"(?:{_AVOIDED}){_THING}(?: at all)?,? (?:because |since |as |or )?{_BODY} {_SWELLS}\b", re.IGNORECASE
)
_SO_ALLERGIC = pattern(
    rf"(?:{_AVOIDED}|no (?:more )?)?{_THING}"
    r"(?: at all| please| (?:could|can|would|might|will) [^,;]{2,40})?"
    r",? (?:because |since |as )?i(?:'m| am) (?:\w+ly |very |so )?allergic[.!]*$",
    re.IGNORECASE,
)
"""What was named before 'I'm allergic'."""
_ANYTHING_DONE = pattern(r"\b\w+ing\b(?<!\bsting)|\b(?:I|we|you|and|but|to|is|are|was|not)\b", re.IGNORECASE)
_LEFT_OUT = pattern(r"^(?=(?:can't|cannot|don't) )", re.IGNORECASE)
_ANOTHERS = pattern(
    r"(?!(?:he|she|it|this|that|there|here|who|what|everyone|somebody|someone|one|nobody|i|we|they|you)\b)"
    r"(?-i:[A-ZÀ-Þ])[\w-]+(?:'s got| has(?: got)?|'s| is| was| has been|'s been)"
    r"(?: (?:just|been|also|got|severely|badly|very|an?))* (?:\w+ )?"
    r"(?:allergy\b|allergic to |diabetic\b|diabetes\b|asthma\b|asthmatic\b|epilep\w+|coeliac\b|celiac\b"
    r"|dyslexic\b|dyslexia\b|autis\w+|lactose intolerant\b)",
    re.IGNORECASE,
)
"""What ails somebody whom the author calls by name."""
_HINTS = (
    "hives",
    "rash",
    "my ",
    "allerg",
    "diabet",
    "asthma",
    "epilep",
    "liac",
    "dyslex",
    "autis",
    "anaphyl",
)
_MOST_ANOTHERS = 160


def had(clause: Clause) -> str | None:
    """'I have a nut allergy', 'I have asthma'."""
    if allergy := _ALLERGY_TO.match(clause.rest):
        return line("Allergy", _allergen(allergy[1]))
    if allergy := _SOME_ALLERGY.match(clause.rest):
        return line("Allergy", allergy[1])
    ailment = _AILMENT.match(clause.rest)
    return line("Health", ailment[1]) if ailment else None


def taken_for(rest: str) -> str | None:
    """'I take metformin for type 2 diabetes'."""
    taken = _TAKEN_FOR.match(rest)
    ailment = _AILMENT.match(rest, taken.end()) if taken else None
    return line("Health", ailment[1]) if ailment else None


def diagnosed(rest: str) -> str | None:
    found = _DIAGNOSED.match(rest)
    return line("Health", found[1]) if found else None


def ails(rest: str) -> str | None:
    """'I'm allergic to nuts', 'I'm diabetic'."""
    if allergic := _ALLERGIC.match(rest):
        return line("Allergy", _allergen(allergic[1]))
    if ailing := _AILING.match(rest):
        return line("Health", ailing[1])
    intolerant = _INTOLERANT.match(rest)
    return line("Allergy", intolerant[0]) if intolerant else None


def reacted(sentence: str) -> str | None:
    """The allergy that a whole sentence tells: 'Bee stings could kill me, I'm allergic'."""
    text = _meant(sentence)
    if text is None:
        return None
    text = _LEFT_OUT.sub("I ", text, 1)
    found = _REACTS.match(text) or _SO_REACTS.match(text) or _SO_ALLERGIC.match(text)
    if found is None or _ANYTHING_DONE.search(found["what"]) or _NO_ALLERGEN.match(found["what"]):
        return None
    return line("Allergy", found["what"].strip())


def of_another(sentence: str) -> bool:
    """Whether it tells what ails somebody who is called by name: 'Noah's got a nut allergy'."""
    text = _meant(sentence) if len(sentence) <= _MOST_ANOTHERS else None
    return text is not None and _ANOTHERS.match(text) is not None


def _meant(sentence: str) -> str | None:
    """What a sentence says that may be of health; None if it is asked, imagined or another's."""
    small = sentence.lower()
    if sentence.endswith("?") or not any(hint in small for hint in _HINTS):
        return None
    text = opened(sentence)
    return None if unreal(text) or quotes_somebody(text) or not_meant(sentence) else text


def _allergen(text: str) -> str | None:
    return None if _NO_ALLERGEN.match(text) else phrase(text)
