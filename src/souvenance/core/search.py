"""Finds the lines of some compartments that answer a question best, ranked by the index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.embedding import freshen
from souvenance.core.embedding_space import Meaning
from souvenance.core.request_context import RequestContext, said_at
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import ulid
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment, grouped
from souvenance.domain.relevance import FADES, FAR_BELOW, MATCHES_TIME, MEANING, REPLACES_OLDER, worth_showing
from souvenance.domain.retention import DAY_MS, FADE, FORGET, RetentionRule
from souvenance.errors import Tampered
from souvenance.language import questions, signs
from souvenance.language import terms as words
from souvenance.language.questions import Question, is_courtesy
from souvenance.language.terms.languages import is_english
from souvenance.language.times import TimeSpan
from souvenance.ports.index import Hit, IndexQuery, Inquiry, Place
from souvenance.ports.text import Thesaurus

_SIGNS = tuple(words.mark("sign", sign) for sign in signs.EVERY)
_FAR_BEHIND = 1_000
"""A compartment that lacks this many vectors is being embedded again: all its lines count as lacking one."""
LOOKED_AT = 10
"""How many of the best lines may be re-ordered."""
_ALIKE = 0.6
"""How near in meaning two lines must be to say the same: 0 is the usual distance, 1 the same vector."""
_FADING = 4
"""Where lines fade, so many times as many as are wanted are looked at."""
_APART_MS = 86_400_000
"""Lines within a day of each other belong together: neither replaces the other."""
_AHEAD = 1e-6

_Vector = Callable[[], bytes | None]
Test = Callable[[SealedLine], bool]


class SearchBounds(Struct, frozen=True):
    """Lines outside of these bounds are not counted at all, not even in how rare a word is."""

    marks: Sequence[str] = ()
    sessions: Collection[str] | None = None
    said: bool = False
    within: Collection[str] | None = None
    shown: Test = lambda line: True
    """Whether a line may be shown, if the index does not know. Lines that may not be shown are not ranked."""


_NONE = SearchBounds()


def understand(ctx: RequestContext, text: str, at: int | None = None) -> Question:
    """What the question asks for, now or at that time (in milliseconds)."""
    moment = ctx.now if at is None else at
    offset = ctx.services.zone.offset(moment)
    return ctx.once((understand, text, moment), lambda: questions.read(text, moment, offset))


def lacking_share(query: str, text: str) -> float:
    """What share of the question's terms the text lacks."""
    asked, held = words.asked(query), words.terms(text)
    return 1 - sum(term in held for term in asked) / len(asked) if asked else 0.0


def foresee(ctx: RequestContext, text: str) -> None:
    """Let the embedder start on a question that will be asked soon."""
    ctx.services.meaning.expect(questions.as_told(text))


def _days(question: Question) -> tuple[list[str], list[str]]:
    """The marks of the days and months in the question, and of the days close to them."""
    spans, offset = question.spans, question.offset
    spoken_of = signs.days(spans, offset)
    close = [day for day in signs.days(map(signs.widened, spans), offset) if day not in spoken_of]
    days = [words.mark("day", day) for day in spoken_of]
    days += [words.mark("month", month) for month in signs.months(spans, offset, long_only=True)]
    return days, [words.mark("day", day) for day in close]


def _vector(meaning: Meaning, keys: CompartmentKeys, space: str, line_id: str, sealed: bytes) -> bytes | None:
    """A line's packed vector. One that can't be decrypted is made again, and the log says so."""
    try:
        return keys.open_vector(line_id, sealed, space)
    except Tampered:
        meaning.lost(keys.compartment, line_id)
        return None


def _as_meant(ctx: RequestContext, question: Question, held: Callable[[str], bool]) -> Question:
    """The question with the spelling of unknown words corrected, unless a line has them."""
    meant = {}
    for word in questions.plain(question.text):
        other = ctx.once((_as_meant, word), partial(ctx.services.spelling.meant, word))
        if other is not None and not held(word):
            meant[word] = other
    return questions.respelt(question, meant) if meant else question


def _held(
    ctx: RequestContext, compartments: Sequence[CompartmentKeys], bounds: SearchBounds, word: str
) -> bool:
    """Whether any line within these bounds holds the word."""
    terms = words.asked(word)
    inquiry = Inquiry(
        compartments=[
            IndexQuery(
                keys.compartment, words.blind(keys.blind, terms), words.blind(keys.blind, bounds.marks)
            )
            for keys in compartments
        ],
        groups=range(len(terms)),
        closeness=[1.0] * len(terms),
        sessions=bounds.sessions,
        said=bounds.said,
    )
    return bool(ctx.services.index.search(ctx.tx, inquiry, 1, bounds.within))


def _beside(named: Mapping[str, Collection[str]], terms: Iterable[str]) -> list[str]:
    """The terms that name no speaker."""
    return [term for term in terms if not any(term in name for name in named.values())]


class _Sought(Struct, frozen=True):
    question: Question
    named: Mapping[str, Collection[str]]
    """The speakers that it names, each with the terms that name them."""
    by_time: bool = False
    """Whether only its times are looked up."""

    @property
    def terms(self) -> list[str]:
        if self.by_time:
            of_times = questions.of_times(self.question)
            return [term for term in _beside(self.named, self.question.terms) if term not in of_times]
        return _beside(self.named, self.question.terms) or list(self.question.terms)

    @property
    def spans(self) -> Sequence[TimeSpan]:
        """When a line may have been said. If only times are looked up, the future is left out."""
        return () if self.by_time and not questions.looks_back(self.question) else self.question.spans


def _without_vector(ctx: RequestContext, hits: Iterable[Hit]) -> list[Hit]:
    apart = [hit for hit in hits if MEANING not in hit.signals]
    space = ctx.services.meaning.space
    lacking = {
        compartment: ctx.tx.terms.lacking(compartment, space, _FAR_BEHIND)
        for compartment in {hit.compartment for hit in apart}
    }
    return [
        hit
        for hit in apart
        if hit.id in lacking[hit.compartment] or len(lacking[hit.compartment]) == _FAR_BEHIND
    ]


def _worth_showing(
    ctx: RequestContext, hits: Sequence[Hit], sought: _Sought, *, by_meaning: bool
) -> list[Hit]:
    """The hits to show unasked: those that answer well enough, and those not far below them. They are judged
    by meaning, or by words if they have no vector."""
    enough = partial(worth_showing, by_time=sought.by_time)
    near = [hit for hit in hits if by_meaning and enough(hit.signals, by_meaning=True)]
    by_words = [hit for hit in hits if enough(hit.signals, by_meaning=False)]
    worth = {hit[:2] for hit in (*near, *(_without_vector(ctx, by_words) if by_meaning else by_words))}
    return (
        [hit for hit in hits if hit[:2] in worth or hit.score >= FAR_BELOW * hits[0].score] if worth else []
    )


def _inquiry(
    ctx: RequestContext,
    compartments: Sequence[CompartmentKeys],
    sought: _Sought,
    bounds: SearchBounds,
    vector: _Vector,
) -> Inquiry:
    question, terms = sought.question, sought.terms
    kin = (_with_kin, *terms)
    spelt = ctx.once(kin, lambda: _with_kin(ctx.services.thesaurus, terms))
    days, near_days = _days(question)
    speaker = questions.subject(question, sought.named)
    meaning = ctx.services.meaning
    return Inquiry(
        compartments=[
            IndexQuery(
                keys.compartment,
                ctx.once((keys.compartment, *kin), partial(words.blind, keys.blind, spelt.terms)),
                words.blind(keys.blind, bounds.marks),
                words.blind(keys.blind, _SIGNS),
                words.blind(keys.blind, days),
                words.blind(keys.blind, near_days),
                partial(_vector, meaning, keys, meaning.space),
                partial(freshen, ctx, keys),
            )
            for keys in compartments
        ],
        groups=spelt.groups,
        closeness=spelt.closeness,
        vector=vector,
        space=meaning.space,
        speakers=() if speaker is None else (speaker,),
        wants=question.wants,
        spans=sought.spans,
        by_time=sought.by_time,
        sessions=bounds.sessions,
        said=bounds.said,
    )


def _searched(ctx: RequestContext, inquiry: Inquiry, k: int, bounds: SearchBounds) -> list[Hit]:
    """The k best lines that are not over, as the rules of the workspace let them fade."""
    fades = [rule for rule in ctx.rules if rule.then == FADE]
    some_over = ctx.once(_searched, lambda: ctx.tx.lines.expiring(ctx.now, ctx.scope.workspace)) is not None
    if not fades and not some_over and all(rule.then != FORGET for rule in ctx.rules):
        return ctx.services.index.search(ctx.tx, inquiry, k, bounds.within)
    most = k * _FADING if fades else k
    while True:
        hits = ctx.services.index.search(ctx.tx, inquiry, most, bounds.within)
        lines = _fetched(ctx, hits)
        standing = [hit for hit in hits if hit[:2] in lines]
        if len(standing) >= k or len(hits) < most:
            break
        most *= 4
    if fades:
        aged = (_faded(hit, lines[hit[:2]], fades, ctx.now) for hit in standing)
        standing = sorted(aged, key=lambda hit: -hit.score)
    return standing[:k]


def _faded(hit: Hit, line: SealedLine, fades: Iterable[RetentionRule], now: int) -> Hit:
    """As it ranks at its age. Of several rules the shortest counts."""
    covering = [rule.days for rule in fades if rule.covers(line.compartment.namespace, line.kind)]
    days = min(covering, default=0)
    if not days or hit.score <= 0:
        return hit
    age = max(0, now - ulid.milliseconds(hit.id))
    lost = hit.score * (0.5 ** (age / (days * DAY_MS)) - 1)
    return hit._replace(score=hit.score + lost, signals={**hit.signals, FADES: lost})


def _behind(hits: list[Hit], others: Iterable[Hit]) -> list[Hit]:
    known = {hit[:2] for hit in hits}
    unknown = [hit for hit in others if hit[:2] not in known]
    above = max((hit.score for hit in unknown), default=0.0) - hits[-1].score + 1.0
    return hits + [hit._replace(score=hit.score - above) for hit in unknown]


def find(
    ctx: RequestContext,
    compartments: Iterable[CompartmentKeys],
    question: Question,
    k: int,
    bounds: SearchBounds = _NONE,
    *,
    floor: bool = False,
) -> list[Hit]:
    """The k best lines within the bounds, best first; also those that may not be shown. With `floor`, only
    lines that answer well enough to be shown unasked."""
    compartments = list(compartments)
    if not compartments or not (question.terms or question.spans) or (floor and is_courtesy(question.text)):
        return []
    question = _as_meant(ctx, question, partial(_held, ctx, compartments, bounds))
    named = questions.speakers(question, {keys.compartment.owner for keys in compartments})
    naming = [term for name in named.values() for term in name]
    sought = _Sought(question, named)
    phrase = questions.as_told(question.text, questions.subject(question, named))
    foreign = ctx.services.meaning.english and not is_english(question.text)
    vector = cache((lambda: None) if foreign else partial(ctx.services.meaning.vector, phrase))

    def hits_of(sought: _Sought) -> list[Hit]:
        """Who asks for no more of the same, together with this, needs no search of their own."""
        within = (one if one is None else frozenset(one) for one in (bounds.sessions, bounds.within))
        where = (*(keys.compartment for keys in compartments), *bounds.marks, bounds.said, *within)
        asked, wanted = (find, question.text, question.at, sought.by_time, where), max(k, LOOKED_AT)
        known: tuple[int, list[Hit]] = ctx.known.get(asked, (0, []))
        if len(known[1]) == known[0] < wanted:
            inquiry = _inquiry(ctx, compartments, sought, bounds, vector)
            known = ctx.known[asked] = wanted, _searched(ctx, inquiry, wanted, bounds)
        return known[1][:wanted]

    hits: list[Hit] = []
    if questions.by_time(question, naming):
        hits = hits_of(replace(sought, by_time=True))
        sought = replace(sought, by_time=any(MATCHES_TIME in hit.signals for hit in hits))
    if not sought.by_time:  # By its words too, where nothing is of its time.
        hits = hits_of(sought)
    if foreign and not floor and 0 < len(hits) < k:
        near = cache(partial(ctx.services.meaning.vector, phrase))
        inquiry = _inquiry(ctx, compartments, sought, bounds, near)
        hits = _behind(hits, _searched(ctx, inquiry, k, bounds))
    if question.present:
        hits = _newest_first(ctx, hits, bounds, lambda: _inquiry(ctx, compartments, sought, bounds, vector))
    hits = hits[:k]
    return _worth_showing(ctx, hits, sought, by_meaning=vector() is not None) if floor else hits


def ranked(
    ctx: RequestContext,
    compartments: Iterable[Compartment],
    question: Question,
    test: Test,
    limit: int,
    *,
    marks: Sequence[str] = (),
    sessions: Collection[str] | None = None,
    said: bool = False,
    floor: bool = False,
    passing: Callable[[], Collection[str]] | None = None,
) -> list[tuple[SealedLine, Hit]]:
    """The best of the compartments' lines within these bounds that answer the question and pass the test.

    `passing` names the sessions outside of which no line passes. If too few of those found pass, these alone
    are looked into: of all that an agent says to many people, one of them has a small part.
    """
    known = (ctx.services.vault.known(ctx.tx, compartment) for compartment in compartments)
    keys = [one for one in known if one is not None]
    bounds = SearchBounds(marks, sessions, said, shown=test)
    found: list[tuple[SealedLine, Hit]] = []
    seen, k = 0, limit * 2
    while True:
        hits = find(ctx, keys, question, k, bounds, floor=floor)
        likely = seen + limit - len(found)
        for some in filter(None, (hits[seen:likely], hits[likely:])):
            lines = _fetched(ctx, some)
            for hit in some:
                line = lines.get((hit.compartment, hit.id))
                if line is not None and line.invalidated_by is None and test(line):
                    found.append((line, hit))
                    if len(found) == limit:
                        return found
        if passing is not None and len(found) < len(hits):
            bounds, passing = replace(bounds, sessions=passing()), None
            found, seen = [], 0
        elif len(hits) < k:
            return found
        else:
            seen, k = len(hits), k * 4


def _fetched(ctx: RequestContext, hits: Sequence[Hit]) -> dict[Place, SealedLine]:
    return {
        (compartment, line.id): line
        for compartment, ids in grouped((hit.compartment, hit.id) for hit in hits).items()
        for line in ctx.tx.lines.get_all(compartment, ids)
    }


class _Spelt(Struct, frozen=True):
    """Terms with similar ones: for each the number of its term, and how similar it is."""

    terms: Sequence[str]
    groups: Sequence[int]
    closeness: Sequence[float]


def _with_kin(thesaurus: Thesaurus, terms: Sequence[str]) -> _Spelt:
    spelt, groups, closeness = list(terms), list(range(len(terms))), [1.0] * len(terms)
    for at, term in enumerate(terms):
        for kin, close in thesaurus.similar(term):
            if kin not in terms:
                spelt.append(kin)
                groups.append(at)
                closeness.append(close)
    return _Spelt(spelt, groups, closeness)


def _newest_first(
    ctx: RequestContext, hits: list[Hit], bounds: SearchBounds, inquiry: Callable[[], Inquiry]
) -> list[Hit]:
    """The hits, best first, but the newest line of the same speaker before the best one if their vectors show
    that both say nearly the same."""
    times = _times(ctx, hits[:LOOKED_AT], bounds)
    best = next((hit for hit in hits[:LOOKED_AT] if hit[:2] in times), None)
    if best is None:
        return hits
    newer = [
        hit
        for hit in hits[:LOOKED_AT]
        if hit.compartment.owner == best.compartment.owner
        and times.get(hit[:2], 0) - times[best[:2]] >= _APART_MS
    ]
    if not newer:
        return hits
    near = ctx.services.index.alike(ctx.tx, inquiry(), best[:2], [hit[:2] for hit in newer], bounds.within)
    same = [hit for hit in newer if near.get(hit[:2], 0.0) >= _ALIKE]
    if not same:
        return hits
    newest = max(same, key=lambda hit: (times[hit[:2]], hit.id))
    return [ahead(newest, hits[0]), *(hit for hit in hits if hit is not newest)]


def ahead(hit: Hit, other: Hit) -> Hit:
    """The hit with a score a little above the other's."""
    score = other.score + _AHEAD
    lacked = score - hit.score + hit.signals.get(REPLACES_OLDER, 0.0)
    return hit._replace(score=score, signals={**hit.signals, REPLACES_OLDER: lacked})


def _times(ctx: RequestContext, hits: Sequence[Hit], bounds: SearchBounds) -> dict[Place, int]:
    """When each line was said or happened; only of lines that may be shown."""
    return {
        place: said_at(line)
        for place, line in _fetched(ctx, hits).items()
        if line.invalidated_by is None and bounds.shown(line)
    }
