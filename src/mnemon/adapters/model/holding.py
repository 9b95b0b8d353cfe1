"""Whether an answer keeps to the statements that it was given: in words, numbers, addresses and denial.

1. It is words, and no JSON.
2. Every name and address in it stands in the statements or the question; so does every number but a count
   of no more than there are statements, and a span of time.
3. Of its content words that the question has not, half stand in what is cited or, sentence by sentence, in
   the statement that it shares most with: the rest is how it puts and concludes it.
4. No clause of it denies what a statement says in the same words, or says what one denies.

`docs/howto/use-a-model.md` says the same for readers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from mnemon.adapters.model.denying import denies
from mnemon.adapters.model.support import Ground, numbers_in, parts
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.sentences import split
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words
from mnemon.ports.reasoner import Statement

_SHARE = 0.5
_FEW = 2
"""So many words in common make two clauses tell of the same, unless they are all of one."""
_DIGITS = 4
_ADDRESS = pattern(
    r"\b(?:https?://|www\.)[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.IGNORECASE
)
_LISTED = pattern(r"^[ \t]*(?:\d{1,3}[.)]|[-*•#]+)[ \t]+", re.MULTILINE)
_SPAN = pattern(
    r"\b(?:\d+|[a-z]+) (?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|times?)\b"
    r"(?! old\b)",
    re.IGNORECASE,
)
_FENCE = pattern(r"\A```\w*\n?|\n?```\Z")
_OF_TALK = frozenset(
    map(
        stem,
        word_set(
            """
            statement statements record records memory memories mention mentions mentioned information
            evidence answer question known know knows based according seem seems appear appears likely
            probably currently recently latest newest earlier previously ago roughly around told stated
            noted note conversation
            """
        ),
    )
)
"""What an answer says of itself."""


class Evidence:
    """What an answer may rest on."""

    def __init__(
        self, statements: Collection[Statement], card: Collection[str], question: str, about: str, also: str
    ) -> None:
        self._texts = [*(one.text for one in statements), *card]
        self._ground = Ground(self._texts, f"{question} {about} {also}")
        self._whole = "\n".join([*self._texts, question]).casefold()
        self._about = frozenset(stem(word) for word in words(about))
        self._asked = frozenset(content_stems(question)) | self._about | _OF_TALK
        self._stems = [frozenset(content_stems(text)) for text in self._texts]
        self._clauses = [
            (frozenset(content_stems(clause)) - self._about, denies(clause))
            for one in statements
            if one.outdated_by is None
            for clause in parts(one.text)
        ]

    def holds(self, answer: str, cited: Sequence[str]) -> bool:
        """Whether an answer that cites these texts says nothing that is not said there."""
        if _is_data(answer) or not self._ground.names(answer):
            return False
        said = frozenset(one for text in cited for one in content_stems(text))
        told = [one for line in _LISTED.sub("", answer).splitlines() for one in split(line)]
        if not all(self._keeps_to(one) for one in told):
            return False
        held = [shown for one in told for shown in self._shown(one, said)]
        return sum(held) >= _SHARE * len(held)

    def _keeps_to(self, sentence: str) -> bool:
        """Whether every address and number in it stands in the statements, and none says the opposite."""
        addresses = (found[0].rstrip(".,;:!?").casefold() for found in _ADDRESS.finditer(sentence))
        if not all(address in self._whole for address in addresses):
            return False
        if not all(self._counts(number) for number in numbers_in(_SPAN.sub("", sentence))):
            return False
        return not any(self._contradicts(clause) for clause in parts(sentence))

    def _shown(self, sentence: str, said: frozenset[str]) -> list[bool]:
        """Of each word that the question has not, whether it stands in what is cited, or nearest."""
        plain = _ADDRESS.sub("", _SPAN.sub("", sentence))
        new = [one for one in content_stems(plain) if one not in self._asked]
        nearest = max(self._stems, key=lambda stems: len(stems.intersection(new)), default=frozenset[str]())
        return [one in said or one in nearest for one in new]

    def _counts(self, number: str) -> bool:
        few = len(number) <= _DIGITS and int(number) <= len(self._texts)
        return few or self._ground.numbers(number)

    def _contradicts(self, clause: str) -> bool:
        stems = frozenset(content_stems(clause)) - self._about
        alike = [denied for said, denied in self._clauses if stems and _tell_the_same(stems, said)]
        return bool(alike) and denies(clause) not in alike


def _tell_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other and (len(one) >= _FEW or one == other)


def _is_data(answer: str) -> bool:
    """Whether it is JSON, as a whole or in a block of code."""
    text = _FENCE.sub("", answer.strip()).strip()
    if not text.startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text.startswith(('{"', "[{"))
    return True
