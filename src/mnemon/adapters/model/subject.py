"""Of whom a clause tells: of its author, of somebody of theirs, of another, or of whom it is said to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mnemon.adapters.model.tense import LIGHT, Verb, tokens, verb_of, ways
from mnemon.adapters.reason.edges import opened
from mnemon.adapters.reason.lexicon import ACQUAINTANCES, CHILDREN, PETS, RELATIVES, VERBS
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.adapters.reason.whom import called_alike
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS, words

_SOMEBODY = RELATIVES | ACQUAINTANCES | PETS | CHILDREN
_SELF = frozenset(["i", "we", "me", "us", "my", "our", "mine", "ours", "myself", "ourselves", "both"])
_THIRD = frozenset(["he", "she", "they"])
_SECOND = frozenset(["you", "u"])
_WHOSE = frozenset(["my", "our", "his", "her", "their", "the", "a", "an"])
_RELATIVE = frozenset(["who", "whose"])
_NAMED = pattern(r"[A-ZÀ-Þ][\w-]*(?: [A-ZÀ-Þ][\w-]*)?(?= [a-z]|['’]s )")
_LONGEST = 300
_NEAR = 4


class Subject(NamedTuple):
    """Who it is: the author, another (by the stems of what they are called), or nobody that is known."""

    author: bool = False
    another: bool = False
    called: frozenset[str] = frozenset()
    """Nothing where it is only 'she'."""
    named: bool = False
    """Whether they are called by a name, and not by what they are to the author."""
    owner: bool = False
    """Whether it is something of theirs in turn: 'my neighbour's dog'."""


NOBODY = Subject()


class Claim(NamedTuple):
    """What a statement about a peer says: of whom, and by which verb."""

    theirs: str
    """The somebody of the peer's whom it is about, as 'boss'; nothing if it is the peer."""
    verb: Verb | None
    stems: frozenset[str]


def claimed(text: str, about: str) -> Claim | None:
    """What a statement says that begins with the peer; None of another."""
    if not text.casefold().startswith(about.casefold()):
        return None
    rest = text[len(about) :].replace("’", "'")
    stems = frozenset(content_stems(text))
    if not rest.startswith("'s "):
        return Claim("", verb_of(tokens(rest)), stems) if rest.startswith(" ") else None
    said = tokens(rest[3:])
    at = next((at for at, word in enumerate(said[:_NEAR]) if _one(word)), None)
    if at is None or "'" in said[at]:
        return None
    verbs = (verb_of(said[start : start + 4]) for start in range(at + 1, min(len(said), at + 5)))
    return Claim(_one(said[at]), next(filter(None, verbs), None), stems)


def subjects(clauses: Iterable[str], about: str) -> list[Subject]:
    """Of whom each clause of a sentence tells; one without a subject of its own is about that of the last."""
    found: list[Subject] = []
    before = ""
    for clause in clauses:
        found.append(_subject(clause[:_LONGEST], about, before, found[-1] if found else NOBODY))
        before = clause if clause.strip() else before
    return found


def _subject(clause: str, about: str, before: str, last: Subject) -> Subject:
    text = opened(clause.strip(" \"'“”()*-–—"))
    said = tokens(text[:_LONGEST])
    if not said:
        return last
    if said[0] in _RELATIVE:
        return Subject(another=True, called=frozenset(content_stems(before[-_LONGEST:])), named=True)
    somebody = _somebody(said)
    if not _SELF.isdisjoint(said[1:] if said[0] in ("my", "our") and somebody else said):
        return Subject(author=said[0] in ("i", "we"))
    if said[0] in _SECOND or said[0] in _THIRD:
        return Subject(another=True)
    if somebody:
        owner = any(_one(word.removesuffix("'s")) for word in said[:_NEAR] if word.endswith("'s"))
        return Subject(another=True, called=somebody, owner=owner)
    name = _NAMED.match(text)
    if name and verb_of(tokens(text[name.end() :])) and _is_name(name[0].casefold(), about.casefold()):
        return Subject(another=True, called=frozenset(map(stem, words(name[0]))), named=True)
    return last if verb_of(said) else NOBODY


def _somebody(said: Sequence[str]) -> frozenset[str]:
    """The stems by which somebody at the beginning may be called: of 'my old boss Tom'."""
    if said[0] not in _WHOSE and not (_one(said[0]) and len(said) > 1 and _is_verb(said[1])):
        return frozenset()
    at = next((at for at, word in enumerate(said[:_NEAR]) if _one(word.removesuffix("'s"))), None)
    if at is None or any(verb_of([word]) for word in said[1:at]):
        return frozenset()
    return _alike(_one(said[at].removesuffix("'s")))


def _is_name(word: str, about: str) -> bool:
    """Whether a word with a capital at the beginning can be another's name."""
    return word not in about and word not in ADVERBS and word not in STOP_WORDS and not _is_verb(word)


def _is_verb(word: str) -> bool:
    return word in VERBS or verb_of([word]) is not None


def _one(word: str) -> str:
    """The word for one somebody, as 'boss' or, of 'sisters', 'sister'; nothing for other words."""
    if word in _SOMEBODY:
        return word
    return word[:-1] if word.endswith("s") and word[:-1] in _SOMEBODY else ""


def _alike(noun: str) -> frozenset[str]:
    return frozenset(map(stem, called_alike(noun)))


def is_another(claim: Claim, subject: Subject, clause: str, every: frozenset[str]) -> bool:
    """Whether a clause says of another what is claimed; `every` are the stems of all that is said."""
    if claim.verb is None or not claim.verb.lemma:
        return False
    same = bool(ways(tokens(clause), claim.verb.lemma))
    if not claim.theirs:
        return (
            subject.another
            and (same or (claim.verb.lemma in LIGHT and subject.owner))
            and claim.stems.isdisjoint(subject.called)
        )
    called = _alike(claim.theirs)
    if not same or not (subject.author or subject.another):
        return False
    if called.isdisjoint(every):
        return True
    strange = subject.author or (bool(subject.called) and not subject.named)
    return strange and called.isdisjoint(content_stems(clause)) and claim.stems.isdisjoint(subject.called)
