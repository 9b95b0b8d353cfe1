"""The verb after a subject: which one, in which tense, and how a third person would be said to do it."""

from __future__ import annotations

from typing import NamedTuple

from mnemon.adapters.reason.lexicon import (
    TOLD,
    VERBS,
    base_of_ing,
    base_of_participle,
    base_of_past,
    third,
    word_set,
)


class Group(NamedTuple):
    """The words of the verb: as 'she' would say them, which verb it is, and in which tense."""

    said: str
    lemma: str
    tense: str
    negated: bool
    used: int
    adverbs: tuple[str, ...] = ()


ADVERBS = word_set(
    """
    absolutely actually actively almost already also always apparently barely basically briefly
    constantly currently daily deeply definitely especially even ever eventually exclusively finally
    frequently fully generally gradually happily hardly honestly initially just kinda largely lately
    literally mainly mostly much nearly never normally now occasionally often once only originally
    particularly personally previously primarily proudly quickly quite rarely really recently regularly
    seldom simply sometimes soon still strictly strongly successfully super temporarily then totally truly
    typically unfortunately usually very
    """
)
HABITS = word_set(
    """
    always daily frequently generally never normally occasionally often rarely regularly seldom
    sometimes typically usually
    """
)
_FILLERS = word_set(
    """
    absolutely actually also apparently basically definitely even honestly kinda literally personally
    simply totally truly unfortunately
    """
)
_NOT_GOING = word_set(
    """
    morning evening nothing something anything everything king during string
    """
)


def verb_group(words: list[str], at: int) -> Group | None:
    """The verb that follows the subject, up to where its object begins."""
    at, adverbs = _adverbs(words, at)
    if at >= len(words):
        return None
    if _no_longer(words, at):
        group = verb_group(words, at + 2)
        return group._replace(said=f"no longer {group.said}", negated=True) if group else None
    word = words[at].lower()
    known = _AUXILIARIES.get(word)
    if known is not None:
        return known(words, at + 1, adverbs, word)
    if word == "used" and words[at + 1 : at + 2] == ["to"]:
        return _after(words, at + 2, adverbs, "used to", "used", False)
    if (base := base_of_past(word)) is not None:
        return Group(_joined(adverbs, word), base, "past", "never" in adverbs, at + 1, adverbs)
    if word in VERBS or HABITS.intersection(adverbs):
        tense = "told" if word in TOLD else "now"
        return Group(_joined(adverbs, third(word)), word, tense, "never" in adverbs, at + 1, adverbs)
    return None


def _adverbs(words: list[str], at: int) -> tuple[int, tuple[str, ...]]:
    start = at
    while at < len(words) and words[at].lower().strip(",") in ADVERBS:
        at += 1
    return at, tuple(word.lower().strip(",") for word in words[start:at])


def _joined(adverbs: tuple[str, ...], *more: str) -> str:
    return " ".join([*(adverb for adverb in adverbs if adverb not in _FILLERS), *more])


def _negation(words: list[str], at: int, word: str) -> tuple[int, bool]:
    if word.endswith("n't") or word == "cannot":
        return at, True
    if at < len(words) and words[at].lower() == "not":
        return at + 1, True
    return at, False


def _no_longer(words: list[str], at: int) -> bool:
    return [part.lower() for part in words[at : at + 2]] == ["no", "longer"]


def _after(
    words: list[str], at: int, adverbs: tuple[str, ...], said: str, tense: str, negated: bool
) -> Group | None:
    """The verb after a modal or an infinitive's 'to'."""
    at, more = _adverbs(words, at)
    if at >= len(words):
        return None
    word = words[at].lower()
    if word not in VERBS:
        return None
    if word == "be" and at + 1 < len(words) and (going := base_of_ing(words[at + 1].lower())):
        return Group(
            _joined(adverbs, said, *more, word, words[at + 1]), going, tense, negated, at + 2, adverbs + more
        )
    return Group(_joined(adverbs, said, *more, word), word, tense, negated, at + 1, adverbs + more)


def _be(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    at, negated = _negation(words, at, word)
    at, more = _adverbs(words, at)
    adverbs += more
    past = word.startswith(("was", "were"))
    said = ("was" if past else "is") + (" not" if negated else "")
    if _no_longer(words, at):
        at, said, negated = at + 2, said + " no longer", True
    if at >= len(words):
        return None
    going = words[at].lower()
    to = at + 2 if [part.lower() for part in words[at : at + 2]] == ["going", "to"] else at + 1
    if (going == "gonna" or to == at + 2) and words[to : to + 1] and words[to].lower() in VERBS:
        return _after(words, to, adverbs, f"{said} going to", "past" if past else "future", negated)
    if going not in _NOT_GOING and (lemma := base_of_ing(going)) is not None:
        tense = "past" if past else "going"
        return Group(_joined((), said, *_kept(adverbs), words[at]), lemma, tense, negated, at + 1, adverbs)
    return Group(_joined((), said, *_kept(adverbs)), "be", "was" if past else "state", negated, at, adverbs)


def _kept(adverbs: tuple[str, ...]) -> list[str]:
    return [adverb for adverb in adverbs if adverb not in _FILLERS]


def _have(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    past = word in ("had", "hadn't")
    at, negated = _negation(words, at, word)
    said = ("had" if past else "has") + (" not" if negated else "")
    at, more = _adverbs(words, at)
    adverbs += more
    if at >= len(words):
        return None
    following = words[at].lower()
    if following == "to" and not past:
        return _after(words, at + 1, adverbs, f"{said} to", "owed", negated)
    if following == "been":
        return _been(words, at + 1, adverbs, said, past, negated)
    if following == "got" and word in ("'ve", "have"):
        return Group(_joined(adverbs, said, "got"), "have", "now", negated, at + 1, adverbs)
    lemma = base_of_participle(following)
    if lemma is not None and (lemma in VERBS or following.endswith("ed")):
        tense = "past" if past else "perfect"
        return Group(
            _joined((), said, *_kept(adverbs), following),
            lemma,
            tense,
            negated or "never" in adverbs,
            at + 1,
            adverbs,
        )
    if word in ("'ve", "'d"):
        return None
    return Group(_joined(adverbs, said), "have", "past" if past else "now", negated, at, adverbs)


def _been(
    words: list[str], at: int, adverbs: tuple[str, ...], said: str, past: bool, negated: bool
) -> Group | None:
    at, more = _adverbs(words, at)
    adverbs += more
    if at >= len(words):
        return None
    tense = "past" if past else "perfect"
    lemma = base_of_ing(words[at].lower())
    group = [said, *_kept(adverbs[: len(adverbs) - len(more)]), "been", *_kept(more)]
    if lemma is not None and words[at].lower() not in _NOT_GOING:
        return Group(" ".join([*group, words[at]]), lemma, tense, negated, at + 1, adverbs)
    return Group(" ".join(group), "be", tense, negated or "never" in adverbs, at, adverbs)


def _do(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    past = word.startswith("did")
    at, negated = _negation(words, at, word)
    said = ("did" if past else "does") + (" not" if negated else "")
    tense = "past" if past else "now"
    if (group := _after(words, at, adverbs, said, tense, negated)) is not None:
        return group
    return None if negated else Group(_joined(adverbs, said), "do", tense, False, at, adverbs)


def _can(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    at, negated = _negation(words, at, word)
    return _after(words, at, adverbs, "cannot" if negated else "can", "can", negated)


def _will(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    at, negated = _negation(words, at, word)
    return _after(words, at, adverbs, "will not" if negated else "will", "future", negated)


def _would(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    """'I'd like to learn Danish' is a wish; what else would be is not said to be."""
    at, more = _adverbs(words, at)
    if at + 2 < len(words) and words[at].lower() in ("like", "love") and words[at + 1].lower() == "to":
        return _after(words, at + 2, adverbs + more, f"would {words[at].lower()} to", "wish", False)
    return None


def _could(words: list[str], at: int, adverbs: tuple[str, ...], word: str) -> Group | None:
    """What somebody could not do is so; what they could do may not be."""
    return _after(words, at, adverbs, "could not", "past", True)


_AUXILIARIES = {
    **dict.fromkeys(["am", "'m", "was", "wasn't", "are", "aren't", "'re", "were", "weren't"], _be),
    **dict.fromkeys(["have", "haven't", "'ve", "had", "hadn't"], _have),
    **dict.fromkeys(["do", "don't", "did", "didn't"], _do),
    **dict.fromkeys(["can", "can't", "cannot"], _can),
    **dict.fromkeys(["will", "won't", "'ll"], _will),
    **dict.fromkeys(["would", "'d"], _would),
    "couldn't": _could,
    **dict.fromkeys(
        ["could", "might", "may", "should", "must", "shall", "shouldn't", "wouldn't"],
        lambda *_: None,
    ),
}
