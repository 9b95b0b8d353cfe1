"""What a peer asks of the agent for good: how to call them, how to answer."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import LANGUAGES, word_set
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.values import line
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.pattern import pattern

MOST_INSTRUCTION = 160

_LEADS = either(
    """
    hi, hey, hello, ok, okay, also, and, but, so, oh, btw, by the way, well, please, pls, just,
    remember(?: to)?, make sure(?: to| that you| you)?, i want you to, i'd like you to,
    i would like you to, i need you to, i prefer that you, you can, you should, feel free to, could you,
    can you, instead
    """
)
_LEAD = pattern(rf"(?:(?:{_LEADS})\b[,:!]?\s+)+", re.IGNORECASE)
_NICKNAME = (
    r"[\"'“]?(?P<name>(?:Dr\. |Mr\. |Ms\. |Mrs\. |Prof\. )?[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,2})[\"'”]?"
)
_CALL = pattern(
    rf"(?i:(?:always |just |please )*(?:call|address) me(?: by my (?:nick)?name,?| as)?) {_NICKNAME}"
)
_CALLED = pattern(
    r"(?i:(?:my friends|people|friends|everyone|everybody|most people|they|folks)(?: usually| all| just"
    r"| always)?"
    rf" call me) {_NICKNAME}"
)
_NOT_NAMES = word_set("later back tomorrow when if at on crazy maybe today tonight asap a an the")

_TO_SAY = word_set(
    """
    answer reply respond speak talk write explain format call address greet sign cite spell translate
    mention apologise apologize swear
    """
)
_TO_DO = word_set(
    "say use avoid keep be give include add ask end start begin show round refer remind provide put send"
    " assume convert"
)
_MANNERS = LANGUAGES | word_set(
    """
    emoji emojis markdown bullet bullets answer answers reply replies response responses sentence
    sentences message messages unit units metric imperial celsius tone short concise brief formal
    informal polite kind blunt direct honest example examples comment comments citation citations source
    sources link links name names me my jargon slang pronouns code they/them she/her he/him
    """
)
_FROM_NOW_ON = pattern(
    r"(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|in all (?:your )?(?:replies"
    r"|answers|responses))"
    r",? (?:please )?",
    re.IGNORECASE,
)
_TILL_THE_END = pattern(r"\b(?:from now on|going forward|every time)$", re.IGNORECASE)
_ALWAYS = pattern(r"(?:always|never|only|do not|don't) ", re.IGNORECASE)
_UNWANTED = either(
    r"""
    emojis?, emoticons?, markdown, bullet(?: points?|s)?, jargon, slang, exclamation (?:marks|points),
    em.?dashes, abbreviations, headers, filler, disclaimers, sarcasm, apologi[sz]ing, apologies,
    swear words, hashtags, tables, buzzwords
    """
)
_STYLE = pattern(
    r"(?:don't|do not|avoid|stop|no more|never)\s+(?:ever\s+)?(?:us(?:e|ing)|includ(?:e|ing)|add(?:ing)?"
    r"|writ(?:e|ing)|say(?:ing)?|send(?:ing)?|mak(?:e|ing)|giv(?:e|ing) me|put(?:ting)?)?\s*(?:so many "
    r"|any |with )?"
    rf"(?:{_UNWANTED})\b"
    r"|(?:don't|do not) (?:call me|apologi[sz]e|be so formal|talk to me in|swear)\b|keep (?:your|the"
    r"|all) (?:answers|replies|responses|messages|explanations)"
    r" (?:\w+ )?(?:short|brief|concise|simple|polite|formal|informal|casual|under|to|below)\b|be (?:more "
    r"|very |always )?(?:concise|brief|direct|succinct|formal|informal|blunt)"
    r"(?: with me| in your (?:answers|replies|responses))?$|use (?:metric|imperial|celsius|fahrenheit"
    r"|(?:simple|plain) language|plain english|british|american|24.hour|my first name|he/|she/|they/)",
    re.IGNORECASE,
)
_IN_A_LANGUAGE = pattern(r"(?:answer|reply|respond|speak|talk)(?: to me)?(?: only)? in (\w+)$", re.IGNORECASE)
_ATTACK = pattern(
    r"\b(?:"
    + either(
        """
        system prompt, previous, prior, above, instructions?, ignore, disregard, reveal, passwords?,
        secrets?, tokens?, jailbreak, developer mode, rules?, policy, policies, restrictions?, filters?,
        uncensored, unrestricted, execute, curl, https?, rm -rf, sudo, api keys?, credentials?, admin,
        exfiltrate, base64, hidden, override, bypass
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_OPENERS = (
    _TO_SAY
    | _TO_DO
    | word_set(
        """
    always never from going in don't do stop no my people friends everyone everybody most they folks hi
    hey hello ok okay also and but so oh btw by well please pls just remember make i i'd you feel could
    can instead
    """
    )
)
"""What a standing request begins with: its greeting, or itself."""


def asked(sentence: str, words: list[str]) -> tuple[str, str] | None:
    """The words of a standing request, and its line on a card; None for what is asked once.

    A request that smells of an attack on the agent's own rules is none: memory must not carry it.
    """
    if words[0].strip(",!") not in _OPENERS or len(sentence) > MOST_INSTRUCTION or sentence.endswith("?"):
        return None
    text = sentence.strip(" .!\"'*")
    lead = _LEAD.match(text)
    bare = text[lead.end() :] if lead else text
    if bare.partition(" ")[0].lower() not in _OPENERS or _ATTACK.search(text) or not_meant(text):
        return None
    if (called := _CALL.match(bare) or _CALLED.match(bare)) and called["name"].lower() not in _NOT_NAMES:
        return bare, line("Goes by", called["name"]) or ""
    return (bare, line("Instruction", bare) or "") if _for_good(bare) or _STYLE.match(bare) else None


def _for_good(text: str) -> bool:
    """Whether it is about how to answer, now and later."""
    if (language := _IN_A_LANGUAGE.match(text)) and language[1].lower() in LANGUAGES:
        return True
    lasting = _TILL_THE_END.search(text) is not None
    if later := _FROM_NOW_ON.match(text):
        text, lasting = text[later.end() :], True
    if always := _ALWAYS.match(text):
        lasting = lasting or always[0].lower() in ("always ", "never ")
        text = text[always.end() :]
    words = text.lower().replace(",", " ").split()
    if not lasting or not words:
        return False
    return words[0] in _TO_SAY or (words[0] in _TO_DO and not _MANNERS.isdisjoint(words[1:]))
