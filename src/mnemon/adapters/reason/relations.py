"""Somebody who is called by two steps, as in 'my sister's husband', by the name that was told of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemon.adapters.reason.referents import NOUNS, meant, pointed_out
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.whom import called_alike, names_beside
from mnemon.domain.pattern import pattern

_TWO_STEPS = pattern(
    rf"\b(?:my|our|his|her|their|\w+'s) (?P<first>{NOUNS})(?:'s|s') (?P<second>{NOUNS})\b(?!')", re.IGNORECASE
)
_SPOUSES = frozenset(["husband", "wife", "partner", "spouse"])
_NAME = r"([A-ZÀ-Þ][\w-]+)"


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


def _pointed_out(text: str) -> str:
    sentences = [sentence for line in prose(text) for sentence in split(line)]
    return " ".join(
        sentence if who is None else pointed_out(sentence, who)
        for sentence, who in zip(sentences, meant(sentences), strict=True)
    )
