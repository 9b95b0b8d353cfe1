"""Facts about a peer from a conversation, by a model: each with its sources, none that they do not bear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mnemon.adapters.model.asking import Asking
from mnemon.adapters.model.denying import denies
from mnemon.adapters.model.prompting import fenced, prompt, quote
from mnemon.adapters.model.readings import CUT_OFF, visible
from mnemon.adapters.model.replying import asked_and_said, is_short
from mnemon.adapters.model.sieve import own_words
from mnemon.adapters.model.subject import claimed
from mnemon.adapters.model.support import Ground, day, days, supports
from mnemon.adapters.model.tense import ENDED, NOW, PAST, PERFECT
from mnemon.adapters.model.wire import Prompt
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.stems import content_stems
from mnemon.domain.words import words
from mnemon.errors import ModelUnusable
from mnemon.ports.reasoner import Fact, Turn

LABELS = (
    "Name",
    "Goes by",
    "Pronouns",
    "Age",
    "Birthday",
    "Lives in",
    "From",
    "Nationality",
    "Works as",
    "Works at",
    "Studies",
    "Speaks",
    "Likes",
    "Dislikes",
    "Prefers",
    "Diet",
    "Allergy",
    "Pet",
    "Partner",
    "Children",
    "Goal",
)
"""What a line of a card may be about, if a model says it."""

MOST_FACTS = 50
_TOKENS = 1200
_LONGEST_FACT = 300
_LONGEST_TRAIT = 200
_LONGEST_ASIDE = 500
_LONGEST_LINE = 6000
_MOST_WISHES = 2000
"""How many tokens what is wished to be noted may have; less where the model's window is small."""
_CONTEXT_TURNS = 4
"""How many turns a model is shown before those that it reads."""
_ALIKE = 0.8
_MUCH = 0.5
_OF_TASTE = frozenset(["Likes", "Dislikes", "Prefers", "Diet", "Goal", "Goes by", "Pronouns"])
"""The labels of what may be wished, or not wished."""
_OF_THEIRS = frozenset(["Pet", "Partner", "Children"])
_STATES = frozenset(["be", "have", "own", "live", "work", "study", "speak"])
"""Verbs that tell in the past what is no longer so."""
_SOMEBODY = ("the user ", "user ", "the person ", "the speaker ")


class _Item(Struct):
    text: str
    sources: list[str]
    card: str | None = None


class _Items(Struct):
    facts: list[_Item]


class _Shown(Struct, frozen=True):
    """A turn as the model sees it, under a short name."""

    label: str
    turn: Turn
    text: str


class _Spoken(Struct, frozen=True):
    """A line of the peer's with what it says, and the turns that say it."""

    shown: _Shown
    grounds: list[str]
    turns: tuple[Turn, ...]


def derive(
    asking: Asking, turns: Sequence[Turn], about: str, before: Sequence[Turn], wishes: str
) -> list[Fact]:
    """Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable."""
    before = before[-_CONTEXT_TURNS:]
    shown = _shown(turns, about, before)
    if not any(one.turn.peer == about for one in shown[len(before) :]):
        return []
    found: dict[str, Fact] = {}
    wishes = _bounded(asking, wishes)
    context, rest = shown[: len(before)], shown[len(before) :]
    room = (asking.window - _tokens(asking)) // 2
    for stretch in asking.stretches(rest, lambda one: one.text, room):
        if any(one.turn.peer == about and one.text for one in stretch):
            for fact in _derived(asking, stretch, about, context, wishes):
                found.setdefault(" ".join(words(fact.text)), fact)
        context = stretch[-len(before) or -_CONTEXT_TURNS :]
    return list(found.values())


def joined(facts: Sequence[Fact], by_rule: Sequence[Fact], about: str, *, wished: bool) -> list[Fact]:
    """The facts with those that rules found, where none of them says the same.

    So a memory holds with a model what it holds without one, and maybe more. Where it is `wished` what to
    note, that is for the model to choose, but for what belongs on a card.
    """
    kept = list(facts)
    for fact in by_rule:
        at = next((at for at, one in enumerate(kept) if _alike(one, fact) and not one.together), None)
        if fact.trait is None:
            if not wished and at is None and not _told_by(facts, fact, about):
                kept.append(fact)
        elif at is None:
            kept.append(fact)
        else:
            kept[at] = replace(kept[at], trait=fact.trait)
    return kept


def _told_by(facts: Sequence[Fact], fact: Fact, about: str) -> bool:
    """Whether facts of the same turns together say much of what a fact says."""
    others = [one.text for one in facts if not set(one.sources).isdisjoint(fact.sources)]
    return Ground(others).share(fact.text, about) >= _MUCH


def _alike(one: Fact, other: Fact) -> bool:
    left, right = set(content_stems(one.text)), set(content_stems(other.text))
    shared = len(left & right) / max(1, min(len(left), len(right)))
    return shared >= _ALIKE and not set(one.sources).isdisjoint(other.sources)


def _shown(turns: Sequence[Turn], about: str, before: Sequence[Turn]) -> list[_Shown]:
    """What the peer says for themself, and what others say, cut short."""
    every = [*before, *turns]
    found = []
    for at, turn in enumerate(every):
        if turn.peer == about:
            text = " ".join(own_words(turn, every[:at]))[:_LONGEST_LINE]
        else:
            text = " ".join(turn.text.split())[:_LONGEST_ASIDE]
        found.append(_Shown(f"t{at + 1}", turn, text))
    return found


def _tokens(asking: Asking) -> int:
    return min(_TOKENS, asking.window // 4)


def _bounded(asking: Asking, wishes: str) -> str:
    """As much of the wishes, from their beginning, as a prompt has room for beside what is to be read."""
    most, kept = min(_MOST_WISHES, asking.window // 8), wishes.strip()
    while kept and (size := asking.count(kept)) > most:
        kept = kept[: min(len(kept) - 1, len(kept) * most // size)].rstrip()
    return kept


def _derived(
    asking: Asking, stretch: Sequence[_Shown], about: str, context: Sequence[_Shown], wishes: str
) -> list[Fact]:
    """The facts of one stretch; if the reply to it is cut off, of its halves."""
    told = [f"The lines to read:\n{fenced([_row(one) for one in stretch if one.text])}"]
    if earlier := [_row(one) for one in context if one.text]:
        told.insert(0, f"What was said right before, as context only:\n{fenced(earlier)}")
    if wishes:
        told.insert(0, f"The wishes:\n{fenced([{'wishes': wishes}])}")
    asked = Prompt(
        messages=(
            {"role": "system", "content": _system(about, wished=bool(wishes))},
            {"role": "user", "content": "\n\n".join(told)},
        ),
        tokens=_tokens(asking),
        schema=_schema([one.label for one in (*context, *stretch) if one.text]),
    )
    try:
        items = asking.ask_for(asked, _Items).facts
    except ModelUnusable as error:
        if error.detail != CUT_OFF or len(stretch) < 2:
            raise
        half = len(stretch) // 2
        first = _derived(asking, stretch[:half], about, context, wishes)
        return [*first, *_derived(asking, stretch[half:], about, stretch[:half], wishes)]
    given = {one.label: one for one in (*context, *stretch)}
    fresh = {one.label for one in stretch}
    facts = (_fact(item, given, fresh, about) for item in items[:MOST_FACTS])
    return [fact for fact in facts if fact is not None]


def _system(about: str, *, wished: bool) -> str:
    rules = prompt("derive", about=quote(about), labels=", ".join(LABELS))
    return f"{rules}\n\n{prompt('derive_wishes', about=quote(about))}" if wished else rules


def _schema(labels: Sequence[str]) -> Mapping[str, Any]:
    """What a reply must look like; where an endpoint keeps to it, no other sources can be named."""
    item = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {"type": "array", "items": {"enum": list(labels), "type": "string"}, "minItems": 1},
            "card": {"type": ["string", "null"]},
        },
        "required": ["text", "sources", "card"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def _row(shown: _Shown) -> dict[str, str]:
    return {"id": shown.label, "by": shown.turn.peer, "on": day(shown.turn.said_at), "text": shown.text}


def _fact(item: _Item, given: Mapping[str, _Shown], fresh: set[str], about: str) -> Fact | None:
    """The fact, if its sources are among those given, are the peer's own, and say it; with those that do."""
    text = _about(" ".join(visible(item.text).split()).strip(" .*-"), about)
    labels = list(dict.fromkeys(item.sources))
    if text is None or not labels or not set(labels) <= set(given) or fresh.isdisjoint(labels):
        return None
    every = list(given.values())
    own = [one for one in every if one.label in labels and one.turn.peer == about and one.text]
    borne = _bearing([_spoken(one, every, labels, text) for one in own], text, about)
    together = len(borne) > 1 and not _bear(borne[:1], text, about)
    old = [one for one in borne if one.shown.label not in fresh]
    if not borne or len(old) == len(borne) or (together and old):
        return None
    told = dated(text, borne[-1].shown.turn.said_at, None)
    ids = dict.fromkeys(turn.id for one in borne for turn in one.turns)
    trait = None if together else _trait(visible(item.card or ""), text, about)
    return Fact(told, tuple(ids), trait, together)


def _spoken(one: _Shown, every: Sequence[_Shown], labels: Sequence[str], text: str) -> _Spoken:
    """A line of the peer's, if it is a short reply with the question that it answers, where that is named."""
    said = every[: every.index(one)]
    asked = next((other for other in reversed(said) if other.turn.peer != one.turn.peer), None)
    if asked is None or asked.label not in labels or not is_short(one.text):
        return _Spoken(one, [one.text], (one.turn,))
    grounds = asked_and_said(asked.text, one.text, text)
    return _Spoken(one, grounds, (asked.turn, one.turn) if len(grounds) > 1 else (one.turn,))


def _bear(spoken: Sequence[_Spoken], text: str, about: str) -> bool:
    grounds = [ground for one in spoken for ground in one.grounds]
    moments = [turn.said_at for one in spoken for turn in one.turns]
    return supports(grounds, text, about, also=days(moments))


def _bearing(spoken: Sequence[_Spoken], text: str, about: str) -> list[_Spoken]:
    """The lines that each say the fact; if none does, those that it needs together; none if they do not."""
    if alone := [one for one in spoken if _bear([one], text, about)]:
        return alone
    if not _bear(spoken, text, about):
        return []
    needed = list(spoken)
    for one in spoken:
        rest = [other for other in needed if other is not one]
        needed = rest if rest and _bear(rest, text, about) else needed
    return needed


def _about(text: str, about: str) -> str | None:
    """The text with the peer as its subject; None if it is about nobody, or too long to be one fact."""
    folded = text.casefold()
    for somebody in _SOMEBODY:
        if folded.startswith(somebody):
            text = f"{about} {text[len(somebody) :]}"
    named = about.casefold() in text.casefold()
    return text if named and len(about) < len(text) <= _LONGEST_FACT else None


def _trait(card: str, text: str, about: str) -> str | None:
    """The card's line, if its label is one of ours and the fact itself says its value, and that it is so."""
    label, colon, value = card.partition(":")
    known = next((one for one in LABELS if one.casefold() == label.strip().casefold()), None)
    value = " ".join(value.split()).strip(" .")
    if known is None or not colon or not words(value) or Ground([text]).share(value) < 1:
        return None
    return f"{known}: {value}"[:_LONGEST_TRAIT] if _is_so(known, text, about) else None


def _is_so(label: str, text: str, about: str) -> bool:
    """Whether a fact says of the peer that something is so by now, as a line of a card does."""
    claim = claimed(text, about)
    if denies(text) and label not in _OF_TASTE:
        return False
    if claim is None or claim.verb is None:
        return True
    if claim.theirs and label not in _OF_THEIRS:
        return False
    lemma, tense = claim.verb
    if tense == PAST:
        return lemma not in _STATES or "born" in text.split()
    return tense in (NOW, PERFECT) or (tense != ENDED and label in _OF_TASTE)
