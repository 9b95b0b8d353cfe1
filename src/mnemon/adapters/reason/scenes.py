"""Where somebody speaks in play, recites, or gives an example: what is said there holds of nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern
from mnemon.ports.reasoner import Turn

LASTS = 24
"""For how many turns a scene that was set holds, if nobody ends it: no more are seen before a turn."""
LASTS_ANYHOW = 4
"""For how many it holds after whatever silence."""
_LOOKED_AT = 2000
"""In how much of a message a scene is set or ended: what is longer is no talk."""
PAUSE_MS = 3 * 60 * 60 * 1000
"""After such a silence nobody plays on for longer."""

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
_NO_ROLE = (
    r"(?!(?:best|one|only|first|last|next|same|boss|man|reason|worst|greatest|happiest|coolest|judge|luckiest"
    r"|lucky|person|people)\b)"
)
_ROLE = rf"(?:an?|the|my|your) {_NO_ROLE}"
_YOU_BE = rf"\b(?:you(?: be| play|'ll be|'ll play| will be| will play)|act as|pretend to be) {_ROLE}"
_I_BE = rf"(?:i'll be|i will be|i'll play|i will play|i'm playing|i play|i be) {_ROLE}"
_AND = r"[^.!?\n]{1,60}?(?:[,.;!?]|\band\b|\bwhile\b)\s*(?:and )?"
_CAST = pattern(
    rf"{_YOU_BE}{_AND}(?:{_I_BE}|(?:i'm|im|i am) (?:the|your) {_NO_ROLE})\w"
    rf"|\byou(?:'re| are) {_ROLE}{_AND}(?:i'm|im|i am) (?:the|your) {_NO_ROLE}\w"
    rf"|\b{_I_BE}{_AND}{_YOU_BE}\w"
)
"""Where both are given a part: who only says what the other is to be speaks for themselves."""
_ENDED = pattern(
    r"\b(?:out of character|ooc|(?:stop|end|pause|quit|leave|drop|enough of) (?:the |this |our )?"
    r"(?:role-? ?play(?:ing)?|playing|rp|game|scene|act)|back to (?:reality|real life|normal)|in real life"
    r"|irl|(?:no more|enough) (?:role-? ?play(?:ing)?|playing|pretending|games)|game over"
    r"|(?:let's|lets) (?:stop|end|leave) (?:it )?(?:here|there|now))\b"
    r"|^\s*(?:(?:ok|okay|alright|all right|haha|lol|thanks|thank you|well|so)[\s,.!]+)*"
    r"(?:stop|enough|the end|end scene|fin)(?=\s*(?:$|[,.!;:-])| (?:it|that|now|for now)\b)"
    r"|^\s*(?:(?:ok|okay|alright|all right|haha|lol|well|so|but|no)[\s,.!]+)*"
    r"(?:for real|seriously|joking aside|jokes aside)(?: now| though)?\s*[,.:!]",
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
    "act as",
    "you are ",
    "you're ",
    "you be ",
    "you'll be ",
    "you will ",
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


class Scene(NamedTuple):
    """A scene that somebody may have set."""

    left: int = 0
    """For how many more turns it holds at most."""
    at: int = 0
    """When the last turn of it was said."""

    def holds_in(self, turn: Turn) -> bool:
        """Whether that turn, the next, is said in it."""
        if self.left <= 0 or _ENDED.search(turn.text[:_LOOKED_AT]):
            return False
        return turn.said_at - self.at < PAUSE_MS or self.left > LASTS - LASTS_ANYHOW

    def after(self, turn: Turn) -> Scene:
        """What is left of it after that turn, which may set another."""
        if _sets_one(turn.text[:_LOOKED_AT].lower()):
            return Scene(LASTS, turn.said_at)
        return Scene(self.left - 1, turn.said_at) if self.holds_in(turn) else Scene()


def set_in(turns: Iterable[Turn]) -> Scene:
    """The scene that holds after these turns."""
    scene = Scene()
    for turn in turns:
        scene = scene.after(turn)
    return scene


def _sets_one(text: str) -> bool:
    if not any(hint in text for hint in _HINTS):
        return False
    return _SET.search(text) is not None or _CAST.search(text) is not None


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
