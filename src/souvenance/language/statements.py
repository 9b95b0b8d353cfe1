"""The plain statements of a message: sentences that somebody says of themself, word for word.

What is asked, supposed, quoted, pasted, code, played or sung gives none. In doubt a sentence is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from souvenance.language.facts import card_lines
from souvenance.language.lexicon import Lexicon, any_holds, lexicon_of, straight
from souvenance.language.pasted_text import unpasted
from souvenance.patterns import pattern

MOST_STATEMENTS = 50
"""How many of one message are kept; of more, the first."""
_LONGEST = 600
_FEWEST_WORDS = 3
_LONGEST_MESSAGE = 20_000

_NOT_ONES_OWN = "\0"
_FOREIGN = pattern(
    r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)|`[^`\n]*`|^[ \t]*>.*?$"
    r'|"[^"\n]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|^\*[^*\n]+\*',
    re.MULTILINE | re.DOTALL,
)
"""Code, quotations, and what somebody does on a stage: *waves*."""
_LETTER = pattern(r"\s*\S+(?: \S+){1,3},[ \t]*\n")
_INTRODUCES = pattern(r":[ \t]*(?:\n|\Z)")
_SENTENCE_END = pattern(
    r"(?<![A-Z][a-z][.])(?<![ent] am \d[.])(?<![ent] am \d\d[.])(?<=[.!?…])[\"')]*\s+|\n+"
)
"""Not after a title (Dr. Li), nor in a German date (ist am 3. Mai)."""
_BULLET = pattern(r"\s*(?:[-*•+–]|\d{1,2}[.)])\s+")
_NO_STATEMENT = pattern(rf"^\W*¿|\?|:\s|{_NOT_ONES_OWN}|[\"“”„«»]")
_QUESTION = pattern(r"(.+)(?:[,;–—]|\s-)\s+[^\s,;–—]+(?:\s+[^\s,;–—]+){3,}\?\W*$")
"""A question at the end of a sentence, behind something else; 'right?' alone asks whether that is so."""


class Statement(Struct, frozen=True):
    """A sentence word for word, and what it gives a card."""

    text: str
    lines: list[str]


def plain_statements(text: str) -> list[Statement]:
    """What the author of the message plainly says of themself, in its order, nothing twice."""
    if any_holds(("unreal", "play"), text):
        return []
    return list(islice(filter(None, map(_stated, dict.fromkeys(_sentences(text)))), MOST_STATEMENTS))


def begins_play(text: str) -> bool:
    """Whether the message begins a role play: what is said after it may be said in a role."""
    return any_holds(("play",), text)


def _sentences(text: str) -> Iterator[str]:
    """The author's own sentences: without what is pasted, a letter, or what a colon introduces."""
    own = _FOREIGN.sub(_NOT_ONES_OWN, unpasted(text[:_LONGEST_MESSAGE]))
    if _LETTER.match(own):
        return
    for sentence in _SENTENCE_END.split(_INTRODUCES.split(own, maxsplit=1)[0] + "\n"):
        if bullet := _BULLET.match(sentence):
            sentence = sentence[bullet.end() :]
        if len(sentence) <= _LONGEST:
            question = _QUESTION.match(sentence)
            yield (question[1] if question else sentence).strip()


def _stated(sentence: str) -> Statement | None:
    if not sentence or _NO_STATEMENT.search(sentence):
        return None
    lexicon, said = lexicon_of(sentence), straight(sentence)
    if lexicon is None or lexicon.begins("asking", said):
        return None
    lines = card_lines(sentence, lexicon)
    return Statement(sentence, lines) if lines or _is_plain(lexicon, said) else None


def _is_plain(lexicon: Lexicon, said: str) -> bool:
    """Whether it is about its speaker, long enough to say something, and in no doubt."""
    own = lexicon.holds("first", said) or lexicon.begins("opening", said)
    return own and len(said.split()) >= _FEWEST_WORDS and not lexicon.holds("unsure", said)
