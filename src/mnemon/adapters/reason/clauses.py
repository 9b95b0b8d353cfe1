"""From a sentence to its clauses: who is its subject, what do they do, and how certain is it."""

from __future__ import annotations

import re
from typing import NamedTuple

from mnemon.adapters.reason.edges import (
    SELVES,
    before_the_question,
    ended,
    opened,
    put_right,
    quotes_somebody,
    taken_back,
    unreal,
    unslipped,
)
from mnemon.adapters.reason.language import is_abroad
from mnemon.adapters.reason.lexicon import (
    ACQUAINTANCES,
    RELATIVES,
    VERBS,
    base_of_past,
    base_of_third,
    word_set,
)
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.unsaid import in_full
from mnemon.adapters.reason.verbs import Group, verb_group
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.pattern import pattern

MOST_SENTENCE = 1000
MOST_CLAUSE = 300
MOST_CLAUSES = 12


class Clause(NamedTuple):
    """One thing that a peer says of themselves or of theirs.

    `subject` is I, we, my or our (then `owned` is what is theirs, as in 'my sister Ana'), both ('my
    sister and I') or none, where it was left out. `prefix` is what stood before it: 'last Friday'.
    """

    text: str
    prefix: str
    subject: str
    owned: str
    group: Group
    rest: str

    @property
    def lemma(self) -> str:
        return self.group.lemma

    @property
    def tense(self) -> str:
        return self.group.tense

    @property
    def holds(self) -> bool:
        """Whether it is so at present."""
        return self.tense in ("now", "going", "perfect", "state") and not self.group.negated

    @property
    def happened(self) -> bool:
        """Whether it was done, and not only begun ('I was moving') or meant ('I was going to move')."""
        done = self.tense in ("past", "perfect") and "was" not in self.group.said.split()
        return done and not self.group.negated


_JOINT = pattern(
    r"(?:\s*;\s*|,?\s+(?:and|but|plus|so|yet)\s+(?:also\s+|then\s+|now\s+|(?:by the way|btw),?\s+)?|,\s+"
    r"|\s*[-–—]+\s+|\s*\.\.\.\s*|—)"
    r"(?=(?:(?:yesterday|today|tomorrow|last \w+|recently) )?"
    r"(?:i|i'm|im|i've|ive|i'll|i'd|we|we're|we've|we'll|my|me and my)\b(?!\s+(?:and|or)\s+i\b))",
    re.IGNORECASE,
)
_HALF_SUBJECT = pattern(
    r"\b(?:where|when|while|because|and|that|as|since|after) my(?: [\w'-]+){1,3}$", re.IGNORECASE
)
_SO_THAT = pattern(r"\bso\s$")
_CONDITION = pattern(
    r"\b(?:but|and|so|because|that) (?:when|whenever|once|as long as|every time|each time)"
    r" (?:I|we|they|he|she|it|people|things|life|someone|somebody|everyone)\b[^,;.!?]*,\s*$",
    re.IGNORECASE,
)
_HOLDS_NOW = frozenset(["now", "state", "can", "future"])
"""The tenses of what holds only then if a condition stands before it."""
_CAN = pattern(r"\b(?:can|will|won't|can't)\b")
_REPORTED = word_set(
    """
    said says saying told tells thinks think thought asked asks claims claimed wrote writes according
    replied heard assumes believes guess believe suppose hope wish bet imagine if unless whether
    """
)
_HEDGES = word_set(
    """
    if would wouldn't could might mightn't maybe perhaps probably possibly wish unless whether
    should shouldn't shall imagine pretend supposedly hypothetically you your you're yours you've you'll you'd
    u ya
    """
)
_DAYS = either(
    """
    week, weekend, month, year, night, day, days, morning, afternoon, evening, summer, spring, fall,
    autumn, winter, (?:mon|tues?|wed(?:nes)?|thurs?|fri|sat(?:ur)?|sun)(?:day)?, christmas, semester,
    time, once
    """
)
_TIMES = (
    "(?i:"
    + either(
        """
        yesterday, today, tonight, tomorrow, on, in, at, during, for, over, from, after, before, by,
        around, throughout, recently, lately, nowadays, currently, sometimes, usually, normally, often,
        once, right now, back, growing up, as, someday, some day, eventually, soon, later, earlier, when,
        whenever, while, until
        """
    )
    + rf"|(?:last|next|this|every|each|most|these|this past) (?:{_DAYS})s?"
    r"|(?:an?|one|two|three|four|five|six|\d+|several)\b.{1,20}?\b(?:ago|later|back))\b"
)
_TIME = pattern(_TIMES)
_WHEN = pattern(
    rf"(?P<prefix>{_TIMES}(?:[^,;.!?\"]{{0,60}}?)?)(?:,\s*|\s+)"
    r"(?=(?:I|i|I'm|i'm|I've|i've|I'll|i'll|we|[Mm]y \w+(?: \w+)? and I)\s)"
)
LEFT_OUT = word_set(
    "moved bought went got started visited adopted graduated quit joined finished spent took had attended"
    " met ran saw found tried watched signed learned"
)
_DAY_LEFT_OUT = pattern(
    rf"(?P<day>(?i:yesterday|today|this (?:{_DAYS})|last (?:{_DAYS}))),?\s+"
    rf"(?=(?:{'|'.join(sorted(LEFT_OUT))})\b)"
)
"""'Yesterday took my sister to Porto.'"""
_HALF = pattern(rf"(?:{_TIMES}[^,;.!?\"]{{0,40}}?,?\s)?(?i:my) [\w'-]+((?: [\w'-]+){{0,2}})$")
_NAMED = pattern(r"(?:^|, )[A-Z][a-z]+$")
_SUBORDINATE = pattern(r"(?:when|whenever|while|after|before|until|once|as|since)\b", re.IGNORECASE)
_NO_TIME = pattern(
    r"(?:"
    + either(
        """
        in case, in theory, in (?:my|your) opinion, in my (?:mind|head|dream), at least, for example,
        for instance, in order, in general, in short, in that case, in other, in the story,
        as an? (?:ai|language|llm|chatbot|large), as (?:far|long|soon) as, as if, as though,
        for some reason, in conclusion, every time
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_OWN_CLAUSE = pattern(r"\bI\b|\bmy\b|^as a", re.IGNORECASE)
_SOMEBODY = r"my (?:\w[\w'-]*\s){0,2}?\w[\w-]*(?:,? (?-i:[A-Z])\w+)*"
_BOTH = pattern(
    rf"(?:(?P<they>(?i:{_SOMEBODY})),? and (?:I|i|me)|(?:[Mm]e|I) and (?P<others>{_SOMEBODY}))\s+(?=\w)"
)
_COMPANY = (
    RELATIVES
    | ACQUAINTANCES
    | word_set("friend friends team family kids gf bf hubby parents buddies sisters brothers")
)
_SPOKEN_FOR = {
    "been": "I've been",
    "gonna": "I'm gonna",
    "haven't": "I haven't",
    "hadn't": "I hadn't",
    "didn't": "I didn't",
    "can't": "I can't",
    "used": "I used",
    "miss": "I miss",
    "planning": "I'm planning",
    "hoping": "I'm hoping",
    **{
        feeling: f"I'm {feeling}"
        for feeling in word_set("excited thrilled fascinated stoked pumped nervous worried determined eager")
    },
}
"""Where the subject is left out with a part of the verb: how it would be said in full."""
_TIME_PASSED = pattern(
    r"(?:ages|forever|(?:an?|so|too|such an?|quite an?|way too|over|about|almost|nearly|many|several|some|\d+"
    r"|two|three|four|five|six) (?:(?!(?:for|at|in|with|as)\b)[\w-]+ ){0,3}?(?:while|minute|days?|weeks?"
    r"|months?|years?|long|time|road|journey|ride|rollercoaster))"
    r"(?=$|[,.;!]| [-–—]| (?:since|but|and|with|for|here)\b)",
    re.IGNORECASE,
)
"""What 'been' at the beginning of a sentence is said of when nobody was it: 'Been ages since we talked'."""
_LIGHT = frozenset(
    ["just", "recently", "finally", "never", "really", "still", "also", "currently", "always", "super", "so"]
)
ELIDED = LEFT_OUT | _SPOKEN_FOR.keys() | _LIGHT
"""What a sentence begins with where its author is left out."""
_FINITE = {
    **dict.fromkeys(word_set("is are was were isn't aren't wasn't weren't"), "be"),
    **dict.fromkeys(word_set("has have had hasn't haven't hadn't"), "have"),
    **dict.fromkeys(word_set("does doesn't did didn't will won't can can't don't"), "do"),
}
_NOT_OWNED = word_set(
    "- – — i we they you he she it who that which what they're they've he's she's it's that's there's"
)
_NOT_SO = {"is": "is not", "are": "are not", "lives": "does not live", "works": "does not work"}
"""The verbs of which it is told what is wrong with what is right, and how they deny it."""
_RATHER = pattern(
    r"(?P<so>(?P<way>(?:in|at|as|for|called|named|allergic to) )?[^,;]{2,40}), (?:and )?not (?:(?P=way))?"
    r"(?P<wrong>(?!(?:just|only|even|really|that|so|to|yet|sure|at|for|in|by|far|always|too|very|because|much)\b)"
    r"[\w'-]+(?: [\w'-]+){0,2})$"
)
_SOMEBODY_OF_THEIRS = pattern(r"[a-z]+,? [A-Z]\w+$|[a-z]+ (?:not|is|was|are|has) ")
"""'My son's teacher Anna' says nothing of the son, nor does 'my son's shoes not mine'."""
_TITLED = word_set("am have was will can do love like want wish know need feel saw kissed married robot")
"""What a title in capitals goes on with: 'I Am Legend'."""
_UNSPELLED = {"im": "i'm", "ive": "i've"}


def clauses(sentence: str) -> list[Clause]:
    """What a sentence says of its author, clause by clause.

    Nothing if it is asked, imagined or quoted, or in another language than English.
    """
    if len(sentence) > MOST_SENTENCE or not_meant(sentence):
        return []
    if is_abroad(sentence, sentence.lower().split()):
        return []
    text = opened(sentence.strip(" ()[]*_~\"'«»“”-–—"))
    if text.endswith("?"):
        text = before_the_question(text)
    text = text.rstrip(" .!…,;:")
    if not text or unreal(text) or quotes_somebody(text):
        return []
    text = unslipped(put_right(text))
    if _one_part(text):
        clause = _parsed(text)
        return _corrected(clause) if clause else []
    return [half for clause in _parts(text) for half in _corrected(clause)]


def _corrected(clause: Clause) -> list[Clause]:
    """'My dog's name is Pippin, not Pepper' says what is so and what is not; any other clause is one."""
    group = clause.group
    said = _NOT_SO.get(group.said)
    halves = (
        _RATHER.match(clause.rest) if said and not group.negated and clause.subject in ("I", "my") else None
    )
    if said is None or halves is None:
        return [clause]
    so, wrong = halves["so"], (halves["way"] or "") + halves["wrong"]
    begun = clause.text[: clause.text.rindex(so)]
    return [
        clause._replace(text=begun + so, rest=so),
        clause._replace(
            text=f"{begun}not {wrong}", group=group._replace(said=said, negated=True), rest=wrong
        ),
    ]


def _one_part(text: str) -> bool:
    """Whether a sentence can have one subject only, the one that it begins with."""
    words = text.lower().split(" ")
    return words[0] in SELVES and ";" not in text and SELVES.isdisjoint(words[1:])


def _parts(text: str) -> list[Clause]:
    """The clauses between the joints; a part that only says when belongs to the next."""
    joints = [joint for joint in _JOINT.finditer(text) if not _inside_a_subject(text, joint)][
        : MOST_CLAUSES - 1
    ]
    edges = [*((joint.start(), joint.end()) for joint in joints), (len(text), len(text))]
    found: list[Clause] = []
    start, prefix = 0, ""
    for end, following in edges:
        part, last = text[start:end], following == len(text)
        if not last and (_names_somebody(part) or ("and" in text[end:following] and _NAMED.search(part))):
            continue
        if not found and not last and _sets_the_time(part):
            prefix = part + ","
        elif _SO_THAT.search(text, max(0, start - 4), start) and _CAN.search(part):
            prefix = ""
        elif (clause := _parsed(part, prefix)) is not None:
            if not (clause.tense in _HOLDS_NOW and _CONDITION.search(text, 0, start)):
                found.append(clause)
            prefix = ""
        elif not found and not _REPORTED.isdisjoint(part.lower().split()):
            return []
        start = following
    return found


def _inside_a_subject(text: str, joint: re.Match[str]) -> bool:
    """Whether the joint is the 'and' of 'where my team and I were'."""
    before = max(0, joint.start() - 60)
    if "and" not in joint[0]:
        return False
    if text[: joint.start()].lower().endswith((" me", ",me")) or text[: joint.start()].lower() == "me":
        return True
    return _HALF_SUBJECT.search(text, before, joint.start()) is not None


def _sets_the_time(part: str) -> bool:
    """Whether a part before ', I' only says when or where."""
    if len(part) > 80 or _TIME.match(part) is None or _NO_TIME.match(part):
        return False
    words = part.lower().split()
    if _SUBORDINATE.match(part):
        return True
    return _NOT_OWNED.isdisjoint(words) and _FINITE.keys().isdisjoint(words)


def _names_somebody(part: str) -> bool:
    """Whether a part before 'and I' is only the first half of a subject: 'last week my sister'."""
    half = _HALF.match(part)
    return half is not None and not any(
        word in _FINITE or base_of_third(word) for word in half[1].lower().split()
    )


def _parsed(text: str, prefix: str = "") -> Clause | None:
    """One clause whose subject is its author, or something of theirs."""
    text = in_full(opened(text.strip()))
    if len(text) > MOST_CLAUSE or len(text) < 4:
        return None
    begun = text.partition(" ")[0].lower() in SELVES
    if not prefix and not begun and (when := _WHEN.match(text)) and not _NO_TIME.match(text):
        prefix = when["prefix"] + ("," if "," in text[when.end("prefix") : when.end()] else "")
        text = text[when.end() :]
        if not _fits_before(prefix):
            return None
    elif not prefix and not begun and (when := _DAY_LEFT_OUT.match(text)):
        text = text[when.end() :]
        clause = _left_out(text, text.split(" "), "")
        return clause and _finished(clause._replace(prefix=when["day"]), text)
    clause = _both(text, prefix) or _single(text, prefix)
    return clause and _finished(clause, text)


def _finished(clause: Clause, text: str) -> Clause | None:
    """The clause without what is only added to it; None if it may not be so."""
    rest = ended(clause.rest)
    if len(rest) < len(clause.rest):
        if taken_back(clause.rest[len(rest) :]):
            return None
        clause = clause._replace(text=text[: len(text) - len(clause.rest) + len(rest)].rstrip(), rest=rest)
    return None if _hedged(clause) else clause


def _fits_before(prefix: str) -> bool:
    """Whether what stands before the subject is a time or a clause of its author's, and no other's."""
    if _SUBORDINATE.match(prefix):
        return _OWN_CLAUSE.search(prefix) is not None
    words = prefix.lower().split()
    return _NOT_OWNED.isdisjoint(words) and _FINITE.keys().isdisjoint(words)


def _hedged(clause: Clause) -> bool:
    """Whether it may not be so, or is about whom it is said to."""
    said = clause.rest if clause.tense == "wish" else f"{clause.prefix} {clause.text}"
    return not _HEDGES.isdisjoint(said.lower().replace(",", " ").split()) or " may " in said


def _both(text: str, prefix: str) -> Clause | None:
    """'My wife and I live in Porto': two people do it as 'I' do."""
    both = _BOTH.match(text)
    if both is None:
        return None
    owned = (both["they"] or both["others"])[3:]
    words = text[both.end() :].split(" ")
    group = verb_group(words, 0)
    if (
        group is None
        or group.lemma not in VERBS
        or _COMPANY.isdisjoint(owned.lower().replace(",", "").split())
    ):
        return None
    group = group._replace(said=" ".join(words[: group.used]))
    return Clause(text, prefix, "both", owned, group, " ".join(words[group.used :]))


def _single(text: str, prefix: str) -> Clause | None:
    words = text.split(" ")
    first = words[0].lower()
    first = _UNSPELLED.get(first, first)
    if first in ("my", "our"):
        return _possessed(text, words, prefix) or _contracted(text, words, prefix)
    if first not in SELVES:
        return _left_out(text, words, prefix)
    if words[1:] and words[1].istitle() and len(words[1]) > 1 and words[1].lower() in _TITLED:
        return None
    subject, _, short = first.partition("'")
    if short:
        words[:1] = [subject, "'" + short]
    group = verb_group(words, 1)
    if group is None:
        return None
    return Clause(text, prefix, "I" if subject == "i" else "we", "", group, " ".join(words[group.used :]))


def _left_out(text: str, words: list[str], prefix: str) -> Clause | None:
    """'Moved to Berlin last month', 'Been busy with the house': the subject goes without saying."""
    at = 0
    while at < len(words) - 1 and words[at].lower() in _LIGHT:
        at += 1
    if prefix or len(words) < at + 3:
        return None
    first = words[at].lower()
    if words[at + 1].lower() in ("me", "us"):
        return None
    if first in LEFT_OUT:
        words = [word if at < index else word.lower() for index, word in enumerate(words)]
        group = verb_group(words, 0)
        return group and Clause(text, prefix, "none", "", group, " ".join(words[group.used :]))
    full = _SPOKEN_FOR.get(first)
    if full is None or (first == "gonna" and words[at + 1].lower() == "be"):
        return None
    if first == "been" and (passed := _TIME_PASSED.match(text, len(" ".join(words[: at + 1])) + 1)):
        _, dash, after = text[passed.end() :].rpartition(" - ")
        return _left_out(after, after.split(" "), prefix) if dash else None
    subject, _, verb = full.partition(" ")
    subject, apart, short = subject.partition("'")
    light = [word.lower() for word in words[:at]]
    said = [subject, *([apart + short] if short else []), *light, verb, *words[at + 1 :]]
    group = verb_group(said, 1)
    return group and Clause(text, prefix, "none", "", group, " ".join(said[group.used :]))


def _possessed(text: str, words: list[str], prefix: str) -> Clause | None:
    """'My sister Ana lives in Porto': the verb is the first word that can be one."""
    for at in range(2, min(len(words), 9)):
        word = words[at].lower().rstrip(",")
        if word in _NOT_OWNED:
            return None
        if word == "name" and words[at + 1 : at + 2] == ["is"]:
            continue
        if word in ("called", "named") and words[at - 1].endswith("'s"):
            return None
        past = base_of_past(word)
        lemma = _FINITE.get(word) or base_of_third(word) or past or _done_by_many(words[at - 1], word)
        if lemma is None:
            continue
        negated = word.endswith("n't") or words[at + 1 : at + 2] in (["not"], ["never"])
        group = Group(words[at], lemma, "past" if past else "now", negated, at + 1)
        return Clause(text, prefix, words[0].lower(), " ".join(words[1:at]), group, " ".join(words[at + 1 :]))
    return None


def _done_by_many(noun: str, word: str) -> str | None:
    """The verb of 'my parents live': many do as 'I' do."""
    many = noun == "children" or (noun.endswith("s") and not noun.endswith(("ss", "us", "'s")))
    return word if many and word in VERBS else None


def _contracted(text: str, words: list[str], prefix: str) -> Clause | None:
    """'My name's Ann', 'my sister's a nurse'."""
    for at in range(1, min(len(words) - 1, 5)):
        if words[at].lower().endswith("'s"):
            owned, rest = " ".join(words[1 : at + 1])[:-2], " ".join(words[at + 1 :])
            if _SOMEBODY_OF_THEIRS.match(rest) and not rest.startswith(("called ", "named ")):
                return None
            group = Group("is", "be", "now", words[at + 1] == "not", at + 1)
            if words[at + 1].lower() in ("been", "got", "had", "gone"):
                group = Group("has", "have", "now", False, at + 1)
            return Clause(text, prefix, words[0].lower(), owned, group, rest)
    return None
