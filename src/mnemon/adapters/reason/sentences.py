"""From a message to the sentences its author wrote: without code, pasted text, quotes of others and play."""

from __future__ import annotations

import re

from mnemon.adapters.reason.edges import SLIP, TAKES_UP
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.scenes import before_the_recital, goes_on, recited
from mnemon.adapters.reason.voices import TAKES_BACK
from mnemon.domain.pasted import unpasted
from mnemon.domain.pattern import pattern

MOST_SENTENCES = 500
"""How many sentences of one message are looked at."""

_INVISIBLE = pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_PICTURES = (
    "[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\U000e0000-\U000e007f]++"
)
_PICTURE = pattern(rf" ?{_PICTURES}")
_ENDING_PICTURE = pattern(rf"(?<=[.!?…\n])[ \t]*+{_PICTURES}|^\s*+{_PICTURES}")
_SINGLE = pattern("[\u2018\u2019\u02bc\u00b4`](?=[a-zA-Z])")
_SMILEY = pattern(r"(?<=\s)[:;=]['-]?[()DPpOo3/|\]\[](?=\s|$)|<3|\^_?\^")
_FENCED = pattern(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_MARKER = pattern(r"\s*(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-z]\)|#{1,6})\s+")
_CODE_MARKS = frozenset("{}<>=|@$\\;&")
_NOT_PROSE = pattern(
    r"\s*(?:>|\||\$\s|[{}<@]|//|/\*|\*/)|[^\n]*(?:[{};]|=>|\(\)|</\w+>)[ \t]*$|[^\n]*(?:==|!=|\+=|&&|::"
    r"|=>|\w\(\w*\)|\w = \w|\\\w)"
)
_END = pattern(r"(?<![.!?…。！？])[.!?…。！？]++[\"'”’)\]]*+(?=\s|$)")
_RUN_ON = pattern(r"(?<=[a-z])[.!](?=(?:I|My)\b)")
_STAMP = (
    r"(?:\[[^\]\n]{1,40}\]\s*|(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[,T ]*)?"
    r"\(?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\)?\s*[-–]?\s*)?"
)
"""When a line of a chat or a log was written."""
_SPEAKER = pattern(
    rf"\s*{_STAMP}(?:[A-Z][\w.-]*(?: [A-Z][\w.-]*)?|user|assistant|system|human|ai|bot|me):\s+\S"
)
_OWN_LABEL = pattern(
    r"\s*(?:btw|by the way|correction|edit|fact|fun fact|fyi|note|p\.?s\.?|reminder|update|about me|me"
    r"|remember|please remember|important|context|background|info|heads up|disclaimer|also|so|ok|okay"
    r"|quick note|anyway|actually|sorry|oops|hi|hello|hey)"
    r"\s*:\s*",
    re.IGNORECASE,
)
_PASTE = pattern(
    r"(?:\b(?:following|below|here's|here is|here are|this|these)\b[^.!?\n]{0,80}:|^[^\n]{0,60}\"\"\""
    r"|\b(?:posted|wrote|said|says|replied|commented|texted|tweeted|reads|goes|lyrics|quote|transcript|letter"
    r"|review|log|logs|output|article|chorus|verse)\b[^.!?\n]{0,20}:)\s*$",
    re.IGNORECASE,
)
_TASK_ON_TEXT = pattern(
    r"\s*(?:(?:please|pls|can you|could you|now|and|hey|hi),? )*"
    r"(?:translate|rewrite|rephrase|proofread|summari[sz]e|paraphrase|correct|edit|improve|revise|shorten"
    r"|continue|fix the grammar|check the grammar|reply to|respond to this"
    r"|answer this)\b[^:\n]{0,120}(?::|\n)",
    re.IGNORECASE,
)
_LETTER = pattern(
    r"\s*Dear [A-Z][\w. ]{1,30},.*\b(?:Love|Yours|Best|Regards|Best regards|Kind regards|Sincerely"
    r"|Cheers|XOXO)(?: \w+)?,\s*[A-Z][\w. ]{1,30}\s*$",
    re.DOTALL,
)
"""A letter to somebody, with its greeting and its end."""
_PLAY_WORDS = (
    "imagine",
    "pretend",
    "suppose",
    "role play",
    "roleplay",
    "role-play",
    "act as",
    "act like",
    "assume ",
    "you are",
    "you're ",
    "play the ",
    "say that i",
    "let us say",
    ":",
)
_PLAY = pattern(
    r"\s*(?:(?:please|can you|could you|let's|lets|now|hey|hi|i want you to|you will|you'll"
    r"|i'd like you to),? )*"
    r"(?:imagine|pretend|suppose|role-? ?play|act (?:as|like)|assume (?:that )?(?:i|you)\b|you are (?:a"
    r"|an|now|the)\b|you're (?:a|an|now)\b|play the (?:role|part)|say that i\b|let us say)"
    r"|.{0,80}\b(?:pretend|role-? ?play|imagine) (?:that )?(?:i|i'm|you|we)\b"
    r"|.{0,40}\b(?:write|compose|draft|generate|create|give me|make)\b.{0,40}\b(?:story|poem|essay|letter"
    r"|email|e-mail|monologue|dialogue|speech|script|lyrics|song|bio|caption|tweet|post|diary"
    r"|persona)\b.{0,80}:"
    r"|[^.!?\n]{0,60}\b(?:character|persona|protagonist|narrator|backstory|story|novel|screenplay|monologue|scene)"
    r"\b[^.!?\n]{0,30}:",
    re.IGNORECASE | re.DOTALL,
)
_GREETING = pattern(
    r"(?:hi|hey|hello|good (?:morning|evening|afternoon))(?: (?:there|everyone|all|again))?[.!]+$",
    re.IGNORECASE,
)
"""What belongs to the sentence after it: 'Hi! I'm Ann!' introduces somebody, 'I'm Batman!' does not."""
_EXCEPT = pattern(r"(?:except|apart from|other than) [^,;]{2,40}$", re.IGNORECASE)
"""What holds the sentence before it back: 'I can't stand musicals. Except Cats.'"""
_ABBREVIATED = word_set(
    """
    mr mrs ms dr prof st jr sr vs etc approx dept est fig inc ltd co corp no vol al ave blvd rd apt gen
    col sgt lt capt rev hon e.g i.e eg ie cf a.m p.m u.s u.k u.s.a ph.d b.a m.a b.sc m.sc d.c mt ft jan
    feb mar apr jun jul aug sep sept oct nov dec
    """
)
_MAY_END = frozenset(["etc", "a.m", "p.m", "u.s", "u.k", "u.s.a", "jr", "sr", "inc", "ph.d", "d.c", "no"])


def plain(text: str) -> str:
    """The text without what can't be seen, with straight apostrophes, and a full stop for a picture."""
    if text.isascii():
        return text if text.isprintable() else _INVISIBLE.sub("", text)
    text = _SINGLE.sub("'", _INVISIBLE.sub("", text)).replace("\u00a0", " ").replace("\u202f", " ")
    return _PICTURE.sub(". ", _ENDING_PICTURE.sub(" ", text))


def sentences(text: str) -> list[str]:
    """The sentences that the author says for themselves and means, in order, each in one line."""
    found: list[str] = []
    for sentence in _said(text):
        if found and TAKES_BACK.match(sentence):
            found.pop()
        elif found and goes_on(sentence, found[-1]):
            continue
        elif found and _EXCEPT.match(sentence):
            found[-1] = f"{found[-1].rstrip(' .!')} {sentence[:1].lower()}{sentence[1:]}"
        elif found and SLIP.match(sentence):
            found[-1] = f"{found[-1].rstrip(' .!')}, {sentence}"
        elif found and found[-1].endswith(("...", "…")) and TAKES_UP.match(sentence):
            found[-1] = TAKES_UP.sub("", sentence, 1)
        elif found and sentence.startswith("I") and _GREETING.match(found[-1]):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


def _said(text: str) -> list[str]:
    if recited(text):
        return []
    text = unpasted(plain(text))
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("\n", text)
    if _played(text):
        return []
    if _LETTER.match(text):
        return []
    if (pasted := _TASK_ON_TEXT.match(text)) is not None:
        return split(text[: pasted.end()])
    if "\n" not in text and not _is_code(text):
        return split(before_the_recital(text)) if _SPEAKER.match(text) is None else _labelled(text)
    found: list[str] = []
    for paragraph in _paragraphs(text):
        found.extend(split(paragraph))
        if len(found) >= MOST_SENTENCES:
            break
    return found[:MOST_SENTENCES]


def _played(text: str) -> bool:
    """Whether the message sets a scene, or asks for a text in another's voice."""
    start = text[:300].lower()
    return any(word in start for word in _PLAY_WORDS) and _PLAY.match(text) is not None


def _is_code(line: str) -> bool:
    return (not _CODE_MARKS.isdisjoint(line) or "()" in line or "//" in line) and _NOT_PROSE.match(
        line
    ) is not None


def _labelled(line: str) -> list[str]:
    """What follows a label of the author's own, and nothing of what somebody else is shown to say."""
    own = _OWN_LABEL.match(line)
    return split(line[own.end() :]) if own else []


def _paragraphs(text: str) -> list[str]:
    """The lines of prose; a line that goes on in the next is joined with it."""
    found: list[str] = []
    open_ended = False
    for line in text.split("\n"):
        if not line.strip() or _is_code(line):
            open_ended = False
            continue
        if _SPEAKER.match(line):
            if (own := _OWN_LABEL.match(line)) is None:
                open_ended = False
                continue
            line = line[own.end() :]
        line = before_the_recital(line)
        marker = _MARKER.match(line)
        body = (line[marker.end() :] if marker else line).strip()
        if open_ended and not marker and body[:1].islower():
            found[-1] += " " + body
        elif body:
            found.append(body)
        if (body[-1:] in ':"' and _PASTE.search(line[-200:])) or _TASK_ON_TEXT.match(line + "\n"):
            break
        open_ended = body[-1:].isalnum() or body[-1:] == ","
    return found


def split(text: str) -> list[str]:
    """Sentences of one paragraph, with their closing marks; never more than are looked at."""
    if "**" in text or "__" in text:
        text = text.replace("**", "").replace("__", "")
    if ".I" in text or ".My" in text or "!I" in text or "!My" in text:
        text = _RUN_ON.sub(". ", text)
    if " :" in text or " ;" in text or " =" in text or "<3" in text or "^" in text:
        text = _SMILEY.sub(".", text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if text[end.start()] == "." and _abbreviated(text, start, end.start()):
            continue
        if sentence := _one_line(text[start : end.end()]):
            found.append(sentence)
            if len(found) == MOST_SENTENCES:
                return found
        start = end.end()
    if start < len(text) and (last := _one_line(text[start:])):
        found.append(last)
    return found


def _one_line(text: str) -> str:
    text = text.strip()
    if len(text) < 2:
        return ""
    return " ".join(text.split()) if "  " in text or not text.isprintable() else text


_GERMAN_MONTH = pattern(r" (?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
"""What the dot after the number of a day comes before: 'am 4. März'."""


def _abbreviated(text: str, start: int, dot: int) -> bool:
    """Whether the dot there belongs to a word and ends no sentence."""
    if text[dot + 1 : dot + 2] == ".":
        return False
    word = text[max(start, dot - 12) : dot].rpartition(" ")[2].lower().lstrip("(\"'")
    after = text[dot + 1 : dot + 4].strip()
    if word.isdigit() and _GERMAN_MONTH.match(text, dot + 1):
        return True
    if word in _ABBREVIATED:
        return not (word in _MAY_END and after[:1].isupper())
    return len(word) == 1 and word.isalpha() and word != "i" and after[:1].isupper()


def prose(text: str) -> list[str]:
    """The lines of a text that are no code, whoever says them."""
    text = plain(text)
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("\n", text)
    lines = (line.lstrip("> \t") for line in text.split("\n"))
    return [
        line[marker.end() :] if (marker := _MARKER.match(line)) else line
        for line in lines
        if line.strip() and not _is_code(line)
    ]
