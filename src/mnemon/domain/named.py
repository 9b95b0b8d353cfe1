"""Who and what a question names: what nothing else can stand for, so that without it nothing answers.

Names are read in English, where a capital letter within a sentence tells them. A name by which someone is
called ("Hey Ann, ...", "..., Ann?") is none that is asked about, nor is one of a month or a day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemon.domain import signs, words
from mnemon.domain.pattern import pattern

_ENGLISH = pattern(r"\b(?:the|my|did|does|what|which|who|where|when|how|have|has)\b", re.IGNORECASE)
_NAME = pattern(r"(?<=[a-z] )[A-Z]\w{2,}(?![\w,!])")
_CALLED = 2
"""Among so many first words of a question a name may be that of who is asked."""
_RELATIVES = (
    "aunt auntie", "brother", "cousin", "dad daddy father", "grandfather grandpa",
    "grandma grandmother granny", "mom mother mum", "nephew", "niece", "sister", "uncle",
)  # fmt: skip
_SAME = {term: words.asked(called) for called in _RELATIVES for term in words.asked(called)}


def named(text: str, terms: Sequence[str]) -> list[str]:
    """The terms of the names in a question, and of relatives that it speaks of, however they are called."""
    found = [same for term in terms for same in _SAME.get(term, ())]
    if _ENGLISH.search(text):
        for name in _NAME.finditer(text):
            if text.count(" ", 0, name.start()) >= _CALLED and signs.TIME not in signs.signs(name[0]):
                found += words.asked(name[0])
    return list(dict.fromkeys(found))
