"""Somebody who is called by two steps, as in 'my sister's husband', by the name that was told of them.

And the peer, who may be called by the name that they told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from mnemon.adapters.reason.referents import NOUNS, meant, pointed_out
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.whom import called_alike, names_beside
from mnemon.domain.pattern import pattern
from mnemon.ports.reasoner import Statement

_TWO_STEPS = pattern(
    rf"\b(?:my|our|his|her|their|\w+'s) (?P<first>{NOUNS})(?:'s|s') (?P<second>{NOUNS})\b(?!')", re.IGNORECASE
)
_SPOUSES = frozenset(["husband", "wife", "partner", "spouse"])
_NAME = r"([A-ZÀ-Þ][\w-]+)"
_TELLS_NAME = (
    r"{0}(?:'s (?:full |first |real )?name is| is called| goes by| said: .(?:[Cc]all me|[Mm]y name is)) "
    r"([A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)*)"
)
_BEFORE_A_NAME = r"\b(?:is|are|was|were|can|does|did|do|has|had|will|would|should|about)"


def two_steps(question: str) -> bool:
    """Whether it is about somebody of somebody of the peer's."""
    return _TWO_STEPS.search(question) is not None


def put_by_name(question: str, texts: Sequence[str]) -> str | None:
    """The question with the name of somebody who is called by two steps; None if the texts don't tell it.

    A question about nobody such is the same.
    """
    found = _TWO_STEPS.search(question)
    if found is None:
        return question
    first, second = (called_alike(found[step].lower()) for step in ("first", "second"))
    owners = "|".join(map(re.escape, sorted({*first, *names_beside(first, texts)}, key=len, reverse=True)))
    kin = "|".join(map(re.escape, sorted(second, key=len, reverse=True)))
    shapes = [rf"\b(?:{owners})'s\]? (?:{kin}),? (?:(?:is |was )?(?:named |called )?){_NAME}"]
    if second & _SPOUSES:
        shapes.append(rf"\b(?:{owners})\b[^.!?]{{0,40}}\bmarried (?:to )?{_NAME}")
    for text in texts:
        shown = _pointed_out(text)
        for shape in shapes:
            if name := re.search(shape, shown):
                return question[: found.start()] + name[1] + question[found.end() :]
    return None


def put_by_id(question: str, statements: Sequence[Statement], about: str) -> str:
    """The question with the peer's id in the place of the name that they told."""
    tells = re.compile(_TELLS_NAME.format(re.escape(about)))
    own = (one for one in statements if one.peer is None and not one.carried and one.outdated_by is None)
    names = {name for one in own if (told := tells.match(one.text)) for name in (told[1], *told[1].split())}
    for name in sorted(names - {about}, key=len, reverse=True):
        calls = re.compile(rf"({_BEFORE_A_NAME} )?\b{re.escape(name)}\b('s\b)?", re.IGNORECASE)
        question = calls.sub(partial(_by_id, name, about), question)
    return question


def _by_id(name: str, about: str, found: re.Match[str]) -> str:
    """What stands for a name; it may be another word where nothing shows that it is one."""
    before, after = found[1] or "", found[2] or ""
    if before or after or (found.start() > 0 and found[0] == name):
        return f"{before}{about}{after}"
    return found[0]


def _pointed_out(text: str) -> str:
    sentences = [sentence for line in prose(text) for sentence in split(line)]
    return " ".join(
        sentence if who is None else pointed_out(sentence, who)
        for sentence, who in zip(sentences, meant(sentences), strict=True)
    )
