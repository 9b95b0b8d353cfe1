"""A question as rules read it: the words that matter, what it wants to know, and of whom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason import asked_abroad
from mnemon.adapters.reason.asked_kinds import Test, asks_for_a_name, kinds_asked
from mnemon.adapters.reason.asked_labels import LABEL_WORDS, labels_asked
from mnemon.adapters.reason.at_work import gives_work, is_of_the_world
from mnemon.adapters.reason.lexicon import IRREGULAR, VERBS, base_of_participle, word_set
from mnemon.adapters.reason.order import ORDERING, end_asked
from mnemon.adapters.reason.span import ASKS_WHEN
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.whom import called_alike, named_in, names_beside, somebody_of_theirs
from mnemon.domain.pattern import pattern
from mnemon.domain.present import asks_how_it_is
from mnemon.domain.words import words
from mnemon.ports.reasoner import Statement

_GENERAL = frozenset(
    stem(word)
    for word in word_set(
        """
        know known remember recall everything anything user person peer human describe summary summarize
        summarise overview profile info information facts learn learned far conversation context detail
        details background guy him her them someone talk history memory memories briefly short introduce
        who's
        """
    )
)
WEAK = frozenset(
    stem(word)
    for word in word_set(
        """
        go make take thing kind type sort time year day week month way lot people come use good new name
        like want do done doing favorite call appointment
        """
    )
)
TALK = frozenset(
    stem(word)
    for word in word_set(
        """
        hi hey hello hiya yo thanks thank thx ok okay yes yeah yep no nope sure great cool nice good morning
        evening afternoon night bye goodbye cheers lol haha wow welcome sorry please hmm
        """
    )
)
"""Words of greeting and thanks: who says only these asks for nothing."""
TIME = pattern(
    r"\d{4}|\b(?:today|yesterday|tomorrow|ago|last|next|since|week|month|year|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
_NUMBERS = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six"
    r"|seven|eigh|nine)ty|hundred|half|dozen|couple|twice|once|both)\b"
)
_NUMBER = pattern(rf"\d|\b{_NUMBERS}", re.IGNORECASE)
_AGE = pattern(
    rf"\b(?:turn(?:s|ed|ing)?|aged?|is|was|be|now|i'm) (?:almost |nearly |just |only )?{_NUMBERS}(?! of\b)"
    r"|\byears?[ -]old\b",
    re.IGNORECASE,
)
_PLACE = pattern(r"\b(?:in|at|to|from|near|for) (?:the )?[A-ZÀ-Þ]")
_SOMEBODY = pattern(
    r"\b[A-ZÀ-Þ][a-z]+\b|\b(?:sister|brother|mother|father|mom|dad|wife|husband|friend|partner|boss)\b"
)
_MEASURED = pattern(r"\bhow (old|long(?! ago\b)|far|tall|big|high|heavy|large|fast|deep|wide)\b")
"""How much of something is asked for; 'my old piano' tells nobody's age."""
_AGO = pattern(r"\bhow (?:long|many (?:days|weeks|months|years)) ago\b")
"""Who asks how long ago something was asks when it was."""
_OF_AGO = frozenset(map(stem, word_set("ago long day week month year")))
_CUES = [
    (ASKS_WHEN, TIME),
    (
        pattern(r"\bhow long\b(?! ago\b)"),
        pattern(r"\b(?:minute|hour|day|week|month|year|decade)s?\b|\bsince\b"),
    ),
    (pattern(r"\bhow (?:many(?! \w+ ago\b)|much|often)\b"), _NUMBER),
    (pattern(r"\bhow old\b"), _AGE),
    (pattern(r"\bhow (?:far|tall|big|high|heavy|large|fast|deep|wide)\b"), _NUMBER),
    (pattern(r"\bwhere\b"), _PLACE),
    (pattern(r"\bwho\b|\bwhom\b|\bwhose\b"), _SOMEBODY),
]
_SUBJECT = pattern(
    r"\b(?:does|did|do|has|was|will)\s+([^\W\d_][\w-]*)(?=\s+\w)|\bhow old (?:is|was)\s+([^\W\d_][\w-]*)"
    r"|(?<!\bmy )(?<!\bour )(?<!\bthe )\b([^\W\d_][\w-]*)'s\b|\b([^\W\d_][\w-]*)'s\b"
)
"""Whom a question speaks of; last, those of whom more is said than a name."""
_NOBODY = frozenset(
    stem(word)
    for word in word_set(
        """
        i you he she they we it me my your his her their the a an this that these those there here what
        who where when how why let user users anyone anything everyone someone one any some ever not
        """
    )
)
_NAMES = frozenset(["name", "goes by"])
"""Who asks for the name of somebody is told it by the label of what they are."""
_TIMES = frozenset(map(stem, word_set("today tonight yesterday tomorrow week month year")))
_ASKING = word_set("what where when who whom whose which how why tell")
_BEFORE = pattern(
    r"\b(?:before(?: (?:the |i )?\w+)?\W*$|used? to\b|previous(?:ly)?\b|former(?:ly)?\b|in the past\b"
    r"|back then\b)"
)
"""Whether a question in small letters asks for what is no longer so."""
_OF_BEFORE = frozenset(map(stem, word_set("before use used previous previously former formerly past back")))
_PAST = pattern(r"\b(?:did|was|were|had|ever)\b")
_PROPER = pattern(r"(?<=[\w,'’] )[A-ZÀ-Þ][\w-]+")
_VERBS = frozenset(map(stem, VERBS | IRREGULAR))
_TELLS_WHEN = pattern(
    r"\d|\b(?:spring|summer|autumn|fall|winter|christmas|easter|noon|midnight|morning|evening|night|weekend"
    r"|recently|lately|soon|just|when|after|before|during|while|until|every)\b",
    re.IGNORECASE,
)
_BIRTH, _BABY = stem("birth"), frozenset(map(stem, word_set("baby twins triplets")))
_MOTHER = pattern(r"\b([\w-]+)(?:'s| had| has| gave| is (?:having|expecting))\b")
"""Whose baby it is, and not who was born."""
_ONE_MORE = pattern(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|another|again)\b",
    re.IGNORECASE,
)
"""What a line has that tells of one of several without what was done: 'third 10k'."""
_ENOUGH, _MOST = 0.33, 0.6
_ONLY_WHO = pattern(r"\b(?:when|where|how (?:many|much|old|often|long))\b")
"""What is asked by these is no question about somebody as such."""
_DOING = pattern(
    r"\b(?:am|is|do|does|did|have|has|had|was|will|would|can|could) ([^\W\d_][\w-]*)(?=\s+\w|\s*\?|$)"
)
"""Who does what is asked."""
_YES_OR_NO = pattern(
    r"^\W*(?:and |so |but )?(?:do|does|did|am|is|are|was|were|have|has|had|can|will|would)\b"
)


class Asked(NamedTuple):
    """A question in small letters, the words that matter in it, and what it is about."""

    question: str
    terms: frozenset[str]
    wanted: frozenset[str]
    """The labels of a card."""
    theirs: frozenset[str] = frozenset()
    """What somebody of the peer's whom it is about may be called."""
    others: frozenset[str] = frozenset()
    """The stems of whom it speaks of beside the peer, by what stands before their names."""
    named: frozenset[str] = frozenset()
    """The stems of whom it calls by a name that is not the peer's."""
    whom: frozenset[str] = frozenset()
    """All the stems of somebody else whom it is about."""
    cues: tuple[re.Pattern[str], ...] = ()
    """What a line has that tells what is asked for: a time, a number, a place, somebody."""
    proper: frozenset[str] = frozenset()
    """The stems of names in it, of anybody and anything but the peer."""
    of_the_world: bool = False
    """Whether it asks for advice, or of things at large."""
    of_peer: bool = False
    """Whether it asks what the peer does or is, by 'I' or by name."""
    kinds: tuple[Test, ...] = ()
    """What a line must have to be an answer."""
    abroad: bool = False
    """Whether it is in another language."""
    since: int | None = None
    """When it is asked how long ago something was, if that is asked."""
    of_several: bool = False
    """Whether it asks for the latest or the first of something."""

    @property
    def rest(self) -> frozenset[str]:
        """The words beside those of whom it is about."""
        return self.terms - self.whom - WEAK

    @property
    def things(self) -> frozenset[str]:
        """Of these, what is no verb."""
        return self.rest - _VERBS

    @property
    def beside(self) -> frozenset[str]:
        """The words beside those of a label."""
        return self.terms - WEAK - LABEL_WORDS

    @property
    def asks_back(self) -> bool:
        if self.abroad:
            return not asks_how_it_is(self.question)
        return self.asks_before or _PAST.search(self.question) is not None

    @property
    def asks_before(self) -> bool:
        return _BEFORE.search(self.question) is not None

    @property
    def yes_or_no(self) -> bool:
        return not self.abroad and _YES_OR_NO.search(self.question) is not None

    @property
    def enough(self) -> float:
        """How much of it a line must speak of: most, where it is asked of the world and not of somebody.

        Most of it, too, where no more is known of its words than that they are no small ones.
        """
        return _MOST if self.of_the_world or self.abroad else _ENOUGH

    def stems_in(self, text: str) -> frozenset[str]:
        """The stems of a line, with those of the question that it speaks of in other words."""
        stems = frozenset(content_stems(text))
        if self.abroad:
            return stems | asked_abroad.spoken_of(text, self.terms)
        if _BIRTH in self.terms and _BABY & stems:
            mothers = map(stem, _MOTHER.findall(text.lower()))
            stems |= {_BIRTH} if self.whom.isdisjoint(mothers) else frozenset()
        if self.of_several and self.things and self.things <= stems and _ONE_MORE.search(text):
            stems |= self.rest & _VERBS
        return stems

    def may_tell(self, text: str, held: frozenset[str]) -> bool:
        """Whether a line with these stems tells how much or when, if that is asked.

        It has a number or a time; or it says that it was, so that its own day tells when.
        """
        if _MEASURED.search(self.question):
            return self.cued(text) > 0
        if not ASKS_WHEN.search(self.question) or TIME.search(text) or _TELLS_WHEN.search(text):
            return True
        return self.rest & _VERBS <= held

    def cued(self, text: str) -> int:
        return sum(cue.search(text) is not None for cue in self.cues)


def read(said: str, about: str | None) -> Asked:
    question = said.lower().replace("for a living", "for a job")
    names = stems_of(about)
    if abroad := asked_abroad.read(said):
        return _read_abroad(said, abroad, names)
    terms = frozenset(term for term in content_stems(question) if term not in names) - TALK
    if _BEFORE.search(question):
        terms -= _OF_BEFORE
    if end_asked(said):
        terms = terms - ORDERING or terms
    if "since when" in question:
        terms -= {stem("since")}
    if _AGO.search(question):
        terms -= _OF_AGO
    elif measured := _MEASURED.search(question):
        terms -= {stem(measured[1])}
    subjects = [one for one in _SUBJECT.finditer(question) if not _is_participle(one[1] or "")]
    others = frozenset(stem(found[found.lastindex or 0]) for found in subjects) - names - _NOBODY
    called = frozenset(stem(found[found.lastindex or 0]) for found in subjects if not found[4])
    named = (named_in(said) | (called & others & terms) - LABEL_WORDS - WEAK - _TIMES) - names
    theirs = somebody_of_theirs(question, about)
    asked = Asked(
        question,
        terms,
        labels_asked(question),
        theirs,
        others,
        named,
        others | named | frozenset(map(stem, theirs)),
        tuple(cue for asks, cue in _CUES if asks.search(question)),
        (_proper(said) - names) & terms,
        kinds=kinds_asked(question, about),
        of_several=end_asked(said) is not None,
    )
    doing = _DOING.findall(question)
    asked = asked._replace(of_peer=any(who == "i" or stem(who) in names for who in doing))
    if names.isdisjoint(map(stem, words(question))) and not (asked.whom or asked.proper):
        asked = asked._replace(of_the_world=is_of_the_world(question))
    if asked.rest:
        asked = asked._replace(wanted=asked.wanted - theirs)
    if asked.wanted & _NAMES:
        asked = asked._replace(wanted=asked.wanted | theirs)
    return asked._replace(wanted=asked.wanted - _NAMES) if asks_for_a_name(question) else asked


def _is_participle(word: str) -> bool:
    """Whether it tells what was done, and not who did it: 'what was taken', 'when was buying the boat'."""
    return base_of_participle(word) is not None or (word.endswith("ing") and stem(word) in _VERBS)


def _read_abroad(said: str, abroad: asked_abroad.Abroad, names: frozenset[str]) -> Asked:
    terms = abroad.terms - names - TALK
    if end_asked(said):
        terms = terms - ORDERING or terms
    theirs = called_alike(abroad.whom) if abroad.whom else frozenset[str]()
    wanted = abroad.wanted - theirs if terms - frozenset(map(stem, theirs)) else abroad.wanted
    return Asked(
        said.lower(),
        terms,
        wanted | theirs if wanted & _NAMES else wanted,
        theirs,
        whom=frozenset(map(stem, theirs)),
        kinds=abroad.kinds,
        abroad=True,
    )


def _proper(said: str) -> frozenset[str]:
    """The stems of the names in a question; none where most of it is written like one."""
    found = _PROPER.findall(said)
    if 2 * len(found) > len(said.split()):
        return frozenset()
    return frozenset(stem(name.lower()) for name in found if not TIME.search(name))


def with_their_names(asked: Asked, statements: Sequence[Statement]) -> Asked:
    """The question with the names that were told of somebody of the peer's whom it is about."""
    if not asked.theirs:
        return asked
    names = names_beside(asked.theirs, (statement.text for statement in statements))
    return asked._replace(whom=asked.whom.union(*map(stems_of, names)))


def asks_how_long_ago(question: str) -> bool:
    return _AGO.search(question.lower()) is not None


def asks_nothing(asked: Asked, about: str | None) -> bool:
    """Whether it gives work to do, or is a greeting or a word of thanks, with or without a name."""
    if gives_work(asked.question) and stems_of(about).isdisjoint(map(stem, words(asked.question))):
        return True
    said = words(asked.question)
    if not said or stem(said[0]) not in TALK or "?" in asked.question or not _ASKING.isdisjoint(said):
        return False
    return len(asked.terms) <= 1 and asked.terms.isdisjoint(_GENERAL)


def is_general(asked: Asked, about: str | None) -> bool:
    """Whether it asks about somebody as such: 'who is ann', 'what do you know about me'."""
    if _ONLY_WHO.search(asked.question):
        return False
    if asked.terms:
        return asked.terms <= _GENERAL
    plain = set(words(asked.question))
    if "who" in plain or {"about", "what"} <= plain:
        return True
    return not stems_of(about).isdisjoint(map(stem, plain)) and not asked.wanted


def stems_of(about: str | None) -> frozenset[str]:
    return frozenset(stem(word) for word in words(about or ""))
