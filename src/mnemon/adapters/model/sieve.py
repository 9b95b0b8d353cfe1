"""What of a message its author says, and does not only repeat."""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.reason.sentences import sentences
from mnemon.domain.words import words
from mnemon.ports.reasoner import Turn

_ECHO_WORDS = 5


def own_words(turn: Turn, earlier: Sequence[Turn]) -> list[str]:
    """The sentences that the turn's author says for themselves, and that nobody else said before."""
    others = [f" {' '.join(words(one.text))} " for one in earlier if one.peer != turn.peer]
    return [sentence for sentence in sentences(turn.text) if not _is_echo(sentence, others)]


def _is_echo(sentence: str, others: Sequence[str]) -> bool:
    said = words(sentence)
    return len(said) >= _ECHO_WORDS and any(f" {' '.join(said)} " in other for other in others)
