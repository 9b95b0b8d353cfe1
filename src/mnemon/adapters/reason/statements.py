"""What a peer's messages tell about them, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from itertools import islice

from mnemon.adapters.reason.around import SELF_IN_IT, around
from mnemon.adapters.reason.asides import by_the_way
from mnemon.adapters.reason.clauses import ELIDED, Clause, clauses
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.edges import SELVES, opened
from mnemon.adapters.reason.employment import with_its_day
from mnemon.adapters.reason.exchange import answered
from mnemon.adapters.reason.health import of_another, reacted
from mnemon.adapters.reason.instructions import asked
from mnemon.adapters.reason.joined import joined
from mnemon.adapters.reason.language import is_abroad
from mnemon.adapters.reason.person import quoted, rewritten, unquoted
from mnemon.adapters.reason.pointing import leaves_open, names_own
from mnemon.adapters.reason.profile import heads, listed, may_be_listed
from mnemon.adapters.reason.replies import denied, named, replied
from mnemon.adapters.reason.scenes import set_in
from mnemon.adapters.reason.sentences import plain, sentences
from mnemon.adapters.reason.telling import tells
from mnemon.adapters.reason.tongues import spoken
from mnemon.adapters.reason.traits import further, trait_of
from mnemon.adapters.reason.unsaid import in_full, names_alone
from mnemon.adapters.reason.values import line
from mnemon.adapters.reason.verbs import HABITS
from mnemon.domain.moments import to_datetime
from mnemon.domain.pattern import pattern
from mnemon.ports.reasoner import Fact, Turn

MOST_FACTS = 50
"""How many facts one message gives at most."""

_MOST_CONTEXT = 140
"""How long a sentence may be that is told with the next, for what it names."""

_OPENERS = ELIDED | {"me"}
_BIRTHDAY = pattern(
    r"(?:it's|it is|today is|today's|tomorrow is|tomorrow's) my (?:\d{1,3}(?:st|nd|rd|th) )?birthday"
    r"(?: (?:today|tomorrow))?$",
    re.IGNORECASE,
)
_NAMED_DAY = pattern(r"today|tomorrow", re.IGNORECASE)
_DAY = pattern(r"\(\d{4,}-(\d\d-\d\d)\)")
_REGULAR = pattern(r"\b(?:every|each|usually|always)\b", re.IGNORECASE)
_NAMED_NEXT = pattern(
    r"(?:His|Her|Its|Their) names? (?:is|are) (?P<name>[A-Z][\w'-]*(?:(?:,| and) [A-Z][\w'-]*)*)[.!]*$"
)
_TO_YOU = pattern(r"\b(?:you|your|you're)\b", re.IGNORECASE)
_THEIRS = frozenset(["his", "her", "its", "their"])
_GREETS = pattern(
    r"(?:hi|hey|hello|good \w+|morning|evening|welcome|thanks)\b[^.!?]{0,20}[.!]*$", re.IGNORECASE
)
"""After which 'Name's Ann' is the author's; after 'Got a puppy.' it is not."""
_HAS_ONE = pattern(r"\b(?:an?|my|one|our) (?:[\w-]+ ){0,3}?(?P<noun>[\w-]+)[.!]*$")


def derive(turns: Sequence[Turn], about: str, before: Sequence[Turn] = ()) -> list[Fact]:
    """The facts of that peer's own turns, in order; one said twice names both turns."""
    found: dict[str, Fact] = {}
    previous = before[-1] if before else None
    scene = set_in(before)
    for turn in turns:
        played, scene = scene.holds_in(turn), scene.after(turn)
        if turn.peer == about and not played:
            for fact in _facts(turn, previous, about):
                key = fact.text.casefold()
                known = found.get(key, fact)
                sources = tuple(dict.fromkeys((*known.sources, *fact.sources)))
                found[key] = Fact(known.text, sources, known.trait)
        previous = turn
    return list(found.values())


def _facts(turn: Turn, previous: Turn | None, about: str) -> list[Fact]:
    """What one turn tells, at most so much of it; if nothing, what it answers."""
    statements = islice(told(turn.text, turn.said_at, about), MOST_FACTS)
    facts = [Fact(text, (turn.id,), trait) for text, trait in statements]
    if previous is None or previous.peer == about or "?" not in previous.text:
        return facts
    reply = named(previous.text, turn.text) if facts else replied(previous.text, turn.text)
    if reply is not None:
        question, said, trait = reply
        text = f'{quoted(said, about)}, asked "{unquoted(question)}"'
        return [Fact(text, (previous.id, turn.id), trait), *facts]
    if not facts and (clause := denied(previous.text, turn.text)) is not None:
        text, _ = _fact(clause, "", turn.said_at, about)
        return [Fact(text, (previous.id, turn.id))]
    exchange = answered(
        previous.text, turn.text, about, lambda text: dated(text, turn.said_at, None), silent=not facts
    )
    return facts if exchange is None else [Fact(exchange, (previous.id, turn.id)), *facts]


def told(text: str, said_at: int, about: str) -> Iterator[tuple[str, str | None]]:
    """Each statement of a message as a fact's text and its line on a card."""
    before = ""
    listing = False
    for sentence in sentences(text):
        found = list(_told(sentence, before, said_at, about))
        listing = heads(sentence) or (listing and may_be_listed(sentence))
        if listing and not any(trait for _, trait in found) and (clause := listed(sentence)):
            found = [_fact(clause, "", said_at, about)]
        yield from found
        before = sentence


def _told(sentence: str, before: str, said_at: int, about: str) -> Iterator[tuple[str, str | None]]:
    words = sentence.lower().split()
    if (request := asked(sentence, words)) is not None:
        yield quoted(request[0], about), request[1]
        return
    if is_abroad(sentence, words):
        yield from ((quoted(said, about), shown) for said, shown in spoken(sentence, words, before))
        return
    if (allergy := reacted(sentence)) is not None:
        yield _whole(sentence, said_at, about), allergy
        return
    if of_another(sentence):
        yield _whole(sentence, said_at, about), None
        if SELVES.isdisjoint(words):
            return
    if before and names_alone(opened(sentence)) and not _GREETS.match(before):
        return
    if not SELVES.isdisjoint(words) or _speaks_for_itself(sentence):
        if (yield from _of_themselves(sentence, before, said_at, about)):
            return
    elif words[0] in _THEIRS and (named := _NAMED_NEXT.match(sentence)):
        yield from _introduced(sentence, named, before, about)
        return
    if foreign := spoken(sentence, words, before):
        yield from ((quoted(said, about), shown) for said, shown in foreign)
    elif not SELF_IN_IT.isdisjoint(words) and (
        said := around(sentence, about, lambda text: dated(text, said_at, None))
    ):
        whole = _with_what_it_is(sentence, before)
        yield said if whole is None else quoted(dated(whole, said_at, None), about), None


def _of_themselves(
    sentence: str, before: str, said_at: int, about: str
) -> Generator[tuple[str, str | None], None, bool]:
    """What a sentence tells of its author by its clauses; whether it has any."""
    if birthday := _birthday(sentence, said_at, about):
        yield birthday
        return True
    parsed = clauses(sentence)
    told = [
        _fact(clause, before, said_at, about)
        for clause in parsed
        if tells(clause) or _as_they_are_known(clause, about)
    ]
    if told and len(parsed) == 1 and _goes_on_from(parsed[0], sentence):
        told = [(_whole(sentence, said_at, about), told[0][1])]
    yield from told or by_the_way(sentence, about, lambda text: dated(text, said_at, True))
    yield from _further(parsed, {trait for _, trait in told}, said_at, about)
    return bool(parsed)


def _whole(sentence: str, said_at: int, about: str) -> str:
    """The sentence as it was said, its days dated."""
    return quoted(dated(opened(sentence).rstrip(" .!"), said_at, None), about)


def _goes_on_from(clause: Clause, sentence: str) -> bool:
    """Whether 'we' goes on from what is said of others: 'His mum is from Bari, we're visiting in May'."""
    text = opened(sentence)
    at = text.find(clause.text)
    return clause.subject == "we" and not clause.prefix and at > 0 and text[:at].endswith(", ")


def _speaks_for_itself(sentence: str) -> bool:
    """Whether its author may have been left out at its beginning."""
    text = opened(sentence)
    return text.partition(" ")[0].lower() in _OPENERS or in_full(text) != text


def tells_something(sentence: str, said_at: int, about: str) -> bool:
    """Whether a sentence gives any fact about its author."""
    return next(_told(sentence, "", said_at, about), None) is not None


def _with_what_it_is(said: str, before: str) -> str | None:
    """What is said after the sentence that names what its 'it' is; None if it names that, or nothing does."""
    text = opened(before)
    if not leaves_open(said) or text.endswith("?") or len(text) > _MOST_CONTEXT or _TO_YOU.search(text):
        return None
    if not names_own(text):
        return None
    return f"{text} {said.rstrip(' .!')}"


def _fact(clause: Clause, before: str, said_at: int, about: str) -> tuple[str, str | None]:
    past = clause.tense in ("past", "was", "perfect")
    regular = not HABITS.isdisjoint(clause.group.adverbs) or _REGULAR.search(clause.text) is not None

    def day(text: str) -> str:
        return text if regular else dated(text, said_at, past)

    said = f"{clause.prefix} {clause.text}".strip()
    whole = _with_what_it_is(said, before)
    text = rewritten(clause, about, day) if whole is None else None
    trait = trait_of(clause) or _as_they_are_known(clause, about)
    return text or quoted(day(whole or said), about), with_its_day(trait, clause.rest, said_at)


def _as_they_are_known(clause: Clause, about: str) -> str | None:
    """The name of 'i'm mei', in small letters, where the author is known by that."""
    name = clause.rest.partition(" ")[0].strip(",.!")
    told = clause.lemma == "be" and clause.tense == "state" and clause.subject == "I"
    known = told and not clause.group.negated and name.casefold() == about.casefold()
    return line("Name", name) if known else None


def _further(
    parsed: Sequence[Clause], known: set[str | None], said_at: int, about: str
) -> Iterator[tuple[str, str | None]]:
    """What else goes on a card of what is told: 'my son Leo' beside his sister."""
    for clause in parsed:
        for said, trait in further(clause):
            if trait not in known:
                known.add(trait)
                yield said.format(about), trait
        for more in joined(clause):
            besides = trait_of(more)
            if besides is not None and besides not in known and tells(more):
                known.add(besides)
                yield _fact(more, "", said_at, about)


def _birthday(sentence: str, said_at: int, about: str) -> tuple[str, str | None] | None:
    """'It's my birthday today' gives the day itself."""
    text = sentence.rstrip(" .!")
    found = _BIRTHDAY.search(text) if "birthday" in text else None
    if found is None:
        return None
    said = found[0]
    day = dated(said if _NAMED_DAY.search(said) else f"{said} today", said_at, False)
    on = _DAY.search(day)
    return quoted(dated(said, said_at, False), about), line("Birthday", on[1]) if on else None


def _introduced(
    sentence: str, named: re.Match[str], before: str, about: str
) -> Iterator[tuple[str, str | None]]:
    """'I have a dog. His name is Rex.'"""
    for clause in clauses(before):
        if tells(clause) and (one := _HAS_ONE.search(before)):
            told = clause._replace(text=f"my {one['noun']} {named['name']}")
            if trait := trait_of(told._replace(subject="none", group=clause.group._replace(lemma=""))):
                yield quoted(f"{before} {sentence.rstrip(' .!')}", about), trait
            return


def as_said(text: str) -> str:
    """A text in one line, without what can't be seen."""
    return " ".join(plain(text).split())


def day_of(said_at: int) -> str | None:
    """The day something was said; None for a moment that no calendar has."""
    try:
        return to_datetime(said_at).date().isoformat()
    except OverflowError:
        return None
