"""Stored text made safe inside the host's memory fence: there it is quoted, and speaks for nobody."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from mnemon.domain.pattern import pattern

_MENTION = "(memory-context mark)"
"""What stands in place of a tag of the fence."""

_CONTROL = pattern("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_UNSEEN = pattern(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
"""What no reader sees: marks and overrides of direction, empty characters, halves of characters."""
_TAGGED = pattern("\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f|[\U000e0000-\U000e007f]")
"""The flag of a region, or a letter that is invisible outside of one."""
_SELECTORS = "\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINTS = pattern(f"[\u200c\u200d{_SELECTORS}]+")
_SELECTOR = pattern(f"[{_SELECTORS}]")
_KEYCAP = "\u20e3"
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that are there and look like nothing."""

_LOOKALIKES = {
    like: plain
    for plain, likes in {
        "<": "‹〈⟨《«˂❮❬≪",
        ">": "›〉⟩》»˃❯❭≫",
        "/": "⁄∕⧸╱",
        "-": "‐‑‒–—―−⁃_",
        "|": "│∣ǀ¦",
        ":": "꞉∶ː׃",
        "a": "аα",
        "c": "сϲ",
        "e": "еε",
        "i": "іι",
        "m": "м",
        "n": "пη",
        "o": "оοօ",
        "r": "г",
        "s": "ѕ",
        "t": "тτ",
        "u": "υ",
        "x": "хχ",
        "y": "уγ",
    }.items()
    for like in likes
}

_GAP = r"[\0\s]*+"


def _spelt(word: str) -> str:
    return _GAP.join(word)


_TAG = pattern(
    rf"(?:<|&{_GAP}lt;?|&#0*+60;?|&#x0*+3c;?|\\u003c|\\x3c|%3c){_GAP}[/\\]?{_GAP}"
    rf"{_spelt('memory')}{_GAP}-?{_GAP}{_spelt('context')}(?!\w)"
    rf"(?:{_GAP}[/\\]?{_GAP}(?:>|&gt;?|&#0*+62;?|&#x0*+3e;?|\\u003e|\\x3e|%3e))?"
)
_SYSTEM = r"system(?:[\s-]++(?:notes?|prompts?|messages?|reminders?|instructions?))?+"
_SPEAKERS = rf"{_SYSTEM}|sys|assistant|user|human|developer|tool|instructions?|response|ai"
_POSING = pattern(
    r"<\0*+\|(?P<token>[\w▁\0-]{1,64}+)\|\0*+>"
    rf"|<<?+{_GAP}(?:(?P<tag>/?{_GAP}(?:{_SYSTEM}|sys|assistant|instructions?"
    r"|(?:tool|function)-(?:calls?|results?|responses?)|(?:start|end)-of-turn))(?!\w)"
    rf"|(?P<pair>/?{_GAP}(?:user|human|developer|think(?:ing)?|bos|eos|s))(?={_GAP}>))(?:{_GAP}>>?+)?"
    r"|\[\s*+(?P<bracket>/?\s*+(?:inst|available-tools|tool-(?:calls|results)"
    rf"|(?:{_SPEAKERS})(?=\s*+[\]:])|system\s++note))(?!\w)"
    rf"|(?:^#|##)\s*+(?P<section>(?:{_SYSTEM}|instructions?|response|assistant|human)(?!\w)"
    rf"|(?:user|input|tool)(?=\s*+(?::|\Z|\n)))"
    r"|(?:^[ #>*~+(\x22'\[-]*+|(?<=[.!?…。>\]|]\s)|(?<=[>\]|]))"
    rf"(?P<speaker>{_SPEAKERS})(?=[\0*\])-]{{0,4}}+\s*+:)",
    re.MULTILINE,
)
"""Text that a model may take for a change of who speaks; on folded text, where `_` is `-`."""

_BLOCK = pattern(r"#{1,6}(?=\s|$)|-{3}|={3}|\*{3}|_{3}|`{3}|~{3}|<!--")
"""How Markdown begins a section, a rule or a block of code."""


_BRACKETS = frozenset("<&\\%")
"""With one of these a tag of the fence begins."""
_SUSPECT = pattern(rf"[<&\\%\[#]|(?:{_SPEAKERS})[\0*\])-]{{0,4}}+\s*+:")
"""Folded text without any of this neither ends the fence nor poses as anybody."""
_ORDINARY = pattern(r"[ !\"$'-9;=-Z\]-~]*")
"""What is seen on one line and is no mark of a tag, a role or a section: most of what people say."""


def defuse(text: str) -> str:
    """The text on one line, readable as it was, but without what could end the fence or pose as anybody.

    Tags of the fence become words, and the marks of roles, notes and sections are put in quotes.
    What can't be seen is dropped, unless an emoji or a script is made of it. What was defused stays as it is.
    """
    text = text.strip() if _ORDINARY.fullmatch(text) else _defused(text)
    return f"\\{text}" if _BLOCK.match(text) else text


def _defused(text: str) -> str:
    if text.isascii() and text.isprintable():
        text = text.strip()
    else:
        lines = (line.strip() for line in _seen("\n".join(text.splitlines())).split("\n"))
        text = "\n".join(line for line in lines if line)
    shape = _shape(text)
    if _SUSPECT.search(shape):
        text = _with(text, _posing(text, shape))
    return text.replace("\n", " ")


def unmarked(text: str) -> str:
    """The text as it is, but for words in place of every tag of the fence, however that is spelt."""
    return _with(text, ((tag.start(), tag.end(), _MENTION) for tag in _TAG.finditer(_shape(text))))


def _posing(text: str, shape: str) -> Iterator[tuple[int, int, str]]:
    """The spans that may not stay, and what stands there instead."""
    if not _BRACKETS.isdisjoint(shape):
        for tag in _TAG.finditer(shape):
            yield tag.start(), tag.end(), _MENTION
    for found in _POSING.finditer(shape):
        kind = found.lastgroup or ""
        start, end = found.span() if kind in ("token", "tag", "pair") else found.span(kind)
        yield start, end, f"“{text[slice(*found.span(kind))]}”"


def _with(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The text with other words in place of each span; the first and longest of those that overlap counts."""
    parts: list[str] = []
    done = 0
    for start, end, instead in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            parts += (text[done:start], instead)
            done = end
    return "".join((*parts, text[done:]))


def _seen(text: str) -> str:
    text = _CONTROL.sub("", text).replace("\t", " ")
    if text.isascii():
        return text
    text = _UNSEEN.sub("", text)
    text = _TAGGED.sub(lambda found: found[0] if len(found[0]) > 1 else "", text)
    return _JOINTS.sub(_joint, text)


def _joint(found: re.Match[str]) -> str:
    """Of a run of joiners and selectors, what belongs to the characters around it."""
    text, run = found.string, found[0]
    before = text[found.start() - 1] if found.start() else " "
    after = text[found.end()] if found.end() < len(text) else " "
    selects = _SELECTOR.match(run) and (_carries(before) or after == _KEYCAP)
    joins = _carries(before) and _carries(after)
    joiner = next((character for character in run if character in "\u200c\u200d"), "") if joins else ""
    return (run[0] if selects else "") + joiner


def _carries(character: str) -> bool:
    return not character.isascii() and not character.isspace()


def _shape(text: str) -> str:
    """What the text looks like, character by character: plain, in lower case, NUL for what is not seen."""
    if not text.isascii():
        text = text.translate(_LOOKS)
    return _CONTROL.sub("\0", text).lower().replace("_", "-")


class _Looks(dict[int, str]):
    """What characters look like, for `str.translate`; those seen of late are kept."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST_LOOKS:
            self.clear()
        self[code] = found = _looks(chr(code))
        return found


_MOST_LOOKS = 8192
_LOOKS = _Looks()


def _looks(character: str) -> str:
    if character in BLANK_LETTERS or unicodedata.category(character) in ("Cf", "Cs"):
        return "\0"
    for part in unicodedata.normalize("NFKD", character):
        if unicodedata.category(part)[0] != "M":
            plain = part.lower()[0]
            return _LOOKALIKES.get(plain, plain)
    return "\0"
