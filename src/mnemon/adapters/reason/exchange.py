"""What a reply says together with the question that it answers: 'Where did you go?' 'Paris!'"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mnemon.adapters.reason.edges import SELVES, ended, opened, quotes_somebody, unreal
from mnemon.adapters.reason.lexicon import VERBS, base_of_past, base_of_third, past, third, word_set
from mnemon.adapters.reason.person import quoted, they, unquoted
from mnemon.adapters.reason.pointing import names, points
from mnemon.adapters.reason.sentences import sentences
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.substance import substance, telling_words
from mnemon.domain.pattern import pattern

_MOST_QUESTION = 160
_MOST_TALK = 400
"""How long a reply may be: who answers at length explains something, and tells nothing of themselves."""
_MOST_REPLY = 200
_MOST_CONTEXT = 90
"""How long a sentence may be that says what 'it' is in the question after it."""
_CONTEXT_LOOKED_AT = 3
_MOST_FRAGMENT = 8
_QUESTIONS_LOOKED_AT = 400
_SENTENCES_LOOKED_AT = 3

_ASKS = pattern(
    r"(?:and |so |but |oh,? |wow,? |[A-Z]\w+, )?(?P<how>"
    + either(
        """
        where, when, who, whom, what, which, how, why, whose, do, does, did, have, has, are, is, was, were,
        can, will, any, got
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_SMALL_TALK = pattern(
    either(
        r"""
        how(?:'s| is| are| have| has|'ve) (?:it|you|things|everything|life|your day|the day),
        what(?:'s| is) (?:up|new|going on), (?:is )?everything, right\?, what do you think, how about,
        what about, want to, wanna, can you, could you, would you, will you, have you (?:heard|seen),
        do you (?:think|want|need|mind|know), did you know, can i, should i, anything else, guess what,
        (?:do you have |got )?any (?:other )?(?:recommend|suggest|tip|info|idea|advice)\w*,
        (?:do you have |got )?any (?:other )?(?:question|prefer|thought)\w*, you know
        """
    ),
    re.IGNORECASE,
)
_ASKED_OF_YOU = pattern(
    r"(?P<what>where|when|who|what|which [\w ]{2,24}|how many [\w ]{2,24}|how long)"
    r" (?P<do>did|do) you (?P<verb>[a-z]+)(?P<rest>(?: (?!you\b)[\w'-]+){0,4})\?+$",
    re.IGNORECASE,
)
_YOURS = pattern(
    r"what(?:'s| (is|are)) your ((?!(?:plan|idea|opinion|thoughts?|take|goal)\b)[\w' -]{3,40})\?+$",
    re.IGNORECASE,
)
_DANGLING = word_set("to at in on for with from about into of like")
_NO_REPLY = word_set(
    """
    no none nope nah why not idk nothing nowhere secret later skip ok okay yes yeah yep sure maybe hi
    hello hey thanks thank depends sorry pass stop help please what who how when where you your let
    let's wow aww aw great good nice cool awesome congrats haha lol absolutely definitely exactly
    totally of agreed same glad bye look check here here's take see keep hope wish can't sounds looks so
    there's noted understood acknowledged done saved remembered recorded certainly gotcha roger alright fine
    """
)
_UNCERTAIN = word_set(
    """
    if would wouldn't could might maybe perhaps probably possibly unless whether should shouldn't you your
    you're yours you've you'll you'd u ya yourself imagine guess think hope wish bet suppose
    """
)
_ARTICLES = word_set("a an the my our some two three four five both")
_PREPOSITIONS = word_set(
    "in at on to from with near by during after before for since about around last this next"
)
_FINITE = word_set(
    "is are was were has have had does did do will can would could it's that's they're he's she's i'm we're"
)
_AUTHOR = SELVES - {"my", "our"}
_CRY = pattern(r"(?:w+[ho]+[ho]*|ye+s+|a+w+|ya+y+|(?:ha)+h?|o+h+|wo+w+|no+)\b", re.IGNORECASE)
_YES_OR_NO = pattern(r"(?:do|does|did|have|has|are|is|was|were|can|will)\b", re.IGNORECASE)
_REACTS = pattern(
    r".*\b(?:sounds?|looks?|seems?) (?:so |really |very |super )?(?:like fun|[a-z]+)$", re.IGNORECASE
)
"""'A road trip sounds awesome' is said of what the asker told."""
_COUNTS = pattern(r"when|how (?:long|many|much|old|often)|what (?:year|age)", re.IGNORECASE)
_OPEN = word_set("do think mean feel like love want have")
"""After these a few words can be an answer in too many ways."""
_TELLING = 2
_FEW = 3
"""Less than so many words after a word of thanks are a name."""


class _Asked(NamedTuple):
    """A question, and how it is shown: after the sentence that says what its 'it' is, if need be."""

    plain: str
    shown: str
    points: bool = False
    """Whether what its 'it' is is not said even so."""


def answered(
    question: str, reply: str, about: str, dated: Callable[[str], str], *, silent: bool
) -> str | None:
    """What the reply tells by answering; None if nothing is asked, or nothing answered.

    `silent` is whether the reply gives no fact of its own: only then is it quoted beside the question.
    """
    asked = _question(question) if len(reply) <= _MOST_TALK and "\n" not in reply.strip() else None
    if asked is None:
        return None
    known = telling_words(asked.shown)
    for sentence in sentences(reply)[:_SENTENCES_LOOKED_AT]:
        told = _statement(sentence)
        if told is None:
            continue
        fragment = _is_fragment(told)
        if fragment and (stated := _stated(asked.plain, told, about, dated)) is not None:
            return stated
        new = substance(told, known)
        if asked.points and points(told) and not names(told):
            continue
        enough = _TELLING - (_COUNTS.match(asked.plain) is not None and any(map(str.isdigit, told)))
        if silent and known and (new and not _YES_OR_NO.match(asked.plain) if fragment else new >= enough):
            return f'{quoted(dated(told), about)}, asked "{unquoted(asked.shown)}"'
    return None


def _question(text: str) -> _Asked | None:
    """What is asked at the end, if it is more than small talk."""
    said = sentences(text[-_QUESTIONS_LOOKED_AT:])
    for at in range(len(said) - 1, max(-1, len(said) - 3), -1):
        question = opened(said[at])
        found = _ASKS.match(question)
        if not question.endswith("?"):
            return None
        if found is None or len(question) > _MOST_QUESTION:
            continue
        question = question[found.start("how") :]
        if _SMALL_TALK.match(question):
            continue
        bare = points(question) and not names(question)
        context = _context(said[:at], named=bare) if bare or not substance(question) else None
        if context or substance(question) or _ASKED_OF_YOU.match(question):
            shown = f"{context} {question}" if context else question
            return _Asked(question, shown, bare and context is None)
    return None


def _context(before: Sequence[str], *, named: bool) -> str | None:
    """The sentence that says what 'it' is in the question after it; if `named`, by a noun or a name."""
    for sentence in reversed(before[-_CONTEXT_LOOKED_AT if named else -1 :]):
        text = opened(sentence)
        told = " ".join(word for word in text.split() if word[:1].islower())
        fits = (
            len(text) <= _MOST_CONTEXT
            and len(told.split()) > 1
            and not text.endswith("?")
            and substance(told)
        )
        if fits and (not named or names(text)):
            return text
    return None


def _statement(sentence: str) -> str | None:
    """What a sentence of the reply states; None for thanks, talk, guesses and what is said to the asker."""
    bare = sentence.strip(" ()[]*_~-–—\"'")
    text = opened(bare)
    if len(text) > _MOST_REPLY or text.endswith("?") or unreal(text) or quotes_somebody(text):
        return None
    words = text.lower().replace(",", "").split()
    if len(text) < len(bare) and (len(words) < _FEW or words[0] == "for"):
        return None
    text = ended(text.rstrip(" .!…,;:"))
    words = text.lower().replace(",", "").split()
    if not words or words[0] in _NO_REPLY or words[0] in VERBS or _CRY.match(text):
        return None
    if (len(words) == 1 and bare.partition(text)[2].startswith(",")) or _REACTS.match(text):
        return None
    return text if _UNCERTAIN.isdisjoint(words) else None


def _is_fragment(text: str) -> bool:
    """Whether it has no verb of its own that could be told."""
    words = text.lower().replace(",", "").split()
    return (
        len(words) <= _MOST_FRAGMENT
        and _FINITE.isdisjoint(words)
        and _AUTHOR.isdisjoint(words)
        and not any(base_of_third(word) or base_of_past(word) for word in words[1:])
    )


def _stated(asked: str, told: str, about: str, dated: Callable[[str], str]) -> str | None:
    """'Where did you go?' 'Paris!' as one statement; None where the words don't fit together."""
    if owned := _YOURS.match(asked):
        return f"{about}'s {owned[2]} {owned[1] or 'is'} {told}"
    found = _ASKED_OF_YOU.match(asked)
    if found is None:
        return None
    verb = found["verb"].lower()
    if verb not in VERBS or verb in ("end", "wind", "say", "tell", "ask"):
        return None
    rest = they(found["rest"]).strip()
    does = past(verb) if found["do"].lower() == "did" else third(verb)
    first = told.split()[0].lower()
    placed = first in _PREPOSITIONS
    value = they(told[:1].lower() + told[1:] if placed or first in _ARTICLES else told)
    what = found["what"].lower()
    said = dated(value)
    if what == "where" and not placed:
        said = ("to " if verb in ("go", "travel", "move", "fly") else "in ") + said
    if what in ("where", "how long") or (what == "when" and placed):
        return " ".join(part for part in (about, does, rest, said) if part)
    if placed or what == "when" or (verb in _OPEN and (rest or verb not in ("like", "love", "have"))):
        return None
    before, after = (rest, "") if rest.rpartition(" ")[2] in _DANGLING else ("", rest)
    return " ".join(part for part in (about, does, before, said, after) if part)
