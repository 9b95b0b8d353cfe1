"""What of a message is not its author's: injected memory, files that an agent is started with, mail, and
text that it only presents, behind a line that says so or that gives a task on it.
"""

from __future__ import annotations

import re

from souvenance.language.lexicon import lists
from souvenance.patterns import pattern

_WORDS = lists().pasted_text
_DOCUMENT = _WORDS.document + (
    "|(?:tool|function|search|command|console|terminal|api) (?:results?|response|log)|brief (?:von|vom|aus)"
    "|(?:error|server|build|chat|console) logs?|web (?:page|search)"
)
DOCUMENT = pattern(
    rf"(?:^|[\s(\"'])(?:{_DOCUMENT})(?: (?:{_WORDS.joining})\b[^.!?]{{0,60}})?$"
    rf"|(?:{_WORDS.eastern})(?:如下)?$"
)
"""A label that names a document, or what some tool gave."""
CONTACTS = frozenset(["email", "e-mail", "mail", "website", "webseite", "page", "file", "letter", "correo"])
"""Alone they may label where somebody is reached, or what something is."""
TITLE = pattern(
    rf"(?:^|\s)(?:{_DOCUMENT}|license|changelog|message|nachricht|mensaje|\w[\w-]*\.[a-z]{{1,4}})(?:$|\s)"
    r"|原始邮件|转发邮件|轉寄郵件|元のメッセージ|転送"
)
"""What stands between rules: '=== README ==='."""

BEFORE_TEXT = pattern(
    rf"(?:the |this |an? )?(?:\w+ )?(?:{_WORDS.short}"
    r"|(?:tool|function|search) (?:results?|response)) ?[:：]"
    rf"|(?:the|this|that|an?) (?:\w+ )?(?:{_WORDS.speaking})"
    r" (?:says|said|reads|states|goes)[^.!?:]{0,20}:"
)
"""A label in whose line the text begins."""

OWN = pattern(
    r"\b(?:my|our|mine|meine?[mnrs]?|unsere?[mnrs]?|mon|ma|mes|notre|nos|mis?|nuestr[ao]s?)\b"
    r"|我的|我们的|私の|僕の|俺の"
)
OF_OWN = pattern(r"\b(?:from|by|von|de|du) (?:my|our|mein\w*|mon|ma|mi)\b")
"""'A letter from my bank' is not one's own."""

WROTE = pattern(
    rf"(?:^|\s)(?:{_WORDS.wrote}|{_WORDS.says}|a dit)(?: [^!?]{{1,60}})?$"
    r"|(?:写道|寫道|回复|書きました|書いた)$"
)
"""Somebody is said to have written what follows."""
I_WROTE = pattern(
    rf"(?:^|\s)(?:i|we|ich|wir|j'ai|nous|yo)(?: \w+)? (?:{_WORDS.wrote}|écrit|dit)\b"
    r"|(?:schrieb|sagte|antwortete) (?:ich|wir)\b"
    r"|(?:^|\s)(?:i|we)(?:'m|'ve|'ll| am| have| will)? (?:drafted|made|writ|want|need|plan|work)\w*"
    r"|我.{0,4}(?:写道|寫道|回复)|私.{0,6}書"
)

_POLITE = (
    "please|pls|can you|could you|would you|now|and|hey|hi|ok|okay|bitte|kannst du|s'il te plaît|peux tu"
    "|por favor|puedes|请|請"
)
_PLAIN_TASK = "translate|rewrite|rephrase|proofread|summari[sz]e|paraphrase|übersetze?|traduis|traduce"
_MAY_BE_A_TASK = (
    "correct|edit|improve|revise|shorten|continue|fix|check|reply to|respond to|korrigiere?|corrige"
)
_SUMMARISE = (
    r"fasse? [^:：.!?]{0,60}zusammen"
    r"|(?:résume|resume) (?:ce|cette|le|la|les|el|los|este|esta) [^:：.!?]{0,60}"
)
TASK = pattern(
    rf"(?:(?:{_POLITE}),? ?){{0,3}}(?:(?:{_PLAIN_TASK})(?: [^:：.!?]{{0,80}})?|{_SUMMARISE}"
    rf"|(?:{_MAY_BE_A_TASK}) [^:：.!?]{{0,60}}\b(?:{_WORDS.texts})\b[^:：.!?]{{0,40}}"
    r"|[^:：。！？.?!]{0,20}(?:翻译|翻譯|总结|總結|润色|改正|修改|翻訳|要約|添削)[^:：。！？]{0,30})[:：]"
)
"""Something is to be done with the text that follows."""
CHANNEL = pattern(
    r"\[[^\[\]\n]{0,40}\b(?:tool|function|web|search|retrieved|scraped|crawled|ocr|excerpt)\b"
    r"[^\[\]\n]{0,40}\](?!\()"
)
"""'[web search result]'."""
SIGNS = (":", "：", "[", "</", "--", "==", "**", "__", "~~", "##")
"""Text that introduces another's has one of these."""


_DOCUMENT_TAGS = (
    r"documents?|doc|file|article|e-?mail|webpage|web_page|page|search[\w-]*|results?|transcript|excerpt|quote"
    r"|blockquote|source|attachment|output|stdout|stderr|observation|snippet|passage|untrusted[\w-]*"
)
_DOCUMENT_TAG = pattern(rf"<(/?)\s?({_DOCUMENT_TAGS})\b[^<>]{{0,200}}>", re.IGNORECASE)
_RULE = "-=*_~#"
_MARKS = " \t*_#>\"'“”"
_LONGEST_LABEL = 120


def unpresented(text: str) -> str:
    """The message without what it only presents; the line that says what that is stays."""
    folded = text.lower()
    if not any(sign in folded for sign in SIGNS):
        return text
    if "</" in text:
        text = _without_elements(text)
    kept: list[str] = []
    paragraph, presented, shown = 0, False, False
    for line in text.split("\n"):
        blank = not line or line.isspace()
        if presented and not (blank and shown):
            shown = shown or not blank
            continue
        presented = False
        if blank:
            kept.append(line)
            paragraph = len(kept)
            continue
        found = _presenting(line, first=len(kept) == paragraph)
        begin, to_the_end = (len(line), False) if found is None else found
        kept.append(line[:begin])
        if to_the_end:
            break
        presented, shown = found is not None, bool(line[begin:].strip())
    return "\n".join(kept)


def _presenting(line: str, *, first: bool) -> tuple[int, bool] | None:
    """Where in the line something begins that it presents, and whether that goes to the end of the message,
    or only up to a gap.

    `first` says whether its paragraph begins with it.
    """
    if _is_banner(line):
        return len(line), True
    is_label = line.rstrip(_MARKS).endswith((":", "："))
    if not first and not is_label:
        return None
    begin = line[:_LONGEST_LABEL].lower().replace("’", "'")
    bare = begin.lstrip(_MARKS)
    skipped = len(begin) - len(bare)
    if first:
        if CHANNEL.match(bare):
            return 0, True
        opening = TASK.match(bare)
        if opening is not None and not OWN.search(opening[0]):
            return skipped + opening.end(), True
    if is_label:
        named = len(line) <= _LONGEST_LABEL
        to_the_end = _labels(bare.rstrip(_MARKS)[:-1].rstrip(_MARKS)) if named else None
        return None if to_the_end is None else (len(line), to_the_end)
    label = BEFORE_TEXT.match(bare)
    if label is None or OWN.search(label[0]):
        return None
    return skipped + label.end(), False


def _labels(label: str) -> bool | None:
    """Whether the text below such a label goes to the end; None if it may well be the author's own."""
    if I_WROTE.search(label):
        return None
    if WROTE.search(label):
        return False
    if label in CONTACTS or not DOCUMENT.search(label):
        return None
    if OWN.search(label) and not OF_OWN.search(label):
        return None
    return True


def _is_banner(line: str) -> bool:
    """'=== README ===', '-----Original Message-----'."""
    if len(line) > 2 * _LONGEST_LABEL:
        return False
    line = line.strip()
    if line[:2].strip(_RULE) or line[-2:].strip(_RULE):
        return False
    title = line.strip(_RULE + " ").lower()
    return bool(title) and TITLE.search(title) is not None and not OWN.search(title)


def _without_elements(text: str) -> str:
    """Without what stands between two tags that name a document or what some tool gave."""
    tags = list(_DOCUMENT_TAG.finditer(text))
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


_FENCED = pattern(r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = pattern(r"^[ \t]*>.*$", re.MULTILINE)
_IN_QUOTES = pattern('“[^“”]{12,600}+”|«[^«»]{12,600}+»|"[^"\n]{12,600}+"')
_SPEAKING = pattern(r"\b(?:i|my|me|mine|we|our|you|your)\b", re.IGNORECASE)
_MOST_IN_A_TITLE = 3


def own_words(text: str) -> str:
    """A message without what is pasted or quoted in it: blocks, mail, and what somebody says in quotes."""
    text = unpasted(text)
    for shape in (_FENCED, _QUOTED_LINE):
        text = shape.sub(" ", text)
    return _IN_QUOTES.sub(lambda found: " " if _speaks(found[0]) else found[0], text)


def _speaks(quotation: str) -> bool:
    """Whether somebody speaks in it; a title may say 'my' as well."""
    return len(quotation.split()) > _MOST_IN_A_TITLE and _SPEAKING.search(quotation) is not None
