"""Where somebody speaks in play, recites, or gives an example: what is said there holds of nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern
from mnemon.ports.reasoner import Turn

LASTS = 4
"""For how many turns a scene that was set holds, if nobody ends it: no more are seen before a turn."""

_INVITES = (
    r"let's|lets|let us|can we|could we|shall we|do you want to|you wanna|would you like to|we could|we'll"
)
_GAMES = r"role-? ?play(?:ing)?|rp|make-believe|d&d|dnd|dungeons (?:and|&) dragons|adventure|rpg"
_SET = pattern(
    rf"\b(?:{_INVITES})(?: just| now| all)? (?:role-? ?play|rp|pretend(?! (?:it|this|that|nothing)\b)"
    r"|(?:play|do|start|try|run|continue)"
    rf" (?:[\w-]+ ){{0,3}}?(?:{_GAMES}))\b"
    r"|\b(?:start|begin|continue|play|run) (?:an?|our|the|another) (?:\w+ ){0,2}(?:role-?play|rpg|campaign)\b"
    r"|\b(?:stay|be|remain|answer|respond|reply) in character\b"
    r"|\b(?:be|you're|you are) (?:my|our|the) (?:dungeon|game) master\b",
    re.IGNORECASE,
)
_ENDED = pattern(
    r"\b(?:out of character|ooc|(?:stop|end|pause|quit|leave|drop|enough of) (?:the |this |our )?"
    r"(?:role-? ?play(?:ing)?|rp|game|scene|act)|back to (?:reality|real life)|in real life|irl)\b",
    re.IGNORECASE,
)
_HINTS = (
    "play",
    "rp",
    "pretend",
    "believe",
    "d&d",
    "dnd",
    "dungeon",
    "adventure",
    "character",
    "master",
    "campaign",
)

_RECITED = either(
    r"""
    lyrics?, song, chorus, verse, poem, riddle, joke, quote, quotation, movie line, famous line, caption,
    example, for instance, e\.g\., sample, placeholder, template, boilerplate, test data, test case,
    test sentence, dummy (?:data|text), mock data, input, output, string, sentence, phrase,
    fill in(?: the blanks?)?, dialogue, on behalf of (?:my |our )?[\w']+,
    fake (?:name|profile|identity|bio), made-?up (?:name|profile|story), slogan, motto
    """
)
_LABEL = pattern(
    rf"(?:[^.!?\n:]{{0,60}}[^\w.!?\n:])?(?:{_RECITED})[^\w.!?\n:][^.!?\n:]{{0,30}}?:\s"
    rf"|(?:[^.!?\n:]{{0,60}}[^\w.!?\n:])?(?:{_RECITED}):\s",
    re.IGNORECASE,
)
_RIDDLE = pattern(r"\b(?:who|what) am i ?\?", re.IGNORECASE)
_SUNG = pattern(r"\s*[♪♫♬🎵🎶].*[♪♫♬🎵🎶][\s.!]*$", re.DOTALL)
_VOICED = pattern(
    r"\bin (?:the )?first[- ]person\b|\bfirst[- ]person (?:story|narrative|narration|account|voice|essay)\b"
    r"|\bfrom the (?:perspective|point of view|pov|viewpoint) of\b|\bin the voice of\b",
    re.IGNORECASE,
)
_DREAMT = pattern(
    r"\b(?:dream|dreamt|dreamed|nightmare|novel|story|game|film|movie|book|script|campaign|d&d|dnd|rpg|skyrim"
    r"|larp|fan ?fic(?:tion)?|role-? ?play)\b",
    re.IGNORECASE,
)
_IN_IT = pattern(
    r"(?:and )?(?:in (?:it|there|that one|this one|the (?:dream|story|game))|there),? ", re.IGNORECASE
)
_CHARACTER = pattern(
    r"\bmy (?!favou?rite |best |moral |own )(?:[\w&'-]+ ){0,3}(?:character|avatar|persona|alter ego|oc)\b",
    re.IGNORECASE,
)
_AS_ONE = pattern(r"(?:i'm|i am|i live|my name)\b", re.IGNORECASE)


def in_play(before: Iterable[Turn]) -> int:
    """For how many more turns a scene holds that was set in these, the last that came before a turn."""
    left = 0
    for turn in before:
        left = after(turn, left)
    return left


def after(turn: Turn, left: int) -> int:
    """For how many more turns a scene holds after that one, where it held for so many."""
    text = turn.text.lower()
    if any(hint in text for hint in _HINTS) and _SET.search(text):
        return LASTS
    return 0 if ends(turn) else max(0, left - 1)


def ends(turn: Turn) -> bool:
    """Whether a turn ends the scene that it is said in."""
    return _ENDED.search(turn.text) is not None


def recited(text: str) -> bool:
    """Whether a whole message is sung, asks who or what its 'I' is, or for a text in another's voice."""
    return any((_SUNG.match(text), _RIDDLE.search(text), _VOICED.search(text)))


def before_the_recital(line: str) -> str:
    """A line without what follows a label like 'lyrics:' or 'for example:'."""
    label = _LABEL.match(line) if ":" in line else None
    return line[: label.end()].rstrip(" :\t") if label else line


def goes_on(sentence: str, before: str) -> bool:
    """Whether it tells what is so in the dream or the game that the sentence before it speaks of."""
    if _IN_IT.match(sentence):
        return _DREAMT.search(before) is not None
    return _AS_ONE.match(sentence) is not None and _CHARACTER.search(before) is not None
