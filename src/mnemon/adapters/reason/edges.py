"""Where a sentence begins and ends to say something, and the sentences that say nothing of their author."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern

SELVES = word_set("i'm im i've ive i'll i'd i we we're we've we'll my our")
"""The words that a clause about its author begins with."""

_BEFORE_TELLING = word_set("think just also should forgot wanted want have must can need meant")
"""What may follow an 'I' that only leads up to what is told, as in 'I just wanted to mention'."""

_GREETED = either("hi+, he+y+, hello+, thanks, thank you, thx, yo, good morning, good evening")
_MUCH = either("so much, a lot, again, there, everyone, all, for asking")
_FILLERS = either(
    r"""
    wait, sorry(?=[:;.!\x2c]), i (?:almost |totally |completely )?forgot(?=[:;\x2c]), yeah, yes, yess,
    yep, yup, yea, no, nope, nah, well, so(?! (?:much|many)\b), oh, ah, aw, wow, ok, okay,
    sure, and, but, also, plus, anyway, anyways, besides, lol, haha, hmm, um, uh, true, right, great, cool,
    nice, awesome, definitely, absolutely, indeed, exactly, actually, honestly, personally, now, basically,
    luckily, fortunately, thankfully, sadly, unfortunately, however, additionally, moreover, btw, fyi,
    ps, p\.s\., speaking of \w+, by the way, of course, in fact, to be honest, tbh, to be fair, you
    know, fun fact, fact, for the record, for context, for reference, for what it's worth, just so you
    know, so you know, as for me, for me, as you know, as i (?:said|mentioned)(?: before| earlier)?,
    like i said, first of all, similarly, likewise, in addition, meanwhile, on the other hand,
    (?:it |as it )?turns out(?: that)?, correction, scratch that, i was wrong, my mistake,
    on (?:another|a different) note, in other news, since (?:we|i) last
    (?:spoke|talked|met|chatted)
    """
)
_REMINDED = (
    r"(?:please )?(?:note|remember|keep in mind|don't forget|know|be aware|bear in mind)|you should know"
    r"|(?:i think )?(?:it's|it is) worth (?:noting|mentioning)|the thing is|i (?:just |also )?(?:should"
    r"|forgot to|wanted to|want to|have to|must|can|need to|'d like to)"
    r"(?: also| just)? (?:mention|say|add|tell you|point out|note|share)|i meant to (?:say|write|type)"
)
_GIVEN = either(
    r"""
    since(?! (?:I|we|my \w+) (?:was|were)\b[^\x2c;]*$), because, now that, given that, considering(?: that)?,
    although, though, even though, seeing that
    """
)
_LEAD = pattern(
    rf"(?:(?:{_GREETED})(?: (?:{_MUCH}))?(?: (?-i:[A-Z])[\w'-]*)?[,!.: -]+|(?:{_FILLERS}"
    rf"|(?:{_REMINDED})(?: that)?|{_GIVEN})[,!.: -]+)(?=\S)",
    re.IGNORECASE,
)
_FOUND_OUT = pattern(
    r"(?:my|the) (?:doctor|gp|allergist|specialist|dermatologist|psychiatrist|(?:blood |allergy )?tests?"
    r"|results?) (?:says?|said|shows?|showed|confirmed|found|told me)(?: that)? (?=I(?:'m| am| have|'ve)\b)",
    re.IGNORECASE,
)
"""Who knows better: 'the test says I'm allergic to nuts' is as good as said."""
_ADDRESSED = pattern(r"[A-Z][a-z]+,\s+(?=(?:I|my|we)\b)")

_REMARKS = either(
    """
    it, it's, that, that's, this, there, there's, you, let, let's, what, how, can, could, do you, does,
    did you, any, please, thanks, thank, right, here, here's, maybe, hopefully, fingers crossed, is it,
    is there, was, so, haha, lol, huh, eh, ok, okay, whatever, take a look, look at, check out,
    (?:nice|pleased|great|good) to meet
    """
)
_ASIDES = either(
    """
    it, it's, that, that's, you, you're, maybe, hopefully, i hope, i think, i guess, was wondering, am
    wondering, would, could, let, this, there, (?:need|want|am looking for|looking for)
    (?:some|help|advice|ideas|to (?:know|see|make))
    """
)
_TAIL = pattern(
    rf"(?:,|\s[-–—]+|…|\.\.\.)\s*(?:(?:and|but|so|though|as|which|plus|just)\s+)*(?:{_REMARKS})\b.*$"
    rf"|\s+(?:and|but|so)\s+(?:{_ASIDES})\b.*$"
    r"|,?\s+(?:while|like|as|since|just like) (?:you|your)\b.*$|,\s+(?:but|so)\b[^,]{0,12}$",
    re.IGNORECASE,
)
_JOINTS = (
    ",",
    "-",
    "–",
    "—",
    "…",
    "...",
    " and ",
    " but ",
    " so ",
    " while ",
    " like ",
    " as ",
    " since ",
    " just ",
)
"""One of these is in whatever ends in a remark."""
_LAST_WORDS = word_set(
    "too well though way btw actually lol haha please thanks honestly know and but so or then"
)
_LAST = pattern(
    r"(?:(?:,?\s+|^)(?:too|as well|though|by the way|btw|actually|lol|haha|please|thanks|honestly"
    r"|you know|and|but|so|or|then))+$",
    re.IGNORECASE,
)
_ASKED = pattern(
    r"(?:,|;|\s[-–—]+|,?\s(?:and|so|but))\s+(?:and\s+|so\s+|but\s+)?(?:"
    + either(
        """
        can, could, would, will, what, what's, which, how, where, when, who, why, do, does, did, any, is,
        are, should, have you, may, got any, was wondering, i was wondering, i'm wondering, wondering
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_UNREAL = pattern(
    r"(?:if|imagine|suppose|pretend|what if|let's say|say i|i wish|were i|had i|unless|assuming|in case"
    r"|as an ai|as a language|i (?:dreamed|dreamt) (?:that )?(?:i|we|my))\b",
    re.IGNORECASE,
)
_MOST_QUOTES = 12
_QUOTE = pattern(r"[\"“]([^\"“”]*)[\"”]")
_SAYS = pattern(r"(?:\bsaid|\bsays|\btold|\basked|\bwrote|\bsaying|\breplied|\blike|:|,)\s*$")
_SPEAKER = pattern(r"\b(?:I|I'm|I've|me)\b")


_VALUE = r"(?:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?|\d[\w:/-]*)"
_SURE_SLIP = "no,? wait|wait,? no|oh wait|i mean|i meant|scratch that|correction|make that|or rather"
_SLIP = rf"(?i:{_SURE_SLIP}|sorry|oops)"
_SLIPPED = pattern(
    rf"(?P<wrong>{_VALUE})(?:\s*(?:,|…|\.\.\.|[-–—]+)\s*{_SLIP})+\s*[,:]?\s*(?i:it's |i'm |in |at )?"
    rf"(?P<right>{_VALUE})[.!]*$"
)
_TAKEN_UP = pattern(
    r"\s*(?:,|…|\.\.\.|[-–—]+)\s*(?:no,? wait|wait,? no|scratch that)\b[,:]?\s*", re.IGNORECASE
)
TAKES_UP = pattern(
    r"(?:no,? wait|wait,? no|scratch that|no(?=,? (?:my|our|the)\b))\b[,:]?\s*(?=\S)", re.IGNORECASE
)
"""How a sentence begins that says anew what the one before it left off."""
_NOT_AFTER_ALL = pattern(
    r"\bbut (?:it|that|this) (?:turned out|turns out|was(?:n't| not| an?)? (?:\w+ )?"
    r"(?:true|so|mistake|mix-?up|joke|lie)"
    r"|isn't (?:true|so)|never happened|fell through|didn't (?:happen|work out))\b",
    re.IGNORECASE,
)
SLIP = pattern(rf"(?i:{_SURE_SLIP})[,:]? (?i:it's |i'm |in |at )?{_VALUE}[.!]*$")
"""A sentence that puts the last word of the one before it right: 'No wait, Basel.'"""


def put_right(text: str) -> str:
    """The text with what it puts right at its end itself: 'in Basel' of 'in Bern, no wait, Basel'."""
    slip = _SLIPPED.search(text)
    if slip is None or slip["wrong"][0].isdigit() != slip["right"][0].isdigit() or slip["wrong"] == "I":
        return text
    return text[: slip.start()] + slip["right"]


def unslipped(text: str) -> str:
    """The text after what it takes back and does not put right by a word: 'I named my cat... no wait, ...'"""
    slips = list(_TAKEN_UP.finditer(text)) if "wait" in text.lower() or "scratch" in text.lower() else []
    return text[slips[-1].end() :] if slips else text


def taken_back(remark: str) -> bool:
    """Whether what is added tells that it was not so after all: 'but it turned out to be a mistake'."""
    return _NOT_AFTER_ALL.search(remark) is not None


def opened(text: str) -> str:
    """The text from where it says something: without greetings, fillers and 'remember that'."""
    if found_out := _FOUND_OUT.match(text):
        text = text[found_out.end() :]
    for _ in range(5):
        first, _, rest = text.partition(" ")
        if first.lower() in SELVES and (
            first != "I" or rest.partition(" ")[0].rstrip(":;,") not in _BEFORE_TELLING
        ):
            break
        lead = _LEAD.match(text) or _ADDRESSED.match(text)
        if lead is None:
            break
        text = text[lead.end() :]
    return text


def ended(text: str) -> str:
    """What follows the verb without what is only added: a remark, a question, a word of thanks."""
    if any(mark in text for mark in _JOINTS) and (tail := _TAIL.search(text)):
        text = text[: tail.start()]
    if text.rpartition(" ")[2].lower() in _LAST_WORDS and (last := _LAST.search(text)):
        text = text[: last.start()]
    return text


def before_the_question(text: str) -> str:
    """What is told before something is asked in the same sentence, e.g. 'I'm vegan, what can I eat?'."""
    if text.partition(" ")[0].lower() not in SELVES:
        return ""
    asked = _ASKED.search(text)
    return text[: asked.start()] if asked else ""


def unreal(text: str) -> bool:
    """Whether it begins as something imagined."""
    return _UNREAL.match(text) is not None


def quotes_somebody(text: str) -> bool:
    """Whether somebody's words are in it; a title in quotes is no such thing."""
    if '"' not in text and "“" not in text:
        return False
    if text.count('"') % 2 == 1 or text.count('"') + text.count("“") > _MOST_QUOTES:
        return True
    return any(
        _SAYS.search(text, max(0, quote.start() - 16), quote.start()) or _SPEAKER.search(quote[1])
        for quote in _QUOTE.finditer(text)
    )
