"""The second layer: what memory answers when it is asked about the person, in up to three passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from souvenance.agents.text_budget import cut
from souvenance.agents.transcript import clean, is_trivial
from souvenance.domain.relayed_question import ADDED, relayed
from souvenance.errors import SouvenanceError
from souvenance.hermes.configuration import LEVELS, Configuration, Level
from souvenance.patterns import pattern

COLD = (
    "Who is this person? What are their preferences, goals, and working style? "
    "Focus on facts that would help an AI assistant be immediately useful."
)
WARM = (
    "Given what's been discussed in this session so far, what context about this user is most relevant "
    "to the current conversation? Prioritize active context over biographical facts."
)
_AUDIT = (
    "Check the answer below against what was really said: what is unsupported, and what is missing for the "
    "person's message? Then answer again, complete, with what is supported only."
)
_RECONCILE = (
    "Two answers about the same person are below. Where they disagree, keep what was said later or more "
    "plainly. Write the one answer that remains, as short as it can be."
)

Ask = Callable[[str, Level], str]

_MOST_PASSES = 3
_RAISES = ((400, 2), (120, 1))
"""From how many characters on a message is worth how many levels more."""
_STRONG = 300
_STRONG_IF_STRUCTURED = 100
_STRUCTURE = pattern(r"^\s*(?:#{1,6}\s|[-*•]\s|\d{1,3}[.)]\s|\*\*[^*\n]+\*\*:?\s*$)", re.MULTILINE)


def levels(configuration: Configuration, message: str) -> tuple[Level, ...]:
    """How hard each pass thinks. Levels that were chosen by hand are taken as they are."""
    depth = max(1, min(configuration.dialectic_depth, _MOST_PASSES))
    chosen = configuration.dialectic_depth_levels
    usual = configuration.dialectic_reasoning_level
    if chosen:
        return (*chosen, *(usual for _ in range(depth)))[:depth]
    first = _raised(configuration, message)
    proportional: tuple[tuple[Level, ...], ...] = ((first,), ("minimal", first), ("minimal", first, "low"))
    return proportional[depth - 1]


def strong(answer: str) -> bool:
    """Whether a first answer says enough for the other passes to be spared."""
    text = answer.strip()
    return len(text) > _STRONG or (len(text) > _STRONG_IF_STRUCTURED and bool(_STRUCTURE.search(text)))


def supplement(ask: Ask, configuration: Configuration, message: str, warm: bool) -> str:
    """What memory answers for the message; empty if it has nothing to say, or the message asks nothing.

    `warm`: whether the turn has a base layer. A later pass that fails leaves the answer before it.

    Raises: SouvenanceError if the first pass does.
    """
    message = clean(message)
    if is_trivial(message):
        return ""
    answers: list[str] = []
    for at, level in enumerate(levels(configuration, message)):
        prompt = _prompt(answers, message, warm, configuration.dialectic_max_input_chars)
        try:
            answer = ask(prompt, level).strip()
        except SouvenanceError:
            if not answers:
                raise
            break
        if answer:
            answers.append(answer)
        if at == 0 and strong(answer):
            break
    return cut(answers[-1], configuration.dialectic_max_chars) if answers else ""


def _prompt(answers: Sequence[str], message: str, warm: bool, most: int) -> str:
    """The question that comes after these answers, with what the person wrote."""
    question = ((WARM if warm else COLD), _AUDIT, _RECONCILE)[len(answers)]
    parts = [question]
    if answers:
        share = most // (len(answers) + 2)
        parts += (f"Answer {at}:\n{cut(answer, share)}" for at, answer in enumerate(answers, 1))
    fixed = cut("\n\n".join(parts), most)
    return relayed(fixed, cut(message, most - len(fixed) - ADDED))


def _raised(configuration: Configuration, message: str) -> Level:
    """The usual level, and more for a long message, up to the cap; the cap lowers nothing."""
    usual = LEVELS.index(configuration.dialectic_reasoning_level)
    if not configuration.reasoning_heuristic:
        return LEVELS[usual]
    more = next((more for least, more in _RAISES if len(message) >= least), 0)
    cap = LEVELS.index(configuration.reasoning_level_cap)
    return LEVELS[max(usual, min(usual + more, cap))]
