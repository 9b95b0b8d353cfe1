"""What a message only presents: another's text, behind a line that says so or that gives a task on it."""

from __future__ import annotations

import re
from enum import Enum

from souvenance.language import introductions as intro
from souvenance.patterns import pattern

_TAGS = (
    r"documents?|doc|file|article|e-?mail|webpage|web_page|page|search[\w-]*|results?|transcript|excerpt|quote"
    r"|blockquote|source|attachment|output|stdout|stderr|observation|snippet|passage|untrusted[\w-]*"
)
_TAG = pattern(rf"<(/?)\s?({_TAGS})\b[^<>]{{0,200}}>", re.IGNORECASE)
_RULE = "-=*_~#"
_MARKS = " \t*_#>\"'“”"
_LONGEST_LABEL = 120


class _Far(Enum):
    """How far what is presented goes."""

    PARAGRAPH = "up to a gap"
    END = "to the end of the message"


def unpresented(text: str) -> str:
    """The message without what it only presents; the line that says what that is stays."""
    folded = text.lower()
    if not any(sign in folded for sign in intro.SIGNS):
        return text
    if "</" in text:
        text = _without_elements(text)
    kept: list[str] = []
    paragraph, shown = 0, False
    far: _Far | None = None
    for line in text.split("\n"):
        blank = not line or line.isspace()
        if far is _Far.END:
            break
        if far is _Far.PARAGRAPH and not (blank and shown):
            shown = shown or not blank
            continue
        far = None
        if blank:
            kept.append(line)
            paragraph = len(kept)
            continue
        if len(kept) > paragraph and _is_source(line):
            del kept[paragraph:]
            continue
        found = _presenting(line, first=len(kept) == paragraph)
        kept.append(line if found is None else line[: found[0]])
        if found is not None:
            far, shown = found[1], bool(line[found[0] :].strip())
    return "\n".join(kept)


def _presenting(line: str, *, first: bool) -> tuple[int, _Far] | None:
    """Where in the line something begins that it presents, and how far that goes.

    `first` says whether its paragraph begins with it.
    """
    if _is_banner(line) or (first and _is_source(line)):
        return len(line), _Far.END
    is_label = line.rstrip(_MARKS).endswith((":", "："))
    if not first and not is_label:
        return None
    begin = line[:_LONGEST_LABEL].lower().replace("’", "'")
    bare = begin.lstrip(_MARKS)
    skipped = len(begin) - len(bare)
    if first:
        if intro.CHANNEL.match(bare):
            return 0, _Far.END
        opening = intro.CHECK.match(bare) or intro.TASK.match(bare)
        if opening is not None and not intro.OWN.search(opening[0]):
            return skipped + opening.end(), _Far.END
    if is_label:
        far = _labelled(bare.rstrip(_MARKS)[:-1].rstrip(_MARKS)) if len(line) <= _LONGEST_LABEL else None
        return None if far is None else (len(line), far)
    label = intro.BEFORE_TEXT.match(bare)
    if label is None or intro.OWN.search(label[0]):
        return None
    return skipped + label.end(), _Far.PARAGRAPH


def _labelled(label: str) -> _Far | None:
    """How far the text goes that stands below such a label; None if it may well be the author's own."""
    if intro.I_WROTE.search(label):
        return None
    if intro.WROTE.search(label):
        return _Far.PARAGRAPH
    if label in intro.CONTACTS or not intro.DOCUMENT.search(label):
        return None
    if intro.OWN.search(label) and not intro.OF_OWN.search(label):
        return None
    return _Far.END


def _is_banner(line: str) -> bool:
    """'=== README ===', '-----Original Message-----'."""
    if len(line) > 2 * _LONGEST_LABEL:
        return False
    line = line.strip()
    if line[:2].strip(_RULE) or line[-2:].strip(_RULE):
        return False
    title = line.strip(_RULE + " ").lower()
    return bool(title) and intro.TITLE.search(title) is not None and not intro.OWN.search(title)


def _is_source(line: str) -> bool:
    if ":" not in line and "：" not in line:
        return False
    told = line[: 2 * _LONGEST_LABEL].strip(_MARKS + "()[]").lower()
    return intro.SOURCE.fullmatch(told) is not None and not intro.OWN.search(told)


def _without_elements(text: str) -> str:
    """Without what stands between two tags that name a document or what some tool gave."""
    tags = list(_TAG.finditer(text))
    ends: dict[str, list[re.Match[str]]] = {}
    for tag in reversed(tags):
        if tag[1]:
            ends.setdefault(tag[2].lower(), []).append(tag)
    kept: list[str] = []
    done = 0
    for tag in tags:
        if tag[1] or tag.start() < done:
            continue
        closing = ends.get(tag[2].lower(), [])
        while closing and closing[-1].start() < tag.end():
            closing.pop()
        if closing:
            kept.append(text[done : tag.start()])
            done = closing[-1].end()
    return "\n".join((*kept, text[done:])) if kept else text
