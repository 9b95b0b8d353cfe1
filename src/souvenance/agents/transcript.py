"""What of a turn may be kept: what was said, without what memory itself put into it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from souvenance.domain.chunking import best_cut, is_one_character
from souvenance.language.questions import is_courtesy
from souvenance.patterns import pattern

CONTINUED = "[continued] "
"""What every further piece of a long text begins with."""

_PASSES = 8
_TAG = pattern(r"<\s*+(/?+)\s*+memory-context(?:(?![\w-])[^<>]*+>|\s*+\Z)", re.IGNORECASE)
"""A tag of the host's fence; at the very end of a text also one that was cut off."""
_GOES_ON = pattern(r"[^\S\n]++[^\s\[]|[^\w\s\[<]")
_NEAR_A_TAG = 40
_NOTE = pattern(
    r"\[\s*+system\s++note:\s*+the\s++following\s++is\s++recalled\s++memory\s++context"
    r"(?:[^\[\]]{0,600}+\]|[^\n]*+)[^\S\n]*+\n?+",
    re.IGNORECASE,
)
"""The note that stands first in the fence."""
_INTRO = "Background from memory: noted or said earlier"
"""How our own text in the fence begins; it goes on in paragraphs of lines that begin with a dash."""
_BRACKETS = str.maketrans("", "", "<[")

_LONGEST_COURTESY = 80
_ROOTS = "bin data dev etc home lib media mnt opt proc root run sbin srv sys tmp users usr var volumes"
_COMMAND = pattern(
    rf"/(?!(?:{'|'.join(_ROOTS.split())})(?![\w-]))[a-z][\w-]*+(?:\s++\S++)?\Z", re.IGNORECASE | re.ASCII
)
"""With one argument at most: with more it is something to be done. A folder of every machine is a path."""


def clean(text: str) -> str:
    """The text as it was said: without blocks of memory, whole, cut off, nested or forged, and without
    characters that can't be stored. What was cleaned stays as it is.
    """
    text = _storable(text)
    if "<" not in text and "[" not in text and _INTRO not in text:
        return text
    for _ in range(_PASSES):
        cleaned = _without_own(_NOTE.sub("", _without_blocks(text)))
        if cleaned == text:
            return text
        text = cleaned.strip()
    # Tags that come together only as others are taken out are removed too.
    return _without_own(text.translate(_BRACKETS)).strip()


def spoken(content: object) -> str:
    """What somebody said, cleaned; of content in parts, the parts that are text."""
    return clean(_text(content))


def chunks(text: str, most_chars: int) -> list[str]:
    """The text in pieces of at most so many characters, of which there must be more than CONTINUED has.

    All but the first begin with CONTINUED. They end where a paragraph, a sentence or at least a word
    does, if one does not far from the end; without their beginnings they are the text.
    """
    room = max(most_chars, len(CONTINUED) + 1)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        mark = CONTINUED if pieces else ""
        end = _end(text, start, start + room - len(mark))
        pieces.append(mark + text[start:end])
        start = end
    return pieces


def _end(text: str, start: int, latest: int) -> int:
    """Where the piece that begins at `start` ends, the white space behind it included as far as it fits."""
    if latest >= len(text):
        return len(text)
    most = latest - start
    cut = best_cut(text[start : latest + 1], 0, most)
    ends = (start + length for length in (cut.resume, cut.stop, most - 1) if 0 < length <= most)
    return next((end for end in ends if not is_one_character(text, end)), latest)


def is_trivial(text: str) -> bool:
    """Whether there is nothing in it to think about: a command, or a word or two of courtesy."""
    text = text.strip()
    if not text or _COMMAND.match(text):
        return True
    return len(text) <= _LONGEST_COURTESY and is_courtesy(text)


def _storable(text: str) -> str:
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without_blocks(text: str) -> str:
    gone: list[tuple[int, int]] = []
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text):
        if tag[0].endswith("/>") or (tag[1] and not opened):
            gone.append(tag.span())
        elif tag[1]:
            gone.append((opened.pop().start(), tag.end()))
        else:
            opened.append(tag)
    for tag in opened:
        gone.append((tag.start(), tag.end() if _is_mentioned(text, tag) else len(text)))
    kept, start = [], 0
    for begin, end in sorted(gone):
        kept.append(text[start : max(start, begin)])
        start = max(start, end)
    return "".join((*kept, text[start:]))


def _is_mentioned(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag that nothing closes stands within a sentence: somebody speaks of it, and goes on.

    Any other heads a block that was cut off.
    """
    before = text[max(0, tag.start() - _NEAR_A_TAG) : tag.start()].rpartition("\n")[2]
    return before.strip() != "" and _GOES_ON.match(text, tag.end()) is not None


def _without_own(text: str) -> str:
    """The text without what we gave the host, where that stands outside of the fence."""
    if _INTRO not in text:
        return text
    return "".join(_not_own(text.splitlines(keepends=True)))


def _not_own(lines: list[str]) -> Iterator[str]:
    inside = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(_INTRO):
            inside = True
        elif inside:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            heads = line.rstrip().endswith(":") and following.startswith("- ")
            inside = not line.strip() or line.startswith("- ") or heads
        if not inside:
            yield line


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "\n".join(filter(None, map(_part, parts)))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("type", "text") not in ("text", "input_text", "output_text"):
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""
