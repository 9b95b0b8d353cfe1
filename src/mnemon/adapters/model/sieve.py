"""What of a message its author says: without injected memory, boot files, pasted text and echoes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemon.adapters.reason.sentences import sentences
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words
from mnemon.ports.reasoner import Turn

_TAGS = "memory[\\w-]*|memories|system[\\w-]*|context|retrieved[\\w-]*|background|instructions|tool[\\w-]*"
_BLOCK = pattern(rf"<\s*({_TAGS})\b[^<>]*>.*?(?:<\s*/\s*\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_FILE = pattern(
    r"\s*(?:---\s*\n|#{1,3}[^\n]*\b(?:AGENTS?|SOUL|CLAUDE|IDENTITY|BOOTSTRAP|BOOT|TOOLS|USER|MEMORY|SYSTEM)"
    r"(?:\.md\b|\s*\n))"
)
_STRUCTURE = pattern(r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,2}[.)]\s|\||>|```)")
_FEW_LINES = 15
_MOSTLY = 0.6
_ECHO_WORDS = 5


def own_words(turn: Turn, earlier: Sequence[Turn]) -> list[str]:
    """The sentences that the turn's author says for themselves, and that nobody else said before."""
    text = _BLOCK.sub("\n", turn.text)
    if _is_file(text):
        return []
    others = [f" {' '.join(words(one.text))} " for one in earlier if one.peer != turn.peer]
    return [sentence for sentence in sentences(text) if not _is_echo(sentence, others)]


def _is_file(text: str) -> bool:
    """Whether it reads like a file that an agent is started with."""
    if _FILE.match(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    marked = sum(_STRUCTURE.match(line) is not None for line in lines)
    return len(lines) >= _FEW_LINES and marked >= _MOSTLY * len(lines)


def _is_echo(sentence: str, others: Sequence[str]) -> bool:
    said = words(sentence)
    return len(said) >= _ECHO_WORDS and any(f" {' '.join(said)} " in other for other in others)
