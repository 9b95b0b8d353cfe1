"""What of a message came from elsewhere: injected memory, files that an agent is started with, mail, and
what it presents as another's."""

from __future__ import annotations

import re

from souvenance.language.quoted_text import unpresented
from souvenance.patterns import pattern

_TAGS = "memory[\\w-]*|memories|system[\\w-]*|context|retrieved[\\w-]*|background|instructions|tool[\\w-]*"
_BLOCK = pattern(rf"<\s*({_TAGS})\b[^<>]*>.*?(?:<\s*/\s*\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_FILE = pattern(
    r"\s*(?:---\s*\n|#{1,3}[^\n]*\b(?:AGENTS?|SOUL|CLAUDE|IDENTITY|BOOTSTRAP|BOOT|TOOLS|USER|MEMORY|SYSTEM)"
    r"(?:\.md\b|\s*\n))"
)
_STRUCTURE = pattern(r"\s*(?:#{1,6}\s|[-*+•]\s|\d{1,2}[.)]\s|\||>|```)")
_FEW_LINES = 15
_MOSTLY = 0.6
_OF_WHICH = (
    "relevant|saved|stored|long-term|short-term|persistent|core|recalled|retrieved|current|past|known|recent"
    "|session|shared|user|agent|assistant|model|project|the|your|chatgpt|claude|hermes"
)
_REMEMBERED = pattern(
    r"(?=[ \t]*(?:#|\*\*|__)|.*:[ \t*_]*$)[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?"
    rf"(?:(?:(?:{_OF_WHICH}) ){{0,3}}(?:memory|memories|user (?:profile|card|facts|notes))"
    r"(?: (?:context|file|notes|bank))?(?: about (?:the )?(?:user|you))?"
    r"|what (?:i|we) (?:know|remember) about (?:the user|you)|about the user)"
    r"(?: \(\d+\))?:?(?:\*\*|__)?:?[ \t]*",
    re.IGNORECASE,
)
"""The heading of what somebody remembers of another."""
_FROM = "(?:from|von): "
_ABOUT = "(?:subject|betreff|sent|gesendet): "
_OTHERS = r"(?:(?:to|cc|date|reply-to|an|datum): [^\n]*\n)*"
_MAIL = pattern(
    r"^(?:-{2,} ?(?:forwarded|original) message[^\n]*|begin forwarded message:[^\n]*"
    rf"|on [^\n]{{4,80}} wrote:|{_FROM}[^\n]*@[^\n]*|{_FROM}[^\n]+\n{_OTHERS}{_ABOUT}[^\n]*"
    rf"|{_ABOUT}[^\n]*\n{_OTHERS}{_FROM}[^\n]+)$.*\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def unpasted(text: str) -> str:
    """The message without what came from elsewhere; nothing of one that is such a file as a whole."""
    if "<" in text:
        text = _BLOCK.sub("\n", text)
    if _is_file(text):
        return ""
    if ":" in text or "--" in text:
        text = _MAIL.sub("", text)
    text = unpresented(text)
    return _without_memories(text) if "\n" in text else text


def _is_file(text: str) -> bool:
    """Whether it reads like a file that an agent is started with."""
    if _FILE.match(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _FEW_LINES and sum(map(_is_structure, lines)) >= _MOSTLY * len(lines)


def _is_structure(line: str) -> bool:
    return _STRUCTURE.match(line) is not None


def _without_memories(text: str) -> str:
    """Without what stands below such a heading: the lines up to a gap, and behind it further lists."""
    kept: list[str] = []
    below, gap = False, False
    for line in text.split("\n"):
        if _REMEMBERED.fullmatch(line):
            below, gap = True, False
        elif not line.strip():
            gap = True
        elif gap and not _is_structure(line):
            below = False
        if not below:
            kept.append(line)
    return "\n".join(kept)
