"""The rules by which `usermodel.py` judges one conclusion; they know nothing of how it was made.

`judge` gives the name of the first rule that a conclusion breaks, or None. In their order:

- `attribution`: a quotation is of the peer whose message is cited.
- `whole`: it has a verb (or the question that it answers), is no longer than 36 words, closes its quotes, and
  breaks off nowhere ('and the').
- `subject`: it begins with the peer, with what is theirs, or with something named; never with a bare
  pronoun (it, that, this, they, he, she, there), unless the question that it answers stands beside it and
  has a content word of its own. If it says that the peer does something, then the cited line says so of
  'I' or 'we', or leaves the subject out; if of something of theirs, the line says 'my', 'our' or 'the'.
- `address`: nothing that is said to or about the listener ('you'), no thanks, greeting, wish or request.
- `asked`, `imagined`, `quoted`: the sentence it comes from is no question, names no condition, and it drops
  none of its hedges (maybe, might, could, would, should, hope, think, wish); nobody else says it.
- `supported`: each of its content words stands in a cited line (or in the question beside it), in some form;
  it negates where the line negates, and only there.
- `dated`: a day in brackets is the day that the words before it mean, seen from the line's own day.
- `trivial`: an answer beside its question has a content word that the question has not. Anything else has
  two content words beside the name and the words of mood and praise, or one that is a name, a number, or what
  somebody loves or hates. 'Ann is so happy', 'Ann loves it', 'Ann's kids are amazing' say nothing, nor does a
  saying about everyone ('hard work gets us there').
- `pointing`: an 'it', 'them', 'him', 'her', 'there' or a bare 'this' has something before it to mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

RULES = (
    "attribution",
    "whole",
    "subject",
    "address",
    "asked",
    "imagined",
    "quoted",
    "supported",
    "dated",
    "trivial",
    "pointing",
)
_MOST_WORDS = 36


class Line(NamedTuple):
    """A cited message: who said it, when, and what."""

    peer: str
    day: date
    text: str


_SAID = re.compile(r'^(?P<who>.{1,80}?) said: "(?P<quote>[^"]*)"(?:, asked "(?P<asked>[^"]*)")?$', re.DOTALL)
_ASKED = re.compile(r',? asked "(?P<asked>[^"]*)"$')
_BRACKET = re.compile(r"\s*\((?P<kind>week of |weekend of |about )?(?P<day>\d{4}(?:-\d\d){0,2})\)")
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[?!.;,]")
_NOT = re.compile(r"n't\b|(?<=can)not\b")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRONOUNS = _set(
    "it it's its it'll it'd that that's this these those they they're they've they'll he he's she she's"
    " there there's their his her hers him them which who here here's such"
)
_SELVES = _set(
    "i i'm im i've ive i'll i'd we we're we've we'll we'd my our me us mine myself ourselves gonna gotta"
)
_OTHERS = _set(
    "you you're you've you'll you'd your he he's she she's they they're they've it it's who that which"
    " people everyone someone nobody"
)
_STOP = _set(
    """
    a an the and or but so if of to in on at by for with from as into about over after before than then
    too is are was were be been being am has have had having do does did doing done will would can could
    may might shall should must not no nor never n't this that these those it its they them their theirs
    themselves he him his she her hers we us our i me my you your who whom whose which what when where
    why how there here also just very really so much many more most some any all both each every other
    another such own same only even still already again ever up out off down back away go goes going
    went get gets got getting make makes made thing things something anything everything stuff lot lots
    bit kind sort way one ones like yes no yeah well oh hey now lately recently always how'd how're
    how's how've what'd what're where'd doin because cause since while though although until till during
    through between around gonna gotta isn't aren't wasn't weren't don't doesn't didn't can't cannot
    couldn't won't wouldn't hasn't haven't hadn't shouldn't it's that's there's i'm i've i'll i'd we're
    we've we'll they're they've he's she's let's what's who's said asked says say
    """
)
_MOOD = _set(
    """
    great awesome amazing good nice cool fun wonderful lovely fantastic incredible beautiful perfect best
    better bad fine okay ok happy glad excited proud thankful grateful lucky sorry sad tired busy stoked
    thrilled pumped blessed super totally definitely absolutely truly pretty quite special sweet cute love
    loves loved like likes liked enjoy enjoyed feel feels felt feeling think thinks thought know knows hope
    hopes blast time day days moment moments wow thanks thank congrats appreciate agree sure true right
    important inspiring motivating rewarding support exciting crazy wild insane unreal world mean means
    excitement joy tough hard easy
    """
)
_OPENINGS = _set(
    """
    thanks thank thx congrats congratulations hi hey hello bye wow welcome please let let's check take
    look keep remember imagine tell don't haha lol yes yess woohoo yay no yeah yep sure agreed exactly
    glad good cheers sounds
    """
)
_LEFT_HANGING = _set(
    """
    a an the and or but so of to in at by for with from as into about than my our their your his its if
    because very really is are was were be been has have had do does did will would can could which that
    who whose when where while since i we not
    """
)
_MAY_HANG = _set(
    "in at by for with from about to of on as so is are was were do does did have has had been that"
)
_HEDGES = _set(
    "maybe perhaps probably possibly might could would should wouldn't couldn't hopefully think guess suppose"
    " hope wish imagine"
)
_NEGATORS = _set(
    "not no never nobody nothing none isn't aren't wasn't weren't don't doesn't didn't can't cannot couldn't"
    " won't wouldn't hasn't haven't hadn't ain't without longer dont cant"
)
_AUXILIARIES = _set(
    "is are was were am has have had do does did will would can could may might must shall should isn't"
    " aren't wasn't weren't don't doesn't didn't can't cannot won't hasn't haven't hadn't i'm i've i'll we're"
    " we've we'll 's gonna gotta goes got it's they're he's she's there's that's"
)
_PASTS = _set(
    """
    began bought broke brought built came caught chose cut did drew drove ate fell felt fought found
    flew forgot gave went grew had heard held hid hit hurt kept knew led left lent let lost made meant
    met paid put quit read rode rang rose ran said saw sold sent set shot sang sat slept spoke spent
    stood stuck swam took taught tore told thought threw understood woke wore won wrote became got
    became lit stole
    """
)
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
    )
} | {"a": 1, "an": 1}
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def judge(
    text: str, about: str, lines: Sequence[Line], others: Sequence[str] = (), listener: str = ""
) -> str | None:
    """The rule that a conclusion about that peer breaks; `others` are the lines before the cited ones."""
    said = _SAID.match(text)
    asked = (said["asked"] if said else None) or ""
    own = [line for line in lines if line.peer == about]
    if not own or (said and said["who"] != about):
        return "attribution"
    bare = _BRACKET.sub("", said["quote"] if said else _ASKED.sub("", text))
    if not asked and (beside := _ASKED.search(text)):
        asked = beside["asked"]
    words = _words(bare)
    name = _words(about)
    heard = [*name, *_words(listener)]
    sentence = _nearest(bare, own)
    checks = {
        "whole": _whole(words, name, bare, asked),
        "subject": _subject(words, name, sentence, asked, quoted=said is not None),
        "address": _address(words),
        "asked": not _in_a_question(words, sentence),
        "imagined": _real(words, sentence),
        "quoted": not _of_another(_content(words, name), sentence),
        "supported": _supported(words, name, own, [*others, asked], sentence),
        "dated": all(_right_day(text, found, own) for found in _BRACKET.finditer(text)),
        "trivial": _telling(bare, words, heard, asked) and not (said and not asked and _saying(bare, words)),
        "pointing": _pointed(words, name, asked),
    }
    return next((rule for rule in RULES[1:] if not checks[rule]), None)


def _words(text: str) -> list[str]:
    """The words in small letters, with a 'not' of its own for each 'n't'."""
    plain = _NOT.sub(
        " not", text.lower().replace("’", "'").replace("can't", "can not").replace("won't", "will not")
    )
    return [word for word in _TOKEN.findall(plain) if word[0].isalnum()]


def _sentences(text: str) -> Iterator[str]:
    return (part.strip() for part in _SENTENCE.split(text.replace("’", "'")) if part.strip())


def _forms(word: str) -> set[str]:
    """A word cut to what its forms have in common."""
    word = word.removesuffix("'s").removesuffix("'")
    forms = {word}
    for ending in ("ies", "es", "s", "ed", "ing", "d", "ying"):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            cut = word[: -len(ending)]
            forms |= {cut, cut + "e", cut + "y"}
            if len(cut) > 3 and cut[-1] == cut[-2]:
                forms.add(cut[:-1])
    return forms


def _alike(one: str, other: str) -> bool:
    return bool(_forms(one) & _forms(other))


def _content(words: Sequence[str], name: Sequence[str]) -> list[str]:
    names = {*name, *(word + "'s" for word in name)}
    return [word for word in words if word not in _STOP and word not in names]


def _nearest(bare: str, own: Sequence[Line]) -> str:
    """The sentence of the cited lines that shares most of its words, and most of itself, with it."""
    wanted = set(_words(bare))
    sentences = [sentence for line in own for sentence in _sentences(line.text)] or [""]

    def nearness(sentence: str) -> float:
        words = set(_words(sentence))
        return len(words & wanted) - 0.01 * len(words)

    return max(sentences, key=nearness)


def _whole(words: Sequence[str], name: Sequence[str], bare: str, asked: str) -> bool:
    if asked and 0 < len(words) <= _MOST_WORDS:
        return words[-1] not in _LEFT_HANGING or words[-1] in _MAY_HANG
    if not 2 <= len(words) <= _MOST_WORDS or bare.count('"') % 2 or bare.count("(") != bare.count(")"):
        return False
    if words[-1] in _LEFT_HANGING and words[-1] not in _MAY_HANG:
        return False
    if words[-1] in ("to", "of", "with", "for", "as", "is", "are", "was", "were") and len(words) < 5:
        return False
    return any(
        word in _AUXILIARIES
        or word in _PASTS
        or (word.endswith(("ed", "s")) and len(word) > 3)
        or (before in ("i", "we", *_PLURAL) and word not in _STOP)
        or (before.endswith("s") and word not in _STOP)
        for before, word in zip(["", *words], words, strict=False)
        if word not in name
    )


_PLURAL = ("they", "you", "people", "kids", "children", "parents", "friends", "and")


def _subject(words: list[str], name: list[str], sentence: str, asked: str, *, quoted: bool) -> bool:
    first = words[0] if words else ""
    if first in _PRONOUNS and not (first in ("this", "that", "these", "those", "such") and _noun(words)):
        return bool(_content(_words(asked), name)) and first not in ("which", "who", "here", "here's")
    if quoted or words[: len(name)] not in (name, [*name[:-1], name[-1] + "'s"]):
        return True
    source = _words(sentence)
    if words[len(name) - 1].endswith("'s"):
        return bool({"my", "our", "the", "mine", "ours"} & set(source)) or bool(asked)
    acts = [word for word in words[len(name) :] if word not in _STOP or word in ("got", "made", "went")]
    if not acts:
        return bool(_SELVES & set(source))
    at = next((at for at, word in enumerate(source) if _alike(word, acts[0])), None)
    if at is None:
        return bool(asked)
    if (
        words[len(name) : len(name) + 1] == ["is"]
        and source[at].endswith("ing")
        and not _SELVES & set(source[:at])
    ):
        return bool(asked)
    for word in reversed(source[:at]):
        if word in _SELVES:
            return True
        if word in _OTHERS:
            return bool(_SELVES & set(source[:at])) and word in ("that", "who", "which", "it")
    return at <= 4 or bool(asked)


def _noun(words: Sequence[str]) -> bool:
    """Whether 'this' or 'that' at the start belongs to a noun."""
    return len(words) > 1 and words[1] not in _STOP and words[1] not in _MOOD


def _address(words: Sequence[str]) -> bool:
    spoken_to = {"you", "your", "you're", "you've", "you'll", "you'd", "yours", "ya", "yourself"}
    return not spoken_to & set(words) and bool(words) and words[0] not in _OPENINGS


def _in_a_question(words: Sequence[str], sentence: str) -> bool:
    """Whether its last content word stands in the part of the sentence that asks."""
    if not sentence.endswith("?"):
        return False
    asking = re.split(r"[,;–—]|\s-\s|\b(?:and|but|so)\b", sentence)[-1]
    last = _content(words, ())[-1:]
    return any(_alike(word, one) for word in _words(asking) for one in last)


def _span(words: Sequence[str], sentence: str) -> list[str]:
    """The stretch of the sentence between the first and the last word that they share."""
    source = _words(sentence)
    content = [word for word in words if word not in _STOP]
    shared = [at for at, word in enumerate(source) if any(_alike(word, one) for one in content)]
    if not shared:
        return []
    start = shared[0]
    while start > 0 and (source[start - 1] in _STOP or source[start - 1] in _HEDGES):
        start -= 1
        if source[start] in ("and", "but", "because", "so", "as", "since", "that"):
            break
    return source[start : shared[-1] + 1]


def _real(words: Sequence[str], sentence: str) -> bool:
    span = _span(words, sentence)
    if "if" in words and not {"see", "ask", "asked", "wonder", "know"} & set(words):
        return False
    if "if" in span and "if" not in words:
        return False
    told = set(words)
    for word in span:
        if word in _HEDGES and not any(_alike(word, one) for one in told):
            return False
    return not {"maybe", "perhaps", "imagine", "wish", "guess"} & set(words[:4])


def _of_another(content: Sequence[str], sentence: str) -> bool:
    """Whether most of it stands in quotes after somebody's 'said'."""
    for found in re.finditer(r"[\"“]([^\"”]+)[\"”]", sentence):
        before = _words(sentence[: found.start()])[-3:]
        inside = [word for word in _words(found[1]) if word not in _STOP]
        reported = {"said", "says", "told", "asked", "saying", "like", "wrote"} & set(before)
        shared = sum(any(_alike(word, one) for one in inside) for word in content)
        if reported and shared * 2 > len(content):
            return True
    return False


def _supported(
    words: Sequence[str], name: Sequence[str], own: Sequence[Line], beside: Sequence[str], sentence: str
) -> bool:
    told = {form for line in own for word in _words(line.text) for form in _forms(word)}
    told |= {form for text in beside for word in _words(text) for form in _forms(word)}
    for word in _content(words, name):
        if not _forms(word) & told and word not in _PASTS:
            return False
    span = [word for word in _span(words, sentence)]
    negated = any(word in _NEGATORS or word.endswith("n't") for word in words)
    return negated == any(word in _NEGATORS or word.endswith("n't") for word in span) or not span


def _telling(bare: str, words: Sequence[str], name: Sequence[str], asked: str) -> bool:
    content = {word for word in _content(words, name) if word not in _MOOD}
    if asked:
        known = _words(asked)
        return any(not any(_alike(word, one) for one in known) for word in content)
    liked = {"love", "loves", "enjoy", "enjoys", "likes", "hates"} & set(words)
    if len(content) >= (1 if liked else 2):
        return True
    proper = re.findall(r"(?<=[a-z,] )[A-Z]\w+|\d+", bare)
    return bool(content) and any(word.lower() not in name for word in proper)


def _saying(bare: str, words: Sequence[str]) -> bool:
    """Whether it holds for everybody and not for the peer: no 'I', no 'we' that acts, no past, no name."""
    if {"i", "me", "my", "mine", "myself", "i'm", "i've", "i'll", "i'd"} & set(words):
        return False
    if words[0] in ("we", "we're", "we've", "we'll", "our") or re.search(r"[a-z,] [A-Z]|\d", bare):
        return False
    return not any(word in _PASTS or word in ("was", "were", "had") or word.endswith("ed") for word in words)


def _pointed(words: Sequence[str], name: Sequence[str], asked: str) -> bool:
    if asked and _content(_words(asked), name):
        return True
    for at, word in enumerate(words):
        bare_this = word in ("this", "that", "these", "those") and (
            at + 1 == len(words) or (words[at + 1] in _STOP and word in ("this", "these", "those"))
        )
        if word in ("it", "them", "him", "it's", "there") or bare_this:
            before = _content(words[:at], name)
            own_they = word == "them" and (set(words[:at]) & {*name, "they", "their"})
            if len(before) < 2 and not own_they and word != "there":
                return False
        if word in ("there", "here") and at + 1 == len(words) and len(_content(words[:at], name)) < 2:
            return False
    return True


def _right_day(text: str, found: re.Match[str], own: Sequence[Line]) -> bool:
    """Whether the day in brackets is what the words before it mean, on the day of one of the lines."""
    phrase = " ".join(_words(text[: found.start()])[-5:])
    return any(_means(phrase, line.day, found["kind"] or "", found["day"]) for line in own)


def _means(phrase: str, said: date, kind: str, day: str) -> bool:
    told = [int(part) for part in day.split("-")]
    if len(told) == 1:
        return abs(told[0] - said.year) <= 100 and _year(phrase, said) in (None, told[0])
    if len(told) == 2:
        wanted = _month(phrase, said)
        return wanted is None or wanted == (told[0], told[1])
    meant = date(*told)
    if kind == "about ":
        return abs((said - meant).days) < 800 and meant != said
    if kind == "week of ":
        monday = said - timedelta(days=said.weekday())
        weeks = -1 if "last" in phrase or "past" in phrase else 1 if "next" in phrase else 0
        return meant == monday + timedelta(weeks=weeks) or (" ago" in phrase and meant < said)
    if kind == "weekend of ":
        return meant.weekday() == 5 and abs((meant - said).days) <= 16 and _side(phrase, meant, said)
    return _means_day(phrase, said, meant)


def _means_day(phrase: str, said: date, meant: date) -> bool:
    for word, offset in (("before yesterday", -2), ("after tomorrow", 2), ("yesterday", -1), ("tomorrow", 1)):
        if word in phrase:
            return meant == said + timedelta(days=offset)
    if "last night" in phrase:
        return meant == said - timedelta(days=1)
    if re.search(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", phrase):
        return meant == said
    if ago := re.search(r"(\w+) days? ago", phrase):
        number = _NUMBERS.get(ago[1]) or (int(ago[1]) if ago[1].isdigit() else None)
        return number is not None and meant == said - timedelta(days=number)
    for at, weekday in enumerate(_WEEKDAYS):
        if re.search(rf"\b{weekday[:3]}(?:{weekday[3:]}|s|rs|nes|urs)?\b", phrase):
            return meant.weekday() == at and abs((meant - said).days) <= 8 and _side(phrase, meant, said)
    return "in" in phrase.split() and meant > said


def _side(phrase: str, meant: date, said: date) -> bool:
    if "last" in phrase or "past" in phrase:
        return meant <= said
    return "next" not in phrase or meant > said


def _year(phrase: str, said: date) -> int | None:
    for words, offset in (("last year", -1), ("next year", 1), ("this year", 0)):
        if words in phrase:
            return said.year + offset
    if ago := re.search(r"(\w+) years? (?:ago|back)", phrase):
        number = _NUMBERS.get(ago[1]) or (int(ago[1]) if ago[1].isdigit() else None)
        return said.year - number if number else None
    return None


def _month(phrase: str, said: date) -> tuple[int, int] | None:
    steps = {"last month": -1, "next month": 1, "this month": 0}
    for words, step in steps.items():
        if words in phrase:
            year, month = divmod(said.year * 12 + said.month - 1 + step, 12)
            return year, month + 1
    return None
