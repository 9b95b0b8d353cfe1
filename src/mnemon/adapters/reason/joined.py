"""What a clause says besides, after 'and' or 'because': 'I live in Berlin and work at Siemens'."""

from __future__ import annotations

from mnemon.adapters.reason.clauses import Clause, clauses
from mnemon.adapters.reason.lexicon import word_set
from mnemon.domain.pattern import pattern

_FIRST = word_set(
    """
    be live work have love like enjoy speak study drive move get turn go adopt buy start graduate quit marry
    grow come hate prefer
    """
)
"""What is said first where the author does what is said next, too."""
_NOW = (
    "live|work|study|speak|drive|own|have|love|like|enjoy|hate|am|don't eat|don't drink|don't like|can't eat"
    "|go by"
)
_THEN = "moved|changed|started|got|adopted|turned|bought|accepted|became|went"
_AND = {
    **dict.fromkeys(
        ("now", "state", "perfect", "going"),
        pattern(rf",? (?:and|but) (?P<more>(?:also |now |currently )?(?:{_NOW})\b .+)$"),
    ),
    **dict.fromkeys(
        ("past", "was"),
        pattern(
            rf",? and (?P<more>(?:(?:also|then|recently|just) )?(?:{_THEN})\b .+"
            rf"|(?:now|currently) (?:{_NOW})\b .+)$"
        ),
    ),
}
_BECAUSE = pattern(
    r" (?:because|since) (?:I|i)(?P<more>(?:'m| am| have|'ve got) (?:an? )?(?:\w+ly )?(?:allergic|celiac"
    r"|coeliac|diabetic|vegan|vegetarian|lactose|asthma|diabetes|epilep\w+|gluten|crohn's|ibs|migraines)\b.*)$"
)
_ANOTHER = pattern(r"\b(?:to [a-z]+|who|that|which|they|he|she|you|it|people|if|when|would|could)\b")
"""Where another may do it, or it may not be done: 'I want to live in Rome and work at Fiat'."""


def joined(clause: Clause) -> list[Clause]:
    """The clauses that are said of the same author with this one."""
    if clause.subject not in ("I", "none"):
        return []
    if because := _BECAUSE.search(clause.rest):
        return clauses(f"I{because['more']}")
    shape = _AND.get(clause.tense)
    said = shape is not None and clause.lemma in _FIRST and not clause.group.negated
    found = shape.search(clause.rest) if shape and said else None
    if found is None or _ANOTHER.search(clause.rest, 0, found.start()):
        return []
    return clauses(f"I {found['more']}")
